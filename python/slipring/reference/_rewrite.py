"""Rewrites what Python itself executes differently from the language: `with pl.spmd(n)` repeats its body, and `a if
mask else b` selects by element.

A function that contains one of them is recompiled from its text, with its own line numbers; all others run unchanged.
"""

import ast
import functools
import textwrap
import types

from ._pipes import bare
from ._tiles import Mask


def _calls(node, name):
    """Whether this is a call of a builtin of the language."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name


class Rewrite(ast.NodeTransformer):
    def __init__(self):
        self.changed = False

    def visit_With(self, node):
        self.generic_visit(node)
        called = node.items[0].context_expr
        if len(node.items) != 1 or not _calls(called, "spmd"):
            return node
        self.changed = True
        target = ast.Name("__block", ast.Store())
        return ast.copy_location(ast.For(target, called, node.body, [], None), node)

    def visit_Expr(self, node):
        """`pl.cond(…)` ends the loop of `pl.while_` if it does not hold."""
        self.generic_visit(node)
        if not _calls(node.value, "cond"):
            return node
        self.changed = True
        return ast.copy_location(ast.If(ast.UnaryOp(ast.Not(), node.value), [ast.Break()], []), node)

    def visit_Assign(self, node):
        """`(x,) = pl.yield_(…)`: one value, unpacked."""
        self.generic_visit(node)
        target = node.targets[0]
        if _calls(node.value, "yield_") and isinstance(target, ast.Tuple) and len(target.elts) == 1:
            self.changed = True
            node.value = ast.copy_location(ast.Tuple([node.value], ast.Load()), node.value)
        return node

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        self.changed = True
        return ast.copy_location(ast.Call(ast.Name("__not", ast.Load()), [node.operand], []), node)

    def visit_IfExp(self, node):
        self.generic_visit(node)
        self.changed = True
        sides = [ast.Lambda(ast.arguments([], [], None, [], [], None, []), side) for side in (node.body, node.orelse)]
        return ast.copy_location(ast.Call(ast.Name("__choose", ast.Load()), [node.test, *sides], []), node)

    def visit_Compare(self, node):
        self.generic_visit(node)
        if len(node.ops) == 1 or not all(isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for op in node.ops):
            return node
        self.changed = True
        sides = [node.left, *node.comparators]
        each = [ast.Compare(a, [op], [b]) for a, op, b in zip(sides, node.ops, sides[1:])]
        return ast.copy_location(ast.Call(ast.Name("__all", ast.Load()), each, []), node)


def choose(test, yes, no):
    if not isinstance(test, Mask):
        return yes() if test else no()
    from ._ops import OPS

    return OPS["sel"](test, yes(), no())


def opposite(test):
    return ~test if isinstance(test, Mask) else not test


def every(*tests):
    if not any(isinstance(test, Mask) for test in tests):
        return all(tests)
    return functools.reduce(lambda a, b: a & b, tests)


def for_reference(function):
    """The Python function of a kernel, rewritten where the language differs from Python."""
    own = function.function
    lines = function.text.lines
    tree = ast.parse(textwrap.dedent("".join(lines)))
    ast.increment_lineno(tree, function.text.first - 1)
    definition = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    rewrite = Rewrite()
    definition.body = [rewrite.visit(line) for line in definition.body]
    words = bare(own)
    if not rewrite.changed and not words:
        return own
    definition.decorator_list, definition.returns = [], None
    for argument in [*definition.args.args, *definition.args.kwonlyargs]:
        argument.annotation = None
    # Names of enclosing scopes become parameters of a wrapper function, so that the code can access them.
    free = list(own.__code__.co_freevars)
    around = ast.FunctionDef(
        "around", ast.arguments([], [ast.arg(name) for name in free], None, [], [], None, []), [definition], [], None
    )
    if hasattr(around, "type_params"):
        around.type_params = []
    module = ast.fix_missing_locations(ast.Module([around], []))
    outer = next(code for code in compile(module, own.__code__.co_filename, "exec").co_consts if isinstance(code, types.CodeType))
    code = next(code for code in outer.co_consts if isinstance(code, types.CodeType) and code.co_name == own.__name__)
    names = {**own.__globals__, **words, "__choose": choose, "__all": every, "__not": opposite}
    cells = dict(zip(own.__code__.co_freevars, own.__closure__ or ()))
    made = types.FunctionType(code, names, own.__name__, own.__defaults__, tuple(cells[name] for name in code.co_freevars))
    made.__kwdefaults__ = own.__kwdefaults__
    return made
