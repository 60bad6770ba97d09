"""The points of a sweep: every combination of some values, or a list."""

import math


class Grid:
    """Every combination of the values of some parameters; the last parameter varies fastest. Only the values are
    stored."""

    def __init__(self, axes):
        self.axes = {str(name): list(values) for name, values in axes.items()}
        for name, values in self.axes.items():
            if not values:
                raise ValueError(f"`{name}` has no value to try")
        self.names = list(self.axes)

    def __len__(self):
        return math.prod(len(values) for values in self.axes.values())

    def __getitem__(self, at):
        if not 0 <= at < len(self):
            raise IndexError(at)
        point = {}
        for name in reversed(self.names):
            at, which = divmod(at, len(self.axes[name]))
            point[name] = self.axes[name][which]
        return {name: point[name] for name in self.names}


class Listed:
    """Points listed individually: dictionaries with the same keys."""

    def __init__(self, points):
        self.points = [dict(point) for point in points]
        self.names = list(self.points[0]) if self.points else []
        for at, point in enumerate(self.points):
            if set(point) != set(self.names):
                raise ValueError(f"point {at} has {', '.join(point)}, and the first has {', '.join(self.names)}")

    def __len__(self):
        return len(self.points)

    def __getitem__(self, at):
        return {name: self.points[at][name] for name in self.names}


def points_of(given):
    """The points for an argument: a dictionary of values to combine, or a list of dictionaries."""
    points = Grid(given) if hasattr(given, "items") else Listed(given)
    if not len(points):
        raise ValueError("a sweep has at least one point")
    return points


def shown(value):
    """A value of a parameter as shown in a table."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (tuple, list)):
        return [shown(item) for item in value]
    path = getattr(value, "__slipring_path__", None)
    if path is None and getattr(value, "shape", None) == () and hasattr(value, "item"):
        return value.item()
    return str(value if path is None else path)
