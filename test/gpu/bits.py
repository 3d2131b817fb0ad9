"""Elementary functions: does the GPU give the bits that the host gives, where the test of the host's holds them against the CPU's kernels?

Every float is asked for f32, and many numbers of all exponents for f64.
"""

import concurrent.futures
import ctypes
import os
import shutil
import subprocess

import numpy as np

import cases

UNARY = ("exp", "log", "sin", "cos", "tanh", "erf")
CHUNK = 1 << 26  # elements of one launch
DRAWN = 1 << 24
MIXED = """static __device__ unsigned long long dl_mixed(dl_philox_words words) {
  return ((unsigned long long)words.word1 << 32 | words.word0) ^ ((unsigned long long)words.word3 << 33 | words.word2 * 3u);
}
"""


def functions():
    """(name, C's type of an element, operands, the value of element i)."""
    for name in UNARY:
        yield name + "_f32", "float", 0, f"dl_{name}_f32(__uint_as_float((unsigned int)(first + i * step)))"
        yield name + "_f64", "double", 1, f"dl_{name}_f64(x[i])"
    for kind, scalar in (("f32", "float"), ("f64", "double")):
        yield "pow_" + kind, scalar, 2, f"dl_pow_{kind}(x[i], x[count + i])"
    words = ", ".join(f"x[{k} * count + i]" for k in range(5))
    yield "philox", "unsigned long long", 5, f"dl_mixed(dl_philox({words}))"


def device_text(text):
    return text + MIXED + "\n".join(
        f"""extern "C" __global__ void {name}(const {scalar} *x, {scalar} *y, long long first, long long step, long long count) {{
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    y[i] = {value};
}}
""" for name, scalar, _, value in functions())


def host_text(text):
    """Functions that count where y is something else, NaN and NaN aside; `where` is the first such element."""
    return '#include "test/codegen/HostCuda.h"\n#include <cstring>\n' + text + MIXED + "\n".join(
        f"""extern "C" long long {name}(const {scalar} *x, const {scalar} *y, long long first, long long step, long long count, long long begin,
                                long long end, long long *where) {{
  long long wrong = 0;
  for (long long i = begin; i < end; ++i) {{
    {scalar} want = {value};
    if (std::memcmp(&want, y + i, sizeof want) && (want == want || y[i] == y[i]) && wrong++ == 0)
      *where = i;
  }}
  return wrong;
}}
""" for name, scalar, _, value in functions())


def prepare(folder, target, tools):
    """Code of both sides, or why there is none."""
    at, printer = os.path.join(folder, "bits"), os.path.join(tools, "dl_print_cuda_math")
    if not os.path.exists(printer):
        return {"error": f"there is no {printer}"}
    os.makedirs(at, exist_ok=True)
    text = subprocess.run([printer], check=True, capture_output=True, text=True).stdout
    for name, content in (("device.cu", device_text(text)), ("host.cpp", host_text(text))):
        with open(os.path.join(at, name), "w", encoding="utf-8") as file:
            file.write(content)
    compilers = [["c++", "-std=c++20", "-O3", "-march=x86-64-v3", "-ffp-contract=off", "-shared", "-fPIC", "-I", cases.ROOT, "host.cpp", "-o", "host.so"]]
    architecture = target.removeprefix("cuda:")
    if architecture.startswith("sm_"):
        compilers.append(["nvcc", "-std=c++20", "--fmad=false", "-arch=" + architecture, "-cubin", "device.cu", "-o", "device.cubin"])
    for words in compilers:
        if not shutil.which(words[0]):
            return {"error": f"there is no {words[0]}"}
        done = subprocess.run(words, cwd=at, capture_output=True, text=True)
        if done.returncode:
            return {"error": done.stderr[-600:]}
    return {}


