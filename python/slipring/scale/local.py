"""A pool of local processes."""

import collections
import contextlib
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time

from .wire import Frames, frame
from .worker import NO_MEMORY, text_of

# Seconds of queued work per process, so that it need not wait for the driver, and the maximum number of queued points.
AHEAD, MOST = 0.05, 64
# How often processes may end without having had any work.
PATIENCE = 3
# Time limit in seconds for a process to end.
GRACE = 5.0


class PoolError(RuntimeError):
    """The pool cannot do the work: there are no workers, or they run another version of slipring."""


class Process:
    """A worker process, the points that it has been sent and not answered, and when it began the first of them."""

    def __init__(self, command, environment, setup, log):
        self.log = log
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=environment, start_new_session=True, bufsize=0
        )
        for end in (self.process.stdin, self.process.stdout):
            os.set_blocking(end.fileno(), False)
        self.out = bytearray(setup)
        self.frames = Frames()
        self.waiting = collections.deque()
        self.since = None
        self.version = None
        self.late = False
        self.alone = False

    def send(self, tasks):
        """Queues further points."""
        if not self.waiting:
            self.since = time.monotonic()
        self.waiting.extend(tasks)
        self.out += frame(tasks)

    def write(self):
        """Writes as much as the pipe accepts."""
        try:
            done = os.write(self.process.stdin.fileno(), memoryview(self.out)[: 1 << 20])
        except BlockingIOError:
            return
        except BrokenPipeError:
            # The process has ended, which its output also shows.
            done = len(self.out)
        del self.out[:done]

    def read(self):
        """Reads its answers; `None` if it has ended."""
        try:
            data = os.read(self.process.stdout.fileno(), 1 << 20)
        except BlockingIOError:
            return []
        return list(self.frames.feed(data)) if data else None

    def end(self):
        """Kills it, and returns how it ended and the last line of its log."""
        if self.process.poll() is None:
            self.process.kill()
        for end in (self.process.stdin, self.process.stdout):
            end.close()
        code = self.process.wait()
        with self.log:
            return code, self._last_words()

    def _last_words(self):
        self.log.seek(0, os.SEEK_END)
        self.log.seek(max(0, self.log.tell() - 4096))
        lines = self.log.read().decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else ""


