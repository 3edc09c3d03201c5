// Everything that a prediction rests on, and where it comes from.
import { section, behind } from "../chart.js";
import { h } from "../dom.js";
import { column, table } from "../table.js";
import { count } from "../format.js";

const kMarks = { measured: "measured", fitted: "fitted", "fit": "fitted", published: "measured" };
export const markOf = (origin) => kMarks[origin] ?? (/measur/.test(origin) ? "measured" : /fit/.test(origin) ? "fitted" : "assumed");
const mark = (kind) => h("span", { class: `mark ${kind}` }, kind);

export function assumptions(record) {
  const parameters = record.inputs.parameters ?? [];
  const settings = Object.entries(record.inputs.settings ?? {});
  const notes = [...(record.assumptions ?? []), ...(record.notes ?? [])];
  const counts = ["measured", "fitted", "assumed"].map((kind) => [kind, parameters.filter((p) => markOf(p.origin) === kind).length]);
  return section("What this rests on", "assumptions",
    `${counts.map(([kind, n]) => `${count(n, "number")} ${kind}`).join(", ")}. Fitted: to published measurements of like machines. Assumed: from a datasheet, or by convention.`,
    notes.length > 0 ? h("ul", { class: "notes" }, notes.map((text) => h("li", {}, mark(/fitted|measured/.exec(text)?.[0] ?? "assumed"), ` ${text}`))) : null,
    parameters.length > 0 ? h("h3", {}, "Numbers of the profile") : null,
    parameters.length > 0 ? markedTable(parameters, "number") : null,
    settings.length > 0 ? behind(table([column("setting", { key: "name" }), column("value", { key: "value" })],
      settings.map(([name, value]) => ({ name, value })), { name: "settings", most: 100 }), "this run", "Effective settings") : null,
    h("p", { class: "says" }, `Inputs: ${[["topology", "topology"], ["workload", "workload"]].filter(([key]) => record.inputs[key])
      .map(([key, label]) => `${label} ${record.inputs[key]} (digest ${record.inputs[`${key}_digest`]})`).join("; ")}.`));
}

/** "hop_latency of GPU links" as people write it. */
export const readable = (name) => name.replaceAll("_", " ");

/** Rows with name, value, origin and source; `heading` is over the names. */
export function markedTable(parameters, heading) {
  const rows = parameters.map((p) => ({ ...p, mark: markOf(p.origin) }));
  const node = table([column(heading, { value: (p) => readable(p.name), wide: true }), column("value", { key: "value" }), column("kind", { key: "mark" }),
    column("source", { key: "source" })], rows, { name: "parameters", most: 12, caption: "" });
  const paint = () => {
    for (const row of node.querySelectorAll("tbody tr")) {
      const cell = row.children[2];
      if (cell && !cell.querySelector(".mark")) cell.replaceChildren(mark(cell.textContent));
    }
  };
  new MutationObserver(paint).observe(node.querySelector("tbody"), { childList: true });
  paint();
  return node;
}
