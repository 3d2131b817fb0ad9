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

    def events_of_trace(self):
        """Commands and tiles, as they were begun."""
        with open(self.path("trace.json"), encoding="utf-8") as file:
            events = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X" and "kernel" in e["args"]]
        return sorted(events, key=lambda event: event["ts"])

    def order(self, seed, *common):
        """In which order one thread begins commands and tiles, over all steps: only the seed can change it."""
        self.dlrun(*common, "--threads", 1, "--poison", "--order", f"random:{seed}", "--trace", "trace.json",
                   "--save-final", "random.safetensors")
        return tuple((e["args"]["run"], e["args"]["command"], e["args"]["tiles"]) for e in self.events_of_trace())

    def check(self, plan, *options, seeds=SEEDS, steps=3):
        common = (plan, "--steps", steps, "-q", *options)
        self.dlrun(*common, "--threads", 1, "--save-final", "plain.safetensors")
        wanted = self.digest("plain.safetensors")
        orders = {}
        for seed in range(seeds):
            orders[seed] = self.order(seed, *common)
            self.assertEqual(self.digest("random.safetensors"), wanted, f"seed {seed}, one thread")
            self.dlrun(*common, "--threads", 3, "--poison", "--order", f"random:{seed}", "--save-final", "random.safetensors")
            self.assertEqual(self.digest("random.safetensors"), wanted, f"seed {seed}")
        different = len(set(orders.values()))
        print(f"[{different} orders of {seeds} seeds, the same weights] ", end="", flush=True)
        self.assertEqual(different, seeds)
        self.assertEqual(self.order(0, *common), orders[0], "one seed gives two orders")
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

    def late(self, *options):
        """The share of commands that one thread begins more than 40 us after the end of the one before."""
        self.dlrun(examples.plan(examples.example("mnist/mnist.dl")), "--steps", 30, "-q", "--every", "eval=0", "--threads", 1,
                   "--data", support.fake_mnist(), "--trace", "trace.json", *options)
        events = self.events_of_trace()
        gaps = [b["ts"] - a["ts"] - a["dur"] for a, b in zip(events, events[1:]) if a["args"]["run"] == b["args"]["run"]]
        self.assertGreater(len(gaps), 500)
        return sum(gap > 40 for gap in gaps) / len(gaps)

    def test_delays(self):
        """A random order waits before one command in four: a sleep, however short, takes some 50 us."""
        ordinary, random = self.late(), self.late("--order", "random:1")
        print(f"[{ordinary:.3f} of the commands late, {random:.3f} in a random order] ", end="", flush=True)
        self.assertLess(ordinary, 0.1)
        self.assertGreater(random, 0.15)
        self.assertLess(random, 0.35)

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
