import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(16))
        self.temperature = nn.Parameter(torch.ones(()))
        self.fc1 = nn.Linear(6, 16, bias=False)
        self.fc2 = nn.Linear(16, 11)

    def features(self, x):
        x = self.fc1(x)
        centred = x - x.mean(0, keepdim=True)
        return torch.sin(centred / torch.sqrt(x.var(0, keepdim=True) + 1e-3) * self.gain)

    def forward(self, x):
        return torch.logsumexp(self.fc2(self.features(x)) * self.temperature, 1, keepdim=True)


class Twin:
    def __init__(self):
        self.model = Net()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-2, betas=(0.8, 0.99), weight_decay=0.05)

    def step(self, x, y):
        self.optimizer.zero_grad(set_to_none=True)
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()

        self.optimizer.zero_grad(set_to_none=True)
        penalty = (self.model.features(x).square().mean(0) - 0.4).square().sum()
        penalty.backward()
        self.optimizer.step()
        return {"loss": loss, "penalty": penalty}
