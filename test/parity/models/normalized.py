import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(8)
        self.act = nn.PReLU(8)
        self.conv2 = nn.Conv2d(8, 12, 3, stride=2)
        self.norm2 = nn.GroupNorm(3, 12)
        self.encoder = nn.TransformerEncoderLayer(12, 3, 20, 0, "gelu", batch_first=True, norm_first=True)
        self.attention = nn.MultiheadAttention(12, 2)
        self.norm3 = nn.LayerNorm(12)
        self.fc = nn.Linear(12, 10)
        self.norm4 = nn.BatchNorm1d(10, 1e-3, 0.3, affine=False)
        self.norm5 = nn.BatchNorm1d(10, momentum=None)
        self.head = nn.Linear(10, 4)

    def forward(self, x):
        x = self.act(self.norm1(self.conv1(x)))
        x = F.hardswish(self.norm2(self.conv2(x)))
        x = x.flatten(2).transpose(1, 2)
        mask = torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), 1)
        tokens = self.encoder(x, mask).transpose(0, 1)
        mixed, weights = self.attention(tokens, tokens, tokens)
        x = self.norm3(tokens + mixed).mean(0) + weights.mean((1, 2)).unsqueeze(1)
        return self.head(self.norm5(F.elu(self.norm4(self.fc(x)))))


class Twin:
    def __init__(self):
        self.model = Net()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.scheduler = torch.optim.lr_scheduler.OneCycleLR(self.optimizer, 0.03, total_steps=201)
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.1)

    def step(self, inputs, labels):
        loss = self.criterion(self.model(inputs), labels)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), 0.5)
        lr = torch.tensor(self.optimizer.param_groups[0]["lr"], dtype=torch.float64)
        self.optimizer.step()
        self.scheduler.step()
        n = self.model.norm1
        seen = F.batch_norm(self.model.conv1(inputs), n.running_mean, n.running_var, n.weight, n.bias)
        return {"loss": loss, "norm": norm, "seen": seen.abs().mean(), "lr": lr}
