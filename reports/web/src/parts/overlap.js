// How much of each group's communication runs behind kernels, per rank class.
import { figure, tip } from "../chart.js";
import { column, table } from "../table.js";
import { axis, base } from "../theme.js";
import { percent, tick, time } from "../format.js";
import { common, total, union } from "../intervals.js";

/** Per rank class and group: the union of its transfers, and how much of it lies under a kernel. */
export function overlapsOf(timeline) {
  return timeline.flatMap((track) => {
    const kernels = union(track.entries.filter((e) => e.what === "compute").map((e) => [e.start_s, e.end_s]));
    const groups = new Map();
    for (const e of track.entries) {
      if (!e.group) continue;
      if (!groups.has(e.group)) groups.set(e.group, []);
      groups.get(e.group).push([e.start_s, e.end_s]);
    }
    return [...groups].map(([group, intervals]) => {
      const busy = union(intervals);
      const hidden = common(busy, kernels);
      const all = total(busy);
      return { program: track.program, rank: track.rank, group, all, hidden, open: Math.max(0, all - hidden) };
    });
  }).filter((row) => row.all > 0);
}

export function overlap(timeline) {
  const rows = overlapsOf(timeline);
  if (rows.length === 0) return null;
  const several = timeline.length > 1;
  const shown = [...rows].sort((a, b) => b.open - a.open).slice(0, 24);
  const name = (row) => (several ? `${row.group}, ${row.program}` : row.group);
  const worst = shown[0];
  const option = (width, c) => ({
    ...base(c),
    grid: { ...base(c).grid, right: width < 500 ? 16 : 120, top: 30, bottom: 26 },
    legend: { top: 0, left: 0, icon: "roundRect", itemWidth: 12, itemHeight: 12, textStyle: { color: c.soft } },
    tooltip: { ...base(c).tooltip, formatter: (p) => tip(name(shown[p.dataIndex]), [["under way", time(shown[p.dataIndex].all)],
      ["behind kernels", time(shown[p.dataIndex].hidden)], ["with no kernel", time(shown[p.dataIndex].open)]]) },
    xAxis: axis(c, { type: "value", axisLabel: { formatter: tick(time) }, splitNumber: width < 500 ? 2 : 5 }),
    yAxis: axis(c, { type: "category", inverse: true, data: shown.map(name), splitLine: { show: false },
      axisLabel: { color: c.ink, width: width < 500 ? 92 : 180, overflow: "truncate" } }),
    series: [
      { name: "behind kernels", type: "bar", stack: "s", barMaxWidth: 18, itemStyle: { color: c.faint }, data: shown.map((row) => row.hidden) },
      { name: "with no kernel running", type: "bar", stack: "s", barMaxWidth: 18,
        itemStyle: { color: c.vermilion }, data: shown.map((row) => row.open),
        label: { show: width >= 500, position: "right", color: c.ink, formatter: (p) => `${percent(shown[p.dataIndex].hidden / shown[p.dataIndex].all)} hidden` } },
    ],
  });
  return figure({
    title: "Communication behind compute", id: "overlap",
    says: `Time that each group’s transfers are under way, of the rank that speaks for its class. ${worst.open > 0
      ? `Least hidden: ${name(worst)}, with ${time(worst.open)} of ${time(worst.all)} while no kernel runs.` : "All of it is hidden."}${rows.length > shown.length
      ? ` The ${shown.length} least hidden of ${rows.length} are drawn.` : ""}`,
    alt: `Overlap of communication with compute: ${shown.map((row) => `${name(row)} ${percent(row.hidden / row.all)} hidden`).join(", ")}`,
    height: 26 * shown.length + 62, option,
    table: table([column("rank class", { key: "program" }), column("rank", { key: "rank" }), column("group", { key: "group" }),
      column("under way", { key: "all", unit: "s", format: time }), column("behind kernels", { key: "hidden", unit: "s", format: time }),
      column("no kernel", { key: "open", unit: "s", format: time }),
      column("hidden", { value: (row) => row.hidden / row.all, unit: "share", format: percent })], rows, { name: "overlap" }),
  });
}
