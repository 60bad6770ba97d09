# Words that stand where they may not, or lack what they are written with.
#
# test: check %s
# exit: 2
import slipring.language as pl


# Types of parameters.


@pl.function
# error: parameter the type of `x` has neither a shape nor an element type
def no_shape(x: pl.Tensor, y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    y[:] = x + 1.0


@pl.function
# error: parameter the type of `y` has neither a shape nor an element type
def no_shape_of_an_output(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor]):
    y[:] = x + 1.0


N = 8


@pl.incore
# error: parameter the type of `x` reads `N`, and a parameter that follows has that name
def hidden(x: pl.Tensor[[2, N], pl.FP32], N: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    y[:] = x + 1.0


# Places of tiles.


@pl.incore
def two_counts(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    a: pl.Tile[[2, 8], pl.FP32, pl.MemRef("place"), pl.Mem.Vec] = pl.load(x, [0, 0], [2, 8])
    # error: type-argument `place` has 2 slots here and 1 elsewhere
    b: pl.Tile[[2, 8], pl.FP32, pl.MemRef("place", slots=2)[1], pl.Mem.Vec] = pl.load(x, [0, 0], [2, 8])
    y[:] = a + b


# What a function says of itself.


@pl.incore
def said_late(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    """Its documentation may stand before it."""
    one = x + 1.0
    # error: function-attr `pl.func_attr` must come before every other statement of its function
    pl.func_attr({"slot_num": 2})
    y[:] = one


@pl.incore
def said_in_a_block(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        # error: function-attr `pl.func_attr` is nested in a block of its function
        pl.func_attr({"slot_num": 2})
        y[:] = x + 1.0


@pl.function(type=pl.FunctionType.AIV)
def tagged(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    # error: scope `pl.dump_tag` names a tensor for the tasks that are started after it: a kernel starts none
    pl.dump_tag(x)
    y[:] = x + 1.0


# Scopes and tasks.


@pl.jit
def placed(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    # error: scope a scope that the compiler places: `pl.scope()` in a function without `auto_scope=False`
    with pl.scope():
        y[:] = x + 1.0


@pl.jit
def placed_by_word(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    # error: scope a scope that the compiler places: `pl.scope()` in a function without `auto_scope=False`
    with pl.scope(mode=pl.ScopeMode.AUTO):
        y[:] = x + 1.0


@pl.jit(auto_scope=False)
def placed_itself(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    with pl.scope():
        y[:] = x + 1.0


@pl.jit
def placed_itself_by_attribute(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    pl.func_attr({"auto_scope": False})
    with pl.scope():
        y[:] = x + 1.0


@pl.jit
def placed_by_attribute(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    pl.func_attr({"auto_scope": True})
    # error: scope a scope that the compiler places: `pl.scope()` in a function without `auto_scope=False`
    with pl.scope():
        y[:] = x + 1.0


@pl.jit
def named(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    # error: scope `pl.cluster` is not a task: it has no id
    with pl.cluster() as task:
        y[:] = x + 1.0


@pl.jit
def waits(x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    # error: scope `deps=` on blocks that are not a named task
    for i in pl.spmd(2, deps=[]):
        y[i * 2 : i * 2 + 2, :] = x[i * 2 : i * 2 + 2, :] + 1.0


@pl.jit
def waits_in_a_scope(x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    # error: scope `deps=` on blocks that are not a named task
    with pl.spmd(2, deps=[]):
        i = pl.tile.get_block_idx()
        y[i * 2 : i * 2 + 2, :] = x[i * 2 : i * 2 + 2, :] + 1.0


@pl.jit
def all_the_same(x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    # error: scope all blocks do the same: nothing in them asks for the number of the block
    with pl.spmd(2):
        y[:] = x + 1.0


@pl.jit
def in_a_cluster(x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    with pl.cluster():
        # error: scope `allow_early_resolve` on blocks inside a cluster, which is one task
        for i in pl.spmd(2, allow_early_resolve=True):
            y[i * 2 : i * 2 + 2, :] = x[i * 2 : i * 2 + 2, :] + 1.0


@pl.jit
def named_in_a_cluster(x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    with pl.cluster():
        # error: scope blocks of a cluster are not a task of their own: they have no id
        with pl.spmd(2) as task:
            i = pl.tile.get_block_idx()
            y[i * 2 : i * 2 + 2, :] = x[i * 2 : i * 2 + 2, :] + 1.0


@pl.function
def not_a_list(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    read = [x]
    # error: no-dep `no_dep_args` is a list that is written out
    with pl.at(level=pl.Level.CORE_GROUP, no_dep_args=read):
        y[:] = x + 1.0
