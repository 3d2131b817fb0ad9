"""PyTorch's side of compare.py. torch_peer.py MODEL BATCH THREADS MODE FOLDER

MODE: eager, channels_last, compile or compile_channels_last. What is compiled is the model with its loss; AOTAutograd
compiles the backward of both. The fused SGD is the fastest of PyTorch's on CPUs, a compiled step() of it included.
"""

import functools
import os
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

import protocol


class ConvNet(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 10, 5), nn.Conv2d(10, 20, 5)
        self.fc1, self.fc2 = nn.Linear(320, 50), nn.Linear(50, 10)
        self.p = dropout

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(F.dropout2d(self.conv2(x), self.p), 2))
        x = F.relu(self.fc1(x.reshape(-1, 320)))
        return F.log_softmax(self.fc2(F.dropout(x, self.p)), dim=1)


class MLP(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(784, 128), nn.Linear(128, 64), nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.fc1(x.view(-1, 784)))
        return F.log_softmax(self.fc3(F.relu(self.fc2(x))), dim=1)


class LSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(65, 128, batch_first=True), nn.Linear(128, 65)

    def forward(self, x):
        return self.head(self.lstm(x)[0])


def training(name, x, dropout):
    """A network, its loss and its optimizer's maker."""
    if name.startswith("lstm"):
        return (LSTM(), lambda y, labels: F.cross_entropy(y.flatten(0, 1), labels.flatten()),
                lambda weights: torch.optim.SGD(weights, lr=0.1, momentum=0.9, fused=True))
    if name.startswith(("convnet", "mlp")):
        return ({"convnet": ConvNet, "mlp": MLP}[name.split("-")[0]](dropout), F.nll_loss,
                lambda weights: torch.optim.SGD(weights, lr=0.001, momentum=0.9, fused=True))
    sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "gpu", "peers"))
    from networks import make  # pylint: disable=import-outside-toplevel  # it takes the networks above from here
    if name.startswith("gpt2"):
        return make("gpt2.dl", {}, 0.0)
    if name.startswith("resnet18"):
        return make("resnet18.dl", {"width": 64}, 0.0)
    again = name.endswith("-checkpoint")
    model, *rest = make("transformer.dl", {"width": 384, "heads": 6, "length": x.shape[1], "depth": 6 if again else 2}, 0.0)
    if again:
        for block in model.blocks:
            block.forward = functools.partial(checkpoint, block.forward, use_reentrant=False)
    return model, *rest


def main():
    model_name, batch, threads, mode, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5]
    torch.set_num_threads(threads)
    weights, x, y = protocol.load(folder, batch)

    def make_step(dropout):
        model, criterion, make_optimizer = training(model_name, x, dropout)
        model.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in weights.items()})
        images, labels = torch.from_numpy(x), torch.from_numpy(y)
        if mode.endswith("channels_last"):
            model, images = model.to(memory_format=torch.channels_last), images.to(memory_format=torch.channels_last)
        optimizer = make_optimizer(model.parameters())

        def forward(images, labels):
            with torch.autocast("cpu", torch.bfloat16, enabled=model_name.endswith("-bf16")):
                return criterion(model(images), labels)

        run = torch.compile(forward) if mode.startswith("compile") else forward

        def step():
            loss = run(images, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss.detach()

        return step

    protocol.serve(torch.__version__, make_step, lambda loss: None, 0.5)


if __name__ == "__main__":
    main()
