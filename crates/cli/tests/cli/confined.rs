//! Restrictions on paths in files, and the display of file names.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use super::{Called, Folder, KERNEL, bytes_of, command, f32s};

const LANGUAGE: &str = "\
import slipring.language as pl

@pl.incore
def k(x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    y[:] = x[:, :] + 1.0
";

/// A folder with a secret, and below it the folder of the programs.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    fs::create_dir_all(folder.file("sub/inner")).unwrap();
    folder.write("secret.bin", bytes_of(&[7.0; 256]));
    folder.write("sub/own.bin", bytes_of(&[3.0; 256]));
    symlink("../secret.bin", folder.file("sub/link.bin")).unwrap();
    symlink("own.bin", folder.file("sub/near.bin")).unwrap();
    symlink("..", folder.file("sub/up")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.file("sub/fifo")).status().unwrap().success());
    folder
}

/// Every verb that reads its arguments from the head of a file.
const VERBS: [&[&str]; 7] =
    [&["run"], &["run", "--json"], &["check"], &["prove"], &["ring"], &["report", "-o", "r.html"], &["build"]];

#[test]
fn a_file_does_not_say_itself_what_is_written_or_read_elsewhere() {
    let folder = folder("own-lines");
    let secret = folder.file("secret.bin").display().to_string();
    let written =
        ["@own.bin:out", "@new.bin:out", "@../new.bin:out", "@inner/../../new.bin:out", "@/tmp/slipring-new.bin:out"];
    let outside = [
        "@../secret.bin",
        &format!("@{secret}"),
        "@link.bin",
        "@up/secret.bin",
        "@inner/../../secret.bin",
        "@/etc/passwd",
    ];
    let odd = ["@fifo", "@inner", "@/dev/zero", "@/dev/stdin"];
    for word in written.iter().chain(&outside).chain(&odd) {
        for named in [false, true] {
            let args = |name: &str| if named { format!("{name}={word}") } else { (*word).to_string() };
            folder.write("sub/k.py", format!("# args: rand:f32[16x16] {}\n{LANGUAGE}", args("y")));
            let rest = KERNEL.lines().skip(1).collect::<Vec<_>>().join("\n");
            let scalar = if named { "a=2.0:f32" } else { "2.0:f32" };
            let x = if named { "x=iota:f32[16x16]" } else { "iota:f32[16x16]" };
            folder.write("sub/k.pto", format!("// args: {x} {} {scalar}\n{rest}\n", args("y")));
            let before = (folder.names(), fs::read_dir(folder.file("sub")).unwrap().count());
            for verb in VERBS {
                for file in ["sub/k.py", "sub/k.pto"] {
                    let words = [&verb[..1], &[file], &verb[1..]].concat();
                    let called = folder.call(&words).exits(2);
                    called.says("error[args-line]").says("the file's `args` line");
                }
            }
            let _ = fs::remove_file(folder.file("r.html"));
            let after = (folder.names(), fs::read_dir(folder.file("sub")).unwrap().count());
            assert_eq!(before, after, "{word}");
        }
    }
    assert_eq!(f32s(&fs::read(folder.file("sub/own.bin")).unwrap()), [3.0; 256]);
    assert_eq!(f32s(&fs::read(folder.file("secret.bin")).unwrap()), [7.0; 256]);
    assert!(!fs::exists("/tmp/slipring-new.bin").unwrap());
    // On the command line the same paths are accepted, and the line of the file is ignored.
    for file in ["sub/k.py", "sub/k.pto"] {
        let scalar: &[&str] = if file.ends_with("pto") { &["--arg", "1.0:f32"] } else { &[] };
        let words = [&["run", file, "--arg", "@secret.bin", "--arg", "@new.bin:out"], scalar].concat();
        folder.call(&words).exits(0);
        assert_eq!(f32s(&fs::read(folder.file("new.bin")).unwrap()), [8.0; 256]);
    }
}

