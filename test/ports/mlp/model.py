import torch
from torch import nn
from torch.nn import functional as F

BATCH = 64
HIDDEN = 512


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(784, HIDDEN)
        self.fc2 = nn.Linear(HIDDEN, HIDDEN)
        self.fc3 = nn.Linear(HIDDEN, 10)

    def forward(self, x):
        x = F.relu(self.fc1(x.flatten(1)))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


def main(run):
    data = run.data("images.npy", "labels.npy", batch_size=BATCH)
    model = run.model(MLP())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(run.epochs):
        for images, labels in data:
            optimizer.zero_grad()
            out = model(images)
            loss = F.cross_entropy(out, labels)
            loss.backward()
            optimizer.step()
            run.log(loss=loss, accuracy=out.argmax(1).eq(labels).double().mean())
