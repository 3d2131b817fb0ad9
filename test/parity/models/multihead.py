import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = nn.MultiheadAttention(12, 3, kdim=6, vdim=4, batch_first=True)
        self.longer = nn.MultiheadAttention(12, 2, add_bias_kv=True, add_zero_attn=True)
        self.bare = nn.MultiheadAttention(12, 4, bias=False, add_bias_kv=True)
        self.plain = nn.MultiheadAttention(12, 2)
        self.head = nn.Linear(12, 4)

    def forward(self, x, other):
        later = torch.ones(5, 7, dtype=torch.bool).triu(3)
        padding = (other[:, :, 0] > 1.5) & (torch.arange(7) > 0)
        y, weights = self.wide(x, other[:, :, :6], other[:, :, 6:], key_padding_mask=padding, attn_mask=later)
        x = (x + y).transpose(0, 1)
        near = -(torch.arange(5)[:, None] - torch.arange(5)).abs().to(x.dtype)
        x = x + self.longer(x, x, x, key_padding_mask=(x[:, :, 1] > 0.5).t(), need_weights=False, attn_mask=near)[0]
        slopes = (torch.arange(4) + 1).to(x.dtype).view(4, 1, 1) * 0.25 * near
        each = slopes.expand(x.shape[1], 4, 5, 5).reshape(-1, 5, 5)
        z, heads = self.bare(x, x, x, attn_mask=each, average_attn_weights=False)
        pooled = (x + z).mean(0)
        alone, among = self.plain(pooled, pooled, pooled)
        causal = torch.ones(len(pooled), len(pooled), dtype=torch.bool).triu(1)
        back, _ = self.plain(pooled, pooled, pooled, need_weights=False, attn_mask=causal)
        return self.head(pooled + alone + back + weights.pow(2).mean((1, 2))[:, None] + heads[..., 5].mean((1, 2))[:, None]
                         + among.pow(2).mean(1, keepdim=True))


class Twin:
    def __init__(self):
        self.model = Net()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)

    def step(self, x, other, labels):
        loss = F.cross_entropy(self.model(x, other), labels)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return {"loss": loss}
