"""Facts of the kernels in a cubin, read from the file itself: NVIDIA's tools are not needed.

A cubin is an ELF file. `.nv.info` has (format, attribute, value) entries, of which those of format 4 have a length and words: the
kernel's symbol and a number. `.nv.shared.NAME` is as large as its static shared memory, and `.text.NAME` are its instructions, 16 bytes
each since sm_70: the lowest 9 bits say which one, 3 more where its operands are, bits 73 to 75 of an access how wide it is. None of this is
documented; test_machine_code begins with kernels whose facts are known. Once, cuobjdump and nvdisasm of CUDA 13.5 said the same of all 216
kernels of four plans: registers, stack, shared memory, accesses by width, tensor-core instructions.
"""

import collections
import ctypes
import os
import struct

import dltools

REGISTERS, FRAME = 0x2F, 0x11
ACCESSES = {0x181: "load", 0x186: "store", 0x184: "shared load", 0x188: "shared store", 0x183: "local load", 0x187: "local store"}
TENSOR_CORES = {0x03C, 0x03F, 0x037}  # HMMA, DMMA, IMMA
MATRIX_LOAD = 0x03B  # LDSM
WIDTHS = (1, 1, 2, 2, 4, 8, 16, 16)
NOBITS = 8


class Kernel:
    def __init__(self, registers, frame, shared, code):
        self.registers, self.frame, self.shared = registers, frame, shared
        self.tensor_core_instructions, self.matrix_loads, self.accesses = 0, 0, collections.Counter()  # (kind, bytes)
        for low, high in struct.iter_unpack("<QQ", code):
            opcode = low & 0x1FF
            self.tensor_core_instructions += opcode in TENSOR_CORES
            self.matrix_loads += opcode == MATRIX_LOAD
            if opcode in ACCESSES:
                self.accesses[ACCESSES[opcode], WIDTHS[high >> 9 & 7]] += 1

    def count(self, kind, width=None):
        return sum(n for (name, size), n in self.accesses.items() if name == kind and width in (None, size))

    def resident_blocks(self, architecture, threads, dynamic_shared):
        """In one processor, by registers, threads and shared memory; registers are given to warps by 256."""
        memory = {"sm_80": 164, "sm_90": 228}[architecture] * 1024
        warps = -(-threads // 32)
        of_block = warps * -(-self.registers * 32 // 256) * 256
        # 1 KiB of each block is the driver's; sm_90's cubins count it themselves where there is any.
        shared = dynamic_shared + max(self.shared, 1024)
        return min(65536 // of_block, 2048 // (32 * warps), 32, memory // (-(-shared // 128) * 128))


def text(data, offset):
    return data[offset:data.index(b"\0", offset)].decode()


def read(cubin):
    """Its kernels by name."""
    if cubin[:4] != b"\x7fELF":
        raise ValueError("not a cubin")
    table, = struct.unpack_from("<Q", cubin, 40)
    count, names_at = struct.unpack_from("<HH", cubin, 60)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, table + 64 * i) for i in range(count)]
    sections = {text(cubin, headers[names_at][4] + h[0]): h for h in headers}

    def content(name):
        _, _, _, _, offset, size, *_ = sections[name]
        return cubin[offset:offset + size]

    strings = headers[sections[".symtab"][6]][4]
    symbols = [text(cubin, strings + symbol[0]) for symbol in struct.iter_unpack("<IBBHQQ", content(".symtab"))]
    said = {REGISTERS: {}, FRAME: {}}
    info, at = content(".nv.info"), 0
    while at < len(info):
        form, attribute, value = struct.unpack_from("<BBH", info, at)
        at += 4
        if form == 4:
            if attribute in said:
                symbol, number = struct.unpack_from("<II", info, at)
                said[attribute][symbols[symbol]] = number
            at += value
    shared = {name: sections[".nv.shared." + name][5] if ".nv.shared." + name in sections else 0 for name in said[REGISTERS]}
    return {name: Kernel(registers, said[FRAME][name], shared[name], content(".text." + name)) for name, registers in said[REGISTERS].items()}


def of_plan(path, section):
    """The kernels of a plan's image, by their entries; runtime/plan/FORMAT.md has the forms."""
    with open(path, "rb") as file:
        plan = file.read()
    _, _, offset, size = struct.unpack_from("<IIQQ", plan, 32 + 24 * section)
    image = plan[offset:offset + size]
    modules, entries = struct.unpack_from("<II", image)
    places = [struct.unpack_from("<QQ", image, 8 + 16 * i) for i in range(modules)]
    at, kernels = 8 + 16 * modules, {}
    for _ in range(entries):
        module, length = struct.unpack_from("<II", image, at)
        name = image[at + 8:at + 8 + length].decode()
        begin, size = places[module]
        kernels[name] = read(image[begin:begin + size])[name]
        at += 8 + length
    return kernels


def nvrtc():
    """NVIDIA's run-time compiler, from where dlcc has it; None where there is none."""
    said = os.environ.get("DL_NVRTC")
    folders = [said] if said else ["/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib",
                                   os.path.join(os.path.dirname(dltools.BIN), "nvrtc"), "/usr/lib/x86_64-linux-gnu"]
    for folder in folders:
        for version in (13, 12):
            path = os.path.join(folder, f"libnvrtc.so.{version}")
            if not os.path.exists(path):
                continue
            library = ctypes.CDLL(path)
            major, minor = ctypes.c_int(), ctypes.c_int()
            library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
            builtins = os.path.join(folder, f"libnvrtc-builtins.so.{major.value}.{minor.value}")
            if os.path.exists(builtins):
                ctypes.CDLL(builtins)
            return library
    return None


def compiled(library, source, architecture):
    """A cubin."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"control.cu", 0, None, None)
    options = (ctypes.c_char_p * 2)(f"--gpu-architecture={architecture}".encode(), b"--std=c++20")
    failed = library.nvrtcCompileProgram(program, len(options), options)
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    if failed:
        raise RuntimeError(log.value.decode())
    library.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    library.nvrtcGetCUBIN(program, cubin)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return cubin.raw
