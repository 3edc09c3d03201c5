// Who does what when: one lane per rank class and stream, with zoom, hover and search.
import { figure, tip } from "../chart.js";
import { h } from "../dom.js";
import { column, table } from "../table.js";
import { axis, base, colourOf } from "../theme.js";
import { count, integer, tick, time } from "../format.js";
import { blocksOf, kindOf, lanesOf } from "./lanes.js";

const kLane = 22;
const kMostLanes = 40;
const kTableRows = 2000;

export function timeline(r, tracks, of = tracks.length) {
  const alike = new Map((r.roles ?? []).map((role) => [role.program, role.ranks]));
  const lanes = lanesOf(tracks).map((lane) => ({ ...lane, alike: alike.get(lane.program) }));
  if (lanes.length === 0) return null;
  const view = new View(r.step_time_s, lanes);
  const kinds = [...new Set(lanes.flatMap((lane) => lane.entries.map(kindOf)))];
  const rows = tracks.flatMap((t) => t.entries.slice(0, Math.ceil(kTableRows / tracks.length)).map((e) => ({ ...e, program: t.program, rank: t.rank })));
  const all = tracks.reduce((sum, t) => sum + t.entries.length, 0);
  const node = figure({
    title: "Timeline", id: "timeline", canvas: true,
    says: `One lane per rank class and stream; ${count(tracks.length, "rank class", "rank classes")}, ${count(all, "operation")}.${of > tracks.length ? ` All ${integer(of)} classes would be too large for a page: others are left out here, below too; --json and --trace have them.` : ""} Pale: waiting for the other members. Drag to move, wheel with Ctrl or the bar below to zoom; with the keyboard: + − ← → and 0.`,
    alt: `Timeline of ${count(lanes.length, "stream")}; the table below lists the operations.`,
    controls: [legendOf(kinds), view.controls()],
    height: () => view.shown().length * kLane + 104,
    option: (width, c) => view.option(width, c),
    ready: (chart, box) => view.attach(chart, box),
    table: table([column("rank class", { key: "program" }), column("rank", { key: "rank" }), column("stream", { key: "stream" }),
      column("operation", { key: "operation" }), column("what", { key: "what" }), column("arrives", { key: "arrive_s", unit: "s", format: time }),
      column("starts", { key: "start_s", unit: "s", format: time }), column("ends", { key: "end_s", unit: "s", format: time })], rows,
    { name: "timeline", caption: rows.length < all ? `The first ${integer(rows.length)} of ${integer(all)} operations; --json and --trace have all.` : undefined }),
  });
  return node;
}

function legendOf(kinds) {
  return h("ul", { class: "legend" }, kinds.slice(0, 12).map((kind) =>
    h("li", {}, h("i", { style: `background: var(--${nameOf(kind)})` }), kind)));
}

// The palette's names are the style sheet's variables: let colourOf choose among them.
const nameOf = (kind) => colourOf(kind, new Proxy({ list: ["blue", "orange", "green", "purple", "sky", "vermilion", "yellow", "grey"] },
  { get: (target, key) => (key in target ? target[key] : key) }));

class View {
  constructor(step, lanes) {
    Object.assign(this, { step, lanes, from: 0, to: step, first: 0, query: "", hits: [], hit: -1 });
  }
  shown() {
    return this.lanes.slice(this.first, this.first + kMostLanes);
  }
  matches() {
    const query = this.query.toLowerCase();
    return query ? (e) => e.operation.toLowerCase().includes(query) || e.what.toLowerCase().includes(query) : null;
  }

