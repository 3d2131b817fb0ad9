import torch
from torch import nn

BATCH = 16
PATCH = 4
DIM = 128
DEPTH = 4
HEADS = 4
PATCHES = (32 // PATCH) * (32 // PATCH)


class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, DIM, PATCH, stride=PATCH)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, DIM))
        self.pos_embed = nn.Parameter(torch.zeros(1, PATCHES + 1, DIM))
        layer = nn.TransformerEncoderLayer(DIM, HEADS, dim_feedforward=4 * DIM, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, DEPTH)
        self.norm = nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, 10)
        nn.init.trunc_normal_(self.cls_token, std=0.02)
        nn.init.trunc_normal_(self.pos_embed, std=0.02)

    def forward(self, x):
        x = self.patch_embed(x).flatten(2).transpose(1, 2)
        cls = self.cls_token.expand(x.size(0), -1, -1)
        x = torch.cat([cls, x], 1) + self.pos_embed
        x = self.norm(self.encoder(x))
        return self.head(x[:, 0])


def main(run):
    data = run.data("images.npy", "labels.npy", batch_size=BATCH)
    model = run.model(ViT())
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, weight_decay=0.05)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-3, total_steps=101)
    for epoch in range(run.epochs):
        for images, labels in data:
            out = model(images)
            loss = criterion(out, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            run.log(loss=loss, accuracy=(out.argmax(1) == labels).double().mean())
