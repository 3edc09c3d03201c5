// The pages of calibrate: a fit, two profiles beside each other, the health of a cluster.
import { add, figureOf, h } from "../dom.js";
import { figure, section, tip } from "../chart.js";
import { close, open } from "../page.js";
import { column, rowsAt, table } from "../table.js";
import { modelled } from "../model.js";
import { axis, base, names } from "../theme.js";
import { count, digits, integer, percent, signedPercent, tick, time } from "../format.js";
import { warnings } from "./step.js";
import { fitted, intervals, pointsOf, residuals } from "../parts/calibration.js";

export async function calibrationPage(r) {
  const points = pointsOf(r);
  const page = open({ kicker: "Busbar · calibration", title: `Profile ${r.profile}`,
    subtitle: r.tables > 0 ? `${count(r.tables, "table")}, ${count(r.rows, "row")}, on ${r.topology}` : "as the file has it", answer: answerOf(r) });
  add(page, [
    warnings(r.notes.filter((note) => note.startsWith("THE FIT")).map((text) => ({ text }))),
    points.length > 0 ? [fitted(points, r), residuals(points)] : null,
    intervals(r.parameters), numbers(r), errorsTable(r),
    r.outliers.length > 0 ? section("Rows that the fit does not follow", "outliers", null, outlierTable(r, rowsAt(r.outliers, "/outliers"))) : null,
    r.breaks.length > 0 ? section("Breaks in measured curves", "breaks", "As a change of protocol or algorithm makes them.", table([column("table", { key: "table" }),
      column("from size", { key: "from_bytes", unit: "bytes", format: integer }), column("to size", { key: "to_bytes", unit: "bytes", format: integer }),
      column("time", { key: "from_s", unit: "s", format: time }), column("then", { key: "to_s", unit: "s", format: time }),
      column("the model’s choice", { value: (b) => (b.model_from === b.model_to ? b.model_from : `${b.model_from}, then ${b.model_to}`) })], rowsAt(r.breaks, "/breaks"), { name: "breaks" })) : null,
    r.unpinned.length > 0 ? section("Kept at their default", "unpinned", "These measurements do not pin them; the last column says what would.", table(unpinnedColumns(), r.unpinned, { name: "unpinned" })) : null,
    notes(r.notes),
  ]);
  close(page, r);
}

function answerOf(r) {
  const { before, fitted: after, cross_validated: left = { rows: 0 } } = r.errors;
  const figure = (list, key, format, at) => figureOf(format(list[key]), list[key], `/errors/${at}/${key}`);
  if (after.rows === 0) return [[`${count(r.parameters.length, "number")} of this profile are measured or fitted.`]];
  return [
    after.rows === 1 ? ["The fit follows its one row within ", figure(after, "median_abs_error", percent, "fitted"), "."]
      : ["The fit follows half of ", figure(after, "rows", integer, "fitted"), " rows within ", figure(after, "median_abs_error", percent, "fitted"),
        ", nine in ten within ", figure(after, "p90", percent, "fitted"), "."],
    [after.rows === 1 ? "Before it, within " : "Before it, half were within ", figure(before, "median_abs_error", percent, "before"),
      ...(left.rows > 0 ? [`; of rows that a fit has not seen (${r.errors.left_out} left out at a time), within `, figure(left, "median_abs_error", percent, "cross_validated")] : []), "."],
    [`${count(r.parameters.length, "number")} moved`, r.unpinned.length > 0 ? `; ${integer(r.unpinned.length)} keep their default, because nothing here pins them` : "", r.outliers.length > 0 ? `; the fit does not follow ${count(r.outliers.length, "row")}` : "", "."],
  ];
}

function numbers(r) {
  const of = modelled("numbers");
  return section("Numbers", "numbers", null, table([of("name", { key: "name" }), of("value", { key: "value", format: undefined, left: true }), of("95 % interval", { value: (p) => (p.interval ? p.interval.join(" to ") : "") }),
    of("origin", { key: "origin" }), of("rows", { key: "rows" })], rowsAt(r.parameters, "/parameters"), { name: "numbers", most: 40 }));
}

function unpinnedColumns() {
  const of = modelled("unpinned");
  return [of("name", { key: "name" }), of("value", { key: "value", format: undefined, left: true }), of("what would pin it", { key: "measurement" })];
}

function outlierTable(r, rows) {
  const of = modelled("outliers");
  return table([of("table", { key: "table" }), of("size", { key: "size_bytes", format: integer }), of("measured", { key: "measured_s" }), of("fitted", { key: "fitted_s" }),
    of("measured / fitted", { value: (row) => row.measured_s / row.fitted_s, format: digits })], rows, { name: "outliers" });
}

function errorsTable(r) {
  const of = modelled("errors");
  const rows = [["before the fit", "before"], ["fitted", "fitted"], [`left out, ${r.errors.left_out} at a time`, "cross_validated"]]
    .filter(([, key]) => r.errors[key]?.rows > 0).map(([name, key]) => ({ name, ...r.errors[key], at: `/errors/${key}` }));
  if (rows.length === 0) return null;
  return section("Errors", "errors", "Predicted over measured, less one.", table([of("rows", { value: (row) => row.name }), of("median", { key: "median_abs_error" }), of("mean", { key: "mean_abs_error" }), of("90th", { key: "p90" }),
    of("worst", { key: "worst", format: signedPercent }), of("bias", { key: "bias", format: signedPercent })],
  rows, { name: "errors" }));
}

