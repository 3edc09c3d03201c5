// Charts of a fit.
import { figure, tip } from "../chart.js";
import { column, excerptText, rowsAt, table } from "../table.js";
import { axis, base, doubling, kDotted, names, steps } from "../theme.js";
import { binary, count, digits, integer, percent, signedPercent, tick, time, trimmed } from "../format.js";

// Names of tables are long: the end tells them apart.
const short = (name) => (name.length > 46 ? `…${name.slice(-45)}` : name);

export const pointsOf = (r) => rowsAt(r.points ?? [], "/points", r.points_excerpt).map((p) => ({ ...p, error: p.fitted_s / p.measured_s - 1, errorBefore: p.before_s / p.measured_s - 1 }));

/** Measured points and the fitted curve of each table. */
export function fitted(points, r) {
  const tables = [...new Set(points.map((p) => p.table))].slice(0, 8);
  const all = new Set(points.map((p) => p.table)).size;
  const times = points.flatMap((p) => [p.measured_s, p.fitted_s, p.before_s]).filter((t) => t > 0);
  const [low, high] = [Math.min(...times) / 1.3, Math.max(...times) * 1.3];
  const option = (width, c) => ({
    ...base(c),
    grid: { ...base(c).grid, top: 34 + (width < 700 ? 22 * Math.max(0, tables.length - 1) : 0), bottom: 30, right: 16 },
    legend: { top: 0, left: 0, textStyle: { color: c.soft }, data: tables.map((name) => ({ name, icon: "circle" })), formatter: short, itemHeight: 9, ...(width < 700 ? { orient: "vertical" } : { type: "scroll" }) },
    tooltip: { ...base(c).tooltip, formatter: (p) => (p.data.point ? detail(p.data.point) : "") },
    xAxis: doubling(c, points.map((p) => p.size_bytes), width, { formatter: binary, room: 1.2 }),
    yAxis: axis(c, { type: "log", min: low, max: high, axisTick: { show: false, customValues: steps(low, high) }, axisLabel: { formatter: tick(time), customValues: steps(low, high) } }),
    series: tables.flatMap((name, i) => {
      const list = points.filter((p) => p.table === name).sort((a, b) => a.size_bytes - b.size_bytes);
      return [
        { name, type: "scatter", symbol: "circle", symbolSize: 8, itemStyle: { color: c.list[i] }, data: list.map((point) => ({ value: [point.size_bytes, point.measured_s], point, ...(point.outlier ? { itemStyle: { color: "transparent", borderColor: c.list[i], borderWidth: 2 } } : {}) })) },
        { name, type: "line", symbol: "none", lineStyle: { color: c.list[i], width: 2 }, data: list.map((p) => [p.size_bytes, p.fitted_s]) },
        { name, type: "line", symbol: "none", lineStyle: { color: c.list[i], width: 1.5, type: kDotted }, data: list.map((p) => [p.size_bytes, p.before_s]) },
      ];
    }),
  });
  return figure({ title: "Points and fit", id: "fit", height: (width) => (width < 500 ? 320 : 420) + (width < 700 ? 22 * (tables.length - 1) : 0), option,
    says: `Points: measured (open: the fit does not follow it). Lines: fitted; dotted: before the fit.${excerptText(r.points_excerpt, "points", "the largest residuals and what the fit does not follow")}${all > tables.length ? ` The first ${tables.length} of ${all} tables are drawn.` : ""}`,
    alt: `Measured and fitted times of ${count(points.length, "row")}`,
    table: table([column("table", { key: "table" }), column("size", { key: "size_bytes", unit: "bytes", format: integer }), column("measured", { key: "measured_s", unit: "s", format: time }),
      column("before", { key: "before_s", unit: "s", format: time }), column("fitted", { key: "fitted_s", unit: "s", format: time }),
      column("error", { key: "error", format: signedPercent, unit: "share", from: () => null })], points, { name: "fit" }) });
}

const detail = (p) => tip(binary(p.size_bytes), [["table", short(p.table)], ["measured", time(p.measured_s)], ["fitted", `${time(p.fitted_s)} (${signedPercent(p.error)})`],
  ["before", `${time(p.before_s)} (${signedPercent(p.errorBefore)})`]]);

