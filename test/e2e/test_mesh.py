"""Models divided along several axes at once: the results of one device, equal bits, and errors in the model's words."""

import json
import os
import re

import numpy as np

from . import support

BLOCKS = """
#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;

struct Block : nn::Module {
  nn::Linear up{12, 40}, down{40, 12};
  dl::Tensor forward(dl::Tensor x) { return x + down(F::gelu(up(x))); }
};
struct Net : nn::Module {
  nn::Linear first{150, 12};
  nn::Sequential h{Block{}, Block{}, Block{}};
  nn::Linear head{12, 4};
  dl::Tensor forward(dl::Tensor x) { return head(F::dropout(h(first(x.view({-1, 150}))), 0.1))%s; }
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = p.arg("batch_size", 16)});
  Net net;
  dl::optim::Adam optimizer(net.parameters(), {.lr = 0.01});
  %s
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    optimizer.zero_grad();
    auto loss = F::cross_entropy(net(b[0]), b[1]);
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""
# Of a struct Net, with the size of a batch.
SQUARES = """
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = %d});
  Net net;
  dl::optim::SGD optimizer(net.parameters(), {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = net(b[0]).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""
MESH = """dl::Mesh mesh{{"dp", 2}, {"tp", 2}, {"pp", 2}};
  dl::parallel::pipeline(net, "pp", "h.*", {.microbatches = 2});
  dl::parallel::tensor(net, {{"h.*.up", "colwise", "tp"}, {"h.*.down", "rowwise", "tp"}});"""


class Mesh(support.ToolTest):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(0)
        np.save(self.path("x.npy"), rng.normal(size=(44, 6, 25)).astype(np.float32))
        np.save(self.path("y.npy"), rng.integers(0, 4, size=44))

    def write_net(self, mesh=MESH, hint=""):
        self.write("net.dl", BLOCKS % (hint, mesh))

    def train(self, *arguments, threads=2):
        """The weights after six steps."""
        self.dlcc("net.dl", "-o", "net.plan", *arguments)
        self.dlrun("net.plan", "--steps", "6", "--threads", str(threads), "--save-final", "w.safetensors", "-q")
        return self.load("w.safetensors")

    def test_results_of_one_device(self):
        self.write_net()
        expected = self.train("--dtype=f64", "--mesh=dp=1", "--microbatches=1")
        for options in (["--mesh=dp=1"], ["--mesh=tp=2"], ["--mesh=tp=3,dp=2", "--zero=1"], ["--mesh=pp=2"],
                        ["--mesh=pp=3", "--microbatches=4", "--schedule=gpipe"], ["--mesh=pp=3", "--microbatches=4", "--schedule=zb-h1"], [], ["--zero=3"],
                        ["--mesh=dp=2,pp=3,tp=4", "--zero=2", "--microbatches=1"]):
            for name, value in self.train("--dtype=f64", *options).items():
                np.testing.assert_allclose(value, expected[name], rtol=1e-10, atol=1e-10, err_msg=f"{options} {name}")

    def test_micro_batches_that_accumulate_leave_gradients_to_the_update(self):
        """Each rank adds up its own; what is exchanged for each of them is the loss."""
        self.write_net(mesh="")
        expected = self.train("--dtype=f64", "--accumulate=2", "-D", "batch_size=8")
        for zero, large in (("0", False), ("1", False), ("2", True)):
            options = ["--dtype=f64", "--accumulate=2", "-D", "batch_size=8", "--mesh=dp=2", f"--zero={zero}"]
            report = self.dlcc("net.dl", "-o", "net.plan", "--report", *options)
            bytes_, unit = re.search(r"(?m)^step train,.*\n *along dp: .* rank 0 sends (\S+) (\S+) to others", report).groups()
            self.assertEqual(unit != "B" or float(bytes_) > 100, large, f"zero {zero}: {bytes_} {unit}")
            for name, value in self.train(*options).items():
                np.testing.assert_allclose(value, expected[name], rtol=1e-10, atol=1e-10, err_msg=f"zero {zero} {name}")
        # Of a last batch that only some ranks have a part of.
        expected = self.train("--dtype=f64", "--accumulate=2", "-D", "batch_size=42")
        for name, value in self.train("--dtype=f64", "--accumulate=2", "-D", "batch_size=42", "--mesh=replicate=2,dp=2").items():
            np.testing.assert_allclose(value, expected[name], rtol=1e-10, atol=1e-10, err_msg=name)

    def test_a_prediction_that_the_first_stage_has_no_part_in(self):
        codes = np.random.default_rng(1).normal(size=(9, 12)).astype(np.float32)
        np.save(self.path("codes.npy"), codes)
        self.write("net.dl", (BLOCKS % ("", 'dl::parallel::stages("pp", {{"first", "h.0"}, {"h.1", "h.2", "head"}});')).rstrip()[:-1] + """
  auto codes = dl::data::TensorDataset({"codes.npy"}, {.batch_size = 4});
  p.predict("decode", codes, [&](dl::Batch b) { return net.head(b[0]); });
}
""")
        self.dlcc("net.dl", "-o", "one.plan", "--mesh=pp=1")
        self.dlrun("one.plan", "--steps", "1", "-q", "--save-final", "w.safetensors")
        for name, mesh in (("one", None), ("two", "pp=2"), ("six", "dp=3,pp=2")):
            if mesh:
                self.dlcc("net.dl", "-o", name + ".plan", "--mesh", mesh)
            self.dlrun("predict", name + ".plan", "--init", "w.safetensors", "--out", name + ".npy", "-q")
            np.testing.assert_allclose(np.load(self.path(name + ".npy")), np.load(self.path("one.npy")), rtol=1e-6)

    def test_several_stages_on_each_rank(self):
        """interleaved goes round all ranks several times, also with more micro-batches than fit evenly; zb-v there and back.
        Results do not depend on who has which blocks; nor do bits, but for what is added up where a micro-batch ends."""
        self.write("net.dl", BLOCKS.replace("h{Block{}, Block{}, Block{}}", "h{Block{}, Block{}, Block{}, Block{}, Block{}, Block{}}").replace("batch_size\", 16", "batch_size\", 24")
                   % ("", 'dl::parallel::pipeline(net, "pp", "h.*", {.microbatches = 4});'))
        expected = self.train("--dtype=f64", "--microbatches=1")
        for options in (["--mesh=pp=2", "--schedule=interleaved"], ["--mesh=pp=2", "--schedule=interleaved:3", "--microbatches=6"],
                        ["--mesh=pp=3", "--schedule=interleaved"], ["--mesh=pp=3", "--schedule=zb-v"], ["--mesh=pp=2", "--schedule=zb-v"],
                        ["--mesh=dp=2,pp=2", "--schedule=zb-v", "--microbatches=2", "--zero=1"],
                        ["--mesh=pp=2,dp=2", "--schedule=interleaved", "--microbatches=2", "--zero=3"]):
            for name, value in self.train("--dtype=f64", *options).items():
                np.testing.assert_allclose(value, expected[name], rtol=1e-10, atol=1e-10, err_msg=f"{options} {name}")
        self.same_bits(["--mesh=pp=2"], ["--mesh=pp=2", "--schedule=interleaved"], ["--mesh=pp=2", "--schedule=zb-v"],
                       ["--mesh=pp=3", "--schedule=interleaved"])

    def test_micro_batches_save_memory(self):
        """One goes back before the next one comes, though the loss divides by the targets of all that count."""
        self.write_net("")
        np.save(self.path("x.npy"), np.zeros((256, 6, 25), np.float32))
        np.save(self.path("y.npy"), np.zeros(256, np.int64))
        found = {}
        for micros in 1, 2, 4, 8:
            report = json.loads(self.dlcc("net.dl", "-D", "batch_size=256", f"--microbatches={micros}", "--report=json", "-o", "net.plan"))
            found[micros] = report["steps"][0]["programs"][0]["temporary_bytes"]
        self.assertEqual(sorted(found.values(), reverse=True), list(found.values()), found)
        self.assertLess(found[8], 0.5 * found[1], found)

    def test_accumulated_batches_of_micro_batches(self):
        self.write_net("")
        expected = self.train("--dtype=f64", "--accumulate=2")
        for options in (["--microbatches=2"], ["--mesh=dp=2", "--microbatches=2"], ["--mesh=pp=2", "--microbatches=4"],
                        ["--mesh=dp=2", "--microbatches=2", "--zero=2"], ["--mesh=dp=2,pp=2", "--microbatches=2", "--zero=3"]):
            for name, value in self.train("--dtype=f64", "--accumulate=2", *options).items():
                np.testing.assert_allclose(value, expected[name], rtol=1e-10, atol=1e-10, err_msg=f"{options} {name}")

    def test_what_goes_to_several_stages_of_a_rank_is_sent_once(self):
        """A skip over three blocks: from stage 0 on rank 0 to stages 1 and 3, both on rank 1, and to stage 2 on its own rank."""
        self.write("net.dl", support.HEAD + """
struct Net : nn::Module {
  nn::Linear a{25, 64}, b{64, 64}, c{64, 64}, d{64, 64};
  dl::Tensor forward(dl::Tensor x) {
    dl::Tensor first = a(x), y = b(first);
    y = c(y) + first;
    return d(y) * first;
  }
};
""" + SQUARES % 16)
        expected = self.train("--dtype=f64")
        options = ["--mesh=pp=2", "--microbatches=2", "--schedule=interleaved"]
        for name, value in self.train("--dtype=f64", *options).items():
            np.testing.assert_allclose(value, expected[name], rtol=1e-10, atol=1e-10, err_msg=name)
        self.dlcc("net.dl", *options, "--emit=mlir:partition=net.mlir", "-o", "net.plan")
        with open(self.path("net.mlir"), encoding="utf-8") as file:
            steps = file.read().split("graph.step ")[1:]
        for step in steps:
            sent = re.findall(r"graph\.send (%\w+) to", step)
            self.assertGreaterEqual(len(sent), 8)
            self.assertEqual(len(set(sent)), len(sent), sent)

    def test_hints_on_activations(self):
        self.write_net()
        expected = self.train("--dtype=f64", "--mesh=dp=1", "--microbatches=1")
        self.write_net(hint='.shard({"dp", "tp"})')
        for options in (["--mesh=dp=2,tp=3"], ["--mesh=tp=2,pp=2", "--microbatches=2"], ["--mesh=dp=1"]):
            for name, value in self.train("--dtype=f64", *options).items():
                np.testing.assert_allclose(value, expected[name], rtol=1e-10, atol=1e-10, err_msg=f"{options} {name}")

    def test_a_hint_that_leaves_a_rank_nothing(self):
        """A dim of one element along dp: its gradients are on the first rank alone until the update wants them."""
        self.write("net.dl", support.HEAD + """
struct Net : nn::Module {
  dl::Parameter w = dl::randn({1, 6, 25}), b = dl::ones({1, 6, 25});
  dl::Tensor forward(dl::Tensor x) { return x * (w * b).shard({"dp", nullptr, nullptr}); }
};
""" + SQUARES % 16)
        expected = self.train("--dtype=f64")
        for options in (["--mesh=dp=2"], ["--mesh=dp=2", "--zero=2"], ["--mesh=dp=3", "--zero=3"]):
            for name, value in self.train("--dtype=f64", *options).items():
                np.testing.assert_allclose(value, expected[name], rtol=1e-10, atol=1e-10, err_msg=f"{options} {name}")

    def test_rows_of_micro_batches_and_of_ranks(self):
        """Rows [item][tp] of which a rank has a part in each micro-batch come back in the order of one device."""
        self.write("net.dl", support.HEAD + """
struct Net : nn::Module {
  dl::Parameter w = dl::randn({6, 25});
  dl::Tensor forward(dl::Tensor x) { return (x * w).shard({nullptr, "tp", nullptr}).view({-1, 25}); }
};
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 2});
  Net net;
  dl::optim::SGD optimizer(net.parameters(), {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto rows = net(b[0]);
    auto loss = rows.square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}, {"rows", rows}};
  });
}
""")

        def rows(*options):
            self.dlcc("net.dl", "--dtype=f64", "-o", "net.plan", *options)
            self.dlrun("net.plan", "--steps", "1", "--save-metrics", "m.safetensors", "-q")
            return self.load("m.safetensors")["rows"]

        expected = rows()
        self.assertEqual(expected.shape[-2:], (12, 25))
        np.testing.assert_array_equal(rows("--mesh=tp=2", "--microbatches=2"), expected)
        np.testing.assert_array_equal(rows("--mesh=tp=3", "--microbatches=2"), expected)

    def test_draws_do_not_depend_on_the_mesh(self):
        """Of a batch that is divided among ranks and micro-batches, beside data."""
        self.write("net.dl", support.HEAD + """
struct Net : nn::Module {
  dl::Parameter w = dl::randn({6, 25});
  dl::Tensor forward(dl::Tensor x) { return x * w * dl::rand({x.size(0), 6, 25}); }
};
""" + SQUARES % 4)
        expected = self.train("--dtype=f64")
        for options in (["--mesh=dp=2", "--microbatches=2"], ["--mesh=dp=1", "--microbatches=4"], ["--mesh=dp=2"]):
            for name, value in self.train("--dtype=f64", *options).items():
                np.testing.assert_allclose(value, expected[name], rtol=1e-10, atol=1e-10, err_msg=f"{options} {name}")

    def test_sums_in_blocks_that_do_not_divide(self):
        # What three ranks add up is 32 x 37 numbers: blocks of 395, the last of 394. Whole, each rank would send them twice.
        rng = np.random.default_rng(3)
        np.save(self.path("x.npy"), rng.normal(size=(64, 37)).astype(np.float32))
        self.write("net.dl", """#include <dl/dl.h>
            struct Net : dl::nn::Module {
              dl::nn::Linear up{37, 48}, down{48, 37};
              dl::Tensor forward(dl::Tensor x) { return down(dl::F::gelu(up(x))); }
            };""" + (SQUARES % 32).replace("dl::optim", """dl::Mesh mesh{{"tp", 3}};
  dl::parallel::tensor(net, {{"up", "colwise", "tp"}, {"down", "rowwise", "tp"}});
  dl::optim""", 1))
        expected = self.train("--dtype=f64", "--mesh=tp=1")
        for mesh in ("tp=3", "tp=6", "tp=4"):
            for name, value in self.train("--dtype=f64", f"--mesh={mesh}").items():
                np.testing.assert_allclose(value, expected[name], rtol=1e-10, atol=1e-10, err_msg=f"{mesh} {name}")
        self.dlcc("net.dl", "--emit=report.json=report.json")
        with open(self.path("report.json"), encoding="utf-8") as file:
            said = "\n".join(one["text"] for one in json.load(file)["decisions"])
        self.assertRegex(said, r"all_to_all over tp: 3160 bytes of f32 \[1185\] to others: ranks have parts of a sum")

    def test_plans_of_many_ranks_are_as_large_as_of_few(self):
        # What goes to a thousand ranks is said once; a plan has a list of its ranks.
        np.save(self.path("x.npy"), np.zeros((4096, 64), np.float32))
        self.write("model.dl", """#include <dl/dl.h>
            struct Net : dl::nn::Module {
              dl::nn::Linear up{64, 2048}, down{2048, 64};
              dl::Tensor forward(dl::Tensor x) { return down(dl::F::relu(up(x))); }
            };""" + SQUARES % 2048)
        sizes = {}
        for ranks in (4, 1024):
            for zero in (0, 3):
                self.dlcc("model.dl", f"--mesh=dp={ranks}", f"--zero={zero}", "-o", "model.plan")
                sizes[ranks, zero] = os.path.getsize(self.path("model.plan")) - 4 * ranks
        for zero in (0, 3):
            self.assertLess(sizes[1024, zero], 1.2 * sizes[4, zero], sizes)
        self.assertNotEqual(sizes[1024, 0], sizes[1024, 3])  # there is something to divide

    def same_bits(self, *ways):
        first, *others = (self.train(*way) for way in ways)
        for way, other in zip(ways[1:], others):
            for name, value in first.items():
                np.testing.assert_array_equal(value, other[name], f"{way} {name}")

    def test_stages_of_zero_and_schedules_have_equal_bits(self):
        self.write_net()
        self.same_bits(*(["--mesh=dp=3", "--microbatches=1", f"--zero={stage}"] for stage in range(4)))
        self.same_bits(["--schedule=gpipe"], ["--schedule=1f1b"], ["--schedule=zb-h1"], ["--zero=1"])

    def test_what_is_gathered_lies_as_what_was_never_divided(self):
        """fc1.weight, [20, 150], is divided along its second dim, and products go through it in the order of the first."""
        self.write("net.dl", support.CONVNET)
        rng = np.random.default_rng(1)
        np.save(self.path("x.npy"), rng.normal(size=(44, 1, 12, 12)).astype(np.float32))
        self.same_bits(*(["--mesh=dp=3", f"--zero={stage}"] for stage in (0, 1, 3)))

    def test_a_run_goes_on_under_other_meshes(self):
        """With Adam's moments, in the middle of an epoch, and back to one device."""
        self.write_net("")
        meshes = [["--mesh=dp=1"], ["--mesh=dp=2", "--zero=1"], ["--mesh=pp=2"], ["--mesh=dp=3", "--zero=3"], ["--mesh=tp=2"], ["--mesh=dp=1"]]
        for number, options in enumerate(meshes):
            self.dlcc("net.dl", "--dtype=f64", "-o", f"{number}.plan", *options)
        self.dlrun("0.plan", "--steps", 14, "--save-final", "whole.safetensors")
        self.dlrun("0.plan", "--steps", 4, "--out", "run")
        for number in range(1, len(meshes)):
            self.dlrun("resume", "run", "--plan", f"{number}.plan", "--steps", 4 + 2 * number, "--save-final", self.path("parts.safetensors"))
        whole, parts = self.load("whole.safetensors"), self.load("parts.safetensors")
        self.assertEqual(sorted(whole), sorted(parts))
        for name, value in whole.items():
            np.testing.assert_allclose(parts[name], value, rtol=1e-10, atol=1e-12, err_msg=name)

    def test_predictions(self):
        """All items in order, the last ones of a short batch too, as one device predicts them."""
        self.write("net.dl", BLOCKS.replace("  p.train(", '  p.predict("out", data, [&](dl::Batch b) { return net(b[0]); });\n  p.train(') % ("", ""))
        self.dlcc("net.dl", "--dtype=f64")
        self.dlrun("net.plan", "--steps", 3, "--save-final", "w.safetensors")
        self.dlrun("predict", "net.plan", "--init", "w.safetensors", "--out", "one.npy")
        expected = np.load(self.path("one.npy"))
        self.assertEqual(expected.shape, (44, 4))
        for options in (["--mesh=dp=2"], ["--mesh=dp=3", "--zero=3"], ["--mesh=pp=3"], ["--mesh=tp=2"], ["--mesh=dp=2,pp=2", "--microbatches=2"]):
            self.dlcc("net.dl", "--dtype=f64", "-o", "mesh.plan", *options)
            self.dlrun("predict", "mesh.plan", "--init", "w.safetensors", "--out", "mesh.npy")
            np.testing.assert_allclose(np.load(self.path("mesh.npy")), expected, rtol=1e-10, atol=1e-12, err_msg=str(options))

    def test_errors(self):
        def refuse(mesh, words, hint=""):
            self.write_net(mesh, hint)
            self.refuse(1, words, support.dltools.DLCC, "net.dl", "-o", "refused.plan")
        refuse('dl::parallel::tensor(net, {{"h.*.upp", "colwise", "tp"}});', ["net.dl:21", "'h.*.upp'"])
        refuse('dl::parallel::tensor(net, {{"h.0.up", "colwise", "tp"}}); dl::parallel::tensor(net, {{"h.*.up", "rowwise", "tp"}});',
               ["net.dl:21", "'h.0.up.weight'", "colwise", "rowwise"])
        axes = 'dl::Mesh mesh{{"dp", 2}, {"tp", 2}};'
        refuse(axes, ["net.dl:14", "shard: the axis 'tp' divides two dims of f32 [16,4]"], '.shard({"tp", "tp"})')
        refuse(axes, ["net.dl:14", "shard: 3 axes for the 2 dims of f32 [16,4]"], '.shard({"dp", nullptr, "tp"})')
        refuse(axes, ["net.dl:14", "dl::Mesh has no axis 'tq'; did you mean 'tp'?"], '.shard({nullptr, "tq"})')
        refuse('dl::Mesh mesh{{"pp", 2}};', ["net.dl:14", "'pp' is that of the pipeline's stages"], '.shard({nullptr, "pp"})')
        refuse('dl::Mesh mesh{{"dp", 2}, {"dp", 2}};', ["net.dl:21", "twice"])
        refuse('dl::Mesh mesh{{"pp", 9}};', ["net.dl:21", "9 stages"])
        refuse('dl::parallel::pipeline(net, "pp", "g.*");', ["net.dl:21", "parallel::pipeline", "'g.*'", "did you mean 'h.*'?"])
        refuse('dl::parallel::stages("pp", {{"first"}, {"h", "hed"}});', ["net.dl:21", "parallel::stages", "'hed'", "'head'"])
        refuse('dl::parallel::stages("pp", {{"first"}, {"h"}});\n  dl::parallel::pipeline(net, "pp", "h.*");',
               ["net.dl:22", "parallel::pipeline", "at net.dl:21 already"])
        refuse('dl::parallel::pipeline(net, "pp", "h.*");\n  dl::parallel::stages("pp", {{"first"}, {"h"}});',
               ["net.dl:22", "parallel::stages", "at net.dl:21 already"])
        refuse('dl::parallel::pipeline(net, "pp", "h.*", {.microbatches = 5});', ["batch of 16", "5 equal micro-batches"])
        refuse('dl::parallel::pipeline(net, "pp", "h.*", {.stages_per_rank = 2});',
               ["net.dl:21", "parallel::pipeline: 1f1b has one stage on each rank, not 2"])
        refuse('dl::parallel::pipeline(net, "pp", "h.*", {.schedule = "interleaved", .stages_per_rank = 1LL << 62});', ["net.dl:21", "2 to 65536 stages"])
        refuse('dl::Mesh mesh{{"pp", 2}}; dl::parallel::stages("pp", {{"first"}, {"h.0"}, {"h.1", "h.2"}, {"head"}});',
               ["net.dl:21", "4 lists of modules for 2 stages; --schedule=interleaved has 2 stages on each rank"])
        refuse('dl::parallel::pipeline(net, "pp", "h.*", {.schedule = "zb-v", .stages_per_rank = 3});',
               ["net.dl:21", "parallel::pipeline: zb-v has two stages on each rank, not 3"])
        refuse('dl::parallel::pipeline(net, "pp", "h.*", {.schedule = "interleave"});',
               ["net.dl:21", "'interleave' is no schedule; gpipe, 1f1b, interleaved, zb-h1 and zb-v are"])
        refuse('dl::Mesh mesh{{"pp", 2}}; dl::parallel::pipeline(net, "pp", "h.*", {.schedule = "interleaved"});', ["net.dl:21", "4 stages", "3 blocks"])
        refuse('dl::parallel::tensor(net, {{"h.*", "colwise", "tp"}});', ["net.dl:21", "'h.*' has no parameters of its own; 'h.*.up', 'h.*.down' do"])
        refuse('dl::parallel::tensor(net, {{"h.*.up.weight", "colwise", "tp"}});', ["net.dl:21", "leave out '.weight'"])
        self.write_net("")
        for options, words in ((["--mesh=tp=2", "--zero=1"], "--zero=1 divides nothing: the mesh has no axis 'dp'"),
                               (["--mesh=dp=2", "--schedule=zb-v"], "--schedule=zb-v orders nothing: the mesh has no axis 'pp'")):
            said = support.dltools.call([support.dltools.DLCC, "net.dl", "-o", "warned.plan", *options], self.folder).stderr
            self.assertIn("warning: " + words, said)
        for options in ["--mesh=dp=2"], ["--mesh=dp=2,pp=2", "--microbatches=2", "--zero=3"]:
            self.assertNotIn("warning", support.dltools.call([support.dltools.DLCC, "net.dl", "-o", "warned.plan", *options], self.folder).stderr)
        self.write_net('dl::parallel::tensor(net, {{"h.*.up", "colwise", "tpx"}, {"head", "colwise", "tp"}});')
        for mesh, words in ("tp=2", "net.dl:"), ("tp=2", "the mesh has no axis 'tpx', but one that is 'tp': this is not divided"), ("dp=2", ""):
            said = support.dltools.call([support.dltools.DLCC, "net.dl", "-o", "warned.plan", f"--mesh={mesh}"], self.folder).stderr
            self.assertIn(words, said)
            self.assertEqual(said.count("warning"), 1 if words else 0, said)
        self.write_net("")
        self.refuse(2, ["--stages-per-rank=2: 1f1b has one stage on each rank", "--schedule=interleaved"], support.dltools.DLCC, "net.dl", "--mesh=pp=2", "--stages-per-rank=2", "-o", "refused.plan")
        self.refuse(2, ["--stages-per-rank=1", "interleaved has 2 to 65536 stages"], support.dltools.DLCC, "net.dl", "--mesh=pp=2",
                    "--schedule=interleaved", "--stages-per-rank=1", "-o", "refused.plan")
        refuse('dl::Mesh mesh{{"pp", 2}}; dl::parallel::stages("pp", {{"first"}, {"head"}});', ["net.dl:21", "the module 'h.0.up', ", "are at no stage"])
        refuse('dl::Mesh mesh{{"pp", 2}}; dl::parallel::stages("pp", {{"first"}, {"h"}});', ["net.dl:21", "the module 'head' is at no stage"])


if __name__ == "__main__":
    support.unittest.main()
