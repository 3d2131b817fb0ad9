import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 32)
        self.second = nn.Linear(32, 32)
        self.last = nn.Linear(32, 2)

    def forward(self, x):
        return self.last(torch.tanh(self.second(torch.tanh(self.first(x)))))


class Twin:
    def __init__(self):
        self.model = Net()
        self.optimizer = torch.optim.Adam(self.model.parameters(), 0.01)

    def step(self, points, arms):
        loss = F.cross_entropy(self.model(points), arms)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return {"loss": loss}
