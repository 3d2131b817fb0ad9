"""Several modules on a mesh: patterns are those of one, copies are where their originals are, and work stays divided behind a cat."""

import re

import numpy as np

from . import support

NETS = support.HEAD + """
struct Block : nn::Module {
  nn::Linear up{8, 24}, down{24, 8};
  dl::Tensor forward(dl::Tensor x) { return x + down(F::relu(up(x))); }
};
struct Net : nn::Module {
  nn::Linear first{6, 8};
  nn::BatchNorm1d bn{8};
  nn::Sequential h{Block{}, Block{}, Block{}, Block{}};
  nn::Linear head{8, 4};
  dl::Tensor forward(dl::Tensor x) { return head(h(bn(first(x)))); }
};
struct Pair : nn::Module { Net online, target; };

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = 8});
  %(nets)s
  dl::optim::SGD optimizer(net.parameters(), {.lr = 0.1, .momentum = 0.9});
  dl::optim::swa_utils::AveragedModel averages(copy, net, {.decay = 0.9});
  %(mesh)s
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto x = b.data;
    %(loss)s
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    averages.update_parameters();
    return {{"loss", loss}};
  });
}
"""
TWO = "Net net, copy;"
COPY_FIRST = "Net copy; Net net;"
INSIDE = "Pair pair; auto &net = pair.online, &copy = pair.target;"
LOSS = "auto loss = F::cross_entropy(net(x), b.target) + 0 * copy(x).detach().sum();"


class MeshBase(support.ToolTest):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(0)
        np.save(self.path("x.npy"), rng.normal(size=(40, 6)))
        np.save(self.path("y.npy"), rng.integers(0, 4, 40))

    WIDTH = 24

    def build(self, *options, nets=TWO, mesh="", loss=LOSS):
        self.write("net.dl", (NETS % {"nets": nets, "mesh": mesh, "loss": loss}).replace("24", str(self.WIDTH)))
        return self.dlcc("net.dl", "--dtype=f64", "-o", "net.plan", *options)

    def train(self, steps=4):
        self.dlrun("net.plan", "-q", "--no-shuffle", "--steps", steps, "--save-final", "w.safetensors")
        return self.load("w.safetensors")

    def check(self, expected):
        for name, value in self.train().items():
            np.testing.assert_allclose(value, expected[name], rtol=1e-10, atol=1e-12, err_msg=name)

    def work(self, *options, **parts):
        """FLOP of a rank in a step."""
        said = self.build("--report", *options, **parts)
        number, unit = re.search(r"step train, batch of 8: .*? ([\d.]+) (k|M)?FLOP", said).groups()
        return float(number) * {None: 1, "k": 1e3, "M": 1e6}[unit]


