//! Schedules in which later work of a pipe overtakes earlier work: right programs come to the same bytes in each of them, and what
//! races has one that shows it, which replays.

use std::fmt::Write as _;

use slipring::{Delay, Judgement, Kernel, Late, ProveOptions, RunOptions, Tensor};

use super::pipes::Random;

/// Seeds of a slice; `SLIPRING_WITNESSES` has another number.
fn count() -> u64 {
    std::env::var("SLIPRING_WITNESSES").ok().and_then(|n| n.parse().ok()).unwrap_or(60)
}

/// What the witnesses show, by kind.
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
    kernel.arguments(&words, 0).expect("they fit").into_iter().map(Tensor::from).collect()
}

fn options(random: &Random, delays: &[Delay]) -> RunOptions {
    let mut options = RunOptions::default();
    (options.blocks, options.delays) = (Some(random.blocks), delays.to_vec());
    options
}

/// What a run with these delays leaves in its buffers.
fn left(kernel: &Kernel, random: &Random, delays: &[Delay]) -> Vec<Vec<u8>> {
    let options = options(random, delays);
    let run = kernel.run_with(arguments(kernel, &random.text), &options).expect("it can be run");
    (0..2).map(|at| run.left(at).map_or(Vec::new(), <[u8]>::to_vec)).collect()
}

/// Delays of a right program, of pipes that may overlap their work.
fn delays(seed: u64, arch: &str) -> Vec<Delay> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut pick = |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % n
    };
    let pipes = if arch == "a2a3" { ["V", "MTE3"] } else { ["MTE3", "MTE3"] };
    let one = |pick: &mut dyn FnMut(u64) -> u64| {
        let (pipe, work, block) = (pipes[pick(2) as usize], 1 + pick(5), pick(2));
        let later = work + 1 + pick(4);
        format!("delay AIV0.{pipe} work {work} past work {later} in block {block}").parse().expect("it is a delay")
    };
    (0..1 + pick(4)).map(|_| one(&mut pick)).collect()
}

fn study(arch: &str, seeds: u64) -> Shown {
    let mut shown = Shown::default();
    for seed in 0..seeds {
        let mut random = Random::new(seed, arch);
        // Zeros show little.
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
        let shown = study(arch, count());
        println!("{arch}: {shown:?}");
        assert!(shown.right > 10 && shown.racing > 5, "{shown:?}");
        assert!(shown.none == 0, "{shown:?}");
    }
}

/// A pipe that keeps its work in order is not overtaken, and a word that is no schedule is an error.
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
