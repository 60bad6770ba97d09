"""The protocol between the driver and a worker: frames of a length and a pickled value."""

import pickle
import struct

HEAD = struct.Struct("<Q")


def frame(value):
    """The frame of a value."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    return HEAD.pack(len(data)) + data


class Frames:
    """Splits incoming bytes into frames."""

    def __init__(self):
        self.data = bytearray()

    def feed(self, data):
        """The values that are complete."""
        self.data += data
        while len(self.data) >= HEAD.size:
            (length,) = HEAD.unpack_from(self.data)
            end = HEAD.size + length
            if len(self.data) < end:
                return
            value = pickle.loads(memoryview(self.data)[HEAD.size : end].tobytes())
            del self.data[:end]
            yield value


def read(file):
    """The next value of a blocking file; `EOFError` after the last one."""
    head = file.read(HEAD.size)
    if len(head) < HEAD.size:
        raise EOFError
    (length,) = HEAD.unpack(head)
    data = file.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)