export function residuals(points) {
  const most = Math.max(0.12, ...points.map((p) => Math.max(Math.abs(p.error), Math.abs(p.errorBefore)))) * 1.1;
  const cut = Math.min(most, 1.5);
  const clipped = (e) => Math.max(-cut, Math.min(cut, e));
  const option = (width, c) => ({
    ...base(c), grid: { ...base(c).grid, top: 34, bottom: 30, right: 16 },
    legend: { top: 0, left: 0, textStyle: { color: c.soft }, itemHeight: 9 },
    tooltip: { ...base(c).tooltip, formatter: (p) => detail(points[p.dataIndex]) },
    xAxis: doubling(c, points.map((p) => p.size_bytes), width, { formatter: binary, room: 1.2 }),
    yAxis: axis(c, { type: "value", min: -cut, max: cut, axisLabel: { formatter: tick(signedPercent), showMinLabel: false, showMaxLabel: false } }),
    series: [
      { name: "before the fit", type: "scatter", symbol: "circle", symbolSize: 7, itemStyle: { color: "transparent", borderColor: c.grey, borderWidth: 1.5 }, data: points.map((p) => [p.size_bytes, clipped(p.errorBefore)]) },
      { name: "fitted", type: "scatter", symbolSize: 7, itemStyle: { color: c.blue }, data: points.map((p) => [p.size_bytes, clipped(p.error)]),
        markArea: { silent: true, itemStyle: { color: c.green, opacity: 0.12 }, data: [[{ yAxis: -0.1 }, { yAxis: 0.1 }]] } },
    ],
  });
  return figure({ title: "Residuals", id: "residuals", height: 300, option, tableAt: "fit", says: "Predicted over measured, less one, by size; green: within 10 %. A pattern over sizes is something that the model lacks.",
    alt: `Residuals of ${count(points.length, "row")}; the table of points lists them` });
}

/** "0.6 us" -> 6e-7; units as sim/base/unit_table.cpp writes them. */
const kUnits = { ps: 1e-12, ns: 1e-9, us: 1e-6, "µs": 1e-6, ms: 1e-3, s: 1, B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, "B/s": 1, "kB/s": 1e3,
  "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12, "GFLOP/s": 1e9, "TFLOP/s": 1e12, "PFLOP/s": 1e15, "%": 0.01 };
export function valueOf(text) {
  const [number, unit] = String(text).trim().split(/\s+/);
  const scale = unit === undefined ? 1 : kUnits[unit];
  return scale === undefined || Number.isNaN(Number(number)) ? null : Number(number) * scale;
}

export function intervals(parameters) {
  const rows = parameters.flatMap((p) => {
    if (!p.interval) return [];
    const [value, low, high] = [p.value, ...p.interval].map(valueOf);
    return value > 0 && low !== null && high !== null ? [{ ...p, low: low / value, high: high / value }] : [];
  }).sort((a, b) => b.high - b.low - (a.high - a.low));
  if (rows.length === 0) return null;
  const shown = rows.slice(0, 30);
  const option = (width, c) => ({
    ...base(c), grid: { ...base(c).grid, top: 8, bottom: 26, right: 20 },
    tooltip: { ...base(c).tooltip, formatter: (p) => { const row = shown[p.dataIndex]; return tip(row.name, [["value", row.value], ["95 %", row.interval.join(" to ")], ["rows", integer(row.rows)]]); } },
    xAxis: axis(c, { type: "log", axisLabel: { formatter: (v) => `${trimmed(digits(v))} ×` }, logBase: 2 }),
    yAxis: names(c, shown.map((row) => `${row.name}: ${row.value}`), width < 500 ? 150 : 340),
    series: [{ type: "custom", data: shown.map((row, i) => [i, row.low, row.high]), encode: { x: [1, 2], y: 0 }, renderItem: (params, api) => {
      const [from, y] = api.coord([api.value(1), api.value(0)]);
      const [to] = api.coord([api.value(2), api.value(0)]);
      const [at] = api.coord([1, api.value(0)]);
      const stroke = { stroke: c.blue, lineWidth: 2 };
      return { type: "group", children: [{ type: "line", shape: { x1: from, y1: y, x2: to, y2: y }, style: stroke },
        { type: "line", shape: { x1: from, y1: y - 5, x2: from, y2: y + 5 }, style: stroke }, { type: "line", shape: { x1: to, y1: y - 5, x2: to, y2: y + 5 }, style: stroke },
        { type: "circle", shape: { cx: at, cy: y, r: 4 }, style: { fill: c.blue } }] };
    } }],
  });
  return figure({ title: "How well each number is known", id: "intervals", height: (width) => (width < 500 ? 34 : 28) * shown.length + 44, option, tableAt: "numbers",
    says: `95 % intervals as multiples of the value, widest first. The widest spans ${percent(rows[0].high - rows[0].low)} of its value: ${rows[0].name}.`,
    alt: `Intervals: ${shown.map((row) => `${row.name} ${row.interval.join(" to ")}`).join(", ")}` });
}
