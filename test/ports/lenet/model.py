import torch
from torch import nn

BATCH = 64


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.pool = nn.AvgPool2d(2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = self.pool(torch.tanh(self.conv1(x)))
        x = self.pool(torch.tanh(self.conv2(x)))
        x = torch.tanh(self.fc1(x.flatten(1)))
        x = torch.tanh(self.fc2(x))
        return self.fc3(x)


def main(run):
    train = run.data("images.npy", "labels.npy", batch_size=BATCH)
    test = run.data("test_images.npy", "test_labels.npy", batch_size=BATCH, training=False)
    model = run.model(LeNet())
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4, nesterov=True)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
    for epoch in range(run.epochs):
        model.train()
        for images, labels in train:
            optimizer.zero_grad()
            loss = criterion(model(images), labels)
            loss.backward()
            optimizer.step()
            run.log(loss=loss)
        scheduler.step()
        model.eval()
        losses, right, items = 0, 0, 0
        with torch.no_grad():
            for images, labels in test:
                out = model(images)
                losses += criterion(out, labels).item() * len(images)
                right += out.argmax(1).eq(labels).sum().item()
                items += len(images)
        run.evaluated("test", loss=losses / items, accuracy=right / items)
