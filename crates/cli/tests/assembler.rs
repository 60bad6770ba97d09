//! The output printed for the public assembler.
//!
//! The assembler does not run here: `scripts/assembler` runs it and writes its answers to `tests/assembler.tsv`, with a
//! digest of the printed form. These tests detect when that form changes, and check that the printed program is
//! equivalent to the built one.

use std::collections::BTreeSet;
use std::fs;
use std::process::Output;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::here::{self, Folder, root};

const TABLE: &str = "tests/assembler.tsv";
/// The answer of the table for a form that the assembler has not been given.
const NOT_ASKED: &str = "not asked";

fn slipring(words: &[&str]) -> Output {
    here::slipring().args(words).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Checks every element, on two threads; returns the errors in the order of the elements.
fn each<T: Sync>(list: &[T], check: impl Fn(&T) -> Option<String> + Sync) -> Vec<String> {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let at = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(element) = list.get(at)
                {
                    if let Some(message) = check(element) {
                        wrong.lock().unwrap().push((at, message));
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    wrong.into_iter().map(|(_, message)| message).collect()
}

/// The form of a printed program, computed like `digest` in `scripts/assembler/answers.py`.
fn digest(printed: &str) -> String {
    let mut lines = BTreeSet::new();
    for line in printed.lines() {
        let line = line.split(" loc(").next().unwrap_or("").trim();
        if line.starts_with("//") {
            continue;
        }
        let unnamed = without_names(line);
        let numbers = ["arith.constant", "_flag[", "reserve_buffer"].iter().any(|word| unnamed.contains(word));
        lines.insert(if numbers { without_numbers(&unnamed) } else { unnamed });
    }
    let all = lines.into_iter().collect::<Vec<_>>().join("\n");
    let fnv = all
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{fnv:016x}")
}

fn without_names(line: &str) -> String {
    let mut rest = line;
    let mut out = String::new();
    while let Some(at) = rest.find('%') {
        out += &rest[..=at];
        let name = |c: char| c.is_alphanumeric() || "_#$.:-".contains(c);
        rest = rest[at + 1..].trim_start_matches(name);
    }
    out + rest
}

fn without_numbers(line: &str) -> String {
    let mut out = String::new();
    for c in line.chars() {
        match c {
            '0'..='9' if out.ends_with('0') => {}
            '0'..='9' => out.push('0'),
            other => out.push(other),
        }
    }
    out
}

/// A line of the table: target, platform, file, digest, answer.
struct Row([String; 5]);

fn rows() -> Vec<Row> {
    let table = fs::read_to_string(root().join(TABLE)).unwrap();
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &str| line.split('\t').map(str::to_string).collect::<Vec<_>>().try_into().ok().map(Row);
    lines.map(|line| row(line).unwrap_or_else(|| panic!("{TABLE}: {line}"))).collect()
}

fn build(row: &Row) -> Output {
    let Row([target, platform, file, ..]) = row;
    slipring(&["build", file, "--arch", platform, "--for", target])
}

/// The printed form is the one that the assembler was given, and what was rejected still is. Tests a different slice of
/// the test files each time, and all examples.
#[test]
fn answers_are_of_the_present_form() {
    let all = crate::here::everything();
    let bless = std::env::var_os("SLIPRING_BLESS").is_some();
    let mut rows = rows();
    let there = |row: &Row| root().join(&row.0[2]).is_file();
    let asked: Vec<usize> = (0..rows.len())
        .filter(|at| there(&rows[*at]) && (all || bless || rows[*at].0[2].starts_with("examples/") || at % 8 == 0))
        .collect();
    assert!(asked.len() > 100, "{TABLE} has few rows that are still files");
    let present = Mutex::new(Vec::new());
    let wrong = each(&asked, |at| {
        let row = &rows[*at];
        let output = build(row);
        let form = if output.status.success() { digest(&text(&output.stdout)) } else { "-".to_string() };
        if form == row.0[3] {
            return None;
        }
        present.lock().unwrap().push((*at, form));
        Some(format!("{} on {}: {}", row.0[2], row.0[1], text(&output.stderr).lines().next().unwrap_or("another form")))
    });
    if bless {
        for (at, form) in present.into_inner().unwrap() {
            (rows[at].0[3], rows[at].0[4]) = (form, NOT_ASKED.to_string());
        }
        let head = fs::read_to_string(root().join(TABLE)).unwrap().lines().next().unwrap_or("").to_string();
        let lines = rows.iter().map(|row| row.0.join("\t"));
        let table = std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n") + "\n";
        return fs::write(root().join(TABLE), table).unwrap();
    }
    assert!(
        wrong.is_empty(),
        "what is printed has changed since the assembler was asked: ask it again (`scripts/assembler --own --write`), or note \
         that nobody has (`SLIPRING_BLESS=1 cargo test -p slipring-cli --test all assembler`)\n{}",
        wrong.join("\n")
    );
}

/// The buffers that a run wrote, with their hashes.
fn results(output: &Output) -> Option<Vec<String>> {
    let all = text(&output.stdout);
    let table = all.split("buffers written").nth(1)?;
    Some(table.lines().skip(2).take_while(|line| !line.trim().is_empty()).map(str::to_string).collect())
}

/// Every example that can be printed for the assembler writes the same bytes after printing, reading back and running.
#[test]
fn what_is_printed_means_the_same() {
    let folder = Folder::empty("assembler");
    let rows: Vec<Row> =
        rows().into_iter().filter(|row| row.0[2].starts_with("examples/") && row.0[3] != "-").collect();
    assert!(rows.len() > 40, "few examples can be printed for the assembler");
    let wrong = each(&rows, |row| {
        let Row([target, platform, file, ..]) = row;
        let printed = folder.file(&format!("{}-{platform}.pto", file.replace('/', "-")));
        let path = printed.to_string_lossy().into_owned();
        let built = slipring(&["build", file, "--arch", platform, "--for", target, "-o", &path]);
        let [own, again] = [file.as_str(), &path].map(|file| slipring(&["run", file, "--arch", platform]));
        let Some(before) = results(&own) else {
            return Some(format!("{file} on {platform} does not run: {}", text(&own.stderr)));
        };
        let same = built.status.success() && again.status.code() == own.status.code();
        (!same || results(&again) != Some(before.clone())).then(|| {
            let said = [text(&built.stderr), text(&again.stderr)].join("\n");
            format!("{file} on {platform}: {before:?} and {:?}\n{said}", results(&again))
        })
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
