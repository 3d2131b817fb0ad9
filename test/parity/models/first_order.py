import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 5)
        self.gru = nn.GRU(6, 5, bias=False, bidirectional=True)
        self.lstm_cell = nn.LSTMCell(6, 5)
        self.gru_cell = nn.GRUCell(6, 5)
        self.rnn_cell = nn.RNNCell(6, 5)
        self.head = nn.Linear(5, 3)

    def forward(self, x):
        longer, (_, cell) = self.lstm(x[None])
        both, _ = self.gru(x[None])
        h, c = self.lstm_cell(x)
        return self.head(longer[0] + both[0, :, :5] * both[0, :, 5:] + h + c + self.gru_cell(x) + self.rnn_cell(x) + cell[0])


class Twin:
    def __init__(self):
        self.model = Net()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.01, weight_decay=0.2)

    def step(self, x, labels):
        self.optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(self.model(x), labels).backward()
        slope = self.model.head.weight.grad
        loss = F.cross_entropy(self.model(x * 0.5), labels) + (self.model.head.weight * slope).sum()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), 1)
        self.optimizer.step()
        return {"loss": loss, "norm": norm, "one": self.model.head.bias.grad[1]}
