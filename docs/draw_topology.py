#!/usr/bin/env python3
"""Draws the network of a topology as SVG: switches by tier above, hosts below.

    simulate --topology fabric-fat-tree.json --dump-topology - | docs/draw_topology.py > fat-tree.svg

Needs nothing but Python. Parallel cables between two devices are drawn as one line with their summed bandwidth;
the line's width grows with it. Routers that are fabrics of their own (torus, dragonfly) stand in a grid or a
circle.
"""
import collections
import html
import json
import math
import re
import sys

NETWORK = {"rdma", "slingshot", "tcp", "efa"}
UNITS = {"Gb/s": 1 / 8, "GB/s": 1, "TB/s": 1000, "MB/s": 1e-3, "B/s": 1e-9, "kB/s": 1e-6}
COLOURS = {"nic": "#8fa3ad", "leaf": "#2b6cb0", "spine": "#b7791f", "core": "#9b2c2c", "router": "#2b6cb0"}
HOST_WIDTH, HOST_GAP, TIER = 86, 14, 150


def gigabytes(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


def host_name(device):
    return device.get("host", device["id"])


def network(topology):
    """Devices of the network (hosts as one), and (a, b) -> GB/s each way with cables counted."""
    device = {d["id"]: d for d in topology["devices"]}
    joined = collections.defaultdict(lambda: [0.0, 0])
    for link in topology["links"]:
        if link.get("type") not in NETWORK:
            continue
        ends = [node_of(device[link[end]]) for end in ("from", "to")]
        if ends[0] == ends[1]:
            continue
        share = 0.5 if link.get("directed") else 1  # a torus enters a router and leaves it by directed links
        cable = joined[tuple(sorted(ends, key=natural))]
        cable[0] += share * gigabytes(link["bandwidth"])
        cable[1] += share
    return joined


def node_of(device):
    """Hosts are one box; the dimensions of a torus router ("r3.x", "r3.y") are one."""
    if device["kind"] != "switch":
        return host_name(device)
    return re.sub(r"^(r\d+)\.\w+$", r"\1", device["id"])


def natural(name):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def role(name):
    return re.match(r"[a-z]*", name).group()


def tiers_of(joined):
    """Rows from the hosts up."""
    rank = {"leaf": 1, "switch": 1, "router": 1, "r": 1, "spine": 2, "core": 3}
    rows = collections.defaultdict(list)
    for name in sorted({n for pair in joined for n in pair}, key=natural):
        rows[rank.get(role(name), 0)].append(name)
    return [rows[r] for r in sorted(rows)]


def in_rows(joined):
    rows = tiers_of(joined)
    width = max(len(rows[0]) * (HOST_WIDTH + HOST_GAP), max(len(r) for r in rows) * 74) + 40
    place = {}
    for height, row in enumerate(reversed(rows)):
        for i, name in enumerate(row):
            place[name] = ((i + 0.5) * (width - 40) / len(row) + 20, 60 + height * TIER)
    return place, width, 60 + (len(rows) - 1) * TIER + 60


def in_grid(topology, routers):
    """A torus: dimensions from the routers' names and links; more than two are drawn side by side."""
    sizes = sizes_of(topology, len(routers))
    place = {}
    step = 130
    for i, name in enumerate(routers):
        x, y, rest = i % sizes[0], i // sizes[0] % sizes[1], i // (sizes[0] * sizes[1])
        place[name] = (100 + (x + rest * (sizes[0] + 0.5)) * step, 90 + y * step)
    xs, ys = zip(*place.values())
    return place, max(xs) + 100, max(ys) + 90


def sizes_of(topology, routers):
    """Of each dimension: routers reached along the ring of router 0 in it."""
    sizes = []
    for axis in "xyz":
        ring = collections.defaultdict(set)
        for link in topology["links"]:
            ends = [re.match(r"^r(\d+)\.(\w+)$", link[e]) for e in ("from", "to")]
            if all(ends) and ends[0].group(2) == ends[1].group(2) == axis:
                ring[int(ends[0].group(1))].add(int(ends[1].group(1)))
                ring[int(ends[1].group(1))].add(int(ends[0].group(1)))
        seen, todo = {0}, [0]
        while todo:
            todo += [n for n in ring[todo.pop()] if n not in seen and not seen.add(n)]
        sizes.append(len(seen))
    sizes[0] = max(sizes[0], 1)
    return sizes if routers > 1 else [1, 1, 1]


def in_circle(topology, routers):
    """A dragonfly: groups around a circle, the routers of each around a small one."""
    local = collections.defaultdict(set)
    for link in topology["links"]:
        if link["from"] in routers and link["to"] in routers and link.get("weight", 1) == 1:
            local[link["from"]].add(link["to"])
            local[link["to"]].add(link["from"])
    groups = []
    for name in routers:
        if not any(name in group for group in groups):
            groups.append([name] + sorted(local[name], key=natural))
    big = max(190, 90 * len(groups))
    place = {}
    for g, group in enumerate(groups):
        angle = 2 * math.pi * g / len(groups) - math.pi / 2
        centre = (big * math.cos(angle), big * math.sin(angle))
        for i, name in enumerate(group):
            turn = angle + 0.6 + 2 * math.pi * i / len(group)  # turned: cables between groups do not hide behind others
            place[name] = (centre[0] + 95 * math.cos(turn), centre[1] + 95 * math.sin(turn))
    left = min(x for x, _ in place.values()) - 110
    top = min(y for _, y in place.values()) - 90
    place = {name: (x - left, y - top) for name, (x, y) in place.items()}
    return place, max(x for x, _ in place.values()) + 110, max(y for _, y in place.values()) + 60


def rate_text(rate):
    return f"{rate:.0f} GB/s" if rate >= 10 else f"{rate:.3g} GB/s"


def box(name, x, y, label):
    colour = COLOURS.get({"r": "router", "switch": "leaf", "router": "router"}.get(role(name), role(name)), "#4a5568")
    lines = [name] + label
    width = max(60, 8 * max(len(line) for line in lines) + 10)
    height = 12 + 15 * len(lines)
    text = "".join(
        f'<text x="{x:.0f}" y="{y - height / 2 + 18 + 15 * i:.0f}">{html.escape(line)}</text>'
        for i, line in enumerate(lines)
    )
    return (
        f'<rect x="{x - width / 2:.0f}" y="{y - height / 2:.0f}" width="{width:.0f}" height="{height}" rx="5" '
        f'fill="{colour}"/>{text}'
    )


def line(a, b, rate, cables, bent):
    (x1, y1), (x2, y2) = a, b
    width = min(7, 1 + math.log2(1 + rate / 50))
    if bent:  # the cable that closes a ring of the torus runs around those between
        dx, dy = x2 - x1, y2 - y1
        path = f"M{x1:.0f} {y1:.0f} Q{(x1 + x2) / 2 - dy / 6:.0f} {(y1 + y2) / 2 + dx / 6:.0f} {x2:.0f} {y2:.0f}"
    else:
        path = f"M{x1:.0f} {y1:.0f} L{x2:.0f} {y2:.0f}"
    title = f"{cables:.0f} x, {rate_text(rate)} each way together"
    return f'<path d="{path}" stroke-width="{width:.1f}"><title>{title}</title></path>'


def legend(joined, place):
    """One line per kind of link: between which roles, how fast."""
    kinds = collections.Counter()
    for (a, b), (rate, _) in joined.items():
        names = sorted((shown_role(a), shown_role(b)), key=["host", "leaf", "switch", "router", "spine", "core"].index)
        kinds[(names[0], names[1], rate_text(rate))] += 1
    return [f"{a} - {b}: {n} x {rate}" for (a, b, rate), n in kinds.items()]


def shown_role(name):
    return {"r": "router"}.get(role(name), role(name)) if role(name) in (
        "leaf", "switch", "router", "r", "spine", "core") else "host"


def draw(topology):
    joined = network(topology)
    names = sorted({n for pair in joined for n in pair}, key=natural)
    routers = [n for n in names if role(n) in ("r", "router")]
    hosts_at = collections.defaultdict(list)
    lines = dict(joined)
    if routers:  # hosts are written into their router's box
        for a, b in joined:
            if shown_role(a) == "host" or shown_role(b) == "host":
                host, router = (a, b) if shown_role(a) == "host" else (b, a)
                hosts_at[router].append(host)
                del lines[(a, b)]
        layout = in_grid if role(routers[0]) == "r" else in_circle
        place, width, height = layout(topology, routers)
    else:
        place, width, height = in_rows(joined)
    far = 1.5 * 130 if routers and role(routers[0]) == "r" else math.inf
    notes = legend(joined, place)
    width = max(width, 9 * max(len(note) for note in notes + [topology["name"]]) + 40)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height + 18 * len(notes) + 20:.0f}" '
        f'font-family="sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="20" y="24" font-size="15" font-weight="bold">{html.escape(topology["name"])}</text>',
        '<g fill="none" stroke="#718096" stroke-opacity="0.75">',
    ]
    for (a, b), (rate, cables) in lines.items():
        bent = math.dist(place[a], place[b]) > far
        parts.append(line(place[a], place[b], rate, cables, bent))
    parts.append('</g><g fill="white" text-anchor="middle">')
    for name, (x, y) in place.items():
        parts.append(box(name, x, y, [" ".join(sorted(hosts_at[name], key=natural))] if hosts_at[name] else []))
    parts.append("</g>")
    for i, note in enumerate(notes):
        parts.append(f'<text x="20" y="{height + 18 * i + 10:.0f}" fill="#2d3748">{html.escape(note)}</text>')
    return "\n".join(parts + ["</svg>"]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(draw(json.load(sys.stdin)))
