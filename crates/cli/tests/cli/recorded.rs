//! Runs through a board's queue as streams: the commands that the host queued are run again, with the kernels that it
//! sent.

use super::{Folder, bytes_of};

/// A kernel for two blocks.
const DOUBLE: &str = "\
import slipring.language as pl

@pl.incore
def double(x: pl.Tensor[[32, 16], pl.FP32], y: pl.Out[pl.Tensor[[32, 16], pl.FP32]]):
    for block in pl.spmd(2):
        r = block * 16
        y[r : r + 16, :] = x[r : r + 16, :] * 2.0
";

/// A program of two tasks, the second of which depends on the first.
const TWICE: &str = "\
import slipring.language as pl

@pl.jit
def twice(x: pl.Tensor[[32, 16], pl.FP32], y: pl.Out[pl.Tensor[[32, 16], pl.FP32]]):
    t = pl.create_tensor([32, 16], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP):
        t[:, :] = x[:, :] * 2.0
    with pl.at(level=pl.Level.CORE_GROUP):
        y[:, :] = t[:, :] * 2.0
";

/// Bytes of a page of DRAM.
const PAGE: usize = 4096;

/// The buffers that come back to the host, in order.
fn back(folder: &Folder, options: &[&str]) -> Vec<u8> {
    let words = [&["queue", "run", "it.cq", "--read-back", "back"], options].concat();
    folder.call(&words).exits(0);
    std::fs::read(folder.file("back")).unwrap()
}

/// A buffer as it comes back, in full pages.
fn iota(times: f32) -> Vec<u8> {
    let mut bytes = bytes_of(&(0..512).map(|i| i as f32 * times).collect::<Vec<_>>());
    bytes.resize(PAGE, 0);
    bytes
}

#[test]
fn a_recorded_kernel_gives_the_same_bytes_again() {
    let folder = Folder::new("recorded");
    folder.write("double.py", DOUBLE);
    let args = ["--arg", "iota:f32[32x16]", "--arg", "zeros:f32[32x16]"];
    let run = ["run", "double.py", "--device", "p150", "--record", "it.cq"];
    folder.call(&[&run[..], &args].concat()).exits(0);
    let expected = [iota(1.0), iota(2.0)].concat();
    for options in [&["--kernels", "--arch", "a5"][..], &["--kernels", "--arch", "a5", "--seed", "3"]] {
        assert!(back(&folder, options) == expected, "{options:?}");
    }
    // Workers that only acknowledge leave the memory unchanged.
    assert!(back(&folder, &[]) == [iota(1.0), vec![0; PAGE]].concat());
    let same = ["queue", "diff", "it.cq", "it.cq", "--kernels", "--arch", "a5"];
    assert!(folder.call(&same).exits(0).out.contains("the same 6 records"));
    let seeds = folder.call(&["queue", "run", "it.cq", "--kernels", "--arch", "a5", "--seeds", "2"]).exits(0).out;
    assert!(seeds.contains("workers ran the kernels that they were sent"), "{seeds}");
    assert!(seeds.contains("2 more seeds: the same findings in all"), "{seeds}");
}

#[test]
fn a_recorded_program_gives_the_same_bytes_again() {
    let folder = Folder::new("recorded_program");
    folder.write("twice.py", TWICE);
    let args = ["--arg", "iota:f32[32x16]", "--arg", "zeros:f32[32x16]"];
    let run = ["run", "twice.py", "--device", "p100", "--record", "it.cq"];
    folder.call(&[&run[..], &args].concat()).exits(0);
    let bytes = back(&folder, &["--kernels", "--arch", "a5"]);
    assert!(bytes.chunks(PAGE).any(|tensor| tensor == iota(4.0)), "{} bytes came back", bytes.len());
    assert!(!back(&folder, &[]).chunks(PAGE).any(|tensor| tensor == iota(4.0)));
}

/// Every request for something impossible has a message.
#[test]
fn kernels_of_a_stream_are_found_or_missed_by_name() {
    let folder = Folder::new("recorded_wrong");
    folder.write("double.py", DOUBLE);
    folder.write("empty.queue", "board p100\nwrite (1,2) 0x86b0 00*64\nlaunch (1,2)\nevent\n");
    folder.call(&["run", "double.py", "--device", "p150", "--record", "it.cq"]).exits(0);
    let says = |words: &[&str], exit, text: &str| {
        let err = folder.call(words).exits(exit).err;
        assert!(err.contains(text), "{words:?}: {err}");
    };
    says(&["queue", "run", "it.cq", "--kernels"], 1, "names no platform, and none was chosen");
    says(&["queue", "run", "empty.queue", "--kernels", "--arch", "a5"], 1, "error[worker-fault]: worker (1,2)");
    says(&["queue", "stats", "empty.queue", "--kernels", "--arch", "a5"], 1, "did not complete");
    folder.call(&["queue", "stats", "empty.queue"]).exits(0);
    says(&["queue", "run", "it.cq", "--arch", "a5"], 2, "are for `--kernels`");
    says(&["queue", "run", "it.cq", "--kernels", "--arch", "a6"], 2, "a6");
    says(&["queue", "run", "it.cq", "--kernels", "--kernel-cycles", "5"], 2, "cannot be used with");
    says(&["queue", "run", "it.cq", "--read-back", "-"], 2, "name a file");
    says(&["run", "double.py", "--record", "x"], 2, "--device");
    says(&["run", "double.py", "--device", "p150", "--record", "-"], 2, "name a file");
}
