#!/usr/bin/python3
"""Changes bytes of a plan's metadata, seals it again and runs it under ASan and UBSan: refused, or within bounds.

usage: test/hostile.py [--sample N | --all] [--seed N]

Tries one change of every byte, chosen by the seed (a few minutes); --all tries all six, --sample N a random sample of them.
What the reader accepts is described, trained, evaluated, saved and resumed. Builds the runtime and dlrun with sanitizers
(preset asan) first. A control, in which dlrun does not compare what kernels rely on with the record beside the code, must
crash.
"""

import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile

import numpy as np

import dltools
import sanitizers

MODEL = """#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = 8, .shuffle = true});
  nn::Linear model{3, p.arg("classes", 2)};
  nn::Dropout drop{0.5};
  dl::optim::SGD optimizer(model.parameters(), {.lr = 0.1, .momentum = 0.9});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::cross_entropy(model(drop(b.data)), b.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
  p.eval("test", data, [&](dl::Batch b) -> dl::Metrics {
    return {{"loss", F::cross_entropy(model(b.data), b.target)}};
  });
}
"""

CONTROL = ["-D", "classes=1000"]  # so wide that kernels reach beyond any slack

# Windows, two optimizers of two kinds, a step that trains a part of the model.
IMAGES = """#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"image.npy", "label.npy"}, {.batch_size = 2});
  nn::Conv2d conv{1, 2, 2};
  nn::Linear fc{2, 2};
  dl::optim::Adam adam(conv.parameters(), {.lr = 0.1});
  dl::optim::SGD sgd(fc.parameters(), {.lr = 0.1});
  auto model = [&](dl::Tensor x) { return fc(F::max_pool2d(conv(x), 2).view({-1, 2})); };
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::cross_entropy(model(b.data), b.target);
    adam.zero_grad();
    sgd.zero_grad();
    loss.backward();
    adam.step();
    sgd.step();
    return {{"loss", loss}};
  });
  p.eval("test", data, [&](dl::Batch b) -> dl::Metrics {
    return {{"accuracy", model(b.data).argmax(1).eq(b.target).mean()}};
  });
}
"""

# The model and what dlcc is told. Of MODEL's plans each has a short last batch, the first micro-batches and an update.
PLANS = {"accumulate": (MODEL, ["--accumulate=2"]), "plain": (MODEL, []), "images": (IMAGES, []), "control": (MODEL, CONTROL)}


def compile_plans(folder):
    rng = np.random.default_rng(0)
    for name, values in {"x": rng.normal(size=(20, 3)).astype(np.float32), "y": rng.integers(0, 2, 20),
                         "image": rng.normal(size=(6, 1, 3, 3)).astype(np.float32), "label": rng.integers(0, 2, 6)}.items():
        np.save(os.path.join(folder, name + ".npy"), values)
    for name, (model, options) in PLANS.items():
        with open(os.path.join(folder, name + ".dl"), "w", encoding="utf-8") as file:
            file.write(model)
        dltools.dlcc(name + ".dl", "-o", name + ".plan", *options, cwd=folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    compiler = sanitizers.address()
    if not compiler:
        print("skipped: no compiler links with -fsanitize=address,undefined (libclang-rt-22-dev or g++)")
        return 77
    tools, said = sanitizers.build("asan", compiler, "dlrt_hostile", "dlrun")
    if not tools:
        sys.exit(said)
    harness, dlrun = os.path.join(tools, "dlrt_hostile"), os.path.join(tools, "dlrun")
    # A refusal may need much memory only on paper; what new cannot get is a message, too.
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}
    good = True
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None  # thousands of checkpoints are written
    with tempfile.TemporaryDirectory(prefix="dl-hostile-", dir=memory) as folder:
        def run(plan, *arguments):
            return subprocess.run([harness, plan + ".plan", dlrun, *arguments], cwd=folder, env=env, text=True, capture_output=True)

        compile_plans(folder)
        choice = ["--sample", str(options.sample)] if options.sample else [] if options.all else ["--each-byte"]
        with concurrent.futures.ThreadPoolExecutor() as pool:
            runs = {name: pool.submit(run, name, *choice, "--seed", str(options.seed))
                    for name in PLANS if name != "control"}
        for name, result in ((name, future.result()) for name, future in runs.items()):
            print(f"{name}: {result.stdout}", end="", flush=True)
            if result.returncode:
                print(result.stderr[-8000:])
                good = False
        control = run("control", "--control")
        print("control:", control.stdout.splitlines()[-1], flush=True)
        if control.returncode != 1:
            print("the control does not crash: kernels out of bounds would not be seen")
            good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
