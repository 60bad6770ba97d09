//! The examples and the file tests of values.

use std::path::PathBuf;

use slipring_ir::Source;
use slipring_lang::Direction;

use crate::here::root;
use crate::meaning::compiled::{Compiled, Outcome, PLATFORMS, compile};

/// One run of a file.
#[derive(Default)]
struct Launch {
    function: Option<String>,
    args: Vec<String>,
    blocks: Option<u32>,
}

fn python_files(folder: &str) -> Vec<PathBuf> {
    let folder = root().join(folder);
    let entries = std::fs::read_dir(folder).expect("a folder of the repository").flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "py")).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// The runs of a file test that succeed, and the file's own arguments.
fn launches(text: &str) -> Vec<Launch> {
    let head = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("# ")?.strip_prefix(name));
        line.map(|line| line.split_whitespace().map(str::to_string).collect::<Vec<_>>())
    };
    let mut runs: Vec<Option<Launch>> = Vec::new();
    for line in text.lines() {
        if line.starts_with("# exit:") {
            runs.pop();
        }
        let Some(words) = line.strip_prefix("# test: run %s") else { continue };
        // Constants from outside are not in the text.
        if words.contains("--set") {
            continue;
        }
        let mut launch = Launch::default();
        let mut words = words.split_whitespace();
        while let Some(word) = words.next() {
            match word {
                "--func" => launch.function = words.next().map(str::to_string),
                "--arg" => launch.args.extend(words.next().map(str::to_string)),
                "--blocks" => launch.blocks = words.next().and_then(|n| n.parse().ok()),
                _ => {}
            }
        }
        if launch.args.is_empty() {
            launch.args = head("args:").unwrap_or_default();
        }
        if launch.blocks.is_none() {
            launch.blocks = head("blocks:").and_then(|n| n[0].parse().ok());
        }
        runs.push(Some(launch));
    }
    let mut runs: Vec<Launch> = runs.into_iter().flatten().collect();
    if runs.is_empty() {
        runs.push(Launch::default());
    }
    runs
}

/// Random contents of the declared shapes of a kernel or of several connected ones; zeros for pure outputs.
fn declared(text: &str, compiled: &Compiled) -> Vec<String> {
    let (file, _) = slipring_lang::compile(std::sync::Arc::new(Source::new("kernel.py", text)));
    let functions: Vec<&str> = compiled.kernel().split('+').map(str::trim).collect();
    let own = file.kernels.iter().filter(|kernel| functions.contains(&kernel.name.as_str()));
    let all: Vec<_> = own.flat_map(|kernel| &kernel.params).collect();
    let names = compiled.names();
    let params = names.iter().filter_map(|name| all.iter().find(|param| param.name == **name));
    let params = params.map(|param| {
        let extents: Vec<String> = param.shape.iter().flatten().map(u64::to_string).collect();
        let what = if param.direction == Direction::Out { "zeros" } else { "rand" };
        // Integers of the examples are indices.
        let range = if what == "rand" && !param.elem.is_float() { ",lo=0,hi=8" } else { "" };
        format!("{what}:{}[{}]{range}", param.elem, extents.join("x"))
    });
    params.collect()
}

fn agree(folder: &str) {
    let (mut wrong, mut elsewhere) = (Vec::new(), Vec::new());
    for file in python_files(folder) {
        let name = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let text = std::fs::read_to_string(&file).expect("a file of the repository");
        for launch in launches(&text) {
            for platform in PLATFORMS {
                let outcome = match compile(&text, launch.function.as_deref(), platform) {
                    Ok(compiled) => {
                        let texts = match launch.args.is_empty() {
                            true => declared(&text, &compiled),
                            false => {
                                // Tensors created by the kernel come after the arguments.
                                let made = declared(&text, &compiled).into_iter().skip(launch.args.len());
                                launch.args.iter().cloned().chain(made).collect()
                            }
                        };
                        let blocks = launch.blocks.unwrap_or(compiled.blocks);
                        let mut values = compiled.arguments(&texts);
                        if text.contains("atomic=") {
                            // The text does not determine the order of additions: with multiples of 1/4 it does not
                            // matter.
                            compiled.round_to_quarters(&mut values);
                        }
                        compiled.compare(&text, &values, blocks)
                    }
                    Err(refused) => refused,
                };
                // An element type that this platform does not support, or perhaps a memory that it does not have: the
                // other platform runs the file.
                if let Outcome::Refused(codes, _) = &outcome
                    && codes.contains(&"tile-elem")
                    && codes.iter().all(|code| matches!(*code, "tile-elem" | "tile-space" | "move-way"))
                {
                    elsewhere.push((name.to_string(), platform));
                    continue;
                }
                match outcome {
                    Outcome::Agrees => {}
                    other => wrong.push(format!("{name} on {platform} {other}")),
                }
            }
        }
    }
    for (name, platform) in &elsewhere {
        if elsewhere.iter().any(|(other, there)| other == name && there != platform) {
            wrong.push(format!("{name} runs on no platform"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn examples_do_what_their_text_says() {
    agree("examples/lang");
}

#[test]
fn file_tests_do_what_their_text_says() {
    agree("tests/files/lang/values");
}
