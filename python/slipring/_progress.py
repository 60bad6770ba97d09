"""A progress display for long runs, which is removed when the run ends."""

import sys


class Progress:
    """Shows the cycle and the number of completed blocks: by tqdm if it is installed, which supports notebooks, else on
    a terminal."""

    def __init__(self, name):
        self.name, self.bar, self.width = name, None, 0

    def __call__(self, cycle, over, blocks):
        text = f"{self.name}: cycle {cycle}, {over} of {blocks} blocks over"
        if self.bar is None:
            self.bar = self._bar(blocks)
        if self.bar:
            self.bar.n = over
            self.bar.set_description(f"{self.name}: cycle {cycle}")
        elif sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write(f"\r{text.ljust(self.width)}")
            sys.stderr.flush()
            self.width = len(text)

    def _bar(self, blocks):
        if "ipykernel" not in sys.modules and not (sys.stderr is not None and sys.stderr.isatty()):
            return False
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return False
        return tqdm(total=blocks, leave=False, unit="block")

    def close(self):
        """Removes it."""
        if self.bar:
            self.bar.close()
        if self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()
            self.width = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
