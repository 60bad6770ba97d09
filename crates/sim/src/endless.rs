//! Loops that never end: what decides whether one goes on comes back, and nothing else has a say.

use slipring_program::{CoreProgram, End, Inst, SiteRef};

/// Rounds of a loop before it is said to have no end: a deadlock or an access after the end of a buffer says more, and shows soon.
const PATIENCE: u64 = 1000;

/// A loop of a core.
#[derive(Clone, Debug)]
struct Watched {
    head: usize,
    back: usize,
    /// Whether it does nothing that others see: no other core comes any further while it goes on.
    alone: bool,
    /// Registers that decide; `None` where its end is known, or others have a say.
    regs: Option<Vec<u32>>,
    /// Rounds since it was entered, what the registers held in one of them, and from which round on they are kept anew.
    rounds: u64,
    kept: Vec<u64>,
    again: u64,
}

/// The loops of a core, where one of them may have no end.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    loops: Vec<Watched>,
    /// The place and the rounds of the first loop that was found to have none.
    pub found: Option<(SiteRef, u64)>,
}

impl Watch {
    /// Watches the loops of a core whose cores meet as their numbers say; `None` where all of them surely end.
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

    /// Forgets what was seen, for the next block.
    pub fn restart(&mut self) {
        self.loops.iter_mut().for_each(Watched::enter);
    }

    /// A core jumps back: true if the run stops here. A loop that never ends stops it where `stops` says so, and where it does nothing
    /// that others see, since nothing else can happen any more.
    pub fn jump(&mut self, back: usize, regs: &[u64], site: SiteRef, stops: bool) -> bool {
        let Some(at) = self.loops.iter().position(|own| own.back == back) else { return false };
        let head = self.loops[at].head;
        // Inner loops, which come first, are entered anew.
        for inner in self.loops[..at].iter_mut().filter(|inner| inner.head >= head) {
            inner.enter();
        }
        let comes_back = self.loops[at].iterate(regs);
        let news = comes_back && self.found.is_none();
        if news {
            self.found = Some((site, self.loops[at].rounds));
        }
        news && (stops || self.loops[at].alone)
    }
}

impl Watched {
    fn enter(&mut self) {
        (self.rounds, self.again) = (0, 1);
        self.kept.clear();
    }

    /// One round more: true if the registers hold what they held before.
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
