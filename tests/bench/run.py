#!/usr/bin/env python3
"""Measures `simulate` on growing workloads, whole processes, beside SimGrid where it is built.

    python3 tests/bench/run.py build/bin -o out/           results.json, results.md and the inputs, in out/
    python3 tests/bench/run.py build/bin --quick           seconds, small sizes; fails where results disagree
    python3 tests/bench/run.py --from out/results.json     prints the Markdown of an earlier run;
        with --page docs/performance.md it also replaces that page's tables
"""
import argparse
import json
import os
import pathlib
import platform
import sys
import tempfile

import cases
import report
from measure import measure

FEW, MANY = 1, 5  # runs of each command: with --quick, without
BEGIN, END = "<!-- tables -->", "<!-- end of tables -->"


class Bench:
    """One run of the table: where programs and inputs are, and how long anything may take."""

    def __init__(self, bin_dir, inputs, options):
        self.bin, self.inputs, self.options = pathlib.Path(bin_dir), pathlib.Path(inputs), options
        self.runs = FEW if options.quick else MANY
        self.has_simgrid = (self.bin / "simgrid_bench").exists()

    def measured(self, command):
        return measure(str(self.bin / "run_once"), command, self.runs, self.options.limit)

    def write(self, name, value):
        path = self.inputs / name
        path.write_text(json.dumps(value))
        return str(path)

    def command(self, case, size):
        command = [str(self.bin / "simulate"), "--topology",
                   self.write(f"{case.key}-{size}-topology.json", case.topology(size)), *case.options]
        if case.step:
            command += ["--workload", self.write(f"{case.key}-{size}-step.json", case.step(size))]
        return command

    def once(self, *command):
        return measure(str(self.bin / "run_once"), list(command), 1, self.options.limit)

    def ours(self, case, size):
        """One row: figures of runs that print text, and what one more run writes as JSON."""
        command = self.command(case, size)
        run = self.measured(command)
        shown = " ".join(os.path.basename(word) if "/" in word else word for word in command)
        row = {"case": case.key, "size": size, "command": shown, "runs": run.runs, "why": run.why,
               "cpu_s": run.cpu_s, "wall_s": run.wall_s, "peak_MiB": run.peak_MiB}
        if run.why:
            return row
        read = json.loads(self.once(*command, "--json", "-").output)
        engine = read.get("engine", {})
        row["simulated_s"] = read["rows"][0]["time_s"] if "rows" in read else read["step_time_s"]
        row["events"], row["classes"] = engine.get("events"), engine.get("classes")
        row["replay_s"] = engine.get("wall_s")
        row["copy_s"] = self.measured(["cat", *(word for word in command if word.endswith(".json"))]).cpu_s
        return row

    def simgrid(self, case, size):
        run = self.measured([str(self.bin / "simgrid_bench"), case.simgrid, str(size)])
        row = {"case": case.key, "size": size, "runs": run.runs, "why": run.why, "cpu_s": run.cpu_s,
               "wall_s": run.wall_s, "peak_MiB": run.peak_MiB}
        return row if run.why else row | {"simulated_s": float(run.output)}

    def case(self, case):
        """All sizes of one case; SimGrid's until it passes the limit."""
        simgrid_ended = not (case.simgrid and self.has_simgrid)
        for size in case.quick if self.options.quick else case.sizes:
            row = {"ours": self.ours(case, size)}
            if not simgrid_ended:
                row["simgrid"] = self.simgrid(case, size)
                simgrid_ended = bool(row["simgrid"]["why"])
            print(f"{case.key:4} {size:8} {row['ours']['cpu_s']:9.4f} s  {row['ours']['peak_MiB']:8.1f} MiB  "
                  f"{row['ours']['why']}", file=sys.stderr)
            yield row

    def queue_rates(self):
        """Events per second of the queue alone, by events pending."""
        program = self.bin / "busbar_bench"
        if not program.exists():
            return {}
        run = self.once(str(program), "--benchmark_filter=BM_EventQueue", "--benchmark_format=json")
        return {b["name"].split("/")[1]: b["items_per_second"] for b in json.loads(run.output)["benchmarks"]}

    def start_up(self):
        """A process that does nothing, ours that only says its version, and ours on one host."""
        empty = measure(str(self.bin / "run_once"), ["true"], 4 * MANY)
        version = measure(str(self.bin / "run_once"), [str(self.bin / "simulate"), "--version"], 4 * MANY)
        return {"empty_s": empty.cpu_s, "version_s": version.cpu_s, "version_wall_s": version.wall_s}


def machine():
    with open("/proc/cpuinfo") as cpuinfo:
        model = next((line.split(":")[1].strip() for line in cpuinfo if line.startswith("model name")), "unknown")
    return {"cpu": model, "cores": os.cpu_count(), "system": platform.platform()}


def disagreements(rows):
    for row in rows:
        ours, other = row["ours"], row.get("simgrid")
        if other and not other["why"] and not ours["why"]:
            if abs(ours["simulated_s"] / other["simulated_s"] - 1) > cases.AGREEMENT_TARGET:
                yield f"{ours['case']} {ours['size']}: {ours['simulated_s']} s, SimGrid {other['simulated_s']} s"


def run(options, inputs):
    bench = Bench(options.bin, inputs, options)
    chosen = [c for c in cases.CASES if not options.only or c.key in options.only.split(",")]
    rows = [row for case in chosen for row in bench.case(case)]
    return {"schema": "busbar.bench/1", "machine": machine(), "limit_s": options.limit, "quick": options.quick,
            "growth": report.growth(rows), "start_up": bench.start_up(),
            "queue_events_per_s": bench.queue_rates(), "rows": rows}


def put_into(page, text):
    """Replaces what stands between the page's two marks."""
    before, _, rest = pathlib.Path(page).read_text().partition(BEGIN)
    if END not in rest:
        sys.exit(f"{page} has no place for the tables: expected a line {BEGIN} and a line {END}")
    pathlib.Path(page).write_text(f"{before}{BEGIN}\n\n{text}\n{END}{rest.partition(END)[2]}")


def show(results, page):
    text = report.markdown(results)
    print(text, end="")
    if page:
        put_into(page, text)


def options_of_the_line():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", nargs="?", help="the folder of simulate, run_once, simgrid_bench and busbar_bench")
    parser.add_argument("-o", metavar="DIR", help="keep results and inputs here")
    parser.add_argument("--only", metavar="KEYS", help="such as W1,W5")
    parser.add_argument("--limit", type=float, default=60, help="CPU seconds that one run may take (default 60)")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--from", dest="earlier", metavar="JSON")
    parser.add_argument("--page", metavar="MD")
    options = parser.parse_args()
    if not options.bin and not options.earlier:
        parser.error("name the folder of programs, such as build/bin")
    return options


def main():
    options = options_of_the_line()
    if options.earlier:
        show(json.loads(pathlib.Path(options.earlier).read_text()), options.page)
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(options.o or scratch)
        out.mkdir(parents=True, exist_ok=True)
        results = run(options, out)
        (out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
        (out / "results.md").write_text(report.markdown(results))
    show(results, options.page)
    wrong = list(disagreements(results["rows"]))
    failed = [f"{ours['case']} {ours['size']}: {ours['why']}" for ours in (r["ours"] for r in results["rows"])
              if ours["why"]]
    print("\n".join(wrong + (failed if options.quick else [])), file=sys.stderr)
    return 1 if wrong or (failed and options.quick) else 0


if __name__ == "__main__":
    sys.exit(main())
