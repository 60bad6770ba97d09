//! Every exit: a non-zero exit code comes with a message, and `--json` prints one object.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Called, Folder, KERNEL, command};
use crate::dice::Dice;
use crate::here::root;
use crate::walk;

fn every_file() -> Vec<PathBuf> {
    walk::files(&root().join("tests/files"), &["pto", "py", "queue"])
}

/// The invariants of every exit.
fn judge(folder: &Path, words: &[&str]) {
    let called = Called::of(words, &command(folder, words).output().unwrap());
    let all = || format!("`{}`\n{}\n{}", called.words, called.out, called.err);
    assert!(matches!(called.exit, Some(0..=2)), "{:?} {}", called.exit, all());
    for word in ["internal error", "panicked", "does not say what was built"] {
        assert!(!called.err.contains(word), "{}", all());
    }
    let object = words.contains(&"--json").then(|| called.json());
    if called.exit != Some(0) {
        let said = object.is_some_and(|facts| {
            let lists = ["findings", "diagnostics"].map(|list| facts[list].as_array().map_or(0, Vec::len));
            facts["error"].is_string() || lists.iter().sum::<usize>() > 0
        });
        assert!(said || !words.contains(&"--json"), "an object that says nothing: {}", all());
        assert!(said || called.err.contains("error"), "says nothing: {}", all());
    }
}

/// Checks many files on two threads.
fn each(files: &[PathBuf], judge: impl Fn(usize, &Path) + Sync) {
    std::thread::scope(|scope| {
        for half in 0..2 {
            let judge = &judge;
            let own = files.iter().enumerate().filter(move |(at, _)| at % 2 == half);
            scope.spawn(move || own.for_each(|(at, file)| judge(at, file)));
        }
    });
}

/// The verbs for a file, in rotation.
fn verbs(at: usize, file: &Path) -> Vec<&'static str> {
    let of_queue: [&[&str]; 3] = [&["queue", "run", "--json"], &["queue", "lint", "--json"], &["queue", "decode"]];
    let of_text: [&[&str]; 4] = [
        &["run", "--json", "--max-steps", "20000"],
        &["check", "--json"],
        &["build"],
        &["ring", "--json", "--max-steps", "20000"],
    ];
    let queue = file.extension().is_some_and(|e| e == "queue");
    if queue { of_queue[at % 3].to_vec() } else { of_text[at % 4].to_vec() }
}

#[test]
fn every_file_ends_with_a_word() {
    let folder = std::env::temp_dir();
    each(&every_file(), |at, file| {
        let file_name = file.to_str().unwrap();
        judge(&folder, &[&verbs(at, file)[..], &[file_name]].concat());
    });
}

/// `check` accepts every output of `build`. Examples and kernels with values are correct, so most of them are built.
#[test]
fn what_is_built_can_be_checked() {
    let folder = Folder::new("built");
    let root = root();
    let mut files = walk::files(&root.join("examples"), &["pto", "py"]);
    files.extend(walk::files(&root.join("tests/files/lang"), &["pto", "py"]));
    let built = AtomicUsize::new(0);
    each(&files, |at, file| {
        let arch = ["a5", "a2a3"][at / 2 % 2];
        let output = format!("{at}.pto");
        judge(&folder.0, &["build", "--arch", arch, "-o", &output, file.to_str().unwrap()]);
        if folder.file(&output).exists() {
            built.fetch_add(1, Ordering::Relaxed);
            folder.call(&["check", "--arch", arch, &output]).exits(0);
        }
    });
    assert!(built.into_inner() > files.len() / 3);
}

/// Files that are truncated, or have parts exchanged, repeated or dropped.
#[test]
fn broken_files_end_with_a_word() {
    let folder = Folder::new("broken");
    let files = every_file();
    let mut dice = Dice::new(7);
    let mut broken = Vec::new();
    for number in 0..160 {
        let file = &files[dice.place(files.len())];
        let text = fs::read(file).unwrap();
        let mut lines: Vec<&[u8]> = text.split(|b| *b == b'\n').collect();
        for _ in 0..1 + dice.place(2) {
            let (at, other) = (dice.place(lines.len()), dice.place(lines.len()));
            match dice.place(5) {
                0 => drop(lines.remove(at)),
                1 => lines.insert(at, lines[other]),
                2 => lines.swap(at, other),
                3 => lines.truncate(at),
                _ => lines[at] = &lines[at][..dice.place(lines[at].len())],
            }
            if lines.is_empty() {
                lines.push(b"x");
            }
        }
        let name = folder.file(&format!("{number}.{}", file.extension().unwrap().to_str().unwrap()));
        fs::write(&name, lines.join(&b'\n')).unwrap();
        broken.push(name);
    }
    each(&broken, |at, file| judge(&folder.0, &[&verbs(at / 2, file)[..], &[file.to_str().unwrap()]].concat()));
}