  controls() {
    const found = h("output", { "aria-live": "polite" });
    const search = h("input", { type: "search", placeholder: "Find an operation", "aria-label": "Find an operation" });
    search.addEventListener("input", () => {
      this.search(search.value.trim());
      found.textContent = this.query ? `${integer(this.hits.length)} found` : "";
    });
    search.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || this.hits.length === 0) return;
      this.goTo(event.shiftKey ? -1 : 1);
      found.textContent = `${integer(this.hit + 1)} of ${integer(this.hits.length)}`;
    });
    const button = (label, name, action) => h("button", { type: "button", "aria-label": name, onclick: action }, label);
    const pages = this.lanes.length > kMostLanes ? this.pager() : null;
    return h("div", { class: "controls" }, search, found, pages, button("+", "Zoom in", () => this.zoom(0.5)),
      button("−", "Zoom out", () => this.zoom(2)), button("Whole step", "Show the whole step", () => this.show(0, this.step)));
  }
  pager() {
    const select = h("select", { "aria-label": "Lanes shown" });
    for (let i = 0; i < this.lanes.length; i += kMostLanes)
      select.append(h("option", { value: i }, `${this.lanes[i].program} to ${this.lanes[Math.min(i + kMostLanes, this.lanes.length) - 1].program}`));
    select.addEventListener("change", () => {
      this.first = Number(select.value);
      this.refresh();
    });
    return select;
  }

  search(text) {
    this.query = text;
    const matches = this.matches();
    this.hit = -1;
    this.hits = matches ? this.lanes.flatMap((lane, l) => lane.entries.flatMap((e, i) => (matches(e) ? [[l, i]] : []))) : [];
    this.hits.sort((a, b) => this.lanes[a[0]].start[a[1]] - this.lanes[b[0]].start[b[1]]);
    this.redraw();
  }
  goTo(step) {
    this.hit = (this.hit + step + this.hits.length) % this.hits.length;
    const [l, i] = this.hits[this.hit];
    const { start, end } = this.lanes[l];
    const span = Math.min(this.step, Math.max((end[i] - start[i]) * 12, this.step * 1e-6));
    const middle = (start[i] + end[i]) / 2;
    this.show(middle - span / 2, middle + span / 2);
  }
  zoom(factor) {
    const middle = (this.from + this.to) / 2;
    const half = ((this.to - this.from) / 2) * factor;
    this.show(middle - half, middle + half);
  }
  move(share) {
    const by = (this.to - this.from) * share;
    if (this.from + by >= 0 && this.to + by <= this.step) this.show(this.from + by, this.to + by);
    else if (by < 0) this.show(0, this.to - this.from);
    else this.show(this.step - (this.to - this.from), this.step);
  }
  show(from, to) {
    this.from = Math.max(0, from);
    this.to = Math.min(this.step, Math.max(to, this.from + this.step * 1e-7));
    this.chart?.dispatchAction({ type: "dataZoom", startValue: this.from, endValue: this.to });
    this.redraw();
  }

  attach(chart, box) {
    this.chart = chart;
    chart.on("datazoom", () => {
      const { startValue, endValue } = chart.getOption().dataZoom[0];
      if (startValue === this.from && endValue === this.to) return;
      [this.from, this.to] = [startValue, endValue];
      this.redraw();
    });
    const keys = { "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), ArrowLeft: () => this.move(-0.25),
      ArrowRight: () => this.move(0.25), 0: () => this.show(0, this.step) };
    box.addEventListener("keydown", (event) => {
      if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      keys[event.key]();
    });
    box.dataset.from = this.from;
    box.dataset.to = this.to;
    this.box = box;
  }
  refresh() {
    if (!this.chart) return;
    const height = this.shown().length * kLane + 104;
    this.box.style.height = `${height}px`;
    this.chart.resize({ height });
    this.chart.setOption(this.option(this.width, this.c), { notMerge: true });
  }
  redraw() {
    if (!this.chart) return;
    this.chart.setOption({ series: [{ id: "blocks", data: this.data() }] });
    this.box.dataset.from = this.from;
    this.box.dataset.to = this.to;
  }

  // [lane, start, end, first entry, entries, matches, arrival]
  data() {
    const pixel = (this.to - this.from) / Math.max(200, this.width - 160);
    const matches = this.matches();
    return this.shown().flatMap((lane, l) => blocksOf(lane, this.from, this.to, pixel, matches).map((b) =>
      [l, b.start, b.end, b.first, b.count, b.match ? 1 : 0, b.count === 1 ? lane.entries[b.first].arrive_s : b.start]));
  }

  option(width, c) {
    Object.assign(this, { width, c });
    const lanes = this.shown();
    const several = new Set(lanes.map((lane) => lane.program)).size > 1;
    const label = (i) => {
      const firstOfTrack = i === 0 || lanes[i - 1].track !== lanes[i].track;
      return several && firstOfTrack ? `{class|${lanes[i].program}}  ${lanes[i].stream}` : lanes[i].stream;
    };
    return {
      ...base(c),
      grid: { left: 8, right: 16, top: 24, bottom: 58, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
      tooltip: { ...base(c).tooltip, formatter: (p) => this.detail(lanes[p.value[0]], p.value) },
      xAxis: axis(c, { type: "value", min: 0, max: this.step, position: "top", axisLabel: { formatter: tick(time), showMaxLabel: false }, splitNumber: width < 500 ? 2 : 6 }),
      yAxis: axis(c, { type: "category", inverse: true, data: lanes.map((_, i) => `${i}`), splitLine: { show: false },
        axisLabel: { formatter: (v) => label(Number(v)), color: c.soft, interval: 0, rich: { class: { color: c.ink, fontWeight: 600 } },
          width: width < 500 ? 84 : 200, overflow: "truncate" } }),
      dataZoom: [
        { type: "inside", xAxisIndex: 0, filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseMove: true, startValue: this.from, endValue: this.to },
        { type: "slider", xAxisIndex: 0, filterMode: "none", height: 22, bottom: 8, borderColor: c.line, brushSelect: false,
          fillerColor: "rgba(128,128,128,.18)", handleStyle: { color: c.raised, borderColor: c.soft }, moveHandleSize: 0,
          labelFormatter: (v) => tick(time)(Number(v)), textStyle: { color: c.soft, fontSize: 11 }, showDataShadow: false, startValue: this.from, endValue: this.to },
      ],
      series: [{ id: "blocks", type: "custom", clip: true, data: this.data(), encode: { x: [1, 2], y: 0 },
        renderItem: (params, api) => this.block(params, api, lanes) }],
    };
  }

  block(params, api, lanes) {
    const lane = lanes[api.value(0)];
    const [x, y] = api.coord([api.value(1), api.value(0)]);
    const [end] = api.coord([api.value(2), api.value(0)]);
    const [arrive] = api.coord([api.value(6), api.value(0)]);
    const colour = colourOf(kindOf(lane.entries[api.value(3)]), this.c);
    const height = kLane - 6;
    const opacity = api.value(5) ? 1 : 0.15;
    const rect = (from, to, alpha) => ({ type: "rect", shape: { x: from, y: y - height / 2, width: Math.max(0.7, to - from), height },
      style: { fill: colour, opacity: alpha } });
    const wide = end - x > 46 && api.value(4) === 1;
    return { type: "group", children: [
      ...(arrive < x - 0.5 ? [rect(arrive, x, 0.28 * opacity)] : []),
      rect(x, end - (end - x > 3 ? 0.6 : 0), opacity),
      ...(wide ? [{ type: "text", silent: true, style: { text: lane.entries[api.value(3)].operation, x: Math.max(x, params.coordSys.x) + 5, y,
        width: end - Math.max(x, params.coordSys.x) - 10, overflow: "truncate", verticalAlign: "middle", fill: "#10161c", fontSize: 11, opacity } }] : []),
    ] };
  }

  detail(lane, value) {
    const [, start, end, first, entries] = value;
    const where = [["stream", lane.stream], ["rank class", lane.program], ["rank", integer(lane.rank)], lane.alike > 1 ? ["ranks of this class", integer(lane.alike)] : null];
    if (entries > 1) return tip(`${integer(entries)} operations, too close to tell apart`, [["from", time(start)], ["to", time(end)], ...where]);
    const e = lane.entries[first];
    return tip(e.operation, [["what", e.what], e.group ? ["group", e.group] : null, ["starts", time(e.start_s)], ["takes", time(e.end_s - e.start_s)],
      e.start_s > e.arrive_s ? ["waited before", time(e.start_s - e.arrive_s)] : null, ...where]);
  }
}
