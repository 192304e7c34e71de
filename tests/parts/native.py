"""native - reads answers of ClickHouse in the format Native, written from its
documentation: nothing of the C code.

A block is its number of columns and of rows, then of each column the name, the
type and the values.  Floats are returned as their 64 bits, strings as bytes.
SPDX-License-Identifier: MIT
"""
import struct

# Of Float64 the bits.
NUMBERS = {"UInt8": "B", "UInt16": "H", "UInt32": "I", "UInt64": "Q", "Int8": "b", "Int16": "h",
           "Int32": "i", "Int64": "q", "Float64": "Q"}


class Answer:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        piece = self.data[self.at:self.at + count]
        if len(piece) != count:
            raise ValueError("the answer ends early")
        self.at += count
        return piece

    def number(self):
        value = shift = 0
        while True:
            byte, = self.take(1)
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def text(self):
        return self.take(self.number())

    def values(self, type_, count):
        if type_ == "String":
            return [self.text() for _ in range(count)]
        if type_.startswith("Array("):
            ends = self.values("UInt64", count)
            flat = self.values(type_[6:-1], ends[-1] if ends else 0)
            return [flat[begin:end] for begin, end in zip([0] + ends, ends)]
        layout = "<%d%s" % (count, NUMBERS[type_])
        return list(struct.unpack(layout, self.take(struct.calcsize(layout))))


def rows(data):
    """The rows of all blocks, each a dictionary."""
    answer, found = Answer(data), []
    while answer.at < len(data):
        width, count = answer.number(), answer.number()
        columns = {}
        for _ in range(width):
            name, type_ = answer.text().decode(), answer.text().decode()
            columns[name] = answer.values(type_, count)
        found += [dict(zip(columns, row)) for row in zip(*columns.values())]
    return found
