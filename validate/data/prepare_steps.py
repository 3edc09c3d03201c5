#!/usr/bin/env python3
"""Turns tables of published training steps into rows that state their workload in Busbar's own terms.

usage: prepare_steps.py FOLDER        FOLDER holds steps.csv, steps-sweeps.csv and memory-fit.csv

Writes steps/<source>.csv and memory/<source>.csv beside this file. Every rule that fills in what a table
leaves blank, or says in words, is a function or a table below with its reason; steps/README.md lists them by
source. Nothing here depends on a prediction.
"""

import collections
import csv
import pathlib
import sys

HERE = pathlib.Path(__file__).parent

COLUMNS = """id gpu host hosts gpus_per_host nvlink_domain fabric nic_Gbps nics gpu_model gpu_power_W wire launch_member_us launch_message_us
framework model preset layers hidden ffn_hidden heads kv_heads head_dim vocab gated_mlp tied_embeddings biases
positions experts top_k expert_ffn_hidden shared_experts dense_layers moe_every
sequence micro global tp pp cp ep etp dp sharding shard_size reshard_after_forward sequence_parallel schedule
virtual_stages stages recompute attention overlap_tp compute parameters gradients reduce""".split()
STEP_COLUMNS = COLUMNS + ["measured_s", "measured", "not_simulated", "source", "note"]
MEMORY_COLUMNS = COLUMNS + ["fits", "peak_reserved_bytes", "peak_allocated_bytes", "not_simulated", "source", "note"]

# File, and what rows of a source are called in it. One file per source.
FILES = {
    "NVIDIA dgxc-benchmarking": "dgxc",
    "NVIDIA Megatron-Bridge performance summary": "megatron-bridge",
    "MLPerf Training v3.0 results": "mlperf",
    "MLPerf Training v3.1 results": "mlperf",
    "MLPerf Training v4.1 results": "mlperf",
    "MLPerf Training v5.0 results": "mlperf",
    "MLPerf Training v5.1 results": "mlperf",
    "Megatron-LM SC21 (arXiv 2104.04473)": "megatron-sc21",
    "Reducing activation recomputation (arXiv 2205.05198)": "korthikanti",
    "torchtitan benchmarks": "torchtitan",
    "IBM fms-fsdp README": "fms-fsdp",
    "MosaicML llm-foundry MPT benchmarks": "llm-foundry",
    "BigScience BLOOM layout sweep": "bloom",
    "Aleph Alpha efficient parallelization layouts (arXiv 2311.05610)": "aleph-alpha",
    "Nanotron ultra-scale benchmark sweep": "nanotron",
    "vTrain ground truth (single-node)": "vtrain-one-host",
    "vTrain ground truth (multi-node)": "vtrain-hosts",
}
# vTrain prints neither precision nor, on one host, recomputation: fp16 and full recomputation, as in its rows of
# several hosts and in its paper (Bang et al., MICRO 2024, section IV).
VTRAIN = {"vtrain-one-host", "vtrain-hosts"}
MEGATRON_CORE = {"dgxc", "megatron-bridge", "mlperf"}
FRAMEWORKS = {"nanotron": "nanotron", "torchtitan": "torchtitan", "fms-fsdp": "torchtitan",
              "llm-foundry": "llm-foundry", "aleph-alpha": "aleph-alpha-scaling"}
# Aleph Alpha's rows name their kernels: the framework row that stands for them.
SCALING = (("RMS kernel", "-rms"), ("flash_attentionv1", "-flash1"), ("kernel torch", "-torch"), ("", ""))
# Code from before FlashAttention: scores pass through memory.
UNFUSED = {"megatron-sc21", "korthikanti", "bloom"} | VTRAIN

# Hosts by GPU: the machine that the sources name or that carries this GPU everywhere. Nanotron's hosts are on
# EFA: AWS p5. llm-foundry's A100-40GB hosts have 8 x 200 Gb/s RoCE: the 40 GB host with eight such NICs.
HOSTS = {"A100-80GB": "dgx-a100", "A100-40GB": "azure-ndv4", "H100": "dgx-h100", "H200": "hgx-h200",
         "B200": "hgx-b200", "B300": "hgx-b300", "GB200": "gb200-nvl72", "GB300": "gb300-nvl72"}

