"""Builds of the runtime under sanitizers (presets asan and tsan)."""

import os
import subprocess
import tempfile

import dltools

C_COMPILERS = {"clang++-22": "clang-22", "c++": "cc"}


def compiler_with(flag, *names):
    """The first C++ compiler that links with -fsanitize=..., or None; the libraries are packages of their own."""
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            command = [name, flag, "-x", "c++", "-", "-o", os.path.join(folder, "a")]
            try:
                if subprocess.run(command, input="int main() {}", text=True, capture_output=True).returncode == 0:
                    return name
            except FileNotFoundError:
                pass
    return None


# TSan may miss two accesses at the very same moment (it looks at its shadow cell, then writes it), and clang's 3 in 1000 of
# others. Here one follows the other in time, at many places, while a relaxed flag orders nothing: a race in every run.
RACE = """#include <atomic>
#include <thread>
long shared[64];
std::atomic<bool> written{false};
int main() {
  std::thread other([] {
    while (!written.load(std::memory_order_relaxed))
      std::this_thread::yield();
    for (long &one : shared)
      one = 1;
  });
  for (long &one : shared)
    one = 2;
  written.store(true, std::memory_order_relaxed);
  other.join();
}
"""


def sees_a_race(compiler, prefix):
    """Whether a program under TSan tells of the race that it has."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "race")
        subprocess.run([compiler, "-fsanitize=thread", "-g", "-x", "c++", "-", "-o", program, "-pthread"], input=RACE,
                       text=True, check=True)
        result = subprocess.run([*prefix, program], capture_output=True, text=True)
        return result.returncode == 66 and "data race" in result.stderr


def address():
    """The one for ASan and UBSan: clang takes half as long."""
    return compiler_with("-fsanitize=address,undefined", "clang++-22", "c++")


def thread():
    """The one for TSan: another than the release's, so that two compile the runtime."""
    return compiler_with("-fsanitize=thread", "c++", "clang++-22")


def build(preset, compiler, *targets):
    """Configures and builds; the folder of the tools, or what the build said as it failed."""
    folder = os.path.join(dltools.ROOT, "build", preset)
    configure = ["cmake", "--preset", preset]
    if not os.path.exists(os.path.join(folder, "CMakeCache.txt")):  # later CMake would forget the preset's options
        configure += [f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_C_COMPILER={C_COMPILERS[compiler]}"]
    for command in (configure, ["ninja", "-C", folder, *targets]):
        result = subprocess.run(command, cwd=dltools.ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if result.returncode:
            return None, "\n".join(result.stdout.splitlines()[-40:])
    return os.path.join(folder, "bin"), ""
