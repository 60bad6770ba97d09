"""The device node of a board: the answers of its kernel driver to ioctls, and its mappings.

Numbers and structures are those of the driver's public interface: a window is allocated, mapped (uncached or
write-combining), pointed at tiles and freed; host memory is pinned in place.
"""

import ctypes
import errno
import os
import struct
import weakref

from . import FindingError, QueueError, Window, brackets

PAGE = 4096
MAGIC = 0xFA
# Offsets of mappings: each window has one offset for each kind.
WINDOW_BITS, KIND_BIT = 34, 33

DEVICE_INFO, PIN, UNPIN, ALLOCATE, FREE, CONFIGURE, POWER = 0, 7, 10, 11, 12, 13, 15
NOC_DMA = 2
ORDERINGS = ("relaxed", "strict", "posted")
VENDOR, DEVICE = 0x1E52, 0xB140


def refused(number, why):
    return OSError(number, f"{os.strerror(number)}: {why}")


class Mapped:
    """A window as returned by `mmap`: access by index, and a position for `read` and `write`."""

    def __init__(self, window, size):
        self._window, self._length, self._at, self.closed = window, size, 0, False

    def size(self):
        return self._length

    def __getitem__(self, at):
        first, size = self._range(at)
        data = self._window.read(first, size)
        return data if isinstance(at, slice) else data[0]

    def __setitem__(self, at, value):
        first, size = self._range(at)
        data = bytes(value) if isinstance(at, slice) else bytes([value])
        if len(data) != size:
            raise IndexError("mmap slice assignment is wrong size")
        self._window.write(first, data)

    def __len__(self):
        return self._length

    def _range(self, at):
        if self.closed:
            raise ValueError("mmap closed or invalid")
        return brackets(at, self._length)

    def seek(self, at, whence=os.SEEK_SET):
        at += {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._length}[whence]
        if not 0 <= at <= self._length:
            raise ValueError("seek out of range")
        self._at = at

    def tell(self):
        return self._at

    def read(self, size=None):
        rest = self._length - self._at
        size = rest if size is None or size < 0 else min(size, rest)
        data = self._window.read(self._at, size)
        self._at += size
        return data

    def write(self, data):
        data = bytes(data)
        if self._at + len(data) > self._length:
            raise ValueError("data out of range")
        self._window.write(self._at, data)
        self._at += len(data)
        return len(data)

    def flush(self, *_):
        """Does nothing: stores are strictly ordered unless the window specifies otherwise."""

    def close(self):
        self.closed = True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Node:
    """The device node of one machine."""

    def __init__(self, machine):
        self.machine = machine
        self._name, self._arc, _ = machine._board.board()
        self._windows = {}
        self._maps = {}
        self._pins = {}
        # Anonymous mappings of the host, so that loads and stores of pinned memory can be passed to the machine.
        self.host = weakref.WeakSet()

    def ioctl(self, request, data):
        """Executes an ioctl; returns the bytes of the answer."""
        known = {
            DEVICE_INFO: (4, self._info),
            PIN: (24, self._pin),
            UNPIN: (16, self._unpin),
            ALLOCATE: (8, self._allocate),
            FREE: (4, self._free),
            CONFIGURE: (40, self._configure),
            POWER: (12, lambda _: b""),
        }
        needs, answer = known.get(request & 0xFF, (0, None))
        if request >> 8 & 0xFF != MAGIC or answer is None:
            raise refused(errno.ENOTTY, f"the driver of a simulated board has no ioctl {request:#x}")
        if len(data) < needs:
            raise refused(errno.EINVAL, f"ioctl {request:#x} has {needs} bytes or more, not {len(data)}")
        try:
            return answer(data)
        except FindingError:
            raise
        except (QueueError, IndexError, ValueError) as error:
            raise refused(errno.EINVAL, error) from None

    def _info(self, data):
        out = struct.pack("<IHHHHHHH", 20, VENDOR, DEVICE, VENDOR, 0, 0, 0, 0)
        return data[:4] + out.ljust(20, b"\0")[: int.from_bytes(data[:4], "little")]

    def _pin(self, data):
        capacity, flags, start, size = struct.unpack_from("<IIQQ", data)
        if size == 0 or start % PAGE or size % PAGE:
            raise refused(errno.EINVAL, f"{size} bytes at {start:#x} are no whole pages")
        if (start, size) in self._pins:
            raise refused(errno.EEXIST, f"{size} bytes at {start:#x} are pinned already")
        if flags & ~NOC_DMA:
            raise refused(errno.EINVAL, f"pages are pinned for the network (flag {NOC_DMA}), not with flags {flags:#x}")
        owner, first = self._owner(start, size)
        pinned_range = (ctypes.c_uint8 * size).from_address(start) if owner is None else memoryview(owner)[first : first + size]
        pinned = self.machine.pin(pinned_range)
        self._pins[start, size] = pinned, owner
        if owner is not None:
            owner.pins.append((first, pinned))
        address = pinned.address
        return data[:24] + struct.pack("<QQ", address, address)[:capacity]

    def _owner(self, start, size):
        """The mapping of the host's memory that contains these bytes, and their offset in it."""
        for mapping in list(self.host):
            try:
                first = ctypes.addressof(ctypes.c_char.from_buffer(mapping))
            except (ValueError, TypeError):
                continue
            if first <= start and start + size <= first + len(mapping):
                return mapping, start - first
        return None, 0

    def _unpin(self, data):
        start, size = struct.unpack_from("<QQ", data)
        found = self._pins.pop((start, size), None)
        if found is None:
            raise refused(errno.EINVAL, f"{size} bytes at {start:#x} are not pinned")
        pinned, owner = found
        if owner is not None:
            owner.pins[:] = [pin for pin in owner.pins if pin[1] is not pinned]
        pinned.unpin()
        pinned.array = None
        return data

    def _allocate(self, data):
        size = struct.unpack_from("<Q", data)[0]
        x, y = self._arc
        try:
            window = self.machine.open(x, y, size=size)
        except FindingError:
            raise
        except QueueError as error:
            raise refused(errno.ENOMEM, error) from None
        self._windows[window.number] = window
        self._maps[window.number] = weakref.WeakSet()
        place = window.number << WINDOW_BITS
        return data[:16] + struct.pack("<IIQQQ", window.number, 0, place, place | 1 << KIND_BIT, 0)

    def _window(self, number):
        if number not in self._windows:
            raise refused(errno.EINVAL, f"window {number} is not allocated")
        return self._windows[number]

    def _free(self, data):
        number = int.from_bytes(data[:4], "little")
        window = self._window(number)
        if any(not mapped.closed for mapped in self._maps[number]):
            raise refused(errno.EBUSY, f"window {number} is still mapped")
        del self._windows[number], self._maps[number]
        window.close()
        return data

    def _configure(self, data):
        number, _, addr, x_end, y_end, x_start, y_start = struct.unpack_from("<IIQHHHH", data)
        noc, multicast, ordering, linked, _ = struct.unpack_from("<BBBBB", data, 24)
        window = self._window(number)
        if ordering >= len(ORDERINGS) or noc > 1 or linked:
            raise refused(errno.EINVAL, f"no window has network {noc}, ordering {ordering} and linked {linked}")
        corners = (x_start, y_start, x_end, y_end) if multicast else (x_end, y_end, x_end, y_end)
        window.retarget(*corners, addr=addr, multicast=bool(multicast), noc=noc, ordering=ORDERINGS[ordering])
        return data

    def map(self, length, offset):
        """A mapping of the node: the window with this offset."""
        number = offset >> WINDOW_BITS
        window = self._windows.get(number)
        if window is None or offset & (1 << KIND_BIT) - 1 or length > window.size or length < 0:
            raise refused(errno.EINVAL, f"{length} bytes at {offset:#x} of the node are no window")
        mapped = Mapped(Window(self.machine, number, window.size), length or window.size)
        self._maps[number].add(mapped)
        return mapped
