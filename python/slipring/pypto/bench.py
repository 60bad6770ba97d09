"""The results of `benchmark` for public scripts."""

import dataclasses
import statistics


def _of(name, field, meaning):
    """A property: a statistic of a list of samples."""

    def figure(self):
        return meaning(getattr(self, field))

    figure.__name__ = name
    return property(figure)


def _spread(samples):
    return statistics.stdev(samples) if len(samples) > 1 else 0.0


FIGURES = {"median": statistics.median, "min": min, "max": max, "mean": statistics.fmean, "stdev": _spread}


@dataclasses.dataclass
class BenchmarkStats:
    """Launches of a compiled program. `device_wall_us` are microseconds of the simulated device, the same in every
    round; `host_wall_us` are those of the host's clock. `device_us_median`, `host_wall_us_min` and so on are statistics
    of them."""

    rounds: int
    warmup: int
    device_wall_us: list
    host_wall_us: list

    @property
    def samples(self):
        """The device time in microseconds, one per round."""
        return self.device_wall_us

    @property
    def all_zero_device(self):
        """Whether there are rounds and the device time is zero in all of them."""
        return bool(self.device_wall_us) and not any(self.device_wall_us)

    def per_round(self, metric="device"):
        """The microseconds of each round, of the `device` or the `host`; there are no other metrics."""
        known = {"device": self.device_wall_us, "host": self.host_wall_us}
        if metric not in known:
            raise ValueError(f"per_round takes \"device\" or \"host\", not {metric!r}: slipring measures nothing else")
        return list(known[metric])

    def __str__(self):
        device, host = self.device_us_median, self.host_wall_us_median
        return f"{self.rounds} rounds, median: device {device:.2f} us, host {host:.0f} us"


for _name, _meaning in FIGURES.items():
    setattr(BenchmarkStats, f"device_us_{_name}", _of(f"device_us_{_name}", "device_wall_us", _meaning))
    setattr(BenchmarkStats, f"device_wall_us_{_name}", _of(f"device_wall_us_{_name}", "device_wall_us", _meaning))
    setattr(BenchmarkStats, f"host_wall_us_{_name}", _of(f"host_wall_us_{_name}", "host_wall_us", _meaning))


__all__ = ["BenchmarkStats"]
