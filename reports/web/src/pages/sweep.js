// The page of a collective over its sizes.
import { add, figureOf } from "../dom.js";
import { section } from "../chart.js";
import { close, open } from "../page.js";
import { column, excerptText, rowsAt, table } from "../table.js";
import { binary, count, integer, percent, rate, signedPercent, time, words } from "../format.js";
import { modelled } from "../model.js";
import { assumptions } from "../parts/assumptions.js";
import { curves, errors } from "../parts/sweep.js";
import { warnings } from "./step.js";

export async function sweepPage(r) {
  const every = rowsAt(r.rows, "/rows", r.rows_excerpt);
  const rows = every.filter((row) => row.size_bytes > 0 && row.time_s > 0); // what a logarithmic chart can draw
  const first = r.rows[0];
  const operation = first ? words(first.operation) : "sweep";
  const page = open({
    kicker: "Busbar · collective", title: `${operation} on ${r.cluster}`,
    subtitle: `${first ? count(first.ranks, "rank") : ""}${r.hosts ? ` in ${count(r.hosts, "host")}` : ""}, ${r.type}, calibration ${r.inputs.calibration}`,
    answer: rows.length > 0 ? answerOf(r, rows) : alone(operation, every),
  });
  add(page, [warnings(r.warnings), rows.length > 0 ? curves(r, rows) : null, errors(rows), all(r, every), assumptions(r)]);
  close(page, r);
}

// A barrier moves no bytes; a single rank takes no time.
function alone(operation, rows) {
  if (rows.length === 0) return [["There are no rows."]];
  const last = rows[rows.length - 1];
  return [[`${operation} takes `, figureOf(time(last.time_s), last.time_s, `${last.at}/time_s`), last.size_bytes > 0 ? ` at ${binary(last.size_bytes)}.` : "."]];
}

function answerOf(r, rows) {
  const best = rows.reduce((a, b) => (b.busbw_Bps > a.busbw_Bps ? b : a));
  const smallest = rows[0];
  const figure = (row, key, format) => figureOf(format(row[key]), row[key], `${row.at}/${key}`);
  const line = r.line_rates?.length > 0 ? r.line_rates.reduce((a, b) => (b.rate_Bps < a.rate_Bps ? b : a)) : null;
  return [
    ["It reaches ", figure(best, "busbw_Bps", rate), " of busbw, at ", binary(best.size_bytes),
      ...(line ? rated(best.busbw_Bps, line) : []), "."],
    ["The smallest size takes ", figure(smallest, "time_s", time),
      ...(r.half_bandwidth_bytes ? [", and half of the best busbw is reached at ", figureOf(binary(r.half_bandwidth_bytes), r.half_bandwidth_bytes, "/half_bandwidth_bytes")] : []),
      `; at the largest ${rows[rows.length - 1].limit} is the limit.`],
    r.comparison?.median_abs_error !== undefined
      ? ["Against the measurement half of the sizes are within ", figureOf(percent(r.comparison.median_abs_error), r.comparison.median_abs_error, "/comparison/median_abs_error"),
        ", the worst is off by ", figureOf(signedPercent(r.comparison.worst), r.comparison.worst, "/comparison/worst"), `, at ${binary(r.comparison.worst_size_bytes)}.`] : null,
    besides(r, rows),
  ];
}

// At the largest size that both have.
function besides(r, rows) {
  const other = r.compared?.[0];
  const row = [...rows].reverse().find((mine) => other?.rows.some((o) => o.size_bytes === mine.size_bytes && o.time_s > 0));
  if (!row) return null;
  const j = other.rows.findIndex((o) => o.size_bytes === row.size_bytes);
  const change = row.time_s / other.rows[j].time_s - 1;
  const words = Math.abs(change) < 5e-4 ? "as long as" : `${percent(Math.abs(change))} ${change < 0 ? "less" : "more"} time than`;
  return [`At ${binary(row.size_bytes)} it takes ${words} ${other.name} (`, figureOf(time(other.rows[j].time_s), other.rows[j].time_s, `/compared/0/rows/${j}/time_s`), ")."];
}

// busbw counts what a ring would carry; where switches reduce, links carry less.
const rated = (busbw, line) => (busbw > line.rate_Bps ? [`; ${line.what} carry ${rate(line.rate_Bps)}, which busbw may pass where switches do the adding`]
  : [`: ${percent(busbw / line.rate_Bps)} of what ${line.what} carry (${rate(line.rate_Bps)})`]);

// Names of what it is compared with are long, and stand above the table by their numbers.
function comparedColumns(r, of) {
  return (r.compared ?? []).flatMap((other, i) => {
    const bySize = new Map(other.rows.map((row, j) => [row.size_bytes, { ...row, at: `/compared/${i}/rows/${j}` }]));
    const at = (key) => (row) => (bySize.has(row.size_bytes) ? `${bySize.get(row.size_bytes).at}/${key}` : null);
    const value = (key) => (row) => bySize.get(row.size_bytes)?.[key];
    const n = i + 1;
    // The model has them for the first, told by its number.
    const numbered = (what, more) => ({ ...of(`${what}[1]`, more), name: `${what}[${n}]` });
    return [numbered("time", { value: value("time_s"), from: at("time_s"), unit: "s", format: time }), numbered("busbw", { value: value("busbw_Bps"), from: at("busbw_Bps"), unit: "B/s", format: rate }),
      numbered("change", { value: (row) => (value("time_s")(row) > 0 ? row.time_s / value("time_s")(row) - 1 : null), unit: "share", format: signedPercent })];
  });
}

function all(r, rows) {
  const of = modelled("sweep");
  const measured = rows.some((row) => row.measured_s);
  const says = [r.comparison ? `Measured: ${r.comparison.source}.` : "", ...(r.compared ?? []).map((other, i) => `[${i + 1}]: ${other.name}; change: of the time, from there to here.`),
    excerptText(r.rows_excerpt, "sizes", "where the choice changes, the best busbw and the largest errors")].filter(Boolean).join(" ");
  return section("All sizes", "sizes", says || null,
    table([of("size", { key: "size_bytes", format: integer }), of("time", { key: "time_s", unit: "s", format: time }), of("algbw", { key: "algbw_Bps", unit: "B/s", format: rate }),
      of("busbw", { key: "busbw_Bps", unit: "B/s", format: rate }), of("algorithm", { key: "algorithm" }), of("protocol", { key: "protocol" }), of("channels", { key: "channels" }), of("limit", { key: "limit" }),
      ...(measured ? [of("measured", { key: "measured_s", unit: "s", format: time }), of("error", { key: "error", unit: "share", format: signedPercent }),
        ...(rows.some((row) => row.measured_choice) ? [column("measured ran", { key: "measured_choice" })] : [])] : []), ...comparedColumns(r, of)], rows, { name: "sizes", most: 60 }));
}
