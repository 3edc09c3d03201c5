#!/usr/bin/env python3
"""Draws the wiring of every host type into docs/hosts/<type>.svg, and lists them in docs/hosts.md.

    docs/draw_hosts.py build/bin/simulate

Reads what `simulate --dump-topology` writes (the long form of busbar.topology/1), one host of each type of
`simulate --list hosts`, and lays its devices out in rows: CPUs, PCIe switches, NICs, GPUs, NVSwitches.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROWS = ["cpu", "pcie-switch", "gpu", "nvswitch"]
FILL = {"cpu": "#d9e2ec", "pcie-switch": "#fde8c8", "nic": "#d3f0e0", "gpu": "#d6e8fa", "nvswitch": "#eadcf7"}
COLOUR = {"nvlink": "#7a3fb5", "xgmi": "#c0392b", "c2c": "#16807a", "pcie": "#c77700", "upi": "#52606d"}
BOX_W, NIC_W, BOX_H, SLOT, NIC_SLOT, STEP_Y, MARGIN, TOP = 74, 46, 30, 92, 62, 104, 24, 64
ARC = 17  # depth of a link within a row, per column that it spans
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
    return [(name, *(part.strip(" ]") for part in rest.split("[", 1))) for name, rest in rows]


def rows_of(topology):
    """Devices in rows from top to bottom: each NIC stands beside what it hangs at."""
    kind = {d["id"]: d["kind"] for d in topology["devices"]}
    parent = {}
    for link in topology["links"]:
        if kind[link["from"]] == "nic":
            parent[link["from"]] = link["to"]
    rows = []
    for row_kind in ROWS:
        row = []
        for device in (d for d in kind if kind[d] == row_kind):
            nics = [n for n in parent if parent[n] == device]
            row += nics[:len(nics) // 2] + [device] + nics[len(nics) // 2:]
        if row:
            rows.append(row)
    return rows, kind


def place(topology):
    """Device id -> (x, y) of its box's centre; also the row and the size of the picture above the legend."""
    rows, kind = rows_of(topology)
    slot = {d: NIC_SLOT if kind[d] == "nic" else SLOT for row in rows for d in row}
    width = max(640, max(sum(slot[d] for d in row) for row in rows))
    at, column = {}, {}
    for r, row in enumerate(rows):
        stretch = width / sum(slot[d] for d in row)
        x = MARGIN
        for i, device in enumerate(row):
            at[device] = (x + slot[device] * stretch / 2, TOP + r * STEP_Y + BOX_H / 2)
            column[device] = i
            x += slot[device] * stretch
    return at, column, width + 2 * MARGIN, TOP + (len(rows) - 1) * STEP_Y + BOX_H


def bandwidth(text):
    """"50000000000 B/s" or "450 GB/s" as GB/s."""
    value, unit = text.split()
    scale = {"B/s": 1e-9, "kB/s": 1e-6, "MB/s": 1e-3, "GB/s": 1, "TB/s": 1e3, "Gb/s": 0.125}[unit]
    return float(value) * scale


def path(a, b, same_row_span):
    (x1, y1), (x2, y2) = a, b
    if y1 == y2 and same_row_span == 0:
        return f"M{x1:.0f} {y1:.0f} L{x2:.0f} {y2:.0f}"
    if y1 == y2:  # an arc below the row, deeper the farther apart
        depth = ARC * same_row_span
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


def stroke(rate):
    return 1 + min(rate, 450) / 75


