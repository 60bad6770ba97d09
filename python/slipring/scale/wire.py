"""What the driver and a worker say to each other: frames of a length and a pickled value."""

import pickle
import struct

HEAD = struct.Struct("<Q")


def frame(value):
    """A value as it is sent."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    return HEAD.pack(len(data)) + data


class Frames:
    """Takes bytes as they come and gives whole frames."""

    def __init__(self):
        self.data = bytearray()

    def feed(self, data):
        """The values that are whole now."""
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
