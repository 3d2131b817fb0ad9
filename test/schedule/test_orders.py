"""Any order that the edges allow gives the same bytes, and dead memory is never read."""

import hashlib
import json

import dltools
from e2e import support
from . import examples

SEEDS = 20


class Orders(support.ToolTest):
    def digest(self, name):
        with open(self.path(name), "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()

    def order(self):
        """In which commands and tiles were begun, over all steps."""
        with open(self.path("trace.json"), encoding="utf-8") as file:
            events = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X" and "kernel" in e["args"]]
        events.sort(key=lambda event: event["ts"])
        return tuple((e["args"]["run"], e["args"]["command"], e["args"]["tiles"]) for e in events)

    def check(self, plan, *options, seeds=SEEDS, steps=3):
        common = (plan, "--steps", steps, "-q", *options)
        self.dlrun(*common, "--threads", 1, "--save-final", "plain.safetensors")
        wanted = self.digest("plain.safetensors")
        orders = set()
        for seed in range(seeds):
            self.dlrun(*common, "--threads", 3, "--poison", "--order", f"random:{seed}", "--trace", "trace.json",
                       "--save-final", "random.safetensors")
            self.assertEqual(self.digest("random.safetensors"), wanted, f"seed {seed}")
            orders.add(self.order())
        print(f"[{len(orders)} orders of {seeds} seeds, the same weights] ", end="", flush=True)
        self.assertEqual(len(orders), seeds)
        self.dlrun(*common, "--threads", 2, "--poison", "--save-final", "poison.safetensors")
        self.assertEqual(self.digest("poison.safetensors"), wanted)

    def test_convnet(self):
        self.check(examples.plan(examples.example("mnist/mnist.dl")), "--data", support.fake_mnist(),
                   "--every", "eval=0")

    def test_independent_products(self):
        model = examples.example("parallel_ops/parallel_ops.dl")
        self.check(examples.plan(model), "--data", examples.data(model))

    def test_accumulation(self):
        model = examples.example("mnist_mlp/mnist_mlp.dl")
        self.check(examples.plan(model, "--accumulate=4", name="-4"), "--data", support.fake_mnist(),
                   "--every", "eval=0", seeds=5)

    def test_evaluation(self):
        """Evaluations, too, with their short last batches."""
        plan = examples.plan(examples.example("mnist_mlp/mnist_mlp.dl"))
        said = {}
        for options in ((), ("--poison", "--order=random:1")):
            (event,) = [e for e in self.events("eval", plan, "--data", support.fake_mnist(), "--threads", 2, *options)
                        if e["event"] == "eval"]
            said[options] = event
        self.assertEqual(*said.values())

    def test_wrong_order_is_refused(self):
        plan = examples.plan(examples.example("linear/linear.dl"))
        for value in ("random", "random:", "random:x", "backwards:1"):
            result = dltools.call([dltools.DLRUN, plan, "--order", value])
            self.assertEqual(result.returncode, 2, value)
            self.assertIn("--order", result.stderr)
