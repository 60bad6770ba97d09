"""Binds the arguments of a call to the parameters that the catalogue lists for the op."""

import functools

from .._slipring import catalogue


@functools.cache
def entries():
    """The catalogue entry of each op, by each of its names."""
    return {name: entry for entry in catalogue() for name in entry["names"]}


@functools.cache
def ways(params):
    """The signatures of an op: for each its parameters, `(names, optional, keyword-only)`."""
    found = []
    for way in params.split("|"):
        own, named = [], False
        for part in (part.strip() for part in way.split(",")):
            if part == "*":
                named = True
            elif part:
                name, equals, _ = part.partition("=")
                own.append((name.strip().split("/"), bool(equals), named))
        found.append(own)
    return found


def _bound(way, args, kwargs):
    """The arguments by name, or why they do not fit this signature."""
    open_ = [names[0] for names, _, named in way if not named]
    if len(args) > len(open_):
        return f"takes {len(open_)} arguments, and {len(args)} are given"
    given = dict(zip(open_, args))
    names = {name: own[0] for own, _, _ in way for name in own}
    for name, value in kwargs.items():
        if name not in names:
            return f"has no argument `{name}`"
        if names[name] in given:
            return f"has two values for `{name}`"
        given[names[name]] = value
    missing = [own[0] for own, optional, _ in way if not optional and own[0] not in given]
    return f"needs `{missing[0]}`" if missing else given


def bound(name, args, kwargs):
    """The arguments of a call by parameter name; `None` for an op that accepts anything."""
    entry = entries().get(name)
    if entry is None or "…" in entry["params"]:
        return None
    tried = [_bound(way, args, kwargs) for way in ways(entry["params"])]
    fits = [way for way in tried if isinstance(way, dict)]
    if not fits:
        raise TypeError(f"`pl.{name}` {tried[0]}")
    return {name: value for name, value in fits[0].items() if value is not None}
