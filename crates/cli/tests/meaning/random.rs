//! Random kernels: each is compiled, run on both platforms with every check on, and must give the bytes that its text means.
//!
//! `SLIPRING_KERNELS=5000` runs so many, from the seed `SLIPRING_FIRST` on; `SLIPRING_SEED=17` runs the one of that seed, and prints it;
//! `SLIPRING_FOUND` is a folder for what is wrong, `SLIPRING_REFUSED` one for what is refused.

mod expressions;
mod generate;
mod kernels;
mod statements;

use std::collections::BTreeMap;

use crate::meaning::compiled::{Outcome, PLATFORMS, compile};
use generate::{Kernel, kernel};

/// Kernels of each test run.
const KERNELS: u64 = 50;

/// What the compiler may refuse of a random kernel: too many tiles; names that may stand for the same tile or not when a part of
/// it is written; a part of an input that is written through a name; a name that stands for a window of one tensor or of
/// another one, and what follows from a name that such an error left without a value.
const REFUSALS: [&str; 5] = ["memory-full", "alias", "read-only", "carry", "undefined-name"];

/// What a refusal for what cannot be carried must say: other reasons are none.
const CARRY: [&str; 2] = ["is known only at run time", "may still be a window of it"];

/// What became of a kernel on both platforms, launched with several counts; the first outcome that is not agreement.
fn judge(kernel: &Kernel) -> Outcome {
    let mut elsewhere = None;
    for platform in PLATFORMS {
        let compiled = match compile(&kernel.text, None, platform) {
            Ok(compiled) => compiled,
            // An element type that this platform's vector unit does not take: the other one runs the kernel.
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
