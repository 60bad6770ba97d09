//! Small programs of two pipes: loads into buffers and stores out of them, in a loop with an argument, with flags both
//! ways. Most are a correct program with one or two changes.

use super::explorer::{Program, Step};
use crate::dice::Dice;

/// The pipe that loads, and the one that stores.
const LOAD: u8 = 0;
const STORE: u8 = 1;

/// A program: steps before its loop, in a round, and after the loop.
pub struct Small {
    parts: [Program; 3],
    /// The rounds are repeated after the loop, as often as a second argument says.
    again: bool,
}

/// Flags 0 and 1 go from the load to the store, 2 and 3 back.
fn set(flag: u8) -> (u8, Step) {
    (if flag < 2 { LOAD } else { STORE }, Step::Set(flag))
}

fn wait(flag: u8) -> (u8, Step) {
    (if flag < 2 { STORE } else { LOAD }, Step::Wait(flag))
}

impl Small {
    /// The program of a number.
    pub fn random(seed: u64) -> Small {
        let mut dice = Dice::new(seed);
        let mut roll = |below: usize| dice.place(below);
        let buffers = 1 + roll(2) as u8;
        let mut parts: [Program; 3] = Default::default();
        for buffer in 0..buffers {
            parts[0].push(set(2 + buffer));
            parts[2].push(wait(2 + buffer));
            parts[1].extend([
                wait(2 + buffer),
                (LOAD, Step::Work { buffer, write: true }),
                set(buffer),
                wait(buffer),
                (STORE, Step::Work { buffer, write: false }),
                set(2 + buffer),
            ]);
        }
        for _ in 0..roll(3) {
            let part = [0, 1, 1, 1, 2][roll(5)];
            let list = &mut parts[part];
            if list.is_empty() {
                continue;
            }
            let at = roll(list.len());
            match roll(5) {
                0 => drop(list.remove(at)),
                1 => list.insert(at, list[at]),
                2 => {
                    let other = roll(list.len());
                    list.swap(at, other);
                }
                3 => {
                    // Another id of the same pair of pipes, or another buffer.
                    list[at].1 = match list[at].1 {
                        Step::Set(flag) => Step::Set(flag ^ 1),
                        Step::Wait(flag) => Step::Wait(flag ^ 1),
                        Step::Work { buffer, write } => Step::Work { buffer: buffer ^ 1, write },
                    };
                }
                _ => {
                    let next = (at + 1) % list.len();
                    list.swap(at, next);
                }
            }
        }
        Small { parts, again: false }
    }

    /// The same with a second loop and its own argument.
    pub fn again(self) -> Small {
        Small { again: true, ..self }
    }

    /// All steps, with this number of rounds.
    pub fn program(&self, count: u64) -> Program {
        // It does not matter in which loop a round is.
        let rounds = (0..count).flat_map(|_| &self.parts[1]);
        self.parts[0].iter().chain(rounds).chain(&self.parts[2]).copied().collect()
    }

    /// The program as text, with the count as its argument. Every load and store has its own address in global memory.
    pub fn text(&self) -> String {
        let mut text = String::from(
            "module attributes {pto.target_arch = \"a5\", pto.kernel_kind = #pto.kernel_kind<vector>} {\n\
             func.func @k(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>, %n: index, %m: index) attributes {pto.aicore} {\n\
             %c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%row = arith.constant 1024 : index\n\
             %none = arith.constant 0 : i64\n%one = arith.constant 1 : i64\n%b = arith.constant 256 : i64\n\
             %in0 = pto.castptr %none : i64 -> !pto.ptr<f32, ub>\n%in1 = pto.castptr %b : i64 -> !pto.ptr<f32, ub>\n",
        );
        let twice: &[(usize, &str)] = if self.again { &[(1, "%m")] } else { &[] };
        let parts = [(0, ""), (1, "%n")].iter().chain(twice).chain(&[(2, "")]);
        for (part, count) in parts.map(|(part, count)| (*part, *count)) {
            let list = &self.parts[part];
            if part == 1 {
                text += &format!("scf.for %i = %c0 to {count} step %c1 {{\n%o = arith.muli %i, %row : index\n");
            }
            for (at, (pipe, step)) in list.iter().enumerate() {
                text += &line(part * 32 + at, part == 1, *pipe, *step);
            }
            if part == 1 {
                text += "}\n";
            }
        }
        text + "return\n}\n}\n"
    }
}

fn line(name: usize, in_loop: bool, pipe: u8, step: Step) -> String {
    const WAYS: [&str; 2] = ["\"PIPE_MTE2\", \"PIPE_MTE3\"", "\"PIPE_MTE3\", \"PIPE_MTE2\""];
    let flag = |op: &str, flag: u8| format!("pto.{op}[{}, \"EVENT_ID{}\"]\n", WAYS[usize::from(flag / 2)], flag % 2);
    match step {
        Step::Set(id) => flag("set_flag", id),
        Step::Wait(id) => flag("wait_flag", id),
        Step::Work { buffer, .. } => {
            let base = if pipe == LOAD { "%x" } else { "%y" };
            let at = if in_loop { "%o" } else { "%c0" };
            let place = format!(
                "%k{name} = arith.constant {} : index\n%a{name} = arith.addi {at}, %k{name} : index\n\
                 %p{name} = pto.addptr {base}, %a{name} : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>\n",
                (name % 16) * 64
            );
            let i64s = "i64, i64, i64, i64";
            place
                + &match pipe {
                    LOAD => format!(
                        "pto.mte_gm_ub %p{name}, %in{buffer}, %none, %b nburst(%one, %b, %b) : !pto.ptr<f32, gm>, \
                         !pto.ptr<f32, ub>, i64, {i64s}\n"
                    ),
                    _ => format!(
                        "pto.mte_ub_gm %in{buffer}, %p{name}, %b nburst(%one, %b, %b) : !pto.ptr<f32, ub>, \
                         !pto.ptr<f32, gm>, {i64s}\n"
                    ),
                }
        }
    }
}
