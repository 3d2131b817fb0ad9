"""Memory: near its lower bound, as large as the report says, and taken once."""

import json
import os
import re
import shutil
import subprocess
import time
import unittest

import dltools
from e2e import support
from . import examples, plan_facts

COUNTER = os.path.join(dltools.BIN, "dl_count_allocations.so")
MEGABYTE = 1_000_000


def report(plan):
    with open(plan.removesuffix(".plan") + ".json", encoding="utf-8") as file:
        return json.load(file)


class Bound(unittest.TestCase):
    def test_heaviest_set(self):
        """The bound's own arithmetic, by brute force on small relations."""
        import itertools
        import random
        rng = random.Random(1)
        for _ in range(100):
            count = rng.randint(1, 8)
            weights = [rng.randint(1, 20) for _ in range(count)]
            pairs = {(i, j) for i in range(count) for j in range(i + 1, count) if rng.random() < 0.4}
            known = plan_facts.before(pairs, count)
            best = max(sum(weights[i] for i in chosen) for size in range(count + 1)
                       for chosen in itertools.combinations(range(count), size)
                       if not any(known[j] >> i & 1 for i in chosen for j in chosen))
            self.assertEqual(plan_facts.heaviest_set(weights, lambda i, j: known[j] >> i & 1), best)

    def test_examples(self):
        """The arena takes at most 1.15 of what no order-preserving packing goes below."""
        worst = 0
        for model in examples.models():
            info = dltools.info(examples.plan(model))
            ratio = info["arena_bytes"] / plan_facts.memory_bound(info)
            self.assertGreaterEqual(ratio, 1, model)
            self.assertLessEqual(ratio, 1.15, model)
            worst = max(worst, ratio)
        print(f"[at most {worst:.3f} of the bound] ", end="", flush=True)

    def test_running_at_once_costs_a_tenth_at_most(self):
        """Where it would take more the commands run one by one, and the report says so."""
        decisions = re.compile(r"independent kernels (may run at once|run one by one): (?:at once they need )?(\d+) bytes of "
                               r"temporaries, (\d+) in sequence")
        seen = set()
        for model in examples.models():
            for remark in report(examples.plan(model))["decisions"]:
                match = decisions.search(remark["text"])
                if match:
                    parallel, at_once, sequence = match[1] == "may run at once", int(match[2]), int(match[3])
                    self.assertEqual(parallel, at_once <= 1.1 * sequence, remark)
                    seen.add(parallel)
        self.assertEqual(seen, {True, False}, "both cases should be among the examples")


class Resident(support.ToolTest):
    def check(self, plan, threads, *options):
        """RssAnon of a running process against what dlcc --report said."""
        memory = report(plan)["memory"]
        said = memory["arena_bytes"] + threads * memory["scratch_bytes_per_thread"] + memory["batch_bytes"]
        process = subprocess.Popen([dltools.DLRUN, "bench", plan, "--threads", str(threads), "--seconds", "60", *options],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            sizes = []
            deadline = time.monotonic() + 30
            while len(sizes) < 5 or sizes[-1] != sizes[-4]:  # until it has settled
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.2)
                with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
                    sizes.append(int(re.search(r"RssAnon:\s+(\d+) kB", file.read())[1]) * 1024)
        finally:
            process.kill()
            process.wait()
        print(f"[{sizes[-1] / MEGABYTE:.1f} MB, the report said {said / MEGABYTE:.1f}] ", end="", flush=True)
        self.assertLessEqual(abs(sizes[-1] - said), 0.05 * said + 8 * MEGABYTE)

    def test_products(self):
        model = examples.example("parallel_ops/parallel_ops.dl")
        self.check(examples.plan(model), 2, "--data", examples.data(model))

    def test_large_batches(self):
        """A network whose memory is mostly temporaries; the batches are larger than the evaluation's, so that training
        touches all of the arena."""
        plan = examples.plan(examples.example("mnist/mnist.dl"), "-D", "batch_size=2000", name="-2000")
        self.assertGreater(report(plan)["memory"]["temporaries"], 20 * MEGABYTE)
        self.check(plan, 2, "--data", support.fake_mnist())


class Allocations(support.ToolTest):
    """In 1000 steps after the first 100, by all threads."""
    BEGIN, END = 100, 1100

    def run_steps(self, prefix=(), inject=False):
        plan = examples.plan(examples.example("mnist_mlp/mnist_mlp.dl"))
        settings = {"LD_PRELOAD": COUNTER, "DL_COUNT_FILE": self.path("count"), "DL_WINDOW_BEGIN": self.BEGIN,
                    "DL_WINDOW_END": self.END}
        if inject:
            settings["DL_INJECT_AT"] = 600
        command = ["env", *(f"{name}={value}" for name, value in settings.items()), dltools.DLRUN, "bench", plan,
                   "--threads", "3", "--steps", str(self.END + 50), "--data", support.fake_mnist()]
        return subprocess.run([*prefix, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def allocations(self, **options):
        """Calls of the malloc family."""
        result = self.run_steps(**options)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("count"), encoding="ascii") as file:
            return int(file.read())

    def test_none_in_1000_steps(self):
        self.assertEqual(self.allocations(), 0)
        self.assertEqual(self.allocations(inject=True), 1, "an injected allocation was not counted")

    def mappings(self, **options):
        """System calls that get memory, as strace sees them."""
        trace = self.path("strace")
        result = self.run_steps(["strace", "-f", "-qq", "-e", "trace=mmap,brk,mremap,access", "-o", trace], **options)
        if result.returncode and "ptrace" in result.stderr:
            self.skipTest("strace may not trace here")
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(trace, encoding="utf-8") as file:
            text = file.read()
        within = text[text.index("/window-begin"):text.index("/window-end")]
        return len(re.findall(r"^\d+ +(?:mmap|brk|mremap)\(", within, re.M))

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_no_mapping_in_1000_steps(self):
        self.assertEqual(self.mappings(), 0)
        self.assertGreater(self.mappings(inject=True), 0, "an injected allocation was not seen")