#[test]
fn small_files_end_with_a_word() {
    let folder = Folder::new("small");
    let texts = [
        "func.func @f() {\n  %a = arith.addi %b, %c : i32\n  return\n}\n",
        "func.func @f()\n%0 = arith.addi %0, %0 : i32\n",
        "func.func @f() {\n}\n",
        "func.func @f()\n",
        "module {\n}\n",
        "module {\n",
        "}\n",
        "// only a comment\n",
        "func.func @f() { return }\nfunc.func @f() { return }\n",
        "func.func private @f()\n",
        "func.func @f(%a: i32) attributes {pto.kernel} {\n  %b = arith.addi %a, %a : i32\n}\n",
    ];
    for (at, text) in texts.iter().enumerate() {
        for verb in
            [&["run", "--json"][..], &["run"], &["check"], &["check", "--json"], &["build"], &["ring", "--json"]]
        {
            let name = format!("{at}.pto");
            folder.write(&name, text);
            judge(&folder.0, &[verb, &[name.as_str()]].concat());
        }
    }
    for text in ["", "x = 1\n", "import slipring.language as pl\n", "def f():\n  pass\n", "\u{0}", "def f(:\n"] {
        folder.write("k.py", text);
        for verb in [&["run", "--json"][..], &["check", "--json"], &["build"], &["ring"]] {
            judge(&folder.0, &[verb, &["k.py"]].concat());
        }
    }
}

#[test]
fn wrong_command_lines_end_with_a_word() {
    let folder = Folder::new("command-lines");
    folder.write("add.pto", KERNEL);
    folder.write("bad.toml", "name = 3");
    let lines: [&[&str]; 22] = [
        &["run"],
        &["run", "--json"],
        &["run", "add.pto", "--json", "--arg", "x"],
        &["run", "add.pto", "--json", "--blocks", "0"],
        &["run", "add.pto", "--json", "--check", "rase"],
        &["run", "add.pto", "--json", "--func", "none"],
        &["run", "add.pto", "--json", "--arch", "a9"],
        &["run", "add.pto", "--json", "--platform", "bad.toml"],
        &["run", "add.pto", "--json", "--platform", "none.toml"],
        &["run", "add.pto", "--json", "--device", "p1"],
        &["run", "none.pto", "--json"],
        &["run", "add.pto", "--json", "--max-steps", "-1"],
        &["run", "add.pto", "--json", "--max-memory", "10"],
        &["ring", "add.pto", "--json", "--sweep", "0..9"],
        &["ring", "add.pto", "--json", "--func", "none"],
        &["check", "--json", "none.pto"],
        &["check", "--json"],
        &["queue", "run", "--json", "none"],
        &["queue", "lint", "--json", "add.pto"],
        &["queue", "run", "--json", "--demo", "--board", "p1"],
        &["build", "add.pto", "-o", "none/x"],
        &["ops", "pto.none"],
    ];
    for words in lines {
        judge(&folder.0, words);
        let called = folder.call(words);
        assert_eq!(called.exit, Some(2), "{words:?}");
    }
    // An output that cannot be written is reported in the object too.
    fs::create_dir(folder.file("locked")).unwrap();
    folder.write("y.bin", [0; 1024]);
    let script = format!(
        "ulimit -f 0; exec '{}' run add.pto --json --arg iota:f32[16x16] --arg @y.bin:out --arg 1.5:f32 2>/dev/null | cat",
        env!("CARGO_BIN_EXE_slipring")
    );
    let ran = std::process::Command::new("sh").args(["-c", &script]).current_dir(&folder.0).output().unwrap();
    let facts = Called::of(&["run"], &ran).json();
    assert!(facts["error"].as_str().is_some_and(|e| e.contains("cannot write `y.bin`")), "{facts}");
}
