#!/usr/bin/python3
"""Kills runs with SIGKILL at random moments, resumes them, and compares with a run that nobody disturbed.

usage: test/kill_and_resume.py [--moments N] [--seed N]      (default: 100 moments of each case)

Final weights, the logs' rows and the values in TensorBoard's file must be the same bytes. A moment may be anywhere: while
the folder is made, in a step, while a checkpoint is written, after the last step.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

import dltools
import tensorboard_events

MODEL = """#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;

struct Net : nn::Module {
  nn::Conv2d conv{1, 6, 3};
  nn::Dropout drop{0.2};
  nn::Linear fc1{150, 20};
  nn::Linear fc2{20, 5};
  dl::Tensor forward(dl::Tensor x) {
    x = F::max_pool2d(F::relu(conv(x)), 2);
    return fc2(F::relu(fc1(drop(x.view({-1, 150})))));
  }
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = p.arg("batch_size", 16), .shuffle = true});
  Net model;
  dl::optim::SGD optimizer(model.parameters(), {.lr = 0.02, .momentum = 0.9});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::cross_entropy(model(b.data), b.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
  p.eval("test", data, [&](dl::Batch b) -> dl::Metrics {
    auto out = model(b.data);
    return {{"loss", F::cross_entropy(out, b.target)}, {"accuracy", out.argmax(1).eq(b.target).mean()}};
  });
}
"""

# The data: 70 items in batches of 16, so that the last one is short, also within a group.
CASES = {"plain": [], "accumulate": ["--accumulate=2"]}
EPOCHS = {"plain": 400, "accumulate": 600}


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Case:
    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        rng = np.random.default_rng(5)
        np.save(os.path.join(folder, "x.npy"), rng.normal(size=(70, 1, 12, 12)).astype(np.float32))
        np.save(os.path.join(folder, "y.npy"), rng.integers(0, 5, 70))
        with open(os.path.join(folder, "net.dl"), "w", encoding="utf-8") as file:
            file.write(MODEL)
        dltools.dlcc("net.dl", *CASES[name], cwd=folder)

    def command(self, out):
        return [dltools.DLRUN, "net.plan", "--epochs", str(EPOCHS[self.name]), "--every", "ckpt=37,log=1,eval=101", "-q",
                "--out", out, "--save-final", out + ".safetensors", "--resume=auto"]

    def results(self, out):
        path = os.path.join(self.folder, out)
        events = tensorboard_events.read(os.path.join(path, "events.out.tfevents.dlrun"))
        return {"weights": read(path + ".safetensors"), "tensorboard": [(e["step"], e["scalars"]) for e in events],
                **{name: read(os.path.join(path, name)) for name in ("train.csv", "eval.csv", "epochs.csv", "events.jsonl")}}

    def undisturbed(self):
        started = time.monotonic()
        subprocess.run(self.command("whole"), cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        self.expected, self.seconds = self.results("whole"), time.monotonic() - started

    def killed(self, moments, chance):
        """Kills that many times; as often as a run comes to its end, its results are compared and a new one begins."""
        kills = runs = 0
        while True:
            resumes = os.path.exists(os.path.join(self.folder, "run", "run.json")) and chance.random() < 0.5
            command = [dltools.DLRUN, "resume", "run", "-q"] if resumes else self.command("run")
            process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            if kills < moments:
                time.sleep(chance.uniform(0, self.seconds / 6))
                if process.poll() is None:
                    process.kill()
            said = process.communicate(timeout=120)[1]
            if process.returncode == -9:
                kills += 1
                continue
            if process.returncode:
                raise AssertionError(f"{self.name}: after {kills} kills dlrun ended with {process.returncode}: {said}")
            runs += 1
            got = self.results("run")
            wrong = [name for name in got if got[name] != self.expected[name]]
            if wrong:
                raise AssertionError(f"{self.name}: after {kills} kills {', '.join(wrong)} differ")
            shutil.rmtree(os.path.join(self.folder, "run"))
            os.remove(os.path.join(self.folder, "run.safetensors"))
            if kills >= moments:
                return kills, runs


def run(name, moments, seed):
    with tempfile.TemporaryDirectory(prefix="dl-kill-") as folder:
        case = Case(name, folder)
        case.undisturbed()
        kills, runs = case.killed(moments, random.Random(seed))
        return f"{name}: killed {kills} times, {runs} runs came to their end, all with the bits of the undisturbed one"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moments", type=int, default=100)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print(f"seed {options.seed}")
    for name in CASES:
        print(run(name, options.moments, options.seed), flush=True)


if __name__ == "__main__":
    try:
        main()
    except AssertionError as error:
        sys.exit(str(error))
