"""What a plan consists of: its kernel image, its kernels and their ops, its memory."""

import collections
import re

import numpy as np

import dltools
from . import support


class KernelImage(support.ToolTest):
    EVERY_PROCESSOR = True

    def setUp(self):
        super().setUp()
        self.dlcc(support.example("mnist"), "-o", "mnist.plan", "--emit=kernels.so=kernels.so")

    def test_symbols(self):
        kernels = {kernel["name"] for kernel in self.info("mnist.plan")["kernels"]}
        table = dltools.run("readelf", "--dyn-syms", "-W", self.path("kernels.so"))
        defined, undefined = set(), set()
        for line in table.splitlines():
            words = line.split()
            if len(words) == 8 and words[4] in ("GLOBAL", "WEAK"):
                (undefined if words[6] == "UND" else defined).add(words[7])
        self.assertEqual(undefined, set())
        self.assertEqual(kernels - defined, set(), "kernels of the plan without a symbol")
        self.assertGreater(len(kernels), 5)

    def test_no_relocations(self):
        """None by symbol, nor any other: the runtime maps the image wherever there is room and relocates nothing."""
        text = dltools.run("readelf", "-r", "-W", self.path("kernels.so"))
        self.assertIn("There are no relocations in this file", text)

    def test_no_needed_libraries(self):
        self.assertNotIn("(NEEDED)", dltools.run("readelf", "-d", self.path("kernels.so")))

    def test_both_variants(self):
        features = {image["features"] for image in self.info("mnist.plan")["images"]}
        self.assertEqual(features, {"x86-64-v3", "x86-64-v4"})


def programs(info, step):
    (found,) = [s for s in info["steps"] if s["name"] == step]
    return found["programs"]


class RunFolder(support.ToolTest):
    def test_it_stands_for_its_plan(self):
        self.regression_data()
        self.write("lin.dl", support.LINEAR)
        self.dlcc("lin.dl")
        self.dlrun("lin.plan", "--out", "run")
        self.assertEqual(self.info("run")["kernels"], self.info("lin.plan")["kernels"])
        self.assertIn("items ", self.dlrun("bench", "run", "--steps", "2"))


class Fusion(support.ToolTest):
    # Forward: conv + bias + pool + relu twice (dropout in the second), fc + bias + relu + dropout, fc, log_softmax +
    # loss; backward and updates alike. The figure is what the compiler reaches now; fewer is better.
    TRAIN_KERNELS = 30

    def compiled(self, name, *arguments):
        self.dlcc(support.example("mnist"), "-o", name, *arguments)
        return self.info(name)

    def test_each_op_is_in_one_kernel(self):
        """Each op of the final graph is computed by one kernel of a program."""
        info = self.compiled("mnist.plan")
        for step in info["steps"]:
            for program in step["programs"]:
                uses = collections.Counter(op for c in program["commands"] for op in info["kernels"][c["kernel"]]["ops"])
                twice = {info["sources"][op]["op"]: n for op, n in uses.items() if n > 1}
                self.assertEqual(twice, {}, f"{step['name']}: ops computed twice")
        self.assertGreater(len(info["sources"]), 20)
        # What programs have in common, such as full batches and short ones, is written once.
        most = collections.Counter()
        for step in info["steps"]:
            for program in step["programs"]:
                texts = (tuple(sorted(info["sources"][op].items())) for c in program["commands"] for op in c["ops"])
                most |= collections.Counter(texts)
        self.assertEqual(len(info["sources"]), sum(most.values()))

    def test_kernel_count(self):
        (program,) = [p for p in programs(self.compiled("mnist.plan"), "train")]
        count = len(program["commands"])
        print(f"[ConvNet: {count} commands a training step] ", end="", flush=True)
        self.assertLessEqual(count, self.TRAIN_KERNELS)

    def test_no_pack_of_a_parameter_in_training(self):
        info = self.compiled("mnist.plan")
        for program in programs(info, "train"):
            for command in program["commands"]:
                self.assertNotRegex(command["name"], r"(?i)pack|copy|transpose|layout")

    def test_no_fuse(self):
        """Without fusion there are more kernels and more memory, and the same results within rounding."""
        self.classification_data()
        self.write("net.dl", support.CONVNET)
        fused, plain = "fused.plan", "plain.plan"
        self.dlcc("net.dl", "--dtype=f64", "-o", fused)
        self.dlcc("net.dl", "--dtype=f64", "-fno-fuse", "-o", plain)
        self.assertLess(len(self.info(fused)["kernels"]), len(self.info(plain)["kernels"]))
        self.assertLess(self.info(fused)["arena_bytes"], self.info(plain)["arena_bytes"])
        for plan in (fused, plain):
            self.dlrun(plan, "--epochs", 2, "-q", "--save-final", plan + ".safetensors")
        a, b = self.load(fused + ".safetensors"), self.load(plain + ".safetensors")
        for name in a:
            np.testing.assert_allclose(a[name], b[name], rtol=1e-11, atol=1e-11, err_msg=name)


