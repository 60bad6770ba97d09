"""A host of our own that starts a board as the public drivers do: run by `python -m slipring.queue`, which puts a board behind the
nodes that it opens. It knows nothing of slipring.

It asks the management core which DRAM banks there are, writes and reads one, resets all tiles, loads firmware and lets it run, pins
memory, starts the queue's cores, and then sends some records: a time to DRAM, a go signal, an event.
"""

import ctypes
import fcntl
import mmap
import os
import struct
import sys
import time
from pathlib import Path

BASE = int(sys.argv[1], 0) if len(sys.argv) > 1 else 0x82B0
BARRIER = "barrier" in sys.argv
PREFETCH, DISPATCH, WORKER = (14, 2), (14, 3), (1, 2)
GO, LAUNCH, RESET = 0x370, 0x70, 0xFFB121B0
SLOTS, QUEUE = 1534, 0x19840
ISSUE, COMPLETION = 0x100, 0x4000100


def call(fd, number, data):
    data = bytearray(data)
    assert fcntl.ioctl(fd, 0xFA << 8 | number, data, True) == 0
    return data


class Window:
    def __init__(self, fd, tile, end=None, addr=0, size=1 << 21):
        self.fd = fd
        self.number, _, uncached, combining, _ = struct.unpack_from("<IIQQQ", call(fd, 11, struct.pack("<QQ48x", size, 0)), 16)
        self.bytes = mmap.mmap(fd, size, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ | mmap.PROT_WRITE, offset=uncached)
        self.combining = mmap.mmap(fd, size, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ | mmap.PROT_WRITE, offset=combining)
        self.look(tile, end, addr)

    def look(self, tile, end=None, addr=0):
        far = end or tile
        call(self.fd, 13, struct.pack("<IIQHHHHBBBBB3xII", self.number, 0, addr, *far, *tile, 0, far != tile, 1, 0, 0, 0, 0))

    def word(self, at, value=None):
        if value is None:
            return struct.unpack("<I", self.bytes[at : at + 4])[0]
        self.bytes[at : at + 4] = struct.pack("<I", value)

    def write(self, at, data):
        self.bytes[at : at + len(data)] = data

    def close(self):
        self.bytes.close()
        self.combining.close()
        call(self.fd, 12, struct.pack("<I", self.number))


