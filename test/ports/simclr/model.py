import torch
from torch import nn
from torch.nn import functional as F

BATCH = 32
TEMPERATURE = 0.5


class SimCLR(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(3, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.BatchNorm2d(64), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.projector = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32))

    def forward(self, x):
        return self.projector(self.encoder(x))


def nt_xent(z1, z2):
    n = len(z1)
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    sim = z @ z.t() / TEMPERATURE
    sim = sim.masked_fill(torch.eye(2 * n, dtype=torch.bool), -1e9)
    targets = torch.arange(2 * n).roll(n)
    return F.cross_entropy(sim, targets)


def main(run):
    data = run.data("view1.npy", "view2.npy", batch_size=BATCH)
    model = run.model(SimCLR())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-6)
    for epoch in range(run.epochs):
        for view1, view2 in data:
            z1 = model(view1)
            z2 = model(view2)
            loss = nt_xent(z1, z2)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            run.log(loss=loss)
