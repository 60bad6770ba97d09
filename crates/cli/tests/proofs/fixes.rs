//! Removed synchronisation is restored: for each flag, wait, barrier and free of correct kernels, the text without it.
//! If that is wrong, edits are proposed, the edited text is proved, and it is equivalent to the original.

use slipring::{Judgement, Kernel, ProveOptions};

use crate::here::root;

/// The buffers after a run with all checks, which must be clean.
fn results(kernel: &Kernel) -> Vec<Vec<u8>> {
    let args = kernel.arguments(&[], 0).expect("arguments");
    let run = kernel.run(args).expect("it runs");
    assert!(run.verdict().is_clean(), "{}", run.verdict());
    let parameters = kernel.parameters().expect("parameters");
    parameters.iter().filter(|p| p.is_buffer).map(|p| run.get::<u8>(&p.name).unwrap_or_default()).collect()
}

fn proof(kernel: &Kernel) -> slipring::Proof {
    let args = kernel.arguments(&[], 0).expect("arguments");
    kernel.prove(args, &ProveOptions { timings: 0, ..ProveOptions::default() }).expect("it can be run")
}

#[test]
fn what_is_dropped_is_mended() {
    let root = root().join("tests/files");
    let files = ["proof/by_argument.pto", "proof/nested.pto", "proof/ring_by_argument.pto", "rings/pipes/built.pto"];
    let synchronises = |line: &str| {
        ["pto.set_flag", "pto.wait_flag", "pto.barrier", "pto.tfree"].iter().any(|op| line.trim().starts_with(op))
    };
    let (mut wrong, mut mended, mut open) = (0, 0, Vec::new());
    for file in files {
        let text = std::fs::read_to_string(root.join(file)).expect("the file");
        let whole = Kernel::from_text(file, text.clone()).expect("it is right").platform("a5").expect("a platform");
        let meant = results(&whole);
        for at in (0..text.lines().count()).filter(|at| text.lines().nth(*at).is_some_and(synchronises)) {
            let less: Vec<&str> =
                text.lines().enumerate().filter(|(line, _)| *line != at).map(|(_, line)| line).collect();
            let Ok(kernel) = Kernel::from_text(file, less.join("\n")) else { continue };
            let kernel = kernel.platform("a5").expect("a platform");
            if kernel.compile().is_err() {
                continue;
            }
            let proof = proof(&kernel);
            if proof.judgement != Judgement::Violated {
                continue;
            }
            wrong += 1;
            let Some(fix) = proof.fix.filter(|fix| fix.verdict == Judgement::Proved) else {
                open.push(format!("{file} without line {}", at + 1));
                continue;
            };
            let fixed =
                Kernel::from_text(file, fix.text.clone()).expect("it is a text").platform("a5").expect("a platform");
            assert_eq!(
                self::proof(&fixed).judgement,
                Judgement::Proved,
                "{file} without line {}: {}",
                at + 1,
                fix.text
            );
            assert_eq!(results(&fixed), meant, "{file} without line {}: {}", at + 1, fix.text);
            mended += 1;
        }
    }
    // A removed free belongs to a tile, which edits of flags cannot restore.
    assert!(open.len() <= 1, "{open:?}");
    assert!(wrong > 40 && mended + open.len() == wrong, "{wrong} wrong, {mended} mended");
}
