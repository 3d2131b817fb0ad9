"""What NVRTC makes of our kernels, read from the machine code in plans: registers, spills, the width of accesses, tensor cores.

Kernels whose facts are known come first: they must be told apart by the reader (cubin.py), for each architecture.
"""

import collections
import os
import re
import unittest

import numpy as np

import dltools
from e2e import support
from . import cubin

ARCHITECTURES = ("sm_80", "sm_90")
LIBRARY = cubin.nvrtc()
LARGE = 65536  # bytes of a tensor whose map is worth 16 bytes a thread

CONTROLS = r"""
extern "C" __global__ void narrow(const float *a, float *b) { b[threadIdx.x] = a[threadIdx.x]; }
extern "C" __global__ void pairs(const float2 *a, float2 *b) { b[threadIdx.x] = a[threadIdx.x]; }
extern "C" __global__ void wide(const float4 *a, float4 *b) { b[threadIdx.x] = a[threadIdx.x]; }
extern "C" __global__ void shared(float4 *a) {
  __shared__ float4 s[256];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  a[threadIdx.x] = s[255 - threadIdx.x];
}
extern "C" __global__ void product(const unsigned *a, float *d) {
  float c[4] = {};
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]));
  d[threadIdx.x] = c[0] + c[1] + c[2] + c[3];
}
// 96 values that are alive at once, and as many registers as there are, or 32.
template <int N> __device__ void many(const float *a, float *b, int n) {
  float v[N];
  for (int i = 0; i < N; ++i) v[i] = a[i * n + threadIdx.x];
  for (int k = 0; k < n; ++k)
#pragma unroll
    for (int i = 0; i < N; ++i) v[i] = v[i] * v[(i * 7 + 3) % N] + v[(i + 1) % N];
  for (int i = 0; i < N; ++i) b[i * n + threadIdx.x] = v[i];
}
extern "C" __global__ void __launch_bounds__(256, 1) roomy(const float *a, float *b, int n) { many<96>(a, b, n); }
extern "C" __global__ void __launch_bounds__(1024, 2) spilt(const float *a, float *b, int n) { many<96>(a, b, n); }
"""


# Products with a tile in registers.
TILED = ("contract", "chain of products", "streamed chain of products")


@unittest.skipUnless(LIBRARY, "there is no NVRTC (tools/dev/setup.sh --cuda)")
class Controls(unittest.TestCase):
    """What the reader says of kernels whose facts are known."""

    def test_it_tells_them_apart(self):
        for architecture in ARCHITECTURES:
            with self.subTest(architecture):
                kernels = cubin.read(cubin.compiled(LIBRARY, CONTROLS, architecture))
                for name, width in (("narrow", 4), ("pairs", 8), ("wide", 16)):
                    self.assertEqual(kernels[name].accesses, {("load", width): 1, ("store", width): 1}, name)
                self.assertEqual(kernels["shared"].accesses, dict.fromkeys([("load", 16), ("store", 16), ("shared load", 16), ("shared store", 16)], 1))
                self.assertEqual(kernels["shared"].shared & ~1024, 4096)
                self.assertEqual(kernels["wide"].shared, 0)
                for name, kernel in kernels.items():
                    self.assertEqual(kernel.tensor_core_instructions, int(name == "product"), name)
                    local = kernel.count("local load"), kernel.count("local store")
                    if name == "spilt":
                        self.assertGreater(min(*local, kernel.frame), 0)
                        self.assertLessEqual(kernel.registers, 32)
                    else:
                        self.assertEqual((*local, kernel.frame), (0, 0, 0), name)
                self.assertGreater(kernels["roomy"].registers, 96)
                self.assertLess(kernels["wide"].registers, 32)

    def test_resident_blocks(self):
        """By registers, by threads, by shared memory."""
        def blocks(registers, threads, dynamic, architecture="sm_90"):
            return cubin.Kernel(registers, 0, 0, b"").resident_blocks(architecture, threads, dynamic)

        self.assertEqual([blocks(registers, 256, 0) for registers in (32, 64, 65, 128, 129, 255)], [8, 4, 3, 2, 1, 1])
        self.assertEqual(blocks(16, 1024, 0), 2)
        self.assertEqual((blocks(16, 32, 100 * 1024), blocks(16, 32, 100 * 1024, "sm_80")), (2, 1))


