import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.source = nn.Linear(5, 12)
        self.target = nn.Linear(4, 12)
        self.transformer = nn.Transformer(12, 3, 2, 2, 20, 0.0, batch_first=True)
        self.next = nn.Linear(12, 4)
        self.agreement = nn.Bilinear(12, 12, 3)


class Twin:
    def __init__(self):
        self.model = Net()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05, momentum=0.9)

    def step(self, x, y):
        model = self.model
        src, tgt = model.source(x), model.target(y[:, :-1])
        mask = torch.full((y.shape[1] - 1, y.shape[1] - 1), float("-inf"), dtype=x.dtype).triu(1)
        out = model.transformer(src, tgt, tgt_mask=mask)
        following = F.mse_loss(model.next(out), y[:, 1:])
        agreement = model.agreement(src.mean(1), out.mean(1)).pow(2).mean()
        spread = torch.einsum("bti,bsi->bts", out, src).sin().mean()
        self.optimizer.zero_grad(set_to_none=True)
        (following + 0.1 * agreement + 0.1 * spread).backward()
        self.optimizer.step()
        return {"next": following, "agreement": agreement}
