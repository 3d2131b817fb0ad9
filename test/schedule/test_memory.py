"""Memory: near its lower bound, as large as the report says, and taken once."""

import json
import os
import re
import shutil
import subprocess
import time
import unittest

import numpy as np

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


# Branches that could all run at once, each with 2 MB of its own: four times what they need one after the other.
BRANCHES = support.HEAD + """
struct Branch : nn::Module {
  nn::Linear up{256, 2048}, down{2048, 32};
  dl::Tensor forward(dl::Tensor x) { return down(F::relu(up(x))); }
};
struct Net : nn::Module {
  Branch branch[4];
  dl::Tensor forward(dl::Tensor x) {
    auto y = branch[0](x);
    for (int i = 1; i < 4; ++i)
      y = y + branch[i](x);
    return y;
  }
};
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 256});
  Net net;
  p.eval("test", data, [&](dl::Batch b) -> dl::Metrics { return {{"mean", net(b.data).mean()}}; });
}
"""


class AtOnce(support.ToolTest):
    """Running at once costs a tenth of the temporaries at most; where it would cost more, commands run one by one."""

    def needs(self, info, program):
        """What the temporaries need one by one, what where only data orders commands, and what they have."""
        pinned = plan_facts.pinned_buffers(info)
        return (plan_facts.one_by_one(info, program, pinned),
                plan_facts.temporaries_bound(info, program, pinned, plan_facts.data_edges(info, program)),
                plan_facts.temporaries_extent(info, program, pinned))

    def free(self, info, program):
        """Pairs worth two threads that data leave free, and those of them that the plan leaves free."""
        return (plan_facts.unordered(program, plan_facts.data_edges(info, program)),
                plan_facts.unordered(program, plan_facts.plan_edges(program)))

    def test_examples(self):
        """Computed from the plans alone."""
        for model in examples.models():
            info = dltools.info(examples.plan(model))
            self.assertEqual(plan_facts.memory_faults(info), [], model)
            for *_, program in plan_facts.programs(info):
                one_by_one, at_once, extent = self.needs(info, program)
                self.assertLessEqual(one_by_one, at_once, model)
                self.assertLessEqual(one_by_one, extent, model)

    def test_independent_products_run_at_once(self):
        """It costs nothing, so nothing but data orders them."""
        info = dltools.info(examples.plan(examples.example("parallel_ops/parallel_ops.dl")))
        (program,) = info["steps"][0]["programs"]
        one_by_one, at_once, _ = self.needs(info, program)
        self.assertLessEqual(at_once, 1.1 * one_by_one)
        by_data, in_plan = self.free(info, program)
        self.assertGreater(len(by_data), 3)
        self.assertEqual(in_plan, by_data)

    def test_gradients_run_at_once(self):
        """A weight's gradient is beside all of the backward below it. It costs little here, so nothing but data orders them."""
        info = dltools.info(examples.plan(examples.example("mnist/mnist.dl")))
        program = next(step for step in info["steps"] if step["training"])["programs"][0]
        one_by_one, at_once, extent = self.needs(info, program)
        self.assertLess(one_by_one, at_once)
        self.assertLessEqual(extent, 1.1 * one_by_one)
        by_data, in_plan = self.free(info, program)
        self.assertGreater(len(by_data), 1)
        self.assertEqual(in_plan, by_data)

    def test_the_twin_gives_some_of_it_up(self):
        """In the twin, too, some pairs are free, but to run all of them at once would cost more than a tenth."""
        info = dltools.info(examples.plan(examples.example("parallel_ops/chained.dl")))
        (program,) = info["steps"][0]["programs"]
        one_by_one, at_once, _ = self.needs(info, program)
        self.assertGreater(at_once, 1.1 * one_by_one)
        by_data, in_plan = self.free(info, program)
        self.assertLess(in_plan, by_data)

    def test_branches_run_one_by_one(self):
        np.save(self.path("x.npy"), np.zeros((256, 256), np.float32))
        self.write("branches.dl", BRANCHES)
        self.dlcc("branches.dl")
        info = self.info("branches.plan")
        (program,) = [p for p in info["steps"][0]["programs"] if p["phase"] == "batch"]
        one_by_one, at_once, extent = self.needs(info, program)
        print(f"[{extent} bytes, {one_by_one} one by one, {at_once} at once] ", end="", flush=True)
        self.assertGreater(at_once, 3 * one_by_one)
        self.assertLessEqual(extent, 1.1 * one_by_one)
        by_data, in_plan = self.free(info, program)
        self.assertGreater(len(by_data), 20)
        self.assertEqual(in_plan, set())

    def test_control(self):
        """A plan in which every temporary has bytes of its own is found to take too much."""
        info = dltools.info(examples.plan(examples.example("mnist/mnist.dl")))
        pinned = plan_facts.pinned_buffers(info)
        end = max(buffer["offset"] + plan_facts.aligned(buffer["bytes"]) for buffer in info["buffers"])
        for number, buffer in enumerate(info["buffers"]):
            if buffer["space"] == "arena" and number not in pinned:
                buffer["offset"] = end
                end += plan_facts.aligned(buffer["bytes"])
        self.assertGreater(len(plan_facts.memory_faults(info)), 1)

    def test_the_report_says_which(self):
        """And by the figures that it gives."""
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
    """RssAnon of a running process against what dlcc --report said."""
    THREADS = 2

    def check(self, plan, *arguments):
        memory = report(plan)["memory"]
        said = memory["arena_bytes"] + self.THREADS * memory["scratch_bytes_per_thread"] + memory["batch_bytes"]
        process = subprocess.Popen([dltools.DLRUN, *arguments, "--threads", str(self.THREADS)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            sizes = []
            deadline = time.monotonic() + 30
            while len(sizes) < 5 or max(sizes[-4:]) - min(sizes[-4:]) > MEGABYTE / 8:  # until it has settled
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.2)
                with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
                    sizes.append(int(re.search(r"RssAnon:\s+(\d+) kB", file.read())[1]) * 1024)
        finally:
            process.kill()
            process.wait()
        print(f"[{sizes[-1] / MEGABYTE:.1f} MB, the report said {said / MEGABYTE:.1f}] ", end="", flush=True)
        self.assertLessEqual(abs(sizes[-1] - said), 0.05 * said + 8 * MEGABYTE)

    def test_examples(self):
        """Trained and evaluated in turns, so that all of the arena is touched."""
        for model in examples.models():
            plan = examples.plan(model)
            with self.subTest(model=os.path.basename(model)):
                self.check(plan, plan, "--epochs", "1000000", "-q", "--every", "eval=50", "--data", examples.data_of(model))

    def test_large_batches(self):
        """A network whose memory is mostly temporaries; the batches are larger than the evaluation's, so that training
        touches all of the arena."""
        plan = examples.plan(examples.example("mnist/mnist.dl"), "-D", "batch_size=2000", name="-2000")
        self.assertGreater(report(plan)["memory"]["temporaries"], 20 * MEGABYTE)
        self.check(plan, "bench", plan, "--seconds", "60", "--data", support.fake_mnist())

    def test_the_text_has_the_same_numbers(self):
        """--report for people names the parts that are compared here, to the byte."""
        model = examples.example("mnist_mlp/mnist_mlp.dl")
        memory = report(examples.plan(model))["memory"]
        said = self.dlcc(model, "-o", "m.plan", "--report")
        match = re.search(r"^memory: (\d+) bytes on one thread: (\d+) in one arena, (\d+) for each thread, (\d+) for batches that wait$",
                          said, re.M)
        self.assertTrue(match, said[:500])
        parts = [memory[key] for key in ("arena_bytes", "scratch_bytes_per_thread", "batch_bytes")]
        self.assertEqual([int(number) for number in match.groups()], [sum(parts), *parts])


# Calls each function that gets memory once, between two looks at the clock.
FAMILY = """
#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>
#include <time.h>

int main(void) {
  struct timespec now;
  void *volatile p[9];
  volatile size_t much = (size_t)1 << 40;
  clock_gettime(CLOCK_MONOTONIC, &now);
  p[0] = malloc(10);
  p[1] = calloc(10, 10);
  p[2] = realloc(NULL, 10);
  p[3] = reallocarray(NULL, 10, 10);
  p[4] = memalign(64, 10);
  p[5] = aligned_alloc(64, 64);
  p[6] = valloc(10);
  p[7] = pvalloc(10);
  void *last;
  p[8] = posix_memalign(&last, 64, 10) ? NULL : last;
  clock_gettime(CLOCK_MONOTONIC, &now);
  for (int i = 0; i < 9; ++i) {
    if (!p[i])
      return 1;
    free(p[i]);
  }
  return reallocarray(NULL, much, much) != NULL;
}
"""


class Allocations(support.ToolTest):
    """Calls of the malloc family by all threads, as CountAllocations.c counts them."""
    BEGIN, END = 100, 1100  # steps

    def run_counted(self, command, prefix=(), **settings):
        settings = {"LD_PRELOAD": COUNTER, "DL_COUNT_FILE": self.path("count"), **settings}
        words = [*prefix, "env", *(f"{name}={value}" for name, value in settings.items()), *map(str, command)]
        return subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def counted(self, command, **settings):
        result = self.run_counted(command, **settings)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("count"), encoding="ascii") as file:
            count = int(file.read())
        os.remove(self.path("count"))
        return count

    def window(self, looks):
        """In 1000 steps after the first 100; `looks`: how often a step looks at the clock."""
        return {"DL_WINDOW_BEGIN": looks * self.BEGIN, "DL_WINDOW_END": looks * self.END}

    def bench(self):
        plan = examples.plan(examples.example("mnist_mlp/mnist_mlp.dl"))
        return [dltools.DLRUN, "bench", plan, "--threads", "3", "--steps", self.END + 50, "--data", support.fake_mnist()]

    def training(self, steps, every, *options):
        """A run with a new folder."""
        shutil.rmtree(self.path("run"), ignore_errors=True)
        plan = examples.plan(examples.example("mnist_mlp/mnist_mlp.dl"))
        return [dltools.DLRUN, plan, "--threads", "3", "--steps", steps, "--every", every, "--out", self.path("run"), "--data",
                support.fake_mnist(), *options]

    def test_the_counter_knows_the_whole_family(self):
        self.write("family.c", FAMILY)
        compiler = shutil.which("cc") or shutil.which("clang-22")
        subprocess.run([compiler, "-o", "family", "family.c"], cwd=self.folder, check=True)
        self.assertEqual(self.counted([self.path("family")], DL_WINDOW_BEGIN=1, DL_WINDOW_END=2), 9)

    def test_none_in_1000_steps(self):
        self.assertEqual(self.counted(self.bench(), **self.window(1)), 0)
        self.assertEqual(self.counted(self.bench(), **self.window(1), DL_INJECT_AT=600), 1,
                         "an injected allocation was not counted")
        self.assertEqual(self.counted(self.bench(), **self.window(1), DL_INJECT_WORKER_AT=600), 1,
                         "an allocation by another thread was not counted")

    def test_none_in_1000_steps_of_a_run_with_a_folder(self):
        """Where nothing is to be written, for people or into the folder."""
        command = self.training(self.END + 50, "log=0,eval=0,ckpt=0")
        self.assertEqual(self.counted(command, **self.window(2)), 0)
        self.assertEqual(self.counted(self.training(self.END + 50, "log=0,eval=0,ckpt=0"), **self.window(2),
                                      DL_INJECT_WORKER_AT=1200), 1, "an allocation by another thread was not counted")

    def test_what_is_written_allocates_and_steps_between_do_not(self):
        """Whole runs, from exec to exit: as many checkpoints, rows or evaluations allocate as often, whether 10 steps lie
        between two or 40. Numbers of more digits may need a few more."""
        for what, every in (("checkpoints", "log=0,eval=0,ckpt={0}"), ("rows", "log={0},eval=0,ckpt=0"),
                            ("evaluations", "log=0,eval={0},ckpt=0")):
            few, more, twice = (self.counted(self.training(times * between, every.format(between), "--json"))
                                for times, between in ((20, 10), (20, 40), (40, 10)))
            print(f"[{what}: {few} for 20 times 10 steps, {more} for 20 times 40, {twice} for 40 times 10] ", end="", flush=True)
            self.assertLess(abs(more - few), 30, f"{what}: 600 more steps")
            self.assertGreater(twice - few, 100, f"{what}: the control, 20 more of them")

    def mappings(self, **settings):
        """System calls that get memory, as strace sees them."""
        trace = self.path("strace")
        result = self.run_counted(self.bench(), ["strace", "-f", "-qq", "-e", "trace=mmap,brk,mremap,access", "-o", trace],
                                  **self.window(1), **settings)
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
        self.assertGreater(self.mappings(DL_INJECT_AT=600), 0, "an injected allocation was not seen")
        self.assertGreater(self.mappings(DL_INJECT_WORKER_AT=600), 0, "an allocation by another thread was not seen")
