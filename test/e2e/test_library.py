"""libdlrun.so: plans as functions of arrays in a program's memory, with the bits that dlrun gives for files."""

import ctypes
import os
import re
import subprocess
import sys
import unittest

import numpy as np

import dltools
from . import support

LIBRARY = os.path.join(os.path.dirname(dltools.BIN), "lib", "libdlrun.so")
HEADERS = os.path.join(dltools.ROOT, "runtime", "api")

DTYPES = [np.float16, np.float32, np.float64, np.int64, np.int32, np.uint8, np.bool_, np.int8, np.int16, np.uint16, np.uint32, np.uint64]


INPUT, UNUSED_INPUT = 0, 1


class Array(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("elements", ctypes.c_size_t), ("dtype", ctypes.c_int)]


class Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


class StepInfo(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("kind", ctypes.c_int), ("batch_size", ctypes.c_uint64),
                ("update_items", ctypes.c_uint64), ("inputs", ctypes.c_size_t), ("outputs", ctypes.c_size_t)]


class TensorInfo(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("dtype", ctypes.c_int), ("role", ctypes.c_int),
                ("per_item", ctypes.c_int), ("dims", ctypes.c_size_t), ("shape", ctypes.POINTER(ctypes.c_uint64))]


class Model:
    """dlrun.h by ctypes, as another language would use it."""

    def __init__(self, plan):
        self.lib = ctypes.CDLL(LIBRARY)
        self.lib.dlrun_error.restype = ctypes.c_char_p
        self.handle = ctypes.c_void_p()
        self.call("open", plan.encode(), None, ctypes.byref(self.handle))

    def call(self, name, *arguments):
        code = getattr(self.lib, "dlrun_" + name)(*arguments)
        if code:
            raise RuntimeError(f"{code}: {self.lib.dlrun_error().decode()}")

    def close(self):
        self.lib.dlrun_close(self.handle)

    def load(self, path):
        self.call("load_weights", self.handle, path.encode())

    def save(self, path):
        self.call("save_weights", self.handle, path.encode())

    def set_epoch(self, epoch):
        self.call("set_epoch", self.handle, ctypes.c_uint64(epoch))

    def step(self, name):
        index, info = ctypes.c_size_t(), StepInfo(ctypes.sizeof(StepInfo))
        self.call("find_step", self.handle, name.encode(), ctypes.byref(index))
        self.call("get_step", self.handle, index, ctypes.byref(info))
        return index, info

    def tensors(self, kind, step, count):
        out = []
        for i in range(count):
            info = TensorInfo(ctypes.sizeof(TensorInfo))
            self.call(kind, self.handle, step, ctypes.c_size_t(i), ctypes.byref(info))
            out.append((info.name.decode(), DTYPES[info.dtype], tuple(info.shape[:info.dims]), bool(info.per_item), info.role))
        return out

    def inputs(self, name):
        index, info = self.step(name)
        return self.tensors("get_input", index, info.inputs)

    def run(self, name, *inputs):
        index, info = self.step(name)
        items = next(len(x) for x in inputs if x is not None)
        held = [None if x is None else np.ascontiguousarray(x) for x in inputs]
        arrays = (Array * len(held))(*[Array() if x is None else Array(x.ctypes.data, x.size, DTYPES.index(x.dtype.type)) for x in held])
        outputs = self.tensors("get_output", index, info.outputs)
        values = [np.zeros(((items,) if per_item else ()) + shape, dtype) for _, dtype, shape, per_item, _ in outputs]
        buffers = (Buffer * len(values))(*[Buffer(v.ctypes.data, v.nbytes) for v in values])
        self.call("run", self.handle, index, arrays, ctypes.c_size_t(len(held)), ctypes.c_size_t(items), buffers, ctypes.c_size_t(len(values)))
        return {output[0]: value for output, value in zip(outputs, values)}


