//! Checks of arguments against parameters.

use super::{Folder, bytes_of, npy};

/// A kernel of the language, whose parameters have shapes, and one with a memref.
const KERNELS: &str = "\
import slipring.language as pl

@pl.incore
def double(x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    t = pl.load(x, [0, 0], [4, 8])
    pl.store(pl.add(t, t), [0, 0], y)
";

const MEMREF: &str = "\
func.func @look(%m: memref<4x8xf32>) {
  return
}
";

fn header(elem: &str, shape: &str) -> String {
    format!("{{'descr': '{elem}', 'fortran_order': False, 'shape': ({shape}), }}")
}

#[test]
fn a_file_has_the_shape_and_the_type_of_its_parameter() {
    let folder = Folder::new("shapes");
    let data = bytes_of(&[1.0; 32]);
    folder.write("right.npy", npy(&header("<f4", "4, 8"), &data));
    folder.write("turned.npy", npy(&header("<f4", "8, 4"), &data));
    folder.write("flat.npy", npy(&header("<f4", "32,"), &data));
    folder.write("ints.npy", npy(&header("<i4", "4, 8"), &data));
    folder.write("wide.npy", npy(&header("<f4", "4, 9"), &bytes_of(&[1.0; 36])));
    folder.write("named.bin", npy(&header("<f4", "8, 4"), &data));
    folder.write("many.npz", b"PK\x03\x04");
    folder.write("right.bin", &data);
    folder.write("short.bin", bytes_of(&[1.0; 31]));
    folder.write("long.bin", bytes_of(&[1.0; 33]));
    folder.write("look.pto", MEMREF);
    folder.write("double.py", KERNELS);
    let refused = [
        ("turned.npy", "the file holds f32[8x4], where f32[4x8] is expected"),
        ("flat.npy", "the file holds f32[32], where f32[4x8] is expected"),
        ("ints.npy", "the file holds i32[4x8], where f32[4x8] is expected"),
        ("wide.npy", "the file holds f32[4x9], where f32[4x8] is expected"),
        ("named.bin", "the file holds f32[8x4], where f32[4x8] is expected"),
        ("many.npz", "an `.npz` holds several arrays"),
        ("short.bin", "124 bytes, where 128 are expected, f32[4x8]"),
        ("long.bin", "132 bytes, where 128 are expected, f32[4x8]"),
    ];
    for (program, more) in [("look.pto", &[][..]), ("double.py", &["--arg", "zeros:f32[4x8]"])] {
        for (file, says) in refused {
            let arg = format!("@{file}");
            let words = [&["run", program, "--arg", &arg], more].concat();
            folder.call(&words).exits(2).says(says);
        }
        for file in ["@right.npy", "@right.bin"] {
            folder.call(&[&["run", program, "--arg", file], more].concat()).exits(0);
        }
    }
    // A pointer has an element type but no shape: it accepts any shape.
    for (file, exit) in [("turned.npy", 0), ("flat.npy", 0), ("ints.npy", 2), ("short.bin", 0)] {
        folder.write("p.pto", "func.func @p(%p: !pto.ptr<f32>) {\n  return\n}\n");
        folder.call(&["run", "p.pto", "--arg", &format!("@{file}")]).exits(exit);
    }
}

#[test]
fn an_expectation_names_a_buffer_and_fits_it() {
    let folder = Folder::new("expected");
    folder.write("double.py", KERNELS);
    folder.write("golden.npy", npy(&header("<f4", "4, 8"), &bytes_of(&[2.0; 32])));
    let call = |expect: &str| {
        folder.call(&["run", "double.py", "--arg", "full:f32[4x8]=1", "--arg", "zeros:f32[4x8]", "--expect", expect])
    };
    call("y=@golden.npy").exits(0).says("y: all 32 elements as in golden.npy");
    call("x=@golden.npy,rtol=0.25").exits(1).says("32 of 32 elements of `x` differ from golden.npy (rtol 0.25)");
    for (expect, says) in [
        ("z=@golden.npy", "there is no such buffer; the buffers are `x`, `y`"),
        ("y=zeros:f32[4x7]", "has 28 elements, the buffer 32"),
        ("golden.npy", "say which buffer should hold what"),
        ("y=@golden.npy,rtol=-1", "`-1` is not a tolerance"),
        ("y=@golden.npy,rtol=1,rtol=2", "a tolerance is given twice"),
        ("y=@none.npy", "none.npy"),
        ("y=3:i32", "a buffer is expected, not a scalar"),
    ] {
        call(expect).exits(2).says(says);
    }
}

#[test]
fn memory_that_the_host_does_not_have_is_an_error() {
    let folder = Folder::new("ulimit");
    folder.write("p.pto", "func.func @p(%p: !pto.ptr<i8>) {\n  return\n}\n");
    for (bytes, says) in [("17179869184", "out of memory"), ("300000000", "more than the limit")] {
        let program = env!("CARGO_BIN_EXE_slipring");
        let script = format!(
            "ulimit -v 600000; exec '{program}' run p.pto --json --max-memory 100000000000 --arg zeros:{bytes}"
        );
        let ran = std::process::Command::new("sh").args(["-c", &script]).current_dir(&folder.0).output().unwrap();
        let called = super::Called::of(&["run", bytes], &ran);
        called.exits(2).says(says).json();
    }
}

/// Delays of op instances that a run does not have are errors: a schedule of another program is not accepted silently.
#[test]
fn a_schedule_that_does_not_fit_is_said() {
    let folder = Folder::new("schedule");
    folder.write("fits", "delay AIV0.MTE3 work 1 by 12\n");
    folder.write("half", "delay AIV0.MTE3 work 1 by 12\ndelay AIV0.MTE3 work 40 by 12\ndelay AIV1.V work 1 by 3\n");
    let run = |file| folder.call(&["run", "add.pto", "--schedule", file]).exits(0);
    assert!(!run("fits").err.contains("schedule-unused"));
    run("half")
        .says("[schedule-unused]: `delay AIV0.MTE3 work 40 by 12` of the schedule makes nothing late")
        .says("and so does another line: works of AIV0.MTE3 in block 0 of this run: 1");
    // Only vector functions have steps.
    folder.write("step", "delay AIV0.MTE3 work 1 step 1 past step 2\n");
    run("step").says("of the schedule makes nothing late: steps of work 1 of AIV0.MTE3 in block 0 of this run: 0");
}

#[test]
fn no_word_is_without_effect() {
    let folder = Folder::new("words");
    folder.write("look.pto", MEMREF);
    let plain = "full:f32[4x8]=1";
    for (words, says) in [
        (&["--arg", "rand:f32[4x8],seed=1,seed=2"][..], "`seed` is given twice"),
        (&["--arg", "rand:f32[4x8],lo=0,lo=-1"], "`lo` is given twice"),
        (&["--arg", "full:f32[4x8]=1,value=2"], "`value` is given twice"),
        (&["--arg", plain, "--check", "none,race"], "for '--check <TOOLS>': it takes `none` alone, not `none,race`"),
        (&["--arg", plain, "--set", "A=1"], "nothing of the file takes `A` from outside"),
    ] {
        folder.call(&[&["run", "look.pto"], words].concat()).exits(2).says(says);
    }
    folder.call(&["run", "look.pto", "--arg", "rand:f32[4x8],seed=1,lo=0"]).exits(0);
    folder.call(&["run", "look.pto", "--arg", plain, "--check", "none"]).exits(0);
    folder.call(&["check", "look.pto", "--set", "A=1"]).exits(2).says("`--set` is for files of the kernel language");
}
