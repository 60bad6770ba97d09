//! Written files, and errors if they cannot be written.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{Called, Folder, bytes_of, command, f32s};

/// Every way to write a file, with `%` as the placeholder for it.
const WRITERS: [&[&str]; 10] = [
    &["build", "add.pto", "-o", "%"],
    &["build", "add.pto", "--memory-map", "%"],
    &["run", "add.pto", "--arg", "iota:f32[16x16]", "--arg", "@%:out", "--arg", "1.5:f32"],
    &["run", "add.pto", "--trace", "%"],
    &["run", "add.pto", "--sarif", "%"],
    &["check", "add.pto", "--sarif", "%"],
    &["queue", "run", "s.queue", "--trace", "%"],
    &["queue", "decode", "s.queue", "-o", "%"],
    &["queue", "run", "s.queue", "--read-back", "%"],
    &["run", "add.pto", "--device", "p150", "--record", "%"],
];

fn words(writer: &[&'static str], path: &str) -> Vec<String> {
    writer.iter().map(|word| word.replace('%', path)).collect()
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    let relay = "RELAY_INLINE_NOFLUSH\n> WRITE_LINEAR_H_HOST length=80\nRELAY_LINEAR noc_xy=(17,14) addr=0 length=64\n";
    folder.write("s.queue", format!("board p100\nrecord\n{relay}event\n"));
    folder
}

fn call(folder: &Folder, words: &[String]) -> Called {
    folder.call(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn every_writer_keeps_modes_and_links() {
    let folder = folder("writers");
    for writer in WRITERS {
        folder.write("target", bytes_of(&[7.0; 256]));
        fs::set_permissions(folder.file("target"), fs::Permissions::from_mode(0o604)).unwrap();
        let _ = fs::remove_file(folder.file("link"));
        symlink("target", folder.file("link")).unwrap();
        call(&folder, &words(writer, "link")).exits(0);
        assert_eq!(fs::read_link(folder.file("link")).unwrap().to_str(), Some("target"), "{writer:?}");
        assert_ne!(fs::read(folder.file("target")).unwrap(), bytes_of(&[7.0; 256]), "{writer:?}");
        assert_eq!(fs::metadata(folder.file("target")).unwrap().permissions().mode() & 0o777, 0o604, "{writer:?}");
    }
    assert_eq!(folder.names(), ["add.pto", "link", "s.queue", "target"]);
}

#[test]
fn a_pipe_stays_a_pipe() {
    let folder = folder("fifo");
    let made = Command::new("mkfifo").arg(folder.file("fifo")).status().unwrap();
    assert!(made.success());
    for writer in WRITERS.iter().filter(|writer| !writer.contains(&"@%:out")) {
        let path = folder.file("fifo");
        let reader = std::thread::spawn(move || fs::read(path).unwrap());
        call(&folder, &words(writer, "fifo")).exits(0);
        assert!(!reader.join().unwrap().is_empty(), "{writer:?}");
        assert!(fs::metadata(folder.file("fifo")).unwrap().file_type().is_fifo(), "{writer:?}");
    }
}

/// A limit on file sizes simulates a full disk.
#[test]
fn what_does_not_fit_leaves_the_old_file() {
    let folder = folder("full");
    let old = bytes_of(&[7.0; 16384]);
    for writer in WRITERS {
        folder.write("target", &old);
        // Blocks of 512 or of 1024 bytes. For small outputs, the programs have long reports.
        let words = words(writer, "target").join(" ");
        let script = format!("ulimit -f 0; exec '{}' {words} 2>/dev/null", env!("CARGO_BIN_EXE_slipring"));
        let ran =
            Command::new("sh").args(["-c", &script]).current_dir(&folder.0).stdin(Stdio::null()).output().unwrap();
        assert_eq!(ran.status.code(), Some(2), "{writer:?}");
        assert_eq!(fs::read(folder.file("target")).unwrap(), old, "{writer:?}");
        assert_eq!(folder.names(), ["add.pto", "s.queue", "target"], "{writer:?}");
    }
}

#[test]
fn a_signal_leaves_no_file() {
    let folder = Folder::new("signal");
    let old = vec![0u8; 64 << 20];
    folder.write("big.bin", &old);
    for signal in ["-INT", "-TERM", "-HUP"] {
        let words = ["run", "add.pto", "--check", "none", "--arg", "iota:f32[16x16]", "--arg", "@big.bin:out", "--arg"];
        let mut child = command(&folder.0, &[&words[..], &["1.5:f32"]].concat());
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while folder.names().len() < 3 && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_micros(200));
        }
        let _ = Command::new("kill").args([signal, &child.id().to_string()]).stderr(Stdio::null()).status();
        let status = child.wait().unwrap();
        assert!(status.signal().is_some() || status.success(), "{status}");
        assert_eq!(folder.names(), ["add.pto", "big.bin"], "{signal}");
        assert_eq!(fs::metadata(folder.file("big.bin")).unwrap().len(), old.len() as u64, "{signal}");
    }
}

/// Every verb that prints.
const PRINTERS: [&[&str]; 10] = [
    &["run", "add.pto"],
    &["run", "add.pto", "--json"],
    &["ring", "add.pto"],
    &["check", "add.pto"],
    &["check", "add.pto", "--json"],
    &["build", "add.pto"],
    &["ops"],
    &["queue", "decode", "s.queue"],
    &["--help"],
    &["--version"],
];

#[test]
fn a_lost_standard_output_is_an_error() {
    let folder = folder("lost");
    for words in PRINTERS {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let ran = command(&folder.0, words).stdout(full).output().unwrap();
        Called::of(words, &ran).exits(2).says("cannot write to standard output");
        let script = format!("exec '{}' {} >&-", env!("CARGO_BIN_EXE_slipring"), words.join(" "));
        let ran = Command::new("sh").args(["-c", &script]).current_dir(&folder.0).output().unwrap();
        Called::of(words, &ran).exits(2).says("cannot write to standard output: it is closed");
    }
    // A reader that closes the pipe is not an error.
    for words in PRINTERS {
        let mut child = command(&folder.0, words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ran = child.wait_with_output().unwrap();
        assert!(ran.stderr.is_empty(), "{words:?}");
        assert_eq!(ran.status.code(), Some(0), "{words:?}");
    }
}

#[test]
fn a_lost_standard_error_is_no_panic() {
    let folder = Folder::new("lost-error");
    for words in [&["build", "add.pto", "--print-ir-after", "all"][..], &["check", "missing.pto"], &["walk"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let status = command(&folder.0, words).stdout(Stdio::null()).stderr(full).status().unwrap();
        assert_eq!(status.code(), Some(2), "{words:?}");
    }
}

#[test]
fn standard_output_by_its_file_name() {
    let folder = Folder::new("dev-stdout");
    let plain = folder.call(&["build", "add.pto"]).exits(0).out;
    assert_eq!(folder.call(&["build", "add.pto", "-o", "/dev/stdout"]).exits(0).out, plain);
    let mut file = File::create(folder.file("all")).unwrap();
    file.write_all(b"before\n").unwrap();
    let appended = File::options().append(true).open(folder.file("all")).unwrap();
    let words = ["build", "add.pto", "-o", "/dev/stdout"];
    assert!(command(&folder.0, &words).stdout(appended).status().unwrap().success());
    let mut all = String::new();
    File::open(folder.file("all")).unwrap().read_to_string(&mut all).unwrap();
    assert_eq!(all, format!("before\n{plain}"));
}

#[test]
fn two_outputs_are_two_files() {
    let folder = Folder::new("twice");
    folder.write("y.bin", bytes_of(&[7.0; 256]));
    symlink("y.bin", folder.file("link")).unwrap();
    for second in ["@y.bin:out", "@link:out", "@./y.bin:out"] {
        let words = ["run", "add.pto", "--arg", "@y.bin:out", "--arg", second, "--arg", "1.5:f32"];
        folder.call(&words).exits(2).says("argument 2").says("argument 1 is written to the same file");
    }
    assert_eq!(f32s(&fs::read(folder.file("y.bin")).unwrap()), [7.0; 256]);
}

/// Each block of four rows is the previous one plus one: a race if `x` and `out` are the same buffer.
const DOWN: &str = "
import slipring.language as pl

@pl.incore
def down(x: pl.Tensor[[16, 16], pl.FP32], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    out[0:4, :] = x[12:16, :] + 1.0
    for i in pl.range(0, 3):
        out[i * 4 + 4 : i * 4 + 8, :] = x[i * 4 : i * 4 + 4, :] + 1.0
";

#[test]
fn a_file_that_is_read_is_not_written() {
    let folder = Folder::new("one-memory");
    folder.write("down.py", DOWN.as_bytes());
    let rows: Vec<f32> = (0..256).map(|n| (n / 16) as f32).collect();
    let down: Vec<f32> = (0..256).map(|n| ((n / 16 + 12) % 16 + 1) as f32).collect();
    for (x, out) in [("@x.bin", "@x.bin:out"), ("@link", "@x.bin:out"), ("@x.bin:out", "@x.bin")] {
        folder.write("x.bin", bytes_of(&rows));
        let _ = symlink("x.bin", folder.file("link"));
        // A proof writes no file, and treats the two as one memory.
        folder.call(&["prove", "down.py", "--arg", x, "--arg", out]).exits(1).says("violated: down");
        for how in [&["run"][..], &["run", "--device", "p150"]] {
            let refused = folder.call(&[how, &["down.py", "--arg", x, "--arg", out]].concat()).exits(2);
            refused.says("input files are never overwritten");
        }
        assert_eq!(f32s(&fs::read(folder.file("x.bin")).unwrap()), rows);
    }
    // An argument that is not written back is independent memory.
    folder.write("x.bin", bytes_of(&rows));
    fs::copy(folder.file("x.bin"), folder.file("y.bin")).unwrap();
    folder.call(&["run", "down.py", "--arg", "@x.bin", "--arg", "@x.bin"]).exits(0);
    folder.call(&["run", "down.py", "--arg", "@x.bin", "--arg", "@y.bin:out"]).exits(0);
    assert_eq!(f32s(&fs::read(folder.file("y.bin")).unwrap()), down);
    let same = folder.call(&["prove", "down.py", "--arg", "@x.bin", "--arg", "@y.bin"]).exits(0);
    assert!(same.out.contains("arguments do not overlap in memory"), "{}", same.out);
}

/// The page first states the bottleneck of the run, and compares with another run if one is named.
#[test]
fn a_page_says_what_bounds_the_run_and_what_changed() {
    let folder = Folder::new("against");
    let facts = folder.call(&["run", "add.pto", "--json", "--lines"]).exits(0).out;
    folder.write("before.json", facts);
    let alone = folder
        .call(&["report", "add.pto", "-o", "-"])
        .exits(0)
        .says("<p id=\"headline\">bound by waits: AIV0 MTE2 is the busiest pipe, 37 % busy; 82 cycles if");
    assert!(!alone.out.contains("Against another run"));
    let both = folder.call(&["report", "add.pto", "-o", "-", "--no-advice", "--against", "before.json"]).exits(0);
    both.says("<h2>Against another run <small").says("the same results");
    folder.call(&["report", "add.pto", "-o", "-", "--against", "add.pto"]).exits(0).says("the same results");
    folder.call(&["report", "add.pto", "-o", "-", "--against", "none.json"]).exits(2).says("cannot read `none.json`");
    folder.write("no.json", "{}");
    folder
        .call(&["report", "add.pto", "-o", "page.html", "--against", "no.json"])
        .exits(2)
        .says("has no field `schema`");
    assert!(!folder.names().contains(&"page.html".to_string()));
}
