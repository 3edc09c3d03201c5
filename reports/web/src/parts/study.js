// Charts of a study: what each candidate costs and takes, how throughput grows, what was left out.
import { figure, section, tip } from "../chart.js";
import { column, table } from "../table.js";
import { modelled } from "../model.js";
import { axis, base, doubling, kDotted, legendRoom, names, steps } from "../theme.js";
import { bytes, count, digits, flops, integer, percent, rate, tick, time, shortened, trimmed } from "../format.js";

const kSymbols = ["circle", "triangle", "diamond", "rect", "roundRect"];

const kYear = 365 * 86400;

/** Seconds as days or years where they are that long. */
export const span = (seconds) => (seconds >= 1000 * 86400 ? `${digits(seconds / kYear)} years` : seconds >= 2 * 86400 ? `${digits(seconds / 86400)} days` : seconds >= 7200 ? `${digits(seconds / 3600)} h` : seconds >= 120 ? `${digits(seconds / 60)} min` : time(seconds));

/** One unit for all of an axis: ticks are whole numbers of it. */
export function unitOf(most) {
  const [scale, unit] = [[kYear, "years", 1000 * 86400], [86400, "days", 2 * 86400], [3600, "h", 7200], [60, "min", 120]].find(([, , from]) => most >= from) ?? [1, "s"];
  return { scale, formatter: (v) => `${trimmed(digits(v))} ${unit}` };
}
export const amountOf = (currency) => (value) => `${Math.abs(value) >= 1e6 ? `${digits(value / 1e6)} million` : Math.abs(value) >= 100 ? integer(value) : digits(value)} ${currency}`.trim();
/** Whole numbers where they are large, three digits where they are not. */
export const hours = (value) => (value >= 100 ? integer(value) : digits(value));
export const energy = (joules) => (joules >= 3.6e12 ? `${digits(joules / 3.6e12)} GWh` : joules >= 3.6e9 ? `${digits(joules / 3.6e9)} MWh` : `${digits(joules / 3.6e6)} kWh`);

/** What sizes of one cluster share, and what one of them is called. */
export const kindName = (cluster) => [cluster.name, cluster.variant].filter(Boolean).join(", ");
export const clusterName = (cluster) => `${count(cluster.gpus, "GPU")} of ${kindName(cluster)}${cluster.scaling === "weak" ? ` (weak scaling, batch ${integer(cluster.global_batch)})` : ""}`;

/** An axis that shows values that lie close together apart: logarithmic only where they span more than a decade. */
export function spanOf(values, formatter) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  if (high > 12 * low) {
    const customValues = steps(low / 1.2, high * 1.2);
    return { type: "log", min: low / 1.2, max: high * 1.2, axisTick: { show: false, customValues }, axisLabel: { formatter, customValues } };
  }
  const room = 0.06 * (high - low || low);
  return { type: "value", scale: true, min: Math.max(0, low - room), max: high + room, axisLabel: { formatter, showMinLabel: false, showMaxLabel: false } };
}

/** Candidates of all clusters in one list; `at` points into the record. */
export function candidatesOf(r) {
  const front = new Map(r.front.map((f) => [`${f.cluster} ${f.layout}`, f.alike ?? 0]));
  const places = (cluster) => cluster.candidates_excerpt?.numbers ?? cluster.candidates.map((_, j) => j);
  return r.clusters.flatMap((cluster, i) => places(cluster).map((j, k) => ({
    ...cluster.candidates[k], cluster, kind: kindName(cluster), clusterName: clusterName(cluster), gpus: cluster.gpus, onFront: front.has(`${i} ${j}`), alike: front.get(`${i} ${j}`), best: i === r.best && j === 0,
    at: `/clusters/${i}/candidates/${j}` })));
}

/** What to say where a page has only some of the candidates. */
export function leftOut(r) {
  const cut = r.clusters.map((cluster) => cluster.candidates_excerpt).filter(Boolean);
  if (cut.length === 0) return "";
  const shown = r.clusters.reduce((sum, cluster) => sum + cluster.candidates.length, 0);
  const of = r.clusters.reduce((sum, cluster) => sum + (cluster.candidates_excerpt?.of ?? cluster.candidates.length), 0);
  return ` This page has ${integer(shown)} of ${integer(of)} simulated layouts: each cluster's best, the front, and others spread evenly; --json and --csv have all.`;
}

