// Tables: one column model for what is shown, sorted and downloaded.
import { h, add } from "./dom.js";
import { csvOf, download } from "./csv.js";
import { count, integer } from "./format.js";

/**
 * column(name, { key | value, unit, format, from }): `key` is the row's; `unit` names what the exact value is
 * in; `from(row)` is the JSON pointer of a figure that stands in the record as it is; `wide` texts are not broken word by word.
 */
export function column(name, { key, value, unit, format, from, left, wide } = {}) {
  return { name, unit, value: value ?? ((row) => row[key]), format: format ?? String, key, from, wide, left: left ?? !format };
}

/**
 * Rows of the record at a pointer: every row remembers where it stands. `excerpt`: where the page has some of them
 * only, where these stand in the record that --json writes.
 */
export function rowsAt(list, pointer, excerpt) {
  return list.map((row, i) => ({ ...row, at: `${pointer}/${excerpt?.numbers[i] ?? i}` }));
}

/** What to say where a list is not whole; `kept`: what is surely among them. */
export const excerptText = (excerpt, what, kept = "") => (excerpt ? ` This page has ${integer(excerpt.numbers.length)} of the ${integer(excerpt.of)} ${what}${kept ? `: ${kept}, and others` : ","} spread evenly; --json and --csv have all.` : "");

// Texts of several words need room, or each word gets its own line; a word longer than any room may be broken.
const kWide = 24;
const kLongWord = 40;

function shapeOf(column, rows) {
  if (!column.left) return "right";
  const longest = rows.slice(0, 300).reduce((a, row) => { const text = String(column.value(row) ?? ""); return text.length > a.length ? text : a; }, "");
  const word = Math.max(...longest.split(/\s/).map((part) => part.length));
  return `left${column.wide || longest.length > kWide ? " wide" : " short"}${word > kLongWord ? " long" : ""}`;
}

function cellOf(column, row, shape) {
  const value = column.value(row);
  if (value === null || value === undefined || value === "") return h("td", {});
  const text = column.format(value, row);
  const from = column.from ? column.from(row) : column.key && row.at ? `${row.at}/${column.key}` : null;
  const shown = typeof value === "number" || from ? h("data", { value, "data-from": from }, text) : text;
  return h("td", { class: shape }, shown);
}

/** A table of at most `most` rows until asked for all; headers sort. */
export function table(columns, rows, { name, most = 25, caption } = {}) {
  const body = h("tbody");
  const shapes = columns.map((c) => shapeOf(c, rows));
  let order = rows;
  let limit = most;
  const more = h("button", { type: "button", class: "quiet", onclick: () => fill((limit = Infinity)) });
  const fill = () => {
    body.replaceChildren(...order.slice(0, limit).map((row) => h("tr", {}, columns.map((c, i) => cellOf(c, row, shapes[i])))));
    more.hidden = limit >= rows.length;
    more.textContent = more.hidden ? "" : `Show all ${count(rows.length, "row")}`;
  };
  const heads = columns.map((c) => headOf(c));
  const sortBy = (i) => {
    const rising = heads[i].getAttribute("aria-sort") !== "ascending";
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[i].setAttribute("aria-sort", rising ? "ascending" : "descending");
    order = [...rows].sort((a, b) => compare(columns[i].value(a), columns[i].value(b)) * (rising ? 1 : -1));
    fill();
  };
  heads.forEach((head, i) => head.firstChild.addEventListener("click", () => sortBy(i)));
  fill();
  const csv = h("button", { type: "button", class: "quiet", onclick: () => download(`${name}.csv`, csvOf(columns, rows)) },
    "Download CSV");
  return h("div", { class: "table" },
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption ?? name },
      h("table", { style: `--columns: ${columns.length}` }, caption ? h("caption", {}, caption) : null, h("thead", {}, h("tr", {}, heads)), body)),
    h("div", { class: "actions" }, more, csv));
}

function headOf(column) {
  return h("th", { scope: "col", class: column.left ? "left" : "right" },
    h("button", { type: "button", title: `Sort by ${column.name}` }, column.name));
}

function compare(a, b) {
  if (a === b) return 0;
  if (a === undefined || a === null) return 1;
  if (b === undefined || b === null) return -1;
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
}

/** A list of terms and values. */
export function facts(pairs) {
  return h("dl", { class: "facts" },
    pairs.filter(Boolean).map(([term, value, note]) =>
      h("div", {}, h("dt", {}, term), add(h("dd", {}), [value]), note ? h("dd", { class: "note" }, note) : null)));
}
