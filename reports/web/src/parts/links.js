// How full the links are: on a drawing of the machine, and as a sorted list.
import { figure, tip } from "../chart.js";
import { h } from "../dom.js";
import { column, rowsAt, table } from "../table.js";
import { modelled } from "../model.js";
import { axis, base, names } from "../theme.js";
import { bytes, count, integer, percent, rate } from "../format.js";
import { connections, hostsShown, placesOf } from "./places.js";

const kQuiet = 0.125;  // below this over the step all links look alike: their peaks are told first
const kLabels = { gpu: "GPU", nic: "NIC", nvswitch: "NVSwitch", "pcie-switch": "PCIe", cpu: "CPU" };

export function links(r) {
  const rows = rowsAt(r.links, "/links");
  if (rows.length === 0) return null;
  return [r.layout && r.layout.nodes.length > 0 ? drawing(r) : null, list(rows)];
}

function heat(share, c) {
  const at = Math.min(1, Math.max(0, share)) * (c.heat.length - 1);
  return c.heat[Math.round(at)];
}

function drawing(r) {
  const { nodes } = r.layout;
  const edges = connections(r.layout.links);
  const fullest = [...edges].sort((a, b) => b.busy_fraction - a.busy_fraction)[0];
  const idle = fullest.busy_fraction < kQuiet;
  const state = { key: idle ? "peak_fraction" : "busy_fraction" };
  const choose = h("select", { "aria-label": "What the colours show" }, h("option", { value: "busy_fraction", selected: !idle }, "over the step"),
    h("option", { value: "peak_fraction", selected: idle }, "at its peak"));
  const name = (e) => `${nodes[e.from].name} – ${nodes[e.to].name}`;
  let chart = null;
  let last = null;
  const option = (width, c) => {
    last = [width, c];
    return drawn({ nodes, edges, width, c, key: state.key, name });
  };
  choose.addEventListener("change", () => {
    state.key = choose.value;
    chart?.setOption(option(...last), { notMerge: true });
  });
  const folded = nodes.some((n) => n.members > 1);
  const hosts = new Set(nodes.map((n) => n.host).filter(Boolean)).size;
  const scale = h("ul", { class: "legend" }, [0, 0.25, 0.5, 0.75, 1].map((share, i) =>
    h("li", {}, h("i", { style: `background: var(--heat-${i})` }), `${100 * share} %`)));
  return figure({
    title: "Load of the links", id: "load",
    says: `Share of what a link sustains.${folded ? " Parts that are alike are drawn once, with the load of the fullest of them." : hosts > 1 ? " Where there is room for one host only, the first is drawn." : ""} Fullest over the step: ${name(fullest)} (${fullest.class}), ${percent(fullest.busy_fraction)}, ${percent(fullest.peak_fraction)} at its peak.`,
    alt: `Drawing of the machine, links coloured by load; the table lists them. Fullest: ${name(fullest)} ${percent(fullest.busy_fraction)}`,
    controls: [h("div", { class: "controls" }, choose), scale],
    height: (width) => placesOf(nodes, width).height, option, ready: (made) => (chart = made),
    table: table([column("from", { value: (e) => nodes[e.from].name }), column("to", { value: (e) => nodes[e.to].name }), column("class", { key: "class" }),
      column("alike", { key: "members", format: integer }), column("capacity", { key: "capacity_Bps", unit: "B/s", format: rate }),
      column("of the step", { key: "busy_fraction", unit: "share", format: percent }), column("at peak", { key: "peak_fraction", unit: "share", format: percent })],
    rowsAt(r.layout.links, "/layout/links").sort((a, b) => b.busy_fraction - a.busy_fraction), { name: "load" }),
  });
}

