"""Beyond one process: many points, campaigns and large launches on local processes or on a cluster of Ray.

`docs/scale.md` says what each does, what moves between machines, and what it costs. A *pool* runs the points of a *job* somewhere and
gives their rows as they come; there are two, `local` and `raypool`. A *journal* keeps the rows, so that whatever stops a sweep leaves
a file from which the same call goes on; a *table* is a journal that has all its rows.
"""

from .campaign import Report, campaign
from .local import PoolError
from .sweep import sweep
from .table import Table
from .trials import Trial

__all__ = ["PoolError", "Report", "Table", "Trial", "campaign", "sweep"]
