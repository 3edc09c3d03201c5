// How much of each group's communication runs behind kernels, per rank class.
import { figure, tip } from "../chart.js";
import { column, table } from "../table.js";
import { axis, base, names } from "../theme.js";
import { integer, percent, tick, time } from "../format.js";
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

const kMostBars = 24;
const kindOf = (group) => group.replace(/[\d.:#-]+$/, "") || group;

// Rank classes of one kind of group are alike: one bar has the middle of them, and says how far they lie apart.
function byKind(rows) {
  const kinds = new Map();
  for (const row of rows) kinds.set(kindOf(row.group), [...(kinds.get(kindOf(row.group)) ?? []), row]);
  return [...kinds].map(([kind, list]) => {
    const mean = (key) => list.reduce((sum, row) => sum + row[key], 0) / list.length;
    const opens = list.map((row) => row.open);
    return { name: list.length > 1 ? `${kind}, mean of ${integer(list.length)}` : kind, group: kind, all: mean("all"), hidden: mean("hidden"), open: mean("open"), from: Math.min(...opens), to: Math.max(...opens), count: list.length };
  });
}

export function overlap(timeline) {
  const rows = overlapsOf(timeline);
  if (rows.length === 0) return null;
  const single = new Set(timeline.map((track) => track.program)).size < 2;
  const each = rows.map((row) => ({ ...row, name: single ? row.group : `${row.group}, ${row.program}`, from: row.open, to: row.open, count: 1 }));
  const several = rows.length > kMostBars;
  const shown = (several ? byKind(rows) : each).sort((a, b) => b.open - a.open).slice(0, kMostBars);
  const worst = [...each].sort((a, b) => b.open - a.open)[0];
  const option = (width, c) => ({
    ...base(c),
    grid: { ...base(c).grid, right: width < 500 ? 16 : 120, top: 30, bottom: 26 },
    legend: { top: 0, left: 0, icon: "roundRect", itemWidth: 12, itemHeight: 12, textStyle: { color: c.soft } },
    tooltip: { ...base(c).tooltip, formatter: (p) => { const row = shown[p.dataIndex]; return tip(row.name, [["under way", time(row.all)], ["behind kernels", time(row.hidden)], ["with no kernel", time(row.open)],
      row.count > 1 ? ["from and to", `${time(row.from)} to ${time(row.to)}`] : null]); } },
    xAxis: axis(c, { type: "value", axisLabel: { formatter: tick(time) }, splitNumber: width < 500 ? 2 : 5 }),
    yAxis: names(c, shown.map((row) => row.name), width < 500 ? 92 : 180),
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
      ? `Longest in the open: ${worst.name}, ${time(worst.open)} of its ${time(worst.all)} while no kernel runs.` : "All of it is hidden."}${several
      ? ` Bars are means, over the rank classes that have this kind of group; the table has all ${integer(rows.length)} of them.` : ""}`,
    alt: `Overlap of communication with compute: ${shown.map((row) => `${row.name} ${percent(row.hidden / row.all)} hidden`).join(", ")}`,
    height: (width) => (width < 500 ? 32 : 28) * shown.length + 62, option,
    table: table([column("rank class", { key: "program" }), column("rank", { key: "rank" }), column("group", { key: "group" }),
      column("under way", { key: "all", unit: "s", format: time }), column("behind kernels", { key: "hidden", unit: "s", format: time }),
      column("no kernel", { key: "open", unit: "s", format: time }),
      column("hidden", { value: (row) => row.hidden / row.all, unit: "share", format: percent })], rows, { name: "overlap" }),
  });
}
