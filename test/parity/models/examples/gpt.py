import dataclasses

import torch
from torch import nn
from torch.nn import functional as F


@dataclasses.dataclass
class Config:
    length: int
    depth: int
    heads: int
    width: int
    dropout: float


def attention(q, k, v, dropout):
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)
    seen = torch.ones(q.shape[-2], q.shape[-2]).tril() != 0
    scores = (q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5).masked_fill(~seen, -float("inf"))
    return F.dropout(scores.softmax(-1), dropout) @ v


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.qkv = nn.Linear(config.width, 3 * config.width)
        self.proj = nn.Linear(config.width, config.width)

    def forward(self, x):
        heads = (self.config.heads, self.config.width // self.config.heads)
        q, k, v = (part.unflatten(-1, heads).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        x = attention(q, k, v, self.config.dropout)
        return F.dropout(self.proj(x.transpose(1, 2).flatten(2)), self.config.dropout)


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dropout = config.dropout
        self.ln_1 = nn.LayerNorm(config.width)
        self.ln_2 = nn.LayerNorm(config.width)
        self.attn = Attention(config)
        self.fc = nn.Linear(config.width, 4 * config.width)
        self.proj = nn.Linear(4 * config.width, config.width)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + F.dropout(self.proj(F.gelu(self.fc(self.ln_2(x)))), self.dropout)


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dropout = config.dropout
        self.wte = nn.Embedding(256, config.width)
        self.wpe = nn.Embedding(config.length, config.width)
        self.h = nn.ModuleList([Block(config) for _ in range(config.depth)])
        self.ln_f = nn.LayerNorm(config.width)

    def forward(self, tokens):
        x = F.dropout(self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1], device=tokens.device)), self.dropout)
        for block in self.h:
            x = block(x)
        return F.linear(self.ln_f(x), self.wte.weight)


class Twin:
    def __init__(self, length=9, depth=2, heads=2, width=16, dropout=0.0, plain=False):
        """plain: without clipping and schedule."""
        self.plain = plain
        self.model = GPT(Config(length, depth, heads, width, dropout))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.001, betas=(0.9, 0.99), weight_decay=0.1)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda step: min((step + 1) / 100, 1))

    def step(self, x, y):
        loss = F.cross_entropy(self.model(x).flatten(0, 1), y.flatten())
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        if self.plain:
            self.optimizer.step()
            return {"loss": loss}
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        lr = torch.tensor(self.optimizer.param_groups[0]["lr"], dtype=torch.float64)
        self.scheduler.step()
        return {"loss": loss, "lr": lr}
