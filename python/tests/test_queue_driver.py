"""Host programs that expect a board's driver, run as they stand."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from slipring.queue import decode, lint, run

pytestmark = pytest.mark.once

HERE = Path(__file__).parent
HOST = HERE / "board_host.py"


def drive(*arguments, host=HOST, options=(), path="", **environment):
    command = [sys.executable, "-m", "slipring.queue", "--board", "p100", *options, str(host), *map(str, arguments)]
    paths = os.pathsep.join(filter(None, [path, os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, **environment, "PYTHONPATH": paths}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)


@pytest.mark.parametrize("base", ["0x82b0", "0x86b0"])
def test_a_host_starts_the_board_and_its_queue(base, tmp_path):
    stream = tmp_path / "host.cq"
    done = drive(base, "barrier", options=["--record", str(stream)])
    assert done.returncode == 0, done.stderr
    assert done.stdout == "p100a 7 banks\nevent 1\ntime True\n"
    assert "on a p100: 9 records, 9 prefetch and 9 dispatch commands, 1 launches of workers" in done.stderr
    # What was recorded says for which base it is.
    assert lint(stream).codes == [] and run(stream).complete
    # Run again, the host stores and loads the same: what it wrote to DRAM through a window, and a time.
    assert [bytes[:16] for bytes in run(stream).loads][0] == bytes(range(16))
    assert int.from_bytes(run(stream).loads[1], "little") > 0
    assert "poll (1,2) 0x373 00" in decode(stream.read_bytes())
    assert ("layout kernel_config_base 0x82b0" in decode(stream.read_bytes())) == (base == "0x82b0")


def test_what_is_wrong_stops_it_in_strict_mode():
    done = drive()
    assert done.returncode == 1
    assert "FindingError: error[go-before-payload]" in done.stderr
    # The lines are the host's own.
    assert "board_host.py" in done.stderr and "driver.py" not in done.stderr


def test_what_is_wrong_is_counted_in_silicon_mode_and_where_it_is_allowed():
    done = drive(options=["--mode", "silicon"])
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "time True")
    assert "error[go-before-payload]" in done.stderr
    done = drive(options=["--allow", "go-before-payload"])
    assert done.returncode == 0, done.stderr
    assert "go-before-payload: 1 times, allowed" in done.stderr


def test_a_base_that_is_compiled_in():
    done = drive("0x82b0", options=["--layout", "kernel_config_base=0x86b0"])
    assert (done.returncode, "kernel-base-mismatch" in done.stderr) == (1, True)


def test_the_delays_are_the_boards(tmp_path):
    traces = []
    for options in ([], ["--late", "pcie-read"]):
        file = tmp_path / f"{len(traces)}.json"
        done = drive("0x82b0", "barrier", options=["--trace", str(file), *options])
        assert (done.returncode, "0 errors" in done.stderr) == (0, True), done.stderr
        traces.append(file.read_text())
    assert traces[0] != traces[1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import os, fcntl; fcntl.ioctl(os.open('/dev/tenstorrent/0', 2), 0xFA06, bytearray(8))", "no ioctl 0xfa06"),
        ("import os, mmap; mmap.mmap(os.open('/dev/tenstorrent/0', 2), 4096, offset=1 << 34)", "are no window"),
        ("import os; os.open('/dev/tenstorrent/1', 2)", "No such file"),
        ("import sys; sys.exit('no board for me')", "no board for me"),
    ],
)
def test_what_the_driver_does_not_do_is_refused(text, says, tmp_path):
    host = tmp_path / "host.py"
    host.write_text(text)
    done = drive(host=host)
    assert (done.returncode, says in done.stderr) == (1, True), done.stderr


def test_options_that_are_wrong(tmp_path):
    for options, says in [(["--allow", "nothing"], "no hazard"), (["--layout", "x"], "NAME=NUMBER"), (["--late", "x"], "no delay")]:
        done = drive(options=options)
        assert (done.returncode, says in done.stderr) == (2, True), done.stderr
    assert drive(host=tmp_path / "none.py").returncode == 2


COMPILER = '''
PROFILER = False

class Some:
    def __init__(self, **fields):
        self.__dict__.update(fields)

def code(bytes):
    return Some(xip=b"\\x13\\0\\0\\0" * (bytes // 4))

class Compiler:
    def __init__(self):
        targets = ["brisc", "ncrisc", "trisc0", "trisc1", "trisc2"]
        self._fw = {
            name: Some(
                segments=[Some(paddr=0x3840 + 0x800 * i, data=bytes(256), memsz=512)],
                scratch_base=0x8000, text_base=0x3840 + 0x800 * i,
            )
            for i, name in enumerate(targets)
        }

    def compile_cq_kernels(self):
        return {name: code(4096) for name in ("prefetch_brisc", "dispatch_brisc", "dispatch_s_ncrisc")}

    def compile_dataflow(self, *_):
        return code(512)

    def compile_compute(self, *_):
        return code(512), code(512), code(512)
'''

PUBLIC = '''
from device import Device
from dispatch import CBConfig, Dtype, Program

device = Device(0)
data = bytes(range(256)) * 64
tensor = device.dram.alloc_write(data, Dtype.Float16_b, None)
assert device.dram.read(tensor)[: len(data)] == data
for _ in range(3):
    device.queue(Program(
        cores="all", reader_kernel="r", compute_kernel="c", writer_kernel="w", cbs=[CBConfig(0, Dtype.Float16_b)],
        reader_args=lambda index, xy, n: [index, 7], writer_args=[1, 2], compute_args=[3],
    ))
device.run()
device.close()
print("launched")
'''


@pytest.mark.parametrize("options", [["--allow", "go-before-payload"], ["--mode", "silicon"], []])
def test_the_public_driver(options, tmp_path):
    """`SLIPRING_DRIVER` is a checkout of boopdotpng/tenstorrent-python-driver: its driver as it stands, but for the tool chain of its
    kernels, which is not there."""
    checkout = os.environ.get("SLIPRING_DRIVER")
    if not checkout:
        pytest.skip("SLIPRING_DRIVER names no checkout")
    (tmp_path / "compiler.py").write_text(COMPILER)
    (tmp_path / "host.py").write_text(PUBLIC)
    done = drive(host=tmp_path / "host.py", options=options, path=checkout, TIMING="1")
    assert done.returncode == (0 if "--allow" in options else 1), done.stderr
    assert "go-before-payload" in done.stderr
    assert ("launched" in done.stdout) == bool(options)
    if options:
        assert "354 launches of workers" in done.stderr
