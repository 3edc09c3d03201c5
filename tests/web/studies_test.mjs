import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { both, chartsAreWhole, figuresEqual, fitsEverywhere, opened, withRecord } from "./support.mjs";
import { studyRecord } from "./study_record.mjs";

export const cases = {
  "a study shows its answer, its front, its growth and what was left out": async (context) => {
    const record = studyRecord();
    const page = withRecord(context, record);
    const { tab, close } = await opened(context, page);
    await figuresEqual(tab, record, 100);
    const charts = await chartsAreWhole(tab);
    for (const id of ["pareto", "scaling", "splits"]) assert.ok(charts.includes(`${id}-chart`), id);
    const answer = await tab.textContent(".answer");
    assert.ok(answer.includes(record.clusters[record.best].candidates[0].layout) && answer.includes(record.changes[0]));
    assert.ok((await tab.textContent("#excluded")).includes("the answer is proven"));
    assert.ok((await tab.textContent("#excluded")).includes("power: 5.2 MW of 5 MW"));
    await close();
    await fitsEverywhere(context, page);
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
    assert.ok((await empty.tab.textContent(".answer")).includes("No layout fits"));
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
    assert.ok((await tab.textContent(".answer")).includes(best.parameter));
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
