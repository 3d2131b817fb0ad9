"""Reads TensorBoard's event files: TFRecords with checksums, and the two protobuf messages in them.

Written from the formats' descriptions and independent of the writer, which it tests.
"""

import struct


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 * (crc & 1))
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def records(data, check):
    at = 0
    while at < len(data):
        length, sum_of_length = struct.unpack_from("<QI", data, at)
        body = data[at + 12:at + 12 + length]
        if len(body) != length or at + 16 + length > len(data):
            raise ValueError(f"a record is cut at byte {at}")
        if check and (masked(data[at:at + 8]) != sum_of_length
                      or masked(body) != struct.unpack_from("<I", data, at + 12 + length)[0]):
            raise ValueError(f"a checksum is wrong at byte {at}")
        yield body
        at += 16 + length


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) of each field of a message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif kind == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            if len(value) != length:
                raise ValueError("a field is cut")
        elif kind == 5:
            value, at = struct.unpack_from("<f", data, at)[0], at + 4
        else:
            raise ValueError(f"wire type {kind}")
        yield key >> 3, value


def event(data):
    result = {"wall_time": 0.0, "step": 0, "version": None, "scalars": {}}
    for number, value in fields(data):
        if number == 1:
            result["wall_time"] = value
        elif number == 2:
            result["step"] = value
        elif number == 3:
            result["version"] = value.decode()
        elif number == 5:
            for inner, content in fields(value):
                if inner == 1:
                    pair = dict(fields(content))
                    result["scalars"][pair[1].decode()] = pair[2]
        else:
            raise ValueError(f"field {number} of an event")
    return result


def read(path, check=False):
    """The events of a file, in order; with `check`, all checksums are computed (slow)."""
    with open(path, "rb") as file:
        return [event(body) for body in records(file.read(), check)]
