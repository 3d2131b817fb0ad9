import torch
from torch import nn
from torch.nn import functional as F


class TwoParts(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 64)
        self.net2 = nn.Linear(64, 1)

    def forward(self, x):
        return self.net2(self.net1(x))


class Twin:
    def __init__(self):
        self.model = TwoParts()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)

    def step(self, x, y):
        loss = F.mse_loss(self.model(x), y)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return {"loss": loss}
