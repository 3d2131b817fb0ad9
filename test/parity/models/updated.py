import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 16)
        self.fc2 = nn.Linear(16, 4)

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x)))


class Models(nn.Module):
    def __init__(self):
        super().__init__()
        for name in ("generator", "critic_adam", "critic_radam", "critic_sgd", "averaged", "target", "partly", "mean"):
            setattr(self, name, Net())
        self.mix = nn.Linear(4, 8)
        self.register_buffer("before", torch.zeros(16, 8))
        self.register_buffer("after", torch.zeros(4, 16))


class Twin:
    def __init__(self):
        self.model = m = Models()
        self.generating = torch.optim.Adam([*m.generator.parameters(), *m.mix.parameters()], 0.02)
        self.critics = [torch.optim.Adam(m.critic_adam.parameters(), 0.01), torch.optim.RAdam(m.critic_radam.parameters(), 0.01),
                        torch.optim.SGD(m.critic_sgd.parameters(), 0.05)]
        self.updates = 0
        self.partial = torch.optim.RMSprop(m.partly.parameters(), 0.003)

    def step(self, x, y):
        m = self.model
        with torch.no_grad():
            m.before.copy_(m.generator.fc1.weight)
            m.target.load_state_dict(m.generator.state_dict())
            m.partly.fc1.load_state_dict(m.generator.fc1.state_dict())
            for t, s in zip(m.averaged.parameters(), m.generator.parameters()):
                t.lerp_(s, 0.1)

        made = m.mix(m.generator(x))
        judged = m.critic_adam(made).square().mean() + m.critic_radam(made).square().mean() + m.critic_sgd(made).square().mean()
        for critic in self.critics:
            critic.zero_grad()
        judged.backward()
        for critic in self.critics:
            critic.step()

        m.mean.zero_grad()
        with torch.no_grad():
            self.updates += 1
            for mean, s in zip(m.mean.parameters(), m.generator.parameters()):
                mean.copy_(mean + (s - mean) / self.updates)
        F.mse_loss(m.mean(x), y).backward()

        made = m.mix(m.generator(x + 0.5))
        loss = (F.mse_loss(m.generator(x), y) + F.mse_loss(m.averaged(x), m.generator(x)) + F.mse_loss(m.partly(x), m.target(x * 2))
                - 0.1 * m.critic_adam(made).mean() + 0.1 * m.critic_radam(made).square().mean() + 0.1 * m.critic_sgd(made).tanh().mean())
        self.generating.zero_grad()
        self.partial.zero_grad()
        for watched in (m.averaged, m.target):
            watched.zero_grad()
        loss.backward()
        slope = m.generator.fc1.weight.grad.norm() + m.target.fc2.weight.grad.norm() + m.averaged.fc1.bias.grad.norm() + m.mean.fc1.weight.grad.norm()
        self.generating.step()
        self.partial.step()
        with torch.no_grad():
            m.after.copy_(m.generator.fc2.weight)
        moved = (m.generator.fc1.weight - m.before).norm() + (m.after - m.target.fc2.weight).norm()
        return {"judged": judged, "loss": loss, "slope": slope, "moved": moved}