# Networks that a source states and the host type does not have by itself: (NICs or blank, Gb/s of each).
# Where only a host's total is printed (fms-fsdp), it is split evenly over eight NICs.
NETWORKS = {"4x100Gb Omni-Path per node": (4, 100), "4x200Gb IB HDR per node": (4, 200), "400Gbps per node": ("", 50),
            "800Gbps per node": ("", 100), "IB HDR 200Gb": ("", 200), "1600Gbps RoCE per node": ("", 200)}

# torchtitan's H100: HBM2e of 2.4 TB/s, limited to 500 W (pytorch/torchtitan, benchmarks/
# llama3_h100_202412_torchtitan.md; docs/performance.md calls those of the 405B model the same).
TORCHTITAN_H100 = {"gpu_model": "H100-SXM5-96GB", "gpu_power_W": 500}

PRECISIONS = {"BF16": "bf16", "FP16": "fp16", "FP8": "fp8", "MXFP8": "fp8", "FP8-CS": "fp8", "FP8-MX": "fp8"}

# Facts of models that the tables do not print. GPT-3, MPT, BLOOM and Nemotron-4 have MLPs of two matrices
# (GELU, GELU, GELU, squared ReLU); Llama, Grok-1, Qwen and GPT-OSS of three, whatever their width.
UNGATED = ("GPT", "MT-NLG", "MPT", "Nemotron4")
# Output layer shared with the embedding. Sources: the models' papers and configs (Brown et al. 2020; Narayanan
# et al. 2021; llm-foundry's mpt_causal_lm; BigScience's tr11 scripts).
TIED = ("GPT3", "GPT-1", "GPT-2", "GPT-5", "GPT-174", "GPT-529", "MT-NLG", "MPT")
HEAD_DIMS = {"GPT-OSS": 64, "Qwen3": 128, "Nemotron4-340B": 192, "Grok-1": 128}
GPT2_VOCABULARY = 50257  # NeMo's and MLPerf's GPT-3 use GPT-2's tokenizer; tensor parallelism pads it
EXTRA = {
    # DeepSeek-V3's latent attention and expert layout are those of its config.json: the preset.
    "DeepSeek-V3": {"preset": "deepseek-v3"},
    # meta-llama/Llama-4-Maverick config.json: every other layer has experts, one of them shared.
    "Llama4-Maverick": {"shared_experts": 1, "dense_layers": 1, "moe_every": 2},
}
LATENT = {"heads": "", "kv_heads": "", "head_dim": "", "hidden": "", "ffn_hidden": "", "experts": "",
          "top_k": "", "expert_ffn_hidden": "", "gated_mlp": "", "tied_embeddings": "", "biases": "",
          "layers": "", "vocab": "", "positions": ""}


def number(text, otherwise=""):
    return int(float(text)) if text not in ("", None) else otherwise


def yes(value):
    return "yes" if value else "no"


def counts(row):
    """Quality A, pre-training, at a known precision that is modelled on its own terms."""
    return (row["quality"] == "A" and row["task"] == "pretrain" and "2p" not in row["schedule"]
            and (row["precision"] in PRECISIONS or FILES.get(row["source"]) in VTRAIN))


