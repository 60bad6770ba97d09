"""Jobs that go wrong, for the tests of pools: `do` is told how by its point."""

import ctypes
import os
import pathlib
import sys
import time


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
        if word == "sleeps for ever":
            time.sleep(3600)
        if word == "eats":
            list(range(10**10))
        if word == "waits":
            time.sleep(number)
        return {"word": word, "verdict": "clean", "reason": None, "square": at * at}
