// Curves of a collective over its sizes.
import { figure, tip } from "../chart.js";
import { h } from "../dom.js";
import { axis, base, doubling, legendRoom } from "../theme.js";
import { binary, integer, rate, shortened, signedPercent, tick, time } from "../format.js";

/** Rows in a row that run with the same algorithm, protocol and channels. */
export function choicesOf(rows) {
  const runs = [];
  for (const row of rows) {
    const name = row.algorithm ? `${row.algorithm}/${row.protocol}` : "";
    const last = runs[runs.length - 1];
    if (last && last.name === name) Object.assign(last, { to: row.size_bytes, most: Math.max(last.most, row.channels), least: Math.min(last.least, row.channels), rows: last.rows + 1 });
    else runs.push({ name, from: row.size_bytes, to: row.size_bytes, least: row.channels, most: row.channels, rows: 1 });
  }
  return runs;
}

const kSymbols = { LL: "circle", LL128: "triangle", Simple: "diamond" };

export const measuredBusbw = (row) => (row.busbw_Bps * row.time_s) / row.measured_s;

// Colours that neither algorithms nor what was measured have.
const kOthers = ["purple", "sky", "grey", "yellow"];
const kDashes = [[6, 4], [2, 3], [10, 4, 2, 4], [1, 4]];

// A log axis starts at a positive size; nothing is drawn of size 0.
function bands(rows, c, width) {
  const runs = choicesOf(rows).filter((run) => run.name);
  return runs.map((run, i) => {
    const to = i + 1 < runs.length ? Math.sqrt(run.to * runs[i + 1].from) : run.to;
    const from = i > 0 ? Math.sqrt(runs[i - 1].to * run.from) : run.from;
    const room = (width * Math.log(to / from)) / Math.log(rows[rows.length - 1].size_bytes / rows[0].size_bytes || 2);
    return [{ xAxis: from, itemStyle: { color: i % 2 ? c.raised : c.line, opacity: 0.5 },
      label: { show: room > 7 * run.name.length, formatter: run.name, color: c.soft, position: "insideBottom", fontSize: 11 } }, { xAxis: Math.max(to, from * 1.0001) }];
  });
}

function seriesOf(rows, c, width, y, withBands) {
  const algorithms = [...new Set(rows.map((row) => row.algorithm))];
  return {
    name: "predicted", type: "line", symbolSize: 8, z: 4, lineStyle: { color: c.blue, width: 2 }, itemStyle: { color: c.blue },
    data: rows.map((row, i) => ({ value: [row.size_bytes, y(row)], at: i, symbol: kSymbols[row.protocol] ?? "circle",
      itemStyle: { color: c.list[algorithms.indexOf(row.algorithm) % 6] } })),
    markArea: withBands ? { silent: true, data: bands(rows, c, width) } : undefined,
  };
}

function chart({ record, rows, y, format, title, id, says, lines, logarithmic, controls, ready }) {
  const measured = rows.filter((row) => row.measured_s);
  const compared = record.compared ?? [];
  const names = ["predicted", ...(measured.length > 0 ? ["measured"] : []), ...compared.map((other) => other.name)];
  // Several names stand below each other where they are too long for one line.
  const below = (width) => names.reduce((sum, name) => sum + 45 + 7 * shortened(name, legendRoom(width)).length, 0) > width;
  const rates = [...(lines ?? [])].sort((a, b) => b.rate_Bps - a.rate_Bps);
  const option = (width, c) => ({
    ...base(c),
    grid: { ...base(c).grid, top: below(width) ? 14 + 20 * names.length : 34, bottom: 30, right: 16 },
    legend: { top: 0, left: 0, itemWidth: 22, itemHeight: 10, textStyle: { color: c.soft }, data: names, formatter: (name) => shortened(name, legendRoom(width)), orient: below(width) ? "vertical" : "horizontal" },
    tooltip: { ...base(c).tooltip, formatter: (p) => (p.data.at !== undefined ? detail(rows[p.data.at]) : tip(binary(p.value[0]), [["of", p.seriesName], [title, format(p.value[1])], p.data.other?.algorithm ? ["runs as", `${p.data.other.algorithm}/${p.data.other.protocol}`] : null])) },
    xAxis: doubling(c, rows.map((row) => row.size_bytes), width, { formatter: binary }),
    yAxis: axis(c, { type: logarithmic() ? "log" : "value", axisLabel: { formatter: tick(format), showMinLabel: !logarithmic() }, ...(logarithmic() ? {} : { min: 0 }) }),
    series: [
      seriesOf(rows, c, width - 80, y, true),
      ...(measured.length > 0 ? [{ name: "measured", type: "scatter", symbol: "circle", symbolSize: 10, z: 6, itemStyle: { color: "transparent", borderColor: c.vermilion, borderWidth: 2 },
        data: measured.map((row) => ({ value: [row.size_bytes, y({ ...row, time_s: row.measured_s, busbw_Bps: measuredBusbw(row) })], at: rows.indexOf(row) })) }] : []),
      ...compared.map((other, i) => ({ name: other.name, type: "line", symbolSize: 7, z: 3, lineStyle: { type: kDashes[i % 4], color: c[kOthers[i % kOthers.length]] }, itemStyle: { color: c[kOthers[i % kOthers.length]] },
        data: other.rows.filter((row) => row.size_bytes > 0 && y(row) > 0).map((row) => ({ value: [row.size_bytes, y(row)], other: row, symbol: kSymbols[row.protocol] ?? "circle" })) })),
      ...rates.map((line, i) => ({ name: line.what, type: "line", data: [], markLine: { symbol: "none", silent: true, lineStyle: { color: c.ink, type: "dashed", width: 1 },
        label: { formatter: `${line.what}: ${rate(line.rate_Bps)}`, position: i === 0 ? "insideStartTop" : "insideStartBottom", color: c.ink }, data: [{ yAxis: line.rate_Bps }] } })),
    ],
  });
  return figure({ title, id, says, controls, ready, option, tableAt: "sizes", height: (width) => (width < 500 ? 300 : 400) + (below(width) ? 20 * names.length - 20 : 0),
    alt: `${title} against size${compared.length > 0 ? `, beside ${compared.map((other) => other.name).join(" and ")}` : ""}: ${ends(rows).map((row) => `${binary(row.size_bytes)} ${format(y(row))}`).join(", ")}` });
}

