// The critical path in words: what the step's length is made of, one thing after the other.
import { section, behind } from "../chart.js";
import { h } from "../dom.js";
import { column, rowsAt, table } from "../table.js";
import { count, integer, percent, time, words } from "../format.js";

const kSentences = 8;
const kMatters = 0.005;

const name = (s) => (s.phase && s.phase !== "none" ? `${s.phase} ` : "") + (s.what === "compute" ? "compute" : words(s.what));

/** Segments of the same kind on the same rank that follow each other, told as one. */
export function runsOf(path) {
  const runs = [];
  for (const s of path) {
    const last = runs[runs.length - 1];
    if (last && last.phase === s.phase && last.rank === s.rank) {
      last.parts.set(s.what, (last.parts.get(s.what) ?? 0) + s.end_s - s.start_s);
      last.end_s = s.end_s;
      last.count += 1;
    } else {
      runs.push({ phase: s.phase, rank: s.rank, parts: new Map([[s.what, s.end_s - s.start_s]]), start_s: s.start_s, end_s: s.end_s, count: 1 });
    }
  }
  return runs;
}

function shares(path) {
  const sums = new Map();
  for (const s of path) {
    const known = sums.get(name(s)) ?? { name: name(s), seconds: 0, count: 0 };
    known.seconds += s.end_s - s.start_s;
    known.count += 1;
    sums.set(name(s), known);
  }
  return [...sums.values()].sort((a, b) => b.seconds - a.seconds);
}

function runText(run) {
  const parts = [...run.parts].sort((a, b) => b[1] - a[1]).filter(([, seconds]) => seconds > 0).slice(0, 3);
  const phase = run.phase && run.phase !== "none" ? `${run.phase}: ` : "";
  return `rank ${integer(run.rank)}, ${phase}${parts.map(([what, seconds]) => `${words(what)} ${time(seconds)}`).join(", ")}`;
}

export function criticalPath(r, path) {
  if (path.length === 0) return null;
  const kinds = shares(path);
  const ranks = new Set(path.map((s) => s.rank)).size;
  const covered = path.reduce((sum, s) => sum + s.end_s - s.start_s, 0);
  const runs = runsOf(path);
  const told = runs.filter((run) => run.end_s - run.start_s > kMatters * r.step_time_s);
  const longest = [...path].sort((a, b) => b.end_s - b.start_s - (a.end_s - a.start_s)).slice(0, 5);
  const rows = rowsAt(path, "/critical_path");
  return section("What the step’s length hangs on", "critical-path",
    `The critical path: each operation on it started when the one before it ended. ${count(path.length, "operation")} on ${count(ranks, "rank")}; shortening anything else does not shorten the step.`,
    h("ul", { class: "notes" },
      h("li", {}, "It consists of ", kinds.slice(0, 6).map((k, i) => `${i > 0 ? ", " : ""}${k.name} ${time(k.seconds)} (${percent(k.seconds / covered)})`).join(""),
        kinds.length > 6 ? `, and ${count(kinds.length - 6, "more kind")}.` : "."),
      told.length > 1 && told.length <= kSentences ? h("li", {}, "In order: ", told.map(runText).join("; then "), ".")
        : told.length > kSentences ? h("li", {}, `It goes back and forth ${count(runs.length - 1, "time")}. The longest stretches: `,
          [...told].sort((a, b) => b.end_s - b.start_s - (a.end_s - a.start_s)).slice(0, kSentences).sort((a, b) => a.start_s - b.start_s).map((run) => `at ${time(run.start_s)} ${runText(run)}`).join("; "), ".") : null,
      h("li", {}, "Its longest single operations: ", longest.map((s) => `${s.operation} on rank ${integer(s.rank)}, ${time(s.end_s - s.start_s)}`).join("; "), ".")),
    behind(table([column("rank", { key: "rank" }), column("operation", { key: "operation" }), column("what", { key: "what" }),
      column("phase", { key: "phase" }), column("started by", { key: "waits_for" }), column("start", { key: "start_s", unit: "s", format: time }),
      column("end", { key: "end_s", unit: "s", format: time }), column("takes", { value: (s) => s.end_s - s.start_s, unit: "s", format: time })],
    rows, { name: "critical-path", most: 15 }), "critical path", "All operations on it"));
}
