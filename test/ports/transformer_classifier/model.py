import torch
from torch import nn
from torch.nn import functional as F

BATCH = 16
VOCAB = 1000
LENGTH = 64
DIM = 128
PAD = 0


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, DIM, padding_idx=PAD)
        self.position = nn.Embedding(LENGTH, DIM)
        layer = nn.TransformerEncoderLayer(DIM, 4, dim_feedforward=2 * DIM, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.fc = nn.Linear(DIM, 4)

    def forward(self, tokens):
        padding = tokens == PAD
        x = self.embedding(tokens) + self.position(torch.arange(tokens.size(1)))
        x = self.encoder(x, src_key_padding_mask=padding)
        x = x.masked_fill(padding.unsqueeze(-1), 0.0)
        mean = x.sum(1) / padding.logical_not().sum(1, keepdim=True)
        return self.fc(mean)


def main(run):
    data = run.data("tokens.npy", "labels.npy", batch_size=BATCH)
    model = run.model(Classifier())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=20)
    for epoch in range(run.epochs):
        for tokens, labels in data:
            loss = F.cross_entropy(model(tokens), labels)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            run.log(loss=loss)
