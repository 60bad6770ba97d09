//! Schedules in which later operations of a pipe overtake earlier ones, or a later step of a vector function an earlier
//! one: correct programs give the same bytes in each of them, and a race has a schedule that shows it and can be
//! replayed.

use std::fmt::Write as _;

use slipring::{Delay, Judgement, Kernel, Late, ProveOptions, RunOptions, Tensor};

use super::inner;
use super::pipes::Random;
use crate::dice::Dice;

/// The seeds of a slice; `SLIPRING_WITNESSES` sets another number.
fn count() -> u64 {
    std::env::var("SLIPRING_WITNESSES").ok().and_then(|n| n.parse().ok()).unwrap_or(60)
}

/// The effects of the witnesses, by kind.
#[derive(Default, Debug)]
struct Shown {
    racing: usize,
    results: usize,
    on_chip: usize,
    order: usize,
    none: usize,
    right: usize,
    schedules: usize,
}

fn kernel(random: &Random, arch: &str) -> Kernel {
    Kernel::from_text("random.pto", random.text.clone())
        .expect("it is well formed")
        .platform(arch)
        .expect("it is built in")
}

fn arguments(kernel: &Kernel, text: &str) -> Vec<Tensor<'static>> {
    let words = text.lines().next().and_then(|line| line.strip_prefix("// args: ")).expect("it says its arguments");
    let words: Vec<String> = words.split(' ').map(String::from).collect();
    kernel.arguments(&words, 0).expect("they fit")
}

fn options(random: &Random, delays: &[Delay]) -> RunOptions {
    let mut options = RunOptions::default();
    (options.blocks, options.delays) = (Some(random.blocks), delays.to_vec());
    options
}

/// The contents of the buffers after a run with these delays.
fn left(kernel: &Kernel, random: &Random, delays: &[Delay]) -> Vec<Vec<u8>> {
    let options = options(random, delays);
    let run = kernel.run_with(arguments(kernel, &random.text), &options).expect("it can be run");
    (0..2).map(|at| run.left(at).map_or(Vec::new(), <[u8]>::to_vec)).collect()
}

/// Delays of a correct program, for pipes that may overlap their operations.
fn of_pipes(seed: u64, arch: &str) -> Vec<Delay> {
    let mut dice = Dice::new(seed);
    let pipes = if arch == "a2a3" { ["V", "MTE3"] } else { ["MTE3", "MTE3"] };
    let one = |dice: &mut Dice| {
        let (pipe, work, block) = (dice.pick(&pipes), 1 + dice.below(5), dice.below(2));
        let later = work + 1 + dice.below(4);
        format!("delay AIV0.{pipe} work {work} past work {later} in block {block}").parse().expect("it is a delay")
    };
    (0..1 + dice.below(4)).map(|_| one(&mut dice)).collect()
}

/// Delays of a correct program, for steps of its vector function.
fn of_steps(seed: u64, _: &str) -> Vec<Delay> {
    let mut dice = Dice::new(seed);
    let one = |dice: &mut Dice| {
        let step = 1 + dice.below(24);
        let past = step + 1 + dice.below(if step.is_multiple_of(2) { 4 } else { 40 });
        format!("delay AIV0.V work 1 step {step} past step {past}").parse().expect("it is a delay")
    };
    (0..1 + dice.below(3)).map(|_| one(&mut dice)).collect()
}

fn study(arch: &str, seeds: u64, program: impl Fn(u64) -> Random, delays: impl Fn(u64, &str) -> Vec<Delay>) -> Shown {
    let mut shown = Shown::default();
    for seed in 0..seeds {
        let mut random = program(seed);
        // Zeros would hide errors.
        random.text = random.text.replacen("zeros:f32[96x32]", "rand:f32[96x32],seed=2", 1);
        if random.others {
            continue;
        }
        let kernel = kernel(&random, arch);
        if !random.races {
            let usual = left(&kernel, &random, &[]);
            for variant in 0..3 {
                let delays = delays(seed * 3 + variant, arch);
                let other = left(&kernel, &random, &delays);
                let words = delays.iter().fold(String::new(), |mut all, delay| {
                    let _ = writeln!(all, "{delay}");
                    all
                });
                assert!(usual == other, "seed {seed} on {arch}: no race, and other bytes\n{words}{}", random.text);
                shown.schedules += 1;
            }
            shown.right += 1;
            continue;
        }
        let options = ProveOptions { run: options(&random, &[]), fix: false, ..ProveOptions::default() };
        let proof = kernel.prove(arguments(&kernel, &random.text), &options).expect("it can be run");
        assert_eq!(proof.judgement, Judgement::Violated, "seed {seed} on {arch}\n{proof}\n{}", random.text);
        shown.racing += 1;
        let Some(witness) = &proof.witness else {
            println!("seed {seed} on {arch} has no witness\n{proof}\n{}", random.text);
            shown.none += 1;
            continue;
        };
        if witness.shows.contains("the bytes are the same") {
            shown.order += 1;
        } else if witness.shows.contains("no buffer does") {
            shown.on_chip += 1;
        } else {
            shown.results += 1;
            let Some(schedule) = &witness.schedule else { continue };
            let words = schedule.lines().map(|line| line.split('#').next().unwrap_or("").trim());
            let delays: Vec<Delay> = words.map(|line| line.parse().expect("it is a delay")).collect();
            let (usual, replayed) = (left(&kernel, &random, &[]), left(&kernel, &random, &delays));
            assert!(usual != replayed, "seed {seed} on {arch}: the witness does not replay\n{proof}\n{}", random.text);
        }
    }
    shown
}

