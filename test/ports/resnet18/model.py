import torch
from torch import nn
from torch.nn import functional as F

BATCH = 16
WIDTH = 64


class BasicBlock(nn.Module):
    def __init__(self, in_planes, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(in_planes, planes, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = nn.Sequential()
        if stride != 1 or in_planes != planes:
            self.downsample = nn.Sequential(nn.Conv2d(in_planes, planes, 1, stride=stride, bias=False), nn.BatchNorm2d(planes))

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return F.relu(out + self.downsample(x))


def make_layer(in_planes, planes, stride):
    return nn.Sequential(BasicBlock(in_planes, planes, stride), BasicBlock(planes, planes))


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, WIDTH, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(WIDTH)
        self.layer1 = make_layer(WIDTH, WIDTH, 1)
        self.layer2 = make_layer(WIDTH, 2 * WIDTH, 2)
        self.layer3 = make_layer(2 * WIDTH, 4 * WIDTH, 2)
        self.layer4 = make_layer(4 * WIDTH, 8 * WIDTH, 2)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(8 * WIDTH, 10)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer1(x)
        x = self.layer2(x)
        x = self.layer3(x)
        x = self.layer4(x)
        return self.fc(self.avgpool(x).flatten(1))


def main(run):
    data = run.data("images.npy", "labels.npy", batch_size=BATCH)
    model = run.model(ResNet18())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.003, momentum=0.9, weight_decay=5e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 100)
    for epoch in range(run.epochs):
        for images, labels in data:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            scheduler.step()
            run.log(loss=loss)
