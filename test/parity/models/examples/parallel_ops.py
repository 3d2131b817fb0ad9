import torch
from torch import nn
from torch.nn import functional as F


class Sum(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.y = nn.Parameter(torch.zeros(width, width))
        self.b = nn.Parameter(torch.zeros(width, width))
        self.register_parameter("lambda", nn.Parameter(torch.ones(())))

    def forward(self, x, a):
        return (x @ self.y) * getattr(self, "lambda") + a @ self.b


class Twin:
    def __init__(self, width=192):
        self.model = Sum(width)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1.0)

    def step(self, x, a, t):
        loss = F.mse_loss(self.model(x, a), t)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return {"loss": loss}
