#!/usr/bin/env python3
"""Fails on an #include that the architecture forbids; warns about top-level entries.

    tools/dev/check_includes.py [ROOT]

The table below is the whole rule: what each folder may include of this project
and of which libraries. Standard and system headers are free, except in the DSL,
which must parse on a machine without any C++ library.
"""

import os
import re
import shutil
import subprocess
import sys

COMPILER_LIBRARIES = {"llvm", "mlir", "clang", "clang-c", "lld", "flatbuffers"}
RUNTIME_LIBRARIES = {"fmt", "flatbuffers"}

# folder: (folders of this project it may include besides itself, libraries). The longest match holds.
RULES = {
    "compiler/dsl": ((), set()),
    "compiler/frontend": (("compiler/dsl", "dialects/graph"), COMPILER_LIBRARIES),
    "dialects/graph": ((), {"llvm", "mlir"}),
    "dialects/plan": ((), {"llvm", "mlir"}),
    "passes": (("dialects",), {"llvm", "mlir"}),
    "compiler/codegen": (("compiler/codegen", "dialects", "runtime/plan"), COMPILER_LIBRARIES),
    "compiler/pictures": (("dialects",), {"llvm", "mlir"}),
    "compiler/pipeline": (("compiler", "dialects", "passes"), COMPILER_LIBRARIES),
    "runtime": ((), RUNTIME_LIBRARIES),
    "runtime/comm/mpi": (("runtime",), RUNTIME_LIBRARIES | {"mpi.h"}),
    "runtime/data": (("runtime",), RUNTIME_LIBRARIES | {"zlib.h", "jpeglib.h", "png.h"}),
    "tools/dlcc": (("compiler", "dialects", "passes", "tools/streams"), COMPILER_LIBRARIES),
    "tools/dl-opt": (("compiler", "dialects", "passes"), COMPILER_LIBRARIES),
    "tools/dlrun": (("runtime", "tools/streams"), RUNTIME_LIBRARIES),
    "tools/streams": ((), set()),
    "test/abi": ((), set()),
    "test/forked": ((), {"gtest"}),
    "test/runtime": (("runtime", "tools/dlrun", "test/abi", "test/forked"), RUNTIME_LIBRARIES | {"gtest", "gmock", "zlib.h", "jpeglib.h", "png.h", "cuda.h", "nccl.h"}),
    "test/schedule": (("runtime",), RUNTIME_LIBRARIES),
    "test/mpi": (("runtime",), RUNTIME_LIBRARIES),
    "test/simt": ((), set()),
    "test/device": (("test/simt", "test/abi", "test/forked"), {"gtest", "cuda.h", "nccl.h"}),
    "test/codegen": (("compiler", "dialects", "passes", "runtime/plan", "test/simt"), COMPILER_LIBRARIES | RUNTIME_LIBRARIES | {"gtest", "gmock"}),
    "test/cuda": (("compiler", "dialects", "passes", "runtime", "test/codegen", "test/device"), COMPILER_LIBRARIES | RUNTIME_LIBRARIES | {"gtest", "gmock"}),
    "test/bench": ((), set()),
    "examples": (("runtime",), set()),
    "test/compiler": (("compiler", "dialects", "passes", "runtime"), COMPILER_LIBRARIES | RUNTIME_LIBRARIES | {"gtest", "gmock"}),
}
OURS = ("compiler", "dialects", "passes", "runtime", "tools", "test")
LIBRARIES = COMPILER_LIBRARIES | RUNTIME_LIBRARIES | {"zlib.h", "jpeglib.h", "png.h", "gtest", "gmock", "cuda.h", "cuda_runtime.h", "nccl.h", "mpi.h"}
SYSTEM_FOLDERS = {"sys", "linux", "asm", "arpa", "net", "netinet", "bits", "ext"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]|^include\s+(")([^"]+)"', re.M)
TOP = {"CMakeLists.txt", "CMakePresets.json", "compiler", "runtime", "dialects", "passes", "tools", "examples",
       "test", "README.md", "CONTRIBUTING.md", "LICENSE"}


def rule_of(path):
    fitting = [folder for folder in RULES if path.startswith(folder + "/")]
    return max(fitting, key=len) if fitting else None


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def objection(folder, path, quoted, target):
    """Why `path`, governed by the rule of `folder`, may not include `target`; None if it may."""
    projects, libraries = RULES[folder]
    if folder == "compiler/dsl":
        local = quoted and "/" not in target or target.startswith("dl/")
        return None if local or target == "initializer_list" else "the DSL includes nothing but itself"
    first = target.split("/")[0]
    if first in OURS and "/" in target:
        # A pass knows interfaces, never the ops of a room.
        if folder == "passes" and inside(target, "dialects/graph/ops"):
            return "passes ask interfaces and never name a room of ops"
        allowed = inside(target, folder) or any(inside(target, p) for p in projects)
        return None if allowed else f"{folder} may include {', '.join((folder,) + projects)}"
    if first in LIBRARIES:
        return None if first in libraries else f"{folder} must not see {first}"
    if not quoted and "/" in target and first not in SYSTEM_FOLDERS:
        return f"{first} is no library this project knows; name it in tools/dev/check_includes.py"
    return None


def check_text(path, text):
    folder = rule_of(path)
    if not folder:
        return [f"{path}: no rule for its folder; add one to tools/dev/check_includes.py"]
    found = []
    for match in INCLUDE.finditer(text):
        mark, target = (match[1], match[2]) if match[1] else (match[3], match[4])
        why = objection(folder, path, mark == '"', target)
        if why:
            line = text.count("\n", 0, match.start(2 if match[1] else 4)) + 1
            found.append(f"{path}:{line}: includes {target}: {why}")
    return found


def files(root):
    """The project's files: what git knows or would add, else all but build folders."""
    if shutil.which("git"):
        listed = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"],
                                capture_output=True, text=True)
        if listed.returncode == 0:
            return [f for f in listed.stdout.splitlines() if os.path.isfile(os.path.join(root, f))]
    found = [os.path.relpath(os.path.join(base, name), root) for base, _, names in os.walk(root) for name in names]
    return [f for f in found if f.split("/")[0] not in ("build", "data", ".git")]


def main(root):
    errors, warnings = [], set()
    for path in files(root):
        top, extension = path.split("/")[0], os.path.splitext(path)[1]
        if top not in TOP and not top.startswith("."):
            warnings.add(f"{top}: not one of the agreed top-level entries")
        if extension in (".cpp", ".h", ".hpp", ".c", ".td"):
            with open(os.path.join(root, path), encoding="utf-8") as file:
                errors += check_text(path, file.read())
    for warning in sorted(warnings):
        print(f"warning: {warning}")
    for error in errors:
        print(f"error: {error}")
    return 1 if errors else 0


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "..", "..")))
