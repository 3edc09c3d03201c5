// Charts of errors.
import { figure, tip } from "../chart.js";
import { column, table } from "../table.js";
import { axis, base, doubling, names, steps, twos } from "../theme.js";
import { count, integer, percent, signedPercent, tick } from "../format.js";

const kBand = 0.1;

/** "tp+pp+dp" of "Llama-like-8B, 16 GPUs, tp 2 pp 4 dp 2"; "" where a row does not say. */
export function strategyOf(row) {
  const named = [...row.what.matchAll(/\b(dp|fsdp|hsdp|zero\d?|tp|pp|cp|ep|sp)\s+(\d+)/g)].filter(([, , n]) => Number(n) > 1).map(([, name]) => name);
  return [...new Set(named)].join(" + ");
}

export function scatter({ rows, unit, format, title, id, rowsAtId, thin }) {
  const x = (row) => row[`measured_${unit}`];
  const y = (row) => row[`predicted_${unit}`];
  const kinds = [...new Set(rows.map((row) => row.gpu || row.system))];
  const low = Math.min(...rows.map((row) => Math.min(x(row), y(row)))) / 1.3;
  const high = Math.max(...rows.map((row) => Math.max(x(row), y(row)))) * 1.3;
  const ticks = unit === "bytes" ? twos(low, high, 8) : steps(low, high);
  const symbols = ["circle", "triangle", "diamond", "rect", "roundRect"];
  const line = (factor, c, type, name) => ({ name, type: "line", data: [[low, low * factor], [high, high * factor]], symbol: "none", silent: true, z: 1, tooltip: { show: false },
    lineStyle: { color: c.soft, width: 1, type } });
  const option = (width, c) => ({
    ...base(c),
    grid: { ...base(c).grid, top: width < 600 ? 24 + 20 * Math.ceil(kinds.length / 3) : 46, bottom: 34, right: 16 },
    legend: { top: 0, left: 0, type: "scroll", itemWidth: 12, itemHeight: 10, textStyle: { color: c.soft }, data: kinds },
    tooltip: { ...base(c).tooltip, formatter: (p) => (p.data.row ? tip(p.data.row.what, [["system", p.data.row.system], ["measured", format(x(p.data.row))],
      ["predicted", format(y(p.data.row))], ["error", signedPercent(p.data.row.error)]]) : "") },
    xAxis: axis(c, { type: "log", name: "measured", nameLocation: "middle", nameGap: 22, min: low, max: high, axisTick: { show: false, customValues: ticks }, axisLabel: { formatter: tick(format), customValues: ticks } }),
    yAxis: axis(c, { type: "log", name: "predicted", nameLocation: "end", nameGap: 6, min: low, max: high, axisTick: { show: false, customValues: ticks }, axisLabel: { formatter: tick(format), customValues: ticks } }),
    series: [line(1, c, "solid"), line(1 + kBand, c, "dashed"), line(1 - kBand, c, "dashed"),
      ...kinds.map((kind, i) => ({ name: kind, type: "scatter", symbol: symbols[i % symbols.length], symbolSize: 7, itemStyle: { color: c.list[i % 8], opacity: 0.75 },
        data: rows.filter((row) => (row.gpu || row.system) === kind).map((row) => ({ value: [x(row), y(row)], row })) }))],
  });
  return figure({ title: capital(title), id, option, tableAt: rowsAtId, height: (width) => Math.min(560, Math.max(340, width * 0.5)),
    says: `On the line a prediction is exact; the dashed lines are 10 % off. Above: predicted too slow, or too large.${thin}`,
    alt: `Predicted against measured of ${count(rows.length, "row")}; ${integer(rows.filter((row) => Math.abs(row.error) <= kBand).length)} of them within 10 %` });
}

