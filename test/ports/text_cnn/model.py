import torch
from torch import nn
from torch.nn import functional as F

BATCH = 32
VOCAB = 5000
DIM = 100
FILTERS = 100


class TextCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, DIM, padding_idx=0)
        self.convs = nn.ModuleList([nn.Conv1d(DIM, FILTERS, k) for k in (3, 4, 5)])
        self.fc = nn.Linear(3 * FILTERS, 2)

    def forward(self, x):
        x = self.embedding(x).transpose(1, 2)
        pooled = []
        for conv in self.convs:
            pooled.append(F.relu(conv(x)).max(2).values)
        return self.fc(torch.cat(pooled, 1))


def main(run):
    data = run.data("tokens.npy", "labels.npy", batch_size=BATCH)
    model = run.model(TextCNN())
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0, rho=0.95)
    for epoch in range(run.epochs):
        for tokens, labels in data:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(tokens), labels)
            loss.backward()
            optimizer.step()
            run.log(loss=loss)
