"""Makes the assembler from its sources.

Debian packages: llvm-19-dev libmlir-19-dev mlir-19-tools clang-19 lld-19 cmake ninja-build g++ zlib1g-dev libzstd-dev libxml2-dev
libedit-dev libcurl4-openssl-dev.
"""

import subprocess
from pathlib import Path

LLVM = Path("/usr/lib/llvm-19/lib/cmake")
# Options for both builds: LLVM 19, clang 19 and its linker, without optimisation.
SETTINGS = [
    f"-DLLVM_DIR={LLVM / 'llvm'}", f"-DMLIR_DIR={LLVM / 'mlir'}", "-DLLVM_USE_LINKER=lld-19",
    "-DCMAKE_C_COMPILER=clang-19", "-DCMAKE_CXX_COMPILER=clang++-19", "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld-19",
    "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG -w",
]


def build_assembler(checkout: Path, folder: Path) -> Path:
    """Configures and builds the assembler; where the binary is."""
    build(checkout, folder, "ptoas", "-DPTO_ENABLE_PYTHON_BINDING=OFF", "-DBUILD_TESTING=OFF")
    return folder / "tools" / "ptoas" / "ptoas"


def build_verifier(checkout: Path, folder: Path) -> Path:
    """Builds what parses and verifies the dialect of a checkout; where the binary is."""
    build(Path(__file__).parent / "verifier", folder, "verifier", f"-DCHECKOUT={checkout.resolve()}")
    return folder / "verifier"


def build(source: Path, folder: Path, target: str, *more: str) -> None:
    subprocess.run(["cmake", "-G", "Ninja", "-S", str(source), "-B", str(folder), *SETTINGS, *more], check=True)
    subprocess.run(["ninja", "-C", str(folder), "-j2", target], check=True)
