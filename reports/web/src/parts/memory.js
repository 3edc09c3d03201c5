// Memory of the fullest GPU against what it has.
import { figure, tip } from "../chart.js";
import { column, table } from "../table.js";
import { modelled } from "../model.js";
import { axis, base } from "../theme.js";
import { bytes, percent } from "../format.js";

const kParts = ["parameters", "gradients", "optimizer", "activations", "buffers"];

export function memory(r) {
  const m = r.memory;
  if (!m) return null;
  const parts = kParts.map((name) => ({ name, bytes: m[`${name}_bytes`], pointer: `/memory/${name}_bytes` })).filter((p) => p.bytes > 0);
  const capacity = m.capacity_bytes;
  const of = modelled("memory");
  const option = (width, c) => ({
    ...base(c),
    grid: { ...base(c).grid, top: width < 500 ? 74 : 52, bottom: 26, right: 30 },
    legend: { top: 0, left: 0, icon: "roundRect", itemWidth: 12, itemHeight: 12, textStyle: { color: c.soft } },
    tooltip: { ...base(c).tooltip, formatter: (p) => tip(p.seriesName, [["size", bytes(p.value)],
      capacity ? ["of the GPU", percent(p.value / capacity)] : null]) },
    xAxis: axis(c, { type: "value", min: 0, max: Math.max(m.total_bytes, capacity ?? 0) * 1.04, axisLabel: { formatter: (v) => bytes(v), showMaxLabel: false },
      splitNumber: width < 500 ? 2 : 5 }),
    yAxis: axis(c, { type: "category", data: [""], splitLine: { show: false } }),
    series: parts.map((part, i) => ({
      name: part.name, type: "bar", stack: "m", barWidth: 44, data: [part.bytes],
      itemStyle: { color: c.list[i], borderColor: c.paper, borderWidth: 1 },
      markLine: i === 0 && capacity ? { symbol: "none", silent: true, lineStyle: { color: c.ink, type: "solid", width: 2 },
        label: { formatter: `capacity ${bytes(capacity)}`, color: c.ink, position: "end", align: "right" },
        data: [{ xAxis: capacity }] } : undefined,
    })),
  });
  const verdict = m.fits === false ? `It does not fit: ${bytes(m.total_bytes)} of ${bytes(capacity)}.`
    : capacity ? `${bytes(m.total_bytes)} of ${bytes(capacity)}: ${percent(m.total_bytes / capacity)} of the fullest GPU.` : `${bytes(m.total_bytes)} on the fullest GPU.`;
  return figure({
    title: "Memory per GPU", id: "memory", says: verdict,
    alt: `Memory: ${parts.map((p) => `${p.name} ${bytes(p.bytes)}`).join(", ")}; ${verdict}`,
    height: (width) => (width < 500 ? 170 : 148), option,
    table: table([of("part", { key: "name" }), of("size", { key: "bytes", from: (row) => row.pointer }),
      column("of the GPU", { value: (row) => (capacity ? row.bytes / capacity : null), unit: "share", format: percent })],
    [...parts, { name: "total", bytes: m.total_bytes, pointer: "/memory/total_bytes" }, ...(capacity ? [{ name: "capacity", bytes: capacity, pointer: "/memory/capacity_bytes" }] : [])],
    { name: "memory" }),
  });
}
