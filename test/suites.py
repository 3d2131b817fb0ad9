"""Runs the suites of tests and counts: what test/run.sh calls once everything is built.

A suite prints what it does and returns a Count. Tests of C++ units are counted
one by one from GoogleTest's own report, tests of IR from lit's. What they print is
shown where they fail, and always the lines that begin with "counted: ".
"""

import concurrent.futures
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import dltools
import sanitizers

BUILD = os.path.join(dltools.ROOT, "build", "release")
RESULTS = os.path.join(BUILD, "test-results")
COUNTED = "counted: "
# One thread and thousands of plans; the memory of the sanitizer itself.
NOT_UNDER_TSAN = ["HostilePlan.*", "CommandLine.ATraceTakesTheMemoryThatItFills", "RaceVerifier.WorkIsBounded", "CommunicationProof.ManyRanks"]


class Count:
    """Tests by outcome; failures and skips by name, for the lines at the end, where a log is read first."""

    def __init__(self, passed=0, failures=(), skips=()):
        self.passed, self.failures, self.skips = passed, list(failures), list(skips)

    def __add__(self, other):
        return Count(self.passed + other.passed, self.failures + other.failures, self.skips + other.skips)

    def line(self):
        return f"{self.passed} passed, {len(self.failures)} failed, {len(self.skips)} skipped"


def command(*words, **options):
    """Runs a command with its output on the screen; True if it succeeded."""
    sys.stdout.flush()
    return subprocess.run(words, **{"cwd": dltools.ROOT, **options}).returncode == 0