@unittest.skipUnless(LIBRARY, "there is no NVRTC (tools/dev/setup.sh --cuda)")
class Plans(support.ToolTest):
    """Training steps of two examples and of a transformer's block, with rows of scores that are whole or stream: shapes with which
    there is no short last batch."""

    MODELS = {"mnist": ["-D", "batch_size=4"], "mnist_mlp": ["-D", "batch_size=96"],
              "transformer": ["-D", "batch_size=8", "-D", "depth=1", "-D", "length=128"],
              "long": ["-D", "batch_size=8", "-D", "depth=1", "-D", "length=768"]}
    PRECISIONS = (((), MODELS), (("--tf32",), ["mnist_mlp", "transformer", "long"]), (("--dtype=bf16",), MODELS))

    @classmethod
    def setUpClass(cls):
        cls.known = {}  # what was compiled, for all tests

    def source(self, name):
        if name in ("transformer", "long"):
            length = int(self.MODELS[name][-1].split("=")[-1])
            np.save(self.path("x.npy"), np.zeros((8, length, 65), np.float32))
            np.save(self.path("y.npy"), np.zeros((8, length), np.int64))
            path = os.path.join(dltools.ROOT, "test", "bench", "models", "transformer.dl")
        else:
            path = support.example(name)
        with open(path, encoding="utf-8") as file:
            return re.sub(r"  p\.eval\(.*?\n  }\);\n", "", file.read(), flags=re.S)

    def kernels(self, name, *options):
        """By architecture: (what the plan says, machine code) of each kernel."""
        if (name, *options) not in self.known:
            self.write("model.dl", self.source(name))
            self.dlcc("model.dl", f"--target=cuda:{','.join(ARCHITECTURES)}", "--emit=cu=model.cu", *self.MODELS[name], *options, "-o", "model.plan")
            info = dltools.info(self.path("model.plan"))
            with open(self.path("model.cu"), encoding="utf-8") as file:
                bounds = {kernel: int(least) for least, kernel in re.findall(r"__launch_bounds__\(\d+, (\d+)\)\s+(\w+)\(", file.read())}
            found = {}
            for image in info["images"]:
                codes = cubin.of_plan(self.path("model.plan"), image["section"])
                found[image["features"]] = [({**kernel, "least_blocks": bounds[kernel["entry"]]}, codes[kernel["entry"]]) for kernel in info["kernels"]]
            self.assertEqual(set(found), set(ARCHITECTURES))
            self.assertGreater(len(info["kernels"]), 12)
            self.known[name, *options] = found
        return self.known[name, *options]

    def each(self, *options, models=MODELS):
        for name in models:
            for architecture, kernels in self.kernels(name, *options).items():
                for kernel, code in kernels:
                    yield " ".join([name, *options, architecture, kernel["name"]]), kernel, code

    def test_no_spills(self):
        for options, models in self.PRECISIONS:
            for where, _, code in self.each(*options, models=models):
                self.assertEqual((code.frame, code.count("local load"), code.count("local store")), (0, 0, 0), where)

    def test_maps_take_16_bytes(self):
        """All of a transformer's whose rows can be: not those of the vocabulary's 65 characters, of 4 bytes. AdamW's are among them where products are
        a library's, and do not update weights themselves."""
        found = updates = 0
        self.write("library.machine", "product_f32_flops = 1\n")
        for where, kernel, code in [*self.each(models=["transformer"]), *self.each("--machine=library.machine", models=["transformer"])]:
            large = [(size, writes) for size, writes in zip(kernel["binding_bytes"], kernel["writes"]) if size >= LARGE]
            written = [size for size, writes in large if writes]
            if kernel["strategy"] != "map" or not written or any(size % 65 == 0 for size, _ in large):
                continue
            found += 1
            self.assertGreaterEqual(code.count("store", 16), sum(size == max(written) for size in written), where)
            if re.match("sub_cast_mul_add", kernel["name"]):  # AdamW: parameter, gradient, two averages
                updates += 1
                self.assertEqual((code.count("store", 16), code.count("store")), (3, 3), where)
                self.assertGreaterEqual(code.count("load", 16), 4, where)
        self.assertGreater(found, 16)
        self.assertGreater(updates, 0)

    def test_products_and_tensor_cores(self):
        """Without --tf32 f32 is IEEE's, and no kernel has any; with it all tiled products have, and nothing else."""
        for where, _, code in self.each():
            self.assertEqual(code.tensor_core_instructions, 0, where)
        for where, kernel, code in self.each("--tf32", models=["mnist_mlp", "transformer"]):
            self.assertEqual(code.tensor_core_instructions > 0, kernel["strategy"] in TILED, where)
            self.assertEqual(code.matrix_loads, 0, where)
        for where, kernel, code in self.each("--dtype=bf16"):
            self.assertEqual((code.tensor_core_instructions > 0, code.matrix_loads > 0), (kernel["strategy"] in TILED,) * 2, where)

    def test_tiles_of_bf16(self):
        """Four matrices at once, which no fewer products read; 16 bytes from memory to shared memory where rows
        allow it."""
        found = 0
        for where, kernel, code in self.each("--dtype=bf16", models=["mnist", "transformer"]):
            if kernel["strategy"] != "contract":
                continue
            self.assertGreaterEqual(code.tensor_core_instructions, code.matrix_loads, where)
            found += code.count("load", 16) > 0 and code.count("shared store", 16) > 0
        self.assertGreater(found, 8)

    def test_products_read_neighbours(self):
        """From shared memory, 8 or 16 bytes at once in every tiled product without tensor cores; a word tells the last block."""
        for where, kernel, code in self.each():
            if kernel["strategy"] in TILED:
                if kernel["strategy"] == "contract":  # between the products of a chain rows are read by lanes
                    self.assertLessEqual(code.count("shared load", 4), 1, where)
                self.assertGreaterEqual(code.count("shared load", 8) + code.count("shared load", 16), 32, where)

    def test_resident_blocks(self):
        """As many as was said to ptxas; a product that would have spilt was compiled again for one. A chain has as many as the shared memory
        of the largest chip holds."""
        rows, again = collections.defaultdict(list), 0
        for options, models in self.PRECISIONS:
            for name in models:
                for architecture, kernels in self.kernels(name, *options).items():
                    for kernel, code in kernels:
                        blocks = code.resident_blocks(architecture, kernel["threads"], kernel["shared_bytes"])
                        rows[architecture, options[0].split("=")[-1].strip("-") if options else "f32", kernel["strategy"]].append((code.registers, kernel["shared_bytes"], blocks))
                        again += code.resident_blocks(architecture, kernel["threads"], 0) < kernel["least_blocks"]
                        self.assertGreaterEqual(blocks, 1 if kernel["strategy"] in TILED else kernel["least_blocks"], kernel["name"])
        self.assertLess(again, 24)
        print("\n  machine code: strategy, kernels, registers, dynamic shared memory, resident blocks a processor")
        for (architecture, precision, strategy), facts in sorted(rows.items()):
            ranges = ["{}-{}".format(min(column), max(column)) for column in zip(*facts)]
            print(f"    {architecture} {precision:4} {strategy:16} {len(facts):3}  {ranges[0]:>7} {ranges[1]:>12} B {ranges[2]:>5}")
        print(f"    products compiled again for one block: {again}")


if __name__ == "__main__":
    unittest.main()