class LocalPool:
    """A pool of processes on this machine.

    `job` is a pickled job. A point that takes longer than `timeout` seconds, or more than `memory` bytes of address
    space, or that ends its process, is retried once in a process with no other points; then its row describes what
    happened.
    """

    def __init__(self, job, workers=None, timeout=300.0, memory=None, logs=None, command=None):
        self.job, self.timeout, self.memory, self.logs = job, timeout, memory, logs
        self.size = workers or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else workers or os.cpu_count()
        self.command = command or [sys.executable, "-m", "slipring.scale.worker"]
        self.processes, self.started, self.idle_ends = [], 0, 0
        self.selector = selectors.DefaultSelector()

    @property
    def where(self):
        """A description of the pool."""
        return "1 process" if self.size == 1 else f"{self.size} processes"

    def _log(self):
        self.started += 1
        if self.logs is None:
            return tempfile.TemporaryFile()
        os.makedirs(self.logs, exist_ok=True)
        return open(os.path.join(self.logs, f"worker-{os.getpid()}-{self.started}.log"), "w+b")

    def _start(self):
        paths = [path for path in sys.path if path]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            # One process per core.
            "RAYON_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
        }
        setup = frame((PickledJob(self.job), self.memory))
        process = Process(self.command, environment, setup, self._log())
        self.processes.append(process)
        self.selector.register(process.process.stdout, selectors.EVENT_READ, process)
        return process

    def run(self, tasks):
        """Runs points, each `(at, payload)`, and yields `(at, text of the row)` as they complete. The processes then
        wait for further points; `close` ends them, and so does any exception."""
        tasks = iter(tasks)
        again, suspects, tried = collections.deque(), collections.deque(), set()
        mean, more = 0.0, True
        try:
            while True:
                # Send points to processes that have none, or soon will.
                wish = min(MOST, 1 + int(AHEAD / mean)) if mean else 1
                for turn in range(len(self.processes) + 1):
                    process = self.processes[turn] if turn < len(self.processes) else None
                    if process is not None and process.alone:
                        continue
                    if process is None and len(self.processes) >= self.size:
                        break
                    held = len(process.waiting) if process else 0
                    if suspects and held == 0:
                        part, alone = [suspects.popleft()], True
                    elif held * 2 > wish:
                        continue
                    else:
                        part, alone = [], False
                        while len(part) < wish + 1 - held and (again or more):
                            if again:
                                part.append(again.popleft())
                                continue
                            task = next(tasks, None)
                            more = task is not None
                            if more:
                                part.append(task)
                    if part:
                        process = process or self._start()
                        process.alone = alone
                        process.send(part)
                if not any(process.waiting for process in self.processes) and not (again or suspects or more):
                    return
                for process, came in self._listen():
                    for said in came or ():
                        if said[0] == "hello":
                            self._known(process, said[1])
                            process.since = time.monotonic()
                            continue
                        _, at, row = said
                        now = time.monotonic()
                        mean = 0.8 * mean + 0.2 * (now - process.since) if mean else now - process.since
                        process.since, process.alone = now, False
                        process.waiting.popleft()
                        yield at, row
                    if came is None:
                        culprit, rest, verdict, reason = self._ended(process)
                        again.extendleft(reversed(rest))
                        if culprit is None:
                            continue
                        if culprit[0] in tried:
                            row = {"at": culprit[0], **self._job().fault(*culprit, verdict, reason)}
                            yield culprit[0], text_of(row)
                        else:
                            tried.add(culprit[0])
                            suspects.append(culprit)
        except BaseException:
            self.close()
            raise

    def _job(self):
        import pickle

        return pickle.loads(self.job)

    def _known(self, process, version):
        from .. import __version__

        process.version = version
        if version != __version__:
            command = " ".join(self.command)
            raise PoolError(f"a worker of this machine is slipring {version}, and this is {__version__}: `{command}`")

    def _listen(self):
        """The answers of processes, and `None` for those that have ended."""
        wait = 1.0
        for process in self.processes:
            registered = selectors.EVENT_WRITE if process.out else 0
            stdin = process.process.stdin
            known = stdin in self.selector.get_map()
            if registered and not known:
                self.selector.register(stdin, registered, process)
            elif known and not registered:
                self.selector.unregister(stdin)
            if process.waiting and process.version and self.timeout:
                left = process.since + self.timeout - time.monotonic()
                if left <= 0 and not process.late:
                    process.late = True
                    process.process.kill()
                wait = max(0.0, min(wait, left))
        for key, _ in self.selector.select(wait):
            if key.data not in self.processes:
                # It has just been found to have ended.
                continue
            if key.fileobj is key.data.process.stdin:
                key.data.write()
            else:
                yield key.data, key.data.read()

    def _ended(self, process):
        """Removes a process that has ended: returns the point that ended it, those queued after it, and what
        happened."""
        for end in (process.process.stdin, process.process.stdout):
            if end in self.selector.get_map():
                self.selector.unregister(end)
        self.processes.remove(process)
        with contextlib.suppress(subprocess.TimeoutExpired):
            # Its output is closed before the process ends.
            process.process.wait(GRACE)
        code, words = process.end()
        if process.version is None:
            raise PoolError(f"a worker did not start: `{' '.join(self.command)}` ended with {code}: {words or 'without a word'}")
        if not process.waiting:
            self.idle_ends += 1
            if self.idle_ends > PATIENCE:
                raise PoolError(f"workers end while they have nothing to do, with {code}: {words or 'without a word'}")
            return None, [], None, None
        culprit, *rest = process.waiting
        return (culprit, rest, *self._fate(process, code, words))

    def _fate(self, process, code, words):
        if process.late:
            return "out of time", f"it took more than {self.timeout:g} s"
        limited = self.memory and any(word in words.lower() for word in ("memory", "cannot start a thread", "alloc"))
        if code == NO_MEMORY or "memory allocation of" in words or limited:
            return "out of memory", f"it took more than {self.memory} bytes" if self.memory else "the machine had no memory left"
        if code < 0:
            try:
                how = f"by {signal.Signals(-code).name}"
            except ValueError:
                how = f"by signal {-code}"
        else:
            how = f"with {code}"
        return "crashed", f"the process ended {how}" + (f": {words}" if words else "")

    def close(self):
        """Ends all processes."""
        for process in self.processes:
            process.end()
        self.processes.clear()
        self.selector.close()
        self.selector = selectors.DefaultSelector()


class PickledJob:
    """A job as it is sent: unpickled when it is opened, so that it imports the worker's modules."""

    def __init__(self, data):
        self.data = data

    def open(self):
        """Prepares the job."""
        import pickle

        self.job = pickle.loads(self.data)
        self.job.open()

    def do(self, at, payload):
        """The row of a point."""
        return self.job.do(at, payload)
