"""Runs the kernels of `examples/lang` and compares their results with numpy.

    python3 scripts/kernels [--only '5_*'] [--platforms a5,a2a3] [--seeds 0,1]

Each kernel runs on each platform with `slipring run --verify`, on inputs that numpy made, and must end without a finding; what it
writes must agree with the formula in `formulas.py`, which numpy computes in float64, within the tolerance stated there. Needs
Python 3.11 and numpy. Ends with 0 if everything agreed, with 1 if something did not, with 2 if nothing could be run.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path

import numpy as np

from formulas import KERNELS, Kernel, Param, bf16

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "lang"


def main() -> int:
    options = read_options()
    files = {path.stem: path for path in sorted(EXAMPLES.glob("*.py")) if fnmatch(path.stem, options.only)}
    if not files:
        return fail("no kernel has such a name")
    if not options.slipring.is_file():
        return fail(f"{options.slipring} is not there: build it with `cargo build --release`, or say `--slipring PATH`")
    platforms, seeds = options.platforms.split(","), [int(seed) for seed in options.seeds.split(",")]
    agreed = True
    print(f"{'kernel':32} {'platform':8} {'seed':>4} {'cycles':>8}  largest difference / largest magnitude")
    for name, path in files.items():
        for platform in platforms:
            for seed in seeds:
                problem, line = run(options.slipring, path, platform, seed)
                print(f"{name:32} {platform:8} {seed:>4} {line}")
                if problem:
                    agreed = False
                    print("    " + problem.replace("\n", "\n    "))
    return 0 if agreed else 1


def run(slipring: Path, path: Path, platform: str, seed: int) -> tuple[str, str]:
    """Runs a kernel; what is wrong, and the rest of its line."""
    kernel = KERNELS.get(path.stem)
    if kernel is None:
        return "there is no formula for it", ""
    random = np.random.default_rng(seed)
    before = {name: array(param, random) for name, param in kernel.params.items()}
    with tempfile.TemporaryDirectory(prefix="kernels-") as folder:
        args = []
        for name, param in kernel.params.items():
            file = write(Path(folder), name, param, before[name])
            args += ["--arg", f"@{file}" + (":out" if param.out else "")]
        line = [slipring, "run", path, "--arch", platform, "--verify", "--json", *args]
        done = subprocess.run(line, capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            return f"`slipring run` ended with {done.returncode}\n{done.stderr.strip()}", ""
        after = {name: read(Path(folder), name, param) for name, param in kernel.params.items() if param.out}
    inputs = {name: wide(before[name]) for name, param in kernel.params.items() if param.read}
    return compare(kernel, kernel.formula(**inputs), after, cycles(done.stdout))


def compare(kernel: Kernel, expected: dict, found: dict, count: int) -> tuple[str, str]:
    ratios = {name: float(np.abs(found[name] - x).max() / np.abs(x).max()) for name, x in expected.items()}
    line = f"{count:>8}  " + ", ".join(f"{name} {ratio:.1e}" for name, ratio in ratios.items())
    far = [name for name, ratio in ratios.items() if not ratio <= kernel.tolerance]
    return ", ".join(f"`{name}` differs by more than {kernel.tolerance:.0e}" for name in far), line


def cycles(text: str) -> int:
    return json.loads(text)["cycles"]


def wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64) if x.dtype.kind == "f" else x


def array(param: Param, random: np.random.Generator) -> np.ndarray:
    """Normally distributed numbers that the element type holds; zeros for what is only written."""
    if not param.read:
        return np.zeros(param.shape, np.float32)
    if param.elem == "i32":
        return random.integers(param.limit, size=param.shape, dtype=np.int32)
    x = random.standard_normal(param.shape).astype(np.float32)
    match param.elem:
        case "f16":
            return x.astype(np.float16)
        case "bf16":
            return bf16(x).astype(np.float32)
    return x


def write(folder: Path, name: str, param: Param, x: np.ndarray) -> Path:
    """numpy has no bf16: such arrays are passed as bytes, all others as `.npy`."""
    if param.elem == "bf16":
        file = folder / f"{name}.bin"
        file.write_bytes((x.view(np.uint32) >> 16).astype(np.uint16).tobytes())
    else:
        file = folder / f"{name}.npy"
        np.save(file, x)
    return file


def read(folder: Path, name: str, param: Param) -> np.ndarray:
    assert param.elem != "bf16", "no example writes bf16"
    return np.load(folder / f"{name}.npy").astype(np.float64)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="kernels", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="*", help="kernels whose name fits, such as `5_*`")
    parser.add_argument("--platforms", default="a5,a2a3", help="names with commas (default: a5,a2a3)")
    parser.add_argument("--seeds", default="0", help="seeds of the inputs, with commas (default: 0)")
    parser.add_argument("--slipring", type=Path, default=ROOT / "target" / "release" / "slipring")
    return parser.parse_args()


def fail(message: str) -> int:
    print(f"kernels: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