#[test]
fn files_below_the_folder_are_read() {
    let folder = folder("below");
    for word in ["@own.bin", "@./own.bin", "@inner/../own.bin", "@near.bin", "x=@own.bin"] {
        folder.write(
            "sub/k.py",
            format!("# args: {word} {}\n{LANGUAGE}", if word.starts_with('x') { "y=zeros:1024" } else { "zeros:1024" }),
        );
        folder.call(&["run", "sub/k.py"]).exits(0).says(" 4 to 4 ");
        let inside = command(&folder.file("sub"), &["run", "k.py"]).output().unwrap();
        Called::of(&["run", "k.py"], &inside).exits(0);
    }
}

#[test]
fn helper_modules_do_not_lead_out_of_the_folder() {
    let folder = folder("modules");
    folder.write("secret.py", "THE_SECRET = oops oops\n");
    symlink("../secret.py", folder.file("sub/helper.py")).unwrap();
    folder.write("sub/k.py", format!("import helper\n{LANGUAGE}"));
    let called = folder
        .call(&["check", "sub/k.py"])
        .exits(2)
        .says("error[import]")
        .says("leaves the folder of the importing file");
    assert!(!called.err.contains("THE_SECRET"), "{}", called.err);
    // The files next to a link's target are the ones that the text refers to.
    symlink("sub/linked.py", folder.file("linked.py")).unwrap();
    symlink("sub/beside.py", folder.file("beside.py")).unwrap();
    folder.write("sub/beside.py", "ONE = 1.0\n");
    folder.write("sub/linked.py", format!("from beside import ONE\n{}", LANGUAGE.replace("1.0", "ONE")));
    folder.call(&["check", "linked.py"]).exits(0);
}

#[test]
fn what_is_read_is_never_written() {
    let folder = Folder::new("in-and-out");
    folder.write("s.queue", "board p100\nevent\n");
    folder.write("x.bin", bytes_of(&[1.0; 256]));
    folder.write("k.py", format!("from helper import ONE\n{}", LANGUAGE.replace("1.0", "ONE")));
    folder.write("helper.py", "ONE = 1.0\n");
    folder.write("before.json", "{}\n");
    folder.write("a5.toml", include_str!("../../../../platforms/a5.toml"));
    let before: Vec<(String, Vec<u8>)> =
        folder.names().into_iter().map(|name| (name.clone(), fs::read(folder.file(&name)).unwrap())).collect();
    for (name, _) in &before {
        symlink(name, folder.file(&format!("link-{name}"))).unwrap();
        fs::hard_link(folder.file(name), folder.file(&format!("hard-{name}"))).unwrap();
    }
    let calls: [(&str, &[&str]); 15] = [
        ("add.pto", &["build", "add.pto", "-o", "%"]),
        ("add.pto", &["build", "add.pto", "--memory-map", "%"]),
        ("add.pto", &["run", "add.pto", "--trace", "%"]),
        ("add.pto", &["run", "add.pto", "--sarif", "%"]),
        ("add.pto", &["check", "add.pto", "--sarif", "%"]),
        ("add.pto", &["report", "add.pto", "-o", "%"]),
        ("add.pto", &["prove", "add.pto", "--fix", "%"]),
        ("k.py", &["tune", "k.py", "--vary", "ONE=1.0,2.0", "--plot", "%"]),
        ("k.py", &["tune", "k.py", "--auto", "--patch", "%"]),
        ("before.json", &["report", "add.pto", "--against", "before.json", "-o", "%"]),
        ("helper.py", &["build", "k.py", "-o", "%"]),
        ("a5.toml", &["run", "add.pto", "--platform", "a5.toml", "--trace", "%"]),
        ("x.bin", &["run", "add.pto", "--arg", "@x.bin", "--arg", "@%:out", "--arg", "1.0:f32"]),
        ("s.queue", &["queue", "run", "s.queue", "--trace", "%"]),
        ("s.queue", &["queue", "decode", "s.queue", "-o", "%"]),
    ];
    for (input, words) in calls {
        for output in [input.to_string(), format!("./{input}"), format!("link-{input}"), format!("hard-{input}")] {
            let words: Vec<String> = words.iter().map(|word| word.replace('%', &output)).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            folder.call(&words).exits(2).says("input files are never overwritten");
            for (name, bytes) in &before {
                assert_eq!(fs::read(folder.file(name)).unwrap(), *bytes, "{name} after {words:?}");
            }
        }
    }
    // Also if there is another error first.
    folder.write("bad.pto", "oops\n");
    folder.call(&["run", "bad.pto", "--expect", "y=@x.bin", "--sarif", "x.bin"]).exits(2).says("never overwritten");
    // By the number of an open file descriptor.
    let script = format!("exec '{}' build add.pto -o /dev/fd/3 3>>add.pto", env!("CARGO_BIN_EXE_slipring"));
    let ran = Command::new("sh").args(["-c", &script]).current_dir(&folder.0).stdin(Stdio::null()).output().unwrap();
    Called::of(&["build", "-o", "/dev/fd/3"], &ran).exits(2).says("input files are never overwritten");
    for (name, bytes) in &before {
        assert_eq!(fs::read(folder.file(name)).unwrap(), *bytes, "{name}");
    }
    // Two outputs to the same file are an error; a file that is read and written back on purpose is not.
    folder.call(&["run", "add.pto", "--trace", "t", "--sarif", "./t"]).exits(2).says("both write to");
    folder.call(&["run", "add.pto", "--arg", "iota:f32[16x16]", "--arg", "@x.bin:out", "--arg", "1.0:f32"]).exits(0);
}

