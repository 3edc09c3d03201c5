// What a study's clusters cost, and what failures take of the time.
import { figure, section, tip } from "../chart.js";
import { figureOf } from "../dom.js";
import { column, facts, table } from "../table.js";
import { axis, base, names } from "../theme.js";
import { bytes, integer, percent, tick } from "../format.js";
import { amountOf, energy, hours, span } from "./study.js";

/** Money of the whole training where it is known, else of 10^12 tokens, else GPU hours. */
function measureOf(r, rows) {
  const has = (key) => rows.some((row) => row[key] !== undefined);
  const money = amountOf(r.currency ?? "");
  if (has("cost")) return ["cost", "Cost of the training", money];
  if (has("cost_per_1e12_tokens")) return ["cost_per_1e12_tokens", "Cost of 10^12 tokens", money];
  return has("gpu_hours") ? ["gpu_hours", "GPU hours of the training", hours] : null;
}

/** Each cluster's best layout by what it costs, the cheapest first. */
export function costs(r, list) {
  const rows = list.filter((c) => c.at.endsWith("/candidates/0"));
  const measure = measureOf(r, rows);
  if (!measure || rows.length < 2) return null;
  const [key, title, format] = measure;
  const shown = rows.filter((row) => row[key] > 0).sort((a, b) => a[key] - b[key]).slice(0, 20);
  const label = (c) => c.clusterName;
  const option = (width, c) => ({
    ...base(c), grid: { ...base(c).grid, top: 8, bottom: 26, right: width < 500 ? 24 : 110 },
    tooltip: { ...base(c).tooltip, formatter: (p) => tip(label(shown[p.dataIndex]), [[title, format(shown[p.dataIndex][key])], ["layout", shown[p.dataIndex].layout],
      shown[p.dataIndex].train_s === undefined ? null : ["training", span(shown[p.dataIndex].train_s)], shown[p.dataIndex].cluster.why_not ? ["breaks", shown[p.dataIndex].cluster.why_not] : null]) },
    xAxis: axis(c, { type: "value", min: 0, splitNumber: width < 500 ? 2 : 6, axisLabel: { formatter: tick(format) } }),
    yAxis: names(c, shown.map(label), width < 500 ? 130 : 300),
    series: [{ type: "bar", barMaxWidth: 18, data: shown.map((row) => ({ value: row[key], itemStyle: { color: row.best ? c.blue : row.cluster.why_not ? c.faint : c.sky, borderRadius: 2 } })),
      label: { show: width >= 500, position: "right", formatter: (p) => format(p.value), color: c.ink } }],
  });
  return figure({ title, id: "cost", height: (width) => (width < 500 ? 36 : 30) * shown.length + 40, option, says: "Best layout of each cluster, the cheapest first. Dark: the recommended one; pale: breaks a constraint.",
    alt: `${title}: ${shown.map((row) => `${label(row)} ${format(row[key])}`).join(", ")}`,
    table: table([column("cluster", { value: label, wide: true }), column("layout", { key: "layout", wide: true }), column("training", { key: "train_s", unit: "s", format: span }), column("GPU hours", { key: "gpu_hours", format: hours }),
      column("cost", { key: "cost", unit: r.currency, format: amountOf(r.currency ?? "") }), column("cost per 10^12 tokens", { key: "cost_per_1e12_tokens", unit: r.currency, format: amountOf(r.currency ?? "") }),
      column("energy", { key: "energy_J", unit: "J", format: energy })], shown, { name: "cost" }) });
}

/** Checkpoints and failures on the recommended cluster. */
export function goodput(r, best) {
  const g = best.cluster.failures;
  if (!g) return null;
  const fact = (term, key, format, note) => (g[key] === undefined ? null : [term, figureOf(format(g[key]), g[key], `/clusters/${r.best}/failures/${key}`), note]);
  const spare = (term, key, format, note) => (best[key] === undefined ? null : [term, figureOf(format(best[key]), best[key], `${best.at}/${key}`), note]);
  return section("Failures and checkpoints", "failures", `On ${best.clusterName}. A number that is not shown never ends or was not given.`, facts([
    fact("Goodput by simulation", "goodput_by_simulation", percent, "share of the time that trains"), fact("Goodput by Daly's model", "goodput_by_daly", percent),
    fact("Stalled by checkpoints", "stall_share", percent, "without failures"), fact("Without enough hosts", "waiting_share", percent), fact("Mean time between failures", "mtbf_s", span, "of the cluster"),
    fact("Checkpoint", "checkpoint_bytes", bytes), fact("Training stalls for", "stall_s", span), fact("Until it is written", "write_s", span), fact("Interval taken", "interval_s", span),
    fact("Best interval by Young", "interval_by_young_s", span), fact("Best interval by Daly", "interval_by_daly_s", span), fact("Best interval by simulation", "interval_by_simulation_s", span),
    fact("Failures drawn", "failures_drawn", integer), fact("Spare hosts", "spares", integer), fact("Spare hosts for 99 %", "spares_needed", integer, "none is missing"),
    spare("GPU hours of spare hosts", "spare_gpu_hours", hours, "beside those that train"), spare("Cost of spare hosts", "spare_cost", amountOf(r.currency ?? ""), "in the cost"),
    spare("Energy of spare hosts", "spare_energy_J", energy, "in the energy"),
  ]));
}
