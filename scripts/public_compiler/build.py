"""Builds the public language's own compiler from a checkout: its extension module, without its runtime.

Wants clang and lld 19, CMake, Ninja, the headers of msgpack (`libmsgpack-cxx-dev`), and a Python with torch, numpy,
pytest and nanobind 2 (3 refuses the `None` of some of its parameters). The checkout needs its submodules
`3rdparty/libbacktrace` and `runtime`.
"""

import pathlib
import re
import shutil
import subprocess
import sys

# Nearly every file includes these: precompiling them reduces the time to a fifth.
HEADERS = """
cmake_language(DEFER CALL target_precompile_headers pypto_core PRIVATE
  <algorithm> <any> <functional> <limits> <map> <memory> <optional> <set> <sstream> <string> <unordered_map> <unordered_set> <utility>
  <variant> <vector> {own})
if(WITHOUT_HEADERS)
  cmake_language(DEFER CALL set_source_files_properties ${{WITHOUT_HEADERS}} TARGET_DIRECTORY pypto_core
    PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endif()
"""
OWN = (
    "core/logging.h", "ir/op_registry.h", "ir/program.h", "ir/scalar_expr.h", "ir/transforms/base/mutator.h", "ir/kind_traits.h",
    "ir/transforms/base/visitor.h", "ir/transforms/passes.h", "ir/verifier/verifier.h", "backend/common/backend.h",
)
# Runs in place of the assembler: its input is saved first.
ASSEMBLER = """#!/bin/sh
while [ $# -gt 0 ]; do case "$1" in -o) : > "$2"; shift;; esac; shift; done
"""


def build(top, folder, python):
    """Builds it in a folder, and leaves the module where the checkout's own builds do."""
    folder.mkdir(parents=True, exist_ok=True)
    messages = top / "3rdparty/msgpack-c/include"
    if not (messages / "msgpack.hpp").exists():
        messages.mkdir(parents=True, exist_ok=True)
        for name in ("msgpack.hpp", "msgpack"):
            (messages / name).symlink_to(pathlib.Path("/usr/include") / name)
    for needed in ("3rdparty/libbacktrace/configure", "runtime/src/common"):
        if not (top / needed).exists():
            sys.exit(f"public_compiler: {top / needed} is not there: a submodule of the checkout")
    own = " ".join(f'"${{CMAKE_SOURCE_DIR}}/include/pypto/{name}"' for name in OWN if (top / "include/pypto" / name).exists())
    headers = folder / "headers.cmake"
    headers.write_text(HEADERS.format(own=own), encoding="utf-8")
    nanobind = output([python, "-m", "nanobind", "--cmake_dir"])
    # No build type: neither optimisation nor debug information.
    settings = [
        "-DCMAKE_C_COMPILER=clang-19", "-DCMAKE_CXX_COMPILER=clang++-19", "-DCMAKE_BUILD_TYPE=Plain", "-DBUILD_TESTING=OFF",
        f"-DPython_EXECUTABLE={python}", f"-Dnanobind_DIR={nanobind}", f"-DCMAKE_PROJECT_INCLUDE={headers}",
        "-DCMAKE_MODULE_LINKER_FLAGS=-fuse-ld=lld",
    ]
    cmake = ["cmake", "-S", str(top), "-B", str(folder), "-G", "Ninja", *settings]
    subprocess.run(cmake, check=True, stdout=subprocess.DEVNULL)
    # A file may define names of a header that it does not include: it is built without them.
    done = subprocess.run(["ninja", "-C", str(folder), "-k", "0"], capture_output=True, text=True)
    failed = re.findall(r"^FAILED: \S*?/__/__/(\S+)\.o", done.stdout, re.M)
    if done.returncode and failed:
        without = ";".join(str(top / name) for name in failed)
        subprocess.run([*cmake, f"-DWITHOUT_HEADERS={without}"], check=True, stdout=subprocess.DEVNULL)
        done = subprocess.run(["ninja", "-C", str(folder)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"public_compiler: the compiler could not be built:\n{done.stdout[-3000:]}")


def assembler(folder):
    """A folder with what stands where the assembler would."""
    binary = folder / "ptoas"
    folder.mkdir(parents=True, exist_ok=True)
    binary.write_text(ASSEMBLER, encoding="utf-8")
    binary.chmod(0o755)
    return folder


def output(command):
    """What a command prints."""
    if shutil.which(command[0]) is None:
        sys.exit(f"public_compiler: no {command[0]}")
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