const notes = (list) => (list.length > 0 ? section("Notes", "notes", null, h("ul", { class: "notes" }, list.map((note) => h("li", {}, note)))) : null);

// What a change means: as reports/calibration_report.cpp says it.
function verdictOf(row) {
  if (row.changed) return "changed";
  if (!row.measured_after) return "not measured after";
  if (!row.measured_before) return "not measured before";
  return row.before_interval || row.after_interval ? "intervals overlap" : "no interval";
}

// As reports/calibration_report.cpp has it.
function verdictText(changed, all) {
  if (all === 0) return "Neither profile was measured, so there is nothing to compare.";
  if (changed === 0) return `No change: of ${count(all, "number")}, none moved beyond its interval.`;
  return `${integer(changed)} of ${count(all, "number")} changed: the intervals do not overlap.`;
}

export async function comparisonPage(r) {
  const rows = rowsAt(r.changes, "/changes").sort((a, b) => Number(b.changed) - Number(a.changed) || Math.abs(Math.log(b.ratio)) - Math.abs(Math.log(a.ratio)));
  const changed = rows.filter((row) => row.changed);
  const page = open({ kicker: "Busbar · two profiles", title: `${r.after} against ${r.before}`, answer: [
    [verdictText(changed.length, rows.length)],
    rows.length > 0 && rows[0].ratio !== 1 ? [`The largest ${changed.length > 0 ? "change" : "difference"}: ${rows[0].name}, from ${rows[0].before} to ${rows[0].after} (${signedPercent(rows[0].ratio - 1)}).`] : null] });
  const shown = rows.slice(0, 30);
  if (rows.length > 0)
    add(page, [bars({ title: "Changes", id: "changes", shown, label: (row) => row.name, value: (row) => row.ratio - 1, bad: (row) => row.changed, format: signedPercent,
      says: "After over before, less one. Vermilion: the intervals do not overlap.", detail: (row) => [["before", row.before], ["after", row.after], ["", verdictOf(row)]],
      table: table([column("name", { key: "name" }), column("before", { key: "before" }), column("interval before", { key: "before_interval" }), column("after", { key: "after" }),
        column("interval after", { key: "after_interval" }), column("after / before", { key: "ratio", format: digits }), column("verdict", { value: verdictOf })], rows, { name: "changes" }) })]);
  add(page, [notes(r.notes ?? [])]);
  close(page, r);
}

export async function healthPage(r) {
  const rows = rowsAt(r.findings, "/findings");
  const slow = rows.filter((row) => row.slow);
  const wrong = rows.filter((row) => row.impossible);
  const page = open({ kicker: "Busbar · health", title: `Health of ${r.topology}`, answer: [
    [slow.length === 0 ? "Nothing that was compared is slower than its peers." : `${count(slow.length, "part")} ${slow.length === 1 ? "is" : "are"} slower than ${slow.length === 1 ? "its" : "their"} peers.`],
    slow.length > 0 ? [slow.slice(0, 3).map((row) => row.text).join("; "), "."] : null,
    wrong.length > 0 ? [`${count(wrong.length, "measurement")} cannot be right: faster than the hardware. `, wrong[0].text, "."] : null] });
  const compared = rows.filter((row) => row.peers);
  const shown = compared.slice(0, 40);
  const ratio = (row) => row.measured / row.peers;
  if (shown.length > 0)
    add(page, [bars({ title: "Beside their peers", id: "peers", shown, label: (row) => row.what, value: (row) => ratio(row) - 1, bad: (row) => row.slow || row.impossible, format: signedPercent,
      says: "Measured over what its peers (or the model) reach, less one. Vermilion: slow, or faster than its hardware can be.", detail: (row) => [["measured", `${digits(row.measured)} ${row.quantity}`], ["peers", `${digits(row.peers)} ${row.quantity}`],
        row.datasheet ? ["datasheet", `${digits(row.datasheet)} ${row.quantity}`] : null] })]);
  add(page, [section("Everything that was compared", "findings", null, table([column("what", { key: "what" }), column("measured", { key: "measured", format: digits }), column("peers", { key: "peers", format: digits }),
    column("datasheet", { key: "datasheet", format: digits }), column("in", { key: "quantity" }), column("", { value: (row) => (row.impossible ? "impossible" : row.slow ? "slow" : "healthy") })], rows, { name: "findings", most: 60 })), notes(r.notes)]);
  close(page, r);
}

function bars({ title, id, says, shown, label, value, bad, format, detail, table: behindIt }) {
  const option = (width, c) => ({
    ...base(c), grid: { ...base(c).grid, top: 8, bottom: 26, right: 20 },
    tooltip: { ...base(c).tooltip, formatter: (p) => tip(label(shown[p.dataIndex]), [...detail(shown[p.dataIndex]), ["change", format(value(shown[p.dataIndex]))]]) },
    xAxis: axis(c, { type: "value", axisLabel: { formatter: tick(format) } }),
    yAxis: names(c, shown.map(label), width < 500 ? 140 : 320),
    series: [{ type: "bar", barMaxWidth: 14, data: shown.map((row) => ({ value: value(row), itemStyle: { color: bad(row) ? c.vermilion : c.blue, borderRadius: 2 } })) }],
  });
  return figure({ title, id, says, height: (width) => (width < 500 ? 34 : 28) * shown.length + 40, option, table: behindIt, tableAt: "findings", alt: `${title}: ${shown.map((row) => `${label(row)} ${format(value(row))}`).join(", ")}` });
}
