# A manual scope inside a manual scope, and a scope that is placed by hand inside one.
#
# test: check %s
# exit: 2
import slipring.language as pl

X = pl.Tensor[[16, 16], pl.FP32]


@pl.jit
def manual(x: X, y: pl.Out[X]):
    with pl.manual_scope():
        # error: scope a manual scope inside a manual scope
        with pl.manual_scope():
            with pl.at(level=pl.Level.CORE_GROUP):
                y[:] = pl.add(x, 1.0)
    return y


@pl.jit(auto_scope=False)
def placed(x: X, y: pl.Out[X]):
    with pl.scope(mode=pl.ScopeMode.MANUAL):
        if True:
            # error: scope an auto scope inside a manual scope
            with pl.scope():
                with pl.at(level=pl.Level.CORE_GROUP):
                    y[:] = pl.add(x, 1.0)
    return y


@pl.jit
def after_another(x: X, y: pl.Out[X]):
    with pl.manual_scope():
        with pl.at(level=pl.Level.CORE_GROUP):
            y[:] = pl.add(x, 1.0)
    with pl.manual_scope():
        pass
    return y