class MeshModules(MeshBase):
    def divided(self):
        return sorted(state["name"] for state in self.info("net.plan")["states"] if state["split"] and state["role"] == "parameter")

    def test_patterns_are_those_of_a_module(self):
        names = [f"h.{block}.{linear}" for block in range(4) for linear in ("down.weight", "up.bias", "up.weight")]
        tensor = 'dl::parallel::tensor(%s, {{"h.*.up", "colwise", "tp"}, {"h.*.down", "rowwise", "tp"}});'
        self.build()
        expected = self.train()
        for module, nets, prefixes in (("net", TWO, [""]), ("copy", TWO, ["copy."]), ("net", INSIDE, ["online."]), ("copy", INSIDE, ["target."]),
                                       ("both", TWO, ["copy.", ""])):
            with self.subTest(module=module, nets=nets):
                said = [tensor % one for one in (("net", "copy") if module == "both" else (module,))]
                self.build("--mesh=tp=2", nets=nets, mesh=" ".join(said))
                self.assertEqual(self.divided(), sorted(prefix + name for prefix in prefixes for name in names))
                if nets == TWO:
                    self.check(expected)
        # By the path in the whole model, too; and an unknown one is refused in the module's words.
        self.build("--mesh=tp=2", nets=INSIDE, mesh=(tensor % "net").replace('"h.', '"online.h.'))
        self.assertEqual(self.divided(), ["online." + name for name in sorted(names)])
        self.write("net.dl", NETS % {"nets": INSIDE, "mesh": tensor.replace("h.*.up", "g.*.up") % "net", "loss": LOSS})
        self.refuse(1, ["net.dl:23", "'g.*.up'", "did you mean 'h.*.up'?"], support.dltools.DLCC, "net.dl", "-o", "refused.plan")

    def test_copies_are_where_their_originals_are(self):
        for nets, original, copy in ((TWO, "", "copy."), (COPY_FIRST, "net.", ""), (INSIDE, "online.", "target.")):
            self.build("--microbatches=2", nets=nets)
            expected = self.train()
            lists = [["first", "bn", "h.0", "h.1"], ["h.2", "h.3", "head"]]
            by_hand = ", ".join("{" + ", ".join(f'"{original}{name}"' for name in names) + "}" for names in lists)
            for mesh in ('dl::parallel::pipeline(net, "pp", "h.*", {.microbatches = 2});', f'dl::parallel::stages("pp", {{{by_hand}}});'):
                if nets == INSIDE and "stages" in mesh:
                    continue # which of them is the copy is not said
                with self.subTest(nets=nets, mesh=mesh):
                    self.build("--mesh=pp=2", "--microbatches=2", nets=nets, mesh=mesh)
                    info = self.info("net.plan")
                    first = {state["name"] for state in info["states"] if state["role"] == "parameter"}
                    copies = {name for name in first if name.startswith(copy) and not (original and name.startswith(original))}
                    self.assertEqual(copies, {copy + name[len(original):] for name in first - copies})
                    self.assertIn(copy + "h.1.up.weight", copies)
                    self.assertNotIn(copy + "head.weight", copies)
                    self.assertEqual(sum(plan["state_bytes"]["parameter"] for plan in info["plans"]), 8 * info["parameters"])
                    self.check(expected)

    def test_what_stands_in_no_module(self):
        """A buffer of the outermost module; its copy's is where that is."""
        model = NETS.replace("nn::Linear head{8, 4};", "nn::Linear head{8, 4};\n  dl::Buffer seen = dl::zeros({});")
        for nets, original, copy in ((TWO, "", "copy."), (COPY_FIRST, "net.", "")):
            names = "{first bn h.0 seen} {h.1 h.2 h.3 head}".replace("{", '{"' + original).replace("}", '"}').replace(" ", f'", "{original}').replace(f'"}}", "{original}{{"', '"}, {"')
            mesh = f'dl::parallel::stages("pp", {{{names}}});'
            results = []
            for options in (["--microbatches=2"], ["--mesh=pp=2", "--microbatches=2"]):
                self.write("net.dl", model % {"nets": nets, "mesh": mesh, "loss": LOSS + " net.seen += x.abs().mean();"})
                self.dlcc("net.dl", "--dtype=f64", "-o", "net.plan", *options)
                results.append(self.train())
            self.assertIn(copy + "seen", {state["name"] for state in self.info("net.plan")["states"]})
            self.assertGreater(results[0][original + "seen"], 1)
            for name, value in results[0].items():
                np.testing.assert_allclose(results[1][name], value, rtol=1e-10, atol=1e-12, err_msg=name)
            self.write("net.dl", model % {"nets": nets, "mesh": mesh.replace(f', "{original}seen"', ""), "loss": LOSS})
            self.refuse(1, ["net.dl:", f"the buffer '{original}seen' is at no stage" if not original else "is at no stage"],
                        support.dltools.DLCC, "net.dl", "--mesh=pp=2", "-o", "refused.plan")

    def test_all_copies_are_those_of_what_is_cut(self):
        mesh = 'dl::parallel::stages("pp", {{"net.first", "net.bn", "net.h.0", "net.h.1"}, {"net.h.2", "net.h.3", "net.head"}});'
        parts = {"nets": "Net copy; Net net, third;", "loss": LOSS.replace("copy(x)", "(copy(x) + third(x))")}
        self.build("--microbatches=2", **parts)
        expected = self.train()
        self.build("--mesh=pp=2", "--microbatches=2", mesh=mesh, **parts)
        first = {state["name"] for state in self.info("net.plan")["states"]}
        for prefix in ("", "net.", "third."):
            self.assertIn(prefix + "h.1.up.weight", first)
            self.assertNotIn(prefix + "head.weight", first)
        self.check(expected)

    def test_work_stays_divided_behind_a_cat(self):
        for loss in ("auto both = net(dl::cat({x, x * 2}, 0)); auto loss = (both.chunk(2, 0)[0] - both.chunk(2, 0)[1]).square().mean();",
                     "auto loss = (net(x[dl::Slice(0, 4)]) - net(x[dl::Slice(4)])).square().mean();",
                     "auto loss = F::cross_entropy(net(x.roll(1, 0)), b.target);"):
            with self.subTest(loss=loss):
                alone = self.work(loss=loss)
                expected = self.train()
                for options, share in ((["--mesh=dp=4"], 0.5), (["--mesh=dp=2", "--zero=3"], 0.65), (["--mesh=dp=3"], 0.7)): # all update all weights
                    self.assertLess(self.work(*options, loss=loss), share * alone, options)
                    self.check(expected)

    def test_a_place_in_a_divided_dim(self):
        """Of classes that are divided ranks exchange the largest, and not all; the first of equal ones is the place, and NaN is the largest."""
        loss = """auto y = net(x), z = y * 0;
    z = dl::where(dl::arange(8).unsqueeze(1) == 2, y / 0 * 0, z);
    auto [most, place] = y.max(1);
    auto loss = F::cross_entropy(y, b.target) + most.mean() + 0.01 * (y.argmax(1) + place + z.argmax(1) + z.max(1, true).indices.squeeze(1) + y.argmin(1)).to(dl::kFloat).mean();"""
        mesh = 'dl::parallel::tensor(net, {{"head", "colwise", "tp"}});'
        self.build(loss=loss)
        expected = self.train()
        for options in (["--mesh=tp=2"], ["--mesh=tp=3"], ["--mesh=tp=4"], ["--mesh=dp=2,tp=2"]):
            said = self.build("--report", *options, loss=loss, mesh=mesh)
            self.assertNotIn("head/all_gather", said)
            self.check(expected)

    def test_a_tied_weight_has_names_in_two_modules(self):
        tied = """
struct Half : nn::Module {
  nn::Linear up{8, 8};
  dl::Parameter table = dl::zeros({8, 8});
  dl::Tensor forward(dl::Tensor x) { return up(x).matmul(table + 1); }
};
struct Whole : nn::Module {
  Half encoder, decoder;
  Whole() { decoder.table = encoder.table; }
  dl::Tensor forward(dl::Tensor x) { return decoder(encoder(x)); }
};
"""
        for half in ("encoder", "decoder"):
            mesh = f'Whole whole; dl::parallel::tensor(whole.{half}, {{{{"up", "colwise", "tp"}}}});'
            text = NETS % {"nets": TWO, "mesh": mesh, "loss": "auto loss = F::cross_entropy(net(x), b.target) + 0 * (copy(x).detach().sum() + whole(dl::ones({2, 8})).detach().sum());"}
            self.write("net.dl", text.replace("struct Pair", tied + "struct Pair"))
            self.dlcc("net.dl", "--mesh=tp=2", "-o", "net.plan")
            self.assertEqual(self.divided(), [half + ".up.bias", half + ".up.weight"])

    def test_axes_of_the_data(self):
        for axes, words in (('{"rep", "rep"}', "'rep' is named twice"), ('{"rep", "do"}', "did you mean 'dp'?"), ("{}", "")):
            mesh = f'dl::Mesh mesh{{{{"rep", 2}}, {{"dp", 2}}}}; dl::parallel::data(net, {axes});'
            self.write("net.dl", NETS % {"nets": TWO, "mesh": mesh, "loss": LOSS})
            self.refuse(1, ["net.dl:23", words], support.dltools.DLCC, "net.dl", "-o", "refused.plan")
        mesh = 'dl::parallel::data(net, {"rep", "dp"}); dl::parallel::zero(optimizer, "rep", 1);'
        self.write("net.dl", NETS % {"nets": TWO, "mesh": mesh, "loss": LOSS})
        self.refuse(1, ["net.dl:23", "the last axis of the data, 'dp'"], support.dltools.DLCC, "net.dl", "-o", "refused.plan")
        for mesh, sizes in (('data(net, {"rep", "pp"}); dl::parallel::pipeline(net, "pp", "h.*")', "rep=2,pp=2"), ('data(net, "pp")', "pp=2"),
                            ('pipeline(net, "dp", "h.*")', "dp=2")):
            self.write("net.dl", NETS % {"nets": TWO, "mesh": f"dl::parallel::{mesh};", "loss": LOSS})
            self.refuse(1, ["net.dl", "is that of the pipeline's stages; batches are divided along another one"], support.dltools.DLCC, "net.dl",
                        f"--mesh={sizes}", "-o", "refused.plan")

    def test_ranks_without_items(self):
        self.write("net.dl", NETS % {"nets": TWO, "mesh": "", "loss": LOSS})
        for ranks, idle in ((8, 0), (16, 8), (5, 1)):
            said = support.dltools.call([support.dltools.DLCC, "net.dl", f"--mesh=dp={ranks}", "-o", "net.plan"], self.folder).stderr
            self.assertEqual(f"of the {ranks} ranks along 'dp' {idle} have nothing of a batch of 8 to do" in said, idle != 0, said)

    def test_parameters_of_all_stages(self):
        self.build()
        alone = self.info("net.plan")["parameters"]
        said = self.build("--mesh=pp=2", "--report")
        self.assertIn(f"net.dl: {alone} parameters", said)
        self.assertEqual(self.info("net.plan")["parameters"], alone)


