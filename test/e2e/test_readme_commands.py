"""What README.md says one can type: each of its commands runs, in its order, and the code of its tables compiles. Those of "Many
devices" are in test_readme.py and test/mpi."""

import os
import re
import shutil
import unittest

import numpy as np

import dltools
from numpy_twin import safetensors
from ports import ours as ports
from ports.cases import BY_NAME

from . import support

# They install and build: examples/run.sh and test/run.sh have tests of their own.
NOT_HERE = ("examples/run.sh", "test/run.sh")
# What a table writes for what the reader puts in.
PLACES = {"MODEL.dl": "net.dl", "PLAN": "net.plan", "PHASE": "fuse", "SEED": "3", "[=json]": "=json", "[--json]": "--json",
          "--save-metrics F": "--save-metrics metrics.safetensors"}

# The right column of "Coming from PyTorch", in one program.
SNIPPETS = """#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;

struct Block : nn::Module {
  nn::Linear fc1{8, 16}, fc2{16, 8};
  dl::Tensor forward(dl::Tensor x) { return x + fc2(F::relu(fc1(x))); }
};

struct Swish : dl::autograd::Function<Swish> {
  static dl::Tensor forward(dl::autograd::AutogradContext *ctx, dl::Tensor x) {
    ctx->save_for_backward({x});
    return x * x.sigmoid();
  }
  static dl::TensorList backward(dl::autograd::AutogradContext *ctx, dl::TensorList grads) {
    auto s = ctx->get_saved_variables()[0].sigmoid();
    return {grads[0] * s * (1 + ctx->get_saved_variables()[0] * (1 - s))};
  }
};

struct Net : nn::Module {
  nn::Linear fc{4, 2};
  nn::AnyModule act;
  bool smooth = true;
  nn::Conv2d conv{3, 8, 3, {.stride = 2, .bias = false}};
  Block blocks[6];
  dl::Parameter cls = dl::zeros({1, 8});
  dl::Buffer seen = dl::zeros({}), mask = dl::tril(dl::ones({8, 8}));
  Net() {
    nn::init::orthogonal_(fc.weight);
    act = smooth ? nn::AnyModule(nn::GELU()) : nn::ReLU();
  }
  auto encode(dl::Tensor x) {
    for (auto &block : blocks)
      x = block(x);
    auto mu = x, logvar = x + cls;
    return dl::Tensors{mu, logvar};
  }
  dl::Tensor forward(dl::Tensor x) {
    auto [mu, logvar] = encode(x);
    return mu * dl::where(x > 0, x, 0.1 * x) + logvar;
  }
};

void dl_main(dl::Program &p) {
  auto width = p.arg("width", 64);
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = 64, .shuffle = true});
  auto text = dl::data::TokenDataset("train.bin", {.length = 256, .batch_size = 16, .shuffle = true});
  auto [train, val] = dl::data::random_split(data, {0.9, 0.1});
  auto in_thousands = dl::data::DataLoader(val, {.batch_size = 1000});
  auto beginning = dl::data::Subset(data, dl::Slice(0, 50));
  auto drawn = dl::data::DataLoader(data, {.batch_size = 64, .sampler = dl::data::WeightedRandomSampler("weights.npy", data.size())});
  auto photographs = dl::data::CIFAR10("data/cifar-10-batches-bin", {.train = true, .batch_size = 64, .shuffle = true});
  {
    using namespace dl::transforms;
    auto train = dl::data::ImageFolder("train", {.transform = {RandomResizedCrop(224), RandomHorizontalFlip(), Normalize({0.5}, {0.25})}, .batch_size = 64, .shuffle = true});
    nn::Linear head{8, train.classes.size()};
  }
  dl::transforms::RandomCrop crop{32, {.padding = 4}};
  dl::transforms::RandomHorizontalFlip flip;
  p.predict("turned", photographs, [&](dl::Batch b) -> dl::Metrics {
    auto x = flip(crop(b.data));
    return {{"x", x}};
  });
  Net model, other;
  dl::optim::Parameters decay;
  for (auto &parameter : model.parameters())
    decay.push_back(parameter);
  dl::optim::SGD optimizer(decay, {.lr = 0.01});
  dl::optim::lr_scheduler::LambdaLR scheduler(optimizer, [](dl::Scalar t) { return dl::minimum(t / 10, 1); });
  dl::optim::SGD second(model.fc.parameters(), {.lr = 0.01});
  auto &encoder = model, &decoder = other;
  dl::optim::Adam both({encoder.parameters(), decoder.parameters()}, {.lr = 1e-3});
  {
    struct VGG : nn::Module { nn::Sequential classifier; } model;
    for (int i = 0; i < 7; ++i)
      model.classifier.append(nn::ReLU());
    model.classifier[6] = nn::Linear(4096, 10);
  }
  {
    auto &optimizer = second;
    dl::optim::lr_scheduler::ReduceLROnPlateau plateau(optimizer, {.patience = 3});
    plateau.step("test.loss");
  }
  p.train(data, [&](dl::Batch batch) -> dl::Metrics {
    auto x = batch[0], t = batch[1], a = x, b = x.transpose(0, 1), table = x;
    auto odd = x[dl::Slice(), 0].sum() + x[dl::Ellipsis, dl::Slice(0, dl::kEnd, 2)].sum() + x[dl::Slice(), dl::None].sum() + table[t].sum();
    { dl::NoGradGuard no_grad; odd += a.sum(); }
    odd += dl::matmul(a, b).sum() + a.pow(2).sum() + x.size(0) + x.sum(1, true).sum() + x.softmax(-1).sum() + x.detach().sum();
    auto loss = model(x).mean() + width * odd + model.conv.weight.sum() + model.fc.weight.sum();
    model.seen += 1.0;
    auto block = [](dl::Tensor x) { return x.relu(); };
    auto u = x.square();
    odd += Swish::apply(x).mean();
    {
      auto &conv1 = model.conv;
      auto x = batch[0].view({-1, 1, 2, 4}).expand({-1, 3, 2, 4}).repeat({1, 1, 4, 2});
      odd += conv1->forward(x).sum() + dl::max_pool2d(x, 2).sum() + F::mse_loss(x, x, {.reduction = dl::kSum});
    }
    odd += dl::autograd::grad(u.sum(), x, {.create_graph = true})[0].square().mean();
    odd += dl::checkpoint(block, x).sum();
    odd += model.mask.sum() + [&](dl::Tensor a) { return dl::distributions::Categorical({.logits = x}).log_prob(a); }(t).sum() + F::gumbel_softmax(x, {.tau = 0.5, .hard = true}).sum();
    optimizer.zero_grad();
    loss.backward();
    nn::utils::clip_grad_norm_(model.parameters(), 1.0);
    {
      auto &optimizer = both;
      auto lr = dl::where(p.step() < 100, 1e-3, 1e-4);
      for (auto &group : optimizer.param_groups()) group["lr"] = lr;
    }
    optimizer.step();
    {
      auto &a = model, &b = other;
      for (auto [p, q] : dl::zip(a.parameters(), b.parameters())) p.data().lerp_(q.data(), 0.01);
    }
    return {{"loss", loss}};
  });
  p.eval("test", data, [&](dl::Batch batch) -> dl::Metrics { return {{"loss", model(batch[0]).mean()}}; });
  {
    nn::Embedding model(50304, 8);
    auto &data = text;
    p.generate("text", data, [&](dl::Batch b) { return model(b.data); });
  }
  p.each_epoch([&] { scheduler.step(); });
}

void frozen() {
  Net model;
  model.requires_grad_(false);
  struct Tuned : nn::Module { Net backbone; } net;
  net.backbone.eval();
}
"""
# Of the right column, what is a name or a thing that other rows and tests have.
NAMES = {"net.plan", "b.data", "b.target", "nn::ModuleList", "append", "backward()", "dl::autograd::grad()", ".grad()", "p.train", "p.eval", "p.predict",
         "p.train(data, [&](dl::Batch b) -> dl::Metrics {", 'p.train("disc", data, step)', 'p.train("gen", data, step)'}


