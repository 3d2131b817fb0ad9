"""What README.md shows: its commands, and a model for them."""

import os
import re

import numpy as np

import dltools

MODEL = """#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;

struct Mlp : nn::Module {
  nn::Linear c_fc{12, 40}, c_proj{40, 12};
  dl::Tensor forward(dl::Tensor x) { return c_proj(F::gelu(c_fc(x))); }
};
struct Block : nn::Module {
  Mlp mlp;
  dl::Tensor forward(dl::Tensor x) { return x + mlp(x); }
};
struct Net : nn::Module {
  nn::Sequential h{Block{}, Block{}};
  nn::Linear head{12, 4};
  dl::Tensor forward(dl::Tensor x) { return head(h(x)); }
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = 64});
  Net model;
  dl::optim::Adam optimizer(model.parameters(), {.lr = 0.01});
%s
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    optimizer.zero_grad();
    auto loss = F::cross_entropy(model(b[0]), b[1]);
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


def section(title):
    with open(os.path.join(dltools.ROOT, "README.md"), encoding="utf-8") as file:
        return re.search(rf"^## {title}\n(.*?)^## ", file.read(), re.S | re.M)[1]


def blocks(title, language=""):
    return [text for name, text in re.findall(r"^```(\w*)\n(.*?)^```\n", section(title), re.S | re.M) if name == language]


def commands(title):
    """The words of each command, which a comment may follow."""
    lines = [line.split("#")[0].split() for block in blocks(title) for line in block.splitlines()]
    return [words for words in lines if words and words[0] in ("dlcc", "dlrun")]


def write_divided_model(folder):
    """net.dl with what stands beside the model in "Many devices", and its data."""
    [beside] = blocks("Many devices", "cpp")
    with open(os.path.join(folder, "net.dl"), "w", encoding="utf-8") as file:
        file.write(MODEL % beside)
    rng = np.random.default_rng(0)
    np.save(os.path.join(folder, "x.npy"), rng.normal(size=(128, 12)).astype(np.float32))
    np.save(os.path.join(folder, "y.npy"), rng.integers(0, 4, size=128))
