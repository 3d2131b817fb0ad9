import torch
from torch import nn

BATCH = 64
STEPS = 10
H = 0.1


class ODEFunc(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 50), nn.Tanh(), nn.Linear(50, 2))

    def forward(self, y):
        return self.net(y.pow(3))


def odeint(func, y):
    path = [y]
    for _ in range(STEPS):
        k1 = func(y)
        k2 = func(y + H / 2 * k1)
        k3 = func(y + H / 2 * k2)
        k4 = func(y + H * k3)
        y = y + H / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(y)
    return torch.stack(path, 1)


def main(run):
    data = run.data("y0.npy", "path.npy", batch_size=BATCH)
    func = run.model(ODEFunc())
    optimizer = torch.optim.RMSprop(func.parameters(), lr=1e-3)
    for epoch in range(run.epochs):
        for y0, path in data:
            optimizer.zero_grad()
            pred = odeint(func, y0)
            loss = torch.mean(torch.abs(pred - path))
            loss.backward()
            optimizer.step()
            run.log(loss=loss)