def readme():
    with open(os.path.join(dltools.ROOT, "README.md"), encoding="utf-8") as file:
        return file.read()


def section(text, title):
    return re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.S | re.M)[1]


def commands(text):
    """The commands of the fenced blocks and of the tables, in order, without comments."""
    found, fence = [], None
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("```"):
            fence = line if fence is None else None
        elif fence == "```":
            found.append(re.sub(r"\s+# .*", "", line).strip())
        elif line.startswith("|"):
            found += re.findall(r"`([^`]+)`", line)
    return [line for line in found if line.split() and line.split()[0] in ("dlcc", "dlrun", *NOT_HERE)]


def filled(command):
    for place, value in PLACES.items():
        command = re.sub(rf"(?<![\w./-]){re.escape(place)}|{re.escape(place)}(?!\w)" if place.startswith("[") else
                         rf"(?<![\w./-]){re.escape(place)}(?!\w)", value, command)
    words = command.split()
    if len(words) > 1 and words[1].startswith("--") and words[1] != "--help":  # "dlrun --seed 1" of a sentence
        words.insert(1, "net.dl" if words[0] == "dlcc" else "net.plan")
    return " ".join(words)


class Commands(support.ToolTest):
    def small_mnist(self, folder):
        """As many items as end in batches that the model's programs have."""
        os.makedirs(folder)
        random = np.random.default_rng(3)
        for prefix, items in (("train", 3 * 64 + 32), ("t10k", 1000)):
            support.write_idx(os.path.join(folder, f"{prefix}-images-idx3-ubyte"), random.integers(0, 256, (items, 28, 28), dtype=np.uint8))
            support.write_idx(os.path.join(folder, f"{prefix}-labels-idx1-ubyte"), random.integers(0, 10, items, dtype=np.uint8))

    def prepare(self, text):
        """What the reader has: the model, data, the tools, and files that the text takes for granted."""
        self.write("net.dl", re.search(r"```cpp\n(.*?)```", text, re.S)[1])
        self.small_mnist(os.path.join(self.folder, "data", "mnist"))
        shutil.copytree(os.path.join(self.folder, "data", "mnist"), os.path.join(self.folder, "new", "mnist"))
        gan = BY_NAME["dcgan"]
        ports.write(gan, self.path("gan"))
        self.dlcc("gan/model.dl", "-o", "gan/gan.plan")
        os.rename(self.path("gan/gan.plan"), self.path("gan.plan"))
        for name in gan.arrays():
            os.rename(self.path("gan/" + name), self.path(name))
        self.write("train.txt", "to be or not to be" * 60)
        self.write("valid.txt", "to be or not to be" * 10)
        self.dlcc(support.example("gpt"), "-D", "depth=1", "-D", "width=32", "-o", "gpt.plan")
        self.dlrun("gpt.plan", "-q", "--steps", 1, "--out", "runs/gpt")
        self.dlcc("net.dl", "-o", "net2.plan")
        self.dlrun("net2.plan", "--steps", 0, "--save-final", "first.safetensors")
        weights = self.load("first.safetensors")
        safetensors.save(os.path.join(self.folder, "backbone.safetensors"),
                         {name.replace("conv.", "encoder."): value for name, value in weights.items() if "conv" in name})

    def test_every_command_runs(self):
        text = readme()
        self.prepare(text)
        found = commands(text.replace(section(text, "Many devices"), "").replace(section(text, "On a GPU"), ""))
        self.assertGreater(len(found), 40)
        path = os.path.dirname(dltools.DLCC) + os.pathsep + os.environ["PATH"]
        ran = []
        for command in map(filled, found):
            if command.split()[0] in NOT_HERE:
                self.assertTrue(os.access(os.path.join(dltools.ROOT, command.split()[0]), os.X_OK), command)
                continue
            if "--target=cuda" in command:  # the source alone: no NVRTC
                command = re.sub(r"--target=cuda\S*", "--target=cuda:source", command) + " -o cuda.plan"
            if "generate" in command:  # bytes that are no text yet
                command += " > written.txt"
            result = dltools.call(["bash", "-c", command], self.folder, {"PATH": path, "DL_DATA": ""})
            self.assertEqual(result.returncode, 0, f"{command}\n{result.stdout[-500:]}\n{result.stderr[-2000:]}")
            ran.append(command)
        for what in ("--set lr=", "dlrun resume", "dlrun predict", "dlrun generate", "--init-partial", "--alternate"):
            self.assertTrue(any(what in command for command in ran), what)
        digits = np.load(os.path.join(self.folder, "digits.npy"))
        self.assertEqual(digits.shape, (1000,))

    @unittest.skipUnless(os.path.isdir(dltools.EMULATED), "there is no emulated GPU")
    def test_commands_for_gpus(self):
        """Those that compile, without NVRTC; those that run, on the emulated device."""
        text = readme()
        self.write("net.dl", re.search(r"```cpp\n(.*?)```", text, re.S)[1])
        self.small_mnist(os.path.join(self.folder, "data", "mnist"))
        found = commands(section(text, "On a GPU"))
        self.assertGreaterEqual(len(found), 3)
        path = os.path.dirname(dltools.DLCC) + os.pathsep + os.environ["PATH"]
        for command in found:
            command = re.sub(r"--target=cuda\S*", "--target=cuda:source", command)
            if command == "dlrun net.plan":
                command += " --steps 2 -q"
            if not command.startswith("dlrun resume"):
                result = dltools.call(["bash", "-c", command], self.folder, {"PATH": path, "DL_DATA": "", **dltools.emulated()})
                self.assertEqual(result.returncode, 0, f"{command}\n{result.stderr[-2000:]}")
        self.assertTrue(os.path.exists(self.path("net.cu")))

    def test_a_wrong_command_is_found(self):
        """Control: an option that is not there, and a line that is no command."""
        self.assertEqual(commands("```\ndlrun net.plan --epoch 3   # no\n      text\n```\n| `dlcc MODEL.dl` | x |\n"),
                         ["dlrun net.plan --epoch 3", "dlcc MODEL.dl"])
        self.assertEqual(filled("dlcc MODEL.dl --report[=json]"), "dlcc net.dl --report=json")
        self.assertNotEqual(dltools.call([dltools.DLRUN, "net.plan", "--epoch", "3"], self.folder).returncode, 0)

    def test_the_table_compiles(self):
        """Each piece of C++ in the right column stands in a program that compiles."""
        np.arange(5000, dtype=np.uint16).tofile(os.path.join(self.folder, "train.bin"))
        for name, shape, kind in (("x.npy", (64, 8), np.float32), ("y.npy", (64,), np.int64), ("weights.npy", (64,), np.float32)):
            np.save(os.path.join(self.folder, name), np.zeros(shape, kind))
        os.makedirs(self.path("train", "cat"))
        self.write("train/cat/1.ppm", "P3 1 1 255 1 2 3")
        self.write("snippets.dl", SNIPPETS)
        self.dlcc("snippets.dl", "--check")
        rows = re.findall(r"^\| .* \| (.*) \|$", section(readme(), "Coming from PyTorch"), re.M)
        self.assertGreaterEqual(len(rows), 20)
        pieces = [piece for row in rows for piece in re.findall(r"`([^`]+)`", row)]
        program = re.sub(r"\s+", " ", SNIPPETS)
        missing = [piece for piece in pieces if piece not in NAMES and not piece.startswith(("dlrun ", "dlcc ", "state_dict"))
                   and piece.rstrip(";") not in program]
        self.assertEqual(missing, [])

    def test_the_picture_is_of_the_example(self):
        """It shows what dlcc draws today, whatever the numbers of its ops are."""
        shutil.copy(support.example("mnist"), self.path("mnist.dl"))
        self.dlcc("mnist.dl", "--emit=graph.svg", "--view=modules")

        def words(path):
            with open(path, encoding="utf-8") as file:
                texts = re.findall(r"<text[^>]*>([^<]*)", file.read())
            return {text for text in texts if re.match(r"(conv|fc)\d", text)}

        kept = words(os.path.join(dltools.ROOT, "examples", "mnist", "mnist.graph.svg"))
        self.assertIn("examples/mnist/mnist.graph.svg", readme())
        self.assertGreater(len(kept), 10)
        self.assertEqual(words(self.path("mnist.graph.svg")), kept,
                         "dlcc examples/mnist/mnist.dl --emit=graph.svg --view=modules makes it anew")
