"""What dlcc makes for GPUs, and what it refuses."""

import json
import os
import re
import unittest

import dltools

from . import support

NVRTC = any(os.path.exists(os.path.join(folder, name)) for folder in ("/usr/local/cuda/lib64", "/usr/lib/x86_64-linux-gnu", os.environ.get("DL_NVRTC", ""))
            for name in ("libnvrtc.so.13", "libnvrtc.so.12"))


# A parameter of 14.4 GB, and its momentum.
HUGE = support.HEAD + """struct Net : nn::Module {
  dl::Parameter w = dl::zeros({60000, 60000});
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = 4});
  Net m;
  dl::optim::SGD optimizer(m.parameters(), {.lr = 0.1, .momentum = 0.9});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = m.w.mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""

UPDATE = support.HEAD + """void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = 4});
  dl::Parameter w = dl::ones({256, p.arg("columns", 384)});
  dl::optim::AdamW optimizer({w}, {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = w.tanh().sum();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


DROPPED = support.HEAD + """struct Net : nn::Module {
  dl::Parameter w = dl::ones({ROWS, COLUMNS});
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = 4});
  Net m;
  dl::optim::SGD optimizer(m.parameters(), {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::dropout(m.w, 0.1).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


class CudaCompile(support.ToolTest):
    def setUp(self):
        super().setUp()
        self.classification_data(items=64)
        self.write("net.dl", support.CONVNET)

    def refused(self, code, words, *options, env=None):
        self.refuse(code, words, dltools.DLCC, "net.dl", *options, "-o", "no.plan", env=env)
        self.assertFalse(os.path.exists(self.path("no.plan")))

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_neighbours_share_a_draw(self):
        """Elements that a thread writes together have one Philox: four have a word each. Where a row begins within a counter, two that
        share one choose its words."""
        for rows, columns, together, last_word in ((128, 64, 4, ".word3"), (64, 66, 2, "= (int)((unsigned int)(int)dl_philox_word(")):
            self.write("drop.dl", DROPPED.replace("ROWS", str(rows)).replace("COLUMNS", str(columns)))
            self.dlcc("drop.dl", "--target=cuda:source", "--emit=cu=drop.cu", "-o", "drop.plan")
            kernels = self.read("drop.cu").decode().split('extern "C"')[1:]
            drawing = [text for text in kernels if "= dl_philox(" in text]
            self.assertEqual(len(drawing), 2)  # the mask, and the mask again with the update
            for text in drawing:
                self.assertIn(f"Vec<float, {together}>{{{{", text)
                self.assertEqual(text.count("= dl_philox("), 1)
                self.assertIn(last_word, text)

    def test_the_same_bytes_twice(self):
        for name in ("a", "b"):
            self.dlcc("net.dl", "--target=cuda:source", f"--emit=cu={name}.cu", "-o", f"{name}.plan")
        self.assertEqual(self.read("a.plan"), self.read("b.plan"))
        self.assertEqual(self.read("a.cu"), self.read("b.cu"))
        source = self.read("a.cu").decode()
        for part in ('extern "C" __global__ void __launch_bounds__', "net.dl:", "// conv2d ["):
            self.assertIn(part, source)
        self.assertNotIn(self.folder, source)

    @unittest.skipUnless(NVRTC, "there is no NVRTC")
    def test_machine_code(self):
        """A cubin for each chip, PTX for later ones; twice the same."""
        for name in ("a", "b"):
            self.dlcc("net.dl", "--target=cuda:sm_90,ptx_80", "-o", f"{name}.plan")
        self.assertEqual(self.read("a.plan"), self.read("b.plan"))
        images = self.info("a.plan")["images"]
        self.assertEqual([image["features"] for image in images], ["sm_90", "ptx_80"])

    def test_bindings_are_aligned_to_vectors(self):
        """Code that reads 16 bytes at once says so: launches of other addresses are refused."""
        self.dlcc("net.dl", "--target=cuda:source", "-o", "a.plan")
        for kernel in self.info("a.plan")["kernels"]:
            self.assertEqual(set(kernel["binding_aligns"]), {16}, kernel["name"])

    def test_a_thread_of_a_map_takes_16_bytes(self):
        """An update: of the parameter and both averages; learning rates and what else is an f64 or i64 does not change that, an odd extent does."""
        self.write("update.dl", UPDATE)

        def kernel(*options):
            self.dlcc("update.dl", "--target=cuda:source", "--emit=cu=update.cu", *options, "-o", "update.plan")
            return next(text for text in self.read("update.cu").decode().split("__global__")[1:] if "sqrtf(" in text)

        for options in ((), ("-D", "columns=768"), ("-D", "columns=4096")):
            text = kernel(*options)
            self.assertGreaterEqual(text.count("Vec<float, 4>{{"), 3, text)
            self.assertGreaterEqual(text.count("load<4>(a"), 3, text)
            self.assertIsNone(re.search(r"r\d\[.*\] = ", text))
        text = kernel("-D", "columns=383")
        self.assertNotIn("Vec<", text)
        self.assertGreaterEqual(len(re.findall(r"r\d\[.*\] = ", text)), 3, text)

    def test_predicted_time(self):
        """What a step takes at best follows from the machine that is named."""
        def program(*options):
            report = json.loads(self.dlcc("net.dl", "--target=cuda:source", "--report=json", *options))
            return report["steps"][0]["programs"][0]

        said = self.dlcc("net.dl", "--target=cuda:source", "--report")
        self.assertRegex(said, r"step train, .* moved, about \d\.\d+ ms at best on NVIDIA H100 SXM\n  \d+ kernels one behind the other take ")
        self.assertNotIn("on one core", said)
        self.assertNotIn("on one thread", said)
        usual = program()
        time, commands = usual["on_gpu"], usual["commands"]
        self.assertEqual(time["seconds"], max(time["chain_seconds"], time["busy_seconds"]) + time["copy_seconds"])
        self.assertAlmostEqual(time["chain_seconds"], sum(time[f"{what}_seconds"] for what in ("launching", "arithmetic", "memory")), delta=1e-12)
        self.assertIn(time["chain"], range(commands // 3, commands))
        self.assertGreaterEqual(time["chain_seconds"], time["chain"] * 1e-6)
        self.write("slow.machine", "processors = 1\nmemory_mib = 100\nlaunch_seconds = 1e-4\nbytes_per_second = 1e6\n")
        slow = program("--machine=slow.machine")["on_gpu"]
        self.assertGreater(slow["chain_seconds"], slow["chain"] * 1e-4)
        self.assertGreater(slow["memory_seconds"], 0)
        self.assertIsNone(json.loads(self.dlcc("net.dl", "--report=json"))["steps"][0]["programs"][0]["on_gpu"])

    def test_what_cannot_fit_is_refused(self):
        """In a machine that is named, by dlcc; in one that is there, by dlrun (test_cuda_device)."""
        self.write("huge.dl", HUGE)
        self.refuse(3, ["needs 28.8", "GB of memory, NVIDIA GeForce RTX 4090 has 25.77 GB"], dltools.DLCC, "huge.dl", "--target=cuda:source",
                    "--machine=rtx4090", "-o", "no.plan")
        self.assertFalse(os.path.exists(self.path("no.plan")))
        self.dlcc("huge.dl", "--target=cuda:source", "--machine=h100", "-o", "h100.plan")
        self.dlcc("huge.dl", "--target=cuda:source", "-o", "some.plan")
        self.assertIn("% of what NVIDIA H100 SXM has", self.dlcc("huge.dl", "--target=cuda:source", "--machine=h100", "--report"))
        self.write("tiny.machine", "name = a tiny one\nmemory_mib = 1\n")
        self.dlcc("net.dl", "--target=cuda:source", "--machine=tiny.machine", "-o", "fits.plan")
        self.classification_data(items=4096)
        self.refuse(3, ["a tiny one has 1.05 MB", "are alive at the peak", "net.dl:"], dltools.DLCC, "net.dl", "--target=cuda:source",
                    "--machine=tiny.machine", "-D", "batch_size=4096", "-o", "no.plan")

    def test_what_is_refused(self):
        self.refused(2, "cpu, cuda and cuda:sm_90", "--target=tpu")
        self.refused(2, "'sm_9' is no architecture", "--target=cuda:sm_9")
        self.refused(2, "add --target=cuda", "--emit=cu")
        self.refused(2, "add --target=cuda", "--tf32")
        self.refused(2, "--tiles is about CPUs", "--target=cuda", "--tiles=2")
        self.refused(2, "--target-cpu is about CPUs", "--target=cuda", "--target-cpu=x86-64-v3")
        self.refused(3, "tools/dev/setup.sh --cuda fetches it", "--target=cuda", env={"DL_NVRTC": self.folder})


ROTARY = support.HEAD + """
void dl_main(dl::Program &p) {
  auto data = dl::data::InputDataset({{"x", dl::kFloat, {2048, 1024}}}, {.batch_size = 2});
  nn::Linear l{1024, 1024, {.bias = false}};
  dl::optim::SGD optimizer(l.parameters(), {.lr = 1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto f = dl::outer(dl::arange(2048).to(dl::kFloat), dl::linspace(1, 0.1, 64));
    auto e = dl::cat({f, f}, -1);
    auto q = l(b.data).view({2, 2048, 8, 128}).transpose(1, 2);
    auto [x1, x2] = q.chunk<2>(2, -1);
    auto y = q * e.cos() + dl::cat({-x2, x1}, -1) * e.sin();
    auto loss = F::scaled_dot_product_attention(y, y * 2, q).sum();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


class Rotary(support.ToolTest):
    def test_each_block_has_its_rows_alone(self):
        """Two results of one kernel share no value but an operand: the cosines of one are cut as its sines are, and wait in no memory of
        the device."""
        self.write("net.dl", ROTARY)
        said = dltools.run(dltools.DLCC, "net.dl", "--target=cuda:source", "--machine=h200", "--report=json", "-o", "net.plan", cwd=self.folder)
        self.assertLess(json.loads(said)["memory"]["arena_bytes"], 1e9)  # all rows of each block's: 2.5 GB
