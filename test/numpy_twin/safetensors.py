"""Reads and writes .safetensors: a length, a JSON header, then raw little-endian data."""

import json
import struct

import numpy as np

DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U8": "|u1", "BOOL": "|b1"}
NAMES = {np.dtype(code): name for name, code in DTYPES.items()}


def save(path, tensors):
    header, blobs, offset = {}, [], 0
    for name, array in tensors.items():
        array = np.asarray(array)
        blob = array.tobytes()  # row-major, whatever the strides
        header[name] = {"dtype": NAMES[array.dtype], "shape": list(array.shape),
                        "data_offsets": [offset, offset + len(blob)]}
        blobs.append(blob)
        offset += len(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        array = np.frombuffer(data, np.dtype(DTYPES[entry["dtype"]]), (end - begin) // np.dtype(DTYPES[entry["dtype"]]).itemsize, 8 + length + begin)
        tensors[name] = array.reshape(entry["shape"])
    return tensors
