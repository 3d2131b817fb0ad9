"""The PyTorch side of step.py: times eager training steps of one model and prints JSON. Run by a Python that has torch.

    torch_step.py MODEL BATCH THREADS SECONDS
"""

import json
import statistics
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 10, 5), nn.Conv2d(10, 20, 5)
        self.conv2_drop, self.fc1, self.fc2 = nn.Dropout2d(), nn.Linear(320, 50), nn.Linear(50, 10)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(self.conv2_drop(self.conv2(x)), 2))
        x = F.relu(self.fc1(x.view(-1, 320)))
        return F.log_softmax(self.fc2(F.dropout(x, training=self.training)), dim=1)


def mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10),
                         nn.LogSoftmax(1))


def main():
    name, batch, threads, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    model = ConvNet() if name == "mnist" else mlp()
    momentum = {"momentum": 0.9} if name == "mnist" else {}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001, **momentum)
    x, y = torch.randn(batch, 1, 28, 28), torch.randint(0, 10, (batch,))

    def step():
        loss = F.nll_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    for _ in range(20):
        step()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        started = time.perf_counter()
        step()
        times.append((time.perf_counter() - started) * 1e3)
    print(json.dumps({"median_ms": statistics.median(times), "steps": len(times), "torch": torch.__version__}))


if __name__ == "__main__":
    main()
