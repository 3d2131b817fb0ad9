import torch
from torch import nn
from torch.nn import functional as F


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(12))

    def forward(self, x):
        return x * (x.pow(2).mean(-1, keepdim=True) + 1e-5).pow(-0.5) * self.gain


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(12, 36, bias=False)
        self.out = nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (part.view(-1, 7, 3, 4).permute(0, 2, 1, 3) for part in self.qkv(x).split(12, -1))
        x = torch.softmax(q @ k.transpose(-2, -1) * 0.5, -1) @ v
        return self.out(x.permute(0, 2, 1, 3).reshape(-1, 7, 12))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = Norm()
        self.attention = Attention()
        self.norm2 = Norm()
        self.fc1 = nn.Linear(12, 38)
        self.fc2 = nn.Linear(19, 12)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        gate, value = self.fc1(self.norm2(x)).chunk(2, -1)
        return x + self.fc2(F.silu(gate) * value)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Parameter(torch.zeros(3))
        self.temperature = nn.Parameter(torch.ones(()))
        self.embed = nn.Linear(5, 12)
        self.blocks = nn.ModuleList([Block(), Block(), Block()])
        self.next = nn.Linear(12, 5)
        self.classes = nn.Linear(36, 4)

    def forward(self, x):
        outputs = []
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
            outputs.append(x)
        return (torch.stack(outputs) * torch.softmax(self.mix, 0).view(3, 1, 1, 1)).sum(0)

    def classify(self, x):
        low = x.amin(-1, keepdim=True)
        scaled = (x - low) / (x.amax(-1, keepdim=True) - low)
        power_mean = (scaled + 0.1).pow(self.temperature).mean(1).pow(1 / self.temperature)
        return self.classes(torch.cat([x.max(1).values, x[:, ::2].min(1).values, power_mean], 1))


class Twin:
    def __init__(self):
        self.model = Net()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=2e-3)

    def step(self, inputs, labels):
        x = self.model(inputs)
        following = F.mse_loss(self.model.next(x[:, :-1]), inputs[:, 1:])
        classes = F.cross_entropy(self.model.classify(x), labels)
        self.optimizer.zero_grad(set_to_none=True)
        (following + classes).backward()
        self.optimizer.step()
        return {"next": following, "classes": classes}
