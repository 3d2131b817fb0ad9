import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(8, 8, 3, padding=2, dilation=2, groups=4)
        self.conv3 = nn.Conv2d(8, 13, (3, 1), bias=False)
        self.fc = nn.Linear(78, 7)

    def forward(self, x):
        x = torch.sigmoid(self.conv1(x))
        parts = self.conv2(x).chunk(2, 1)
        x = x + torch.cat([F.silu(parts[1]), parts[0].clamp(-0.5, 0.5)], 1)
        x = torch.tanh(self.conv3(x))
        x = F.max_pool2d(x, 2) + F.avg_pool2d(x, 2)
        return F.log_softmax(self.fc(x.flatten(1)), 1)


class Twin:
    def __init__(self):
        self.model = Net()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-3, nesterov=True)

    def step(self, x, labels):
        loss = F.nll_loss(self.model(x), labels)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return {"loss": loss}
