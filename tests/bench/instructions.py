#!/usr/bin/env python3
"""Holds the instructions that `simulate` executes against the recorded ones: time without noise.

    python3 tests/bench/instructions.py build/bin --built-with "GNU 12.2.0 x86_64"            compares
    python3 tests/bench/instructions.py build/bin --built-with "GNU 12.2.0 x86_64" --record   writes instructions.csv

Counted by callgrind. Compilers differ, so only counts of the same compiler are compared; with another, or without
valgrind, the program says so and exits with 77, which ctest shows as skipped.
"""
import argparse
import csv
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import cases

RECORD = pathlib.Path(__file__).with_name("instructions.csv")
COLUMNS = ("built_with", "workload", "ranks", "instructions")
COUNTED = {"W1": 1024, "W3": 64, "W5": 1024}  # seconds each under callgrind
MOST_RISE = 0.10
SKIPPED = 77


def command(case, size, bin_dir, inputs):
    """`simulate` on the case."""
    words = [str(pathlib.Path(bin_dir) / "simulate"), *case.options]
    for option, value in (("--topology", case.topology(size)), ("--workload", case.step and case.step(size))):
        if value:
            path = inputs / (option[2:] + ".json")
            path.write_text(json.dumps(value))
            words += [option, str(path)]
    return words


def count(words):
    run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *words],
                         capture_output=True, text=True, check=False)
    collected = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode or not collected:
        sys.exit(f"callgrind failed on {' '.join(words)}:\n{run.stderr[-2000:]}")
    return int(collected.group(1))


def counts(bin_dir):
    by_key = {case.key: case for case in cases.CASES}
    with tempfile.TemporaryDirectory() as scratch:
        return {(key, size): count(command(by_key[key], size, bin_dir, pathlib.Path(scratch)))
                for key, size in COUNTED.items()}


def recorded():
    if not RECORD.exists():
        return []
    with RECORD.open(newline="") as file:
        return list(csv.DictReader(file))


def write(built_with, counted):
    """Replaces this compiler's rows and keeps the others'."""
    rows = [row for row in recorded() if row["built_with"] != built_with]
    rows += [dict(zip(COLUMNS, (built_with, key, size, n))) for (key, size), n in counted.items()]
    with RECORD.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def rises(before, counted):
    """Prints each workload, and yields those that rose too far."""
    for key, now in counted.items():
        change = now / before[key] - 1
        print(f"{key[0]} {key[1]:6} ranks: {now:,} instructions, recorded {before[key]:,} ({change:+.1%})")
        if change > MOST_RISE:
            yield key[0]
        elif change < -MOST_RISE:
            print(f"{key[0]} fell by more than a tenth: record it (--record), so that it stays so")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("--built-with", required=True, help="the compiler, its version and the processor")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        print("valgrind is not installed: nothing was compared")
        return SKIPPED
    before = {(row["workload"], int(row["ranks"])): int(row["instructions"]) for row in recorded()
              if row["built_with"] == options.built_with}
    if not options.record and set(before) != set(COUNTED.items()):
        print(f"{RECORD.name} has no counts of {options.built_with}: nothing was compared")
        return SKIPPED
    counted = counts(options.bin)
    if options.record:
        write(options.built_with, counted)
        return 0
    risen = list(rises(before, counted))
    if risen:
        print(f"{', '.join(risen)}: more than {MOST_RISE:.0%} above the record. Where that is meant, say so in a line\n"
              f"of CHANGELOG.md and record anew: {' '.join(map(shlex.quote, sys.argv))} --record")
    return 1 if risen else 0


if __name__ == "__main__":
    sys.exit(main())
