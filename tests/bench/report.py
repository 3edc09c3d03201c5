"""The benchmark's results as Markdown: the tables of docs/performance.md."""
import math

import cases

_CASES = {case.key: case for case in cases.CASES}


def seconds(value):
    """Two digits, in s, ms or us."""
    scale, unit = (1, "s") if value >= 0.0995 else (1e3, "ms") if value >= 0.995e-3 else (1e6, "us")
    value *= scale
    return f"{value:.{max(0, 1 - math.floor(math.log10(value)))}f} {unit}" if value > 0 else "0 s"


def mebibytes(value):
    return f"{value:,.0f} MiB"


def exponent(points):
    """The slope of log time over log size, least squares; None with fewer than three points."""
    if len(points) < 3:
        return None
    xs, ys = [math.log(n) for n, _ in points], [math.log(t) for _, t in points]
    x0, y0 = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - x0) * (y - y0) for x, y in zip(xs, ys)) / sum((x - x0) ** 2 for x in xs)


def _points(rows, key, side, start=0):
    return [(row[side]["size"], row[side]["cpu_s"]) for row in rows
            if row.get(side) and row[side]["case"] == key and not row[side]["why"] and row[side]["size"] >= start]


def floor(results, ours):
    """What no program that does this work could fall below here: an empty process, its input copied once, and its
    events through the queue alone."""
    rates = results["queue_events_per_s"]
    queue = (ours.get("events") or 0) / max(rates.values()) if rates else 0
    return results["start_up"]["empty_s"] + ours["copy_s"] + queue


def _target(case, ours):
    target = case.targets.get(ours["size"])
    if not target:
        return ""
    met = not ours["why"] and ours["cpu_s"] < target.seconds and (target.MiB is None or ours["peak_MiB"] < target.MiB)
    memory = f", {mebibytes(target.MiB)}" if target.MiB else ""
    return f"{seconds(target.seconds)}{memory}: {'yes' if met else '**no**'}"


def _row(results, row):
    ours, other = row["ours"], row.get("simgrid")
    case = _CASES[ours["case"]]
    cells = [f"{case.key}", f"{ours['size']:,}"]
    if ours["why"]:
        cells += [ours["why"].replace("\n", " ").replace("|", "/")[:80], "", "", _target(case, ours)]
    else:
        least = floor(results, ours)
        cells += [f"{seconds(ours['cpu_s'])}, {mebibytes(ours['peak_MiB'])}", f"{ours['classes'] or ''}",
                  f"{seconds(least)}, {ours['cpu_s'] / least:.1f} x", _target(case, ours)]
    if not other:
        cells += ["", "", ""]
    elif other["why"]:
        cells += [other["why"][:60], "", ""]
    else:
        ratio = "" if ours["why"] else f"{other['cpu_s'] / ours['cpu_s']:,.1f}"
        apart = "" if ours["why"] else f"{abs(ours['simulated_s'] / other['simulated_s'] - 1) * 100:.2f} %"
        cells += [f"{seconds(other['cpu_s'])}, {mebibytes(other['peak_MiB'])}", ratio, apart]
    return "| " + " | ".join(cells) + " |\n"


def _workloads(results):
    text = "| | workload | command |\n|---|---|---|\n"
    for key in dict.fromkeys(row["ours"]["case"] for row in results["rows"]):
        last = [row["ours"] for row in results["rows"] if row["ours"]["case"] == key][-1]
        text += f"| {key} | {_CASES[key].title} | `{last['command']}` |\n"
    return text


def growth(rows):
    """By workload: the sizes fitted, our exponent and, where it was run, SimGrid's over its own sizes."""
    fits = {}
    for key in dict.fromkeys(row["ours"]["case"] for row in rows):
        points = _points(rows, key, "ours", _CASES[key].fit_from)
        if exponent(points) is not None:
            fits[key] = {"from": points[0][0], "to": points[-1][0], "ours": exponent(points),
                         "simgrid": exponent(_points(rows, key, "simgrid", 64))}
    return fits


def _met(value, target, met):
    return f"{target}: {'yes' if met(value) else '**no**'}"


def _growth(results):
    text = "| | from, to | exponent | target: met | SimGrid |\n|---|---|---|---|---|\n"
    for key, fit in results["growth"].items():
        target = ""
        if _CASES[key].fit_from >= 1024:
            target = _met(fit["ours"], cases.GROWTH_TARGET, lambda slope: slope <= cases.GROWTH_TARGET)
        theirs = "" if fit["simgrid"] is None else f"{fit['simgrid']:.2f}"
        text += f"| {key} | {fit['from']:,}, {fit['to']:,} | {fit['ours']:.2f} | {target} | {theirs} |\n"
    return text


def _ratio(rows, key):
    """Against SimGrid at the largest size that both finish."""
    both = [row for row in rows if row["ours"]["case"] == key and row.get("simgrid")
            and not row["ours"]["why"] and not row["simgrid"]["why"]]
    if not both or key not in cases.RATIO_CASES:
        return ""
    last = max(both, key=lambda row: row["ours"]["size"])
    ratio = last["simgrid"]["cpu_s"] / last["ours"]["cpu_s"]
    met = _met(ratio, f"{cases.RATIO_TARGET:,} x", lambda r: r >= cases.RATIO_TARGET)
    return f"| {key} against SimGrid, {last['ours']['size']:,} ranks | {ratio:,.0f} x | {met} |\n"


def _rates(results):
    text = "| | measured | target: met |\n|---|---|---|\n"

    def line(what, rate, least):
        return f"| {what} | {rate / 1e6:.2g} M/s | {_met(rate, f'{least / 1e6:g} M/s', lambda r: r >= least)} |\n"

    for pending, rate in results["queue_events_per_s"].items():
        text += line(f"events, the queue alone, {int(pending):,} pending", rate, cases.QUEUE_TARGET)
    timed = [row["ours"] for row in results["rows"] if row["ours"].get("events") and not row["ours"]["why"]]
    if timed:
        most = max(timed, key=lambda ours: ours["events"])
        text += line(f"events of a step with all that its replay does, {most['case']} on {most['size']:,} ranks "
                     f"({most['events']:,} events)", most["events"] / most["replay_s"], cases.END_TO_END_TARGET)
    for key in dict.fromkeys(row["ours"]["case"] for row in results["rows"] if row.get("simgrid")):
        text += _ratio(results["rows"], key)
    start = results["start_up"]
    text += (f"| start of the process: `simulate --version` (an empty one: {seconds(start['empty_s'])}) | "
             f"{seconds(start['version_s'])} | {_met(start['version_s'], '5 ms', lambda s: s < 5e-3)} |\n")
    return text


_HEAD = ("| | ranks | CPU, memory | classes of ranks | floor; times above it | target: met | SimGrid | SimGrid's CPU "
         "over ours | results apart |\n|---|---|---|---|---|---|---|---|---|\n")


def markdown(results):
    """All tables."""
    machine = results["machine"]
    text = (f"{machine['cpu']}, {machine['cores']} cores; CPU seconds and peak memory of the whole process; a run may "
            f"take {results['limit_s']:g} s.\n\n")
    rows = "".join(_row(results, row) for row in results["rows"])
    return text + "\n".join([_workloads(results), _HEAD + rows, _growth(results), _rates(results)])
