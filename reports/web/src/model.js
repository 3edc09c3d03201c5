// The table model that text, Markdown and CSV are written from (reports/record_table.h): pages take the names and
// units of their columns from it, and a column that it does not have is an error of the page.
import { bytes, integer, percent, rate, time } from "./format.js";
import { column } from "./table.js";

const kFormats = { s: time, bytes, "B/s": rate, share: percent };
let tables = null;

/** const of = modelled("links"); of("sustains", { key: "capacity_Bps" }): a column() with the model's unit and form. */
export function modelled(name) {
  tables ??= JSON.parse(document.getElementById("columns").textContent);
  return (heading, more = {}) => {
    const known = tables[name]?.find((c) => c.name === heading);
    if (!known) throw new Error(`the table "${name}" has no column "${heading}"`);
    return column(heading, { unit: known.unit, format: known.right ? kFormats[known.unit] ?? integer : undefined, left: !known.right, ...more });
  };
}
