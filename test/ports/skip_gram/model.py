import torch
from torch import nn
from torch.nn import functional as F

BATCH = 128
VOCAB = 5000
DIM = 100
NEGATIVES = 5


class SkipGram(nn.Module):
    def __init__(self):
        super().__init__()
        self.center = nn.Embedding(VOCAB, DIM)
        self.context = nn.Embedding(VOCAB, DIM)
        nn.init.uniform_(self.center.weight, -0.5 / DIM, 0.5 / DIM)
        nn.init.zeros_(self.context.weight)

    def forward(self, word, near, negative):
        v = self.center(word)
        positive_score = (v * self.context(near)).sum(1)
        negative_score = torch.bmm(self.context(negative), v.unsqueeze(2)).squeeze(2)
        return -(F.logsigmoid(positive_score) + F.logsigmoid(-negative_score).sum(1)).mean()


def main(run):
    data = run.data("word.npy", "near.npy", "negative.npy", batch_size=BATCH)
    model = run.model(SkipGram())
    optimizer = torch.optim.SGD(model.parameters(), lr=5.0)
    for epoch in range(run.epochs):
        for word, near, negative in data:
            optimizer.zero_grad()
            loss = model(word, near, negative)
            loss.backward()
            optimizer.step()
            run.log(loss=loss)
