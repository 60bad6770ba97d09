//! Proofs about small loops, compared with an independent interpreter: the numbers for which a loop ends.

use slipring::{Judgement, Kernel, ProveOptions, Tensor};

/// The interpreted numbers, and the number of iterations after which a loop counts as endless.
const LEAST: i64 = -3;
const MOST: i64 = 12;
const FUEL: u32 = 5000;

/// The initial values, the condition and the body of a loop.
#[derive(Clone, Copy, Debug)]
struct Case {
    start: &'static str,
    predicate: &'static str,
    sides: [&'static str; 2],
    step: &'static str,
}

/// The value of a number in the text, in a launch with `n`.
fn number(name: &str, w: i64, n: i64) -> i64 {
    match name {
        "%w" => w,
        "%n" => n,
        "%c0" => 0,
        "%c7" => 7,
        _ => unreachable!("no such number"),
    }
}

impl Case {
    /// The loop as text, optionally inside a counted loop.
    fn text(&self, nested: bool) -> String {
        let step = match self.step {
            "half" => "arith.divsi %v, %c2",
            "twice" => "arith.muli %v, %c2",
            "stay" => "arith.addi %v, %c0",
            "down" => "arith.subi %v, %c1",
            "by n" => "arith.addi %v, %n",
            "up 2" => "arith.addi %v, %c2",
            _ => "arith.addi %v, %c1",
        };
        let Case { start, predicate, sides: [a, b], .. } = self;
        let own = format!(
            "%end = scf.while (%w = {start}) : (index) -> index {{\n%go = arith.cmpi {predicate}, {a}, {b} : index\n\
             scf.condition(%go) %w : index\n}} do {{\n^bb0(%v: index):\npto.barrier <PIPE_ALL>\n\
             %next = {step} : index\nscf.yield %next : index\n}}\n"
        );
        let own = if nested { format!("scf.for %i = %c0 to %c2 step %c1 {{\n{own}}}\n") } else { own };
        format!(
            "func.func @k(%x: !pto.ptr<f32>, %n: index) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{\n\
             %c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c2 = arith.constant 2 : index\n\
             %c7 = arith.constant 7 : index\n{own}return\n}}\n"
        )
    }

    /// Whether it ends soon for a number, without overflow.
    fn ends(&self, n: i64) -> bool {
        let mut w = number(self.start, 0, n);
        for _ in 0..FUEL {
            let [a, b] = self.sides.map(|name| number(name, w, n));
            let goes_on = match self.predicate {
                "slt" => a < b,
                "sle" => a <= b,
                "sgt" => a > b,
                "sge" => a >= b,
                "ult" => (a as u64) < b as u64,
                "eq" => a == b,
                _ => a != b,
            };
            if !goes_on {
                return true;
            }
            let next = match self.step {
                "half" => Some(w / 2),
                "twice" => w.checked_mul(2),
                "stay" => Some(w),
                "down" => w.checked_sub(1),
                "by n" => w.checked_add(n),
                "up 2" => w.checked_add(2),
                _ => w.checked_add(1),
            };
            // An overflow determines what follows, and is a finding as well.
            let Some(next) = next else { return false };
            w = next;
        }
        false
    }
}

fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for start in ["%c0", "%n"] {
        for predicate in ["slt", "sle", "sgt", "sge", "ult", "eq", "ne"] {
            for sides in [["%w", "%n"], ["%n", "%w"], ["%w", "%c7"], ["%n", "%c7"]] {
                for step in ["up", "up 2", "down", "stay", "by n", "half", "twice"] {
                    all.push(Case { start, predicate, sides, step });
                }
            }
        }
    }
    all
}

/// A loop that is proved to end does so for each interpreted number; for a finding, the number that it names is the
/// smallest one from 0 on for which the loop does not end.
#[test]
fn proofs_agree_with_an_interpreter_of_loops() {
    let (mut proved, mut violated, mut open) = (0, 0, 0);
    let all = crate::here::everything();
    for (at, case) in cases().into_iter().enumerate().filter(|(at, _)| all || at % 5 == 0) {
        let nested = at % 2 == 1;
        let text = case.text(nested);
        let kernel = Kernel::from_text("loop.pto", text.clone()).expect("it is well formed");
        let texts = ["zeros:f32[64]", "3:index"].map(String::from);
        let args: Vec<Tensor<'_>> = kernel.arguments(&texts, 0).expect("they fit");
        let mut options = ProveOptions { timings: 0, fix: false, ..ProveOptions::default() };
        options.run.limits.steps = 1 << 17;
        let proof = kernel.prove(args, &options).expect("it can be run");
        let say = || format!("{case:?}\n{proof}\n{text}");
        match proof.judgement {
            Judgement::Proved | Judgement::Doubtful => {
                let from = if proof.scope.counts.contains(" from 0") { 0 } else { LEAST };
                assert!(proof.scope.loops.starts_with("all end"), "{}", say());
                assert!((from..=MOST).all(|n| case.ends(n)), "{}", say());
                proved += 1;
            }
            Judgement::Violated => {
                let named =
                    proof.scope.counts.strip_prefix("n = ").and_then(|rest| rest.split(' ').next()?.parse().ok());
                match named {
                    Some(n) => {
                        assert!(!case.ends(n), "{}", say());
                        assert!((0..n).all(|n| case.ends(n)), "{}", say());
                    }
                    None => assert!(!case.ends(3), "{}", say()),
                }
                violated += 1;
            }
            Judgement::NotProved => open += 1,
        }
    }
    assert!(proved > 10 && violated > 10, "{proved} proved, {violated} violated, {open} open");
}
