// The page of a planning study.
import { add, figureOf, h } from "../dom.js";
import { section } from "../chart.js";
import { close, open } from "../page.js";
import { modelled } from "../model.js";
import { column, facts, table } from "../table.js";
import { bytes, integer, percent, time } from "../format.js";
import { amountOf, candidatesOf, clusterName, energy, exclusionsOf, hours, layouts, pareto, scaling, searched, sideBySide, span, splits } from "../parts/study.js";
import { costs, goodput } from "../parts/study_cost.js";
import { tornado } from "../parts/tornado.js";
import { markedTable } from "../parts/assumptions.js";

export async function studyPage(r) {
  const list = candidatesOf(r);
  const best = list.find((c) => c.best) ?? null;
  const page = open({ kicker: "Busbar · capacity planning", title: r.name,
    subtitle: [r.model, r.objective && `goal: ${r.objective}`, r.tokens && `${integer(r.tokens / 1e9)} billion tokens`].filter(Boolean).join(", "), answer: answerOf(r, best, list) });
  add(page, [best ? glance(r, best) : null, sentences("What would change the answer", "changes", r.changes), sentences("What may go wrong", "risks", r.risks),
    sideBySide(r, list), pareto(r, list), best ? layouts(r, list, best) : null, scaling(r), costs(r, list), best ? goodput(r, best) : null, splits(list), r.sensitivity ? tornado(r) : null,
    excluded(r), assumed(r)]);
  close(page, r);
}

function answerOf(r, best, list) {
  if (!best) return nothing(r, list);
  const figure = (c, key, format) => figureOf(format(c[key]), c[key], `${c.at}/${key}`);
  const money = amountOf(r.currency ?? "");
  const second = r.runner_up === undefined || r.runner_up === null ? null : list.find((c) => c.at === `/clusters/${r.runner_up}/candidates/0`);
  return [
    [`${best.layout} on ${best.clusterName}: `, ...(best.train_s ? [figure(best, "train_s", span), " of training"] : [figure(best, "step_time_s", time), " per step"]),
      ...(best.cost ? [", ", figure(best, "cost", money)] : []), "."],
    ["It trains ", figure(best, "tokens_per_s", integer), " tokens per second", ...(best.mfu ? [", at ", figure(best, "mfu", percent), " of the GPUs' peak"] : []),
      ...(second ? [`; runner-up is ${second.layout} on ${second.clusterName}, with `, ...(second.train_s ? [figure(second, "train_s", span)] : [figure(second, "step_time_s", time)]),
        ...(second.cost ? [" and ", figure(second, "cost", money)] : [])] : []), "."],
    r.changes?.length > 0 ? [sentence(r.changes[0])] : null,
  ];
}

// The cluster that misses least, by the record's own words.
function nothing(r, list) {
  const missed = r.clusters.map((cluster, i) => ({ ...cluster, i })).filter((cluster) => cluster.misses !== undefined).sort((a, b) => a.misses - b.misses)[0];
  const why = list.length > 0 ? "each cluster breaks a constraint" : "no layout fits";
  const by = missed && missed.misses < 10 ? [", which misses by ", figureOf(percent(missed.misses), missed.misses, `/clusters/${missed.i}/misses`)] : [];
  return [[`Nothing qualifies: ${why}.`],
    missed ? [r.clusters.length > 1 ? "The closest is " : "", clusterName(missed), ...by, `: ${missed.why_not}.`] : null, ["See below what was left out, and why."]];
}

function glance(r, c) {
  const money = amountOf(r.currency ?? "");
  const fact = (term, key, format, note) => (c[key] === undefined ? null : [term, figureOf(format(c[key]), c[key], `${c.at}/${key}`), note]);
  return h("section", { "aria-label": "At a glance" }, facts([
    fact("Step time", "step_time_s", time), fact("Tokens per second", "tokens_per_s", integer), fact("Tokens per second and GPU", "tokens_per_s_per_gpu", integer), fact("MFU", "mfu", percent),
    fact("Memory per GPU", "memory_bytes", bytes, c.headroom_bytes !== undefined ? `${bytes(c.headroom_bytes)} to spare` : null), fact("Goodput", "goodput", percent, "share of the time that trains"),
    fact("Training", "train_s", span), fact("GPU hours", "gpu_hours", hours), fact("Cost", "cost", money), fact("Cost per 10¹² tokens", "cost_per_1e12_tokens", money), fact("Energy", "energy_J", energy),
  ]));
}

function excluded(r) {
  const of = modelled("exclusions");
  const rows = exclusionsOf(r).sort((a, b) => b.count - a.count);
  const without = r.clusters.filter((cluster) => cluster.why_not);
  return section("What was left out, and why", "excluded", searched(r),
    without.length > 0 ? h("ul", { class: "notes" }, without.map((cluster) => h("li", {}, `${clusterName(cluster)}: ${cluster.why_not}`))) : null,
    rows.length > 0 ? table([of("reason", { key: "reason" }), of("layouts", { key: "count" }), of("one of them", { key: "example" }), column("cluster", { key: "cluster" })], rows, { name: "excluded", most: 12 }) : null);
}

const sentences = (title, id, list) => (list?.length > 0 ? section(title, id, null, h("ul", { class: "notes" }, list.map((text) => h("li", {}, sentence(text))))) : null);
const sentence = (text) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;

function assumed(r) {
  if (!r.assumptions?.length) return null;
  return section("What this rests on", "assumptions", "Measured: on this cluster. Fitted: to measurements of like machines. Assumed: from the study, a datasheet or by convention.",
    markedTable(r.assumptions.map((a) => ({ ...a, name: a.what })), "what"));
}
