"""The benchmark's results as Markdown: the tables of docs/performance.md."""
import math

import cases

_CASES = {case.key: case for case in cases.CASES}


def seconds(value):
    """Two digits."""
    if value >= 9.95:
        return f"{value:.0f} s"
    return f"{value:.2g} s" if value >= 0.0995 else f"{value * 1e3:.2g} ms" if value >= 0.000995 else f"{value * 1e6:.2g} us"


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
    queue = (ours.get("events") or 0) / rates["1000"] if rates else 0
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


def _growth(results):
    text = "| | from, to | exponent | target | SimGrid |\n|---|---|---|---|---|\n"
    for key in dict.fromkeys(row["ours"]["case"] for row in results["rows"]):
        points = _points(results["rows"], key, "ours", _CASES[key].fit_from)
        slope = exponent(points)
        if slope is None:
            continue
        theirs = exponent(_points(results["rows"], key, "simgrid", 64))
        text += (f"| {key} | {points[0][0]:,}, {points[-1][0]:,} | {slope:.2f} | "
                 f"{f'{cases.GROWTH_TARGET}: ' + ('yes' if slope <= cases.GROWTH_TARGET else '**no**') if _CASES[key].fit_from >= 1024 else ''} | "
                 f"{'' if theirs is None else f'{theirs:.2f}'} |\n")
    return text


def _rates(results):
    text = "| | measured | target |\n|---|---|---|\n"
    for pending, rate in results["queue_events_per_s"].items():
        met = "yes" if rate >= cases.QUEUE_TARGET else "**no**"
        text += f"| events per second, the queue alone, {int(pending):,} pending | {rate / 1e6:.1f} M | 5 M: {met} |\n"
    timed = [row["ours"] for row in results["rows"] if row["ours"].get("events") and not row["ours"]["why"]]
    if timed:
        most = max(timed, key=lambda ours: ours["events"])
        rate = most["events"] / most["replay_s"]
        met = "yes" if rate >= cases.END_TO_END_TARGET else "**no**"
        text += (f"| events per second of a step, plans and symmetry included: {most['case']}, {most['size']:,} ranks, "
                 f"{most['events']:,} events | {rate / 1e6:.2f} M | 1 M: {met} |\n")
    start = results["start_up"]
    met = "yes" if start["version_s"] < 5e-3 else "**no**"
    text += f"| start of the process: `simulate --version` (an empty process: {seconds(start['empty_s'])}) | {seconds(start['version_s'])} | 5 ms: {met} |\n"
    return text


def markdown(results):
    machine = results["machine"]
    head = f"{machine['cpu']}, {machine['cores']} cores; CPU seconds and peak memory of the whole process; a run may take {results['limit_s']:g} s.\n\n"
    table = ("| | ranks | CPU, memory | classes | floor, times above it | target: met | SimGrid | times as fast | results apart |\n"
             "|---|---|---|---|---|---|---|---|---|\n" + "".join(_row(results, row) for row in results["rows"]))
    return head + _workloads(results) + "\n" + table + "\n" + _growth(results) + "\n" + _rates(results)
