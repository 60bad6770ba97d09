"""The command queue from Python."""

from pathlib import Path

import numpy as np
import pytest

import slipring
from slipring import queue
from slipring.queue import FindingError, Machine, QueueError, ThreadError


def test_windows():
    machine = Machine("p150")
    with machine.open(1, 2) as window:
        window.write32(0x1000, 0x01020304)
        assert window.read32(0x1000) == 0x01020304 and window.read16(0x1000) == 0x0304
        window[0x2000:0x2004] = b"abcd"
        assert window[0x2000:0x2004] == b"abcd" and window[0x2001] == ord("b")
        assert machine.peek(1, 2, 0x2000, 4) == b"abcd"
        assert len(window) == 2 << 20
    with pytest.raises(QueueError, match="not open"):
        window.read32(0)


def test_a_rectangle():
    machine = Machine()
    with machine.open(1, 2, 2, 3) as window:
        window.write32(0x3000, 5)
    assert [machine.peek(x, y, 0x3000, 4)[0] for x in (1, 2) for y in (2, 3)] == [5, 5, 5, 5]


def test_places_that_no_chip_has():
    machine = Machine()
    for x, y in [(99, 99), (64, 0), (0, 255)]:
        with pytest.raises(QueueError, match="cannot look at"):
            machine.open(x, y)
        with pytest.raises(QueueError, match="has no 4 bytes"):
            machine.peek(x, y, 0, 4)
    with pytest.raises(ValueError, match="not a coordinate"):
        machine.open(256, 0)


def test_pinned_memory():
    machine = Machine()
    memory = machine.pin(4096)
    assert memory.address >> 60 & 1
    memory.write(16, b"host")
    assert memory.read(16, 4) == b"host" and memory[:4] == bytes(4)
    memory.unpin()
    with pytest.raises(QueueError):
        memory.read(0, 1)


def test_memory_of_the_host():
    machine = Machine()
    own = np.zeros(4096, np.uint8)
    memory = machine.pin(own)
    own[8] = 42
    assert memory.read(8, 1) == b"\x2a"
    memory.write(9, b"\x07")
    assert own[9] == 7
    with pytest.raises(TypeError, match="read-only"):
        machine.pin(bytes(16))


def test_time_is_the_boards():
    machine = Machine(seed=3)
    before = machine.time.monotonic_ns()
    machine.time.sleep(0.001)
    assert machine.time.monotonic_ns() - before >= 1_000_000
    assert machine.register(0x30434) != 0


def test_errors_say_what_is_wrong():
    machine = Machine()
    with pytest.raises(ValueError, match="no board `p99`"):
        Machine("p99")
    with pytest.raises(QueueError):
        machine.open(1, 2, size=4096)
    assert machine.last_error and not machine.findings
    assert slipring.queue.SMALL == 2 << 20


def test_indices_out_of_range():
    machine = Machine()
    window, memory = machine.open(1, 2), machine.pin(4096)
    for read in [
        lambda: window.read(-1, 4),
        lambda: window.read((2 << 20) - 2, 4),
        lambda: window.write32(2 << 20, 1),
        lambda: window[2 << 20],
        lambda: memory.read(4096, 1),
        lambda: memory.write(4095, b"ab"),
        lambda: memory.read(1 << 70, 1),
        lambda: machine.peek(1, 2, -4, 4),
    ]:
        with pytest.raises(IndexError):
            read()
    for x in (-1, 256):
        with pytest.raises(ValueError, match="not a coordinate"):
            machine.peek(x, 2, 0, 4)


def test_another_thread():
    import threading

    machine, seen = Machine(), []

    def use():
        try:
            machine.now()
        except ThreadError as error:
            seen.append(str(error))

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert seen == ["a machine is used by the thread that made it, and by no other"]
    machine.now()


def test_settings(tmp_path):
    machine = Machine("p100", "silicon", late="multicast", allow=["go-before-payload"], limits={"steps": 1000},
                      layout={"kernel_config_base": 0x82B0, "worker": {"go": 0x370}}, trace=True, record=True)
    status = machine.status()
    assert status["cycle"] == 0 and len(status["actors"]) >= 3 and status["launches"] == 0
    assert machine.allowed == {}
    machine.wait(1000)
    code, text = machine.diagnose()
    assert code == "hang" and "prefetcher" in text
    machine.trace(tmp_path / "out.json")
    machine.record(tmp_path / "out.cq")
    assert (tmp_path / "out.cq").read_bytes()[:6] == b"SLIPCQ"
    for settings, says in [({"layout": {"golf": 1}}, "no field"), ({"allow": "nothing"}, "no hazard"),
                           ({"limits": {"colour": 1}}, "no setting"), ({"mode": "loose"}, "strict or silicon"),
                           ({"late": "host"}, "no delay")]:
        with pytest.raises(ValueError, match=says):
            Machine(**settings)
    with pytest.raises(QueueError, match="keeps no trace"):
        Machine().trace(tmp_path / "none.json")


WRONG = """board p100
send WRITE_LINEAR noc_xy=(1,2)..(2,3) num_mcast_dests=4 addr=0x40000
  > data 01*16
send WRITE_LINEAR noc_xy=(1,2) addr=0x40000
  > data 02*16
event
"""


