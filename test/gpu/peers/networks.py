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


class GPT2(nn.Module):
    """examples/gpt2: its Conv1D has a weight (in, out)."""

    class Conv1D(nn.Module):
        def __init__(self, inner, outer):
            super().__init__()
            self.weight, self.bias = nn.Parameter(torch.zeros(inner, outer)), nn.Parameter(torch.zeros(outer))

        def forward(self, x):
            return torch.addmm(self.bias, x.flatten(0, -2), self.weight).view(*x.shape[:-1], -1)

    class Attention(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.c_attn, self.c_proj = GPT2.Conv1D(width, 3 * width), GPT2.Conv1D(width, width)

        def forward(self, x):
            q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.c_attn(x).chunk(3, -1))
            return self.c_proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))

    class MLP(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.c_fc, self.c_proj = GPT2.Conv1D(width, 4 * width), GPT2.Conv1D(4 * width, width)

        def forward(self, x):
            return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))

    class Block(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attn, self.mlp = GPT2.Attention(width, heads), GPT2.MLP(width)

        def forward(self, x):
            x = x + self.attn(self.ln_1(x))
            return x + self.mlp(self.ln_2(x))

    def __init__(self, width=768, heads=12, depth=12, tokens=50257, positions=1024):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(tokens, width), nn.Embedding(positions, width)
        self.h = nn.ModuleList([GPT2.Block(width, heads) for _ in range(depth)])
        self.ln_f = nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.h:
            x = block(x)
        return F.linear(self.ln_f(x), self.wte.weight).flatten(0, 1)


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
    if name == "gpt2":
        sizes = {"n_embd": "width", "n_head": "heads", "n_layer": "depth", "vocab_size": "tokens"}
        return GPT2(**{ours: settings[name] for name, ours in sizes.items() if name in settings}), lambda y, t: F.cross_entropy(y, t.flatten()), lambda weights: optimizer(torch.optim.AdamW, weights, lr=1e-4, weight_decay=0.0)
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