class Attention(support.ToolTest):
    """The parameters that MultiheadAttention takes apart are whole where they are used, whatever ZeRO divides."""
    MODEL = support.HEAD + """
struct Net : nn::Module {
  nn::Linear a{16, 32}, c{32, 4};
  nn::MultiheadAttention at{32, 4, {.batch_first = true}};
  dl::Tensor forward(dl::Tensor x) { x = a(x); return c(x + at(x, x, x).output).mean(1); }
};
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = 8});
  Net net;
  dl::optim::SGD optimizer(net.parameters(), {.lr = 0.1, .momentum = 0.9});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::cross_entropy(net(b.data), b.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""

    def test_stages_of_zero(self):
        rng = np.random.default_rng(0)
        np.save(self.path("x.npy"), rng.normal(size=(20, 4, 16)))
        np.save(self.path("y.npy"), rng.integers(0, 4, 20))
        self.write("net.dl", self.MODEL)
        found, sent = {}, {}
        for zero in range(4):
            said = self.dlcc("net.dl", "--dtype=f64", "--mesh=dp=2", f"--zero={zero}", "--report", "-o", "net.plan")
            sent[zero] = sum(float(number) * {"": 1, "k": 1e3}[unit] for number, unit in re.findall(r"rank 0 sends ([\d.]+) (k?)B to others", said))
            self.dlrun("net.plan", "-q", "--no-shuffle", "--steps", 6, "--save-final", "w.safetensors")
            found[zero] = self.load("w.safetensors")
            for name, values in found[0].items():
                self.assertEqual(values.tobytes(), found[zero][name].tobytes(), (zero, name))
        self.assertLess(sent[3], 1.7 * sent[1]) # parameters come twice, activations never


class Hybrid(MeshBase):
    """Of sizes that ZeRO divides."""
    WIDTH = 240

    def test_a_batch_that_does_not_divide_among_two_axes(self):
        mesh = 'dl::parallel::data(net, {"rep", "dp"});'
        for batch, words in ((8, ""), (6, "a batch of 6 does not divide among the 4 ranks along 'rep' and 'dp'; it is divided along 'dp' alone")):
            self.write("net.dl", (NETS % {"nets": TWO, "mesh": mesh, "loss": LOSS}).replace(".batch_size = 8", f".batch_size = {batch}"))
            said = support.dltools.call([support.dltools.DLCC, "net.dl", "-o", "net.plan", "--mesh=rep=2,dp=2"], self.folder).stderr
            self.assertIn(words, said)
            self.assertEqual(said.count("warning"), 1 if words else 0, said)

    def test_hybrid_sharding(self):
        """Batches along two axes, of which ZeRO divides along the last."""
        hybrid = 'dl::parallel::data(net, {"rep", "dp"});'
        cat = "auto both = net(dl::cat({x, x * 2}, 0)); auto loss = (both.chunk(2, 0)[0] - both.chunk(2, 0)[1]).square().mean();"
        for loss in (LOSS, cat):
            self.build(loss=loss)
            expected = self.train(steps=12)
            flat = self.work("--mesh=dp=4", loss=loss)
            for sizes in ("rep=2,dp=2", "dp=2,rep=2", "rep=2", "dp=2", "rep=3,dp=2"):
                weights = {}
                for zero in range(4):
                    with self.subTest(loss=loss[:20], sizes=sizes, zero=zero):
                        self.build(f"--mesh={sizes}", f"--zero={zero}", mesh=hybrid, loss=loss)
                        weights[zero] = self.train(steps=12)
                        for name, value in weights[zero].items():
                            np.testing.assert_allclose(value, expected[name], rtol=1e-10, atol=1e-12, err_msg=name)
                            self.assertEqual(value.tobytes(), weights[0][name].tobytes(), name)
                        states = [state for state in self.info("net.plan")["states"] if state["name"] == "h.0.up.weight"]
                        self.assertEqual(bool(states[0]["split"]), zero == 3 and "dp=2" in sizes)
            self.assertLess(self.work("--mesh=rep=2,dp=2", mesh=hybrid, loss=loss), 1.05 * flat)
            # Of 8 items that 6 ranks do not share evenly three have parts.
            self.assertLess(self.work("--mesh=rep=3,dp=2", mesh=hybrid, loss=loss), 1.05 * self.work("--mesh=dp=3", loss=loss))
        # Three axes, stages and micro-batches with them.
        self.build("--microbatches=2")
        expected = self.train()
        self.build("--mesh=rep=2,dp=2,pp=2", "--zero=1", "--microbatches=2", mesh=hybrid)
        self.check(expected)


if __name__ == "__main__":
    support.unittest.main()
