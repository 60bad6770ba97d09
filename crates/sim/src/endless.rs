//! Infinite loops: the state that decides whether the loop continues repeats, and nothing else influences it.

use slipring_program::{CoreProgram, End, Inst, SiteRef};

/// Iterations of a loop before it is reported as infinite: a deadlock or an out-of-bounds access is more informative,
/// and shows soon.
const PATIENCE: u64 = 1000;

/// Iterations after which an infinite loop with effects that others observe stops the run. Until then, another core may
/// run into an error that is more informative.
const MOST_ROUNDS: u64 = 1 << 16;

/// A loop of a core.
#[derive(Clone, Debug)]
struct Watched {
    head: usize,
    back: usize,
    /// Whether it has no effects that others observe, so that no other core makes progress while it runs.
    alone: bool,
    /// Registers that decide; `None` if it is known to terminate, or others can influence it.
    regs: Option<Vec<u32>>,
    /// Iterations since it was entered, the register contents in one of them, and the iteration from which on they are
    /// recorded anew.
    rounds: u64,
    kept: Vec<u64>,
    again: u64,
}

/// The loops of a core of which one may be infinite.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    loops: Vec<Watched>,
    /// The location and iteration count of the first loop found to be infinite.
    pub found: Option<(SiteRef, u64)>,
}

impl Watch {
    /// Watches the loops of a core; `free` means that loops with a meeting point are left as the launch chooses. `None`
    /// if no loop needs watching.
    pub fn new(core: &CoreProgram, free: bool) -> Option<Watch> {
        let watched = |own: slipring_program::Loop| {
            let chosen = free && core.insts[own.head..=own.back].iter().any(|inst| matches!(inst, Inst::Meet { .. }));
            let ends = matches!(own.end, End::Counted | End::Toward { .. });
            let regs = own.deciding.iter().map(|reg| reg.0).collect();
            let regs = Some(regs).filter(|_| !ends && !own.loads && !chosen);
            let alone = core.insts[own.head..=own.back].iter().all(Inst::is_own);
            Watched { head: own.head, back: own.back, alone, regs, rounds: 0, kept: Vec::new(), again: 1 }
        };
        let loops: Vec<Watched> = core.loops().into_iter().map(watched).collect();
        loops.iter().any(|own| own.regs.is_some()).then_some(Watch { loops, found: None })
    }

    /// Forgets all observations, for the next block.
    pub fn restart(&mut self) {
        self.loops.iter_mut().for_each(Watched::enter);
    }

    /// A core jumps back: true if the run stops here. An infinite loop stops it if `stops` is set, if it has no effects
    /// that others observe, since nothing else can happen any more, and otherwise after [`MOST_ROUNDS`].
    pub fn jump(&mut self, back: usize, regs: &[u64], site: SiteRef, stops: bool) -> bool {
        let Some(at) = self.loops.iter().position(|own| own.back == back) else { return false };
        let head = self.loops[at].head;
        // Inner loops, which come first, are entered anew.
        for inner in self.loops[..at].iter_mut().filter(|inner| inner.head >= head) {
            inner.enter();
        }
        let comes_back = self.loops[at].iterate(regs);
        let Watched { alone, rounds, .. } = self.loops[at];
        if comes_back && self.found.is_none() {
            self.found = Some((site, rounds));
            return stops || alone;
        }
        comes_back && rounds >= MOST_ROUNDS
    }
}

impl Watched {
    fn enter(&mut self) {
        (self.rounds, self.again) = (0, 1);
        self.kept.clear();
    }

    /// One more iteration: true if the registers hold the same values as before.
    fn iterate(&mut self, regs: &[u64]) -> bool {
        let Some(own) = &self.regs else { return false };
        self.rounds += 1;
        let now = own.iter().map(|reg| regs[*reg as usize]);
        if self.rounds > PATIENCE && self.kept.iter().copied().eq(now.clone()) && !self.kept.is_empty() | own.is_empty()
        {
            return true;
        }
        if self.rounds == self.again {
            self.again = self.again.saturating_mul(2);
            self.kept.clear();
            self.kept.extend(now);
        }
        false
    }
}
