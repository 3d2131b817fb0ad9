import math

import torch
from torch import nn
from torch.nn import functional as F

BATCH = 16
T = 200
WIDTH = 32
TIME = 64


def timestep_embedding(t):
    freqs = torch.exp(-math.log(10000.0) * torch.arange(TIME // 2) / (TIME // 2))
    args = t.to(freqs.dtype).unsqueeze(1) * freqs
    return torch.cat([torch.cos(args), torch.sin(args)], 1)


class ResBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm1 = nn.GroupNorm(8, channels)
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.time = nn.Linear(TIME, channels)
        self.norm2 = nn.GroupNorm(8, channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x, emb):
        h = self.conv1(F.silu(self.norm1(x)))
        h = h + self.time(F.silu(emb))[:, :, None, None]
        return x + self.conv2(F.silu(self.norm2(h)))


class NoisePredictor(nn.Module):
    def __init__(self):
        super().__init__()
        self.time_mlp = nn.Sequential(nn.Linear(TIME, TIME), nn.SiLU(), nn.Linear(TIME, TIME))
        self.conv_in = nn.Conv2d(1, WIDTH, 3, padding=1)
        self.block1 = ResBlock(WIDTH)
        self.down = nn.Conv2d(WIDTH, 2 * WIDTH, 3, stride=2, padding=1)
        self.block2 = ResBlock(2 * WIDTH)
        self.up = nn.Conv2d(2 * WIDTH, WIDTH, 3, padding=1)
        self.block3 = ResBlock(WIDTH)
        self.conv_out = nn.Conv2d(WIDTH, 1, 3, padding=1)

    def forward(self, x, t):
        emb = self.time_mlp(timestep_embedding(t))
        h = self.block1(self.conv_in(x), emb)
        low = self.block2(self.down(h), emb)
        h = h + self.up(F.interpolate(low, scale_factor=2))
        return self.conv_out(F.silu(self.block3(h, emb)))


def main(run):
    data = run.data("images.npy", "t.npy", "noise.npy", batch_size=BATCH)
    model = run.model(NoisePredictor())
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
    betas = torch.linspace(1e-4, 0.02, T)
    alphas_cumprod = torch.cumprod(1 - betas, 0)
    for epoch in range(run.epochs):
        for x0, t, noise in data:
            alpha = alphas_cumprod[t].view(-1, 1, 1, 1)
            x = alpha.sqrt() * x0 + (1 - alpha).sqrt() * noise
            loss = F.mse_loss(model(x, t), noise)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            run.log(loss=loss)
