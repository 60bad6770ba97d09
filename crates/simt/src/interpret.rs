//! The interpreter of launches.

use slipring_program::{Fault, Inst, Kind, Operand, Scratch, SiteRef, Trap};

use crate::instruction::{Act, Instruction, Lanes, Workitem, active};
use crate::memory::{Store, Who};
use crate::parts::Parts;
use crate::shape::LANES;
use crate::warp::{Group, Warp};

/// Steps of the run's limit for each instruction of a warp.
const STEPS: u64 = 8;

/// A launch that is running.
#[derive(Debug)]
pub(crate) struct Running<'a> {
    pub parts: &'a Parts,
    /// Its first workitem.
    pub of: Workitem,
    pub store: Store<'a>,
    pub scratch: &'a mut Scratch,
    pub cycles: u64,
}

/// Where lanes continue.
enum Next {
    /// All of them there.
    At(u32),
    /// Each has been sent where it goes.
    Sent,
}

impl Running<'_> {
    /// Runs all warps to the end, from one barrier to the next.
    pub fn all(&mut self, warps: &mut [Warp]) -> Result<(), Fault> {
        loop {
            for warp in warps.iter_mut() {
                while let Some(group) = warp.behind() {
                    self.group(warp, group)?;
                }
            }
            if warps.iter().all(|warp| warp.live == 0) {
                return Ok(());
            }
            self.meet(warps)?;
        }
    }

    /// All workitems are at a barrier, or have ended: it must be the same one for all.
    fn meet(&mut self, warps: &mut [Warp]) -> Result<(), Fault> {
        let waiting = |warp: &Warp| active(warp.waiting).next().map(|lane| (warp.pcs[lane], warp.first + lane as u32));
        let Some((pc, first)) = warps.iter().find_map(waiting) else { return Ok(()) };
        let absent = |warp: &Warp| (warp.waiting == 0).then_some((warp.first, None));
        let elsewhere = |warp: &Warp| waiting(warp).filter(|own| own.0 != pc).map(|own| (own.1, Some(own.0)));
        let other = warps.iter().find_map(|warp| absent(warp).or_else(|| elsewhere(warp)));
        if let Some((other, at)) = other {
            return Err(self.apart(pc, first, other, at));
        }
        for warp in warps.iter_mut() {
            let lanes = std::mem::take(&mut warp.waiting);
            warp.send(lanes, pc + 1);
        }
        self.store.touched.meet();
        Ok(())
    }

    /// The fault of a barrier that a workitem waits at and another one does not reach.
    fn apart(&self, pc: u32, waits: u32, other: u32, at: Option<u32>) -> Fault {
        let [waits, other] = [waits, other].map(|number| self.name(number));
        let message = format!("{waits} waits here for all workitems of the launch, and {other} does not come here");
        let fault = Fault { site: Some(self.site(pc)), ..Fault::new("simt-barrier", message) };
        let fault = match at {
            Some(at) => fault.also(self.site(at), format!("{other} waits here")),
            None => fault,
        };
        fault.help("put the barrier where every workitem comes, outside of branches and loops that differ")
    }

    fn site(&self, pc: u32) -> SiteRef {
        self.parts.sites[pc as usize]
    }

    fn name(&self, number: u32) -> String {
        let [x, y, z] = Workitem { number, ..self.of }.at();
        format!("workitem ({x}, {y}, {z})")
    }

    /// Counts an instruction of a warp.
    fn count(&mut self, pc: u32, cycles: u32) -> Result<(), Fault> {
        let before = self.scratch.steps;
        let at = |fault: Fault| Fault { site: Some(self.site(pc)), ..fault };
        let Some(left) = before.checked_sub(STEPS) else {
            return Err(at(Fault::new(Kind::StepLimit, "was stopped")));
        };
        if self.scratch.cancel.between(before, left) {
            return Err(at(Fault::new(Kind::Cancelled, "was cancelled")));
        }
        self.scratch.steps = left;
        self.cycles += u64::from(cycles);
        Ok(())
    }

    /// Runs lanes at the same instruction until they part, meet others, or wait.
    fn group(&mut self, warp: &mut Warp, Group { lanes, mut pc, next }: Group) -> Result<(), Fault> {
        loop {
            match self.instruction(warp, lanes, pc)? {
                Next::At(to) => pc = to,
                Next::Sent => return Ok(()),
            }
            if pc >= next {
                warp.send(lanes, pc);
                return Ok(());
            }
        }
    }

    fn instruction(&mut self, warp: &mut Warp, lanes: u32, pc: u32) -> Result<Next, Fault> {
        let inst = &self.parts.code[pc as usize];
        let memory = matches!(inst, Inst::Issue { work } if self.parts.steps[*work as usize].is_access());
        let spec = &self.parts.spec;
        self.count(pc, if memory { spec.memory } else { spec.instruction })?;
        match *inst {
            Inst::Issue { work } => return self.step(warp, lanes, pc, work),
            Inst::Scalar { f, d, args, .. } => self.scalar(warp, lanes, pc, (d.0, args), f)?,
            Inst::Move { d, a } => warp.set(d.0 as usize, lanes, &warp.values(a)),
            Inst::Add { d, a, b } => {
                self.scalar(warp, lanes, pc, (d.0, [a, b, Operand::Imm(0)]), |[a, b, _]| Ok(a.wrapping_add(b)))?;
            }
            Inst::Jump { to } => return Ok(Next::At(to)),
            Inst::JumpIfZero { a, to } => {
                let values = warp.values(a);
                return Ok(branch(warp, lanes, pc, to, |lane| values[lane] == 0));
            }
            Inst::JumpIfGe { a, b, to } => {
                let (a, b) = (warp.values(a), warp.values(b));
                return Ok(branch(warp, lanes, pc, to, |lane| a[lane] as i64 >= b[lane] as i64));
            }
            _ => {
                warp.live &= !lanes;
                return Ok(Next::Sent);
            }
        }
        Ok(Next::At(pc + 1))
    }

    fn scalar(
        &self,
        warp: &mut Warp,
        lanes: u32,
        pc: u32,
        (d, args): (u32, [Operand; 3]),
        f: impl Fn([u64; 3]) -> Result<u64, Trap>,
    ) -> Result<(), Fault> {
        let args = args.map(|arg| warp.values(arg));
        let mut result = [0; LANES];
        for lane in active(lanes) {
            let value = f([0, 1, 2].map(|at| args[at][lane]));
            result[lane] = value.map_err(|trap| self.trapped(trap, pc, warp.first + lane as u32))?;
        }
        warp.set(d as usize, lanes, &result);
        Ok(())
    }

    fn trapped(&self, trap: Trap, pc: u32, number: u32) -> Fault {
        let (kind, message) = trap.says();
        Fault { site: Some(self.site(pc)), ..Fault::new(kind, format!("{message}, in {}", self.name(number))) }
    }

    fn step(&mut self, warp: &mut Warp, lanes: u32, pc: u32, work: u32) -> Result<Next, Fault> {
        let parts = self.parts;
        let step = &parts.steps[work as usize];
        let args: Vec<Lanes> = step.args.iter().map(|arg| warp.values(*arg)).collect();
        let result = match &step.act {
            Act::Meet => return self.wait(warp, lanes, pc),
            Act::Nothing => [0; LANES],
            Act::Exchange(exchange) => exchange(lanes, &args).map_err(|fault| self.of_step(fault, step, pc, None))?,
            _ => self.each(warp, lanes, pc, step, &args)?,
        };
        if let Some(d) = step.result {
            warp.set(d.0 as usize, lanes, &result);
        }
        Ok(Next::At(pc + 1))
    }

    /// A step that every lane does for itself, in the order of the lanes.
    fn each(&mut self, warp: &Warp, lanes: u32, pc: u32, step: &Instruction, args: &[Lanes]) -> Result<Lanes, Fault> {
        let mut result = [0; LANES];
        for lane in active(lanes) {
            let workitem = Workitem { number: warp.first + lane as u32, ..self.of };
            let who = Who { workitem, site: self.site(pc) };
            let value = self.one(step, args, lane, who);
            result[lane] = value.map_err(|fault| self.of_step(fault, step, pc, Some(workitem.number)))?;
        }
        Ok(result)
    }

    fn one(&mut self, step: &Instruction, args: &[Lanes], lane: usize, who: Who) -> Result<u64, Fault> {
        let mut own = [0; 4];
        own.iter_mut().zip(args).for_each(|(own, all)| *own = all[lane]);
        match &step.act {
            Act::Ask(ask) => Ok(ask(who.workitem)),
            Act::Load(cell) => self.store.load(*cell, own[0], who),
            Act::Store(cell) => self.store.store(*cell, own[0], own[1], who).map(|()| 0),
            Act::Keep(slot) => Ok(self.store.keep(*slot, own[0], who.workitem)),
            Act::Resume(slot) => self.store.resume(*slot, who.workitem),
            Act::Change(cell, update, by) => self.store.change((*cell, *update), &own, by, who),
            _ => Ok(0),
        }
    }

    /// Lanes wait at a barrier: all that have not ended must come together.
    fn wait(&mut self, warp: &mut Warp, lanes: u32, pc: u32) -> Result<Next, Fault> {
        if let Some(other) = active(warp.live & !lanes).next() {
            let first = active(lanes).next().unwrap_or(0);
            let [waits, other] = [first, other].map(|lane| warp.first + lane as u32);
            return Err(self.apart(pc, waits, other, None));
        }
        warp.waiting |= lanes;
        warp.send(lanes, pc);
        Ok(Next::Sent)
    }

    /// The fault of a step, at its location.
    fn of_step(&self, mut fault: Fault, step: &Instruction, pc: u32, number: Option<u32>) -> Fault {
        let of = number.map_or_else(String::new, |number| format!(" of {}", self.name(number)));
        fault.message = format!("`{}`{of} {}", step.name, fault.message);
        fault.site = Some(self.site(pc));
        fault
    }
}

/// Sends the lanes for which a condition holds to an instruction, the others to the next one.
fn branch(warp: &mut Warp, lanes: u32, pc: u32, to: u32, holds: impl Fn(usize) -> bool) -> Next {
    let leaves = active(lanes).filter(|lane| holds(*lane)).fold(0, |set, lane| set | 1 << lane);
    if leaves == lanes {
        return Next::At(to);
    }
    if leaves == 0 {
        return Next::At(pc + 1);
    }
    warp.send(leaves, to);
    warp.send(lanes & !leaves, pc + 1);
    Next::Sent
}
