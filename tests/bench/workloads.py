"""The benchmark's systems and steps, as input files of `simulate`.

Links of 50 GB/s and 1 us from rank to rank, half of it in each rank's cable. simgrid_bench.cpp holds the same.
"""

GPUS_PER_HOST = 8
TP, PP = 8, 16
FSDP_BLOCKS = 32
BLOCK = "416 MiB"  # 436 MB, in whole chunks for 1,024 ranks
RING_RANKS, RINGS, RANKS_PER_LEAF = 8, 64, 32


def _topology(devices, links):
    return {"schema": "busbar.topology/1", "name": "benchmark", "devices": devices, "links": links}


def _cable(a, b, bandwidth="50 GB/s", latency="0.5 us", kind="rdma"):
    return {"from": a, "to": b, "bandwidth": bandwidth, "latency": latency, "type": kind}


def _gpu(i, host):
    return {"id": f"g{i}", "kind": "gpu", "host": f"h{host}"}


def one_switch(ranks):
    """Each GPU with a cable to the one switch."""
    devices = [_gpu(i, i) for i in range(ranks)] + [{"id": "switch", "kind": "switch"}]
    return _topology(devices, [_cable(f"g{i}", "switch") for i in range(ranks)])


def two_tier(ranks):
    """Hosts of 8 GPUs at 450 GB/s, and one NIC of 50 GB/s per host to a switch."""
    devices, links = [{"id": "switch", "kind": "switch"}], []
    for host in range(ranks // GPUS_PER_HOST):
        devices += [_gpu(i, host) for i in range(host * GPUS_PER_HOST, (host + 1) * GPUS_PER_HOST)]
        devices += [{"id": f"s{host}", "kind": "nvswitch", "host": f"h{host}"},
                    {"id": f"n{host}", "kind": "nic", "host": f"h{host}"}]
        links += [_cable(f"g{i}", f"s{host}", "450 GB/s", kind="nvlink")
                  for i in range(host * GPUS_PER_HOST, (host + 1) * GPUS_PER_HOST)]
        links += [_cable(f"s{host}", f"n{host}", "450 GB/s", "0 s", "pcie"),
                  _cable(f"n{host}", "switch", latency="0 s")]
    return _topology(devices, links)


def spine(_ranks):
    """16 leaves of 32 GPUs, each with a quarter of its GPUs' bandwidth to the spine."""
    ranks = RING_RANKS * RINGS
    devices = [_gpu(i, i) for i in range(ranks)] + [{"id": "spine", "kind": "switch"}]
    links = [_cable(f"g{i}", f"leaf{i // RANKS_PER_LEAF}") for i in range(ranks)]
    for leaf in range(ranks // RANKS_PER_LEAF):
        devices.append({"id": f"leaf{leaf}", "kind": "switch"})
        links.append(_cable(f"leaf{leaf}", "spine", f"{RANKS_PER_LEAF * 50 // 4} GB/s", "0 s"))
    return _topology(devices, links)


def _trace(groups, bindings, ops):
    return {"schema": "busbar.trace/1", "name": "benchmark", "groups": groups,
            "programs": {"p": {"ops": ops}},
            "bindings": [{"ranks": ranks, "program": "p", "groups": {"dp": group}} for ranks, group in bindings]}


def _collective(name, op, size):
    return {"id": name, "op": op, "stream": "s", "group": "dp", "bytes": size, "type": "bf16"} | (
        {} if op == "all_gather" else {"reduction": "sum"})


def spine_rings(_ranks):
    """64 all_reduces of 1 GiB, each over 8 ranks on 8 leaves."""
    groups = {}
    for ring in range(RINGS):
        first = ring // RANKS_PER_LEAF * RING_RANKS
        groups[f"r{ring}"] = [(first + place) * RANKS_PER_LEAF + ring % RANKS_PER_LEAF for place in range(RING_RANKS)]
    return _trace(groups, [(ranks, ring) for ring, ranks in groups.items()],
                  [_collective("x", "all_reduce", "1 GiB")])


def fsdp(ranks):
    """Forward: gather a block, compute it. Backward: gather it again, compute, scatter its gradients."""
    def compute(name, duration):
        return {"id": name, "op": "compute", "stream": "s", "duration": duration}
    ops = []
    for block in range(FSDP_BLOCKS):
        ops += [_collective(f"g{block}", "all_gather", BLOCK), compute(f"f{block}", "10 ms")]
    for block in range(FSDP_BLOCKS):
        ops += [_collective(f"h{block}", "all_gather", BLOCK), compute(f"b{block}", "20 ms"),
                _collective(f"s{block}", "reduce_scatter", BLOCK)]
    everyone = f"0-{ranks - 1}"
    return _trace({"all": everyone}, [(everyone, "all")], ops)


def cluster(ranks, faults=(), **fabric):
    """DGX H100 hosts, rail-optimised."""
    return {"schema": "busbar.topology/1", "name": "cluster",
            "hosts": {"count": ranks // GPUS_PER_HOST, "type": "dgx-h100"},
            "fabric": {"family": "rail-optimized", "tiers": 3} | fabric,
            "faults": list(faults)}


def cluster_with_slow_parts(ranks):
    """One slow NIC and three slow GPUs, on hosts spread over the cluster."""
    hosts = ranks // GPUS_PER_HOST
    at = [hosts * part // 256 for part in (1, 14, 62, 5)]
    return cluster(ranks, [{"link": f"h{at[0]}.nic3->h{at[0]}.pcie3", "bandwidth": "50%"},
                           {"device": f"h{at[1]}.gpu1", "compute": "80%"},
                           {"device": f"h{at[2]}.gpu7", "compute": "90%"},
                           {"device": f"h{at[3]}.gpu0", "compute": "95%"}])


def cluster_with_stragglers(ranks):
    """100 slow GPUs, no two alike, each on a host of its own."""
    hosts = ranks // GPUS_PER_HOST
    return cluster(ranks, [{"device": f"h{i * hosts // 100}.gpu{i % GPUS_PER_HOST}", "compute": f"{80 + i / 10}%"}
                           for i in range(100)])


def cluster_with_odd_leaves(ranks):
    """Leaves of 20 hosts, which do not divide the placement."""
    return cluster(ranks, hosts_per_leaf=20)


def dense_step(ranks, microbatches=16):
    """Llama 3.1 405B with TP 8, PP 16, and DP over the rest."""
    dp = ranks // (TP * PP)
    return {"schema": "busbar.workload/1", "name": "405B", "model": {"preset": "llama-3.1-405b"},
            "batch": {"sequence": 8192, "micro": 1, "global": dp * microbatches},
            "parallel": {"tp": TP, "pp": PP, "dp": dp, "sharding": "distributed", "sequence_parallel": True}}


def long_dense_step(ranks):
    return dense_step(ranks, microbatches=128)


def expert_step(ranks):
    """DeepSeek-V3 with EP 64, PP 16: its catalogue file's settings."""
    dp = ranks // PP
    return {"schema": "busbar.workload/1", "name": "DeepSeek-V3", "model": {"preset": "deepseek-v3"},
            "batch": {"sequence": 4096, "micro": 1, "global": dp * 16},
            "parallel": {"pp": PP, "dp": dp, "ep": 64, "sharding": "zero1"},
            "precision": {"compute": "fp8"}, "recompute": "full", "overlap": {"ep": True}, "moe": {"node_limit": 4}}
