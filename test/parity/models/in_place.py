import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 8)
        self.second = nn.Linear(8, 3)
        self.gain = nn.Parameter(torch.ones(8))
        self.table = nn.Parameter(torch.zeros(2, 3))
        self.register_buffer("memory", torch.zeros(3, 3))
        position = torch.arange(4, dtype=torch.float64).unsqueeze(1)
        factor = torch.exp(torch.arange(0, 6, 2, dtype=torch.float64) * -0.3)
        encoding = torch.zeros(4, 6, dtype=torch.float64)
        encoding[:, 0::2] = torch.sin(position * factor)
        encoding[:, 1::2] = torch.cos(position * factor)
        encoding[0] += 1
        self.encoding = encoding

    def forward(self, x):
        x = x.clone()
        x[0:4] += self.encoding.to(x.dtype)
        h = self.first(x).tanh()
        before = h.clone()
        h = h.clone()  # tanh needs its result
        halves = h.view(-1, 2, 4).transpose(1, 2)
        h[1] = before[0] * 2
        halves[0][3] = 0.25
        h[:, 2::3].mul_(0.5).add_(1).sigmoid_()
        h = h.clone()  # sigmoid does, too
        halves = h.view(-1, 2, 4).transpose(1, 2)
        h.index_put_((torch.tensor([0, 3]), torch.tensor([1, 5])), torch.tensor([0.125, 0.5], dtype=h.dtype))
        h.masked_fill_(h > 0.8, 0.8)
        h += before * self.gain
        logits = self.second(h)
        logits += halves.sum() * 0.01
        logits.index_put_((torch.tensor([0, 2, 0]),), self.table[1], True)
        logits[3] -= self.memory[2]
        logits.select(1, 0).neg_()
        return logits


class Twin:
    def __init__(self):
        self.model = Net()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=3e-3)

    def step(self, x, y):
        model = self.model
        logits = model(x)
        loss = F.mse_loss(logits, y)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        model.first.weight.grad[0].zero_()
        model.first.bias.grad.mul_(0.5)
        self.optimizer.step()
        with torch.no_grad():
            model.table[0] = model.table[1] * 0.5
            model.gain.narrow(0, 2, 3).clamp_(0.9, 1.1)
            model.memory[1:] = model.memory[0:2].clone()
            model.memory[0] = logits.detach().mean(0)
        return {"loss": loss}