def draw(topology, title, subtitle):
    at, column, width, height = place(topology)
    kinds = {d["id"]: d["kind"] for d in topology["devices"]}

    def span(link):
        """Columns between two ends in one row; 0 from a NIC to its parent, which stand side by side."""
        a, b = link["from"], link["to"]
        return 0 if "nic" in (kinds[a], kinds[b]) else abs(column[a] - column[b])

    def below(link):
        return at[link["from"]][1] == at[link["to"]][1] and at[link["from"]][1] + BOX_H / 2 >= height

    lines, legend = [], {}
    deepest = max((span(link) for link in topology["links"] if below(link)), default=0)
    for link in topology["links"]:
        kind, rate = link["type"], bandwidth(link["bandwidth"])
        legend.setdefault((kind, round(rate, 1)), 0)
        legend[(kind, round(rate, 1))] += 0.5 if link.get("directed") else 1
        a, b = at[link["from"]], at[link["to"]]
        shape = path(a, b, span(link))
        lines.append(f'<path d="{shape}" fill="none" stroke="{COLOUR[kind]}" stroke-width="{stroke(rate):.1f}" '
                     f'stroke-opacity="0.75"/>')
    for d in topology["devices"]:
        x, y = at[d["id"]]
        text = label(d)
        w = max(NIC_W if d["kind"] == "nic" else BOX_W, 7.4 * len(text) + 8)
        lines.append(f'<rect x="{x - w / 2:.0f}" y="{y - BOX_H / 2:.0f}" width="{w:.0f}" height="{BOX_H}" rx="4" '
                     f'fill="{FILL[d["kind"]]}" stroke="#334e68"/>')
        lines.append(f'<text x="{x:.0f}" y="{y + 4:.0f}" text-anchor="middle">{text}</text>')
    y = height + 34 + 0.75 * ARC * deepest
    for (kind, rate), count in sorted(legend.items()):
        lines.append(f'<path d="M{MARGIN} {y:.0f} h36" stroke="{COLOUR[kind]}" stroke-width="{stroke(rate):.1f}"/>')
        lines.append(f'<text x="{MARGIN + 46}" y="{y + 4:.0f}">{kind}: {count:g} x {rate:g} GB/s each way</text>')
        y += 20
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {y:.0f}" width="{width:.0f}" '
            f'height="{y:.0f}" font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n'
            f'<text x="{MARGIN}" y="26" font-size="17" font-weight="bold">{title}</text>\n'
            f'<text x="{MARGIN}" y="46" fill="#52606d">{subtitle}</text>\n')
    return head + "\n".join(lines) + "\n</svg>\n"


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


PAGE = """# Host types

Written by `docs/draw_hosts.py` from what `simulate --list hosts` and `--dump-topology` print; do not edit.

Bandwidths are one way. A line between a GPU and an NVSwitch is all its NVLinks together; the NVSwitch chips of a
host are one device, because together they form one crossbar. NICs are those that carry collectives: storage and
front-end NICs are left out. The racks (`gb200-nvl72`, `gb300-nvl72`) are drawn as one tray of 18 with the NVSwitches
that all share. The `pcie-*` boxes are drawn with L40S cards. Without `peer_access` (the default of GeForce cards) the
two directions of a PCIe switch are two devices, `pcie0` and `pcie0.down`, so that no path can turn round at it.

"""


def section(name, help_text, source):
    return (f"## {name}\n\n{help_text[0].upper() + help_text[1:]}.\n\n![wiring of {name}](hosts/{name}.svg)\n\n"
            f"Source: {source}.\n")


def overview(types):
    lines = [f"| [{name}](#{name}) | {help_text} |" for name, help_text, _ in types]
    return "| type | a host of it |\n|---|---|\n" + "\n".join(lines) + "\n\n"


def main():
    simulate = pathlib.Path(sys.argv[1]).resolve()
    folder = pathlib.Path(__file__).resolve().parent / "hosts"
    folder.mkdir(exist_ok=True)
    types = host_types(simulate)
    page = PAGE + overview(types) + "\n".join(section(*row) for row in types)
    (folder.parent / "hosts.md").write_text(page)
    for name, help_text, _ in types:
        svg = draw(dump(simulate, name), name, escape(help_text))
        (folder / f"{name}.svg").write_text(svg)


if __name__ == "__main__":
    main()
