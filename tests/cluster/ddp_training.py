"""Data-parallel training of a stack of equal layers over Gloo, profiled: what every rank did goes to a file of its own.

Started by mpirun, which says who is who. Needs PyTorch; nothing of it is downloaded.

    ddp_training.py --folder OUT --meet tcp://10.201.0.1:29533 --interface eth0 --bucket-mib 2
"""

import argparse
import os
import pathlib

import torch
import torch.distributed
from torch.autograd.profiler import profile, record_function
from torch.nn.parallel import DistributedDataParallel

WARM_UP = 3  # DDP sorts its buckets anew after the first step


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--meet", required=True, help="where rank 0 listens")
    parser.add_argument("--interface", required=True, help="the network interface of every host")
    parser.add_argument("--bucket-mib", type=int, default=25)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=6)
    return parser.parse_args()


def main():
    chosen = options()
    rank, ranks = (int(os.environ["OMPI_COMM_WORLD_" + what]) for what in ("RANK", "SIZE"))
    torch.set_num_threads(1)
    torch.manual_seed(rank)
    os.environ["GLOO_SOCKET_IFNAME"] = chosen.interface
    torch.distributed.init_process_group("gloo", init_method=chosen.meet, rank=rank, world_size=ranks)
    layers = [torch.nn.Linear(chosen.width, chosen.width, bias=False) for _ in range(chosen.layers)]
    model = DistributedDataParallel(torch.nn.Sequential(*layers), bucket_cap_mb=chosen.bucket_mib)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    samples = torch.randn(chosen.batch, chosen.width)

    def step():
        optimizer.zero_grad()
        model(samples).square().mean().backward()
        optimizer.step()

    for _ in range(WARM_UP):
        step()
    torch.distributed.barrier()
    with profile() as trace:
        for number in range(chosen.steps):
            with record_function(f"ProfilerStep#{number}"):
                step()
    trace.export_chrome_trace(str(chosen.folder / f"rank{rank}.json"))


if __name__ == "__main__":
    main()