function drawn({ nodes, edges, width, c, key, name }) {
  const { places, rooms, boxes, height } = placesOf(nodes, width);
  const crowded = width / Math.max(1, hostsShown(nodes, width).length) < 330;
  const visible = nodes.map((n, i) => ({ ...n, i })).filter((n) => places[n.i]);
  const number = new Map(visible.map((n, k) => [n.i, k]));
  const seen = edges.filter((e) => number.has(e.from) && number.has(e.to)).sort((a, b) => a[key] - b[key]);
  // A part that stands for several has connections to others of its kind, which have no place of their own.
  const among = (i) => edges.filter((e) => e.from === i && e.to === i).map((e) => `, ${percent(e[key])} among them`).join("");
  const labelOf = (n) => (n.host ? (n.kind === "gpu" || n.kind === "nic" ? (crowded ? n.name.replace(/\D+/, "") : n.name) : crowded ? "" : kLabels[n.kind] ?? n.kind)
    : rooms[n.i] < 40 ? n.name.replace(/\D+/, "") : `${n.name}${n.members > 1 ? ` (${integer(n.members)} alike)` : ""}${among(n.i)}`);
  const boxOf = (n) => [Math.max(14, Math.min(rooms[n.i], n.host ? 74 : 260, 16 + 6.4 * labelOf(n).length)), n.host ? 20 : 24];
  return {
    ...base(c),
    grid: { left: 0, right: 0, top: 0, bottom: 0 },
    xAxis: { type: "value", min: 0, max: width, show: false },
    yAxis: { type: "value", min: 0, max: height, inverse: true, show: false },
    tooltip: { ...base(c).tooltip, formatter: (p) => (p.dataType === "edge" ? edgeTip(p.data.edge, name) : p.data?.node ? nodeTip(p.data.node) : "") },
    series: [
      { type: "custom", silent: true, z: 0, data: boxes.map((b) => [b.x, b.y]), renderItem: (params) => {
        const b = boxes[params.dataIndex];
        return { type: "group", children: [
          { type: "rect", shape: { x: b.x, y: b.y, width: b.width, height: b.height, r: 8 }, style: { fill: c.raised, stroke: c.line } },
          { type: "text", style: { text: hostsOf(nodes, b.name), x: b.x + 10, y: b.y + b.height - 17, fill: c.soft, fontSize: 11 } }] };
      } },
      { type: "graph", coordinateSystem: "cartesian2d", z: 2, roam: false, cursor: "default",
        data: visible.map((n) => ({ name: String(n.i), value: places[n.i], node: n, symbol: n.host ? "roundRect" : "rect",
          symbolSize: n.host && crowded ? [16, 16] : boxOf(n), itemStyle: { color: c.line, borderWidth: 0 },
          label: { show: true, formatter: labelOf(n), color: c.ink, fontSize: 10, width: Math.max(16, rooms[n.i]), overflow: "truncate" } })),
        links: seen.map((e) => ({ source: number.get(e.from), target: number.get(e.to), edge: e,
          lineStyle: { color: heat(e[key], c), width: 1 + 4 * Math.min(1, e[key]), opacity: 1,
            curveness: e.from !== e.to && places[e.from][1] === places[e.to][1] ? 0.35 : 0 } })),
        emphasis: { focus: "none", lineStyle: { width: 7 } } },
    ],
  };
}

// As many as its first GPU stands for.
function hostsOf(nodes, name) {
  const alike = nodes.find((n) => n.host === name)?.members ?? 1;
  return alike > 1 ? `host ${name} and ${integer(alike - 1)} alike` : `host ${name}`;
}

const edgeTip = (e, name) => tip(name(e), [["class", e.class], ["capacity", rate(e.capacity_Bps)], ["over the step", percent(e.busy_fraction)],
  ["at its peak", percent(e.peak_fraction)], e.members > 1 ? ["alike", integer(e.members)] : null]);
const nodeTip = (n) => tip(n.name, [["kind", kLabels[n.kind] ?? n.kind], n.members > 1 ? ["alike", integer(n.members)] : null]);

function list(rows) {
  const of = modelled("links");
  const shown = rows.slice(0, 18);
  const label = (row) => `${row.class}, ${row.name}${row.members > 1 ? ` and ${integer(row.members - 1)} alike` : ""}`;
  const option = (width, c) => ({
    ...base(c),
    grid: { ...base(c).grid, top: 30, bottom: 26, right: 30 },
    legend: { top: 0, left: 0, itemWidth: 12, itemHeight: 12, textStyle: { color: c.soft }, selectedMode: false },
    tooltip: { ...base(c).tooltip, formatter: (p) => { const row = shown[p.dataIndex]; return tip(label(row), [["over the step", percent(row.busy_fraction)],
      ["at its peak", percent(row.peak_fraction)], ["carried", bytes(row.bytes)], ["sustains", rate(row.capacity_Bps)]]); } },
    xAxis: axis(c, { type: "value", min: 0, max: 1, axisLabel: { formatter: (v) => `${Math.round(100 * v)} %` }, splitNumber: width < 500 ? 2 : 5 }),
    yAxis: names(c, shown.map(label), width < 500 ? 140 : 330),
    series: [
      { name: "over the step", type: "bar", barMaxWidth: 14, itemStyle: { color: c.blue, borderRadius: 2 }, data: shown.map((row) => row.busy_fraction) },
      { name: "at its peak", type: "scatter", symbol: "rect", symbolSize: [3, 16], itemStyle: { color: c.ink }, data: shown.map((row) => row.peak_fraction) },
    ],
  });
  return figure({
    title: "The busiest links", id: "links",
    says: `Of ${count(rows.reduce((sum, row) => sum + row.members, 0), "link")} that carry anything, in ${count(rows.length, "kind")} that are alike. A link that is full at its peak bounds what runs then; one that is nearly full over the step bounds the step.`,
    alt: `Busiest links: ${shown.slice(0, 6).map((row) => `${row.name} ${percent(row.busy_fraction)}`).join(", ")}`,
    height: (width) => (width < 500 ? 34 : 30) * shown.length + 62, option,
    table: table([of("link", { key: "name" }), of("class", { key: "class" }), of("alike", { key: "members" }), of("sustains", { key: "capacity_Bps" }),
      column("datasheet", { key: "nominal_Bps", unit: "B/s", format: rate }), of("carried", { key: "bytes" }), of("of the step", { key: "busy_fraction" }), of("at peak", { key: "peak_fraction" })], rows, { name: "links" }),
  });
}
