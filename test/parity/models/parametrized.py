import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations


def weight_norm(layer, dim=0):
    """parametrizations.weight_norm, which older versions do not have."""
    class Product(nn.Module):
        def forward(self, g, v):
            return torch._weight_norm(v, g, dim)

        def right_inverse(self, weight):
            return torch.norm_except_dim(weight, 2, dim), weight
    torch.nn.utils.parametrize.register_parametrization(layer, "weight", Product())
    return layer


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = weight_norm(nn.Conv1d(4, 6, 3, padding=1))
        self.spectral = parametrizations.spectral_norm(nn.Conv1d(6, 5, 3))
        self.fc = parametrizations.spectral_norm(nn.Linear(25, 4, bias=False))
        self.out = weight_norm(nn.Linear(4, 3), dim=1)

    def forward(self, x):
        x = F.gelu(self.conv(x))
        x = F.gelu(self.spectral(x))
        return self.out(torch.tanh(self.fc(x.flatten(1))))


class Twin:
    def __init__(self):
        self.model = Net()
        for buffer in self.model.buffers():
            buffer.fill_(1)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=5e-3)

    def step(self, x, labels):
        loss = F.cross_entropy(self.model(x), labels)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return {"loss": loss}
