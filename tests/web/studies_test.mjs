import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { both, chartsAreWhole, figuresEqual, fitsEverywhere, opened, runs, withRecord, wordsOf } from "./support.mjs";
import { studyRecord } from "./study_record.mjs";

const kStudy = { schema: "busbar.study/1", name: "Two clusters", model: { preset: "gpt2" }, batch: { sequence: 1024, global: 64 }, tokens: "1e10 tokens",
  clusters: [{ name: "A100", topology: { hosts: { type: "dgx-a100" }, fabric: { family: "rail-optimized" } }, gpus: "8:32:2", price: "1.5 USD/GPU-hour", power: "6.5 kW/host" },
    { name: "H100", topology: { hosts: { type: "dgx-h100" }, fabric: { family: "rail-optimized" } }, gpus: [8, 16], price: "2.5 USD/GPU-hour", power: "10.2 kW/host" }],
  failures: { mtbf: "50000 h/GPU", storage: "1 GB/s", restart: "5 min" }, search: { simulate: 4 } };

export const cases = {
  "a study shows its answer, its front, its growth and what was left out": async (context) => {
    const record = studyRecord();
    const page = withRecord(context, record);
    const { tab, close } = await opened(context, page);
    await figuresEqual(tab, record, 100);
    const charts = await chartsAreWhole(tab);
    for (const id of ["pareto", "scaling", "splits", "cost", "sensitivity"]) assert.ok(charts.includes(`${id}-chart`), id);
    const answer = await tab.textContent(".answer");
    assert.ok(answer.includes(record.clusters[record.best].candidates[0].layout) && answer.includes(record.changes[0]));
    assert.ok((await tab.textContent("#excluded")).includes("the answer is proven"));
    assert.ok((await tab.textContent("#excluded")).includes("power: 5.2 MW of 5 MW"));
    await close();
    await fitsEverywhere(context, page);
  },

  "the page of plan has the figures of its JSON, and what Markdown and CSV say": async (context) => {
    writeFileSync(join(context.folder, "study.json"), JSON.stringify(kStudy));
    runs(context, "plan", ["study.json", "-o", "record.json", "-o", "page.html", "-o", "report.md", "-o", "layouts.csv", "--quiet"]);
    const read = (name) => readFileSync(join(context.folder, name), "utf8");
    const record = JSON.parse(read("record.json"));
    const { tab, close } = await opened(context, join(context.folder, "page.html"));
    await figuresEqual(tab, record, 150);
    const charts = await chartsAreWhole(tab);
    for (const id of ["pareto", "scaling", "splits", "cost", "sensitivity"]) assert.ok(charts.includes(`${id}-chart`), id);
    const best = record.clusters[record.best];
    const page = (await tab.textContent("#page")).replaceAll("\u00a0", " ");
    const markdown = read("report.md");
    const csv = read("layouts.csv");
    const said = (words) => assert.ok(page.toLowerCase().includes(words.toLowerCase()) && markdown.includes(words), words);
    [...record.changes, ...record.risks, best.candidates[0].layout].forEach(said);
    assert.ok(record.changes.length > 1 && record.risks.length > 0);
    for (const cluster of record.clusters)
      for (const { reason, count } of cluster.search.exclusions) assert.ok(markdown.includes(reason) && count > 0, reason);
    // Of each simulated layout one line, with the step to nine digits.
    const lines = csv.trim().split("\n").slice(1);
    const steps = record.clusters.flatMap((cluster) => cluster.candidates.map((c) => c.step_time_s));
    assert.equal(lines.length, steps.length);
    lines.forEach((line, i) => assert.ok(Math.abs(Number(line.match(/",([\d.e+-]+),/)[1]) / steps[i] - 1) < 1e-8, line));
    // Marks of all assumptions are one of three.
    assert.ok(record.assumptions.every((a) => ["measured", "fitted", "assumed"].includes(a.origin)));
    assert.equal(await tab.locator("#assumptions .mark").count() > 3, true);
    // A sentence that says that its numbers are fitted is marked so; times are told in units that people use.
    for (const { value, origin } of record.assumptions) assert.equal(/fitted/.test(value) && origin !== "fitted", false, value);
    assert.equal(record.assumptions.find((a) => a.what === "time between failures").value, "5.71 years per GPU");  // 50000 h
    assert.ok(csv.split("\n")[0].includes(",cost_USD,cost_per_1e12_tokens_USD,"));
    assert.doesNotMatch(page, /Show all 1 rows/);
    // With the figures of one cluster, the front is of no layout that another beats in time, memory and cost.
    const of = ({ cluster, layout }) => record.clusters[cluster].candidates[layout];
    const all = record.clusters.flatMap((cluster) => cluster.candidates);
    for (const point of record.front) {
      const f = of(point);
      assert.ok(!all.some((c) => c.train_s < f.train_s && c.memory_bytes < f.memory_bytes && c.cost < f.cost), f.layout);
    }
    await close();
    await fitsEverywhere(context, join(context.folder, "page.html"));
  },

  "a plan in which nothing qualifies has a page that says why": async (context) => {
    const study = { ...kStudy, constraints: { deadline: "1 s" } };
    writeFileSync(join(context.folder, "hopeless.json"), JSON.stringify(study));
    const { record, page } = both(context, "plan", ["hopeless.json"], [4]);
    const { tab, close } = await opened(context, page);
    await figuresEqual(tab, record, 10);
    assert.ok((await tab.textContent(".answer")).includes("Nothing qualifies"));
    assert.ok((await tab.textContent("#page")).includes(record.clusters[0].why_not));
    // The closest is named with its figure, which follows from its best layout.
    const misses = record.clusters.map((cluster) => cluster.candidates[0].train_s / 1 - 1);
    const closest = misses.indexOf(Math.min(...misses));
    record.clusters.forEach((cluster, i) => assert.ok(Math.abs(cluster.misses / misses[i] - 1) < 1e-12));
    const { name, why_not } = record.clusters[closest];
    assert.match(why_not, /^takes .* of 1 s, \d+ times as long$/);
    const answer = await wordsOf(tab, ".answer");
    assert.ok(answer.includes(`The closest is `) && answer.includes(`${name}: ${why_not}.`), answer);
    // What it breaks stands where a reader at a desk sees it.
    const heads = await tab.$$eval("#clusters th", (list) => list.map((e) => [e.textContent, e.getBoundingClientRect().right]));
    assert.ok(heads.find(([text]) => text === "breaks")[1] <= 1280);
    await close();
  },

  "a plan without a layout that fits names the one that comes closest": async (context) => {
    const { failures, ...rest } = kStudy;
    const study = { ...rest, model: { preset: "llama-3.1-405b" }, batch: { sequence: 8192, global: 64 }, clusters: [{ ...kStudy.clusters[0], gpus: [8] }] };
    writeFileSync(join(context.folder, "fat-study.json"), JSON.stringify(study));
    const { record, page } = both(context, "plan", ["fat-study.json"], [4]);
    const { least_bytes, usable_bytes, least_layout } = record.clusters[0].search;
    assert.ok(least_bytes > usable_bytes && Math.abs(record.clusters[0].misses - (least_bytes / usable_bytes - 1)) < 1e-12);
    const { tab, close } = await opened(context, page);
    await figuresEqual(tab, record, 0);
    const answer = await wordsOf(tab, ".answer");
    assert.ok(answer.includes(`${least_layout}, which needs least, takes ${(least_bytes / 1e9).toFixed(1)} GB of the`), answer);
    await close();
  },

  "a study without tokens, costs or an answer has a page": async (context) => {
    const record = studyRecord();
    for (const cluster of record.clusters)
      for (const candidate of cluster.candidates) for (const key of ["train_s", "gpu_hours", "cost", "cost_per_1e12_tokens", "energy_J", "mfu"]) delete candidate[key];
    delete record.tokens;
    const bare = await opened(context, withRecord(context, record));
    await figuresEqual(bare.tab, record, 60);
    await bare.close();
    const none = { ...record, clusters: record.clusters.map((c) => ({ ...c, candidates: [] })), best: null, runner_up: null, front: [], curves: [] };
    const empty = await opened(context, withRecord(context, none));
    assert.ok((await empty.tab.textContent(".answer")).includes("Nothing qualifies"));
    await empty.close();
  },

  "sensitivities are drawn, and the largest is the advice": async (context) => {
    const { record, page } = withSensitivity(context);
    const { tab, close } = await opened(context, page);
    await figuresEqual(tab, record, 15);
    assert.ok((await chartsAreWhole(tab)).includes("sensitivity-chart"));
    // Not the batch: a step with less of it does less.
    assert.ok((await tab.textContent(".answer")).replaceAll("\u00a0", " ").includes("10 % more rdma bandwidth would shorten the step by about 3.1 %"));
    await close();
  },

  "a step's own sensitivities are the page's": async (context) => {
    const { record, page } = both(context, "simulate", ["--topology", "dgx2x8.json", "--workload", "fsdp7b.json", "--set", "fabric.nic=50 Gb/s", "--sensitivity"]);
    const { tab, close } = await opened(context, page);
    await figuresEqual(tab, record, 60);
    const tools = record.sensitivity.filter((row) => row.change_10_percent_better !== undefined);
    const best = tools.reduce((a, b) => (b.change_10_percent_better < a.change_10_percent_better ? b : a));
    assert.ok((await wordsOf(tab, ".answer")).includes(best.words));
    const rows = await tab.$$eval("#sensitivity tbody tr td:first-child", (list) => list.map((e) => e.textContent));
    for (const { parameter, words } of record.sensitivity) assert.ok(rows.includes(words) && !rows.includes(parameter), words);
    await close();
  },

  "a user's own step beside its prediction": async (context) => {
    writeFileSync(join(context.folder, "m.json"), JSON.stringify({ schema: "busbar.measured/1", source: "x", origin: "measured-here", steps: [{ step_time_s: 0.45 }] }));
    const { record, page } = both(context, "validate", ["--topology", "dgx2x8.json", "--workload", "fsdp7b.json", "--measured", "m.json", "--tolerance", "10%"]);
    const { tab, close } = await opened(context, page);
    await figuresEqual(tab, record, 8);
    assert.match((await tab.textContent(".answer")).replaceAll("\u00a0", " "), /The predicted step time is off by −4\.7 %, within the tolerance of 10\.0 %/);
    await close();
    await fitsEverywhere(context, page);
  },
};

function withSensitivity(context) {
  const record = { schema: "busbar.result/1", version: "0.1.0", model_version: "2", name: "step", cluster: "cluster", inputs: { topology: "t", topology_digest: "0", calibration: "default", seed: 1, settings: {}, parameters: [] },
    ranks: 16, hosts: 2, last_rank: 0, step_time_s: 1, compute_s: 0.6, communication_s: 0.5, exposed_communication_s: 0.4, bubble_s: 0, straggler_wait_s: 0, idle_s: 0, exposed_by_group: { dp: 0.4 }, bubble_of_step: 0, bubble_of_ideal: 0,
    compute_imbalance: 1, roles: [], collectives: [], links: [], critical_path: [], timeline: [], assumptions: [], warnings: [{ code: "x", text: "a warning" }],
    sensitivity: [{ parameter: "matmul efficiency", elasticity: -0.2 }, { parameter: "rdma bandwidth", elasticity: -0.31 }, { parameter: "nvlink latency", elasticity: 0.004 }, { parameter: "global batch", elasticity: 0.9 }] };
  return { record, page: withRecord(context, record) };
}
