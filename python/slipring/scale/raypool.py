"""A pool on a Ray cluster.

Each available processor of the cluster gets an actor, which has one worker process. If a point ends its process or
takes too long, that is handled there (`local`). So an actor is only lost with its machine, or because of it, and its
unanswered points are sent to another actor. The job, with all arrays that are the same at every point, is put into the
object store once and is transferred to each node once.
"""

import collections
import contextlib
import logging
import os
import pickle
import socket
import time

from .local import PoolError
from .worker import text_of

# Minimum seconds of work per call, and maximum number of points; queued calls per actor.
CALL, MOST, AHEAD = 0.3, 4096, 2
# Calls per second that the driver can handle without becoming the bottleneck: with many actors, calls are longer.
CALLS = 500.0
# How often a point may lose an actor on which it runs alone.
PATIENCE = 3
# Seconds between checks of the cluster's resources, and how long there may be none.
LOOK, NOTHING = 2.0, 60.0


def _host():
    """The actor class. It is sent by value; the version installed where it runs may differ, and is reported."""

    class Host:
        def __init__(self, job, options):
            self.job, self.options, self.pool = job, options, None

        def hello(self):
            import socket

            try:
                from slipring import __version__
            except ImportError as error:
                return socket.gethostname(), None, str(error)
            return socket.gethostname(), __version__, None

        def do(self, tasks):
            import time

            if self.pool is None:
                from slipring.scale.local import LocalPool

                self.pool = LocalPool(self.job, 1, **self.options)
            begun = time.monotonic()
            rows = list(self.pool.run(tasks))
            return rows, time.monotonic() - begun

    return Host


class Actor:
    """An actor and its calls, each with the points that it was sent."""

    def __init__(self, handle):
        self.handle, self.calls, self.name, self.known = handle, {}, None, False


