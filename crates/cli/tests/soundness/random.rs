//! Random programs of a Vector core: loads, vector functions and stores on four buffers, with flags, tokens and
//! barriers, some of which are omitted, duplicated or misplaced.

use std::fmt::Write;

use crate::dice::Dice;

/// The numbers of a seed.
pub fn dice(seed: u64) -> Dice {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1);
    dice.word();
    dice
}

#[derive(Clone, Copy, PartialEq)]
enum Do {
    Load(u64),
    Compute(u64, u64),
    Store(u64),
}

impl Do {
    fn pipe(self) -> &'static str {
        match self {
            Do::Load(_) => "PIPE_MTE2",
            Do::Compute(..) => "PIPE_V",
            Do::Store(_) => "PIPE_MTE3",
        }
    }

    fn reads(self, buffer: u64) -> bool {
        matches!(self, Do::Compute(from, _) | Do::Store(from) if from == buffer)
    }

    fn writes(self, buffer: u64) -> bool {
        matches!(self, Do::Load(to) | Do::Compute(_, to) if to == buffer)
    }

    fn needs(self, earlier: Do) -> bool {
        let clash =
            |b| (self.writes(b) && (earlier.reads(b) || earlier.writes(b))) || (self.reads(b) && earlier.writes(b));
        self.pipe() != earlier.pipe() && (0..BUFFERS).any(clash)
    }
}

const BUFFERS: u64 = 4;

/// How a program keeps its pipes in order.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    Flags,
    Tokens,
}

/// A program for the A5.
pub fn program(seed: u64) -> String {
    let mut rng = dice(seed);
    let style = if rng.chance(60) { Style::Flags } else { Style::Tokens };
    let careless = rng.pick(&[0, 0, 8, 20]);
    let steps: Vec<Do> = (0..BUFFERS)
        .map(Do::Load)
        .chain((0..2 + rng.below(9)).map(|_| match rng.below(3) {
            0 => Do::Load(rng.below(BUFFERS)),
            1 => Do::Compute(rng.below(BUFFERS), rng.below(BUFFERS)),
            _ => Do::Store(rng.below(BUFFERS)),
        }))
        .collect();
    let rounds = if rng.chance(40) { 2 + rng.below(2) } else { 1 };
    let stores = steps.iter().filter(|s| matches!(s, Do::Store(_))).count() as u64;
    let mut body = String::new();
    let mut stored = 0;
    for (at, step) in steps.iter().enumerate() {
        if rng.chance(4) {
            let _ = writeln!(body, "    pto.barrier <PIPE_ALL>");
        }
        let mut held = Vec::new();
        match style {
            Style::Flags => before_by_flags(&mut rng, &mut body, &steps, at, careless),
            Style::Tokens => {
                for buffer in 0..BUFFERS {
                    if (step.reads(buffer) || step.writes(buffer)) && !rng.chance(careless) {
                        let _ = writeln!(body, "    pto.get_buf \"{}\", {buffer}, 0", step.pipe());
                        held.push(buffer);
                    }
                }
            }
        }
        write_step(&mut body, *step, &mut stored, stores);
        for buffer in held {
            let _ = writeln!(body, "    pto.rls_buf \"{}\", {buffer}, 0", step.pipe());
        }
    }
    if style == Style::Flags && !rng.chance(careless) {
        let _ = writeln!(body, "    pto.barrier <PIPE_ALL>");
    }
    format!(
        "// args: rand:f32[512],seed=3 zeros:f32[{}]
module attributes {{pto.target_arch = \"a5\", pto.kernel_kind = #pto.kernel_kind<vector>}} {{
func.func @k(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>) attributes {{pto.aicore}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %rounds = arith.constant {rounds} : index
  %row = arith.constant {} : index
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %b = arith.constant 256 : i64
{}  scf.for %r = %c0 to %rounds step %c1 {{
    %base = arith.muli %r, %row : index
    %yr = pto.addptr %y, %base : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
{body}  }}
  return
}}
}}
",
        64 * (stores * rounds).max(1),
        64 * stores,
        (0..BUFFERS).fold(String::new(), |text, at| text
            + &format!(
                "  %a{at} = arith.constant {} : i64\n  %u{at} = pto.castptr %a{at} : i64 -> !pto.ptr<f32, ub>\n",
                at * 256
            )),
    )
}

/// Flags for the last step of each pipe on which this one depends, unless forgotten.
fn before_by_flags(rng: &mut Dice, body: &mut String, steps: &[Do], at: usize, careless: u64) {
    let step = steps[at];
    for pipe in ["PIPE_MTE2", "PIPE_V", "PIPE_MTE3"] {
        let needed = steps[..at].iter().any(|earlier| earlier.pipe() == pipe && step.needs(*earlier));
        if !needed || rng.chance(careless) {
            continue;
        }
        let id = rng.below(4);
        let pair = format!("[\"{pipe}\", \"{}\", \"EVENT_ID{id}\"]", step.pipe());
        let _ = writeln!(body, "    pto.set_flag{pair}");
        if rng.chance(careless / 4) {
            let _ = writeln!(body, "    pto.set_flag{pair}");
        }
        let _ = writeln!(body, "    pto.wait_flag{pair}");
    }
}

fn write_step(body: &mut String, step: Do, stored: &mut u64, stores: u64) {
    let move_types = "i64, i64, i64, i64";
    match step {
        Do::Load(to) => {
            let _ = writeln!(
                body,
                "    pto.mte_gm_ub %x, %u{to}, %z, %b nburst(%one, %b, %b) : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, {move_types}"
            );
        }
        Do::Compute(from, to) => {
            let _ = writeln!(
                body,
                "    pto.vecscope {{
      %all = pto.pset_b32 \"PAT_ALL\" : !pto.mask<b32>
      %v = pto.vlds %u{from}[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
      %w = pto.vadd %v, %v, %all : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
      pto.vsts %w, %u{to}[%c0], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
    }}"
            );
        }
        Do::Store(from) => {
            debug_assert!(*stored < stores);
            let _ = writeln!(
                body,
                "    %o{stored} = arith.constant {} : index
    %y{stored} = pto.addptr %yr, %o{stored} : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
    pto.mte_ub_gm %u{from}, %y{stored}, %b nburst(%one, %b, %b) : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, {move_types}",
                *stored * 64
            );
            *stored += 1;
        }
    }
}