/** Each cluster with its best layout, or with why it has none. */
export function sideBySide(r, list) {
  const rows = r.clusters.map((cluster, i) => ({ ...(list.find((c) => c.at === `/clusters/${i}/candidates/0`) ?? { cluster, clusterName: clusterName(cluster), gpus: cluster.gpus }), number: i }));
  if (rows.length < 2) return null;
  const keys = new Set(rows.flatMap((row) => Object.keys(row)));
  const place = (row) => (row.number === r.best ? "first" : row.number === r.runner_up ? "second" : "");
  const columns = columnsOf(r).filter((c) => !c.key || (keys.has(c.key) && c.key !== "model_flops_per_s_per_gpu"));
  const breaks = r.clusters.some((cluster) => cluster.why_not) ? [column("breaks", { value: (row) => row.cluster.why_not ?? "", wide: true })] : [];
  const choice = rows.some((row) => place(row)) ? [column("choice", { value: place })] : [];
  columns.splice(1, 0, ...choice, ...breaks);
  return section("Clusters side by side", "clusters", "Each with its best layout.", table(columns, rows, { name: "clusters", most: 16 }));
}

/** The layouts of the recommended cluster. */
export function layouts(r, list, best) {
  const rows = list.filter((c) => c.cluster === best.cluster);
  const keys = new Set(rows.flatMap((row) => Object.keys(row)));
  const share = (key) => (row) => row[key] / row.step_time_s;
  const of = modelled("layouts");
  const money = amountOf(r.currency ?? "");
  return section(`Layouts on ${best.clusterName}`, "layouts",
    "The fastest first. Screened: as estimated in closed form before the simulation; bound: no simulated step goes below. Front: none of this study is better in time, memory and cost together.",
    table([of("layout", { key: "layout", wide: true }), of("step", { key: "step_time_s" }), of("screened", { key: "screened_s" }), of("bound", { key: "bound_s" }), of("MFU", { key: "mfu" }),
      of("compute", { value: share("compute_s") }), of("exposed", { value: share("exposed_communication_s") }), of("bubble", { value: share("bubble_s") }), of("memory", { key: "memory_bytes" }),
      of("per 1e12 tokens", { key: "cost_per_1e12_tokens", unit: r.currency, format: money }), of("front", { value: (c) => (!c.onFront ? "" : c.alike > 0 ? `yes, and ${c.alike} alike` : "yes") })].filter((c) => !c.key || keys.has(c.key)), rows, { name: "layouts", most: 10 }));
}

export function columnsOf(r) {
  const money = amountOf(r.currency ?? "");
  return [column("cluster", { value: (c) => c.clusterName, wide: true }), column("layout", { key: "layout", wide: true }),
    column("training", { key: "train_s", unit: "s", format: span }), column("cost", { key: "cost", unit: r.currency, format: money }), column("step", { key: "step_time_s", unit: "s", format: time }),
    column("tokens/s", { key: "tokens_per_s", format: integer }), column("MFU", { key: "mfu", unit: "share", format: percent }), column("FLOP/s per GPU", { key: "model_flops_per_s_per_gpu", format: flops }),
    column("memory", { key: "memory_bytes", unit: "bytes", format: bytes }), column("goodput", { key: "goodput", unit: "share", format: percent }),
    column("cost per 10^12 tokens", { key: "cost_per_1e12_tokens", unit: r.currency, format: money }), column("energy", { key: "energy_J", unit: "J", format: energy })];
}

