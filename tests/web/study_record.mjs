// A study made by hand: two kinds of clusters at three sizes, layouts whose figures follow from a few numbers each.

const kFlops = 6 * 70e9 * 4e6;  // of a step: 6 N D, 70 billion parameters, 4 million tokens

function candidate(layout, gpus, { peak, mfu, bubble, exposed, price, memory }) {
  const compute = kFlops / gpus / (peak * mfu);
  const step = compute / (1 - bubble - exposed);
  const train = (15e12 / 4e6) * step / 0.94;
  return { layout, step_time_s: step, compute_s: compute, exposed_communication_s: exposed * step, bubble_s: bubble * step, straggler_wait_s: 0, idle_s: 0, screened_s: 0.97 * step, bound_s: 0.8 * step,
    tokens_per_s: 4e6 / step, tokens_per_s_per_gpu: 4e6 / step / gpus, model_flops_per_s_per_gpu: kFlops / gpus / step, mfu: kFlops / gpus / step / peak,
    memory_bytes: memory, headroom_bytes: 80e9 - memory, goodput: 0.94, train_s: train, gpu_hours: (gpus * train) / 3600, cost: ((gpus * train) / 3600) * price,
    cost_per_1e12_tokens: (((gpus * train) / 3600) * price) / 15, energy_J: gpus * train * 1300 };
}

export function studyRecord() {
  const kinds = [["dgx-h100", 989e12, 2.5], ["hgx-b200", 2250e12, 5.5]];
  const clusters = kinds.flatMap(([name, peak, price]) => [1024, 2048, 4096].map((gpus) => {
    const late = Math.log2(gpus / 1024);
    const of = (layout, more) => candidate(layout, gpus, { peak, mfu: 0.55, price, ...more });
    return { name, variant: "", scaling: "strong", gpus, hosts: gpus / 8, ports: gpus * 2, global_batch: 1024, why_not: gpus === 4096 && name === "dgx-h100" ? "power: 5.2 MW of 5 MW" : "",
      search: { enumerated: 1840, excluded: 1502, screened: 338, simulated: 42, open: 0, capacity_bytes: 80e9, exclusions: [
        { reason: "does not fit the GPU's memory", count: 980, example: "tp 1 pp 1 dp 1024" }, { reason: "tp across hosts", count: 410, example: "tp 16 pp 4 dp 16" }, { reason: "global batch is no multiple", count: 112, example: "tp 2 pp 3" }] },
      failures: { mtbf_s: 50000 * 3600 / gpus, checkpoint_bytes: 840e9, stall_s: 84, write_s: 84, interval_by_young_s: 5400, interval_by_daly_s: 5350, interval_s: 5300, stall_share: 0.016, goodput_by_daly: 0.941,
        goodput_by_simulation: 0.94, waiting_share: 0, failures_drawn: 2012, spares: 1, spares_needed: 4 },
      candidates: [of("tp 4 pp 4 distributed, micro 1", { bubble: 0.06 + 0.03 * late, exposed: 0.03 + 0.02 * late, memory: 61e9 }),
        of("tp 8 pp 2 distributed, micro 1", { bubble: 0.03 + 0.02 * late, exposed: 0.09 + 0.02 * late, memory: 66e9 }),
        of("tp 8 pp 4 distributed, micro 2", { bubble: 0.12 + 0.05 * late, exposed: 0.05, memory: 48e9 }),
        of("fsdp, micro 1", { bubble: 0, exposed: 0.22 + 0.08 * late, memory: 72e9 })] };
  }));
  const curves = kinds.map(([name], k) => {
    const points = [0, 1, 2].map((i) => ({ gpus: clusters[3 * k + i].gpus, tokens_per_s: clusters[3 * k + i].candidates[0].tokens_per_s }));
    return { name, scaling: "strong", knee: 4096, points: points.map((p, i) => ({ ...p, efficiency: (p.tokens_per_s / p.gpus) / (points[0].tokens_per_s / points[0].gpus),
      ...(i > 0 ? { marginal: ((p.tokens_per_s - points[i - 1].tokens_per_s) / (p.gpus - points[i - 1].gpus)) / (points[0].tokens_per_s / points[0].gpus) } : {}) })) };
  });
  return { schema: "busbar.study-result/1", version: "0.1.0", model_version: "2", name: "70B on 15 trillion tokens", model: "llama-3-70b", currency: "USD", objective: "cost", parameters: 70e9,
    active_parameters: 70e9, tokens: 15e12, sequence: 8192, global_batch: 1024, clusters, curves, front: frontOf(clusters), best: 3, runner_up: 4,
    changes: ["A B200 hour above 5.9 USD would make H100 the cheaper choice.", "With 400 Gb/s in place of 800 Gb/s the answer stays."],
    risks: ["Kernel efficiencies of B200 rest on tables of one cluster."],
    sensitivity: [{ parameter: "matmul-efficiency", value: "0.71", elasticity: -0.7, elasticity_up: -0.69, elasticity_down: -0.71, change_10_percent_better: -0.064 },
      { parameter: "nic-bandwidth", value: "400 GB/s", elasticity: -0.08, elasticity_up: -0.05, elasticity_down: -0.11, change_10_percent_better: -0.005 },
      { parameter: "global-batch", value: "1024", elasticity: 0.93, elasticity_up: 0.93, elasticity_down: 0.93 }],
    assumptions: [{ what: "price of a GPU hour, dgx-h100", value: "2.5 USD", origin: "assumed", source: "the study file" }, { what: "NVLink efficiency", value: "0.82", origin: "fitted", source: "published nccl-tests tables" },
      { what: "mean time between failures of a GPU", value: "50000 h", origin: "measured", source: "Llama 3 paper, table 5" }] };
}

// No other is at least as good in time, cost and memory, and better in one.
function frontOf(clusters) {
  const list = clusters.flatMap((c, cluster) => c.candidates.map((k, layout) => ({ cluster, layout, figures: [k.train_s, k.cost, k.memory_bytes] })));
  const beats = (a, b) => a.figures.every((x, i) => x <= b.figures[i]) && a.figures.some((x, i) => x < b.figures[i]);
  return list.filter((b) => !list.some((a) => beats(a, b))).map(({ cluster, layout }) => ({ cluster, layout }));
}