NET = support.HEAD + """
void dl_main(dl::Program &p) {
  auto data = dl::data::%s;
  nn::Linear model{3, 2};
  nn::Dropout drop{0.5};
  dl::optim::Adam optimizer(model.parameters(), {.lr = 0.1});
  dl::optim::lr_scheduler::ExponentialLR scheduler(optimizer, 0.5);
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto error = drop(model(b.data)) - b.target;
    auto loss = error.square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}, {"error", error}};
  });
  p.each_epoch([&] { scheduler.step(); });
  p.eval("test", data, [&](dl::Batch b) -> dl::Metrics { return {{"loss", F::mse_loss(model(b.data), b.target)}}; });
  p.predict("out", data, [&](dl::Batch b) -> dl::Metrics {
    auto out = model(b[0]);
    return {{"out", out}, {"class", out.argmax(1)}, {"large", out.gt(0.5)}};
  });
}
"""
FILES = 'TensorDataset({"x.npy", "y.npy"}, {.batch_size = 8})'
INPUTS = 'InputDataset({{"x", dl::kFloat32, {3}}, {"y", dl::kFloat32, {2}}}, {.items = 27, .batch_size = 8})'

DIGITS = support.HEAD + """
void dl_main(dl::Program &p) {
  auto data = dl::data::MNIST("mnist", {.train = false, .batch_size = 16});
  nn::Linear model{784, 10};
  dl::optim::SGD optimizer(model.parameters(), {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::cross_entropy(model(b.data.flatten(1)), b.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
  p.predict("digits", data, [&](dl::Batch b) { return model(b.data.flatten(1)); });
}
"""


CLASSES = support.HEAD + """
void dl_main(dl::Program &p) {
  auto data = dl::data::InputDataset({{"x", dl::kFloat, {3}}, {"y", dl::kInt64}}, {.batch_size = 8});
  nn::Linear model{3, 4};
  dl::Buffer seen = dl::zeros({3});
  dl::optim::Adam optimizer(model.parameters(), {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::cross_entropy(model(b.data), b.target);
    seen += b.data.mean(0);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


def write_digits(test, items):
    """Files of MNIST's format; the pictures."""
    rng = np.random.default_rng(5)
    pictures, labels = rng.integers(0, 256, (items, 28, 28), np.uint8), rng.integers(0, 10, items, np.uint8)
    os.mkdir(test.path("mnist"))
    support.write_idx(test.path("mnist", "t10k-images-idx3-ubyte"), pictures)
    support.write_idx(test.path("mnist", "t10k-labels-idx1-ubyte"), labels)
    return pictures