export function pareto(r, list) {
  const has = (key) => list.some((c) => c[key] !== undefined);
  const [x, xName, xFormat] = has("train_s") ? ["train_s", "time to train", span] : ["step_time_s", "step time", time];
  const [y, yName, yFormat] = has("cost") ? ["cost", "cost", amountOf(r.currency ?? "")] : ["memory_bytes", "memory per GPU", bytes];
  const kinds = [...new Set(list.map((c) => c.kind))];
  const shown = list.filter((c) => c[x] > 0 && c[y] > 0);
  if (shown.length === 0) return null;
  const unit = x === "train_s" ? unitOf(Math.max(...shown.map((c) => c[x]))) : { scale: 1, formatter: tick(xFormat) };
  const front = shown.filter((c) => c.onFront).sort((a, b) => a[x] - b[x]);
  // Of the three figures two are drawn: the edge of what they leave possible.
  const edge = front.filter((k, i) => front.slice(0, i).every((earlier) => k[y] < earlier[y]));
  const detail = (c) => tip(c.layout, [["cluster", c.clusterName], [xName, xFormat(c[x])], [yName, yFormat(c[y])], ["step", time(c.step_time_s)], c.mfu ? ["MFU", percent(c.mfu)] : null,
    ["memory", bytes(c.memory_bytes)]]);
  const option = (width, c) => ({
    ...base(c),
    grid: { ...base(c).grid, top: 40, bottom: 34, right: 24 },
    legend: { top: 0, left: 0, type: "scroll", itemWidth: 12, itemHeight: 10, textStyle: { color: c.soft }, data: kinds, formatter: (name) => shortened(name, legendRoom(width)) },
    tooltip: { ...base(c).tooltip, formatter: (p) => (p.data.candidate ? detail(p.data.candidate) : "") },
    xAxis: axis(c, { name: xName, nameLocation: "middle", nameGap: 22, ...spanOf(shown.map((k) => k[x] / unit.scale), unit.formatter) }),
    yAxis: axis(c, { name: yName, nameLocation: "end", nameGap: 6, nameTextStyle: { align: "left", color: c.soft }, ...spanOf(shown.map((k) => k[y]), tick(yFormat)) }),
    series: [
      ...kinds.map((name, i) => ({ name, type: "scatter", symbol: kSymbols[i % kSymbols.length], itemStyle: { color: c.list[i % 7] },
        data: shown.filter((k) => k.kind === name).map((candidate) => ({ value: [candidate[x] / unit.scale, candidate[y]], candidate, symbolSize: candidate.best ? 17 : candidate.onFront ? 12 : 8,
          itemStyle: { opacity: candidate.onFront ? 1 : 0.4, borderColor: candidate.best ? c.ink : "transparent", borderWidth: candidate.best ? 2 : 0 },
          label: candidate.best ? { show: true, formatter: "best", position: "top", color: c.ink, fontWeight: 600 } : undefined })) })),
      { name: "front", type: "line", step: "end", silent: true, symbol: "none", z: 1, lineStyle: { color: c.soft, width: 1, type: "dashed" }, data: edge.map((k) => [k[x] / unit.scale, k[y]]) },
    ],
  });
  return figure({ title: `${xName[0].toUpperCase()}${xName.slice(1)} against ${yName}`, id: "pareto", height: (width) => (width < 500 ? 340 : 430), option,
    says: `Each point is a simulated layout. Full colour: no other is better in time, memory and cost together.${list.some((c) => c.best) ? " The outlined one is the answer." : ""}${leftOut(r)}`,
    alt: `Candidates: ${front.map((k) => `${k.layout} on ${k.clusterName}, ${xFormat(k[x])}, ${yFormat(k[y])}`).join("; ")}`,
    table: table(columnsOf(r), [...list].sort((a, b) => a[x] - b[x]), { name: "candidates", most: 30 }) });
}

const inProportion = (curve, point) => (curve.points[0].tokens_per_s * point.gpus) / curve.points[0].gpus;

/** Throughput of the best layouts over GPUs, beside growth in proportion. */
export function scaling(r) {
  const curves = (r.curves ?? []).filter((curve) => curve.points.length > 1);
  if (curves.length === 0) return null;
  const of = modelled("scaling");
  const rows = curves.flatMap((curve) => curve.points.map((p) => ({ ...p, name: curve.name, scaling: curve.scaling, knee: curve.knee === p.gpus })));
  const option = (width, c) => ({
    ...base(c), grid: { ...base(c).grid, top: 40, bottom: 34, right: 24 },
    legend: { top: 0, left: 0, type: "scroll", itemHeight: 9, textStyle: { color: c.soft }, data: curves.map((curve) => `${curve.name} (${curve.scaling})`), formatter: (name) => shortened(name, legendRoom(width)) },
    tooltip: { ...base(c).tooltip, formatter: (p) => (p.data.point ? tip(p.seriesName, [["GPUs", integer(p.data.point.gpus)], ["tokens/s", integer(p.data.point.tokens_per_s)],
      ["per GPU, over the smallest", percent(p.data.point.efficiency)], p.data.point.marginal !== undefined ? ["of the GPUs added", percent(p.data.point.marginal)] : null]) : "") },
    xAxis: doubling(c, rows.map((row) => row.gpus), width, { formatter: integer, name: "GPUs", nameLocation: "middle", nameGap: 22, splitLine: { lineStyle: { color: c.line } } }),
    yAxis: axis(c, { name: "tokens/s", nameLocation: "end", nameGap: 6, ...spanOf([...rows.map((row) => row.tokens_per_s), ...curves.flatMap((curve) => curve.points.map((p) => inProportion(curve, p)))], (v) => trimmed(rate(v)).replace(/B\/s$/, "").trim()) }),
    series: curves.flatMap((curve, i) => {
      return [
        { name: `${curve.name} (${curve.scaling})`, type: "line", symbol: kSymbols[i % kSymbols.length], symbolSize: 8, lineStyle: { color: c.list[i % 7], width: 2 }, itemStyle: { color: c.list[i % 7] },
          data: curve.points.map((point) => ({ value: [point.gpus, point.tokens_per_s], point, symbolSize: point.gpus === curve.knee ? 15 : 8,
            label: point.gpus === curve.knee ? { show: true, formatter: "knee", position: "bottom", color: c.ink } : undefined })) },
        { name: "in proportion", type: "line", symbol: "none", silent: true, lineStyle: { color: c.list[i % 7], type: kDotted, width: 1.5 },
          data: curve.points.map((point) => [point.gpus, inProportion(curve, point)]) },
      ];
    }),
  });
  return figure({ title: "How throughput grows", id: "scaling", height: (width) => (width < 500 ? 320 : 400), option,
    says: "Best layout at each number of GPUs; dotted: in proportion to the GPUs. Knee: the last count whose added GPUs still give half of what they could.",
    alt: curves.map((curve) => `${curve.name}: ${curve.points.map((p) => `${integer(p.gpus)} GPUs ${integer(p.tokens_per_s)} tokens/s`).join(", ")}`).join("; "),
    table: table([column("curve", { key: "name" }), column("scaling", { key: "scaling" }), of("GPUs", { key: "gpus" }), of("tokens/s", { key: "tokens_per_s" }), of("efficiency", { key: "efficiency" }),
      of("of the GPUs added", { key: "marginal" })], rows, { name: "scaling" }) });
}

