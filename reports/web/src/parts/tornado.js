// What the step time answers to, parameter by parameter.
import { section, figure, tip } from "../chart.js";
import { column, rowsAt, table } from "../table.js";
import { modelled } from "../model.js";
import { axis, base, names } from "../theme.js";
import { count, digits, signedPercent, tick } from "../format.js";

const kChange = 0.1;
const kMatters = 5e-4;  // of an elasticity, as in reports/sensitivity_report.cpp
// The two sides differ where something is just hidden, or just not full.
const up = (row) => (row.elasticity_up ?? row.elasticity) * kChange;
const down = (row) => -(row.elasticity_down ?? row.elasticity) * kChange;
const better = (row) => row.change_10_percent_better;

export function tornado(r) {
  if (!r.sensitivity)
    return section("What the step answers to", "sensitivity", "Not asked for: with --sensitivity this page shows by how much each link class, kernel efficiency and the batch move the step time.");
  const rows = rowsAt(r.sensitivity, "/sensitivity").map((row) => ({ ...row, words: row.words ?? row.parameter, from: `${row.at}/${row.words === undefined ? "parameter" : "words"}` })).sort((a, b) => Math.abs(b.elasticity) - Math.abs(a.elasticity));
  if (rows.length === 0) return null;
  const of = modelled("sensitivity");
  const visible = rows.filter((row) => Math.max(Math.abs(row.elasticity), Math.abs(up(row)) / kChange, Math.abs(down(row)) / kChange) >= kMatters);
  const shown = (visible.length > 0 ? visible : rows).slice(0, 20);
  const most = Math.max(1e-9, ...shown.map((row) => Math.max(Math.abs(up(row)), Math.abs(down(row)))));
  const option = (width, c) => ({
    ...base(c),
    grid: { ...base(c).grid, top: 30, bottom: 26, right: 20 },
    legend: { top: 0, left: 0, icon: "roundRect", itemWidth: 12, itemHeight: 12, textStyle: { color: c.soft } },
    tooltip: { ...base(c).tooltip, formatter: (p) => tip(shown[p.dataIndex].words, [["as it is", shown[p.dataIndex].value || "–"], ["10 % more", signedPercent(up(shown[p.dataIndex]))], ["10 % less", signedPercent(down(shown[p.dataIndex]))],
      better(shown[p.dataIndex]) === undefined ? null : ["10 % better, simulated", signedPercent(better(shown[p.dataIndex]))], ["elasticity", digits(shown[p.dataIndex].elasticity)]]) },
    xAxis: axis(c, { type: "value", min: -most * 1.15, max: most * 1.15, axisLabel: { formatter: tick(signedPercent), showMinLabel: false, showMaxLabel: false }, splitNumber: width < 500 ? 2 : 6 }),
    yAxis: names(c, shown.map((row) => row.words), width < 500 ? 120 : 260),
    series: [["10 % more of it", up, c.blue], ["10 % less of it", down, c.orange]].map(([label, of, colour]) => ({
      name: label, type: "bar", stack: "t", barMaxWidth: 18, itemStyle: { color: colour, borderRadius: 2 },
      data: shown.map(of) })),
  });
  return figure({
    title: "What the step answers to", id: "sensitivity",
    says: `Change of the step time, to first order, when one parameter changes by 10 % and all else stays. Left of the line the step gets shorter.${rows.length > shown.length ? ` ${count(rows.length - shown.length, "parameter")} more in the table, without visible effect.` : ""}`,
    alt: `Sensitivity: ${shown.map((row) => `10 % more ${row.words} ${signedPercent(up(row))}`).join(", ")}`,
    height: (width) => (width < 500 ? 32 : 28) * shown.length + 62, option,
    table: table([of("parameter", { key: "words", from: (row) => row.from, wide: true }), of("now", { key: "value", format: undefined, left: true }), of("elasticity", { key: "elasticity", format: digits }),
      column("10 % more", { value: up, unit: "share", format: signedPercent }),
      column("10 % less", { value: down, unit: "share", format: signedPercent }), of("10 % better", { key: "change_10_percent_better", format: signedPercent })], rows, { name: "sensitivity" }),
  });
}
