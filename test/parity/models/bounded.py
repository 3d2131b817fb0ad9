import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(256, 5, padding_idx=3, max_norm=0.5)
        self.bag = nn.EmbeddingBag(256, 4, mode="sum", max_norm=0.9, norm_type=1)
        self.lstm = nn.LSTM(5, 7, 2, batch_first=True, bidirectional=True, proj_size=3)
        self.small = nn.LSTM(6, 5, bias=False, proj_size=2)
        self.classes = nn.Linear(6, 3)


class Twin:
    def __init__(self):
        self.model = Net()
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.5, 0.5)

    def step(self, x, labels):
        model = self.model
        both, (h, c) = model.lstm(model.words(x))
        begin = (torch.full((1, x.shape[0], 2), 0.25, dtype=both.dtype), torch.full((1, x.shape[0], 5), 0.5, dtype=both.dtype))
        out, (last_h, last_c) = model.small(both.transpose(0, 1), begin)
        loss = F.cross_entropy(model.classes(torch.cat([last_h[0], model.bag(x)], 1)), labels)
        size = c.square().mean() + h.mean() + out.mean() + last_c.mean()
        self.optimizer.zero_grad(set_to_none=True)
        (loss + 0.1 * size).backward()
        self.optimizer.step()
        return {"loss": loss, "size": size}