def pin(fd, size):
    memory = mmap.mmap(-1, size, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    _, address = struct.unpack_from("<QQ", call(fd, 7, struct.pack("<IIQQ16x", 16, 2, start, size)), 24)
    return memory, start, address


def banks(fd):
    """Which DRAM banks the management core says there are."""
    arc = Window(fd, (8, 0), addr=0x80000000)
    table = arc.word(0x30434)
    arc.look((8, 0), addr=table & ~0x1FFFFF)
    at = table & 0x1FFFFF
    count = arc.word(at + 4)
    tags = [arc.word(at + 8 + 4 * i) for i in range(count)]
    places = {tag & 0xFFFF: tag >> 16 for tag in tags}
    enabled = arc.word(at + 8 + 4 * count + 4 * places[36])
    arc.close()
    return [bank for bank in range(8) if enabled >> bank & 1]


def start_tiles(fd):
    """Resets all tiles, loads what they run, and lets it run."""
    window = Window(fd, (1, 2))
    page = RESET & ~0x1FFFFF
    for value in (0x47800, 0x47000):
        for tile, end in (((1, 2), (7, 11)), ((10, 2), (14, 11))):
            window.look(tile, end, page)
            window.word(RESET - page, value)
            if value == 0x47800:
                for register in (0xFFB12238, 0xFFB12228, 0xFFB1222C, 0xFFB12230):
                    window.word(register - page, 0x5000)
                window.look(tile, end)
                window.write(0x3840, b"\x13\0\0\0" * 512)
                window.write(0, b"\x6f\x30\x00\x04")
                window.write(GO, bytes([0, 0, 0, 0x40]))
    window.look((5, 5), addr=page)
    assert (window.word(RESET - page), window.word(0xFFB1222C - page)) == (0x47000, 0x5000)
    window.look((1, 2))
    deadline = time.perf_counter() + 2
    while window.bytes[GO + 3] != 0:
        assert time.perf_counter() < deadline
        time.sleep(0.001)
    window.close()


def launch(text, more=False, *, counted=False):
    message = bytearray(96)
    struct.pack_into("<3I3H", message, 0, *[BASE] * 3, 16, 0, 0)
    message[42] = not counted
    struct.pack_into("<2I", message, 44, text, text + 1024 if more else 0)
    struct.pack_into("<I", message, 76, 3 if more else 1)
    return bytes(message)


class Queue:
    def __init__(self, fd):
        self.memory, self.start, address = pin(fd, 128 << 20)
        self.local = address - (1 << 60)
        self.first = self.local + COMPLETION >> 4
        self.prefetch, self.dispatch = Window(fd, PREFETCH), Window(fd, DISPATCH)
        self.prefetch.word(0x196C0, QUEUE + 2 * SLOTS)
        self.prefetch.word(0x196C4, self.local + ISSUE & 0xFFFFFFFF)
        self.prefetch.write(QUEUE, bytes(2 * SLOTS))
        for at in (0x80, 0xC0):
            self.memory[at : at + 4] = struct.pack("<I", self.first)
        for window, pages in ((self.prefetch, 128), (self.dispatch, 0)):
            if window is self.dispatch:
                for at in (0x196D0, 0x196E0):
                    window.word(at, self.first)
                window.write(0x196F0, bytes(0xA0))
            window.write(BASE, struct.pack("<16xI28x", pages))
            window.write(BASE + 48, b"\x13\0\0\0" * 512)
            window.write(LAUNCH, launch(48, window is self.dispatch))
            window.write(GO, bytes([0, 0, 0, 0x80]))
        self.at = self.slot = self.taken = 0

    def send(self, payload):
        size = (16 + len(payload) + 63) // 64 * 64
        record = (struct.pack("<BBHII4x", 5, 0, 0, len(payload), size) + payload).ljust(size, b"\0")
        self.memory[ISSUE + self.at : ISSUE + self.at + size] = record
        slot = QUEUE + 2 * self.slot
        while self.prefetch.bytes[slot : slot + 2] != b"\0\0":
            pass
        self.prefetch.bytes[slot : slot + 2] = struct.pack("<H", size >> 4)
        self.at, self.slot = self.at + size, self.slot + 1

    def event(self, number):
        self.send(struct.pack("<BBHIQI12x", 3, 1, 0, 0, 32, number))
        deadline = time.monotonic() + 10
        while self.memory[0x80:0x84] == struct.pack("<I", self.first + 256 * self.taken):
            assert time.monotonic() < deadline, "no event"
            time.sleep(0.0002)
        at = COMPLETION + 4096 * self.taken
        self.taken += 1
        self.dispatch.word(0x196E0, self.first + 256 * self.taken)
        return struct.unpack("<I", self.memory[at + 16 : at + 20])[0]


def main():
    card = Path("/sys/class/tenstorrent/tenstorrent!0/tt_card_type").read_text().strip()
    fd = os.open("/dev/tenstorrent/0", os.O_RDWR | os.O_CLOEXEC)
    print(card, len(banks(fd)), "banks")
    dram = Window(fd, (0, 2), size=1 << 32)
    dram.combining[0x1000:0x2000] = bytes(range(256)) * 16
    assert dram.bytes[0x1000:0x1010] == bytes(range(16))
    start_tiles(fd)
    staging = pin(fd, 1 << 30)
    queue = Queue(fd)
    where = 2 << 6
    queue.send(struct.pack("<BxHII4x", 18, 0, where, 0x3000))
    queue.send(struct.pack("<BBHHHI4xI12x", 5, 0, 1, 0, 96, LAUNCH, 2 << 6 | 1) + launch(0x40, counted=True))
    if BARRIER:
        queue.send(struct.pack("<BBHII4x", 7, 1, 0, 0, 0))
    queue.send(struct.pack("<BBHI8xI", 17, 0, 0, 1, 2 << 6 | 1))
    # A list of nobody, by another class of writes: it is still under way when the signal leaves.
    queue.send(struct.pack("<BBHHH8xIIHBB4x", 6, 2, 1, 16, 0, 2 << 18 | 1 << 12 | 2 << 6 | 1, BASE, 15, 1, 1) + bytes(16))
    if BARRIER:
        queue.send(struct.pack("<BBHII4x", 7, 1, 0, 0, 0))
    queue.send(struct.pack("<BIBBBII", 14, 0x80030E00, 0xFF, 1, 0, 0, 48))
    queue.send(struct.pack("<BBHII4x", 7, 0x18, 48, 0, 1))
    print("event", queue.event(1))
    print("time", struct.unpack("<Q", dram.bytes[0x3000:0x3008])[0] > 0)
    memory, start, _ = staging
    call(fd, 10, struct.pack("<QQQ", start, 1 << 30, 0))
    memory.close()
    os.close(fd)


main()