/** Where the step of the best candidates goes. */
export function splits(list) {
  const shown = [...list].sort((a, b) => Number(b.best) - Number(a.best) || Number(b.onFront) - Number(a.onFront) || b.tokens_per_s - a.tokens_per_s).slice(0, 12);
  const parts = [["compute", "compute_s", "blue"], ["exposed communication", "exposed_communication_s", "orange"], ["bubble", "bubble_s", "grey"], ["stragglers", "straggler_wait_s", "vermilion"], ["idle", "idle_s", "faint"]]
    .filter(([, key]) => shown.some((c) => c[key] > 0));
  if (parts.length === 0) return null;
  const label = (c) => `${c.layout}, ${c.clusterName}`;
  const option = (width, c) => ({
    ...base(c), grid: { ...base(c).grid, top: width < 500 ? 54 : 30, bottom: 26, right: 24 },
    legend: { top: 0, left: 0, icon: "roundRect", itemWidth: 12, itemHeight: 12, textStyle: { color: c.soft } },
    tooltip: { ...base(c).tooltip, formatter: (p) => tip(label(shown[p.dataIndex]), [[p.seriesName, percent(p.value)], ["step", time(shown[p.dataIndex].step_time_s)]]) },
    xAxis: axis(c, { type: "value", min: 0, max: 1, axisLabel: { formatter: (v) => `${Math.round(100 * v)} %` } }),
    yAxis: names(c, shown.map(width < 500 ? (k) => k.layout : label), width < 500 ? 150 : 380),
    series: parts.map(([name, key, colour]) => ({ name, type: "bar", stack: "s", barMaxWidth: 16, itemStyle: { color: c[colour] }, data: shown.map((k) => (k[key] ?? 0) / k.step_time_s) })),
  });
  return figure({ title: "Where their steps go", id: "splits", height: (width) => (width < 500 ? 34 : 26) * shown.length + 64, option, says: "Shares of the step time; the answer first, then the front.",
    alt: shown.map((k) => `${label(k)}: ${parts.map(([name, key]) => `${name} ${percent((k[key] ?? 0) / k.step_time_s)}`).join(", ")}`).join("; "),
    table: table([column("candidate", { value: label }), ...parts.map(([name, key]) => column(name, { key, unit: "s", format: time }))], shown, { name: "splits" }) });
}

export function exclusionsOf(r) {
  return r.clusters.flatMap((cluster) => (cluster.search?.exclusions ?? []).map((e) => ({ ...e, cluster: clusterName(cluster) })));
}
export const searched = (r) => {
  const sum = (key) => r.clusters.reduce((total, cluster) => total + (cluster.search?.[key] ?? 0), 0);
  const open = sum("open");
  return `${count(sum("enumerated"), "layout")} were considered: ${integer(sum("excluded"))} excluded, ${integer(sum("screened"))} bounded in closed form, ${integer(sum("simulated"))} simulated. ${sum("simulated") === 0 ? "" : open === 0
    ? "No other can be better: the answer is proven." : `${integer(open)} might still be better than the best found.`}`;
};