class Library(support.ToolTest):
    ITEMS = 27

    def setUp(self):
        super().setUp()
        self.x, self.y = self.regression_data(self.ITEMS)

    def open(self, plan):
        model = Model(self.path(plan))
        self.addCleanup(model.close)
        return model

    def trained(self, plan, epochs):
        """As dlrun does with the files: full batches of an epoch, then the short one."""
        model = self.open(plan)
        for epoch in range(epochs):
            model.set_epoch(epoch)
            for first in range(0, self.ITEMS, 8):
                if first + 8 <= self.ITEMS:
                    loss = model.run("train", self.x[first:first + 8], self.y[first:first + 8])["loss"]
        return model, float(loss)

    def same_training(self, *options, data=FILES):
        self.write("m.dl", NET % data)
        self.dlcc("m.dl", *options)
        folder = ("--data", self.folder)
        last = [e for e in self.events("m.plan", *folder, "--epochs", 3, "--drop-last", "--save-final", "dlrun.safetensors")
                if e["event"] == "step"][-1]
        model, loss = self.trained("m.plan", 3)
        model.save(self.path("own.safetensors"))
        own, theirs = self.load("own.safetensors"), self.load("dlrun.safetensors")
        self.assertEqual(own.keys(), theirs.keys())
        for name in own:
            np.testing.assert_array_equal(own[name], theirs[name], name)
        self.assertEqual(np.float32(loss), np.float32(last["loss"]))
        self.dlrun("predict", "m.plan", *folder, "--init", "dlrun.safetensors", "--out", "p.safetensors", "-q")
        expected = self.load("p.safetensors")
        model = self.open("m.plan")
        model.load(self.path("own.safetensors"))
        given = model.run("out", self.x)
        self.assertEqual(given.keys(), expected.keys())
        for name in given:
            np.testing.assert_array_equal(given[name], expected[name], name)

    def test_has_the_bits_of_dlrun(self):
        self.same_training()

    def test_inputs_need_no_file(self):
        self.write("m.dl", NET % INPUTS)
        for name in ("x.npy", "y.npy"):
            os.rename(self.path(name), self.path(name + ".hidden"))
        self.dlcc("m.dl")
        self.refuse(4, "x.npy", dltools.DLRUN, "m.plan")
        self.dlrun("bench", "m.plan", "--steps", 3)
        for name in ("x.npy", "y.npy"):
            os.rename(self.path(name + ".hidden"), self.path(name))
        self.same_training(data=INPUTS)

    def test_ranks_of_a_mesh(self):
        self.same_training("--mesh", "dp=2")

    def test_tensors_that_a_training_step_returns(self):
        self.write("m.dl", NET % FILES)
        self.dlcc("m.dl")
        model = self.open("m.plan")
        result = model.run("train", self.x[:8], self.y[:8])
        self.assertEqual(result["error"].shape, (8, 2))
        self.assertAlmostEqual(np.square(result["error"].astype(np.float64)).mean(), float(result["loss"]), places=6)
        before = self.checkpoint(model)
        with self.assertRaisesRegex(RuntimeError, "^2: train: 'error' is a tensor, which only full batches give; 3 items end in one of 3$"):
            model.run("train", self.x[:3], self.y[:3])
        for name, value in self.checkpoint(model).items():
            np.testing.assert_array_equal(value, before[name], name)

    def test_any_number_of_items(self):
        self.write("m.dl", NET % FILES)
        self.dlcc("m.dl")
        model = self.open("m.plan")
        whole = model.run("out", self.x)["out"]
        for count in (1, 7, 8, 9, 24):
            np.testing.assert_array_equal(model.run("out", self.x[:count])["out"], whole[:count])
        self.assertEqual(model.run("out", self.x.astype(np.float64))["out"].tobytes(), whole.tobytes())

    def test_raw_pictures(self):
        pictures = write_digits(self, 37)
        self.write("m.dl", DIGITS)
        self.dlcc("m.dl")
        self.dlrun("m.plan", "-q", "--data", "mnist", "--steps", 2, "--drop-last", "--save-final", "w.safetensors")
        self.dlrun("predict", "m.plan", "--data", "mnist", "--init", "w.safetensors", "--out", "p.npy", "-q")
        model = self.open("m.plan")
        self.assertEqual(model.inputs("digits"), [("data", np.uint8, (1, 28, 28), True, INPUT), ("target", np.uint8, (), True, UNUSED_INPUT)])
        model.load(self.path("w.safetensors"))
        expected = np.load(self.path("p.npy"))
        for given in (pictures, pictures.astype(np.int64)):
            (scores,) = model.run("digits", given).values()
            np.testing.assert_array_equal(scores, expected)
        with self.assertRaisesRegex(RuntimeError, "^1: 'digits', batch 1: item 2 has a value that is too large"):
            wrong = pictures.astype(np.int64)
            wrong[2, 3, 4] = 256
            model.run("digits", wrong)

    def checkpoint(self, model):
        model.call("save_checkpoint", model.handle, self.path("c.safetensors").encode())
        return self.load("c.safetensors")

    def setting(self, model, name):
        value = ctypes.c_double()
        model.call("get_setting", model.handle, name.encode(), ctypes.byref(value))
        return value.value

    def test_an_update_that_fails_changes_nothing(self):
        """Values out of range are found by the program that does the update."""
        x, y = np.random.default_rng(3).normal(size=(32, 3)).astype(np.float32), np.arange(32) % 4
        for options in (), ("--accumulate=2",), ("--mesh", "dp=2"):
            self.write("m.dl", CLASSES)
            self.dlcc("m.dl", *options)
            model, other = self.open("m.plan"), self.open("m.plan")
            items = model.step("train")[1].update_items
            self.assertEqual(items, 16 if "--accumulate=2" in options else 8)
            wrong = y[:items].copy()
            wrong[items - 3] = 4
            for m in model, other:
                m.run("train", x[:items], y[:items])
            item = rf", item 5 of the batch .*; that is item {items - 3} of the data, if"
            with self.assertRaisesRegex(RuntimeError, rf"^1: cross_entropy: target out of range \[0, 4\){item}"):
                model.run("train", x[:items], wrong)
            for m in model, other:
                m.run("train", x[-items:], y[-items:])
            one, two = self.checkpoint(model), self.checkpoint(other)
            self.assertIn("seen", one.keys() | {name.split(".")[-1] for name in one})
            for name in one:
                np.testing.assert_array_equal(one[name], two[name], name)

    def test_plateaus(self):
        self.write("m.dl", NET.replace("ExponentialLR scheduler(optimizer, 0.5);",
                                       'ReduceLROnPlateau scheduler(optimizer, {.patience = 0}); scheduler.step("test.loss");')
                   .replace("p.each_epoch([&] { scheduler.step(); });", "") % FILES)
        self.dlcc("m.dl")
        self.dlrun("m.plan", "--epochs", 6, "--set", "optim.lr=3", "--drop-last", "--out", "run", "-q")
        model, theirs = self.open("m.plan"), self.open("m.plan")
        model.call("set_setting", model.handle, b"optim.lr", ctypes.c_double(3))
        for epoch in range(6):
            model.set_epoch(epoch)
            for first in 0, 8, 16:
                model.run("train", self.x[first:first + 8], self.y[first:first + 8])
            model.run("test", self.x, self.y)
        theirs.call("load_checkpoint", theirs.handle, self.path("run").encode())
        self.assertEqual(self.setting(model, "optim.lr"), self.setting(theirs, "optim.lr"))
        self.assertLess(self.setting(model, "optim.lr"), 3)
        own, run = self.checkpoint(model), self.checkpoint(theirs)
        for name in own:
            np.testing.assert_array_equal(own[name], run[name], name)

    def test_gpus(self):
        """The same by the driver that the library opens: in a process of its own, whose environment has the emulated one."""
        self.write("m.dl", NET % FILES)
        self.dlcc("m.dl", "--target=cuda:source", "-o", "gpu.plan")
        self.write("user.py", f"import sys\nsys.path.insert(0, {os.path.join(dltools.ROOT, 'test')!r})\n"
                   "import numpy as np\nfrom e2e.test_library import Model\n"
                   "m = Model('gpu.plan')\nx, y = np.load('x.npy'), np.load('y.npy')\n"
                   "print(float(m.run('train', x[:8], y[:8])['loss']), m.run('out', x)['out'].sum())\nm.close()\n")
        done = subprocess.run([sys.executable, "user.py"], cwd=self.folder, env={**os.environ, **dltools.emulated()}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        loss, total = map(float, done.stdout.split())
        self.dlcc("m.dl")
        model = self.open("m.plan")
        self.assertAlmostEqual(loss, float(model.run("train", self.x[:8], self.y[:8])["loss"]), places=5)
        self.assertAlmostEqual(total, float(model.run("out", self.x)["out"].sum()), places=3)


class Installed(support.ToolTest):
    """What cmake --install gives is all that a program needs."""

    def run_command(self, *command):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}\n{done.stderr}")
        return done.stdout

    def test_example(self):
        build = os.path.dirname(dltools.BIN)
        self.run_command("cmake", "--install", build, "--prefix", self.path("installed"))
        self.run_command("cmake", "-S", os.path.join(dltools.ROOT, "examples", "spirals"), "-B", "build", "-G", "Ninja",
                         "-DCMAKE_CXX_COMPILER=clang++-22", "-DCMAKE_PREFIX_PATH=" + self.path("installed"))
        self.run_command("cmake", "--build", "build")
        said = self.run_command("build/spirals", "build/spirals.plan", "spirals.safetensors")
        accuracies = [float(a) for a in re.findall(r"accuracy ([\d.]+)", said)]
        self.assertEqual(len(accuracies), 5)
        self.assertGreater(accuracies[-1], 0.99)
        picture = [line for line in said.splitlines() if set(line) <= set("#.")]
        self.assertEqual({len(line) for line in picture}, {46})
        self.assertEqual(self.load("spirals.safetensors")["second.weight"].shape, (32, 32))
        tools = self.path("installed", "bin")
        self.assertIn("plan format", self.run_command(os.path.join(tools, "dlrun"), "--version"))

    def test_plans_of_a_project(self):
        """Two plans of one model for a target, one for two targets; they are made again when what the model includes has changed."""
        build = os.path.dirname(dltools.BIN)
        self.run_command("cmake", "--install", build, "--prefix", self.path("installed"))
        self.regression_data(16)
        os.makedirs(self.path("models", "in c"))
        self.write("models/in c/width.h", "inline constexpr int kWidth = 5;\n")
        self.write("models/my net.v2.dl", support.HEAD.replace("\n", '\n#include "in c/width.h"\n', 1) + """
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = p.arg("batch_size", 4)});
  nn::Linear model{3, kWidth};
  p.predict("out", data, [&](dl::Batch b) { return model(b.data); });
}
""")
        os.rename(self.path("x.npy"), self.path("models", "x.npy"))
        for name in "one", "two":
            self.write(name + ".cpp", "#include <dlrun.hpp>\nint main() { return 0; }\n")
        self.write("CMakeLists.txt", """cmake_minimum_required(VERSION 3.16)
project(several LANGUAGES CXX)
find_package(dlrun REQUIRED)
set(CMAKE_CXX_STANDARD 17)
foreach(name one two)
  add_executable(${name} ${name}.cpp)
  target_link_libraries(${name} PRIVATE dlrun::dlrun)
  dlrun_add_plan(${name} "models/my net.v2.dl")
endforeach()
dlrun_add_plan(one "models/my net.v2.dl" OUTPUT small.plan OPTIONS -D batch_size=2)
""")
        for generator in "Ninja", "Unix Makefiles":
            self.run_command("cmake", "-S", ".", "-B", generator, "-G", generator, "-DCMAKE_CXX_COMPILER=clang++-22",
                             "-DCMAKE_PREFIX_PATH=" + self.path("installed"))
            self.assertEqual(self.run_command("cmake", "--build", generator, "-j", "2").count("Compiling my net.v2.dl"), 2)
            self.assertEqual(self.run_command("cmake", "--build", generator).count("Compiling"), 0)
            self.write("models/in c/width.h", "inline constexpr int kWidth = 6;\n")
            os.utime(self.path("models/in c/width.h"), (2e9, 2e9))
            self.assertEqual(self.run_command("cmake", "--build", generator).count("Compiling my net.v2.dl"), 2, generator)
            self.assertIn("[6,3]", self.run_command(dltools.DLRUN, "info", os.path.join(generator, "my net.v2.plan")))
            os.utime(self.path("models/in c/width.h"), (1e9, 1e9))
        with open(self.path("CMakeLists.txt"), "a", encoding="utf-8") as file:
            file.write('dlrun_add_plan(two "models/my net.v2.dl" OPTIONS -D batch_size=8)\n')
        done = subprocess.run(["cmake", "Ninja"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is made in another way already", " ".join(done.stderr.split()))

    def test_readme(self):
        """Its program compiles, links and runs."""
        with open(os.path.join(dltools.ROOT, "README.md"), encoding="utf-8") as file:
            (program,) = re.findall(r"```cpp\n(#include <dlrun.hpp>.*?)```", file.read(), re.S)
        include, body = program.split("\n", 1)
        write_digits(self, 37)
        self.write("digits.dl", DIGITS)
        self.dlcc("digits.dl")
        self.dlrun("digits.plan", "-q", "--data", "mnist", "--epochs", 1, "--drop-last", "--out", "runs/a")
        self.write("app.cpp", include + "\n#include <cstdio>\nint main() {\n" + body + 'std::printf("%g %g %zu", first, loss, scores.size());\n}\n')
        self.run_command("clang++-22", "-std=c++17", "app.cpp", "-o", "app", "-I", HEADERS, "-L", os.path.dirname(LIBRARY), "-ldlrun",
                         "-Wl,-rpath," + os.path.dirname(LIBRARY))
        first, loss, size = self.run_command("./app").split()
        self.assertEqual(size, "200")
        self.assertGreater(float(loss), 0)
        self.assertIn("later.safetensors", os.listdir(self.folder))

    def test_headers_are_plain(self):
        self.write("c.c", "#include <dlrun.h>\nint main(void) { return dlrun_step_count(0) != 0; }\n")
        self.write("cpp.cpp", "#include <dlrun.hpp>\nint main() { return 0; }\n")
        for compiler, standard, source in (("clang-22", "c99", "c.c"), ("clang++-22", "c++17", "cpp.cpp"), ("clang++-22", "c++20", "cpp.cpp")):
            self.run_command(compiler, "-std=" + standard, "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror",
                             "-I", HEADERS, "-fsyntax-only", source)

    def test_shows_its_own_functions_alone(self):
        with open(os.path.join(HEADERS, "dlrun.h"), encoding="utf-8") as file:
            header = file.read()
        declared = set(re.findall(r"DLRUN_API[^;(]*?\b(dlrun_\w+)\(", header))
        symbols = self.run_command("nm", "-D", "--defined-only", LIBRARY)
        self.assertEqual({line.split()[-1] for line in symbols.splitlines()}, declared)


if __name__ == "__main__":
    unittest.main()
