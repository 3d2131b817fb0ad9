"""Wrong input to dlrun and dlcc: a message that names it, the documented exit code, nothing written."""

import json
import os
import re
import shutil
import struct
import subprocess

import numpy as np

import dltools
from numpy_twin import safetensors
from . import support

TRAINING, USAGE, IO, PLAN = 1, 2, 4, 5


def place(text, words, offset=0):
    """"LINE:COLUMN" of where these words begin, or of what is so far behind."""
    at = text.index(words) + offset
    return f"{text.count(chr(10), 0, at) + 1}:{at - text.rfind(chr(10), 0, at)}"


class Trained(support.ToolTest):
    """A small compiled model with its data."""

    def setUp(self):
        super().setUp()
        self.x, self.y = self.classification_data()
        self.write("net.dl", support.CONVNET)
        self.dlcc("net.dl")

    def fails(self, code, words, *arguments, plan="net.plan"):
        return self.refuse(code, words, dltools.DLRUN, plan, "--save-final", "out.safetensors", *arguments)


class Use(Trained):
    def test_no_plan(self):
        self.fails(IO, "none.plan", plan="none.plan")

    def test_unknown_option_with_suggestion(self):
        self.fails(USAGE, ["--epoch", "--epochs"], "--epoch", "3")

    def test_bad_numbers(self):
        for words in (["--epochs", "0"], ["--steps", "many"], ["--threads", "-1"]):
            self.fails(USAGE, words[1], *words)

    def test_missing_value(self):
        self.fails(USAGE, "--init", "--init")

    def test_not_in_this_version(self):
        self.fails(5, ["--ranks 2", "one rank"], "--ranks", "2")

    def test_unwritable_output_is_found_before_training(self):
        self.fails(IO, "nowhere", "--save-final", "nowhere/out.safetensors")

    def test_help_and_version(self):
        for tool in (dltools.DLRUN, dltools.DLCC):
            for option in ("-h", "--help", "--version"):
                result = dltools.call([tool, option])
                self.assertEqual((result.returncode, result.stderr), (0, ""), f"{tool} {option}")
                self.assertTrue(result.stdout)
        asked = dltools.call([dltools.DLRUN, "help", "predict"])
        self.assertEqual((asked.returncode, asked.stdout), (0, dltools.call([dltools.DLRUN, "predict", "--help"]).stdout))
        self.assertNotIn("checkpoints and logs", asked.stdout)

    def test_one_goal_is_watched(self):
        for option in "--keep-best", "--stop-when":
            goal = ["max:test.accuracy", "test.loss not better in 2"][option == "--stop-when"]
            self.fails(USAGE, [f"{option}: it is given twice"], option, goal, option, goal)

    def test_dtypes_that_are_not_converted(self):
        for dtype, words in ((np.int64, "save x.astype(numpy.float32)"), (">f4", "save x.astype('<f4')")):
            np.save(self.path("other.npy"), np.load(self.path("x.npy")).astype(dtype))
            self.fails((TRAINING, IO)[dtype == ">f4"], [words], "--data", "other.npy,y.npy")


