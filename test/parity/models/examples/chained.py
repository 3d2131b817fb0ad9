import torch
from torch import nn
from torch.nn import functional as F


class Chain(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.y = nn.Parameter(torch.zeros(width, width))
        self.b = nn.Parameter(torch.zeros(width, width))
        self.register_parameter("lambda", nn.Parameter(torch.ones(())))

    def forward(self, x):
        return ((x @ self.y) * getattr(self, "lambda")) @ self.b


class Twin:
    def __init__(self, width=192):
        self.model = Chain(width)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1.0)

    def step(self, x, _, t):
        loss = F.mse_loss(self.model(x), t)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return {"loss": loss}
