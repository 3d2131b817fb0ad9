import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(5, 6, 2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(12, 7, 2)
        self.rnn = nn.RNN(7, 4, nonlinearity="relu", bias=False, batch_first=True)
        self.lstm_cell = nn.LSTMCell(5, 4)
        self.gru_cell = nn.GRUCell(5, 4)
        self.rnn_cell = nn.RNNCell(5, 4)
        self.classes = nn.Linear(16, 3)


class Twin:
    def __init__(self):
        self.model = Net()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=5e-3)

    def step(self, x, labels):
        model = self.model
        both, (hs, cs) = model.lstm(x)
        turned, last = model.gru(both.transpose(0, 1), torch.full((2, x.shape[0], 7), 0.25, dtype=x.dtype))
        out, h = model.rnn(turned.transpose(0, 1))
        cell, g, r = None, None, torch.zeros(x.shape[0], 4, dtype=x.dtype)
        for now in x.unbind(1):
            cell = model.lstm_cell(now, cell)
            g = model.gru_cell(now, g)
            r = model.rnn_cell(now, r)
        loss = F.cross_entropy(model.classes(torch.cat([h[0], cell[0], g, r], 1)), labels)
        size = cs.pow(2).mean() + hs.mean() + last.pow(2).mean() + out.mean()
        self.optimizer.zero_grad(set_to_none=True)
        (loss + 0.1 * size).backward()
        self.optimizer.step()
        return {"loss": loss, "size": size}