BLOCKS = support.HEAD + """
struct Block : nn::Module {
  nn::Linear fc{32, 32};
  nn::Dropout drop{0.1};
  dl::Tensor forward(dl::Tensor x) { return x + drop(fc(x)); }
};

struct Net : nn::Module {
  nn::ModuleList blocks;
  nn::Linear head{32, 4};
  explicit Net(dl::i64 depth) {
    for (int i = 0; i < depth; ++i)
      blocks.push_back(Block());
  }
  dl::Tensor forward(dl::Tensor x) {
    for (auto &block : blocks)
      x = block(x);
    return head(x);
  }
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = 16});
  Net net(p.arg("depth", 3));
  OPTIMIZER
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::cross_entropy(net(b.data), b.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


class LaunchConstants(support.ToolTest):
    """Layers that differ in keys, offsets and learning rates only are one code."""

    def compiled(self, name, *arguments):
        self.dlcc(name, "-o", "out.plan", *arguments)
        return self.info("out.plan")

    def data(self, width=32):
        np.save(self.path("x.npy"), np.zeros((32, width), np.float32))
        np.save(self.path("y.npy"), np.zeros(32, np.int64))

    def test_equal_blocks_are_one_code(self):
        self.data()
        for optimizer in ("dl::optim::SGD optimizer(net.parameters(), {.lr = 0.1, .momentum = 0.9});",
                          "dl::optim::AdamW optimizer(net.parameters(), {.lr = 1e-3});"):
            self.write("net.dl", BLOCKS.replace("OPTIMIZER", optimizer))
            # (Both so deep that what the labels alone decide is done beside the layers, in the same kernels.)
            few, many = (self.compiled("net.dl", "-D", f"depth={depth}") for depth in (20, 40))
            self.assertEqual(len(few["kernels"]), len(many["kernels"]))
            keys = [(c["name"], *c["constants"]) for c in programs(many, "train")[0]["commands"] if "dropout" in c["name"]]
            self.assertGreaterEqual(len(set(keys)), 20, "each layer draws its own mask")
            for command in programs(many, "train")[0]["commands"]:
                ranges = many["kernels"][command["kernel"]]["constants"]
                self.assertEqual(len(ranges), len(command["constants"]))
                for value, range_ in zip(command["constants"], ranges):
                    self.assertTrue(range_["min"] <= value <= range_["max"] and value % range_["multiple_of"] == 0)

    def test_groups_with_options_of_their_own_are_one_code(self):
        self.data()
        one = "dl::optim::SGD optimizer(net.parameters(), {.lr = 0.1, .momentum = 0.9});"
        two = """auto &body = net.blocks;
  dl::optim::SGD optimizer({{.params = body.parameters(), .lr = 0.2, .momentum = 0.8},
                            {.params = net.head.parameters()}}, {.lr = 0.1, .momentum = 0.9});"""
        plans = []
        for optimizer in (one, two):
            self.write("net.dl", BLOCKS.replace("OPTIMIZER", optimizer))
            plans.append(self.compiled("net.dl"))
        # (Their names tell how many settings there are.)
        self.assertEqual(*(len(plan["kernels"]) for plan in plans))
        self.assertEqual(plans[1]["settings"],
                         [{"name": "optim.momentum", "value": 0.8}, {"name": "optim.lr", "value": 0.2},
                          {"name": "optim.group1.momentum", "value": 0.9}, {"name": "optim.group1.lr", "value": 0.1}])


class Memory(support.ToolTest):
    def test_buffers_lie_in_the_arena(self):
        self.dlcc(support.example("mnist"), "-o", "mnist.plan")
        info = self.info("mnist.plan")
        for buffer in info["buffers"]:
            self.assertEqual(buffer["memory"], "host", buffer)
            if buffer["space"] == "arena":
                self.assertEqual(buffer["offset"] % 64, 0, buffer)
                self.assertLessEqual(buffer["offset"] + buffer["bytes"], info["arena_bytes"], buffer)

    def test_no_allocations_in_steps(self):
        self.classification_data()
        self.write("net.dl", support.CONVNET)
        self.dlcc("net.dl")
        (event,) = [e for e in self.events("bench", "net.plan", "--steps", 500, "--threads", 2) if e["event"] == "bench"]
        self.assertEqual(event["allocations"], 0)


class Report(support.ToolTest):
    def test_parameters(self):
        self.dlcc(support.example("mnist"), "-o", "mnist.plan")
        self.assertEqual(self.info("mnist.plan")["parameters"], 21840)
        text = self.dlrun("info", "mnist.plan")
        self.assertRegex(text, re.compile(r"21,?840"))
        said = self.dlcc(support.example("mnist"), "-o", "mnist.plan", "--report")
        self.assertTrue(said.strip())
