"""What programs do around their models: counters, modules that stay as they are, groups, choices made by arguments."""

import json
import shutil

import numpy as np

import dltools
from . import support


PROGRAM = "#include <memory>\n#include <vector>\n" + support.HEAD + """
struct Net : nn::Module {
  nn::Linear a{6, 8}, b{8, 3}, unused{2, 2};
  %(members)s
  dl::Tensor forward(dl::Tensor x) { return b(F::relu(a(x))); }
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = p.arg("batch_size", 16)});
  Net net;
  net.unused.requires_grad_(false);
  %(before)s
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::cross_entropy(net(b.data), b.target);
    %(step)s
  });
}
"""


class TrainingPrograms(support.ToolTest):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(0)
        np.save(self.path("x.npy"), rng.normal(size=(64, 6)))
        np.save(self.path("y.npy"), rng.integers(0, 3, 64))

    def build(self, step, *options, members="", before=""):
        self.write("net.dl", PROGRAM % {"step": step, "members": members, "before": before})
        return self.dlcc("net.dl", "--dtype=f64", "-o", "net.plan", *options)

    def run_steps(self, *options, steps=4):
        said = self.dlrun("net.plan", "--steps", steps, "--no-shuffle", "--json", "--every", "log=1", "--save-final", "w.safetensors", *options)
        return [event for event in map(json.loads, said.splitlines()) if event["event"] == "step"], self.load("w.safetensors")

    def test_counters_count_updates(self):
        """Behind backward() a state that no batch has a part in changes once for all micro-batches, and what depends on it, too."""
        step = """
    net.zero_grad();
    loss.backward();
    net.t += 1;
    for (auto &q : net.parameters())
      if (q.grad().defined())
        q.data().sub_(0.5 / net.t * q.grad());
    return {{"loss", loss}, {"t", net.t}};"""
        members = "dl::Buffer t = dl::zeros({}), seen = dl::zeros({}); nn::BatchNorm1d bn{6};"
        step = "loss = loss + 0 * net.bn(b.data).sum();" + step
        found = []
        for options in (["-D", "batch_size=16"], ["-D", "batch_size=8", "--accumulate=2"], ["-D", "batch_size=16", "--microbatches=2"]):
            self.build(step, *options, members=members)
            found.append(self.run_steps())
        for events, weights in found:
            self.assertEqual([event["t"] for event in events], [1, 2, 3, 4])
            for name in ("a.weight", "b.bias", "t"):
                np.testing.assert_allclose(weights[name], found[0][1][name], rtol=1e-12, err_msg=name)
        # What a batch norm has seen are batches.
        self.assertEqual([int(weights["bn.num_batches_tracked"]) for _, weights in found], [4, 8, 4])

    def test_a_batch_norm_that_looks_twice(self):
        """As sharpness-aware minimisation does, whose second look leaves the statistics alone."""
        step = """
    auto again = [&](double momentum) { net.bn.momentum = momentum; return net.bn(net.a(b.data)).square().mean(); };
    auto first = again(0.5), second = again(%s);
    optimizer.zero_grad();
    (first + second).backward();
    optimizer.step();
    return {{"loss", first}};
"""
        once, twice = ([self.build(step % momentum, members="nn::BatchNorm1d bn{8};",
                                   before="dl::optim::SGD optimizer(net.parameters(), {.lr = 0.0});"), self.run_steps(steps=1)][1][1]
                       for momentum in ("0", "0.5"))
        for name in ("bn.running_mean", "bn.running_var"):
            start = np.float64(name == "bn.running_var")
            np.testing.assert_allclose((np.array(twice[name]) - start) / (np.array(once[name]) - start), 1.5, rtol=1e-9)

    def test_gradients_by_hand(self):
        """As Stein's variational descent and evolution strategies make them: no loss has been gone back from."""
        before = "dl::optim::SGD optimizer(net.parameters(), {.lr = 0.5, .momentum = 0.9});"
        by_hand = """
    optimizer.zero_grad();
    auto g = dl::autograd::grad(loss, {net.a.weight, net.a.bias, net.b.weight, net.b.bias});
    net.a.weight.grad() = g[0];
    net.a.bias.grad() = g[1];
    net.b.weight.grad() = g[2] * 2;
    net.b.bias.grad() = 0.25;
    optimizer.step();
    return {{"loss", loss}, {"set", net.b.weight.grad()}};
"""
        by_loss = """
    optimizer.zero_grad();
    loss.backward();
    net.b.weight.grad() = net.b.weight.grad() * 2;
    net.b.bias.grad() = 0.25;
    optimizer.step();
    return {{"loss", loss}};
"""
        found = []
        for step in (by_hand, by_loss):
            self.build(step, before=before)
            found.append(self.run_steps()[1])
        for name in ("a.weight", "a.bias", "b.weight", "b.bias"):
            np.testing.assert_allclose(found[0][name], found[1][name], rtol=1e-12, err_msg=name)
        _, first = self.run_steps(steps=0)
        np.testing.assert_allclose(np.array(first["b.bias"]) - found[0]["b.bias"], 0.5 * 0.25 * (1 + 1.9 + 2.71 + 3.439), rtol=1e-12)

    def test_a_penalty_alone(self):
        """A gradient's loss: what it does not depend on is left alone, what it depends on by a mask has a gradient of zeros."""
        step = """
    auto x = b.data;
    auto g = dl::autograd::grad(F::relu(net.a(x)).matmul(net.b.weight.t()).add(net.b.bias).sum(), x, {.create_graph = true})[0];
    auto penalty = g.pow(2).sum(1).mean();
    optimizer.zero_grad();
    penalty.backward();
    nn::utils::clip_grad_norm_(net.parameters(), 1.0);
    optimizer.step();
    return {{"penalty", penalty}};
"""
        self.build(step, before="dl::optim::AdamW optimizer(net.parameters(), {.lr = 0.1, .weight_decay = 0.5});")
        events, weights = self.run_steps()
        self.assertLess(events[-1]["penalty"], events[0]["penalty"])
        _, first = self.run_steps(steps=0)
        for name, kept in {"b.bias": 1, "a.bias": 0.95 ** 4}.items():
            np.testing.assert_allclose(weights[name], np.array(first[name]) * kept, rtol=1e-12)
        self.assertGreater(np.abs(weights["b.weight"] - np.array(first["b.weight"]) * 0.95 ** 4).max(), 1e-3)
        # So do micro-batches, and an optimizer that is written with ops.
        self.build(step, "--accumulate=2", before="dl::optim::RMSprop optimizer(net.parameters(), {.lr = 0.1, .weight_decay = 0.5});")
        _, weights = self.run_steps()
        np.testing.assert_array_equal(weights["b.bias"], first["b.bias"])
        self.assertGreater(np.abs(np.array(weights["a.bias"]) - first["a.bias"]).max(), 1e-3)

    def test_a_gradient_as_the_loss(self):
        step = """
    auto y = (net.s * net.s * net.s + net.t) * loss.detach();
    auto g = dl::autograd::grad(y, net.s, {.create_graph = true})[0];
    optimizer.zero_grad();
    g.backward();
    optimizer.step();
    return {{"loss", loss}, {"g", g}};
"""
        self.build(step, members="dl::Parameter s = dl::ones({}), t = dl::ones({});", before="dl::optim::Adam optimizer({net.s, net.t}, {.lr = 0.1, .weight_decay = 0.5});")
        events, weights = self.run_steps(steps=1)
        self.assertAlmostEqual(events[0]["g"], 3 * events[0]["loss"], places=12)
        self.assertAlmostEqual(weights["s"], 0.9, places=6)  # the first step of Adam is one of the rate
        self.assertEqual(weights["t"], 1)

    def test_rates_of_groups(self):
        """A scheduler with a rate for each group does to each what one of its own would."""
        update = "net.zero_grad(); loss.backward(); %s return {{\"loss\", loss}};"
        for name, two, one in (("OneCycleLR", "{0.3, 0.02}, {.total_steps = 5}", ["0.3, {.total_steps = 5}", "0.02, {.total_steps = 5}"]),
                               ("CyclicLR", "0.01, {0.3, 0.1}, {.step_size_up = 2}", ["0.01, 0.3, {.step_size_up = 2}", "0.01, 0.1, {.step_size_up = 2}"]),
                               ("CyclicLR", "rates, {0.3, 0.1}, {.step_size_up = 2}", ["0.05, 0.3, {.step_size_up = 2}", "0.02, 0.1, {.step_size_up = 2}"])):
            scheduler = f"dl::optim::lr_scheduler::{name}"
            self.build(update % "o.step(); s.step();", before="dl::optim::SGD o({{.params = net.a.parameters()}, {.params = net.b.parameters()}}, {.lr = 1, .momentum = 0.5});"
                       f" std::vector<double> rates{{0.05, 0.02}}; {scheduler} s(o, {two});")
            got, weights = self.run_steps(steps=6)
            self.build(update % "o0.step(); s0.step(); o1.step(); s1.step();", before="dl::optim::SGD o0(net.a.parameters(), {.lr = 1, .momentum = 0.5}), "
                       f"o1(net.b.parameters(), {{.lr = 1, .momentum = 0.5}}); {scheduler} s0(o0, {one[0]}), s1(o1, {one[1]});")
            want, others = self.run_steps(steps=6)
            self.assertEqual([event["loss"] for event in got], [event["loss"] for event in want])
            for weight, values in others.items():
                np.testing.assert_array_equal(weights[weight], values, err_msg=weight)
        self.write("net.dl", PROGRAM % {"members": "", "step": update % "o.step(); s.step();", "before":
                                        "dl::optim::SGD o(net.parameters(), {.lr = 1}); dl::optim::lr_scheduler::OneCycleLR s(o, {0.3, 0.1}, {.total_steps = 5});"})
        self.refuse(1, ["net.dl:", "OneCycleLR: 2 max_lr are given, the optimizer has 1 groups"], dltools.DLCC, "net.dl", "-o", "net.plan")

    def test_data_that_are_made_up(self):
        """What a benchmark makes up may not be what a model can take: then it is not the user's data that are blamed."""
        self.write("made.dl", """#include <dl/dl.h>
void dl_main(dl::Program &p) {
  auto data = dl::data::InputDataset({{"x", dl::kFloat, {3, 4}}, {"length", dl::kInt64}}, {.batch_size = 2});
  dl::nn::GRU gru{4, 5, {.batch_first = true}};
  dl::optim::SGD o(gru.parameters(), {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto packed = dl::nn::utils::rnn::pack_padded_sequence(b[0], b[1] - 1, {.batch_first = true, .enforce_sorted = false});
    auto loss = gru(packed).h.square().mean();
    o.zero_grad(); loss.backward(); o.step();
    return {{"loss", loss}};
  });
}
""")
        self.dlcc("made.dl", "-o", "made.plan")
        self.refuse(1, ["a length is not between 1 and 3", "; the data are made up: --data gives others\n"], dltools.DLRUN, "bench", "made.plan", "--steps", 3)

    def test_counters_beside_batches(self):
        """Counters that change places, and numbers that a batch and a counter make together."""
        step = """
    net.zero_grad();
    loss.backward();
    auto before = net.t.clone();
    net.t = net.u + 1;
    net.u = before;
    net.seen = net.seen + net.bn.num_batches_tracked;
    net.mean = 0.5 * net.mean + loss.detach();
    for (auto &q : net.parameters())
      if (q.grad().defined())
        q.data().sub_(0.1 * q.grad());
    return {{"loss", loss}, {"t", net.t}, {"u", net.u}, {"sum", loss.detach() + net.t}, {"share", net.mean / net.t}};"""
        members = "dl::Buffer t = dl::zeros({}), u = dl::zeros({}), seen = dl::zeros({}, dl::kInt64), mean = dl::zeros({}); nn::BatchNorm1d bn{6};"
        step = "loss = loss + 0 * net.bn(b.data).sum();" + step
        found = []
        for options in (["-D", "batch_size=16"], ["-D", "batch_size=8", "--accumulate=2"]):
            self.build(step, *options, members=members)
            found.append(self.run_steps())
        for events, weights in found:
            self.assertEqual([event["t"] for event in events], [1, 1, 2, 2])
            self.assertEqual([event["u"] for event in events], [0, 1, 1, 2])
            np.testing.assert_allclose([event["sum"] for event in events], [event["loss"] + event["t"] for event in events], rtol=1e-6)
        # Batches change what this one is made from, so it goes with them.
        self.assertEqual([int(weights["seen"]) for _, weights in found], [1 + 2 + 3 + 4, sum(range(1, 9))])

    def test_modules_that_evaluate(self):
        members = """
  struct Backbone : nn::Module {
    nn::MultiheadAttention attention{8, 2, {.dropout = 0.5, .batch_first = true}};
    nn::Linear in{6, 8};
    nn::BatchNorm1d bn{8};
    nn::Sequential drop{nn::Dropout{0.5}, nn::AlphaDropout{0.5}};
    dl::Tensor forward(dl::Tensor x) { return drop(bn(F::dropout(in(x), 0.5))); }
  } kept, other;"""
        step = """
    net.kept.eval();
    auto y = net.kept(b.data), z = net.other(b.data);
    auto by_hand = F::batch_norm(net.kept.in(b.data), net.kept.bn.running_mean, net.kept.bn.running_var, net.kept.bn.weight, net.kept.bn.bias, false);
    auto attended = [&](bool needs) { auto t = y.unsqueeze(0); return net.kept.attention(t, t, t, {.need_weights = needs}).output; };
    auto same = (moved(b.data) - moved(b.data)).abs().sum() + (attended(false) - attended(true)).abs().sum();
    net.kept.train();
    auto random = (attended(false) - attended(false)).abs().sum();
    auto again = net.kept.drop(y);
    net.kept.eval();
    loss = loss + y.square().mean() + z.square().mean();
    net.zero_grad();
    loss.backward();
    for (auto &q : net.parameters())
      if (q.grad().defined())
        q.data().sub_(0.1 * q.grad());
    return {{"loss", loss}, {"difference", (y - by_hand).abs().sum()}, {"same", same},
            {"drops", (again - y).abs().sum()}, {"random", random}};"""
        evaluated = """
  Net::Backbone other;
  other.eval();
  Net::Backbone moved = std::move(other);
  p.eval("test", data, [&](dl::Batch b) -> dl::Metrics {
    auto t = net.kept(b.data).unsqueeze(0);
    auto attended = [&] { return net.kept.attention(t, t, t).output; };
    return {{"difference", (attended() - attended()).abs().sum()}};
  });"""
        self.build(step, members=members, before=evaluated)
        events, weights = self.run_steps()
        for event in events:
            self.assertEqual(event["difference"], 0)
            self.assertLess(event["same"], 1e-12)
            self.assertGreater(event["drops"], 0)
            self.assertGreater(event["random"], 0)
        (event,) = [event for event in self.events("eval", "net.plan", "--init", "w.safetensors") if event["event"] == "eval"]
        self.assertEqual(event["difference"], 0)
        np.testing.assert_array_equal(weights["kept.bn.running_mean"], 0)
        self.assertEqual(int(weights["kept.bn.num_batches_tracked"]), 0)
        self.assertEqual(int(weights["other.bn.num_batches_tracked"]), 4)
        self.assertTrue(np.all(weights["other.bn.running_mean"] != 0))

    def test_the_number_of_the_epoch(self):
        """Of updates, whatever they consist of, and when a run goes on."""
        step = """
    auto beta = dl::minimum(1.0, p.epoch() / 2);
    loss = loss + beta * net.a.weight.square().sum();
    net.zero_grad();
    loss.backward();
    net.b.bias.data().sub_(0.1 * net.b.bias.grad());
    return {{"loss", loss}, {"beta", beta}};"""
        for options in ([], ["--accumulate=2", "-D", "batch_size=8"], ["--mesh=dp=2"]):
            self.build(step, *options)
            self.dlrun("net.plan", "-q", "--steps", 6, "--out", "run")
            said = self.dlrun("net.plan", "--steps", 16, "--json", "--every", "log=1")
            found = [event["beta"] for event in map(json.loads, said.splitlines()) if event["event"] == "step"]
            self.assertEqual(found, [0] * 4 + [0.5] * 4 + [1] * 8)
            said = self.dlrun("resume", "run", "--steps", 9, "--json", "--every", "log=1")
            found = [event["beta"] for event in map(json.loads, said.splitlines()) if event["event"] == "step"]
            self.assertEqual(found, [0.5, 0.5, 1])
            shutil.rmtree(self.path("run"))
        self.write("net.dl", PROGRAM % {"step": step, "members": "", "before": "int epoch = 0; p.each_epoch([&] { ++epoch; });"})
        self.refuse(1, ["net.dl:17", "p.each_epoch(): this calls no scheduler.step()", "p.epoch()"], dltools.DLCC, "net.dl")

    def test_rates_by_hand(self):
        """Of the groups, as a scheduler gives them; and when a run goes on."""
        rate = "dl::where(it < 3, 0.1 * (it + 1) / 3, 0.1 * dl::cos(it / 10))"
        step = "optimizer.zero_grad(); loss.backward(); %s optimizer.step(); %s return {{\"loss\", loss}, {\"lr\", optimizer.param_groups()[1][\"lr\"]}};"
        by_hand = f"auto it = p.step(); auto lr = {rate}; for (auto &group : optimizer.param_groups()) {{ group[\"lr\"] = lr; group[\"weight_decay\"] = 0.1; }}"
        groups = "dl::optim::%s optimizer({{.params = net.a.parameters()}, {.params = net.b.parameters(), .lr = 0.5}, {.params = net.unused.parameters()}}, {.lr = %s%s});"
        for kind, options in (("AdamW", []), ("SGD", ["--accumulate=2", "-D", "batch_size=8"]), ("Muon", [])):
            if kind == "Muon":  # of matrices
                groups = "dl::optim::%s optimizer({{.params = net.a.weight}, {.params = net.b.weight, .lr = 0.5}}, {.lr = %s%s});"
            found = []
            outside = "auto data_single = dl::data::TensorDataset(\"x.npy\", {.batch_size = 4}); for (auto group : optimizer.param_groups()) { group[\"lr\"] = 2; group[\"lr\"] *= 0.5; group[\"weight_decay\"] = 0.1; }"
            scheduler = f"dl::optim::lr_scheduler::LambdaLR scheduler(optimizer, [](dl::Scalar it) {{ return {rate}; }});"
            for text, before in ((step % (by_hand, ""), groups % (kind, "0.3", "")),
                                 (step % ("", "scheduler.step();"), groups % (kind, "0.3", "") + outside + scheduler)):
                self.build(text, *options, before=before)
                self.dlrun("net.plan", "-q", "--steps", 6, "--out", "run")
                said = self.dlrun("resume", "run", "--steps", 9, "--json", "--every", "log=1")
                found.append([event["loss"] for event in map(json.loads, said.splitlines()) if event["event"] == "step"])
                shutil.rmtree(self.path("run"))
            self.assertEqual(len(found[0]), 3)
            np.testing.assert_allclose(found[0], found[1], rtol=1e-12)
        behind = step % ("", 'optimizer.param_groups()[0]["lr"] *= 0.5;')
        self.write("net.dl", PROGRAM % {"step": behind, "members": "", "before": groups % (kind, "0.3", "")})
        self.refuse(1, ["net.dl:20", "a number of group 0 was set in another call of a step", "in front of optimizer.step()"], dltools.DLCC, "net.dl")
        for line, words in (("optimizer.param_groups()[0][\"lr\"] = -1;", ["lr = -1 is negative"]),
                            ("optimizer.param_groups()[0][\"beta\"] = 1;", ["\"beta\" is no number of this optimizer's options"]),
                            ("optimizer.param_groups()[7][\"lr\"] = 1;", ["there is no number 7"])):
            self.write("net.dl", PROGRAM % {"step": step % (line, ""), "members": "", "before": groups % (kind, "0.3", "")})
            self.refuse(1, ["net.dl:20", *words], dltools.DLCC, "net.dl")

    def test_groups_in_a_vector(self):
        step = "optimizer.zero_grad(); loss.backward(); optimizer.step(); return {{\"loss\", loss}};"
        loop = """
  std::vector<dl::optim::AdamW::ParamGroup> groups;
  double lr = 0.1;
  for (auto &module : net.children()) {
    groups.push_back({.params = module.parameters(), .lr = lr});
    lr /= 2;
  }
  dl::optim::AdamW optimizer(groups, {.weight_decay = 0.1});"""
        listed = """
  dl::optim::AdamW optimizer({{.params = net.a.parameters(), .lr = 0.1}, {.params = net.b.parameters(), .lr = 0.05},
                              {.params = net.unused.parameters(), .lr = 0.025}}, {.weight_decay = 0.1});"""
        found = []
        for before in (loop, listed):
            self.build(step, before=before)
            found.append(self.run_steps())
        losses = [[event["loss"] for event in events] for events, _ in found]
        self.assertEqual(losses[0], losses[1])
        self.assertEqual(len(losses[0]), 4)
        for name, value in found[0][1].items():
            np.testing.assert_array_equal(value, found[1][1][name], err_msg=name)

    def test_what_is_written_as_in_pytorch(self):
        """Lists of named parameters, grids by position, attention's output by number, the encoder's mask by name and by position."""
        self.write("as.dl", """
#include <vector>
#include <dl/dl.h>
namespace nn = dl::nn; namespace F = dl::F;
struct Net : nn::Module { nn::Linear a{4, 4}, b{4, 4}; nn::MultiheadAttention mha{4, 2, {.batch_first = true}}; nn::TransformerEncoder enc{nn::TransformerEncoderLayer{4, 2, 8, {.batch_first = true}}, 2}; };
void dl_main(dl::Program &p) {
  auto data = dl::data::InputDataset({{"x", dl::kFloat, {4}}}, {.batch_size = 4});
  Net m;
  dl::optim::Parameters kept;
  for (auto &[name, q] : m.named_parameters()) if (!name.ends_with("bias")) kept.push_back(q);
  dl::optim::AdamW o(m.named_parameters(), {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto [y, x] = dl::meshgrid(dl::arange(3), dl::arange(4));
    auto g = dl::meshgrid({dl::arange(3), dl::arange(4)}, "xy");
    auto h = m.mha(b.data.unsqueeze(0), b.data.unsqueeze(0), b.data.unsqueeze(0))[0];
    h = m.enc(h, {.mask = dl::zeros({4, 4}), .src_key_padding_mask = dl::zeros({1, 4}).gt(0)}) + m.enc(h, dl::zeros({4, 4}));
    auto loss = m.b(m.a(h)).square().mean();
    o.zero_grad(); loss.backward();
    nn::utils::clip_grad_norm_(kept, 1.0); nn::utils::clip_grad_value_(m.parameters(), 1.0);
    dl::Tensor s = dl::zeros({});
    for (auto &w : kept) s = s + w.grad().square().sum();
    o.step();
    return {{"loss", loss}, {"s", s}, {"y", (y * x).sum()}, {"z", g[0].sum()}};
  });
}
""")
        self.dlcc("as.dl", "-o", "as.plan")
        np.save(self.path("x.npy"), np.ones((4, 4), np.float32))
        event = next(e for e in self.events("as.plan", "--steps", 1) if e["event"] == "step")
        self.assertEqual((event["y"], event["z"]), (18, 12))

    def test_a_filter_of_constants(self):
        """Few images of many channels, whose orders are chosen from what the filters are."""
        self.write("filter.dl", """
#include <dl/dl.h>
namespace nn = dl::nn; namespace F = dl::F;
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 2});
  nn::Conv2d conv{32, 32, 3};
  dl::Parameter scale = dl::ones({1});
  auto all = conv.parameters();
  all.push_back(scale);
  dl::optim::SGD optimizer(all, {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto y = conv(b.data);
    auto means = F::conv2d(y, dl::ones({16, 32, 1, 1}) / 32), scaled = F::conv2d(y, dl::ones({32, 32, 1, 1}) * scale);
    optimizer.zero_grad();
    (means.square().mean() + scaled.square().mean()).backward();
    optimizer.step();
    return {{"mean", y.mean(1)}, {"means", means}, {"scaled", scaled / 32}};
  });
}
""")
        np.save(self.path("x.npy"), np.random.default_rng(0).normal(size=(2, 32, 9, 9)).astype(np.float32))
        self.dlcc("filter.dl", "-o", "filter.plan")
        self.dlrun("filter.plan", "--steps", 1, "--save-metrics", "made.safetensors")
        made = self.load("made.safetensors")
        for name in "means", "scaled":
            for channel in range(made[name].shape[1]):
                np.testing.assert_allclose(made[name][:, channel], made["mean"], atol=1e-6, err_msg=name)

    def test_a_copied_parameter_keeps_its_name(self):
        """Whoever else holds it, whatever the name there."""
        source = """
#include <dl/dl.h>
#include <vector>
namespace nn = dl::nn;
struct Net : nn::Module {
  nn::Linear fc{4, 2}, out{2, 2};
  dl::Tensor forward(dl::Tensor x) { return out(fc(x)); }
};
struct Rule : nn::Module {
  dl::Buffer t = dl::zeros({});
  std::vector<dl::Parameter> parameters_of_another;
  void step() {
    t += 1;
    for (auto &w : parameters_of_another)
      w -= 0.1 / t * w.grad();
  }
};
void dl_main(dl::Program &p) {
  auto data = dl::data::InputDataset({{"x", dl::kFloat, {4}}}, {.batch_size = 4});
  Net model;
  Rule rule;
  dl::optim::Parameters chosen(model.parameters());
  for (auto &w : chosen)
    rule.parameters_of_another.push_back(w);
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = model(b.data).square().mean();
    model.zero_grad();
    loss.backward();
    rule.step();
    return {{"loss", loss}};
  });
}
"""
        self.write("copied.dl", source)
        self.dlcc("copied.dl", "-o", "copied.plan")
        self.assertEqual([state["name"] for state in self.info("copied.plan")["states"] if state["role"] in ("weight", "parameter", "buffer")],
                         ["fc.weight", "fc.bias", "out.weight", "out.bias", "t"])

    def test_what_is_advised_instead(self):
        """Of masked_scatter, which is not there: the line that dlcc proposes gives its values."""
        random = np.random.RandomState(2)
        x, source = (random.standard_normal((4, 7)).astype(np.float32) for _ in range(2))
        mask = random.randint(0, 2, (4, 7))
        for name, value in (("x", x), ("mask", mask), ("source", source)):
            np.save(self.path(f"{name}.npy"), value)
        self.write("advised.dl", """
#include <dl/dl.h>
void dl_main(dl::Program &p) {
  dl::nn::Linear fc{7, 1};
  auto data = dl::data::TensorDataset({"x.npy", "mask.npy", "source.npy"}, {.batch_size = 4});
  dl::optim::SGD optimizer(fc.parameters(), 0.1);
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto x = b[0], mask = b[1].ne(0), source = b[2];
    auto scattered = dl::where(mask, source.flatten()[(mask.flatten().to(dl::kLong).cumsum(0) - 1).clamp_min(0)].view(x.sizes()), x);
    auto loss = fc(scattered).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}, {"scattered", scattered}};
  });
}
""")
        self.dlcc("advised.dl", "-o", "advised.plan")
        self.dlrun("advised.plan", "-q", "--no-shuffle", "--steps", 1, "--save-metrics", "m.safetensors")
        got = self.load("m.safetensors")
        expected = x.copy()
        expected[mask != 0] = source.flatten()[:mask.sum()]
        np.testing.assert_array_equal(got["scattered"], expected)

    def test_schedulers_by_name(self):
        """The same rates whether arguments are named or stand at their places."""
        pairs = [("StepLR", "2, 0.5", "{.step_size = 2, .gamma = 0.5}"), ("ConstantLR", "0.5, 3", "0.5, {.total_iters = 3}"),
                 ("LinearLR", "0.5, 1.0, 4", "0.5, {.total_iters = 4}"), ("ExponentialLR", "0.5", "{.gamma = 0.5}"),
                 ("PolynomialLR", "4, 2.0", "4, {.power = 2.0}"), ("CosineAnnealingLR", "5, 0.01", "{.T_max = 5, .eta_min = 0.01}"),
                 ("CosineAnnealingWarmRestarts", "2, 2, 0.01", "2, 2, {.eta_min = 0.01}"),
                 ("OneCycleLR", "0.5, {.total_steps = 8}", "{.max_lr = 0.5, .total_steps = 8}")]
        members = "".join(f"  dl::Parameter a{i} = dl::ones({{1}}), b{i} = dl::ones({{1}});\n" for i in range(len(pairs)))
        before = "".join(f"  dl::optim::SGD {w}({{net.{w}}}, 0.1); dl::optim::lr_scheduler::{name} s{w}({w}, {arguments});\n"
                         for i, (name, *both) in enumerate(pairs) for w, arguments in zip((f"a{i}", f"b{i}"), both))
        names = [f"{which}{i}" for i in range(len(pairs)) for which in "ab"]
        step = "auto sum = loss * 0; " + "".join(f"sum = sum + net.{w}.sum(); " for w in names) + "net.zero_grad(); sum.backward();" + "".join(
            f" {w}.step(); s{w}.step();" for w in names) + ' return {{"loss", loss}};'
        self.build(step, members=members, before=before)
        _, weights = self.run_steps(steps=6)
        values = [np.array(weights[w])[0] for w in names]
        self.assertEqual(values[::2], values[1::2])
        self.assertEqual(len(set(values)), len(pairs))

    def test_a_function_for_each_group(self):
        before = """
  dl::optim::SGD optimizer({{.params = net.a.parameters(), .lr = 0.1}, {.params = net.b.parameters(), .lr = 0.2}});
  dl::optim::lr_scheduler::LambdaLR scheduler(optimizer, [](dl::Scalar t) { return 1 / (1 + t); }, [](dl::Scalar t) { return t * t; });"""
        step = ("auto first = scheduler.get_last_lr(0), second = scheduler.get_last_lr(1); optimizer.zero_grad(); loss.backward(); optimizer.step(); "
                "scheduler.step(); return {{\"loss\", loss}, {\"a\", first}, {\"b\", second}};")
        self.build(step, before=before)
        events, _ = self.run_steps()
        for t, event in enumerate(events):
            np.testing.assert_allclose([event["a"], event["b"]], [0.1 / (1 + t), 0.2 * t * t], rtol=1e-6)
        self.assertEqual(len(events), 4)

    def test_an_optimizer_by_an_argument(self):
        before = """
  std::unique_ptr<dl::optim::OptimizerBase> optimizer;
  if (p.arg("adam", false))
    optimizer = std::make_unique<dl::optim::Adam>(net.parameters(), 0.01);
  else
    optimizer = std::make_unique<dl::optim::SGD>(net.parameters(), 0.01);"""
        step = "optimizer->zero_grad(); loss.backward(); optimizer->step(); return {{\"loss\", loss}};"
        for adam, slots in (("false", 0), ("true", 8)):
            self.build(step, "-D", f"adam={adam}", before=before)
            states = self.info("net.plan")["states"]
            self.assertEqual(sum(state["role"] == "slot" for state in states), slots)

    def test_indices_outside_of_steps(self):
        """Constants are indexed where they stand, and a wrong index is found at once."""
        before = """
  dl::Buffer order = dl::tensor({2, 0, 1}), swap = dl::eye(3)[order];
  dl::Buffer places = dl::zeros({3, 3}).scatter(1, dl::tensor({{1}, {2}, {0}}), 1.0);
  dl::Buffer rows = dl::arange(6, dl::kFloat).view({3, 2}).index_select(0, dl::tensor({2, 0}));"""
        step = """
    net.zero_grad();
    loss.backward();
    for (auto &q : net.parameters())
      if (q.grad().defined())
        q.data().sub_(0.1 * q.grad());
    auto numbers = dl::arange(3, dl::kFloat) + 1;
    return {{"swapped", swap.matmul(numbers)}, {"placed", places.matmul(numbers)}, {"rows", rows.flatten()}};"""
        self.build(step, before=before)
        self.dlrun("net.plan", "--steps", 1, "-q", "--save-metrics", "m.safetensors")
        metrics = self.load("m.safetensors")
        np.testing.assert_array_equal(metrics["swapped"].ravel(), [3, 1, 2])
        np.testing.assert_array_equal(metrics["placed"].ravel(), [2, 3, 1])
        np.testing.assert_array_equal(metrics["rows"].ravel(), [4, 5, 0, 1])
        self.write("net.dl", PROGRAM % {"step": step, "members": "", "before": before.replace("{2, 0, 1}", "{2, 0, 3}")})
        self.refuse(1, ["net.dl:18", "out of range"], dltools.DLCC, "net.dl")

    def test_fewer_items_than_a_batch(self):
        self.build("dl::Metrics m{{\"loss\", loss}}; net.zero_grad(); loss.backward(); net.b.bias.data().sub_(net.b.bias.grad()); return m;")
        np.save(self.path("few.npy"), np.zeros((7, 6)))
        np.save(self.path("labels.npy"), np.zeros(7, dtype=np.int64))
        for command in ([], ["bench"]):
            self.refuse(1, ["'train': 7 items do not fill a batch of 16"], dltools.DLRUN, *command, "net.plan", "--data", "few.npy,labels.npy", "--drop-last")
