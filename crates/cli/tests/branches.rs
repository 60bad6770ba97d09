//! Random blocks with branches between them: what slipring makes of them computes what going from block to block does.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::dice::Dice;
use crate::here::{Folder, everything, slipring};

/// How a block ends: forward unless said otherwise. The last block is the end.
#[derive(Clone, Debug)]
enum End {
    Always(usize),
    /// By these bits of the number.
    Bits(i32, [usize; 2]),
    /// Back to the first one while the count is positive, else to the second one; in the order of the text or reversed.
    Back([usize; 2], bool),
    /// By the number's last three bits.
    Case(Vec<usize>, usize),
}

impl End {
    fn leads_to(&self) -> Vec<usize> {
        match self {
            End::Always(to) => vec![*to],
            End::Bits(_, to) | End::Back(to, _) => to.to_vec(),
            End::Case(cases, otherwise) => cases.iter().copied().chain([*otherwise]).collect(),
        }
    }
}

/// A block: multiplies its number, adds a constant, and the number of an earlier block that every way to it goes
/// through.
#[derive(Clone, Debug)]
struct Block {
    factor: i32,
    more: i32,
    uses: Option<usize>,
    end: End,
}

/// Blocks of which each is reached, in the order of the text; block `blocks.len()` stores the number and the count.
fn blocks(dice: &mut Dice) -> Vec<Block> {
    let count = 2 + dice.place(7);
    let mut all = Vec::new();
    for at in 0..count {
        let forward = |dice: &mut Dice| at + 1 + dice.place(count - at);
        let end = match dice.below(10) {
            0..=3 if at > 0 => {
                let back = 1 + dice.place(at);
                End::Back([back, forward(dice)], dice.chance(50))
            }
            0..=4 => {
                let cases = (0..1 + dice.place(4)).map(|_| forward(dice)).collect();
                End::Case(cases, forward(dice))
            }
            5..=8 => End::Bits(dice.pick(&[1, 2, 4]), [forward(dice), forward(dice)]),
            _ => End::Always(forward(dice)),
        };
        all.push(Block { factor: 1 + dice.place(9) as i32, more: dice.place(19) as i32 - 9, uses: None, end });
    }
    let dominators = dominators(&all);
    for (at, block) in all.iter_mut().enumerate() {
        let earlier: Vec<usize> = dominators[at].iter().copied().filter(|other| *other < at).collect();
        if !earlier.is_empty() && dice.chance(70) {
            block.uses = Some(dice.pick(&earlier));
        }
    }
    all
}

/// The blocks that every way to each block goes through; all of them for one that is not reached.
fn dominators(blocks: &[Block]) -> Vec<BTreeSet<usize>> {
    let mut found = vec![(0..blocks.len()).collect::<BTreeSet<usize>>(); blocks.len()];
    found[0] = BTreeSet::from([0]);
    for _ in 0..blocks.len() {
        for at in 1..blocks.len() {
            let from = (0..blocks.len()).filter(|other| blocks[*other].end.leads_to().contains(&at));
            let mut own =
                from.map(|other| found[other].clone()).reduce(|a, b| &a & &b).unwrap_or_else(|| found[at].clone());
            own.insert(at);
            found[at] = own;
        }
    }
    found
}

