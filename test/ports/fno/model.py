import torch
from torch import nn
from torch.nn import functional as F

BATCH = 8
SIZE = 64
WIDTH = 32
MODES = 12
LAYERS = 4


class SpectralConv2d(nn.Module):
    def __init__(self):
        super().__init__()
        scale = 1.0 / (WIDTH * WIDTH)
        self.weights1 = nn.Parameter(scale * torch.rand(WIDTH, WIDTH, MODES, MODES, 2))
        self.weights2 = nn.Parameter(scale * torch.rand(WIDTH, WIDTH, MODES, MODES, 2))

    def forward(self, x):
        h, w = x.shape[2:]
        x_ft = torch.fft.rfft2(x)
        out = torch.zeros(x_ft.shape, dtype=x_ft.dtype)
        out[:, :, :MODES, :MODES] = self.mul(x_ft[:, :, :MODES, :MODES], self.weights1)
        out[:, :, -MODES:, :MODES] = self.mul(x_ft[:, :, -MODES:, :MODES], self.weights2)
        return torch.fft.irfft2(out, s=(h, w))

    def mul(self, x, weights):
        return torch.einsum("bixy,ioxy->boxy", x, torch.view_as_complex(weights))


class FNO2d(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc0 = nn.Linear(3, WIDTH)
        self.spectral = nn.ModuleList([SpectralConv2d() for _ in range(LAYERS)])
        self.w = nn.ModuleList([nn.Conv2d(WIDTH, WIDTH, 1) for _ in range(LAYERS)])
        self.fc1 = nn.Linear(WIDTH, 128)
        self.fc2 = nn.Linear(128, 1)

    def forward(self, a):
        x = torch.cat([a.unsqueeze(-1), self.grid(a)], -1)
        x = self.fc0(x).permute(0, 3, 1, 2)
        for i in range(LAYERS):
            x = self.spectral[i](x) + self.w[i](x)
            x = F.gelu(x) if i < LAYERS - 1 else x
        x = x.permute(0, 2, 3, 1)
        return self.fc2(F.gelu(self.fc1(x))).squeeze(-1)

    def grid(self, a):
        along = torch.linspace(0, 1, SIZE)
        gridx, gridy = torch.meshgrid(along, along, indexing="ij")
        return torch.stack([gridx, gridy], -1).expand(a.size(0), SIZE, SIZE, 2)


def lp_loss(x, y):
    difference = (x - y).flatten(1).norm(dim=1)
    return (difference / y.flatten(1).norm(dim=1)).mean()


def main(run):
    data = run.data("a.npy", "u.npy", batch_size=BATCH)
    model = run.model(FNO2d())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=40, gamma=0.5)
    for epoch in range(run.epochs):
        for a, u in data:
            loss = lp_loss(model(a), u)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            run.log(loss=loss)