def test_streams(tmp_path):
    data = queue.encode("event")
    assert queue.encode(queue.decode(data)) == data and "WRITE_LINEAR_H_HOST" in queue.decode(data)
    (tmp_path / "x.cq").write_bytes(data)
    run = queue.run(tmp_path / "x.cq")
    assert (run.complete, run.events, run.findings) == (True, [1], [])
    assert queue.lint(WRONG).codes == ["write-overtakes-write"]
    allowed = queue.lint(WRONG, allow=["write-overtakes-write"])
    assert (allowed.codes, allowed.allowed) == ([], {"write-overtakes-write": 1})
    wrong = queue.run(WRONG, mode="silicon", seed=3)
    assert (wrong.complete, wrong.codes) == (True, ["write-overtakes-write"])
    assert wrong.findings[0][2] == 1
    assert queue.prove("event", seeds=2).verdict == "clean"
    proof = queue.prove(WRONG, seeds=2)
    assert (proof.verdict, proof.why, proof.schedule) == ("wrong", ["write-overtakes-write"], "")
    allowed = queue.prove(WRONG, seeds=2, allow=["write-overtakes-write"])
    assert (allowed.verdict, allowed.why) == ("clean", ["write-overtakes-write"])
    with pytest.raises(ValueError, match="line 2"):
        queue.lint("board p100\nsend WEIGHT")
    # Another base: the layout says where kernels lie.
    launch = "write (1,2) 0x70 b0820000 00*40 30000000 00*28 01000000 00*16\n"
    assert queue.lint(launch).codes == ["kernel-base-mismatch"]
    assert queue.lint(launch, layout={"kernel_config_base": 0x82B0}).codes == []


def test_lists_that_come_from_memory():
    """Where a packed write goes is known when the dispatcher has its list: `run` and `prove` name a relay in front of it, and `lint`
    says that it does not know."""
    text = (Path(__file__).parents[2] / "tests/files/queue/read_behind_list.queue").read_text()
    assert queue.run(text).codes == ["relay-before-write"]
    assert queue.prove(text, seeds=2).why == ["relay-before-write"]
    assert queue.lint(text).codes == []
    assert any("WRITE_PACKED, whose list is relayed from memory" in line for line in queue.lint(text).not_judged)


ADDS = """board p100
send WRITE_LINEAR noc_xy=(1,2) addr=0x40000
  > data 01020304 00*12
send WRITE_LINEAR noc_xy=(17,14) addr=0x1000
  > data 05*64
send WAIT flags=barrier
launch (1,2)
event
take
record
  RELAY_INLINE_NOFLUSH
  > WRITE_LINEAR_H_HOST length=80
  RELAY_LINEAR noc_xy=(1,2) addr=0x41000 length=64
event
take
load (17,14) 0x2000 4
"""


def test_workers_that_are_functions():
    seen = []

    def adds(job):
        total = sum(job.read(0x40000, 4)) + sum(job.read_dram(0, 0x1000, 4))
        job.write(0x41000, total.to_bytes(64, "little"))
        job.write_dram(0, 0x2000, b"done")
        assert job.read(0x41000, 1)[0] == total
        seen.append((job.tile, job.worker, job.launch["kernel_config_base"], job))
        return 50_000

    run = queue.run(ADDS, worker=adds)
    assert (run.complete, run.codes, run.events) == (True, [], [1, 2])
    assert (run.read_backs[0][0], run.loads) == (30, [b"done"])
    assert seen[0][:2] == ((1, 2), 0)
    assert run.cycles > queue.run(ADDS).cycles + 40_000
    with pytest.raises(QueueError, match="the job is over"):
        seen[0][3].read(0, 4)


def test_functions_of_workers_that_fail():
    def raises(job):
        raise KeyError("no such program")

    def outside(job):
        job.write(1 << 21, b"x")

    for worker, says in [(raises, "KeyError: 'no such program' ("), (outside, "leave its L1"), (lambda job: None, "no number of cycles")]:
        run = queue.run(ADDS, worker=worker)
        assert run.codes == ["worker-fault"] and says in run.findings[0][1], run.findings
    machine = Machine("p100", worker=lambda job: machine.now())
    window = machine.open(1, 2)
    window.write(0x70, bytes(76) + b"\x01" + bytes(19))
    with pytest.raises(FindingError, match="a worker reaches the board by its job"):
        window.write32(0x370, 0x80000000)
        machine.wait(1000)


RACE = """board p100
queues 2
write (1,2) 0x40000 11111111
send WAIT flags=barrier
{event}queue 1
{wait}write (1,2) 0x40000 22222222
event
"""


def test_two_queues_on_one_board():
    event = "send WRITE_LINEAR noc_xy=(14,5) addr=0x196f0\n> data 01000000\n"
    wait = "send WAIT flags=memory addr=0x196f0 count=1\n"
    ordered, race = RACE.format(event=event, wait=wait), RACE.format(event="", wait="")
    assert queue.encode(ordered)[7] == 5 and queue.decode(queue.encode(ordered)) == queue.decode(ordered)
    assert (queue.lint(ordered).codes, queue.prove(ordered, seeds=2).verdict) == ([], "clean")
    assert queue.run(ordered).complete
    for found in (queue.lint(race), queue.run(race, seed=4)):
        assert found.codes == ["queues-race"]
        assert "of queue 1 writes what" in found.findings[0][1]
    # A raw host meets the second pair of cores: (14,4) and (14,5).
    machine = Machine("p100", queues=2, trace=True)
    with machine.open(14, 4) as core:
        core.write32(0x196C4, 0x80000100)
    assert machine.findings == [] and any(line.startswith("queue 1:") for line in machine.status()["actors"])
    with pytest.raises(ValueError, match="1 or 2 queues"):
        Machine(queues=3)


def test_several_boards_have_one_timeline(tmp_path):
    machine = Machine("p150", trace=True)
    machine.wait(1000)
    boards = {"left": machine, "right": queue.run("event", trace=True)}
    queue.timeline(tmp_path / "all.json", boards)
    text = (tmp_path / "all.json").read_text()
    assert "left" in text and "right" in text and "dispatcher" in text
    with pytest.raises(QueueError, match="kept no timeline"):
        queue.timeline(tmp_path / "none.json", {"one": queue.run("event")})