class RayPool:
    """The actors of a cluster; otherwise like `LocalPool`. `workers` is the maximum number of actors."""

    def __init__(self, job, workers=None, timeout=300.0, memory=None, logs=None, address=None):
        # Suppress Ray's warning about GPUs.
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        try:
            import ray
        except ImportError:
            raise PoolError('`where="ray"` needs Ray: pip install "slipring[ray]"') from None
        self.ray, self.job, self.limit = ray, job, workers
        self.options = {"timeout": timeout, "memory": memory, "logs": logs}
        self.mine = not ray.is_initialized()
        if self.mine:
            # Without an address, Ray would join the cluster that was started last on this machine, even one of another
            # Python version.
            own = address is None and not os.environ.get("RAY_ADDRESS")
            given = {"address": "local"} if own else {} if address is None else {"address": address}
            quiet = {"logging_level": "ERROR", "log_to_driver": logs is not None, "configure_logging": logs is not None}
            talk = logging.getLogger("ray")
            level = talk.level
            try:
                if logs is None:
                    talk.setLevel(logging.ERROR)
                ray.init(**given, **quiet, **({"include_dashboard": False} if own else {}))
            except (ConnectionError, ValueError, RuntimeError) as error:
                raise PoolError(f"there is no cluster of Ray at {address or 'hand'}: {error}") from None
            finally:
                talk.setLevel(level)
        self.head = ray.get_runtime_context().gcs_address
        self.actors, self.refused, self.lost = [], {}, collections.Counter()

    @property
    def where(self):
        """A description of the pool."""
        return f"Ray, {len(self.actors)} workers"

    def _size(self):
        """The number of actors for which the cluster has resources."""
        actors = int(self.ray.cluster_resources().get("CPU", 0))
        return min(actors, self.limit) if self.limit else actors

    def _grow(self):
        """Starts actors on idle processors."""
        make = self.ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(self.host)
        for _ in range(self._size() - len(self.actors) - len(self.refused)):
            actor = Actor(make.remote(self.stored, self.options))
            actor.calls[actor.handle.hello.remote()] = None
            self.actors.append(actor)

    def run(self, tasks):
        """Runs points, each `(at, payload)`, and yields `(at, text of the row)` as they complete."""
        ray, tasks = self.ray, iter(tasks)
        again, mean, more = collections.deque(), 0.0, True
        self.host, self.stored = _host(), ray.put(self.job)
        looked, lively = 0.0, time.monotonic()
        while True:
            now = time.monotonic()
            if now - looked >= LOOK:
                looked = now
                self._alive()
                self._grow()
                if any(actor.known for actor in self.actors):
                    lively = now
                elif now - lively > NOTHING:
                    raise PoolError(self._nobody())
            call = max(CALL, len(self.actors) / CALLS)
            size = min(MOST, max(1, int(call / mean))) if mean else 1
            for _ in range(AHEAD):
                for actor in self.actors:
                    if actor.known and len(actor.calls) < AHEAD and (again or more):
                        part = self._part(again, tasks, size)
                        more = more and part is not None
                        if part:
                            actor.calls[actor.handle.do.remote(part)] = part
            calls = {ref: actor for actor in self.actors for ref in actor.calls}
            if not any(part for actor in self.actors for part in actor.calls.values()) and not (again or more):
                return
            if not calls:
                time.sleep(0.1)
                continue
            ray.wait(list(calls), num_returns=1, timeout=LOOK)
            # Fetch all available results: checking each separately would cost as much each time.
            ready, _ = ray.wait(list(calls), num_returns=len(calls), timeout=0)
            for ref in ready:
                if ref not in calls[ref].calls:
                    # Its actor was already lost with another call.
                    continue
                actor = calls[ref]
                try:
                    said = ray.get(ref)
                except ray.exceptions.RayTaskError as error:
                    # The actor's own pool failed.
                    raise PoolError(f"on {actor.name or 'a node'}: {error.cause}") from None
                except ray.exceptions.RayError as error:
                    for at, row in self._gone(actor, again, error):
                        yield at, row
                    looked = 0.0
                    continue
                part = actor.calls.pop(ref)
                if part is None:
                    self._known(actor, *said)
                    continue
                rows, seconds = said
                mean = 0.7 * mean + 0.3 * seconds / len(part) if mean else seconds / len(part)
                yield from rows

    def _part(self, again, tasks, size):
        """The points of the next call; a point that has lost an actor runs alone. `None` if there are no more."""
        if again:
            part = [again.popleft()]
            while again and len(part) < size and not self.lost[part[0][0]] and not self.lost[again[0][0]]:
                part.append(again.popleft())
            return part
        part = []
        for task in tasks:
            part.append(task)
            if len(part) == size:
                break
        return part or None

    def _gone(self, actor, again, error):
        """Handles a lost actor: its points are sent to others."""
        self.actors = [other for other in self.actors if other is not actor]
        calls, actor.calls = list(actor.calls.values()), {}
        for number, part in enumerate(part for part in calls if part):
            for task in reversed(part):
                # The calls after the first one had not begun.
                self.lost[task[0]] += number == 0
                if self.lost[task[0]] > PATIENCE:
                    verdict = "out of memory" if isinstance(error, self.ray.exceptions.OutOfMemoryError) else "crashed"
                    row = pickle.loads(self.job).fault(*task, verdict, f"the worker was lost at it {PATIENCE + 1} times")
                    yield task[0], text_of({"at": task[0], **row})
                else:
                    again.appendleft(task)

    def _known(self, actor, node, version, why):
        from .. import __version__

        actor.name = node
        if version == __version__:
            actor.known = True
            return
        self.actors.remove(actor)
        has = f"has slipring {version}" if version else f"has no slipring ({why})"
        self.refused[actor] = f"{node} {has}, and this is {__version__}"
        self.ray.kill(actor.handle)
        if not self.actors:
            raise PoolError(self._nobody())

    def _nobody(self):
        reasons = sorted(set(self.refused.values()))
        if reasons:
            return "no worker of the cluster can be used: " + "; ".join(reasons)
        return f"the cluster of Ray at {self.head} has had no free processor for {NOTHING:g} s"

    def _alive(self):
        """Raises if the head node of the cluster is gone: Ray itself would end this process some time later."""
        host, _, port = self.head.rpartition(":")
        for last in (False, False, True):
            try:
                socket.create_connection((host, int(port)), timeout=2).close()
                return
            except OSError:
                if last:
                    break
                time.sleep(0.5)
        raise PoolError(f"the head of the cluster of Ray at {self.head} is gone")

    def close(self):
        """Ends all actors, and Ray if it was started here."""
        for actor in self.actors:
            with contextlib.suppress(Exception):
                self.ray.kill(actor.handle)
        self.actors = []
        if self.mine:
            self.mine = False
            self.ray.shutdown()
