"""The guard on style catches what it should: controls for the suite `tree`."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

import dltools

DEV = os.path.join(dltools.ROOT, "tools/dev")
sys.path.insert(0, DEV)
spec = importlib.util.spec_from_file_location("check_tree", os.path.join(DEV, "check_tree.py"))
guard = importlib.util.module_from_spec(spec)
spec.loader.exec_module(guard)


def lines(count):
    return "  ++x;\n" * count


class Lengths(unittest.TestCase):
    def lengths(self, text):
        return [(name, first, length) for name, first, length in guard.functions(text)]

    def test_functions_are_found(self):
        text = """#define OPEN {
namespace dl {
namespace {
struct A : B<C> {
  int x[2] = {1, 2}; // {
  const char *s = "{";
  char c = '{';
  static constexpr auto r = R"({{{
)";
  A(int y) : x{y, y} {
    if (y) {
      f([&] {
        g();
      });
    }
  }
  int n() const { return 1'000; }
};
enum class E { P, Q };
const int table[] = {
    1,
};
} // namespace

template <typename T>
  requires requires(T t) { t.f(); }
A *make(T t, int n = 3)
{
  return nullptr;
}
} // namespace dl
extern "C" int
main() {
  switch (1) { default: break; }
}
TEST(A, B) {
}
"""
        found = {name: (first, length) for name, first, length in guard.functions(text)}
        self.assertEqual(found["n"], (17, 1))
        self.assertEqual(found["make"][0] + found["make"][1] - 1, 30)
        self.assertEqual(found["main"], (32, 4))
        self.assertEqual(found["TEST"], (36, 2))
        self.assertNotIn("E", found)
        self.assertNotIn("table", found)

    def test_a_function_that_is_too_long(self):
        body = "int f() {\n  int x = 0;\n" + lines(76) + "  return x;\n}\n"
        self.assertEqual(guard.check_lengths("passes/fuse/A.cpp", body), [])
        longer = body.replace("  ++x;\n", "  ++x; // {\n  ++x;\n", 1)
        self.assertEqual(guard.check_lengths("passes/fuse/A.cpp", "\n" + longer),
                         ["passes/fuse/A.cpp:2: f: 81 lines, stop at 80"])

    def test_a_file_that_is_too_long(self):
        for path, most in [("a/A.cpp", 600), ("a/A.h", 300), ("a/A.td", 400)]:
            self.assertEqual(guard.check_lengths(path, "\n" * most), [])
            self.assertEqual(guard.check_lengths(path, "\n" * (most + 1)), [f"{path}: {most + 1} lines, stop at {most}"])

    def test_an_exception_that_is_none_any_more(self):
        path, name = next(key.split(":") for key in guard.LONGER if ":" in key)
        text = f"void {name}() {{\n" + lines(90) + "}\n"
        self.assertEqual(guard.check_lengths(path, text), [])
        self.assertEqual(len(guard.check_lengths(path, f"void {name}() {{\n}}\n")), 1)


class Sources(unittest.TestCase):
    def test_an_assert_of_the_compiler(self):
        text = '#include <cassert>\n// assert(x)\nvoid f() { assert(x && "it"); static_assert(true); }\n'
        self.assertEqual(guard.check_asserts("passes/fuse/A.cpp", text),
                         ["passes/fuse/A.cpp:3: assert is no check in a release build; use DL_CHECK"])
        self.assertEqual(guard.check_asserts("runtime/exec/A.cpp", text), [])
        self.assertEqual(guard.check_asserts("compiler/dsl/dl/a.h", text), [])

    GOOD = """def FormKernels : Pass<"form-kernels", "::mlir::ModuleOp"> {
  let summary = "Groups";
  let description = [{
    ```mlir
    ```
  }];
}
"""

    def objections(self, text, every=("passes/fuse/FormKernels.cpp", "test/passes/fuse/form-kernels.mlir")):
        return guard.check_passes("passes/fuse/Passes.td", text, set(every))

    def test_passes(self):
        self.assertEqual(self.objections(self.GOOD), [])
        for change in [self.GOOD.replace("```", ""), self.GOOD.replace("def FormKernels", "def Kernels"),
                       self.GOOD.replace("let description", "let words")]:
            self.assertEqual(len(self.objections(change)), 1, change)
        self.assertEqual(len(self.objections(self.GOOD, ["passes/fuse/FormKernels.cpp"])), 1)
        self.assertEqual(len(self.objections(self.GOOD, ["test/passes/fuse/form-kernels.mlir"])), 1)

    @unittest.skipUnless(guard.formatter(), "clang-format 22 is not installed")
    def test_format(self):
        with tempfile.TemporaryDirectory() as root:
            with open(os.path.join(root, "A.cpp"), "w", encoding="utf-8") as file:
                file.write("int x;\nint  y;\n")
            self.assertEqual([error.split(": ")[0] for error in guard.check_format(root, ["A.cpp"])], ["A.cpp:2"])


class Hook(unittest.TestCase):
    def test_it_sees_what_is_staged(self):
        with tempfile.TemporaryDirectory() as root:
            def git(*words):
                return subprocess.run(["git", "-C", root, *words], check=True, capture_output=True)
            git("init")
            os.makedirs(os.path.join(root, "runtime"))
            for name in ("A.cpp", "B.cpp"):
                with open(os.path.join(root, "runtime", name), "w", encoding="utf-8") as file:
                    file.write("\n" * 601)
            git("add", "runtime/A.cpp")
            result = subprocess.run([sys.executable, os.path.join(DEV, "check_tree.py"), "--staged", root],
                                    capture_output=True, text=True)
            self.assertEqual(result.returncode, 1)
            self.assertIn("runtime/A.cpp: 601 lines", result.stdout)
            self.assertNotIn("B.cpp", result.stdout)


if __name__ == "__main__":
    unittest.main()