class Driver:
    """A module on the first GPU."""

    def __init__(self, at):
        from session import Missing
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise Missing(str(error)) from error
        context, self.module, major = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
        self("cuInit", 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self("cuCtxSetCurrent", context)
        self("cuDeviceGetAttribute", ctypes.byref(major), 75, 0)
        # An emulated GPU, of compute capability 0.0, runs the text itself.
        path = os.path.join(at, "device.cubin" if major.value else "device.cu")
        if not os.path.exists(path):
            raise Missing("not prepared for this GPU")
        with open(path, "rb") as file:
            self("cuModuleLoadData", ctypes.byref(self.module), file.read() + b"\0")

    def __call__(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code:
            raise RuntimeError(f"{name} says {code}")

    def allocate(self, size):
        address = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        return address

    def run(self, name, x, y, first, step):
        """Fills y from x."""
        function, given, made = ctypes.c_void_p(), self.allocate(x.nbytes), self.allocate(y.nbytes)
        self("cuModuleGetFunction", ctypes.byref(function), self.module, name.encode())
        if x.nbytes:
            self("cuMemcpyHtoD_v2", given, x.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(x.nbytes))
        values = [given, made, ctypes.c_int64(first), ctypes.c_int64(step), ctypes.c_int64(len(y))]
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.cast(ctypes.byref(value), ctypes.c_void_p) for value in values))
        self("cuLaunchKernel", function, (len(y) + 255) // 256, 1, 1, 256, 1, 1, 0, None, pointers, None)
        self("cuMemcpyDtoH_v2", y.ctypes.data_as(ctypes.c_void_p), made, ctypes.c_size_t(y.nbytes))
        for address in (given, made):
            self("cuMemFree_v2", address)


def operands(scalar, count, elements):
    """Half of them any bits, the other half of usual size."""
    random = np.random.default_rng(1)
    kind = {"float": np.float32, "double": np.float64}.get(scalar, np.uint64)
    bits = random.integers(0, 2 ** 64, (max(count, 1), elements), np.uint64, endpoint=False)
    x = bits if kind == np.uint64 else bits.view(np.float64) if kind == np.float64 else bits.astype(np.uint32).view(np.float32)
    if kind != np.uint64:
        x[:, ::2] = random.uniform(-40, 40, x[:, ::2].shape)
    return np.ascontiguousarray(x[:count])


def compare(host, name, x, y, first, step, pool):
    """(how many differ, the first of them)."""
    def one(begin, end):
        where = ctypes.c_int64(-1)
        function = getattr(host, name)
        function.restype = ctypes.c_int64
        pointer = lambda array: array.ctypes.data_as(ctypes.c_void_p)
        number = ctypes.c_int64
        return function(pointer(x), pointer(y), number(first), number(step), number(len(y)), number(begin), number(end), ctypes.byref(where)), where.value
    share = -(-len(y) // os.cpu_count())
    found = list(pool.map(lambda begin: one(begin, min(begin + share, len(y))), range(0, len(y), share)))
    return sum(wrong for wrong, _ in found), next((where for wrong, where in found if wrong), None)


def check(session):
    """Every function, until the time is over; `--seconds` below 0.1, as for a trial, asks for fewer elements."""
    from session import FAIL, NONE, OK, Missing
    at = os.path.join(session.folder, "bits")
    few = session.options.seconds < 0.1
    result, table = {"rows": []}, []
    try:
        if "error" in session.manifest.get("bits", {"error": "not prepared"}):
            raise Missing(session.manifest.get("bits", {}).get("error", "not prepared"))
        driver, host = Driver(at), ctypes.CDLL(os.path.join(at, "host.so"))
    except Missing as why:
        return {"rows": [{"status": NONE, "detail": str(why)}]}, ["function", ""], [["all", str(why)]]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, scalar, count, _ in functions():
            total = 1 << 32 if count == 0 else DRAWN
            step = (1 << 18) + 1 if few else 1
            chunk = 1 << 14 if few else min(CHUNK, total)
            total = chunk if few else total
            x = operands(scalar, count, chunk)
            y = np.empty(chunk, x.dtype)
            wrong, asked, detail = 0, 0, ""
            for first in range(0, total, chunk):
                if session.left() < 5:
                    break
                driver.run(name, x, y, first, step)
                more, where = compare(host, name, x, y, first, step, pool)
                if more and not wrong:
                    given = f"bits {first + where * step:#x}" if count == 0 else ", ".join(str(row[where]) for row in x)
                    detail = f"{y[where]!r} for {given}"
                wrong, asked = wrong + more, asked + chunk
            status = NONE if asked == 0 else FAIL if wrong else OK
            result["rows"].append({"function": name, "asked": asked, "wrong": wrong, "status": status, "detail": detail})
            table.append([name, asked, wrong, status, detail])
    return result, ["function", "asked", "other bits", "", ""], table
