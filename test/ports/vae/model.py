import torch
from torch import nn
from torch.nn import functional as F

BATCH = 64
HIDDEN = 400
LATENT = 20


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(784, HIDDEN)
        self.fc21 = nn.Linear(HIDDEN, LATENT)
        self.fc22 = nn.Linear(HIDDEN, LATENT)
        self.fc3 = nn.Linear(LATENT, HIDDEN)
        self.fc4 = nn.Linear(HIDDEN, 784)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar, eps):
        std = torch.exp(0.5 * logvar)
        return mu + eps * std

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x, eps):
        mu, logvar = self.encode(x.view(-1, 784))
        z = self.reparameterize(mu, logvar, eps)
        return self.decode(z), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    bce = F.binary_cross_entropy(recon_x, x.view(-1, 784), reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld


def main(run):
    data = run.data("images.npy", "eps.npy", batch_size=BATCH)
    model = run.model(VAE())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(run.epochs):
        for images, eps in data:
            optimizer.zero_grad()
            recon, mu, logvar = model(images, eps)
            loss = loss_function(recon, images, mu, logvar)
            loss.backward()
            optimizer.step()
            run.log(loss=loss)
