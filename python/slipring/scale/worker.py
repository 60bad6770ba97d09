"""A worker process: `python -m slipring.scale.worker`. It receives a job and its points, and sends back a row for each.

It ends with its driver, even in the middle of a point: a separate thread detects the end of its input.
"""

import json
import os
import queue
import sys
import threading

# The exit code of a worker that is out of memory.
NO_MEMORY = 77


def text_of(row):
    """A row as it is stored in files."""
    return json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode()


def _listen(file, waiting):
    from .wire import read

    try:
        while True:
            waiting.put(read(file))
    except EOFError:
        os._exit(0)


def _bound(memory):
    """Limits the address space to this size."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def main():
    # Output of kernels or libraries must not be mixed with answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # In the order of printing, together with the error output.
    sys.stdout.reconfigure(line_buffering=True)
    questions = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    import slipring

    from .wire import frame

    def answer(*what):
        answers.write(frame(what))
        answers.flush()

    answer("hello", slipring.__version__)
    waiting = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(questions, waiting), daemon=True).start()
    job, memory = waiting.get()
    if memory:
        _bound(memory)
    try:
        job.open()
        while True:
            for at, payload in waiting.get():
                row = job.do(at, payload)
                answer("row", at, row if isinstance(row, bytes) else text_of({"at": at, **row}))
    except MemoryError:
        os._exit(NO_MEMORY)
    except KeyboardInterrupt:
        os._exit(0)


if __name__ == "__main__":
    main()
