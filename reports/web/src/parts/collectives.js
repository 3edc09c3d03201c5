// Achieved busbw of each kind of operation beside what it reaches with the machine to itself.
import { figure, tip } from "../chart.js";
import { column, rowsAt, table } from "../table.js";
import { modelled } from "../model.js";
import { axis, base, colourOf, names } from "../theme.js";
import { bytes, integer, percent, rate, tick, time, words } from "../format.js";

const name = (row) => `${words(row.operation)} ${row.group}, ${bytes(row.bytes)}`;

export function collectives(r) {
  const rows = rowsAt(r.collectives, "/collectives");
  if (rows.length === 0) return null;
  const of = modelled("collectives");
  const shown = [...rows].filter((row) => row.busbw_Bps > 0).sort((a, b) => b.time_s * b.count - a.time_s * a.count).slice(0, 16);
  const reached = (row) => (row.attainable_busbw_Bps ? row.busbw_Bps / row.attainable_busbw_Bps : null);
  const lowest = shown.filter((row) => reached(row) !== null).sort((a, b) => reached(a) - reached(b))[0];
  const option = (width, c) => ({
    ...base(c),
    grid: { ...base(c).grid, right: 24, top: 30, bottom: 26 },
    legend: { top: 0, left: 0, itemWidth: 12, itemHeight: 12, textStyle: { color: c.soft }, selectedMode: false, data: ["alone on the machine"] },
    tooltip: { ...base(c).tooltip, formatter: (p) => detail(shown[p.dataIndex]) },
    xAxis: axis(c, { type: "value", min: 0, axisLabel: { formatter: tick(rate) }, splitNumber: width < 500 ? 2 : 5 }),
    yAxis: names(c, shown.map(name), width < 500 ? 120 : 230),
    series: [
      { name: "achieved", type: "bar", barMaxWidth: 14, itemStyle: { color: c.blue },
        data: shown.map((row) => ({ value: row.busbw_Bps, itemStyle: { color: colourOf(row.group, c), borderRadius: 2 } })) },
      { name: "alone on the machine", type: "scatter", symbol: "rect", symbolSize: [3, 20], itemStyle: { color: c.ink }, z: 3,
        data: shown.map((row) => row.attainable_busbw_Bps ?? null) },
    ],
  });
  return figure({
    title: "What collectives reach", id: "collectives",
    says: `Bars: busbw in the step; marks: the same operation with the machine to itself. ${lowest && reached(lowest) < 0.95
      ? `Furthest below: ${name(lowest)}, at ${percent(reached(lowest))}.` : lowest ? "All come within 5 % of it." : ""}`,
    alt: `Achieved busbw: ${shown.map((row) => `${name(row)} ${rate(row.busbw_Bps)}`).join(", ")}`,
    height: 34 * shown.length + 62, option,
    table: table([of("operation", { key: "operation" }), of("group", { key: "group" }), column("ranks", { key: "ranks", format: integer }),
      of("size", { key: "bytes" }), of("count", { key: "count" }), of("algorithm", { key: "algorithm" }), column("protocol", { key: "protocol" }), column("channels", { key: "channels", format: integer }),
      of("time each", { key: "time_s" }), of("exposed", { key: "exposed_s" }), column("algbw", { key: "algbw_Bps", unit: "B/s", format: rate }), of("busbw", { key: "busbw_Bps" }),
      of("busbw alone", { key: "attainable_busbw_Bps" })], rows, { name: "collectives" }),
  });
}

const detail = (row) => tip(name(row), [["busbw", rate(row.busbw_Bps)],
  row.attainable_busbw_Bps ? ["alone", rate(row.attainable_busbw_Bps)] : null, ["time each", time(row.time_s)], ["count", integer(row.count)],
  ["exposed in all", time(row.exposed_s)], ["runs as", `${row.algorithm}/${row.protocol}/${row.channels}`]]);
