import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(5, 6, 2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(12, 7, bidirectional=True)
        self.rnn = nn.RNN(14, 4)
        self.classes = nn.Linear(4 + 7 + 6 + 4, 3)


class Twin:
    def __init__(self):
        self.model = Net()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=5e-3)

    def step(self, x, ends, labels):
        model = self.model
        packed = pack_padded_sequence(x, ends + 1, batch_first=True, enforce_sorted=False)
        both, (hs, cs) = model.lstm(packed)
        turned, last = model.gru(both, torch.full((2, x.shape[0], 7), 0.25, dtype=x.dtype))
        out, h = model.rnn(turned)
        padded, lengths = pad_packed_sequence(out, batch_first=True, padding_value=-0.5, total_length=x.shape[1])
        mean = padded.sum(1) / lengths.unsqueeze(1)
        loss = F.cross_entropy(model.classes(torch.cat([h[0], last[1], cs[3], mean], 1)), labels)
        size = hs.pow(2).mean() + last.mean() + padded.pow(2).mean()
        self.optimizer.zero_grad(set_to_none=True)
        (loss + 0.1 * size).backward()
        self.optimizer.step()
        return {"loss": loss, "size": size}
