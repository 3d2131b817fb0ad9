"""The measured models in PyTorch, with the names that their parameters have in a plan."""

import os
import sys

import torch
from torch import nn
from torch.nn import functional as F

TEST = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TEST, "bench", "peers"), TEST]

from torch_peer import MLP, ConvNet  # noqa: E402
from ports.resnet18 import model as port  # noqa: E402


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        n, length, width = x.shape
        q, k, v = (part.view(n, length, self.heads, width // self.heads).transpose(1, 2) for part in self.qkv(x).split(width, -1))
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            later = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
            y = (q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5).masked_fill(later, -1e9).softmax(-1) @ v
        return self.out(y.transpose(1, 2).reshape(n, length, width))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, width, heads, length, depth, vocabulary=65):
        super().__init__()
        self.embed = nn.Linear(vocabulary, width)
        self.position = nn.Parameter(torch.zeros(length, width))
        self.head, self.norm = nn.Linear(width, vocabulary), nn.LayerNorm(width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(depth)])

    def forward(self, x):
        x = self.embed(x) + self.position
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)).flatten(0, 1)


class Chain(nn.Module):
    """Products of 2 x 2 matrices, each of which needs the one before it."""

    def __init__(self, products):
        super().__init__()
        self.w = nn.Parameter(torch.ones(1))
        self.products = products

    def forward(self, x):
        y = x.view(1, 1).expand(2, 2)
        for _ in range(self.products):
            y = y @ y
        return (self.w * y.detach().sum()).sum()


def resnet18(width):
    port.WIDTH = width
    return port.ResNet18()


def make(source, settings, dropout):
    """The network of a .dl with these settings, its loss (of what it gives and the targets) and its optimizer."""
    def sgd(**more):
        return lambda weights: optimizer(torch.optim.SGD, weights, lr=more.pop("lr", 0.001), **more)

    name = os.path.basename(source).removesuffix(".dl")
    if name == "convnet":
        return ConvNet(dropout), F.nll_loss, sgd(momentum=0.9)
    if name == "mlp":
        return MLP(0.0), F.nll_loss, sgd(momentum=0.9)
    if name == "resnet18":
        return resnet18(settings["width"]), F.cross_entropy, sgd(lr=0.003, momentum=0.9, weight_decay=5e-4)
    if name == "transformer":
        sizes = {key: settings[key] for key in ("width", "heads", "length", "depth")}
        return Transformer(**sizes), lambda y, t: F.cross_entropy(y, t.flatten()), lambda weights: optimizer(torch.optim.AdamW, weights, lr=3e-4)
    if name == "commands":
        return Chain(settings["products"]), lambda y, t: y, sgd(lr=0.0)
    raise SystemExit(f"no network stands for {source}")


def optimizer(kind, weights, **options):
    """The fastest form of it that this PyTorch has and that a CUDA graph can hold."""
    capturable = {"capturable": True} if kind is torch.optim.AdamW else {}
    for more in ({"fused": True, **capturable}, {"foreach": True}, {}):
        if torch.cuda.is_available() or "capturable" not in more:
            try:
                return kind(weights, **options, **more)
            except (TypeError, RuntimeError):
                continue
    raise SystemExit("no optimizer")
