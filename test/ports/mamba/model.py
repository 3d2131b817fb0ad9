import torch
from torch import nn
from torch.nn import functional as F

BATCH = 8
LENGTH = 128
VOCAB = 65
DIM = 64
INNER = 128
STATE = 16
RANK = 4
LAYERS = 2


class RMSNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(DIM))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


class MambaBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = RMSNorm()
        self.in_proj = nn.Linear(DIM, 2 * INNER, bias=False)
        self.conv1d = nn.Conv1d(INNER, INNER, 4, padding=3, groups=INNER)
        self.x_proj = nn.Linear(INNER, RANK + 2 * STATE, bias=False)
        self.dt_proj = nn.Linear(RANK, INNER)
        self.A_log = nn.Parameter(torch.log(torch.arange(1.0, STATE + 1)).repeat(INNER, 1))
        self.D = nn.Parameter(torch.ones(INNER))
        self.out_proj = nn.Linear(INNER, DIM, bias=False)

    def forward(self, u):
        x, z = self.in_proj(self.norm(u)).chunk(2, -1)
        x = F.silu(self.conv1d(x.transpose(1, 2))[:, :, :u.size(1)].transpose(1, 2))
        y = self.selective_scan(x) + x * self.D
        return u + self.out_proj(y * F.silu(z))

    def selective_scan(self, x):
        delta, B, C = self.x_proj(x).split([RANK, STATE, STATE], -1)
        delta = F.softplus(self.dt_proj(delta))
        a = torch.exp(delta.unsqueeze(-1) * -self.A_log.exp())
        b = (delta * x).unsqueeze(-1) * B.unsqueeze(2)
        h = torch.zeros_like(a[:, 0])
        ys = []
        for t in range(x.size(1)):
            h = a[:, t] * h + b[:, t]
            ys.append((h * C[:, t].unsqueeze(1)).sum(-1))
        return torch.stack(ys, 1)


class Mamba(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, DIM)
        self.layers = nn.ModuleList([MambaBlock() for _ in range(LAYERS)])
        self.norm_f = RMSNorm()
        self.lm_head = nn.Linear(DIM, VOCAB, bias=False)
        self.lm_head.weight = self.embedding.weight

    def forward(self, ids):
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm_f(x))


def main(run):
    data = run.data("x.npy", "y.npy", batch_size=BATCH)
    model = run.model(Mamba())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1)
    for epoch in range(run.epochs):
        for x, y in data:
            logits = model(x)
            loss = F.cross_entropy(logits.view(-1, VOCAB), y.view(-1))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            run.log(loss=loss)