#[test]
fn races_have_schedules_that_show_them() {
    for arch in ["a2a3", "a5"] {
        let shown = study(arch, count(), |seed| Random::new(seed, arch), of_pipes);
        println!("{arch}: {shown:?}");
        assert!(shown.right > 10 && shown.racing > 5, "{shown:?}");
        assert!(shown.none == 0, "{shown:?}");
    }
}

/// The contents of a program's first buffer.
fn input(kernel: &Kernel, random: &Random) -> Vec<f32> {
    let words = |bytes: &[u8]| bytes.chunks_exact(4).map(|word| f32::from_le_bytes(word.try_into().unwrap())).collect();
    words(&left(kernel, random, &[])[0])
}

/// Whatever steps a schedule delays, a vector function gives the result of one of its legal orders, as computed here on
/// numbers; if one of them differs from the usual result, a proof names a schedule that shows it.
#[test]
fn schedules_of_steps_are_legal_orders() {
    let (mut shown, mut held, mut other) = (0, 0, 0);
    for seed in 0..2 * count() {
        let random = inner::random(seed);
        if random.others {
            continue;
        }
        let kernel = kernel(&random, "a5");
        let Some((usual, all)) = inner::ends(seed, &input(&kernel, &random)) else { continue };
        let bits = |bytes: &[u8]| -> Vec<u32> {
            bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
        };
        let usual: Vec<u32> = usual.into_iter().map(f32::to_bits).collect();
        assert!(bits(&left(&kernel, &random, &[])[1]) == usual, "seed {seed}: the usual order\n{}", random.text);
        for variant in 0..if all.len() == 1 { 2 } else { 24 } {
            let delays = of_steps(seed * 24 + variant, "a5");
            let left = bits(&left(&kernel, &random, &delays)[1]);
            assert!(all.contains(&left), "seed {seed}: {delays:?} is no legal order\n{}", random.text);
            other += usize::from(left != usual);
        }
        if all.len() == 1 {
            continue;
        }
        let options = ProveOptions { run: options(&random, &[]), fix: false, ..ProveOptions::default() };
        let proof = kernel.prove(arguments(&kernel, &random.text), &options).expect("it can be run");
        let witness = proof.witness.as_ref().map_or("", |witness| &witness.shows);
        match witness.contains("bytes of `y` differ") {
            true => shown += 1,
            false => {
                println!("seed {seed}: {witness}\n{}", random.text);
                held += 1;
            }
        }
    }
    println!("{other} schedules left something else; of programs that can, {shown} were shown to, {held} were not");
    assert!(other > 0 && shown > 3 && held == 0);
}

#[test]
fn races_inside_vector_functions_have_schedules_that_show_them() {
    let shown = study("a5", 2 * count(), inner::random, of_steps);
    println!("vector functions: {shown:?}");
    assert!(shown.right > 20 && shown.racing > 10 && shown.results > 3, "{shown:?}");
    assert!(shown.none == 0, "{shown:?}");
}

/// A pipe that keeps its operations in order cannot be overtaken, and an invalid schedule is an error.
#[test]
fn what_keeps_its_order_is_not_overtaken() {
    let random = Random::new(0, "a5");
    let kernel = kernel(&random, "a5");
    let delay: Delay = "delay AIV0.V work 1 past work 2".parse().expect("it is a delay");
    assert_eq!(delay.late, Late::Past(2));
    let run = kernel.run_with(arguments(&kernel, &random.text), &options(&random, &[delay])).expect("it can be tried");
    let said = run.findings().to_string();
    assert!(said.contains("a5 executes the operations of this pipe in order"), "{said}");
}
