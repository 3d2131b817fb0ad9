"""examples/mnist as a PyTorch user writes it: DataLoader, two epochs, a test after each, which prints its accuracy.

    torch_mnist.py FOLDER EPOCHS THREADS      (0 epochs: one step)

Images are normalised once, before the first epoch.
"""

import gzip
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

from torch_peer import ConvNet


def idx(folder, name):
    path = os.path.join(folder, name)
    raw = gzip.open(path + ".gz").read() if os.path.exists(path + ".gz") else open(path, "rb").read()
    shape = [int.from_bytes(raw[4 + 4 * i:8 + 4 * i], "big") for i in range(raw[3])]
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * len(shape)).reshape(shape)


def dataset(folder, part):
    images = torch.from_numpy(idx(folder, f"{part}-images-idx3-ubyte").copy()).unsqueeze(1).float()
    images.div_(255).sub_(0.1307).div_(0.3081)
    labels = torch.from_numpy(idx(folder, f"{part}-labels-idx1-ubyte").copy()).long()
    return TensorDataset(images, labels)


def main():
    folder, epochs, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(threads)
    train = DataLoader(dataset(folder, "train"), batch_size=4, shuffle=True)
    model = ConvNet(0.5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9, fused=True)
    for _ in range(max(epochs, 1)):
        for x, y in train:
            optimizer.zero_grad()
            loss = F.nll_loss(model(x), y)
            loss.backward()
            optimizer.step()
            if epochs == 0:
                return print(loss.item())
        test, right = DataLoader(dataset(folder, "t10k"), batch_size=1000), 0
        model.p = 0.0
        with torch.no_grad():
            for x, y in test:
                right += (model(x).argmax(1) == y).sum().item()
        model.p = 0.5
        print(right / 10000)


if __name__ == "__main__":
    main()
