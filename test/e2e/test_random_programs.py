"""A control for random_programs.py: what it compares would show a wrong result, in f64, f32 and in shapes."""

import ast
import os
import pathlib
import re
import shutil
import tempfile
import unittest

import numpy as np

import dltools
import random_programs as R
from program_generator import build, elementwise_ops


def words_of(folder):
    """A pattern of the plain words in the strings of a folder's Python; what an f-string puts in may be any."""
    words = set()
    for path in pathlib.Path(folder).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.JoinedStr, ast.Constant)):
                parts = node.values if isinstance(node, ast.JoinedStr) else [node]
                text = "".join(str(part.value) if isinstance(part, ast.Constant) else "\0" for part in parts)
                words |= {word for word in re.findall(r"[\w\0]+", text) if "\0" not in word or len(word) > 4}
    return re.compile("(?:" + "|".join(plain(word).replace("\0", r"\w*") for word in words) + ")\\Z")


def plain(word):
    """The same for a function and its layer."""
    return word.replace("_", "").lower()


# Without work, or another name of what is generated; the rest drop channels, as Dropout2d does.
LAYERS_WITHOUT = {"Identity", "CosineSimilarity", "PairwiseDistance", "Softmin", "Dropout1d", "Dropout3d"}


class Coverage(unittest.TestCase):
    def test_every_elementwise_op_of_the_dsl_is_generated(self):
        """The DSL lists them in macros; a new word there needs a line in program_generator/elementwise_ops.py."""
        with open(os.path.join(dltools.ROOT, "compiler/dsl/dl/elementwise_ops.h"), encoding="utf-8") as file:
            text = file.read().replace("\\\n", " ")
        words = lambda macro: set(re.findall(r"OP\((\w+)\)", re.search(rf"#define {macro}\(OP\)(.*)", text)[1]))
        self.assertEqual((words("DL_UNARY_OPS") | words("DL_INTEGER_UNARY_OPS")) - set(elementwise_ops.UNARY), set())
        methods = {method for _, method in elementwise_ops.COMPARISONS.values()}
        self.assertEqual(words("DL_BINARY_OPS") - set(elementwise_ops.NAMED) - methods - {"div"}, set())


    def test_every_layer_and_function_is_generated(self):
        """A new class of layers.h, function of functional.h or method of indexing.h, order.h and the like has a place there, too."""
        folder = os.path.join(dltools.ROOT, "compiler/dsl/dl")
        read = lambda *path: pathlib.Path(*path).read_text(encoding="utf-8")
        layers = "".join(read(folder, name) for name in ("layers.h", "window_layers.h", "norm_layers.h", "activation_layers.h"))
        words = set(re.findall(r"^class (\w+) : public|^DL_\w+\((\w+),", layers, re.M))
        words = {word for pair in words for word in pair if word} - LAYERS_WITHOUT
        words |= {"Embedding", "Upsample", "UpsamplingNearest2d", "ConstantPad", "ReflectionPad", "CircularPad"}
        functions = "".join(re.split(r"namespace (?:dl::nn::)?functional \{", read(folder, name))[1] for name in (
            "functional.h", "windows.h", "resize.h", "convolutions.h", "pools.h", "activations.h", "normalization.h"))
        functions = re.sub(r"namespace detail \{.*?\n\} // namespace detail", "", functions, flags=re.S)
        words |= set(re.findall(r"^inline Tensor (\w+)\(", functions, re.M))
        for header in ("indexing.h", "lists.h", "math.h", "statistics.h", "gather.h", "order.h", "division.h"):
            words |= set(re.findall(r"^inline \w+ Tensor::(\w+)\(", read(folder, header), re.M))
        generated = words_of(os.path.join(dltools.ROOT, "test/program_generator"))
        missing = {word for word in words if not generated.match(plain(word))} - {"batch_norm", "instance_norm", "softmin"}  # by their layers; a softmax
        self.assertGreater(len(words), 150)
        self.assertEqual(missing, set())
        self.assertIsNone(generated.match("transformerencoder"))


class Control(unittest.TestCase):
    def setUp(self):
        (number,) = build.numbers(77, 1)
        self.program = build.build(number)
        self.folder = tempfile.mkdtemp(prefix="dl-test-")
        self.addCleanup(shutil.rmtree, self.folder)

    def test_agrees(self):
        self.assertEqual(R.check(self.program, self.folder, False), [])

    def test_a_wrong_weight_shows(self):
        """dlrun starts from weights that differ by one part in ten million of one element."""
        write = R.write_files

        def write_wrong(program, folder):
            name, (access, array) = next(iter(program.weights.items()))
            wrong = np.array(array)  # not a NumPy scalar, which would stay as it is
            wrong.flat[0] += np.float32(1e-6)
            program.weights[name] = (access, wrong)
            write(program, folder)
            program.weights[name] = (access, array)
        R.write_files = write_wrong
        self.addCleanup(setattr, R, "write_files", write)
        self.assertTrue(R.check(self.program, self.folder, True))

    def test_the_bounds(self):
        want = np.array([1.0, 200.0])
        self.assertIsNone(R.compare_f64("w", want * (1 + 1e-11), want))
        self.assertIn("f64 differs", R.compare_f64("w", want * (1 + 1e-9), want))
        self.assertIn("shape", R.compare_f64("w", want[:1], want))
        self.assertIn("differs", R.compare_f64("w", want * np.nan, want))
        runs = [{"w": want.astype(np.float32)}]
        self.assertIsNone(R.compare_f32("w", (want * (1 + 1e-7)).astype(np.float32), want, runs))
        self.assertIn("f32 differs", R.compare_f32("w", want * (1 + 2e-6), want, runs))
        self.assertIn("f32 differs", R.compare_f32("w", want * np.nan, want, runs))
