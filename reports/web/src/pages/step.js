// The page of a simulated step.
import { add, figureOf, h } from "../dom.js";
import { close, open } from "../page.js";
import { facts } from "../table.js";
import { binary, bytes, flops, integer, percent, time } from "../format.js";
import { answerOf, subtitleOf } from "../parts/answer.js";
import { assumptions } from "../parts/assumptions.js";
import { collectives } from "../parts/collectives.js";
import { compared } from "../parts/compared.js";
import { criticalPath } from "../parts/path.js";
import { links } from "../parts/links.js";
import { memory } from "../parts/memory.js";
import { overlap } from "../parts/overlap.js";
import { timeline } from "../parts/timeline.js";
import { tornado } from "../parts/tornado.js";
import { waterfall } from "../parts/waterfall.js";

export async function stepPage(r, longLists) {
  const page = open({ kicker: "Busbar · simulated training step", title: `${r.name} on ${r.cluster}`, subtitle: subtitleOf(r), answer: answerOf(r) });
  add(page, [glance(r), warnings(r.warnings), waterfall(r), compared(r)]);
  const lists = await longLists();
  add(page, [timeline(r, lists.timeline, lists.of), overlap(lists.timeline), links(r), collectives(r), memory(r), tornado(r),
    criticalPath(r, lists.critical_path), assumptions(r)]);
  close(page, r);
}

function glance(r) {
  const value = (key, format) => (r[key] === undefined ? null : figureOf(format(r[key]), r[key], `/${key}`));
  const fact = (term, key, format, note) => (r[key] === undefined ? null : [term, value(key, format), note]);
  const interval = r.step_time_interval_s;
  const m = r.memory;
  return h("section", { "aria-label": "At a glance" }, facts([
    fact("Step time", "step_time_s", time, interval ? `95 %: ${time(interval[0])} to ${time(interval[1])}` : null),
    fact("Tokens per second", "tokens_per_s", integer),
    fact("Tokens per second and GPU", "tokens_per_s_per_gpu", integer),
    fact("Model FLOP/s per GPU", "model_flops_per_s_per_gpu", flops),
    fact("MFU", "mfu", percent, r.hfu && r.hfu - r.mfu > 0.001 ? `HFU ${percent(r.hfu)}, with recomputation and padding` : null),
    fact("Compute", "compute_s", time, `${percent(r.compute_s / r.step_time_s)} of the step`),
    fact("Communication", "communication_s", time, `${time(r.exposed_communication_s)} of it exposed`),
    r.bubble_s > 0 ? fact("Pipeline bubble", "bubble_s", time, `${percent(r.bubble_of_step)} of the step, ${percent(r.bubble_of_ideal)} of the rest`) : null,
    m ? ["Memory per GPU", figureOf(bytes(m.total_bytes), m.total_bytes, "/memory/total_bytes"),
      m.capacity_bytes ? `${m.fits ? "fits" : "does not fit"} in ${bytes(m.capacity_bytes)} (${binary(m.capacity_bytes)})` : null] : null,
  ]));
}

export function warnings(list) {
  if (!list || list.length === 0) return null;
  return h("section", { class: "figure", id: "warnings", "aria-labelledby": "warnings-title" },
    h("h2", { id: "warnings-title" }, list.length === 1 ? "A warning" : "Warnings"), list.map((w) => h("p", { class: "warning" }, w.text)));
}