#[test]
fn names_are_shown_with_what_cannot_be_seen() {
    let folder = Folder::new("names");
    let name = "a\u{1b}[31mb\n\u{202e}c.pto";
    folder.write(name, "func.func @k( {\n");
    folder.write(&name.replace(".pto", ".bin"), "1");
    for words in [
        &["check", name][..],
        &["run", name],
        &["build", name],
        &["check", "missing\u{1b}[31m\n.pto"],
        &["run", "add.pto", "--arg", "@missing\u{1b}[31m\n.bin", "--arg", "zeros:1024", "--arg", "1.0:f32"],
        &["run", "add.pto", "--trace", "no/such/\u{1b}[31m\nfolder"],
        &["queue", "lint", name],
        &["run", "add.pto", "--arch", "\u{1b}[31m"],
    ] {
        let called = folder.call(words).exits(2);
        let all = format!("{}{}", called.out, called.err);
        assert!(!all.contains(['\u{1b}', '\u{202e}']), "{words:?}: {all:?}");
        assert!(all.contains("\\x1b[31m"), "{words:?}: {all}");
    }
    let called = folder.call(&["\u{1b}[31m\u{202e}"]).exits(2);
    assert!(!called.err.contains(['\u{1b}', '\u{202e}']), "{:?}", called.err);
    let called = folder.call(&["check", name]).exits(2).says("a\\x1b[31mb\\n\\u{202e}c.pto:1:");
    assert!(called.out.lines().all(|line| !line.starts_with("\u{202e}")), "{}", called.out);
    // JSON has its own escapes, and contains the unchanged name.
    let facts = folder.call(&["check", "--json", name]).exits(2).json();
    assert_eq!(facts["file"], name);
}

#[test]
fn what_a_file_is_can_be_said() {
    let folder = Folder::new("language");
    for name in ["K.PY", "k.Py", "kernel", "k.txt", "-"] {
        folder.write(if name == "-" { "input" } else { name }, LANGUAGE);
        for verb in ["check", "run"] {
            for (words, exit) in
                [(&[verb, name][..], name == "K.PY" || name == "k.Py"), (&[verb, name, "--lang", "py"], true)]
            {
                let mut command = command(&folder.0, words);
                let input = fs::File::open(folder.file(if name == "-" { "input" } else { name })).unwrap();
                let called = Called::of(words, &command.stdin(input).output().unwrap());
                match exit {
                    true => drop(called.exits(0)),
                    false => drop(called.exits(2).says("`--lang py` reads it as the kernel language")),
                }
            }
        }
    }
    for words in [
        &["check", "add.pto", "--lang", "pto"][..],
        &["build", "add.pto", "--lang", "pto", "-o", "built"],
        &["check", "built"],
    ] {
        folder.call(words).exits(0);
    }
    folder.call(&["check", "add.pto", "--lang", "py"]).exits(2).says("error[python-syntax]");
    folder.call(&["check", "add.pto", "--lang", "c"]).exits(2).says("possible values: py, pto");
}