class Weights(Trained):
    def good(self):
        self.dlrun("net.plan", "--steps", 1, "-q", "--save-final", "good.safetensors")
        return dict(self.load("good.safetensors"))

    def init(self, tensors, code, words):
        safetensors.save(self.path("bad.safetensors"), tensors)
        self.fails(code, words, "--init", "bad.safetensors")

    def test_missing_file(self):
        self.fails(IO, "none.safetensors", "--init", "none.safetensors")

    def test_wrong_names(self):
        tensors = self.good()
        tensors["fc3.weight"] = tensors.pop("fc2.weight")
        self.init(tensors, TRAINING, ["fc2.weight"])

    def test_wrong_shape(self):
        tensors = self.good()
        tensors["fc1.weight"] = tensors["fc1.weight"].T
        self.init(tensors, TRAINING, ["fc1.weight", "[150", "[20"])

    def test_damaged_header(self):
        self.good()
        with open(self.path("good.safetensors"), "rb") as file:
            data = file.read()
        for name, damaged in {"short": data[:40], "huge": struct.pack("<Q", 1 << 60) + data[8:], "cut": data[:-8],
                              "empty": b"", "noise": os.urandom(500)}.items():
            with open(self.path(name), "wb") as file:
                file.write(damaged)
            result = dltools.call([dltools.DLRUN, "net.plan", "--init", name, "--steps", 1], self.folder)
            self.assertIn(result.returncode, (TRAINING, IO), f"{name}: {result.stderr}")
            self.assertIn(name, result.stderr)

    def test_nan(self):
        tensors = {name: np.array(tensor) for name, tensor in self.good().items()}
        tensors["fc2.weight"][3, 7:9] = np.nan
        self.init(tensors, TRAINING, ["bad.safetensors", "'fc2.weight' has 2 values", "NaN", "[3,7]"])
        for command in (["eval", "net.plan"], ["bench", "net.plan", "--steps", "1"]):
            result = dltools.call([dltools.DLRUN, *command, "--init", "bad.safetensors"], self.folder)
            self.assertNotEqual(result.returncode, 0)

    def test_sizes_that_overflow(self):
        for shape, offsets in (([1 << 62, 8], [0, 0]), ([1 << 32, 1 << 32], [0, 0]), ([2], [0, (1 << 64) - 8]),
                               ([2], [1 << 63, (1 << 63) + 8]), ([0, 1 << 63, 4], [0, 8])):
            header = json.dumps({"fc1.bias": {"dtype": "F32", "shape": shape, "data_offsets": offsets}}).encode()
            with open(self.path("big.safetensors"), "wb") as file:
                file.write(struct.pack("<Q", len(header)) + header + bytes(8))
            self.fails(IO, ["big.safetensors", "fc1.bias"], "--init", "big.safetensors")

    def test_narrowing_warns_and_widening_does_not(self):
        tensors = self.good()
        safetensors.save(self.path("wide.safetensors"), {n: t.astype(np.float64) / 3 for n, t in tensors.items()})
        result = dltools.call([dltools.DLRUN, "net.plan", "--init", "wide.safetensors", "--steps", "1"], self.folder)
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, "(?i)warning.*f64.*f32|narrow")
        self.dlcc("net.dl", "--dtype=f64", "-o", "net64.plan")
        result = dltools.call([dltools.DLRUN, "net64.plan", "--init", "good.safetensors", "--steps", "1"], self.folder)
        self.assertEqual(result.returncode, 0)
        self.assertNotIn("warning", result.stderr)


class Plans(Trained):
    def damaged(self, change, words=()):
        with open(self.path("net.plan"), "rb") as file:
            data = bytearray(file.read())
        changed = change(data)
        data = data if changed is None else changed
        with open(self.path("bad.plan"), "wb") as file:
            file.write(data)
        return self.fails(PLAN, ["bad.plan", *words], plan="bad.plan")

    def test_truncated(self):
        for keep in (0, 7, 20, 100, 4096, -1):
            self.damaged(lambda data: data[:keep])

    def test_another_version(self):
        def change(data):
            data[8:12] = struct.pack("<I", 99)
        self.damaged(change, ["99"])

    def test_flipped_bytes(self):
        for at in (30, 500, 5000, -100):
            def change(data):
                data[at] ^= 0x40
            self.damaged(change)

    def test_no_plan_at_all(self):
        shutil.copy(self.path("net.dl"), self.path("bad.plan"))
        self.fails(PLAN, "bad.plan", plan="bad.plan")


