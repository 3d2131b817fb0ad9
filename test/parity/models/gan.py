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

    def step(self, real, z):
        generator, discriminator = self.model["generator"], self.model["discriminator"]
        fake = generator(z)

        self.optimizer_d.zero_grad(set_to_none=True)
        loss_real = bce(discriminator(real), 1.0)
        loss_real.backward()
        loss_fake = bce(discriminator(fake.detach()), 0.0)
        loss_fake.backward()
        self.optimizer_d.step()

        self.optimizer_g.zero_grad(set_to_none=True)
        loss_g = bce(discriminator(fake), 1.0)
        loss_g.backward()
        self.optimizer_g.step()
        return {"loss_d": loss_real + loss_fake, "loss_g": loss_g}
