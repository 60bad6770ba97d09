//! Random kernels: each is compiled, runs on both platforms with all checks, and must give the bytes that its text
//! means.
//!
//! `SLIPRING_KERNELS=5000` runs this many, starting at the seed `SLIPRING_FIRST`; `SLIPRING_SEED=17` runs and prints
//! the kernel of that seed; `SLIPRING_FOUND` is a folder for wrong kernels, `SLIPRING_REFUSED` one for rejected ones.

mod expressions;
mod generate;
mod kernels;
mod statements;

use std::collections::BTreeMap;

use crate::meaning::compiled::{Outcome, PLATFORMS, compile};
use generate::{Kernel, kernel};

/// Number of kernels per test run.
const KERNELS: u64 = 50;

/// Errors that are acceptable for a random kernel: too many tiles; names that may alias when a part of a tile is
/// written; a part of an input that is written through a name; a name for a window of one tensor or another, and errors
/// that result from a name without a value.
const REFUSALS: [&str; 5] = ["memory-full", "alias", "read-only", "carry", "undefined-name"];

/// The acceptable reasons of an error about carried values.
const CARRY: [&str; 2] = ["is known only at run time", "may still be a window of it"];

/// The outcome of a kernel on both platforms, launched with several counts: the first one that is not agreement.
fn judge(kernel: &Kernel) -> Outcome {
    let mut elsewhere = None;
    for platform in PLATFORMS {
        let compiled = match compile(&kernel.text, None, platform) {
            Ok(compiled) => compiled,
            // An element type that this platform's vector unit does not support: the other platform runs the kernel.
            Err(Outcome::Refused(codes, text)) if elsewhere.is_none() && codes.contains(&"tile-elem") => {
                elsewhere = Some(Outcome::Refused(codes, text));
                continue;
            }
            Err(refused) => return refused,
        };
        for args in &kernel.launches {
            let outcome = compiled.compare(&kernel.text, &compiled.arguments(args), kernel.blocks);
            if !matches!(outcome, Outcome::Agrees) {
                return outcome;
            }
        }
    }
    Outcome::Agrees
}

#[test]
fn random_kernels_do_what_their_text_says() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match number("SLIPRING_SEED") {
        Some(seed) => seed..seed + 1,
        None => {
            let first = number("SLIPRING_FIRST").unwrap_or(0);
            first..first + number("SLIPRING_KERNELS").unwrap_or(KERNELS)
        }
    };
    let alone = seeds.end - seeds.start == 1;
    let (mut agreed, mut refusals, mut wrong) = (0, BTreeMap::<&str, u64>::new(), Vec::new());
    for seed in seeds.clone() {
        let kernel = kernel(seed);
        if alone {
            println!("{}", kernel.text);
        }
        match judge(&kernel) {
            Outcome::Agrees => agreed += 1,
            Outcome::Refused(codes, text) => {
                if let Ok(folder) = std::env::var("SLIPRING_REFUSED") {
                    let file = format!("{folder}/{}_{seed}.txt", codes[0]);
                    std::fs::write(file, format!("{text}\n{}", kernel.text)).expect("a folder");
                }
                for code in &codes {
                    *refusals.entry(code).or_default() += 1;
                }
                let other = codes.iter().all(|code| *code == "undefined-name")
                    || codes.contains(&"carry") && !CARRY.iter().any(|why| text.contains(why));
                if alone || other || codes.iter().any(|code| !REFUSALS.contains(code)) {
                    wrong.push(format!("seed {seed} is refused:\n{text}\n{}", kernel.text));
                }
            }
            other => wrong.push(format!("seed {seed} {other}\n{}", kernel.text)),
        }
    }
    println!("{agreed} kernels agree, refused: {refusals:?}");
    if let Ok(folder) = std::env::var("SLIPRING_FOUND") {
        for (at, text) in wrong.iter().enumerate() {
            std::fs::write(format!("{folder}/wrong_{at}.txt"), text).expect("a folder");
        }
    }
    assert!(wrong.is_empty(), "{} of {agreed}: {}", wrong.len(), wrong[..wrong.len().min(3)].join("\n\n"));
    assert!(alone || agreed * 10 > (seeds.end - seeds.start) * 7, "only {agreed} kernels ran: {refusals:?}");
}