class TensorData(Trained):
    def test_missing_files(self):
        os.remove(self.path("y.npy"))
        self.fails(IO, "y.npy")

    def test_another_length(self):
        np.save(self.path("x.npy"), self.x[:50])
        np.save(self.path("y.npy"), self.y[:50])
        self.fails(TRAINING, ["64", "50", "--drop-last"])

    def test_unequal_lengths(self):
        np.save(self.path("y.npy"), self.y[:50])
        self.fails(TRAINING, ["y.npy", "50"])

    def test_another_shape_or_dtype(self):
        np.save(self.path("x.npy"), self.x[:, :, :11])
        self.fails(TRAINING, "x.npy")
        np.save(self.path("x.npy"), self.x.astype(np.int64))
        self.fails(TRAINING, ["x.npy", "i64", "f32"])
        np.save(self.path("x.npy"), self.x.astype(np.complex64))
        self.fails(IO, ["x.npy", "<c8"])

    def test_cut_file(self):
        with open(self.path("x.npy"), "rb+") as file:
            file.truncate(1000)
        self.fails(IO, "x.npy")

    def test_headers_that_lie(self):
        with open(self.path("x.npy"), "rb") as file:
            data = file.read()
        for change in (b"\x93NUMPX" + data[6:], data[:6] + b"\x09" + data[7:], data[:8] + b"\xff\xff" + data[10:],
                       data.replace(b"(64, 1, 12, 12)", b"(64, 1, 1" + b"0" * 6 + b")"),
                       data.replace(b"(64, 1, 12, 12), ", b"(" + str(1 << 62).encode() + b",8),").ljust(len(data), b" "),
                       data.replace(b"'descr': '<f4'", b"'descr': '|O8'"), data.replace(b"False", b"True "), data[:9], b""):
            with open(self.path("x.npy"), "wb") as file:
                file.write(change)
            self.fails_with_any({IO, TRAINING}, "x.npy")

    def fails_with_any(self, codes, word):
        before = self.listing()
        result = dltools.call([dltools.DLRUN, "net.plan", "--save-final", "out.safetensors"], self.folder)
        self.assertIn(result.returncode, codes, result.stderr)
        self.assertIn(word, result.stderr)
        self.assertEqual(before, self.listing())

    def test_nan_in_the_data_stops_where_it_is_asked_for(self):
        bad = self.x.copy()
        bad[40] = np.nan
        np.save(self.path("x.npy"), bad)
        self.fails(TRAINING, ["step 3", "loss is nan", "--halt-on"], "--halt-on", "nan")
        goes_on = dltools.call([dltools.DLRUN, "net.plan", "--epochs", 2], self.folder)
        self.assertEqual(goes_on.returncode, 0)
        self.assertEqual(goes_on.stderr.count("warning: step 3: loss is nan; training goes on"), 1, goes_on.stderr)

    def test_classes_of_one_hot_out_of_range(self):
        self.write("hot.dl", support.LINEAR.replace("mse_loss(model(b.data), b.target)", "mse_loss(model(b.data), F::one_hot(b.target, 2))"))
        np.save(self.path("x.npy"), np.ones((24, 3), np.float32))
        for label in (0, 2, -1):
            np.save(self.path("y.npy"), np.where(np.arange(24) == 11, label, 1))
            if label == 0:
                self.dlcc("hot.dl", "-o", "hot.plan")
                self.dlrun("hot.plan", "-q")
            else:
                self.fails(TRAINING, "dlrun: error: step 2: one_hot: index out of range [0, 2), item 3 of the batch (index_check at hot.dl:", plan="hot.plan")

    def test_labels_out_of_range(self):
        for label in (5, -1, 1 << 40):
            bad = self.y.copy()
            bad[37] = label
            np.save(self.path("y.npy"), bad)
            self.fails(TRAINING, "dlrun: error: step 3: cross_entropy: target out of range [0, 5), item 5 of the batch (index_check at net.dl:"
                       f"{place(support.CONVNET, 'F::cross_entropy')}); that is item 37 of the data, if the model has left them in their order\n")

    def test_the_item_is_found_in_shuffled_data(self):
        self.write("mixed.dl", support.CONVNET.replace('p.arg("batch_size", 16)', '16, .shuffle = true'))
        self.dlcc("mixed.dl", "-o", "mixed.plan")
        bad = self.y.copy()
        bad[23] = 5
        np.save(self.path("y.npy"), bad)
        for seed in 1, 2, 3:
            self.fails(TRAINING, "that is item 23 of the data, if", "--seed", seed, plan="mixed.plan")

    def test_names_that_promise_another_format(self):
        for name in "w.pt", "w.npz":
            for option in "--save-final", "--save-metrics":
                self.refuse(USAGE, [f"{option} {name}: this file would be .safetensors", "load_file"], dltools.DLRUN, "net.plan", option, name)


