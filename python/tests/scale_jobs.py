"""Jobs that go wrong, for the tests of pools: `do` is told how by its point."""

import ctypes
import os
import pathlib
import sys
import time

from slipring.scale import Trial


class Job:
    """Each point is a word and a number. What is done is noted in a folder: a file for each time."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def open(self):
        print("a library that prints")

    def fault(self, at, payload, verdict, reason):
        return {"word": payload[0], "verdict": verdict, "reason": reason}

    def done(self):
        """The points that were begun, as often as they were."""
        return sorted(int(path.name.split("-")[0]) for path in self.folder.glob("*-*"))

    def do(self, at, payload):
        word, number = payload
        (self.folder / f"{at}-{os.getpid()}-{time.monotonic_ns()}").touch()
        if word == "dies":
            sys.stderr.write("a last word\n")
            sys.stderr.flush()
            os._exit(3)
        if word == "segfault":
            ctypes.string_at(0)
        if word == "raises":
            raise ZeroDivisionError("no number")
        if word == "dies once" and self.done().count(at) == 1:
            os.kill(os.getpid(), 9)
        if word == "sleeps forever":
            time.sleep(3600)
        if word == "eats":
            list(range(10**10))
        if word == "waits":
            time.sleep(number)
        return {"word": word, "verdict": "clean", "reason": None, "square": at * at}


class Odd(Trial):
    """A trial that does not like odd seeds, and ends its process at 6."""

    def ready(self, name, text, platform):
        return len(text)

    def do(self, ready, name, text, platform, seed):
        if seed == 6:
            sys.stderr.write(f"thread panicked at place.rs:12: seed {seed}\n")
            sys.stderr.flush()
            os.abort()
        if seed % 2:
            return "finding", "odd", f"{seed} is odd", f"odd {seed % 4}"
        return "agrees", "even", None, None
