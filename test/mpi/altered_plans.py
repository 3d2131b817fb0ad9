#!/usr/bin/env python3
"""Changes one communication in compiled plans: what one rank alone does is refused before the first step.

    test/mpi/altered_plans.py [--count 1000] [--classes 60] [--seed S]

count    one rank gets a class of its own, in which one communication is dropped, doubled, swapped with another one, resized
         or sent elsewhere, and the plan is sealed again: all are refused. Controls: the same plans without the change are
         accepted, and most of the changed ones would be without the abstract execution.
classes  a whole class is changed so: refused, or two steps under --poison give the same bits.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import numpy as np  # noqa: E402

import dltools  # noqa: E402
from e2e import support  # noqa: E402

ALTER = os.environ.get("DL_ALTER", os.path.join(dltools.BIN, "dl_alter"))

BLOCKS = support.HEAD + """
struct Block : nn::Module {
  nn::Linear up{6, 11};
  nn::Linear down{11, 6};
  dl::Tensor forward(dl::Tensor x) { return x + down(F::gelu(up(x))); }
};
struct Net : nn::Module {
  nn::Sequential blocks{Block{}, Block{}, Block{}, Block{}};
  nn::Linear last{6, 5};
  dl::Tensor forward(dl::Tensor x) { return last(blocks(x)); }
};
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"a.npy", "b.npy"}, {.batch_size = 12});
  Net model;
  dl::optim::Adam optimizer(model.parameters(), {.lr = 0.003});
  dl::Mesh mesh{{"dp", 2}, {"pp", 2}, {"tp", 2}};
  dl::parallel::pipeline(model, "pp", "blocks.*", {.microbatches = 3, .schedule = "1f1b"});
  dl::parallel::tensor(model, {{"blocks.*.up", "colwise", "tp"}, {"blocks.*.down", "rowwise", "tp"}});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::cross_entropy(model(b.data), b.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""
# Name, model, what dlcc is told.
PLANS = [("copies", "net", ["--mesh", "dp=2"]), ("zero1", "net", ["--mesh", "dp=3", "--zero=1"]),
         ("zero3", "net", ["--mesh", "dp=4", "--zero=3"]), ("stages", "net", ["--mesh", "pp=2", "--microbatches=4"]),
         ("blocks", "blocks", []), ("gpipe", "blocks", ["--schedule=gpipe", "--zero=2"]),
         ("looped", "blocks", ["--mesh", "pp=2,dp=2", "--schedule=interleaved"]),
         ("wide", "blocks", ["--mesh", "tp=4,dp=2"]), ("long", "blocks", ["--mesh", "pp=4,dp=2", "--microbatches=6"])]


def compile_plans(folder):
    rng = np.random.default_rng(0)
    for name, values in {"x": rng.normal(size=(64, 1, 12, 12)).astype(np.float32), "y": rng.integers(0, 5, 64),
                         "a": rng.normal(size=(40, 6)).astype(np.float32), "b": rng.integers(0, 5, 40)}.items():
        np.save(os.path.join(folder, name + ".npy"), values)
    for name, text in (("net", support.CONVNET), ("blocks", BLOCKS)):
        with open(os.path.join(folder, name + ".dl"), "w", encoding="utf-8") as file:
            file.write(text)
    for name, model, options in PLANS:
        dltools.dlcc(model + ".dl", *options, "-o", name + ".plan", cwd=folder)


def of_one_rank(folder, count, seed):
    """Whether all were refused, and no control was."""
    good, total = True, {}
    for number, (name, _, _) in enumerate(PLANS):
        some = count // len(PLANS) + (number < count % len(PLANS))
        result = subprocess.run([ALTER, name + ".plan", str(seed + number), str(some)], cwd=folder, capture_output=True, text=True)
        if result.returncode:
            print(f"{name}: {result.stdout} {result.stderr[-2000:]}")
            good = False
        for key, value in json.loads(result.stdout or "{}").items():
            total[key] = total.get(key, 0) + value
    print("one rank:", json.dumps(total), flush=True)
    return good and total["refused by execution alone"] > total["refused"] / 2


def weights(folder, plan):
    """Of two steps in which dead memory is NaN; None where the loader refuses."""
    path = os.path.join(folder, "w.safetensors")
    if os.path.exists(path):
        os.remove(path)
    result = dltools.call([dltools.DLRUN, plan, "--steps", "2", "--poison", "-q", "--save-final", path], folder)
    if result.returncode == 5:
        return None
    if result.returncode:
        return f"exit code {result.returncode}: {result.stderr[-500:]}"
    with open(path, "rb") as file:
        return file.read()


def of_classes(folder, count, seed):
    right = {name: weights(folder, name + ".plan") for name, _, _ in PLANS}
    refused, same, good = 0, 0, True
    for number in range(count):
        name = PLANS[number % len(PLANS)][0]
        what = subprocess.run([ALTER, name + ".plan", str(seed + number), "class", "altered.plan"], cwd=folder,
                              capture_output=True, text=True)
        found = weights(folder, "altered.plan")
        refused += found is None
        same += found == right[name]
        if found is not None and found != right[name]:
            print(f"{name}, change {number}: {what.stdout.strip()}: other results {found[:200] if isinstance(found, str) else ''}")
            good = False
    print(f"classes: {refused} refused, {same} with the same bits, of {count}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, count in (("count", 1000), ("classes", 60), ("seed", 1)):
        parser.add_argument("--" + name, type=int, default=count)
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="dl-altered-")
    try:
        compile_plans(folder)
        good = of_one_rank(folder, options.count, options.seed)
        good &= of_classes(folder, options.classes, options.seed)
    finally:
        shutil.rmtree(folder)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
