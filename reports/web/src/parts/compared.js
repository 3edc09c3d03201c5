// An earlier step beside this one.
import { figure, tip } from "../chart.js";
import { table } from "../table.js";
import { modelled } from "../model.js";
import { axis, base, names } from "../theme.js";
import { percent, signedPercent, tick, time } from "../format.js";

const kParts = [["step time", "step_time_s"], ["compute", "compute_s"], ["communication", "communication_s"], ["exposed communication", "exposed_communication_s"],
  ["pipeline bubble", "bubble_s"], ["waiting for stragglers", "straggler_wait_s"], ["idle", "idle_s"]];

export const compared = (r) => (r.compared ?? []).map((other, i) => beside(r, other, i));

function beside(r, other, i) {
  const of = modelled("compared");
  const rows = kParts.filter(([, key]) => other[key] !== undefined && (other[key] > 0 || r[key] > 0))
    .map(([name, key]) => ({ name, key, before: other[key], after: r[key], change: other[key] > 0 ? r[key] / other[key] - 1 : null }));
  const option = (width, c) => ({
    ...base(c), grid: { ...base(c).grid, top: 30, bottom: 26, right: width < 500 ? 24 : 90 },
    legend: { top: 0, left: 0, icon: "roundRect", itemWidth: 12, itemHeight: 12, textStyle: { color: c.soft }, selectedMode: false },
    tooltip: { ...base(c).tooltip, formatter: (p) => { const row = rows[p.dataIndex]; return tip(row.name, [["before", time(row.before)], ["after", time(row.after)], row.change === null ? null : ["change", signedPercent(row.change)]]); } },
    xAxis: axis(c, { type: "value", min: 0, axisLabel: { formatter: tick(time) }, splitNumber: width < 500 ? 2 : 5 }),
    yAxis: names(c, rows.map((row) => row.name), width < 500 ? 104 : 180),
    series: [
      { name: "before", type: "bar", barMaxWidth: 11, itemStyle: { color: c.faint, borderRadius: 2 }, data: rows.map((row) => row.before) },
      { name: "after", type: "bar", barMaxWidth: 11, itemStyle: { color: c.blue, borderRadius: 2 }, data: rows.map((row) => row.after),
        label: { show: width >= 500, position: "right", color: c.ink, formatter: (p) => (rows[p.dataIndex].change === null ? "" : signedPercent(rows[p.dataIndex].change)) } },
    ],
  });
  const whole = rows.find((row) => row.key === "step_time_s");
  return figure({
    title: `Compared with ${other.name}`, id: `compared-${i}`, height: 38 * rows.length + 62, option,
    says: whole?.change === null || !whole ? "Before: the earlier result. After: this one."
      : `Before: the earlier result, whose step takes ${time(whole.before)}. After: this one, ${percent(Math.abs(whole.change))} ${whole.change < 0 ? "shorter" : "longer"}.`,
    alt: `Before and after: ${rows.map((row) => `${row.name} ${time(row.before)} and ${time(row.after)}`).join(", ")}`,
    table: table([of("part", { key: "name" }), of("before", { key: "before", from: (row) => `/compared/${i}/${row.key}` }), of("after", { key: "after", from: (row) => `/${row.key}` }),
      of("change", { key: "change", format: signedPercent })], rows, { name: `compared-${i}` }),
  });
}
