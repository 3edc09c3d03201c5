// Three sentences: how long, what limits it, what would help most.
import { figureOf } from "../dom.js";
import { bytes, count, integer, percent, time } from "../format.js";

const kFaster = 0.1;  // the change that sensitivities are told for

/** Where the step's time goes, largest first; `pointer` leads into the record. */
export function partsOf(r) {
  const groups = Object.entries(r.exposed_by_group ?? {}).map(([group, seconds]) => ({
    name: `exposed ${group}`, kind: group, seconds, pointer: `/exposed_by_group/${group.replaceAll("~", "~0").replaceAll("/", "~1")}`,
  }));
  return [
    { name: "compute", kind: "compute", seconds: r.compute_s, pointer: "/compute_s" },
    ...groups.sort((a, b) => b.seconds - a.seconds),
    { name: "pipeline bubble", kind: "bubble", seconds: r.bubble_s, pointer: "/bubble_s" },
    { name: "waiting for stragglers", kind: "straggler", seconds: r.straggler_wait_s, pointer: "/straggler_wait_s" },
    { name: "idle", kind: "idle", seconds: r.idle_s, pointer: "/idle_s" },
  ].filter((part) => part.seconds > 0);
}

function howLong(r) {
  const out = ["One step takes ", figureOf(time(r.step_time_s), r.step_time_s, "/step_time_s")];
  if (r.step_time_interval_s)
    out.push(" (", figureOf(time(r.step_time_interval_s[0]), r.step_time_interval_s[0], "/step_time_interval_s/0"), " to ",
      figureOf(time(r.step_time_interval_s[1]), r.step_time_interval_s[1], "/step_time_interval_s/1"), ")");
  out.push(" on ", figureOf(integer(r.ranks), r.ranks, "/ranks"), r.ranks === 1 ? " GPU" : " GPUs");
  if (r.tokens_per_s)
    out.push(": ", figureOf(integer(r.tokens_per_s), r.tokens_per_s, "/tokens_per_s"), " tokens per second");
  if (r.mfu) out.push(r.tokens_per_s ? ", " : ": ", figureOf(percent(r.mfu), r.mfu, "/mfu"), " of the GPUs’ peak");
  return [...out, "."];
}

// First of all where it does not: the rest tells of a job that cannot run.
function whetherItFits(r) {
  const m = r.memory;
  if (!m || m.fits !== false) return null;
  return ["This job does not fit: its fullest GPU would need ", figureOf(bytes(m.total_bytes), m.total_bytes, "/memory/total_bytes"), ", and has ",
    figureOf(bytes(m.capacity_bytes), m.capacity_bytes, "/memory/capacity_bytes"), `: ${bytes(m.total_bytes - m.capacity_bytes)} too much. With enough memory it would be so:`];
}

const kLimits = {
  compute: "Kernels limit it: they fill ",
  bubble: "The pipeline bubble limits it: its stages wait for each other for ",
  straggler: "Slow ranks limit it: the others wait for them for ",
  idle: "Launching limits it: nothing runs for ",
};

// Compute is what a step is for: what limits it is the largest of the rest, where that is a quarter of the step.
function whatLimits(r) {
  const parts = partsOf(r);
  const rest = parts.filter((p) => p.kind !== "compute").sort((a, b) => b.seconds - a.seconds)[0];
  const compute = parts.find((p) => p.kind === "compute");
  const of = (part) => [figureOf(time(part.seconds), part.seconds, part.pointer), ` (${percent(part.seconds / r.step_time_s)})`];
  if (!compute && !rest) return ["Nothing takes time in it."];
  if (rest && (!compute || rest.seconds > 0.25 * r.step_time_s))
    return rest.name.startsWith("exposed") ? [`Communication limits it: ${rest.kind} groups keep kernels waiting for `, ...of(rest), "."]
      : [kLimits[rest.kind], ...of(rest), "."];
  return [kLimits.compute, ...of(compute), " of the step",
    ...(rest ? ["; next comes ", rest.name.startsWith("exposed") ? `exposed ${rest.kind} communication` : rest.name, " with ", ...of(rest)]
      : ["; all communication is hidden behind them"]), "."];
}

/** By how much the step shrinks if a parameter improves by 10 %: as simulated, else to first order. */
export const gain = (row) => (row.change_10_percent_better === undefined ? Math.abs(row.elasticity) * kFaster : -row.change_10_percent_better);

function whatHelps(r) {
  // A smaller batch shortens the step by doing less: no help.
  const tools = (r.sensitivity ?? []).map((row, i) => ({ ...row, i })).filter((row) => !/batch|sequence/i.test(row.parameter));
  if (tools.length > 0) {
    const row = tools.reduce((best, other) => (gain(other) > gain(best) ? other : best));
    return [`What helps most: ${row.elasticity < 0 ? "10 % more" : "10 % less"} ${row.words ?? row.parameter} would shorten the step by about `,
      row.change_10_percent_better === undefined ? figureOf(percent(gain(row)), row.elasticity, `/sensitivity/${row.i}/elasticity`)
        : figureOf(percent(gain(row)), row.change_10_percent_better, `/sensitivity/${row.i}/change_10_percent_better`), "."];
  }
  const bounds = [
    ["faster kernels (precision, shapes, the GPU itself) work on the ", r.compute_s, "/compute_s", " that they take"],
    ["hiding or speeding up communication saves up to ", r.exposed_communication_s, "/exposed_communication_s", " and what kernels gain without it beside them"],
    ["a shorter pipeline bubble (more microbatches, interleaving) saves at most ", r.bubble_s, "/bubble_s", ""],
    ["even ranks save at most ", r.straggler_wait_s, "/straggler_wait_s", ""],
    ["cheaper launches save at most ", r.idle_s, "/idle_s", ""],
  ].filter(([, seconds]) => seconds > 0.005 * r.step_time_s).sort((a, b) => b[1] - a[1]).slice(0, 2);
  if (bounds.length === 0) return null;
  const said = bounds.flatMap(([words, seconds, at, more], i) => [i > 0 ? "; " : "", words, figureOf(time(seconds), seconds, at), more]);
  return ["What would help most: ", ...said, "."];
}

// Beside the first of the steps that it is compared with.
function whatChanged(r) {
  const other = r.compared?.[0];
  if (!other?.step_time_s) return null;
  const change = r.step_time_s / other.step_time_s - 1;
  const words = Math.abs(change) < 5e-4 ? "As long as" : `${percent(Math.abs(change))} ${change < 0 ? "shorter" : "longer"} than`;
  return [`${words} ${other.name}, whose step takes `, figureOf(time(other.step_time_s), other.step_time_s, "/compared/0/step_time_s"), "."];
}

export const answerOf = (r) => [whetherItFits(r), howLong(r), whatLimits(r), whatHelps(r), whatChanged(r)];

export function subtitleOf(r) {
  const where = r.hosts ? ` in ${count(r.hosts, "host")}` : "";
  return `${count(r.ranks, "GPU")}${where}, calibration ${r.inputs.calibration}, seed ${r.inputs.seed}`;
}
