"""Weights in and out, settings: what --init, --init-map, --set and a run's folder do."""

import json
import os

import numpy as np

import dltools
from numpy_twin import safetensors
from . import support

TRAINING, USAGE, IO = 1, 2, 4

EVALUATED = support.CONVNET.rstrip()[:-1] + """
  p.eval("test", data, [&](dl::Batch b) -> dl::Metrics {
    auto out = model(b.data);
    return {{"loss", F::cross_entropy(out, b.target)}, {"accuracy", out.argmax(1).eq(b.target).mean()}};
  });
}
"""


class Net(support.ToolTest):
    def setUp(self):
        super().setUp()
        self.classification_data()
        self.write("net.dl", EVALUATED)
        self.dlcc("net.dl")

    def bytes(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def weights(self, *arguments, name="out.safetensors"):
        self.dlrun("net.plan", "-q", "--steps", 0, "--save-final", name, *arguments)
        return {key: np.array(value) for key, value in self.load(name).items()}

    def fails(self, code, words, *arguments):
        return self.refuse(code, words, dltools.DLRUN, *arguments)


class Init(Net):
    def test_no_steps_write_the_initial_weights(self):
        first, other = self.weights(), self.weights("--seed", 1)
        self.assertFalse(np.array_equal(first["fc1.weight"], other["fc1.weight"]))
        self.dlrun("net.plan", "-q", "--steps", 3, "--save-final", "a.safetensors")
        self.dlrun("net.plan", "-q", "--steps", 3, "--init", "out.safetensors", "--seed", 1, "--save-final", "c.safetensors")
        self.weights(name="i.safetensors")
        self.dlrun("net.plan", "-q", "--steps", 3, "--init", "i.safetensors", "--save-final", "b.safetensors")
        a, b, c = (self.bytes(name + ".safetensors") for name in "abc")
        self.assertEqual(a, b)
        self.assertNotEqual(a, c)

    def test_masks_of_a_state_dict_are_left_out(self):
        """PyTorch keeps buffers that nobody changes; here they are code."""
        self.write("masked.dl", """
#include <dl/dl.h>
struct Attention : dl::nn::Module {
  dl::nn::Linear fc{4, 4};
  dl::Buffer mask = dl::tril(dl::ones({4, 4}));
  dl::Tensor forward(dl::Tensor x) { return dl::matmul(fc(x), mask); }
};
struct Net : dl::nn::Module {
  Attention attn[2];
  dl::Tensor forward(dl::Tensor x) { return attn[1](attn[0](x)); }
};
void dl_main(dl::Program &p) {
  Net net;
  auto data = dl::data::TensorDataset({"four.npy"}, {.batch_size = 4});
  dl::optim::SGD optimizer(net.parameters(), {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = net(b[0]).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
""")
        np.save(self.path("four.npy"), np.ones((8, 4), np.float32))
        self.dlcc("masked.dl")
        weights = {f"attn.{i}.{name}": np.ones(shape, np.float32) for i in range(2)
                   for name, shape in (("fc.weight", (4, 4)), ("fc.bias", (4,)), ("mask", (4, 4)))}
        safetensors.save(self.path("masked.safetensors"), weights)
        self.dlrun("masked.plan", "-q", "--steps", 1, "--init", "masked.safetensors")
        safetensors.save(self.path("more.safetensors"), weights | {"attn.2.mask": weights["attn.0.mask"]})
        self.fails(TRAINING, ["the model has no weight 'attn.2.mask'"], "masked.plan", "--init", "more.safetensors")

    def test_a_prefix_of_a_wrapper_is_named(self):
        good = self.weights()
        safetensors.save(self.path("wrapped.safetensors"), {"model." + name: value for name, value in good.items()})
        self.fails(TRAINING, ["in the file they begin with 'model.', which --init-map 'model=' takes away"],
                   "net.plan", "--init", "wrapped.safetensors")
        taken = self.weights("--init", "wrapped.safetensors", "--init-map", "model=")
        np.testing.assert_array_equal(taken["fc1.weight"], good["fc1.weight"])

    def test_parts_maps_and_several_files(self):
        good = self.weights("--seed", 3)
        safetensors.save(self.path("backbone.safetensors"), {"module." + k: v for k, v in good.items() if k[:3] != "fc2"})
        safetensors.save(self.path("head.safetensors"), {k[4:]: v for k, v in good.items() if k[:3] == "fc2"})
        both = self.weights("--init", "backbone.safetensors", "--init-map", "module=", "--init", "head.safetensors",
                            "--init-map", "=fc2.", name="both.safetensors")
        for name in good:
            np.testing.assert_array_equal(both[name], good[name])
        said = self.fails(TRAINING, ["2 of the model's weights are missing: 'fc2.weight', 'fc2.bias'", "--init-partial"],
                          "net.plan", "--init", "backbone.safetensors", "--init-map", "module=")
        self.assertNotIn("conv.weight", said)
        result = dltools.call([dltools.DLRUN, "net.plan", "--steps", "0", "--init", "backbone.safetensors", "--init-map",
                               "module.*=*", "--init-partial", "--save-final", "part.safetensors"], self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("4 of the model's 6 weights taken", result.stderr)
        np.testing.assert_array_equal(self.load("part.safetensors")["fc1.bias"], good["fc1.bias"])
        self.fails(TRAINING, "nothing in it fits", "net.plan", "--init", "head.safetensors", "--init-partial")
        self.fails(USAGE, ["modul=", "no such name"], "net.plan", "--init", "backbone.safetensors", "--init-map", "modul=")
        self.fails(USAGE, "go with --init", "net.plan", "--init-partial")

    def test_files_of_one_model(self):
        """As large models of Hugging Face's come: parts, and an index of them."""
        good = self.weights("--seed", 3)
        names = sorted(good)
        os.mkdir(self.path("llama"))
        parts = {f"model-0000{i + 1}-of-00003.safetensors": names[2 * i:2 * i + 2] for i in range(3)}
        for file, part in parts.items():
            safetensors.save(self.path("llama/" + file), {"model." + name: good[name] for name in part})
        index = {"metadata": {"total_size": 1}, "weight_map": {"model." + name: file for file, part in parts.items() for name in part}}
        self.write("llama/model.safetensors.index.json", json.dumps(index))
        # One map is for names of all parts, the other for one of them.
        for given in ("llama", "llama/", "llama/model.safetensors.index.json", "llama/model-*.safetensors"):
            taken = self.weights("--init", given, "--init-map", f"model.{names[-1]}={names[-1]},model=")
            for name in good:
                np.testing.assert_array_equal(taken[name], good[name], given)
        self.fails(USAGE, ["--init-map 'modle=': llama/", "no such name"], "net.plan", "--init", "llama", "--init-map", "modle=")
        os.remove(self.path("llama/model-00002-of-00003.safetensors"))
        self.fails(IO, "cannot open 'llama/model-00002-of-00003.safetensors'", "net.plan", "--init", "llama")
        for text, words in (('{"weight_map": {"a": "../backbone.safetensors"}}', "'../backbone.safetensors' is not the name of a file beside it"),
                            ('{"weight_map": []}', 'no "weight_map"'), ('{"weight_map"}', "JSON")):
            self.write("llama/model.safetensors.index.json", text)
            self.fails(IO, ["llama/model.safetensors.index.json: ", words], "net.plan", "--init", "llama")
        os.remove(self.path("llama/model.safetensors.index.json"))
        safetensors.save(self.path("llama/model.safetensors"), good)
        np.testing.assert_array_equal(self.weights("--init", "llama")["fc1.bias"], good["fc1.bias"])

    def test_a_file_of_torch_is_answered_with_what_converts_it(self):
        with open(self.path("w.pt"), "wb") as file:
            file.write(b"PK\x03\x04" + bytes(200))
        self.fails(IO, ["python3 -c", "torch.load('w.pt'", "save_file"], "net.plan", "--init", "w.pt")

    def test_the_folder_of_a_run(self):
        self.dlrun("net.plan", "-q", "--epochs", 2, "--out", "run", "--save-final", "w.safetensors")
        weights = self.weights("--init", "run")
        np.testing.assert_array_equal(weights["fc1.weight"], self.load("w.safetensors")["fc1.weight"])
        (plain,) = [e for e in self.events("eval", "net.plan", "--init", "w.safetensors") if e["event"] == "eval"]
        os.mkdir(self.path("elsewhere"))
        events = dltools.events("eval", "../run", cwd=self.path("elsewhere"))
        self.assertEqual(plain, next(e for e in events if e["event"] == "eval"))
        self.fails(USAGE, ["elsewhere", "is a folder"], "net.plan", "--init", "elsewhere")

    def test_what_was_meant(self):
        self.weights()
        os.mkdir(self.path("folder"))
        self.dlrun("net.plan", "-q", "--steps", 1, "--out", "run")
        self.fails(USAGE, ["'net.dl' is a model", "dlcc net.dl"], "net.dl")
        self.fails(USAGE, "weights with --init out.safetensors", "out.safetensors")
        self.fails(USAGE, "'folder' is a folder", "folder")
        self.fails(USAGE, "dlrun resume run", "run")


class Outputs(Net):
    def test_nothing_is_written_over_an_input(self):
        for name in ("net.plan", "./net.plan", "x.npy"):
            self.fails(USAGE, name, "net.plan", "--save-final", name)
        self.fails(USAGE, "two outputs", "net.plan", "--save-final", "a.safetensors", "--save-metrics", "./a.safetensors")
        self.fails(USAGE, "this is the plan", "bench", "net.plan", "--trace", "net.plan")
        self.dlrun("net.plan", "-q", "--steps", 1, "--save-final", "/dev/null", "--save-metrics", "/dev/null")
        for name in ("x.npy", "./x.npy"):
            self.refuse(USAGE, ["the plan would replace", "x.npy, a file of the data"], dltools.DLCC, "net.dl", "-o", name)
            self.refuse(USAGE, ["--emit=graph.svg would replace", "a file of the data"], dltools.DLCC, "net.dl", f"--emit=graph.svg={name}", "--check")


class Settings(Net):
    def loss(self, *arguments):
        return [e["loss"] for e in self.events("net.plan", "--steps", 6, "--every", "log=1", *arguments)
                if e["event"] == "step"]

    def test_a_setting_is_the_compiled_value(self):
        self.write("other.dl", EVALUATED.replace(".lr = 0.05", ".lr = 0.02"))
        self.dlcc("other.dl")
        other = [e["loss"] for e in self.events("other.plan", "--steps", 6, "--every", "log=1") if e["event"] == "step"]
        self.assertEqual(self.loss("--set", "optim.lr=0.02"), other)
        self.assertNotEqual(self.loss(), other)
        self.assertIn("optim.lr", self.dlrun("info", "net.plan"))

    def test_wrong_settings(self):
        self.fails(USAGE, ["did you mean 'optim.lr'", "optim.momentum"], "net.plan", "--set", "lr=1")
        self.fails(USAGE, ["did you mean 'optim.lr'"], "net.plan", "--set", "optim.lt=1")
        self.fails(USAGE, ["--set optim.lr=-1: at least 0 is wanted"], "net.plan", "--set", "optim.lr=-1")
        self.fails(USAGE, ["optim.momentum=-0.5: at least 0"], "net.plan", "--set", "optim.momentum=-0.5")
        for value in ("optim.lr", "optim.lr=", "optim.lr=fast", "optim.lr=nan", "=3"):
            self.fails(USAGE, value, "net.plan", "--set", value)

    def test_checkpoints_keep_them(self):
        common = ("-q", "--every", "eval=0")
        self.dlrun("net.plan", *common, "--steps", 3, "--set", "optim.lr=0.02", "--out", "run")
        self.dlrun("resume", "run", "-q", "--steps", 5, "--set", "optim.lr=0.3")
        self.dlrun("resume", "run", "-q", "--steps", 7, "--save-final", "a.safetensors")
        self.dlrun("net.plan", *common, "--steps", 3, "--set", "optim.lr=0.02", "--out", "other")
        self.dlrun("resume", "other", "-q", "--steps", 7, "--set", "optim.lr=0.3", "--save-final", "b.safetensors")
        self.assertEqual(self.bytes("a.safetensors"), self.bytes("b.safetensors"))


class Help(support.ToolTest):
    def test_each_command_has_its_own(self):
        for command in ("eval", "bench", "resume", "info"):
            text = dltools.call([dltools.DLRUN, command, "--help"]).stdout
            self.assertTrue(text.startswith(f"dlrun {command} "), text)
            self.assertEqual("--seconds" in text, command == "bench")
            self.assertEqual("--keep-best" in text, command == "resume")
            self.assertEqual("--init-partial" in text, command in ("eval", "bench"))

    def test_all_options_stand_in_the_long_help(self):
        text = dltools.call([dltools.DLRUN, "--help"]).stdout
        for option in ("--set", "--init-map", "--keep-best", "--stop-when", "--seconds", "--poison"):
            self.assertIn(option, text)