class MnistData(support.ToolTest):
    """IDX files of wrong kinds and sizes; the right ones are accepted plain and compressed."""

    @classmethod
    def setUpClass(cls):
        cls.real = support.fake_mnist()

    def setUp(self):
        super().setUp()
        self.dlcc(support.example("mnist_mlp"), "-o", "mlp.plan")
        os.mkdir(self.path("mnist"))
        for name in os.listdir(self.real):
            os.symlink(os.path.join(self.real, name), self.path("mnist/" + name))

    def replace(self, name, data):
        os.remove(self.path("mnist/" + name))
        with open(self.path("mnist/" + name), "wb") as file:
            file.write(data)

    def start(self, name, count):
        with open(os.path.join(self.real, name), "rb") as file:
            return file.read(count)

    def fails(self, code, words):
        return self.refuse(code, words, dltools.DLRUN, "mlp.plan", "--data", "mnist", "--epochs", "1", "--save-final",
                           "out.safetensors", env={"DL_DATA": ""})

    def test_missing(self):
        for name in ("train-images-idx3-ubyte", "t10k-labels-idx1-ubyte"):
            os.rename(self.path("mnist/" + name), self.path("away"))
            self.fails(IO, name)
            os.rename(self.path("away"), self.path("mnist/" + name))

    def test_wrong_size(self):
        self.replace("train-images-idx3-ubyte", self.start("train-images-idx3-ubyte", 100000))
        self.fails(IO, ["train-images-idx3-ubyte", "100000"])

    def test_sizes_that_overflow(self):
        for sizes in ((0xffffffff, 28, 28), (60000, 0xffffffff, 0xffffffff), (60000, 0, 28)):
            self.replace("train-images-idx3-ubyte", struct.pack(">4I", 0x803, *sizes) + bytes(1000))
            result = dltools.call([dltools.DLRUN, "mlp.plan", "--data", "mnist"], self.folder)
            self.assertIn(result.returncode, (IO, TRAINING), result.stderr)
            self.assertIn("train-images-idx3-ubyte", result.stderr)

    def test_wrong_magic(self):
        data = bytearray(self.start("train-labels-idx1-ubyte", 60008))
        data[2] = 13
        self.replace("train-labels-idx1-ubyte", data)
        self.fails(IO, "train-labels-idx1-ubyte")

    def test_wrong_count(self):
        data = struct.pack(">2I", 0x801, 59999) + self.start("train-labels-idx1-ubyte", 60008)[8:60007]
        self.replace("train-labels-idx1-ubyte", data)
        self.fails(TRAINING, ["train-labels-idx1-ubyte", "60000", "59999"])

    def test_labels_out_of_range(self):
        data = bytearray(self.start("train-labels-idx1-ubyte", 60008))
        data[8 + 10] = 200
        self.replace("train-labels-idx1-ubyte", data)
        said = self.out_of_range("auto loss = ")
        self.assertRegex(self.fails(TRAINING, said[1]), rf"(?m)^dlrun: error: step \d+: {re.escape(said[0])}, item \d+ of the batch "
                         rf"{re.escape(said[1])}; that is item 10 of the data, if the model has left them in their order$")

    def test_labels_of_an_evaluation_out_of_range(self):
        data = bytearray(self.start("t10k-labels-idx1-ubyte", 10008))
        data[8 + 2500] = 10
        self.replace("t10k-labels-idx1-ubyte", data)
        said = self.out_of_range('{"loss", ')
        self.refuse(TRAINING, f"dlrun: error: 'test', batch 3: {said[0]}, item 500 of the batch {said[1]}; that is item 2500 of the data, if the model has left them in their order\n", dltools.DLRUN, "eval", "mlp.plan", "--data", "mnist",
                    env={"DL_DATA": ""})

    def out_of_range(self, before):
        """What is said of the labels of the loss that is behind these words in the model."""
        path = support.example("mnist_mlp")
        with open(path, encoding="utf-8") as file:
            at = place(file.read(), before + "F::cross_entropy", len(before))
        return "cross_entropy: target out of range [0, 10)", f"(index_check at {path}:{at})"

    def test_compressed_files_and_dl_data(self):
        import gzip
        for name in os.listdir(self.real):
            if name.startswith("t10k"):
                data = self.start(name, -1)
                os.remove(self.path("mnist/" + name))
                with gzip.open(self.path("mnist/" + name + ".gz"), "wb", 1) as file:
                    file.write(data)
        packed = self.events("eval", "mlp.plan", env={"DL_DATA": self.folder})
        plain = self.events("eval", "mlp.plan", "--data", self.real)
        self.assertEqual(packed[1]["event"], "eval")
        self.assertEqual(packed[1], plain[1])


