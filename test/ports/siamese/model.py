import torch
from torch import nn
from torch.nn import functional as F

BATCH = 32


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.Conv2d(1, 16, 3, 1, 1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2, 2),
            nn.Conv2d(16, 32, 3, 1, 1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2, 2))
        self.fc = nn.Sequential(nn.Linear(32 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, 16))

    def forward_once(self, x):
        x = self.cnn(x)
        return self.fc(x.flatten(1))

    def forward(self, a, b):
        return self.forward_once(a), self.forward_once(b)


class ContrastiveLoss(nn.Module):
    def __init__(self, margin=2.0):
        super().__init__()
        self.margin = margin

    def forward(self, a, b, differ):
        distance = F.pairwise_distance(a, b)
        near = (1 - differ) * distance.pow(2)
        far = differ * torch.clamp(self.margin - distance, min=0.0).pow(2)
        return torch.mean(near + far)


def main(run):
    data = run.data("a.npy", "b.npy", "differ.npy", batch_size=BATCH)
    model = run.model(Siamese())
    criterion = ContrastiveLoss()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=5e-4)
    for epoch in range(run.epochs):
        for first, second, differ in data:
            optimizer.zero_grad()
            a, b = model(first, second)
            loss = criterion(a, b, differ)
            loss.backward()
            optimizer.step()
            run.log(loss=loss)
