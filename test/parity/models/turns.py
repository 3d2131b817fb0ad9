import torch
from torch import nn
from torch.nn import functional as F


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(5, 19)
        self.fc2 = nn.Linear(19, 8)

    def forward(self, z):
        return torch.tanh(self.fc2(F.relu(self.fc1(z))))


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 23)
        self.fc2 = nn.Linear(23, 1)

    def forward(self, x):
        return self.fc2(F.leaky_relu(self.fc1(x), 0.2))


def bce(logits, label):
    return F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, label))


class Twin:
    def __init__(self):
        self.model = nn.ModuleDict({"generator": Generator(), "discriminator": Discriminator()})
        self.optimizer_g = torch.optim.Adam(self.model["generator"].parameters(), lr=2e-3, betas=(0.5, 0.999))
        self.optimizer_d = torch.optim.Adam(self.model["discriminator"].parameters(), lr=4e-3, betas=(0.5, 0.999))
        self.scheduler_d = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer_d, 130)
        self.scheduler_g = torch.optim.lr_scheduler.ExponentialLR(self.optimizer_g, 0.95)
        self.batches = 0

    def rate(self, optimizer):
        return torch.tensor(optimizer.param_groups[0]["lr"], dtype=next(self.model.parameters()).dtype)

    def disc(self, real, z):
        generator, discriminator = self.model["generator"], self.model["discriminator"]
        if self.batches and self.batches % 7 == 0:  # an epoch has seven batches
            self.scheduler_g.step()
        self.batches += 1
        self.optimizer_d.zero_grad(set_to_none=True)
        loss = bce(discriminator(real), 1.0) + bce(discriminator(generator(z).detach()), 0.0)
        loss.backward()
        self.optimizer_d.step()
        lr = self.rate(self.optimizer_d)
        self.scheduler_d.step()
        return {"loss": loss, "lr": lr}

    def gen(self, real, z):
        generator, discriminator = self.model["generator"], self.model["discriminator"]
        self.optimizer_g.zero_grad(set_to_none=True)
        loss = bce(discriminator(generator(z)), 1.0)
        loss.backward()
        self.optimizer_g.step()
        return {"loss": loss, "lr1": self.rate(self.optimizer_g)}
