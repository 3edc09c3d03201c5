// The page of predictions beside measurements.
import { modelled } from "../model.js";
import { add, figureOf, h } from "../dom.js";
import { section } from "../chart.js";
import { close, open } from "../page.js";
import { column, excerptText, rowsAt, table } from "../table.js";
import { binary, count, integer, percent, signedPercent, time } from "../format.js";
import { byGroup, bySize, scatter, strategyOf } from "../parts/validation.js";

export async function validationPage(r) {
  const suites = r.suites ? r.suites.map((suite, i) => ({ suite, at: `/suites/${i}` })) : [{ suite: r, at: "" }];
  const main = suites[0];
  const page = open({
    kicker: "Busbar · validation", title: suites.length > 1 ? "Predicted against measured" : `Predicted against measured: ${main.suite.quantity}`,
    subtitle: `calibration ${main.suite.calibration}${main.suite.filters.length > 0 ? `; only ${main.suite.filters.join(", ")}` : ""}`,
    answer: suites.length > 1 ? suites.map(({ suite, at }) => [nameOf(suite, suites) === suite.suite ? "" : `${nameOf(suite, suites)}: `, ...answerOf(suite, at)[0]]) : answerOf(main.suite, main.at),
  });
  suites.forEach(({ suite, at }, i) => add(page, partsOf(suite, at, suites.length > 1 ? { name: nameOf(suite, suites), id: `${suite.suite}-${i}` } : null)));
  close(page, r);
}

// Of a user's own measurement: the figure that the tolerance is held against, and what would close the largest gap.
function judged(v, at) {
  const { judged: what, error, tolerance, within } = v.verdict;
  const wide = tolerance === undefined ? [] : [within ? ", within the tolerance of " : ", beyond the tolerance of ", figureOf(percent(tolerance), tolerance, `${at}/verdict/tolerance`)];
  return [
    error === undefined ? [`${v.suite}: there is no ${what} on both sides to compare.`]
      : what.startsWith("median") ? [...(v.summary.rows === 1 ? ["The one prediction is within "] : ["Half of ", figureOf(integer(v.summary.rows), v.summary.rows, `${at}/summary/rows`), " predictions are within "]), figureOf(percent(error), error, `${at}/verdict/error`), ...wide, "."]
      : [`The predicted ${what} is off by `, figureOf(signedPercent(error), error, `${at}/verdict/error`), ...wide, "."],
    v.explanation ? [v.explanation] : null,
  ];
}

function answerOf(v, at) {
  if (v.verdict) return judged(v, at);
  const s = v.summary;
  const figure = (key, format) => figureOf(format(s[key]), s[key], `${at}/summary/${key}`);
  if (s.rows === 0) return [[`${v.suite}: no rows.`]];
  const worst = v.largest_disagreement;
  const small = amount(v)[0] === "bytes";
  const inside = v.rows.filter((row) => Math.abs(row.error) <= 0.1).length;
  if (s.rows === 1) return [[`The one prediction of “${v.suite}” is off by `, figure("bias", signedPercent), "."]];
  return [
    [`Of the suite “${v.suite}”, half of `, figure("rows", integer), ` predictions are within `, figure("median_abs_error", percent), ", nine in ten within ", figure("p90", percent), "."],
    [v.rows_excerpt ? "The middle" : `${percent(inside / v.rows.length)} lie within 10 %; the middle`, " of all errors is ", figure("bias", signedPercent), s.bias > 0.02 ? `: predictions are mostly ${small ? "too large" : "too slow"}.` : s.bias < -0.02 ? `: predictions are mostly ${small ? "too small" : "too fast"}.` : ", so neither side is favoured."],
    worst ? ["Furthest off: ", `${worst.what} (${worst.system}), by `, figureOf(signedPercent(worst.error), worst.error, `${at}/largest_disagreement/error`), "."] : null,
  ];
}

// Several measurements of a user bear one name: then the system tells them apart.
const nameOf = (v, suites) => (suites.filter(({ suite }) => suite.suite === v.suite).length > 1 && v.rows[0] ? v.rows[0].system : v.suite);

const title = (prefix, text) => (prefix ? prefix + text : text[0].toUpperCase() + text.slice(1));

const amount = (v) => (v.rows[0] && "measured_bytes" in v.rows[0] ? ["bytes", binary] : ["s", time]);

