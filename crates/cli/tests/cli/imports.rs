//! Helper modules next to a file: imported by name, and relative to the file.

use super::Folder;

const HEAD: &str = "import slipring.language as pl\n";
const KERNEL: &str = "

@pl.incore
def f(x: pl.Tensor[[4, COLS], pl.FP32], y: pl.Out[pl.Tensor[[4, COLS], pl.FP32]]):
    y[:] = pl.mul(x, SCALE)
";

fn runs(test: &str, imports: &str) {
    let folder = Folder::new(test);
    folder.write("config.py", "from .sizes import COLS\n\nSCALE = 0.5 * COLS\n");
    folder.write("sizes.py", "COLS = 8\n");
    std::fs::create_dir(folder.file("package")).unwrap();
    folder.write("package/inner.py", "from .beside import COLS\nfrom ..config import SCALE\n");
    folder.write("package/beside.py", "COLS = 8\n");
    folder.write("kernel.py", format!("{HEAD}{imports}{KERNEL}"));
    let words =
        ["run", "kernel.py", "--arg", "full:f32[4x8]=1.5", "--arg", "zeros:f32[4x8]", "--expect", "y=full:f32[4x8]=6"];
    folder.call(&words).exits(0).says("y: all 32 elements");
}

#[test]
fn by_name() {
    runs("by-name", "from config import COLS, SCALE\n");
}

#[test]
fn relative_to_the_file() {
    runs("relative", "from .config import SCALE\nfrom .sizes import *\n");
}

#[test]
fn a_relative_module() {
    runs("module", "from . import config, sizes\n\nCOLS, SCALE = sizes.COLS, config.SCALE\n");
}

#[test]
fn in_a_package() {
    runs("package", "from .package.inner import COLS, SCALE\n");
}

#[test]
fn above_the_file_nothing_is_looked_for() {
    let folder = Folder::new("above");
    folder.write("config.py", "COLS, SCALE = 8, 4.0\n");
    folder.write("kernel.py", format!("{HEAD}from ..config import COLS, SCALE\n{KERNEL}"));
    folder.call(&["check", "kernel.py"]).exits(2).says("parameter");
}

/// The devices that hold parts of a buffer are determined before compilation, wherever the buffer is created.
#[test]
fn windows_and_devices_of_a_helper_module() {
    let folder = Folder::new("windows");
    let text = include_str!("../../../../tests/files/programs/device_groups.py");
    let text = text
        .replace("pld.alloc_window_buffer(", "windows.of(")
        .replace("import pypto.language as pl\n", "import windows\nimport pypto.language as pl\n");
    folder.write("kernel.py", text);
    let helper =
        "import pypto.language.distributed as pld\n\n\ndef of(size):\n    return pld.alloc_window_buffer(size)\n";
    folder.write("windows.py", helper);
    let words = [
        "run",
        "kernel.py",
        "--func",
        "swapped",
        "--devices",
        "4",
        "--arg",
        "zeros:f32[4x1x64]",
        "--arg",
        "zeros:f32[4x1x64]",
    ];
    folder.call(&words).exits(0).says("4 tasks with 0 edges");
}
