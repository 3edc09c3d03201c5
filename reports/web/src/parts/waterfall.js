// The step from 0 to its end: what fills it.
import { figure, tip } from "../chart.js";
import { table } from "../table.js";
import { modelled } from "../model.js";
import { axis, base, colourOf, names } from "../theme.js";
import { percent, tick, time } from "../format.js";
import { partsOf } from "./answer.js";

export function waterfall(r) {
  const parts = partsOf(r);
  const step = r.step_time_s;
  const of = modelled("split");
  let from = 0;
  const bars = parts.map((part) => {
    const bar = { ...part, from };
    from += part.seconds;
    return bar;
  });
  const rows = [...bars, { name: "step", kind: "step", seconds: step, from: 0, pointer: "/step_time_s" }];
  const option = (width, c) => ({
    ...base(c),
    grid: { ...base(c).grid, right: 110, top: 4, bottom: 26, left: width < 500 ? 4 : 8 },
    tooltip: { ...base(c).tooltip, formatter: (p) => tip(rows[p.dataIndex].name,
      [["time", time(rows[p.dataIndex].seconds)], ["of the step", percent(rows[p.dataIndex].seconds / step)]]) },
    xAxis: axis(c, { type: "value", min: 0, max: step, axisLabel: { formatter: tick(time) }, splitNumber: width < 500 ? 2 : 5 }),
    yAxis: names(c, rows.map((row) => row.name), width < 500 ? 104 : 180),
    series: [
      { type: "bar", stack: "s", silent: true, itemStyle: { color: "transparent" }, data: rows.map((row) => row.from) },
      { type: "bar", stack: "s", barWidth: 20,
        data: rows.map((row) => ({ value: row.seconds, itemStyle: { color: row.kind === "step" ? c.ink : colourOf(row.kind, c),
          borderRadius: 2 } })),
        label: { show: true, position: "right", color: c.ink, formatter: (p) => labelOf(rows[p.dataIndex], step) } },
    ],
  });
  return figure({
    title: "Where the step goes", id: "waterfall",
    says: `Of rank ${r.last_rank}, which ends last. The parts add up to the step exactly: a kernel runs; none runs but a transfer is under way (exposed); it waits for a pipeline peer (bubble) or for a slower member of a collective; nothing of these (idle).`,
    alt: `Waterfall of the step: ${rows.map((row) => `${row.name} ${time(row.seconds)}`).join(", ")}`,
    height: 34 * rows.length + 34, option,
    table: table([of("part", { key: "name" }), of("time", { key: "seconds", from: (row) => row.pointer }),
      of("of the step", { value: (row) => row.seconds / step })], rows, { name: "step-parts" }),
  });
}

const labelOf = (row, step) => (row.kind === "step" ? time(row.seconds) : `${time(row.seconds)}, ${percent(row.seconds / step)}`);
