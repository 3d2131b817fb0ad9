import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(16)
        self.down = nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.middle = nn.Conv2d(32, 32, (3, 1), padding=(1, 0))
        self.groups = nn.GroupNorm(4, 32)
        self.up = nn.ConvTranspose2d(32, 16, 2, stride=2)
        self.last = nn.Conv2d(32, 18, 3, padding=1)
        self.out = nn.Conv2d(18, 1, 1)

    def forward(self, x):
        fine = F.silu(self.norm(self.first(x)))
        coarse = F.gelu(self.down(fine))
        coarse = coarse + F.silu(self.groups(self.middle(coarse)))
        return self.out(torch.tanh(self.last(torch.cat([fine, self.up(coarse)], 1)))).squeeze(1)


class Twin:
    def __init__(self):
        self.model = Net()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05, momentum=0.9)

    def step(self, x, y):
        loss = F.mse_loss(self.model(x), y)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return {"loss": loss}
