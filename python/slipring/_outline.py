"""A program as text in which the scopes of its function are separate functions, as the public compiler's passes produce
it."""

import ast

from ._source import FunctionName, Path


def constants(function):
    """The values of numeric and string names of a function and of its parts, as text; `None` if one cannot be written
    as text."""
    _, names = function._parts()
    lines = []
    for name, value in sorted(names.flat().items()):
        if isinstance(value, Path):
            if value.partition(".")[0] == "pl" and str(value) != "pl":
                lines.append(f"{name} = {value}")
            continue
        lines.append(f"{name} = {value.__slipring_function__ if isinstance(value, FunctionName) else repr(value)}")
    return "".join(f"{line}\n" for line in lines)


def _type(function, name, arguments):
    """The annotation of a parameter as text, with its actual shape."""
    tree = next(arg for arg in _parameters(function) if arg.arg == name)
    text = ast.unparse(tree.annotation) if tree.annotation is not None else "pl.Tensor"
    array = arguments.get(name)
    if array is None or not hasattr(array, "dtype"):
        return text
    from ._arrays import element_of, extents

    words = {"f32": "FP32", "f16": "FP16", "bf16": "BF16", "ui8": "UINT8", "ui16": "UINT16", "ui32": "UINT32", "ui64": "UINT64"}
    elem = element_of(array, name)
    word = words.get(elem) or {"i8": "INT8", "i16": "INT16", "i32": "INT32", "i64": "INT64"}.get(elem)
    if word is None:
        return text
    tensor = f"pl.Tensor[{list(extents(array, name))}, pl.{word}]"
    outer = text.partition("[")[0]
    return f"{outer}[{tensor}]" if outer in ("pl.Out", "pl.InOut") else tensor


def _tree(function):
    import textwrap

    return ast.parse(textwrap.dedent("".join(function.text.lines))).body[0]


def _parameters(function):
    return _tree(function).args.args


def _is_scope(stmt):
    call = stmt.items[0].context_expr if isinstance(stmt, ast.With) and len(stmt.items) == 1 else None
    return isinstance(call, ast.Call) and ast.unparse(call.func) == "pl.at"


def _names(body, context):
    walk = (node for stmt in body for node in ast.walk(stmt))
    return {node.id for node in walk if isinstance(node, ast.Name) and isinstance(node.ctx, context)}


def outlined(function, arguments):
    """The text; `None` for a function whose scopes are not all statements of its own body that share only its
    parameters."""
    tree = _tree(function)
    scopes = [stmt for stmt in tree.body if _is_scope(stmt)]
    others = [stmt for stmt in tree.body if not _is_scope(stmt) and not isinstance(stmt, (ast.Return, ast.Expr))]
    nested = sum(isinstance(node, (ast.With, ast.For)) and _scoped(node) for node in ast.walk(tree))
    if not scopes or others or nested != len(scopes) or function.owner is not None:
        return None
    params = [arg.arg for arg in tree.args.args]
    types = {name: _type(function, name, arguments) for name in params}
    lines, calls = [], []
    for at, scope in enumerate(scopes):
        later = set().union(*(_names([stmt], ast.Load) for stmt in tree.body[tree.body.index(scope) + 1 :]), set())
        made = _names(scope.body, ast.Store) - set(params)
        if made & later:
            return None
        used = [name for name in params if name in _names(scope.body, (ast.Load, ast.Store))]
        written = [name for name in used if types[name].startswith(("pl.Out", "pl.InOut"))]
        name = f"{function.name}_incore_{at}"
        given = ", ".join(["self", *(f"{own}: {types[own]}" for own in used)])
        body = "".join(f"        {line}\n" for stmt in scope.body for line in ast.unparse(stmt).splitlines())
        back = f"        return {', '.join(written)}\n" if written else ""
        lines.append(f"    @pl.function(type=pl.FunctionType.InCore)\n    def {name}({given}):\n{body}{back}")
        result = f"{', '.join(written)} = " if written else ""
        calls.append(f"        {result}self.{name}({', '.join(used)})\n")
    ends = [f"        {ast.unparse(stmt)}\n" for stmt in tree.body if isinstance(stmt, ast.Return)]
    given = ", ".join(["self", *(f"{own}: {types[own]}" for own in params)])
    lines.append(f"    @pl.function(type=pl.FunctionType.Orchestration)\n    def {function.name}({given}):\n{''.join(calls + ends)}")
    head = f"import pypto.language as pl\n\n{constants(function)}\n\n@pl.program\nclass {function.name}_program:\n"
    return head + "\n".join(lines)


def _scoped(node):
    if isinstance(node, ast.With):
        calls = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
        return any(ast.unparse(call.func) in ("pl.at", "pl.spmd") for call in calls)
    return isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func) == "pl.spmd"