def quiet(*words):
    """Runs a command that is interesting only when it fails."""
    result = subprocess.run(words, cwd=dltools.ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        print("\n".join(result.stdout.splitlines()[-40:]))
    return result.returncode == 0


def one(name, good):
    return Count(1) if good else Count(0, [name])


def includes():
    """No #include crosses a border of the architecture."""
    return one("includes", command(sys.executable, "tools/dev/check_includes.py"))


def tree():
    """Lengths, passes and their descriptions, clang-format."""
    return one("tree", command(sys.executable, "tools/dev/check_tree.py"))


def runtime_only():
    """The runtime builds alone, with no trace of LLVM, by another compiler where there is one."""
    compiler = sanitizers.thread()
    if not compiler:  # the preset as a user builds it
        if not (quiet("cmake", "--preset", "runtime-only", "-DCMAKE_C_COMPILER=clang-22", "-DCMAKE_CXX_COMPILER=clang++-22") and
                quiet("ninja", "-C", "build/runtime-only", "dlrun")):
            return Count(0, ["runtime_only: the build"])
        tools = os.path.join(dltools.ROOT, "build/runtime-only/bin")
    else:  # the build that "tsan" takes, too
        tools, said = sanitizers.build("tsan", compiler, "dlrun")
        if not tools:
            print(said)
            return Count(0, ["runtime_only: the build"])
    libraries = subprocess.run(["ldd", os.path.join(tools, "dlrun")], capture_output=True, text=True).stdout
    found = re.findall(r"lib(?:LLVM|MLIR|clang|lld)\S*", libraries)
    if found:
        print("dlrun links", ", ".join(sorted(set(found))))
    return one("runtime_only: libraries of dlrun", libraries and not found)


def units():
    """GoogleTest binaries, as registered with CTest."""
    shutil.rmtree(RESULTS, ignore_errors=True)
    os.makedirs(RESULTS)
    listed = json.loads(subprocess.run(["ctest", "--test-dir", BUILD, "--show-only=json-v1"], capture_output=True,
                                       text=True, check=True).stdout)
    total = Count()
    for test in listed["tests"]:
        if test["name"] == "lit":  # has a suite of its own
            continue
        report = os.path.join(RESULTS, test["name"] + ".json")
        folder = next((p["value"] for p in test.get("properties", []) if p["name"] == "WORKING_DIRECTORY"), BUILD)
        result = subprocess.run(test["command"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env={**os.environ, "GTEST_OUTPUT": "json:" + report})
        count = gtest_report(test["name"], report) if os.path.exists(report) else one(test["name"], result.returncode == 0)
        if result.returncode and not count.failures:
            count += Count(0, [test["name"]])  # it died before or after its tests
        if result.returncode:
            print("\n".join(result.stdout.splitlines()[-60:]))
        for line in result.stdout.splitlines():
            if line.startswith(COUNTED):
                print(f"  {line.removeprefix(COUNTED)}")
        print(f"  {test['name']}: {count.line()}")
        total += count
    return total


def gtest_report(name, path):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    count, seconds = Count(), {}
    for suite in report.get("testsuites", []):
        for case in suite["testsuite"]:
            full_name = f"{name} {suite['name']}.{case['name']}"
            seconds[full_name.removeprefix(name + " ")] = float(case["time"].removesuffix("s"))
            if case.get("failures"):
                count.failures.append(full_name)
            elif case["result"] == "SKIPPED":
                why = " ".join(s.get("message", "") for s in case.get("skipped", [])).strip()
                count.skips.append(f"{full_name}: {why or 'skipped by the test'}")
            else:
                count.passed += 1
    slowest(seconds, 3)
    return count


def lit():
    """Tests of IR with FileCheck."""
    report = os.path.join(BUILD, "lit.json")
    if os.path.exists(report):
        os.remove(report)
    tool = shutil.which("lit-22") or shutil.which("lit")
    seed = os.environ.get("DL_SEED") or str(random.randrange(1000000))
    print(f"  mistakes in test/errors are moved to other lines with seed {seed} (DL_SEED={seed} repeats it)")
    good = command(tool, "-q", "-j", str(os.cpu_count()), "--param", f"seed={seed}", "--output", report,
                   os.path.join(BUILD, "test"))
    if not os.path.exists(report):
        return Count(0, ["lit"])
    with open(report, encoding="utf-8") as file:
        tests = json.load(file)["tests"]
    count = Count()
    for test in tests:
        if test["code"] in ("PASS", "XFAIL", "FLAKYPASS"):
            count.passed += 1
        elif test["code"] in ("UNSUPPORTED", "SKIPPED"):
            count.skips.append(f"{test['name']}: {test['code'].lower()}")
        else:
            count.failures.append(test["name"])
    return count if good or count.failures else count + Count(0, ["lit"])


class TimedResult(unittest.TextTestResult):
    """Knows how long each test took, the set-up of its class with the first of them."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.seconds, self.ended = {}, time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        now = time.monotonic()
        self.seconds[test.id()], self.ended = now - self.ended, now


def slowest(seconds, count=5):
    """A line on where the time went: what to look at when tests take too long."""
    longest = sorted(seconds.items(), key=lambda item: -item[1])[:count]
    print(f"  of {sum(seconds.values()):.0f} s: " + ", ".join(f"{name} {time:.0f}" for name, time in longest if time >= 0.5))


def python(package):
    """A suite of unittest modules below test/PACKAGE."""
    here = os.path.join(dltools.ROOT, "test")
    tests = unittest.TestLoader().discover(os.path.join(here, package), "test_*.py", here)
    result = unittest.TextTestRunner(sys.stdout, verbosity=2 if package == "e2e" else 1, resultclass=TimedResult).run(tests)
    slowest({name.removeprefix(package + "."): time for name, time in result.seconds.items()}, int(os.environ.get("DL_SLOWEST", 5)))
    # Subtests that fail are one test that fails.
    failures = sorted({getattr(case, "test_case", case).id() for case, _ in [*result.failures, *result.errors]} |
                      {case.id() for case in result.unexpectedSuccesses})
    skips = [f"{case.id()}: {why}" for case, why in result.skipped]
    return Count(max(0, result.testsRun - len(failures) - len(skips)), failures, skips)


def twin():
    """The NumPy twin's own tests."""
    return python("numpy_twin")


def e2e():
    """dlcc and dlrun from the outside."""
    return python("e2e")


def second_device():
    """What e2e trains, on a device whose memory the host cannot reach."""
    return python("second_device")


def processes():
    """Ranks as processes over MPI: equal bits, agreement, ranks that die or hang."""
    return python("mpi")


def parity():
    """Training curves against PyTorch's."""
    return python("parity")


def ports():
    """Programs ported from PyTorch: losses, lines, two devices."""
    return python("ports")


def gpu():
    """The scripts for machines with a GPU, on one without."""
    return python("gpu")


def schedule():
    """Independent ops run at once, in any order, in little memory."""
    return python("schedule")


def cuda():
    """Plans for GPUs on the emulated device."""
    curves = command(sys.executable, "-m", "unittest", "parity.test_ops", "parity.test_parity", cwd=os.path.join(dltools.ROOT, "test"),
                     env={**os.environ, "DL_TARGET": "cuda"})
    return python("cuda") + one("cuda: parity", curves) + compared_programs("--count", "80", "--cuda") + compared_programs("--count", "24", "--meshes", "--cuda")


def random_programs():
    """Random programs against the NumPy twin."""
    return compared_programs("--count", "200")


def random_meshes():
    """Random programs on random meshes against the NumPy twin."""
    return compared_programs("--count", "300", "--meshes")


def compared_programs(*options):
    result = subprocess.run([sys.executable, "test/random_programs.py", "--seed", "1", *options],
                            cwd=dltools.ROOT, stdout=subprocess.PIPE, text=True)
    print(result.stdout, end="")
    match = re.search(r"^random programs: (\d+) of (\d+) agree", result.stdout, re.M)
    name = f"random_programs.py {' '.join(options)}"
    if not match:
        return Count(0, [name])
    agreed, total = int(match[1]), int(match[2])
    skips = [line.removeprefix("note: ") for line in result.stdout.splitlines() if line.startswith("note: ")]
    return Count(agreed, [name] * (total - agreed), skips)


def hostile():
    """Changed plans, sealed again, under sanitizers."""
    # One change of every byte takes twice the minutes.
    result = subprocess.run([sys.executable, "test/hostile.py", "--seed", "1", "--sample", "10000"], cwd=dltools.ROOT,
                            stdout=subprocess.PIPE, text=True)
    print(result.stdout, end="")
    if result.returncode == 77:
        return Count(skips=["hostile: " + result.stdout.strip().removeprefix("skipped: ")])
    return one("hostile", result.returncode == 0)


def tsan():
    """The runtime's unit tests under ThreadSanitizer."""
    compiler = sanitizers.thread()
    if not compiler:
        return Count(skips=["tsan: no compiler links with -fsanitize=thread (libclang-rt-22-dev or g++)"])
    tools, said = sanitizers.build("tsan", compiler, "dlrt_tests", "dlrun")
    if not tools:
        print(said)
        return Count(0, ["tsan: the build"])
    # A fixed address space, where it may be had: older libraries of TSan know only some places for it.
    fixed = ["setarch", "-R"] if shutil.which("setarch") and quiet("setarch", "-R", "true") else []
    if not sanitizers.sees_a_race(compiler, fixed):
        print("the control, a program with a race, ends as if it had none")
        return Count(0, ["tsan: the control"])
    # A race makes exit code 66, of dlrun, too.
    command = [*fixed, os.path.join(tools, "dlrt_tests"), f"--gtest_filter=-{':'.join(NOT_UNDER_TSAN)}"]
    report = os.path.join(RESULTS, "tsan.json")
    os.makedirs(RESULTS, exist_ok=True)
    if os.path.exists(report):
        os.remove(report)
    result = subprocess.run(command, cwd=BUILD, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env={**os.environ, "GTEST_OUTPUT": "json:" + report, "TSAN_OPTIONS": "handle_segv=0"})
    count = gtest_report("tsan", report) if os.path.exists(report) else Count()
    if result.returncode:
        print("\n".join(result.stdout.splitlines()[-120:]))
        count += Count(0, [] if count.failures else ["tsan"])
    return count


SUITES = [includes, tree, twin, cuda, units, e2e, second_device, schedule, ports, parity, gpu, lit, processes, random_programs, random_meshes, runtime_only, hostile, tsan]
# Most of these keep all cores busy; "processes" looks at what ranks leave behind on the machine. The others wait for one
# process after the other: as many of them run side by side as there are cores.
ALONE = [lit, processes, random_programs, random_meshes, runtime_only, hostile, tsan]


def run(suite):
    """Runs a suite here, what it prints between two lines about it."""
    print(f"== {suite.__name__}: {suite.__doc__.splitlines()[0]}", flush=True)
    started, before = time.monotonic(), os.times()
    count = suite()
    seconds, after = time.monotonic() - started, os.times()
    cores = (sum(after[:4]) - sum(before[:4])) / max(seconds, 1e-9)
    print(f"-- {suite.__name__}: {count.line()} ({seconds:.0f} s, {cores:.1f} cores)", flush=True)
    for failure in count.failures:
        print(f"failed: {failure}", flush=True)
    return count


def run_elsewhere(suite):
    """Runs a suite in a process of its own; what it prints is shown when it has ended."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "count.json")
        result = subprocess.run([sys.executable, os.path.abspath(__file__), suite.__name__], text=True, errors="replace",
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "DL_COUNT": report})
        print(result.stdout, end="", flush=True)
        if not os.path.exists(report):
            return Count(0, [f"{suite.__name__}: ended with {result.returncode}"])
        with open(report, encoding="utf-8") as file:
            return Count(*json.load(file))


def main(names):
    known = {suite.__name__: suite for suite in SUITES}
    if names == ["--list"]:
        for name, suite in known.items():
            print(f"{name:16} {suite.__doc__.splitlines()[0]}")
        return 0
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"no suite is called {', '.join(unknown)}; there are {', '.join(known)}")
    suites = [known[name] for name in names] or SUITES
    together = [suite for suite in suites if suite not in ALONE]
    total = Count()
    if len(together) > 1:
        with concurrent.futures.ThreadPoolExecutor(min(os.cpu_count(), 4)) as pool:
            for count in pool.map(run_elsewhere, together):
                total += count
        suites = [suite for suite in suites if suite in ALONE]
    for suite in suites:
        total += run(suite)
    if report := os.environ.get("DL_COUNT"):
        with open(report, "w", encoding="utf-8") as file:
            json.dump([total.passed, total.failures, total.skips], file)
        return 0
    for skip in total.skips:
        print(f"skipped: {skip}")
    for failure in total.failures:
        print(f"failed: {failure}")
    print(total.line())
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    sys.exit(main(sys.argv[1:]))