function detail(row) {
  return tip(`${binary(row.size_bytes)}`, [["time", time(row.time_s)], ["busbw", rate(row.busbw_Bps)], ["algbw", rate(row.algbw_Bps)],
    row.algorithm ? ["runs as", `${row.algorithm}/${row.protocol}/${integer(row.channels)}`] : null, ["limited by", row.limit],
    row.measured_s ? ["measured", `${time(row.measured_s)} (${signedPercent(row.error)})`] : null]);
}

// Of very many sizes those that a listener can bear.
const ends = (rows) => (rows.length <= 64 ? rows : rows.filter((_, i) => i % Math.ceil(rows.length / 64) === 0 || i === rows.length - 1));

export function curves(record, rows) {
  if (rows.length === 0) return [];
  const state = { log: true };
  let made = null;
  const choose = h("select", { "aria-label": "Scale of busbw" }, h("option", { value: "log" }, "logarithmic"), h("option", { value: "linear" }, "linear"));
  const redraw = () => { state.log = choose.value === "log"; made?.(); };
  choose.addEventListener("change", redraw);
  const bus = chart({ record, rows, y: (row) => row.busbw_Bps, format: rate, title: "busbw", id: "busbw", lines: record.line_rates,
    logarithmic: () => state.log, controls: h("div", { class: "controls" }, choose),
    ready: (chartMade, box) => { made = () => box.dispatchEvent(new Event("redraw")); },
    says: "Bus bandwidth: comparable with the speed of the hardware whatever the number of ranks. Shaded: what the library runs; the shape of a point is its protocol (circle LL, triangle LL128, diamond Simple)." });
  const times = chart({ record, rows, y: (row) => row.time_s, format: time, title: "Time", id: "time", logarithmic: () => true,
    says: "Flat where latency decides, rising with the size where bandwidth does." });
  return [bus, times];
}

/** Predicted over measured. */
export function errors(rows) {
  const list = rows.filter((row) => row.measured_s);
  if (list.length === 0) return null;
  const worst = [...list].sort((a, b) => Math.abs(b.error) - Math.abs(a.error))[0];
  const most = Math.max(0.12, ...list.map((row) => Math.abs(row.error))) * 1.1;
  const option = (width, c) => ({
    ...base(c), grid: { ...base(c).grid, top: 16, bottom: 30, right: 16 },
    tooltip: { ...base(c).tooltip, formatter: (p) => detail(list[p.dataIndex]) },
    xAxis: doubling(c, rows.map((row) => row.size_bytes), width, { formatter: binary }),
    yAxis: axis(c, { type: "value", min: -most, max: most, axisLabel: { formatter: tick(signedPercent), showMinLabel: false, showMaxLabel: false } }),
    series: [{ type: "scatter", symbolSize: 9, itemStyle: { color: c.vermilion }, data: list.map((row) => [row.size_bytes, row.error]),
      markArea: { silent: true, itemStyle: { color: c.green, opacity: 0.12 }, data: [[{ yAxis: -0.1 }, { yAxis: 0.1 }]] },
      markLine: { silent: true, symbol: "none", lineStyle: { color: c.soft, type: "solid" }, label: { show: false }, data: [{ yAxis: 0 }] } }],
  });
  return figure({ title: "Error against what was measured", id: "errors", height: 260, option, tableAt: "sizes",
    says: `Predicted over measured, less one; green: within 10 %. Worst: ${signedPercent(worst.error)} at ${binary(worst.size_bytes)}.`,
    alt: `Errors: ${ends(list).map((row) => `${binary(row.size_bytes)} ${signedPercent(row.error)}`).join(", ")}` });
}