class Compiler(support.ToolTest):
    def fails(self, code, words, *arguments):
        return self.refuse(code, words, dltools.DLCC, *arguments)

    def test_exit_codes(self):
        self.regression_data()
        self.write("lin.dl", support.LINEAR)
        self.fails(IO, "none.dl", "none.dl")
        self.fails(USAGE, ["--dtyp", "--dtype"], "lin.dl", "--dtyp=f32")
        self.fails(3, ["fp16", "not in this version"], "lin.dl", "--dtype=fp16")
        self.fails(IO, "nowhere", "lin.dl", "-o", "nowhere/out.plan")
        self.fails(USAGE, ["batch_sise", "batch_size"], "lin.dl", "-D", "batch_sise=4")

    def test_nothing_is_written_over_an_input(self):
        self.regression_data()
        self.write("lin.dl", support.LINEAR)
        self.write("m.txt", "cores = 2\n")
        os.mkdir(self.path("sub"))
        for output in ("graph.svg=lin.dl", "graph.svg=sub/../lin.dl", "mlir=./lin.dl"):
            self.fails(USAGE, ["would replace the model lin.dl"], "lin.dl", "--emit=" + output)
        self.fails(USAGE, ["would replace --machine=m.txt"], "lin.dl", "--machine=m.txt", "--emit=machine=m.txt")
        self.fails(USAGE, ["would replace the model"], "lin.dl", "-o", "./lin.dl")
        self.fails(USAGE, ["the plan", "one file"], "lin.dl", "--emit=graph.svg=lin.plan")
        self.fails(USAGE, ["--emit=graph.dot and --emit=graph.svg", "one file"], "lin.dl",
                   "--emit=graph.svg=a.svg,graph.dot=a.svg")

    def test_what_a_link_names_is_written(self):
        self.regression_data()
        self.write("lin.dl", support.LINEAR)
        os.mkdir(self.path("kept"))
        os.symlink("kept/lin.plan", self.path("linked.plan"))
        for _ in range(2):  # where it is not there yet, and where it is
            self.dlcc("lin.dl", "-o", "linked.plan", "--emit=report.json=report.json")
        self.assertTrue(os.path.islink(self.path("linked.plan")))
        dltools.run(dltools.DLRUN, "info", self.path("kept/lin.plan"))

    def test_what_was_meant(self):
        self.regression_data()
        self.write("lin.dl", support.LINEAR)
        self.fails(USAGE, ["--outpt=x", "did you mean -o FILE?"], "lin.dl", "--outpt=x")
        self.fails(USAGE, ["-I nope: there is no such folder"], "lin.dl", "-I", "nope")
        self.fails(USAGE, ["'lin.plan' is compiled already", "dlrun lin.plan"], "lin.plan")

    def test_names_of_metrics_and_settings(self):
        self.regression_data()
        for name, said in ((r'"lo\nss"', "one line"), ('"step"', "cannot be called 'step'"),
                           ('"epoch"', "cannot be called 'epoch'"), ('"event"', "cannot be called 'event'")):
            text = support.LINEAR.replace('{{"loss", loss}}', "{{" + name + ", loss}}")
            self.write("lin.dl", text)
            line = text.count("\n", 0, text.index("{{" + name)) + 1
            self.fails(1, [f"lin.dl:{line}:", said], "lin.dl")
        text = support.LINEAR.replace("  nn::Linear", '  auto again = p.arg("batch_size", 4);\n  nn::Linear')
        self.write("lin.dl", text)
        line = text.count("\n", 0, text.index("auto again")) + 1
        self.fails(1, [f"lin.dl:{line}:", "'batch_size' was asked for before, at lin.dl:"], "lin.dl")

    def test_a_wrong_shape_names_the_line(self):
        self.regression_data()
        self.write("lin.dl", support.LINEAR.replace("model{3, 2}", "model{4, 2}"))
        line = support.LINEAR[:support.LINEAR.index("model(b.data)")].count("\n") + 1
        self.fails(1, [f"lin.dl:{line}:", "error: linear", "3 features", "4"], "lin.dl")

    def test_a_missing_data_file(self):
        self.write("lin.dl", support.LINEAR)
        self.fails(IO, "x.npy", "lin.dl")

    def test_an_output_that_is_full(self):
        self.regression_data()
        self.write("lin.dl", support.LINEAR)
        for words in (["--help"], ["--version"], ["lin.dl", "--help"], ["lin.dl", "--report"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                result = subprocess.run([dltools.DLCC, *words], cwd=self.folder, stdout=full, stderr=subprocess.PIPE,
                                        text=True, check=False)
            self.assertEqual((result.returncode, result.stderr), (IO, "error: cannot write to standard output\n"), words)
