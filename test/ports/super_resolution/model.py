import torch
from torch import nn
from torch.nn import functional as F

BATCH = 16
UPSCALE = 3


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 64, (5, 5), (1, 1), (2, 2))
        self.conv2 = nn.Conv2d(64, 64, (3, 3), (1, 1), (1, 1))
        self.conv3 = nn.Conv2d(64, 32, (3, 3), (1, 1), (1, 1))
        self.conv4 = nn.Conv2d(32, UPSCALE * UPSCALE, (3, 3), (1, 1), (1, 1))
        self.pixel_shuffle = nn.PixelShuffle(UPSCALE)
        nn.init.orthogonal_(self.conv1.weight, nn.init.calculate_gain("relu"))
        nn.init.orthogonal_(self.conv2.weight, nn.init.calculate_gain("relu"))
        nn.init.orthogonal_(self.conv3.weight, nn.init.calculate_gain("relu"))
        nn.init.orthogonal_(self.conv4.weight)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = F.relu(self.conv3(x))
        return self.pixel_shuffle(self.conv4(x))


def main(run):
    data = run.data("small.npy", "large.npy", batch_size=BATCH)
    model = run.model(Net())
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(run.epochs):
        for small, large in data:
            optimizer.zero_grad()
            loss = criterion(model(small), large)
            loss.backward()
            optimizer.step()
            run.log(loss=loss, psnr=10 * torch.log10(1 / loss))