function partsOf(v, at, several) {
  const [unit, format] = amount(v);
  const rows = rowsAt(v.rows, `${at}/rows`, v.rows_excerpt).sort((a, b) => Math.abs(b.error) - Math.abs(a.error));
  const prefix = several ? `${several.name}: ` : "";
  const thin = excerptText(v.rows_excerpt, "rows", "the largest errors, the smallest and largest jobs");
  const id = (name) => (several ? `${several.id}-${name}` : name);
  return [
    rows.length > 2 ? scatter({ rows, unit, format, thin, title: `${prefix}predicted against measured`, id: id("scatter"), rowsAtId: id("rows") }) : null,
    section(title(prefix, "worst rows first"), id("rows"), `${count(v.rows_excerpt?.of ?? rows.length, "row")} in all; error is predicted over measured, less one.${thin}`, worstTable(rows, unit, format, id("rows"))),
    rows.some((row) => row.gpus > 0) ? bySize({ rows, thin, title: `${prefix}error by size of the job`, id: id("by-size"), rowsAtId: id("rows") }) : null,
    v.systems.length > 1 ? byGroup({ groups: rowsAt(v.systems, `${at}/systems`), name: "system", title: `${prefix}error by system`, id: id("by-system") }) : null,
    !thin && rows.some((row) => strategyOf(row)) ? byGroup({ groups: grouped(rows, strategyOf), name: "name", title: `${prefix}error by strategy`, id: id("by-strategy"), derived: true }) : null,
    v.tables?.length > 0 ? byGroup({ groups: rowsAt(v.tables, `${at}/tables`), name: "class", title: `${prefix}median error of whole tables, by class`, id: id("by-class") }) : null,
    v.measured_ranks ? section(title(prefix, "what each measured rank spent"), id("ranks"), null, table([modelled("ranks")("rank", { key: "rank" }),
      ...[["step", "step_time_s"], ["compute", "compute_s"], ["communication", "communication_s"], ["exposed", "exposed_communication_s"], ["waiting", "straggler_wait_s"], ["bubble", "bubble_s"], ["idle", "idle_s"]]
        .map(([name, key]) => modelled("ranks")(name, { key }))], rowsAt(v.measured_ranks, `${at}/measured_ranks`), { name: id("ranks") })) : null,
    v.not_compared?.length > 0 ? section(title(prefix, "not compared"), id("not-compared"), "Figures that one side lacks, or has in another form.", table([column("what", { key: "what" }),
      column("measured", { key: `measured_${unit}`, unit, format }), column("predicted", { key: `predicted_${unit}`, unit, format }), column("why", { key: "reason" })], rowsAt(v.not_compared, `${at}/not_compared`), { name: id("not-compared") })) : null,
    v.notes?.length > 0 ? section(title(prefix, "notes"), id("notes"), null, h("ul", { class: "notes" }, v.notes.map((note) => h("li", {}, note)))) : null,
    v.recorded.length > 0 ? section(title(prefix, "against what is recorded"), id("recorded"), "Figures that tests hold.", table([modelled("recorded")("figure", { key: "figure" }),
      modelled("recorded")("now", { key: "value" }), modelled("recorded")("recorded", { key: "recorded" }),
      column("", { value: (row) => (row.met ? "held" : "worse") })], rowsAt(v.recorded, `${at}/recorded`), { name: id("recorded") })) : null,
    v.not_simulated.length > 0 ? section(title(prefix, "not simulated"), id("left-out"), `${count(v.not_simulated_excerpt?.of ?? v.not_simulated.length, "row")} of the tables ${(v.not_simulated_excerpt?.of ?? v.not_simulated.length) === 1 ? "has" : "have"} no prediction.${excerptText(v.not_simulated_excerpt, "rows")}`,
      table([column("row", { key: "id" }), column("system", { key: "system" }), column("why", { key: "reason" })], v.not_simulated, { name: id("left-out"), most: 8 })) : null,
  ];
}

function worstTable(rows, unit, format, name) {
  const of = modelled("rows");
  return table([of("error", { key: "error", unit: "share", format: signedPercent }), of("what", { key: "what" }), of("system", { key: "system" }), column("GPUs", { key: "gpus", format: integer }),
    of("measured", { key: `measured_${unit}`, unit, format }), of("predicted", { key: `predicted_${unit}`, unit, format }), column("framework", { key: "framework" }), of("row", { key: "id" })]
    .filter((c) => rows.some((row) => c.value(row))), rows, { name, most: 15 });
}

// Quantiles as sim/result/error_figures.h has them: the smallest value that the share does not exceed.
function grouped(rows, nameOf) {
  const lists = new Map();
  for (const row of rows) {
    const name = nameOf(row);
    if (name) lists.set(name, lists.get(name) ?? []).get(name).push(row.error);
  }
  const quantile = (list, q) => list[Math.max(0, Math.ceil(q * list.length) - 1)];
  return [...lists].map(([name, list]) => {
    const sizes = list.map(Math.abs).sort((a, b) => a - b);
    const signed = [...list].sort((a, b) => a - b);
    return { name, rows: list.length, median_abs_error: quantile(sizes, 0.5), p90: quantile(sizes, 0.9), bias: quantile(signed, 0.5),
      worst: list.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a)) };
  });
}
