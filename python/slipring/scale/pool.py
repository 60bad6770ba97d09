"""Selects a pool, and collects its rows in the journal."""

import sys

from .local import LocalPool, PoolError
from .progress import Line

__all__ = ["PoolError", "drive", "known", "pool_of"]


def pool_of(where, job, workers=None, timeout=300.0, memory=None, logs=None):
    """The pool that `where` names: `local`, `ray` (the cluster of this process or of `RAY_ADDRESS`, else a new local
    one), or the address of a cluster."""
    known(where)
    if where == "local":
        return LocalPool(job, workers, timeout, memory, logs)
    from .raypool import RayPool

    return RayPool(job, workers, timeout, memory, logs, address=None if where == "ray" else where)


def known(where):
    """Raises `ValueError` for an unknown pool."""
    if not isinstance(where, str) or not (where in ("local", "ray", "auto") or ":" in where):
        raise ValueError(f"`where` is `local`, `ray` or the address of a cluster, and not {where!r}")


def drive(pool, journal, payload, title, progress=None, found=None):
    """Runs all points without a row. `payload` returns what is sent for a point, and `found` whether a row's text has a
    finding. If interrupted, the rows so far are kept, and a line reports where."""
    try:
        if journal.done < len(journal.at):
            line = Line(title, len(journal.at), journal.done, progress)
            try:
                for number, text in pool.run((number, payload(number)) for number in journal.missing()):
                    journal.add(number, text)
                    line.step(found(text) if found else 0)
            finally:
                line.close()
        journal.finish()
    except BaseException:
        words = journal.leave()
        if words and sys.stderr is not None:
            sys.stderr.write(f"{title}: {words}\n")
        journal.close()
        raise
    finally:
        pool.close()
