"""What is measured: the table of workloads, their sizes and targets."""
import dataclasses
from typing import Callable

import workloads as w

# `simulate`'s words for one collective on a machine without protocol effects.
_IDEAL = ["--calibration", "ideal"]
_RING = ["--collective", "all_reduce", "--sizes", "1G:1G:2", "--algorithm", "ring", "--no-symmetry"] + _IDEAL
_ALL_PAIRS = ["--collective", "all_to_all", "--sizes", "64M:64M:2"] + _IDEAL


@dataclasses.dataclass(frozen=True)
class Target:
    seconds: float
    MiB: float | None = None


@dataclasses.dataclass(frozen=True)
class Case:
    key: str
    title: str
    topology: Callable[[int], dict]
    sizes: tuple[int, ...]
    step: Callable[[int], dict] | None = None
    options: tuple[str, ...] | list[str] = ()
    simgrid: str | None = None  # simgrid_bench's word for it
    targets: dict[int, Target] = dataclasses.field(default_factory=dict)
    quick: tuple[int, ...] = ()  # the sizes of --quick; () leaves the case out
    fit_from: int = 0  # growth is fitted over the sizes from this one on


CASES = (
    Case("W1", "ring all_reduce of 1 GiB, one switch", w.one_switch, (8, 64, 512, 1024, 4096, 16384),
         options=_RING, simgrid="ring", targets={16384: Target(0.1, 100)}, quick=(8, 64), fit_from=1024),
    Case("W1h", "the same on hosts of 8 with one NIC each", w.two_tier, (8, 64, 512, 1024, 4096, 16384),
         options=_RING, quick=(64,), fit_from=1024),
    Case("W2", "all_to_all of 64 MiB per rank, one switch", w.one_switch, (8, 64, 128, 256, 512, 1024),
         options=_ALL_PAIRS, simgrid="all_pairs", targets={1024: Target(0.12)}, quick=(8, 64), fit_from=64),
    Case("W3", "FSDP step of 32 blocks of 416 MiB (436 MB), one switch", w.one_switch, (16, 64, 128, 256, 512, 1024),
         w.fsdp, _IDEAL + ["--no-symmetry"], "fsdp", {1024: Target(0.5)}, quick=(16,), fit_from=16),
    Case("W4", "64 rings of 8 ranks over a 4:1 spine", w.spine, (512,), w.spine_rings, _IDEAL, "spine",
         {512: Target(0.01)}, quick=(512,)),
    Case("W5", "405B step, TP 8, PP 16, 16 microbatches", w.cluster, (1024, 4096, 16384, 65536, 131072),
         w.dense_step, targets={131072: Target(0.5, 300e6 / 2**20)}, quick=(1024,), fit_from=1024),
    Case("W5m", "W5 with 128 microbatches", w.cluster, (131072,), w.long_dense_step,
         targets={131072: Target(0.8)}),
    Case("W5s", "W5 with 100 stragglers", w.cluster_with_stragglers, (131072,), w.dense_step,
         targets={131072: Target(15)}),
    Case("W5l", "W5 with leaves of 20 hosts", w.cluster_with_odd_leaves, (131072,), w.dense_step,
         targets={131072: Target(6)}),
    Case("W5x", "W5 on a million GPUs", w.cluster, (1048576,), w.dense_step,
         targets={1048576: Target(5, 2e9 / 2**20)}),
    Case("W6", "DeepSeek-V3 step, EP 64, PP 16, 16 microbatches", w.cluster, (1024, 4096, 16384), w.expert_step,
         quick=(1024,), fit_from=1024),
    Case("W7", "W5 with a slow NIC and three stragglers", w.cluster_with_slow_parts, (1024, 16384, 131072),
         w.dense_step, targets={131072: Target(1)}, quick=(1024,), fit_from=1024),
)

RATIO_TARGET = 1000  # against SimGrid, at the largest size that both finish
RATIO_CASES = ("W1", "W2", "W3")
AGREEMENT_TARGET = 0.01  # of the simulated times
GROWTH_TARGET = 1.1
QUEUE_TARGET, END_TO_END_TARGET = 5e6, 1e6  # events per second
