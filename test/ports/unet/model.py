import torch
from torch import nn
from torch.nn import functional as F

BATCH = 4
WIDTH = 32


class DoubleConv(nn.Sequential):
    def __init__(self, in_channels, out_channels):
        super().__init__(
            nn.Conv2d(in_channels, out_channels, 3, padding=1, bias=False), nn.BatchNorm2d(out_channels), nn.ReLU(),
            nn.Conv2d(out_channels, out_channels, 3, padding=1, bias=False), nn.BatchNorm2d(out_channels), nn.ReLU())


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1 = DoubleConv(3, WIDTH)
        self.down2 = DoubleConv(WIDTH, 2 * WIDTH)
        self.middle = DoubleConv(2 * WIDTH, 4 * WIDTH)
        self.up2 = nn.ConvTranspose2d(4 * WIDTH, 2 * WIDTH, 2, stride=2)
        self.conv2 = DoubleConv(4 * WIDTH, 2 * WIDTH)
        self.up1 = nn.ConvTranspose2d(2 * WIDTH, WIDTH, 2, stride=2)
        self.conv1 = DoubleConv(2 * WIDTH, WIDTH)
        self.out = nn.Conv2d(WIDTH, 1, 1)

    def forward(self, x):
        x1 = self.down1(x)
        x2 = self.down2(F.max_pool2d(x1, 2))
        x = self.middle(F.max_pool2d(x2, 2))
        x = self.conv2(torch.cat([x2, self.up2(x)], 1))
        x = self.conv1(torch.cat([x1, self.up1(x)], 1))
        return self.out(x)


def dice_loss(logits, target):
    p = torch.sigmoid(logits)
    intersection = (p * target).sum((1, 2, 3))
    total = p.sum((1, 2, 3)) + target.sum((1, 2, 3))
    return 1 - ((2 * intersection + 1) / (total + 1)).mean()


def main(run):
    data = run.data("images.npy", "masks.npy", batch_size=BATCH)
    model = run.model(UNet())
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-4, weight_decay=1e-8, momentum=0.9)
    for epoch in range(run.epochs):
        for images, masks in data:
            out = model(images)
            bce = F.binary_cross_entropy_with_logits(out, masks)
            dice = dice_loss(out, masks)
            optimizer.zero_grad()
            (bce + dice).backward()
            nn.utils.clip_grad_value_(model.parameters(), 0.1)
            optimizer.step()
            run.log(bce=bce, dice=dice)
