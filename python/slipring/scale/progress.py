"""A progress line."""

import sys
import time


def span(seconds):
    """A duration in readable form."""
    seconds = int(seconds + 0.5)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60:02} min"


class Line:
    """The number of completed points, their rate, the findings so far, and the remaining time; on a terminal, or on
    request."""

    REFRESH = 0.2

    def __init__(self, title, points, done, shown=None):
        self.title, self.points, self.first, self.done = title, points, done, done
        self.found = 0
        self.terminal = sys.stderr is not None and sys.stderr.isatty()
        self.shown = self.terminal if shown is None else shown
        self.begun = self.last = time.monotonic()
        self.width = 0

    def step(self, found):
        """Counts a completed point, and whether it had a finding."""
        self.done += 1
        self.found += found
        now = time.monotonic()
        if self.shown and now - self.last >= (self.REFRESH if self.terminal else 5.0):
            self.last = now
            self._write(self.text(now - self.begun))

    def text(self, seconds):
        """The line after this many seconds."""
        rate = (self.done - self.first) / seconds if seconds > 0 else 0
        parts = [f"{self.title}: {self.done} of {self.points}", f"{rate:.3g}/s"]
        if self.found:
            parts.append(f"{self.found} finding{'s' * (self.found > 1)}")
        if rate > 0:
            parts.append(f"{span((self.points - self.done) / rate)} left")
        return ", ".join(parts)

    def _write(self, text):
        if self.terminal:
            sys.stderr.write("\r" + text.ljust(self.width))
            self.width = len(text)
        else:
            sys.stderr.write(text + "\n")
        sys.stderr.flush()

    def close(self):
        """Removes the line from a terminal."""
        if self.shown and self.terminal and self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()
