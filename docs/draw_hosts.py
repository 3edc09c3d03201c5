#!/usr/bin/env python3
"""Draws the wiring of every host type into docs/hosts/<type>.svg.

    docs/draw_hosts.py build/bin/simulate

Reads what `simulate --dump-topology` writes (the long form of busbar.topology/1), one host of each type of
`simulate --list hosts`, and lays its devices out in rows: CPUs, PCIe switches, NICs, GPUs, NVSwitches.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROWS = ["cpu", "pcie-switch", "nic", "gpu", "nvswitch"]
FILL = {"cpu": "#d9e2ec", "pcie-switch": "#fde8c8", "nic": "#d3f0e0", "gpu": "#d6e8fa", "nvswitch": "#eadcf7"}
COLOUR = {"nvlink": "#7a3fb5", "xgmi": "#c0392b", "c2c": "#16807a", "pcie": "#c77700", "upi": "#52606d"}
BOX_W, BOX_H, STEP_X, STEP_Y, MARGIN, TOP = 74, 30, 92, 96, 24, 64
CARD = "L40S-48GB"  # in the boxes whose cards the topology file names


def dump(simulate, host_type):
    """The devices and links of one host of this type."""
    hosts = {"count": 1, "type": host_type}
    if host_type.startswith("pcie-"):
        hosts["gpu"] = CARD
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, "in.json"), pathlib.Path(folder, "out.json")
        text = {"schema": "busbar.topology/1", "name": host_type, "hosts": hosts, "fabric": {"family": "none"}}
        source.write_text(json.dumps(text))
        subprocess.run([simulate, "--topology", source, "--collective", "all_reduce", "--sizes", "1M", "--quiet",
                        "--dump-topology", target], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return json.loads(target.read_text())


def host_types(simulate):
    listed = subprocess.run([simulate, "--list", "hosts"], check=True, capture_output=True, text=True).stdout
    rows = [line.strip().split("  ", 1) for line in listed.splitlines() if line.strip()]
    return [(name, rest.split("[")[0].strip()) for name, rest in rows]


def place(topology):
    """Device id -> (x, y) of its box's centre. Children stand under the mean of the row above where that fits."""
    rows = [[d["id"] for d in topology["devices"] if d["kind"] == kind] for kind in ROWS]
    rows = [row for row in rows if row]
    widest = max(len(row) for row in rows)
    width = max(widest * STEP_X, 640)
    at = {}
    for r, row in enumerate(rows):
        for i, device in enumerate(row):
            at[device] = (MARGIN + width * (i + 0.5) / len(row), TOP + r * STEP_Y + BOX_H / 2)
    return at, width + 2 * MARGIN, TOP + (len(rows) - 1) * STEP_Y + BOX_H


def bandwidth(text):
    """"50000000000 B/s" or "450 GB/s" as GB/s."""
    value, unit = text.split()
    scale = {"B/s": 1e-9, "kB/s": 1e-6, "MB/s": 1e-3, "GB/s": 1, "TB/s": 1e3, "Gb/s": 0.125}[unit]
    return float(value) * scale


def path(a, b, same_row_span):
    (x1, y1), (x2, y2) = a, b
    if y1 == y2:  # an arc below the row, deeper the farther apart
        depth = BOX_H / 2 + 12 + 9 * same_row_span
        y = y1 + BOX_H / 2
        return f"M{x1:.0f} {y:.0f} C{x1:.0f} {y + depth:.0f} {x2:.0f} {y + depth:.0f} {x2:.0f} {y:.0f}"
    if y1 > y2:
        (x1, y1), (x2, y2) = (x2, y2), (x1, y1)
    y1, y2 = y1 + BOX_H / 2, y2 - BOX_H / 2
    middle = (y1 + y2) / 2
    return f"M{x1:.0f} {y1:.0f} C{x1:.0f} {middle:.0f} {x2:.0f} {middle:.0f} {x2:.0f} {y2:.0f}"


def label(device, index_of_host="h0."):
    name = device["id"].removeprefix(index_of_host)
    return {"nvs": "NVSwitch", "d0.nvs": "NVSwitch (rack)"}.get(name, name)


def draw(topology, title, subtitle):
    at, width, height = place(topology)
    column = {}
    for kind in ROWS:
        for i, d in enumerate(d for d in topology["devices"] if d["kind"] == kind):
            column[d["id"]] = i
    lines, legend = [], {}
    deepest = max((column[l["to"]] - column[l["from"]] for l in topology["links"]
                   if at[l["from"]][1] == at[l["to"]][1] and at[l["from"]][1] + BOX_H / 2 >= height), default=0)
    for link in topology["links"]:
        kind, rate = link["type"], bandwidth(link["bandwidth"])
        legend.setdefault((kind, round(rate, 1)), 0)
        legend[(kind, round(rate, 1))] += 0.5 if link.get("directed") else 1
        a, b = at[link["from"]], at[link["to"]]
        stroke = 1.2 + min(rate, 450) / 150
        shape = path(a, b, abs(column[link["from"]] - column[link["to"]]))
        lines.append(f'<path d="{shape}" fill="none" stroke="{COLOUR[kind]}" stroke-width="{stroke:.1f}" '
                     f'stroke-opacity="0.75"/>')
    for d in topology["devices"]:
        x, y = at[d["id"]]
        text = label(d)
        w = max(BOX_W, 7.4 * len(text) + 14)
        lines.append(f'<rect x="{x - w / 2:.0f}" y="{y - BOX_H / 2:.0f}" width="{w:.0f}" height="{BOX_H}" rx="4" '
                     f'fill="{FILL[d["kind"]]}" stroke="#334e68"/>')
        lines.append(f'<text x="{x:.0f}" y="{y + 4:.0f}" text-anchor="middle">{text}</text>')
    y = height + 34 + (9 * deepest + 24 if deepest else 0)
    for (kind, rate), count in sorted(legend.items()):
        lines.append(f'<path d="M{MARGIN} {y:.0f} h36" stroke="{COLOUR[kind]}" stroke-width="{1.2 + min(rate, 450) / 150:.1f}"/>')
        lines.append(f'<text x="{MARGIN + 46}" y="{y + 4:.0f}">{kind}: {count:g} x {rate:g} GB/s each way</text>')
        y += 20
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {y:.0f}" width="{width:.0f}" '
            f'height="{y:.0f}" font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n'
            f'<text x="{MARGIN}" y="26" font-size="17" font-weight="bold">{title}</text>\n'
            f'<text x="{MARGIN}" y="46" fill="#52606d">{subtitle}</text>\n')
    return head + "\n".join(lines) + "\n</svg>\n"


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def main():
    simulate = pathlib.Path(sys.argv[1]).resolve()
    folder = pathlib.Path(__file__).resolve().parent / "hosts"
    folder.mkdir(exist_ok=True)
    for name, help_text in host_types(simulate):
        svg = draw(dump(simulate, name), name, escape(help_text))
        (folder / f"{name}.svg").write_text(svg)


if __name__ == "__main__":
    main()
