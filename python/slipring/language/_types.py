"""Names that occur in types of public scripts, where Python evaluates them; the compiler rejects by name those that it does not
know."""

from .._words import Generic, Word

TYPES = """
Array AsyncEvent AsyncSession CompactMode DN FP4 ForKind HF4 INT4 IntLike MemRefType ND NZ PipeType Ptr PtrType RUNTIME ScopeMode
TASK_ID TaskId Tuple UINT4 manual_scope prefetch scope
""".split()
DESCRIBED = ("MemRef", "TensorView", "TileView")


class Described(Word):
    """A name that is called in a type: `pl.MemRef(…)`, `pl.TensorView(…)`."""

    def __call__(self, *args, **kwargs):
        return Generic(self.__slipring_path__, (*args, *kwargs.items()))


def words():
    """The names, each with its word."""
    return {name: Word(f"pl.{name}") for name in TYPES} | {name: Described(f"pl.{name}") for name in DESCRIBED}
