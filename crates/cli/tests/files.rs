//! Runs the file tests: every file below `tests/files`, but for `passes`, which has a runner of its own, and the bugs of
//! `tests/field`. A comment begins with `//`, in `.py` files with `#`.
//! `tests/files/README.md` has the format.

#[path = "files/explained.rs"]
mod explained;
#[path = "files/field.rs"]
mod field;
#[path = "files/reads_back.rs"]
mod reads_back;
#[path = "files/walk.rs"]
mod walk;

use std::path::Path;
use std::sync::OnceLock;

use libtest_mimic::{Arguments, Failed, Trial};
use slipring_cli::expect::directives::{Directives, Run, comment_mark, read};
use slipring_cli::expect::{Tool, fold};

fn main() {
    let args = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository");
    let folder = root.join("tests/files");
    let mut files = walk::files(&folder, &["pto", "py", "cpp", "queue"]);
    files.retain(|file| !file.starts_with(folder.join("passes")));
    assert!(!files.is_empty(), "no files below {}", folder.display());
    let trials = files.into_iter().map(|file| {
        let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        Trial::test(name, move || test(&file))
    });
    let trials = trials.chain(field::trials(&root)).chain(explained::trials()).collect();
    libtest_mimic::run(&args, trials).exit();
}

fn test(file: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(file)?;
    let mark = comment_mark(file);
    let Directives { runs, errors, on_all } = read(&text, mark).map_err(|wrong| wrong.join("\n"))?;
    if runs.is_empty() {
        return Err(format!("no `{mark} test:` line").into());
    }
    let third = if on_all { third_platform(&runs) } else { Vec::new() };
    let mut blessed = text.clone();
    let mut wrong = reads_back::judge(file, &text, runs.iter().any(|run| run.exit == 2));
    for run in runs.iter().chain(&third) {
        let judged = tool().judge(file, &text, &errors, run)?;
        wrong.extend(judged.wrong);
        for code in explained::unexplained(&judged.output) {
            wrong.push(format!("no page of `crates/reference/explain` says what `{code}` means"));
        }
        if judged.prints_other {
            bless(&mut blessed, run, &judged.output, file);
        }
        if let Some(exit) = judged.pins {
            bless_exit(&mut blessed, run, &exit, mark);
        }
    }
    if std::env::var_os("SLIPRING_BLESS").is_some() && blessed != text {
        std::fs::write(file, blessed)?;
        return Ok(());
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// The runs of a file that are independent of the platform, on a third platform: the A5 with every other capability
/// inverted, and some custom figures.
fn third_platform(runs: &[Run]) -> Vec<Run> {
    static FILE: OnceLock<String> = OnceLock::new();
    let file = FILE.get_or_init(|| {
        let a5 = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../platforms/a5.toml");
        let a5 = std::fs::read_to_string(a5).expect("the A5");
        let (before, rest) = a5.split_once("capabilities = [\n").expect("a list of capabilities");
        let (list, after) = rest.split_once("]\n").expect("its end");
        let kept: Vec<&str> = list.lines().step_by(2).collect();
        assert!(kept.len() > 10, "the list of capabilities is not read: {list}");
        let text = format!("{before}capabilities = [\n{}\n]\n{after}", kept.join("\n"));
        let own = [
            ("name = \"a5\"", "name = \"third\""),
            ("clusters = 36", "clusters = 20"),
            ("cycles = 1\n", "cycles = 3\n"),
        ];
        let text = own.iter().fold(text, |text, (of_a5, own)| {
            assert!(text.contains(of_a5), "{of_a5}");
            text.replacen(of_a5, own, 1)
        });
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("third.toml");
        std::fs::write(&file, text).expect("a platform file");
        file.display().to_string()
    });
    let on_third = |run: &Run| {
        let command = run.command.strip_suffix(" --arch a5").filter(|command| *command == run.written)?;
        // Other tools only support the built-in platforms.
        if command.starts_with("build ") {
            return None;
        }
        Some(Run { command: format!("{command} --platform {file}"), ..run.clone() })
    };
    runs.iter().filter_map(on_third).collect()
}

/// The command line under test.
fn tool() -> Tool {
    Tool(vec![env!("CARGO_BIN_EXE_slipring").into()])
}

/// Replaces the `check` lines of a run by its current output.
fn bless(text: &mut String, run: &Run, output: &str, file: &Path) {
    let mark = comment_mark(file);
    let directive = |line: &str, name: &str| {
        line.trim().strip_prefix(mark).and_then(|l| l.trim_start().strip_prefix(name)).map(|l| l.trim().to_string())
    };
    let mut result = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some(command) = directive(line, "test:") {
            inside = command == run.written;
            result.push(line.to_string());
            if inside {
                let shown = output.replace(&file.display().to_string(), "FILE");
                result.extend(
                    shown
                        .lines()
                        .filter(|l| !l.trim().is_empty() && !l.contains("FILE"))
                        .map(|l| format!("{mark} check: {}", fold(l))),
                );
            }
        } else if !(inside && directive(line, "check:").is_some()) {
            result.push(line.to_string());
        }
    }
    *text = result.join("\n") + "\n";
}

/// Replaces the exit code of a run by one that lists all its errors.
fn bless_exit(text: &mut String, run: &Run, exit: &str, mark: &str) {
    let mut inside = false;
    let lines = text.lines().map(|line| {
        let said = line.trim().strip_prefix(mark).map_or("", str::trim_start);
        if let Some(command) = said.strip_prefix("test:") {
            inside = command.trim() == run.written;
        }
        match said.starts_with("exit:") && inside {
            true => format!("{mark} {exit}"),
            false => line.to_string(),
        }
    });
    *text = lines.collect::<Vec<_>>().join("\n") + "\n";
}
