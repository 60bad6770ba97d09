//! General behaviour of the command line: arguments, exit codes, files, JSON.

mod answers;
mod arguments;
#[cfg(target_os = "linux")]
mod bombs;
mod calibrate;
mod confined;
mod exits;
mod expected;
mod imports;
mod large;
mod listed;
mod once;
mod options;
mod outputs;
mod passes;
mod recorded;
mod sarif;
mod schema;
mod sweep;
mod tune;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::here::{self, Folder, root};

/// y = x + a, for 16 × 16 elements.
const KERNEL: &str = "\
// args: iota:f32[16x16] zeros:f32[16x16] 2.0:f32
func.func @add(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %a: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %xv = pto.make_tensor_view %x, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %yv = pto.make_tensor_view %y, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
  %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  %u = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  pto.tload ins(%xp : !pto.partition_tensor_view<16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
  pto.tadds ins(%t, %a : !pto.tile_buf<vec, 16x16xf32>, f32) outs(%u : !pto.tile_buf<vec, 16x16xf32>)
  pto.tstore ins(%u : !pto.tile_buf<vec, 16x16xf32>) outs(%yp : !pto.partition_tensor_view<16x16xf32>)
  return
}
";

impl Folder {
    /// A folder with a kernel.
    fn new(test: &str) -> Folder {
        let folder = Folder::empty(&format!("cli-{test}"));
        folder.write("add.pto", KERNEL);
        folder
    }

    /// Runs the command line in this folder.
    fn call(&self, words: &[&str]) -> Called {
        let output = command(&self.0, words).output().unwrap();
        Called::of(words, &output)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = here::slipring();
    command.args(words).current_dir(folder);
    command
}

struct Called {
    words: String,
    exit: Option<i32>,
    out: String,
    err: String,
}

impl Called {
    fn of(words: &[&str], output: &Output) -> Called {
        Called {
            words: words.join(" "),
            exit: output.status.code(),
            out: String::from_utf8(output.stdout.clone()).unwrap(),
            err: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    #[track_caller]
    fn exits(self, exit: i32) -> Called {
        assert_eq!(self.exit, Some(exit), "`{}`\n{}\n{}", self.words, self.out, self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }

    #[track_caller]
    fn says(self, text: &str) -> Called {
        let all = format!("{}\n{}", self.out, self.err);
        assert!(all.contains(text), "`{}` does not say `{text}`:\n{all}", self.words);
        self
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("`{}`: {e}\n{}", self.words, self.out))
    }
}

fn f32s(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

fn bytes_of(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// A `.npy` file as written by numpy 1.x, including padding.
fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let padded = format!("{header:<117}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend_from_slice(&(padded.len() as u16).to_le_bytes());
    file.extend_from_slice(padded.as_bytes());
    file.extend_from_slice(data);
    file
}

#[test]
fn runs_with_the_arguments_of_the_file() {
    let folder = Folder::new("own-args");
    let called = folder.call(&["run", "add.pto", "--verify"]).exits(0);
    called.says("add on a5").says("verify").says("same bytes as the sequential semantics").says("2 to 257");
}

#[test]
fn results_come_back_raw_and_as_npy() {
    let folder = Folder::new("back");
    let x: Vec<f32> = (0..256).map(|i| i as f32 / 4.0).collect();
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (16, 16), }";
    folder.write("x.npy", npy(header, &bytes_of(&x)));
    folder.write("y.npy", npy(header, &[0; 1024]));
    folder.write("y.bin", [0; 1024]);
    let wanted: Vec<f32> = x.iter().map(|x| x + 1.5).collect();
    let args = |y| ["run", "add.pto", "--arg", "@x.npy", "--arg", y, "--arg", "1.5:f32"];
    folder.call(&args("@y.bin:out")).exits(0);
    assert_eq!(f32s(&fs::read(folder.file("y.bin")).unwrap()), wanted);
    folder.call(&args("@y.npy:out")).exits(0);
    let y = fs::read(folder.file("y.npy")).unwrap();
    assert_eq!(&y[..128], &npy(header, &[])[..]);
    assert_eq!(f32s(&y[128..]), wanted);
    // Without `:out` nothing is written.
    folder.write("y.bin", [0; 1024]);
    folder.call(&args("@y.bin")).exits(0);
    assert_eq!(fs::read(folder.file("y.bin")).unwrap(), [0; 1024]);
}

#[test]
fn files_of_the_args_line_lie_beside_the_file() {
    let folder = Folder::new("beside");
    fs::create_dir(folder.file("sub")).unwrap();
    let kernel = KERNEL.replace("iota:f32[16x16]", "@x.bin");
    folder.write("sub/add.pto", kernel);
    folder.write("sub/x.bin", bytes_of(&[1.0; 256]));
    folder.call(&["run", "sub/add.pto"]).exits(0).says(" 3 to 3 ");
}

/// A file is replaced atomically, by renaming, or not at all: also if the run fails or the folder is not writable.
#[test]
fn an_output_is_written_whole_or_not_at_all() {
    let folder = Folder::new("atomic");
    let before = bytes_of(&[7.0; 255]);
    folder.write("short.bin", &before);
    let short = ["run", "add.pto", "--arg", "iota:f32[16x16]", "--arg", "@short.bin:out", "--arg", "1.5:f32"];
    folder.call(&short).exits(1).says("memory-bounds").says("is left unchanged");
    assert_eq!(fs::read(folder.file("short.bin")).unwrap(), before);
    folder.write("y.bin", bytes_of(&[7.0; 256]));
    let mut reader = fs::File::open(folder.file("y.bin")).unwrap();
    folder.call(&["run", "add.pto", "--arg", "iota:f32[16x16]", "--arg", "@y.bin:out", "--arg", "1.5:f32"]).exits(0);
    // A reader of the old file still sees the old bytes: it was not overwritten in place.
    let mut old = Vec::new();
    std::io::Read::read_to_end(&mut reader, &mut old).unwrap();
    assert_eq!(f32s(&old), [7.0; 256]);
    assert_eq!(folder.names(), ["add.pto", "short.bin", "y.bin"], "no temporary file stays");
}

#[test]
fn wrong_arguments_show_the_signature() {
    let folder = Folder::new("wrong");
    folder.write("odd.bin", [0; 1023]);
    folder.write("f64.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", &[0; 16]));
    folder.write("cut.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (16, 16), }", &[0; 1000]));
    let signature = "the kernel is add(%x: buffer of f32, %y: buffer of f32, %a: f32)";
    let good = ["iota:f32[16x16]", "zeros:1024", "1.5:f32"];
    let with = |at: usize, arg: &str| {
        let mut args = good.map(str::to_string);
        args[at] = arg.into();
        args.to_vec()
    };
    let cases = [
        (good[..2].iter().map(|s| s.to_string()).collect::<Vec<_>>(), "takes 3 arguments, 2 given"),
        ([&good[..], &["1:i32"]].concat().iter().map(|s| s.to_string()).collect(), "takes 3 arguments, 4 given"),
        (with(0, "3:i32"), "a scalar, where a buffer of f32 is expected"),
        (with(0, "iota:f16[16x16]"), "a buffer of f16, where f32 is expected"),
        (with(2, "1:i32"), "i32, where f32 is expected"),
        (with(2, "zeros:4"), "a buffer, where f32 is expected"),
        (with(2, "true"), "i1, where f32 is expected"),
        (with(2, "1.5"), "`1.5` is not an argument"),
        (with(2, "1.5:f31"), "`1.5:f31` is not an argument"),
        (with(0, "random:f32[4]"), "is not an argument"),
        (with(0, "rand:f32[16x16],sed=1"), "`rand` has no option `sed`"),
        (with(0, "full:f32[16x16]"), "is not an argument"),
        (with(0, "@nothing.bin"), "cannot read `nothing.bin`"),
        (with(0, "@."), "cannot read `.`"),
        (with(0, "@odd.bin"), "not a whole number of f32 elements"),
        (with(0, "@f64.npy"), "`<f8` cannot be passed"),
        (with(0, "@cut.npy"), "announces 1024 bytes of data, there are 1000"),
        (with(0, ""), "`` is not an argument"),
    ];
    for (args, says) in cases {
        let mut words = vec!["run", "add.pto"];
        words.extend(args.iter().flat_map(|arg| ["--arg", arg]));
        folder.call(&words).exits(2).says(says).says(signature);
        let refused = folder.call(&[&words[..], &["--json"]].concat()).exits(2).json();
        assert_eq!(refused["complete"], false);
        assert!(refused["error"].as_str().unwrap().contains(says), "{refused}");
    }
}

#[test]
fn a_file_without_arguments_says_how_to_give_them() {
    let folder = Folder::new("no-args");
    folder.write("bare.pto", KERNEL.split_once('\n').unwrap().1);
    folder.call(&["run", "bare.pto"]).exits(2).says("takes 3 arguments, 0 given").says("`// args: …` line");
}

#[test]
fn bad_files_are_errors() {
    let folder = Folder::new("bad-files");
    folder.write("latin1.pto", b"// caf\xe9\n");
    folder.write("empty.pto", "");
    folder.write("blank.pto", " \n\n");
    fs::create_dir(folder.file("folder.pto")).unwrap();
    for verb in ["run", "check", "build"] {
        folder.call(&[verb, "missing.pto"]).exits(2).says("cannot read `missing.pto`");
        let why = if verb == "check" { "there are no kernels in `folder.pto`" } else { "cannot read `folder.pto`" };
        folder.call(&[verb, "folder.pto"]).exits(2).says(why);
        folder.call(&[verb, "latin1.pto"]).exits(2).says("`latin1.pto` is not UTF-8 text");
        folder.call(&[verb, "empty.pto"]).exits(2).says("`empty.pto` is empty");
        folder.call(&[verb, "blank.pto"]).exits(2).says("`blank.pto` is empty");
    }
    folder.call(&["run", "add.pto", "--arch", "a9"]).exits(2).says("unknown platform `a9`");
    folder.write("p.toml", "name = 3");
    folder.call(&["run", "add.pto", "--platform", "p.toml"]).exits(2).says("p.toml");
    folder.call(&["run", "add.pto", "--func", "sub"]).exits(2).says("no function `sub`").says("`add`");
    folder.call(&["run", "add.pto", "--check", "rase"]).exits(2).says("`rase`");
    folder.call(&["run", "add.pto", "--blocks", "0"]).exits(2);
    folder.call(&["walk"]).exits(2);
}

#[test]
fn a_platform_file_of_ones_own() {
    let folder = Folder::new("platform");
    let a5 = fs::read_to_string(root().join("platforms/a5.toml")).unwrap();
    folder
        .write("slow.toml", a5.replace("name = \"a5\"", "name = \"slow\"").replace("gm-vec = [64,", "gm-vec = [9064,"));
    let cycles = |words: &[&str]| folder.call(words).exits(0).json()["cycles"].as_u64().unwrap();
    let slow = cycles(&["run", "add.pto", "--json", "--platform", "slow.toml"]);
    assert_eq!(slow, cycles(&["run", "add.pto", "--json"]) + 9000);
    folder.call(&["run", "add.pto", "--platform", "slow.toml"]).exits(0).says("add on slow");
}

/// A tile in the last 1024 bytes of a UB of 256 KiB.
const FAR: &str = "// args: zeros:f32[16x16]
func.func @far(%y: !pto.ptr<f32>) attributes {pto.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant 1.0 : f32
  %last = arith.constant 261120 : i64
  %view = pto.make_tensor_view %y, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %part = pto.partition_view %view, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
  %tile = pto.alloc_tile addr = %last : !pto.tile_buf<vec, 16x16xf32>
  pto.texpands ins(%one : f32) outs(%tile : !pto.tile_buf<vec, 16x16xf32>)
  pto.tstore ins(%tile : !pto.tile_buf<vec, 16x16xf32>) outs(%part : !pto.partition_tensor_view<16x16xf32>)
  return
}
";

#[test]
fn the_platform_file_says_how_large_memories_are() {
    let folder = Folder::new("wide");
    let a5 = fs::read_to_string(root().join("platforms/a5.toml")).unwrap();
    assert!(a5.contains("vec = { bytes = 253952,"));
    folder.write("far.pto", FAR);
    folder.write(
        "wide.toml",
        a5.replace("name = \"a5\"", "name = \"wide\"").replace("bytes = 253952,", "bytes = 262144,"),
    );
    folder.call(&["run", "far.pto"]).exits(2).says("lie outside `vec`, which has 253952");
    folder.call(&["run", "far.pto", "--platform", "wide.toml"]).exits(0).says("1 to 1");
}

#[test]
fn the_tests_that_the_seeds_name_are_there() {
    let top = root();
    let text = fs::read_to_string(top.join("docs/seeds.md")).unwrap();
    let names = text.split('`').skip(1).step_by(2).filter(|name| name.contains('/') && !name.contains(' '));
    let mut count = 0;
    for name in names {
        let own = ["crates/", "docs/", "examples/", "tests/"].iter().any(|start| name.starts_with(start));
        let path = if own { top.join(name) } else { top.join("tests/files").join(name) };
        assert!(path.exists(), "docs/seeds.md names `{name}`, which is not there");
        count += 1;
    }
    assert!(count > 100);
}

#[test]
fn the_module_says_its_platform() {
    let folder = Folder::new("arch");
    let (args, body) = KERNEL.split_once('\n').unwrap();
    folder.write("m.pto", format!("{args}\nmodule attributes {{pto.target_arch = \"a2a3\"}} {{\n{body}}}\n"));
    folder.call(&["run", "m.pto"]).exits(0).says("add on a2a3");
    folder.call(&["run", "m.pto", "--arch", "a5"]).exits(0).says("add on a5");
}

#[test]
fn every_error_of_every_file() {
    let folder = Folder::new("check");
    folder.write("two.pto", KERNEL.replace("pto.tadds", "pto.tadz").replace("%xv, offsets", "%xw, offsets"));
    folder.write("syntax.pto", "func.func @f( {\n");
    let called = folder.call(&["check", "add.pto", "two.pto", "syntax.pto"]).exits(2);
    let called =
        called.says("add.pto: ok, 1 function, on a5").says("two.pto: 2 errors").says("two.pto:8:").says("two.pto:13:");
    called.says("syntax.pto:1:");
    let lines = folder.call(&["check", "--json", "add.pto", "two.pto"]).exits(2);
    let files: Vec<serde_json::Value> = lines.out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(files.len(), 2);
    assert_eq!((&files[0]["errors"], &files[1]["errors"]), (&0.into(), &2.into()));
    assert_eq!(files[1]["diagnostics"][1]["line"], 13);
}

#[test]
fn json_says_what_the_text_says() {
    let folder = Folder::new("json");
    let facts = folder.call(&["run", "add.pto", "--json", "--verify", "--stats"]).exits(0).json();
    assert_eq!(facts["kernel"], "add");
    assert_eq!((&facts["platform"], &facts["blocks"], &facts["complete"]), (&"a5".into(), &1.into(), &true.into()));
    assert!(facts["cycles"].as_u64().unwrap() > 0);
    let verdict = |tool: &str| {
        let checks = facts["checks"].as_array().unwrap();
        checks.iter().find(|c| c["tool"] == tool).unwrap_or_else(|| panic!("no {tool}"))["verdict"].clone()
    };
    for tool in ["memory", "sync", "race", "init", "verify"] {
        assert_eq!(verdict(tool), "clean", "{tool}");
    }
    let y = &facts["buffers"][1];
    assert_eq!((&y["name"], &y["min"], &y["max"]), (&"y".into(), &2.0.into(), &257.0.into()));
    assert!(facts["findings"].as_array().unwrap().is_empty());
}

/// A result that was not checked is never called clean.
#[test]
fn what_is_not_checked_says_so() {
    let folder = Folder::new("unchecked");
    let verdicts = |check: &str| -> Vec<String> {
        let facts = folder.call(&["run", "add.pto", "--json", "--check", check]).exits(0).json();
        let of = |tool: &str| {
            let checks = facts["checks"].as_array().unwrap();
            checks.iter().find(|c| c["tool"] == tool).map(|c| c["verdict"].as_str().unwrap().to_string()).unwrap()
        };
        ["race", "init"].map(of).to_vec()
    };
    assert_eq!(verdicts("all"), ["clean", "clean"]);
    assert_eq!(verdicts("none"), ["not checked", "not checked"]);
    assert_eq!(verdicts("race"), ["clean", "not checked"]);
    assert_eq!(verdicts("memory,init"), ["not checked", "clean"]);
    let text = folder.call(&["run", "add.pto"]).exits(0).out;
    assert!(!text.contains("verify"), "nothing is said of a comparison that was not made:\n{text}");
}

#[test]
fn a_finding_has_its_place() {
    let folder = Folder::new("finding");
    let args = ["run", "add.pto", "--arg", "iota:f32[16x16]", "--arg", "zeros:512", "--arg", "1.5:f32"];
    folder.call(&args).exits(1).says("error[memory-bounds]").says("add.pto:14:");
    let facts = folder.call(&[&args[..], &["--json"]].concat()).exits(1).json();
    assert_eq!((&facts["complete"], &facts["findings"][0]["code"]), (&false.into(), &"memory-bounds".into()));
    assert_eq!(facts["findings"][0]["line"], 14);
}

/// The same command gives the same output, and seeds have their documented effect.
#[test]
fn runs_repeat() {
    let folder = Folder::new("repeat");
    let run = |more: &[&str]| {
        let words = ["run", "add.pto", "--json", "--arg", "rand:f32[16x16]", "--arg", "zeros:1024", "--arg", "0:f32"];
        folder.call(&[&words[..], more].concat()).exits(0).out
    };
    assert_eq!(run(&[]), run(&[]));
    assert_eq!(run(&[]), run(&["--seed", "0"]));
    assert_ne!(run(&["--seed", "1"]), run(&["--seed", "2"]));
}

#[test]
fn built_text_runs_the_same() {
    let folder = Folder::new("build");
    folder.call(&["build", "add.pto", "-o", "built.pto"]).exits(0);
    let built = fs::read_to_string(folder.file("built.pto")).unwrap();
    let args = KERNEL.lines().next().unwrap();
    folder.write("built.pto", format!("{args}\n{built}"));
    let facts = |file: &str| {
        let facts = folder.call(&["run", file, "--json"]).exits(0).json();
        (facts["cycles"].clone(), facts["buffers"].clone())
    };
    assert_eq!(facts("add.pto"), facts("built.pto"));
    // To standard output; nothing if the input is wrong.
    assert_eq!(folder.call(&["build", "add.pto", "-o", "-"]).exits(0).out, built);
    folder.write("bad.pto", "func.func @f( {\n");
    folder.call(&["build", "bad.pto", "-o", "bad-built.pto"]).exits(2);
    assert!(!folder.file("bad-built.pto").exists());
    folder.call(&["build", "add.pto", "-o", "no/such/folder/built.pto"]).exits(2).says("no/such/folder/built.pto");
}

#[test]
fn passes_by_name() {
    let folder = Folder::new("passes");
    let listed = folder.call(&["build", "--list-passes"]).exits(0).out;
    let (listed, by_name) = listed.split_once("\nonly where they are named\n").unwrap();
    assert!(by_name.starts_with("lower-rings "), "{by_name}");
    let names: Vec<&str> = listed.lines().filter_map(|l| l.split_whitespace().next()).collect();
    assert!(names.contains(&"allocate"), "{listed}");
    let all = folder.call(&["build", "add.pto", "--print-ir-after", "all"]).exits(0);
    names.iter().for_each(|name| assert!(all.err.contains(&format!("after {name}\n")), "{name} in {}", all.err));
    assert!(!all.out.contains("after"));
    // Neither option changes the output.
    let watched = folder.call(&["build", "add.pto", "--time-passes", "--verify-passes"]).exits(0);
    names.iter().for_each(|name| assert!(watched.err.contains(name), "{name} in {}", watched.err));
    assert_eq!(watched.out, all.out);
    folder.call(&["build", "add.pto", "--pass", "alocate"]).exits(2).says("no pass `alocate`").says("allocate");
    folder.call(&["build", "add.pto", "--print-ir-after", "nothing"]).exits(2).says("no pass `nothing`");
    let not_run = "`lower-rings` is not among the passes that run";
    folder.call(&["build", "add.pto", "--print-ir-after", "lower-rings"]).exits(2).says(not_run);
}

#[test]
fn the_reference() {
    let folder = Folder::new("ops");
    let list = folder.call(&["ops"]).exits(0).out;
    assert!(list.lines().count() > 60, "{list}");
    let names: Vec<&str> = list.lines().filter_map(|l| l.split_whitespace().next()).collect();
    assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "in order, each once");
    // Every op has a page with a summary, a source and a form.
    for name in names {
        let page = folder.call(&["ops", name]).exits(0).out;
        assert!(page.starts_with(&format!("{name}: ")), "{page}");
        let source = page.lines().find_map(|l| l.strip_prefix("source")).map(str::trim);
        assert!(source.is_some_and(|s| !s.is_empty()), "{page}");
        assert!(page.contains("\nform "), "{page}");
    }
    assert_eq!(folder.call(&["ops", "tadd"]).exits(0).out, folder.call(&["ops", "pto.tadd"]).exits(0).out);
    folder.call(&["ops", "pto.tpush_to_avi"]).exits(2).says("did you mean `pto.tpush_to_aiv`?");
    folder.call(&["ops", "tad_"]).exits(2).says("did you mean `pto.tadd`?");
}

#[test]
fn output_that_nobody_reads_is_no_crash() {
    let folder = Folder::new("pipe");
    for words in [&["ops"][..], &["run", "add.pto", "--stats"], &["build", "add.pto"], &["--help"]] {
        let mut child = command(&folder.0, words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {err}");
        assert!(!err.contains("panicked"), "{words:?}: {err}");
    }
}

#[test]
fn no_colours_where_nobody_sees_them() {
    let folder = Folder::new("colour");
    folder.write("bad.pto", "func.func @f( {\n");
    for words in [&["check", "bad.pto"][..], &["--no-color", "check", "bad.pto"], &["check", "bad.pto", "--no-color"]] {
        let called = folder.call(words).exits(2);
        assert!(!called.err.contains('\u{1b}') && !called.out.contains('\u{1b}'), "{}", called.err);
    }
}

/// A kernel of the kernel language, for two blocks: each doubles its half.
const LANGUAGE: &str = "\
import slipring.language as pl

@pl.incore
def double(x: pl.Tensor[[32, 16], pl.FP32], y: pl.Out[pl.Tensor[[32, 16], pl.FP32]]):
    for block in pl.spmd(2):
        r = block * 16
        y[r : r + 16, :] = x[r : r + 16, :] * 2.0
";

/// A built program states how it is launched and is equivalent to the kernel: here, from the text, and through a
/// board's queue.
#[test]
fn a_kernel_of_the_language_runs_in_every_form() {
    let folder = Folder::new("language");
    folder.write("double.py", LANGUAGE);
    let buffers = |words: &[&str]| {
        let out = folder.call(words).exits(0).out;
        out.lines().filter(|l| l.trim_start().starts_with("y ")).map(str::to_string).collect::<Vec<_>>()
    };
    let own = buffers(&["run", "double.py"]);
    assert_eq!(own.len(), 1, "{own:?}");
    folder.call(&["build", "double.py", "-o", "double.pto"]).exits(0);
    let built = fs::read_to_string(folder.file("double.pto")).unwrap();
    assert!(built.starts_with("// args: rand:f32[32x16] zeros:f32[32x16]\n// blocks: 2\n"), "{built}");
    assert_eq!(buffers(&["run", "double.pto"]), own);
    assert_eq!(buffers(&["run", "double.py", "--device", "p150"]), own);
}