export function bySize({ rows, title, id, rowsAtId, thin }) {
  const list = rows.filter((row) => row.gpus > 0);
  const most = Math.max(0.2, ...list.map((row) => Math.abs(row.error)));
  const cut = Math.min(most, 1) * 1.08;
  const option = (width, c) => ({
    ...base(c), grid: { ...base(c).grid, top: 12, bottom: 34, right: 16 },
    tooltip: { ...base(c).tooltip, formatter: (p) => tip(list[p.dataIndex].what, [["system", list[p.dataIndex].system], ["error", signedPercent(list[p.dataIndex].error)]]) },
    xAxis: doubling(c, list.map((row) => row.gpus), width, { formatter: integer, room: 1.3, name: "GPUs", nameLocation: "middle", nameGap: 22 }),
    yAxis: axis(c, { type: "value", min: -cut, max: cut, axisLabel: { formatter: tick(signedPercent), showMinLabel: false, showMaxLabel: false } }),
    series: [{ type: "scatter", symbolSize: 7, itemStyle: { color: c.blue, opacity: 0.55 }, data: list.map((row) => [row.gpus, Math.max(-cut, Math.min(cut, row.error))]),
      markArea: { silent: true, itemStyle: { color: c.green, opacity: 0.12 }, data: [[{ yAxis: -kBand }, { yAxis: kBand }]] },
      markLine: { silent: true, symbol: "none", lineStyle: { color: c.soft, type: "solid" }, label: { show: false }, data: [{ yAxis: 0 }] } }],
  });
  return figure({ title: capital(title), id, height: 300, option, tableAt: rowsAtId,
    says: `Green: within 10 %.${most > cut ? ` Errors beyond ${percent(cut)} are drawn at the edge.` : ""}${thin}`, alt: `Error by number of GPUs of ${count(list.length, "row")}; the table of rows lists them` });
}

export function byGroup({ groups, name, title, id, derived }) {
  const sorted = [...groups].sort((a, b) => b.median_abs_error - a.median_abs_error);
  const shown = sorted.slice(0, 30);
  const option = (width, c) => ({
    ...base(c),
    grid: { ...base(c).grid, top: 30, bottom: 26, right: 30 },
    legend: { top: 0, left: 0, itemWidth: 12, itemHeight: 12, textStyle: { color: c.soft }, selectedMode: false },
    tooltip: { ...base(c).tooltip, formatter: (p) => { const g = shown[p.dataIndex]; return tip(g[name], [["rows", integer(g.rows)], ["median", percent(g.median_abs_error)],
      ["90th", percent(g.p90)], ["worst", signedPercent(g.worst)], ["bias", signedPercent(g.bias)]]); } },
    xAxis: axis(c, { type: "value", min: 0, axisLabel: { formatter: (v) => `${Math.round(100 * v)} %` } }),
    yAxis: names(c, shown.map((g) => `${g[name]} (${integer(g.rows)})`), width < 500 ? 120 : 260),
    series: [
      { name: "median", type: "bar", barMaxWidth: 12, itemStyle: { color: c.blue, borderRadius: 2 }, data: shown.map((g) => g.median_abs_error),
        markLine: { silent: true, symbol: "none", lineStyle: { color: c.green, type: "dashed" }, label: { show: false }, data: [{ xAxis: kBand }] } },
      { name: "90th percentile", type: "scatter", symbol: "rect", symbolSize: [3, 14], itemStyle: { color: c.ink }, data: shown.map((g) => g.p90) },
    ],
  });
  const from = derived ? () => null : undefined;
  const figures = [["rows", "rows", integer], ["median", "median_abs_error", percent], ["90th", "p90", percent], ["worst", "worst", signedPercent], ["bias", "bias", signedPercent]];
  return figure({ title: capital(title), id, height: (width) => (width < 500 ? 32 : 28) * shown.length + 62, option,
    says: `Of absolute errors; in brackets the number of rows; dashed: 10 %.${sorted.length > shown.length ? ` The ${shown.length} largest of ${sorted.length}.` : ""}`,
    alt: `${title}: ${shown.map((g) => `${g[name]} ${percent(g.median_abs_error)}`).join(", ")}`,
    table: table([column(name === "name" ? "strategy" : name, { key: name }), ...figures.map(([label, key, format]) => column(label, { key, format, from, unit: key === "rows" ? "" : "share" }))], sorted, { name: id }) });
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);