def model_columns(row, name):
    """Every dimension of the model. Blank where the format's default is meant."""
    hidden, heads, model = number(row["hidden"]), number(row["n_heads"]), row["model"]
    gpt = model.startswith(UNGATED) and "OSS" not in model
    columns = {
        "model": model, "layers": number(row["n_layers"]), "hidden": hidden, "heads": heads,
        "ffn_hidden": number(row["ffn_hidden"], 4 * hidden), "kv_heads": number(row["n_kv_heads"], heads),
        "head_dim": next((d for m, d in HEAD_DIMS.items() if model.startswith(m)), hidden // heads),
        "vocab": number(row["vocab"], GPT2_VOCABULARY), "gated_mlp": yes(not gpt),
        "tied_embeddings": yes(model.startswith(TIED)), "biases": yes(gpt and name not in ("llm-foundry",)
                                                                      and not model.startswith("Nemotron")),
        # Learned positions: GPT-3's and Megatron's. MPT and BLOOM use ALiBi, Nemotron rotary.
        "positions": 2048 if gpt and name in ("megatron-sc21", "korthikanti", "dgxc", "mlperf")
        and not model.startswith("Nemotron") else "",
    }
    if name == "nanotron":  # parameters printed count the embedding once below hidden 4096 (README)
        columns["tied_embeddings"] = yes(hidden < 4096)
    if row["n_experts"]:
        columns |= {"experts": number(row["n_experts"]), "top_k": number(row["topk"]),
                    "expert_ffn_hidden": number(row["moe_ffn_hidden"])}
    if model in EXTRA:
        columns |= EXTRA[model]
    if columns.get("preset"):
        columns |= LATENT
    return columns


def machine_columns(row, name):
    gpus, per_host, gpu = number(row["n_gpus"]), number(row["gpus_per_node"], 8), row["gpu"]
    host = "aws-p5" if name == "nanotron" else HOSTS[gpu]
    hosts = -(-gpus // per_host)
    columns = {"gpu": gpu, "host": host, "hosts": hosts, "gpus_per_host": min(gpus, per_host),
               # Rack-scale NVLink joins 18 trays of 4 GPUs; jobs of several racks take 16 of each, so that
               # groups of 2^n GPUs stay inside (NVIDIA's recipes: segments of 16).
               "nvlink_domain": "" if "nvl72" not in host else 18 if hosts <= 18 else 16,
               "fabric": "rail-optimized" if hosts > 1 else "none"}
    if name == "torchtitan" and gpu == "H100":
        columns |= TORCHTITAN_H100
    if hosts > 1 and row["inter_link"] in NETWORKS:
        columns["nics"], columns["nic_Gbps"] = NETWORKS[row["inter_link"]]
    if name == "nanotron" and hosts > 1:
        columns["wire"] = "efa"
        columns["launch_member_us"] = launch_of(row, gpus)
    # Every job before the fix loses 0.25 to 0.32 s per message that a stage sends or receives, on 16 as on 512
    # GPUs and whatever the message's size: 4 per microbatch, 2 where there are 2 stages.
    if name == "nanotron" and "before the pipeline fix" in row["notes"]:
        columns["launch_message_us"] = 280000
    return columns


# busbw (GB/s) of the all-gather of 256 MiB that each Nanotron job timed as it started, by GPUs: jobs fall into a
# fast and a slow group, with nothing between. In the slow one every collective takes its ranks 0.2 ms each, however
# few bytes it moves (read off the blocks' times at tp 2 to 16): a property of that machine, of its CPUs more than
# of its network. The fast one shows 0.03 ms for tensor groups across hosts.
FAST_ALL_GATHER = {16: 190, 32: 150, 64: 100, 128: 60, 256: 30, 512: 15}


def launch_of(row, gpus):
    across = number(row["tp"], 1) > 8
    if float(row["job_allgather_GBps"] or 0) < FAST_ALL_GATHER[gpus]:
        return 250 if across else 210
    return 30 if across else ""


def sharding_columns(row, name):
    """none, zero1, zero3, fsdp, hsdp or distributed, by what the source's framework calls them."""
    sharding = row["sharding"]
    shard_size = number(row["shard_size"])
    if name == "megatron-bridge":  # "0" in its FSDP column is printed as DDP; the recipes' optimizer is sharded
        return {"sharding": "fsdp" if sharding == "fsdp" else "distributed"}
    if name in MEGATRON_CORE and sharding == "zero1":
        return {"sharding": "distributed"}
    if name == "llm-foundry" and sharding == "zero2":  # FSDP's SHARD_GRAD_OP keeps parameters after forward
        return {"sharding": "fsdp", "reshard_after_forward": "no"}
    if sharding == "fsdp" and shard_size and shard_size < number(row["dp"]) * number(row["cp"], 1):
        return {"sharding": "hsdp", "shard_size": shard_size}
    if sharding == "hsdp":
        return {"sharding": "hsdp", "shard_size": shard_size}
    return {"sharding": {"ddp": "none", "": "none"}.get(sharding, sharding)}


def stage_columns(row, siblings):
    """NeMo's tables leave virtual stages blank in some rows: then the number that the same model on the same
    number of stages has in the source's other rows (on the same GPU, where it has one there)."""
    vp, pp = number(row["vp"]), number(row["pp"], 1)
    if pp == 1:
        return {"pp": 1, "virtual_stages": 1, "schedule": "1f1b"}
    if vp == "":
        for key in ((row["source"], row["model"], pp, row["gpu"]), (row["source"], row["model"], pp)):
            if siblings.get(key):
                vp = siblings[key].most_common(1)[0][0]
                break
    vp = vp or 1
    columns = {"pp": pp, "virtual_stages": vp, "schedule": "interleaved" if vp > 1 else "1f1b"}
    # NeMo counts the embedding and the head as a layer each: with two chunks more than layers, both stand alone.
    if pp * vp == number(row["n_layers"]) + 2:
        columns["stages"] = " ".join(["0"] + ["1"] * number(row["n_layers"]) + ["0"])
    return columns


def compiled(row):
    """torchtitan's tables of 2024 name torch.compile where it is on, and its configurations switch it off; those
    of 2025 print commands that switch it on. float8 is meant to be compiled (docs/float8.md), also where the
    table of the 405B model names float8 alone."""
    return "compile" in row["notes"] or row["precision"] == "FP8" or row["year"] == "2025"


def framework_columns(row, name):
    """What runs the step, and the types that it keeps. Megatron accumulates and reduces gradients in fp32; so
    do Nanotron (fp32_grad_accumulation), BLOOM's bf16 runs (notes), Aleph Alpha's and torchtitan (its
    mixed_precision_reduce is float32). fms-fsdp, MaxText and DeepSpeed's fp16 stay in the compute type."""
    fp16 = row["precision"] == "FP16"
    deepspeed = row["framework"] in ("Megatron-DeepSpeed", "DeepSpeed ZeRO-3")
    wide = name in MEGATRON_CORE | {"nanotron", "korthikanti", "megatron-sc21", "bloom", "aleph-alpha",
                                    "torchtitan"}
    framework = FRAMEWORKS.get(name, "pytorch")
    if name == "torchtitan" and not compiled(row):
        framework = "torchtitan-eager"
    if row["framework"] == "MaxText":
        framework = "maxtext"
    if name in MEGATRON_CORE and row["framework"] != "MaxText":
        framework = "megatron-core"
    elif name == "bloom" or name in VTRAIN:
        framework = "megatron-deepspeed"
    elif row["framework"] == "Megatron-LM":
        framework = "megatron-lm"
    if name == "aleph-alpha":
        framework += next(end for kernels, end in SCALING if kernels in row["notes"])
    half = "fp16" if fp16 else "bf16"
    kept = "fp32" if wide and not (deepspeed and fp16) and row["framework"] != "MaxText" else half
    return {"framework": framework, "compute": PRECISIONS[row["precision"]], "parameters": half,
            "gradients": kept, "reduce": kept}


def recompute_of(row, name):
    """torchtitan's H200 rows print the command, whose configuration file (llama3_8b.toml) says selective."""
    if name == "torchtitan" and row["gpu"] == "H200":
        return "selective"
    return row["recompute"] or "none"


def attention_of(row, name):
    """Aleph Alpha's rows name their kernel: "torch" and "fused" are not FlashAttention."""
    if name == "aleph-alpha":
        return "fused" if "flash" in row["notes"] else "unfused"
    return "unfused" if name in UNFUSED else "fused"


def sequence_parallel_of(row, name):
    """Blank: Megatron-Bridge's and NeMo's recipes switch it on with tensor parallelism; others have none."""
    if row["sp"]:
        return row["sp"] == "true" and number(row["tp"], 1) > 1
    return name in MEGATRON_CORE and number(row["tp"], 1) > 1


def layout_columns(row, name, siblings):
    tp, ep = number(row["tp"], 1), number(row["ep"], 1)
    etp = number(row["etp"])
    if etp == "" and name == "megatron-bridge":  # its recipes set expert_tensor_parallel_size = 1
        etp = 1
    columns = {"sequence": number(row["seq_len"]), "micro": number(row["micro_batch"], 1),
               "global": number(row["global_batch"]), "tp": tp, "cp": number(row["cp"], 1), "ep": ep,
               "dp": number(row["dp"]), "sequence_parallel": yes(sequence_parallel_of(row, name)),
               "recompute": recompute_of(row, name), "attention": attention_of(row, name),
               # Megatron-Bridge's recipes of dense models overlap tensor parallelism (its guide to performance).
               "overlap_tp": yes("TP comm overlap" in row["overlap"] or "AsyncTP" in row["overlap"]
                                 or (name == "megatron-bridge" and not row["n_experts"]))}
    columns["etp"] = (etp or tp) if row["n_experts"] else ""
    return columns | stage_columns(row, siblings) | sharding_columns(row, name) | framework_columns(row, name)


def why_not(row):
    if row["model"].startswith("Nemotron-H"):
        return "its Mamba layers are not modelled"
    return ""


def step_rows(tables):
    siblings = collections.defaultdict(collections.Counter)
    for row in tables:
        if row["vp"]:
            key = (row["source"], row["model"], number(row["pp"], 1))
            siblings[key][number(row["vp"])] += 1
            siblings[key + (row["gpu"],)][number(row["vp"])] += 1
    files = collections.defaultdict(list)
    for row in filter(counts, tables):
        name = FILES[row["source"]]
        if name in VTRAIN:
            row |= {"precision": "FP16", "recompute": "full"}
        measured = row["measured_step_s"] or row["derived_step_s"]
        files[name].append({"id": row["id"], "measured_s": measured, "not_simulated": why_not(row),
                            "measured": "published" if row["measured_step_s"] else "derived",
                            "source": row["source_loc"], "note": row["notes"]}
                           | machine_columns(row, name) | model_columns(row, name)
                           | layout_columns(row, name, siblings))
    return files


NANOTRON = "gkarfakis19/Rapid-LLM, memory labels of the Nanotron ultra-scale sweep"
# Nanotron's models by hidden size: MLP width, and key heads where the table leaves them blank (those of the
# jobs that fit). Source: the same sweep's table of step times.
NANOTRON_FFN = {2048: 8192, 3072: 8192, 4096: 14336, 8192: 28672, 16384: 53248}


def gibibytes(text):
    """The sweep's "GB" are GiB: without ZeRO, on one stage, peak allocated memory is then 20.0 to 20.1 bytes per
    parameter (bf16 parameter and gradient, fp32 gradient, master and two moments: 2 + 2 + 4 + 4 + 8), and no
    whole number otherwise; and what fits reaches 77.1, just below the 79.1 GiB that PyTorch gets of an H100."""
    return round(float(text) * 2**30) if text else ""


def memory_rows(table):
    for row in table:
        n = {k: number(v) for k, v in row.items() if k in ("hosts", "gpus", "hidden", "layers", "heads",
                                                           "kv_heads", "vocab", "sequence", "micro_batch",
                                                           "accumulation", "dp", "pp", "tp", "zero_stage")}
        hidden, heads = n["hidden"], n["heads"]
        tied = row["tied_embeddings"] == "True" if row["tied_embeddings"] else hidden < 4096
        yield {"id": row["id"], "gpu": "H100", "host": "aws-p5", "hosts": n["hosts"],
               "gpus_per_host": n["gpus"] // n["hosts"], "fabric": "rail-optimized" if n["hosts"] > 1 else "none",
               "framework": "nanotron", "model": f"Llama-like-{row['params_B']}B", "layers": n["layers"],
               "hidden": hidden, "ffn_hidden": NANOTRON_FFN[hidden], "heads": heads,
               "kv_heads": n["kv_heads"] or heads, "head_dim": hidden // heads, "vocab": n["vocab"],
               "gated_mlp": "yes", "tied_embeddings": yes(tied), "biases": "no", "sequence": n["sequence"],
               "micro": n["micro_batch"], "global": n["micro_batch"] * n["accumulation"] * n["dp"],
               "tp": n["tp"], "pp": n["pp"], "cp": 1, "ep": 1, "dp": n["dp"],
               "sharding": "zero1" if n["zero_stage"] else "none", "sequence_parallel": yes(n["tp"] > 1),
               "schedule": "1f1b", "virtual_stages": 1, "recompute": "none", "attention": "fused",
               "overlap_tp": "no", "compute": "bf16", "parameters": "bf16", "gradients": "fp32",
               "reduce": "fp32", "fits": yes(row["label"] == "fits"),
               "peak_reserved_bytes": gibibytes(row["peak_reserved_GB"]),
               "peak_allocated_bytes": gibibytes(row["peak_allocated_GB"]),
               "not_simulated": "", "source": NANOTRON, "note": ""}


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path, columns, rows):
    rows = list(rows)
    assert all(set(row) <= set(columns) for row in rows), path
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"{path.name}: {len(rows)} rows")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    tables = read(folder / "steps.csv") + read(folder / "steps-sweeps.csv")
    for name, rows in sorted(step_rows(tables).items()):
        write(HERE / ("sweeps" if name in VTRAIN else "steps") / f"{name}.csv", STEP_COLUMNS, rows)
    write(HERE / "memory" / "nanotron.csv", MEMORY_COLUMNS, memory_rows(read(folder / "memory-fit.csv")))


if __name__ == "__main__":
    main()