fn text(blocks: &[Block]) -> String {
    let mut text = String::from(
        "func.func @k(%y: !pto.ptr<i32>, %n: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {\n\
         %i0 = arith.constant 0 : index\n%i1 = arith.constant 1 : index\n%zero = arith.constant 0 : i32\n\
         %one = arith.constant 1 : i32\n%seven = arith.constant 7 : i32\n%count = arith.constant 12 : i32\n\
         cf.br ^b0(%n, %count : i32, i32)\n",
    );
    for (at, Block { factor, more, uses, end }) in blocks.iter().enumerate() {
        let other = uses.map_or("%zero".to_string(), |other| format!("%v{other}"));
        let to = |to: &usize| format!("^b{to}(%v{at}, %g{at} : i32, i32)");
        let (condition, branch) = match end {
            End::Always(next) => (String::new(), format!("cf.br {}", to(next))),
            End::Bits(bits, [yes, no]) => (
                format!(
                    "%k{at} = arith.constant {bits} : i32\n%q{at} = arith.andi %v{at}, %k{at} : i32\n\
                     %t{at} = arith.cmpi eq, %q{at}, %zero : i32\n"
                ),
                format!("cf.cond_br %t{at}, {}, {}", to(yes), to(no)),
            ),
            End::Back([back, on], reversed) => {
                let (predicate, first, second) = if *reversed { ("sle", on, back) } else { ("sgt", back, on) };
                let condition = format!("%t{at} = arith.cmpi {predicate}, %g{at}, %zero : i32\n");
                (condition, format!("cf.cond_br %t{at}, {}, {}", to(first), to(second)))
            }
            End::Case(cases, otherwise) => {
                let cases: String =
                    cases.iter().enumerate().map(|(at, next)| format!(", {at}: {}", to(next))).collect();
                let condition = format!("%q{at} = arith.andi %v{at}, %seven : i32\n");
                (condition, format!("cf.switch %q{at} : i32, [default: {}{cases}]", to(otherwise)))
            }
        };
        let _ = write!(
            text,
            "^b{at}(%x{at}: i32, %f{at}: i32):\n%a{at} = arith.constant {factor} : i32\n%c{at} = arith.constant {more} : i32\n\
             %m{at} = arith.muli %x{at}, %a{at} : i32\n%s{at} = arith.addi %m{at}, %c{at} : i32\n\
             %v{at} = arith.addi %s{at}, {other} : i32\n%g{at} = arith.subi %f{at}, %one : i32\n{condition}{branch}\n"
        );
    }
    let _ = write!(
        text,
        "^b{}(%x: i32, %f: i32):\npto.store_scalar %x, %y[%i0] : !pto.ptr<i32>, i32\n\
         pto.store_scalar %f, %y[%i1] : !pto.ptr<i32>, i32\nreturn\n}}\n",
        blocks.len()
    );
    text
}

/// The number and the count at the end.
fn walked(blocks: &[Block], n: i32) -> [i32; 2] {
    let (mut at, mut number, mut count, mut known) = (0, n, 12, vec![0; blocks.len()]);
    while let Some(Block { factor, more, uses, end }) = blocks.get(at) {
        let other = uses.map_or(0, |other| known[other]);
        number = number.wrapping_mul(*factor).wrapping_add(*more).wrapping_add(other);
        known[at] = number;
        count -= 1;
        at = match end {
            End::Always(next) => *next,
            End::Bits(bits, [yes, no]) => *if number & bits == 0 { yes } else { no },
            End::Back([back, on], _) => *if count > 0 { back } else { on },
            End::Case(cases, otherwise) => *cases.get((number & 7) as usize).unwrap_or(otherwise),
        };
    }
    [number, count]
}

#[test]
fn structured_branches_compute_what_blocks_do() {
    let folder = Folder::empty("branches");
    let (mut right, mut loops_with_two_entries) = (0, 0);
    for seed in 0..if everything() { 1000 } else { 60 } {
        let blocks = blocks(&mut Dice::new(seed));
        folder.write("k.pto", text(&blocks));
        folder.write("y.bin", [0; 8]);
        let n = seed as i32 % 23 - 11;
        let mut command = slipring();
        command.args(["run", "k.pto", "--arch", "a5", "--arg", "@y.bin:out", "--arg", &format!("{n}:i32")]);
        let done = command.current_dir(folder.file("")).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        if done.status.code() == Some(2) && said.contains("error[irreducible]") {
            loops_with_two_entries += 1;
            continue;
        }
        assert_eq!(done.status.code(), Some(0), "seed {seed}: {said}\n{}", text(&blocks));
        let stored = std::fs::read(folder.file("y.bin")).unwrap();
        let numbers: Vec<i32> = stored.chunks(4).map(|own| i32::from_le_bytes(own.try_into().unwrap())).collect();
        assert_eq!(numbers, walked(&blocks, n), "seed {seed}, n = {n}\n{}", text(&blocks));
        right += 1;
    }
    assert!(right > 3 * loops_with_two_entries, "{right} of {}", right + loops_with_two_entries);
}
