"""The guard on #includes catches what it should: a control for the suite `includes`."""

import contextlib
import importlib.util
import io
import os
import tempfile
import unittest

import dltools

spec = importlib.util.spec_from_file_location("check_includes", os.path.join(dltools.ROOT, "tools/dev/check_includes.py"))
guard = importlib.util.module_from_spec(spec)
spec.loader.exec_module(guard)


class Guard(unittest.TestCase):
    def objections(self, path, text):
        return guard.check_text(path, text)

    def test_forbidden_edges(self):
        for path, line in [
                ("runtime/exec/A.cpp", '#include "compiler/frontend/Npy.h"'),
                ("runtime/exec/A.cpp", "#include <llvm/ADT/SmallVector.h>"),
                ("runtime/exec/A.cpp", '  #  include "mlir/IR/Builders.h"'),
                ("runtime/exec/A.cpp", "#include <zlib.h>"),
                ("runtime/data/A.cpp", '#include "dialects/plan/Plan.h"'),
                ("tools/dlrun/A.cpp", '#include "passes/fuse/Passes.h"'),
                ("compiler/dsl/dl/a.h", "#include <vector>"),
                ("compiler/dsl/dl/a.h", '#include "runtime/plan/Container.h"'),
                ("compiler/frontend/A.cpp", '#include "passes/backward/Passes.h"'),
                ("compiler/codegen/cpu/A.cpp", '#include "runtime/exec/Executor.h"'),
                ("dialects/graph/A.cpp", '#include "passes/fuse/Passes.h"'),
                ("dialects/graph/A.td", 'include "compiler/frontend/A.td"'),
                ("dialects/plan/A.h", '#include "dialects/graph/Graph.h"'),
                ("passes/fuse/A.cpp", '#include "runtime/plan/DTypes.h"'),
                ("passes/fuse/A.cpp", '#include "dialects/graph/ops/matmul/Matmul.h"'),
                ("runtime/exec/A.cpp", "#include <boost/any.hpp>")]:
            self.assertEqual(len(self.objections(path, "// a comment\n" + line + "\n")), 1, f"{path}: {line}")

    def test_allowed_edges(self):
        for path, line in [
                ("runtime/exec/A.cpp", '#include "runtime/plan/PlanReader.h"'), ("runtime/exec/A.cpp", "#include <sys/mman.h>"),
                ("runtime/data/A.cpp", "#include <zlib.h>"), ("compiler/dsl/dl/a.h", "#include <initializer_list>"),
                ("compiler/codegen/emit/A.cpp", '#include "runtime/plan/PlanWriter.h"'),
                ("compiler/pipeline/A.cpp", '#include "passes/fuse/Passes.h"'),
                ("passes/fuse/A.cpp", '#include "dialects/graph/Graph.h"'),
                ("compiler/frontend/A.cpp", '#include "clang/AST/Decl.h"')]:
            self.assertEqual(self.objections(path, line + "\n"), [], f"{path}: {line}")

    def test_the_script_fails_and_names_the_line(self):
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, "runtime", "base"))
            with open(os.path.join(root, "runtime/base/A.h"), "w", encoding="utf-8") as file:
                file.write('// A file.\n#include "llvm/ADT/APInt.h"\n')
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                self.assertEqual(guard.main(root), 1)
            self.assertIn("runtime/base/A.h:2: includes llvm/ADT/APInt.h", out.getvalue())


if __name__ == "__main__":
    unittest.main()
