import torch
from torch import nn
from torch.nn import functional as F

BATCH = 256
USERS = 1000
ITEMS = 2000
FACTORS = 32


class MatrixFactorization(nn.Module):
    def __init__(self):
        super().__init__()
        self.user_factors = nn.Embedding(USERS, FACTORS)
        self.item_factors = nn.Embedding(ITEMS, FACTORS)
        self.user_biases = nn.Embedding(USERS, 1)
        self.item_biases = nn.Embedding(ITEMS, 1)
        self.mean = nn.Parameter(torch.full((), 3.5))
        nn.init.normal_(self.user_factors.weight, 0, 0.1)
        nn.init.normal_(self.item_factors.weight, 0, 0.1)
        nn.init.zeros_(self.user_biases.weight)
        nn.init.zeros_(self.item_biases.weight)

    def forward(self, user, item):
        pred = (self.user_factors(user) * self.item_factors(item)).sum(1, keepdim=True)
        pred += self.user_biases(user) + self.item_biases(item)
        return pred.squeeze(1) + self.mean


def main(run):
    data = run.data("user.npy", "item.npy", "rating.npy", batch_size=BATCH)
    model = run.model(MatrixFactorization())
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1, weight_decay=1e-5)
    for epoch in range(run.epochs):
        for user, item, rating in data:
            optimizer.zero_grad()
            loss = F.mse_loss(model(user, item), rating)
            loss.backward()
            optimizer.step()
            run.log(loss=loss)
