"""PyTorch on many ranks over gloo. torch_ranks.py ddp|fsdp RANK RANKS PORT THREADS MODEL BATCH SECONDS

ddp is DistributedDataParallel; fsdp shards parameters, gradients and slots, each layer on its own (fully_shard, since PyTorch 2.6).
MODEL: mnist, mnist_mlp, or wide:WIDTH:LAYERS with Adam. BATCH is that of all ranks together. Rank 0 prints one JSON
object: the median of a step, and the peak memory of the process, before and after the model was made.
"""

import json
import os
import statistics
import sys
import time

import torch
import torch.distributed
import torch.nn as nn
import torch.nn.functional as F

import protocol
from torch_peer import MLP, ConvNet


def sharded(net, ranks):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cpu", (ranks,))
    for module in net:
        if isinstance(module, nn.Linear):
            fully_shard(module, mesh=mesh)
    return fully_shard(net, mesh=mesh)


def main():
    style, rank, ranks, port, threads, name, batch, seconds = sys.argv[1:9]
    torch.set_num_threads(int(threads))
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    torch.distributed.init_process_group("gloo", rank=int(rank), world_size=int(ranks))
    before = protocol.peak_rss_mb()
    torch.manual_seed(0)
    local = int(batch) // int(ranks)
    if name.startswith("wide:"):
        width, layers = map(int, name.split(":")[1:])
        net = nn.Sequential(*(part for _ in range(layers) for part in (nn.Linear(width, width), nn.ReLU())))
        x, y = torch.randn(local, width), torch.randn(local, width)
        loss_of = F.mse_loss
    else:
        net = {"mnist": ConvNet, "mnist_mlp": MLP}[name](0.5)
        x, y, loss_of = torch.randn(local, 1, 28, 28), torch.randint(0, 10, (local,)), F.nll_loss
    model = sharded(net, int(ranks)) if style == "fsdp" else nn.parallel.DistributedDataParallel(net)
    optimizer = (torch.optim.Adam(model.parameters(), lr=1e-4) if name.startswith("wide:") else
                 torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9))

    def step():
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()

    for _ in range(5):
        step()
    times, goes_on = [], torch.ones(1)
    began = time.perf_counter()
    while goes_on.item():
        started = time.perf_counter()
        step()
        times.append(time.perf_counter() - started)
        if len(times) % 16 == 0:  # rank 0 says when to end
            goes_on.fill_(time.perf_counter() - began < float(seconds))
            torch.distributed.broadcast(goes_on, 0)
    if rank == "0":
        print(json.dumps({"version": torch.__version__, "median_ms": statistics.median(times) * 1e3,
                          "rss_mb": protocol.peak_rss_mb(), "rss_before_mb": before}))


if __name__ == "__main__":
    main()
