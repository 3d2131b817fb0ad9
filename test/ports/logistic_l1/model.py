import torch
from torch import nn

BATCH = 32
FEATURES = 50
PATIENCE = 3


def main(run):
    train = run.data("x.npy", "y.npy", batch_size=BATCH)
    valid = run.data("valid_x.npy", "valid_y.npy", batch_size=100, training=False)
    model = run.model(nn.Linear(FEATURES, 1))
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    best, waited = float("inf"), 0
    for epoch in range(run.epochs):
        for x, y in train:
            optimizer.zero_grad()
            loss = criterion(model(x).squeeze(1), y)
            l1 = model.weight.abs().sum()
            (loss + 0.003 * l1).backward()
            optimizer.step()
            run.log(loss=loss, l1=l1)
        with torch.no_grad():
            losses = torch.stack([criterion(model(x).squeeze(1), y) for x, y in valid])
        value = losses.mean().item()
        run.evaluated("valid", loss=value)
        best, waited = (value, 0) if value < best else (best, waited + 1)
        if waited == PATIENCE:
            break
