"""Distributed execution: many points, campaigns and large launches on local processes or on a Ray cluster.

`docs/scale.md` describes each function, what is transferred between machines, and what it costs. A *pool* runs the
points of a *job* and yields their rows as they complete; there are two, `local` and `raypool`. A *journal* stores the
rows, so that an interrupted sweep leaves a file from which the same call resumes; a *table* is a journal with all its
rows.
"""

from .campaign import Report, campaign
from .local import PoolError
from .sweep import sweep
from .table import Table
from .trials import Trial

__all__ = ["PoolError", "Report", "Table", "Trial", "campaign", "sweep"]
