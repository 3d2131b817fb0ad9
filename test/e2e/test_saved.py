"""What the backward makes again has the bits of what it would have kept."""

import json
import os
import sys

import numpy as np

import dltools
from . import support

TRANSFORMER = os.path.join(dltools.ROOT, "test", "bench", "models", "transformer.dl")


class Saved(support.ToolTest):
    def weights(self, plan, *options):
        self.dlrun(plan, "--steps", 8, "-q", "--save-final", "w.safetensors", *options)
        with open(self.path("w.safetensors"), "rb") as file:
            return file.read()

    def compare(self, source, options, data=()):
        """The report of the plan that makes values again; its weights are those of a plan that keeps all."""
        report = json.loads(self.dlcc(source, *options, "--report=json", "-o", "again.plan"))
        kept = json.loads(self.dlcc(source, *options, "--keep-all", "--report=json", "-o", "kept.plan"))
        self.assertFalse([p for step in kept["steps"] for p in step["programs"] if p["made_again"]["values"]])
        for threads in 1, 2:
            self.assertEqual(self.weights("again.plan", "--threads", threads, *data),
                             self.weights("kept.plan", "--threads", threads, *data), source)
        return report, kept

    def test_examples(self):
        """All of them, with small values made again too."""
        folder = os.path.join(dltools.ROOT, "examples")
        repeated = 0
        for name in sorted(n for n in os.listdir(folder) if os.path.isfile(support.example(n))):
            data = []
            with open(support.example(name), encoding="utf-8") as file:
                text = file.read()
            script = os.path.join(folder, name, "generate.py")
            if "data::MNIST" in text:
                data = ["--data", support.fake_mnist()]
            elif os.path.exists(script):
                dltools.run(sys.executable, script, self.folder)
            report, _ = self.compare(support.example(name), ["--keep-below=1"], data)
            repeated += sum(p["made_again"]["values"] for step in report["steps"] for p in step["programs"])
        self.assertGreater(repeated, 0)

    def text_data(self, batch, length):
        text = np.random.default_rng(2).integers(0, 65, (batch, length + 1))
        np.save(self.path("x.npy"), np.eye(65, dtype=np.float32)[text[:, :-1]])
        np.save(self.path("y.npy"), text[:, 1:].astype(np.int64))

    def test_transformer(self):
        """A block keeps the operand of its GELU instead of four values made from it, and x - mean of a norm, not its result."""
        self.text_data(2, 64)
        options = ["-D", "batch_size=2", "-D", "length=64", "-D", "width=192", "-D", "heads=3", "-D", "depth=4"]
        report, kept = self.compare(TRANSFORMER, options)
        ((program,),), ((other,),) = ([step["programs"] for step in r["steps"]] for r in (report, kept))
        self.assertLess(program["temporary_bytes"], 0.6 * other["temporary_bytes"])
        self.assertEqual(program["commands"], other["commands"])
        alive = [item["name"] for item in program["peak"]["alive"] if item["name"].startswith("blocks.1")]
        self.assertEqual(sum("[2,64,768]" in name for name in alive), 1, alive)
        text = self.dlcc(TRANSFORMER, *options, "--report")
        self.assertRegex(text, r"\n  made again in the backward: \d+ values, \d+\.\d+ MB not kept, \d+ elements computed twice\n")
        self.assertRegex(text, r"blocks\.0 .*: mul: made again in the backward, for a product, beside mul, instead of 393216 bytes kept\n")
        self.assertRegex(text, r"blocks\.0\.fc1 .*: add: 393216 bytes kept for the backward, others are made from them\n")

    def test_on_ranks(self):
        """Each class of ranks chooses for itself."""
        self.text_data(4, 64)
        options = ["-D", "batch_size=4", "-D", "length=64", "-D", "width=192", "-D", "heads=3", "-D", "depth=2"]
        for mesh in ["--mesh=dp=2"], ["--mesh=pp=2", "--microbatches=2"]:
            self.compare(TRANSFORMER, [*options, *mesh])
