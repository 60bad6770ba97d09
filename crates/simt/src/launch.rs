//! A launch: the program of its workitems, and its execution as one piece of work.

use slipring_machine::Units;
use slipring_program::{Access, Causes, Decision, Discover, Fault, Inst, Run, SiteRef};
use slipring_tile::Space;

use crate::decide;
use crate::instruction::{Act, Instruction, Workitem};
use crate::interpret::Running;
use crate::memory::Store;
use crate::parts::Parts;
use crate::shape::{LANES, MOST, Shape};
use crate::warp::Warp;

/// A launch: an effect for pipe V, whose cost unit is the cycle. Its arguments are its shape, then the values of
/// [`Parts::inputs`] when the scalar unit launches it.
#[derive(Debug)]
pub struct Launch {
    pub(crate) parts: Parts,
    scalars: usize,
}

impl Launch {
    /// A launch of these parts.
    pub fn new(parts: Parts) -> Launch {
        let of_steps =
            parts.steps.iter().flat_map(|step| step.args.iter().filter_map(|arg| arg.as_reg()).chain(step.result));
        let of_code = parts.code.iter().flat_map(Inst::scalar_registers);
        let all = of_steps.chain(of_code).chain(parts.inputs.iter().copied());
        let scalars = all.map(|reg| reg.0 as usize + 1).max().unwrap_or(0);
        Launch { parts, scalars }
    }

    /// The shape that the arguments give.
    fn shape(&self, args: &[u64]) -> Result<Shape, Fault> {
        let [x, y, z] = [0, 1, 2].map(|at| i64::from(args.get(at).copied().unwrap_or(0) as i32));
        let count = x.saturating_mul(y).saturating_mul(z);
        let shape = format!("{x} x {y} x {z}");
        if [x, y, z].iter().any(|extent| *extent < 1) {
            let fault = Fault::new("simt-shape", format!("is launched with {shape} workitems: that is none"));
            return Err(fault.help("set how many there are before the launch"));
        }
        if count > i64::from(MOST) {
            let message = format!("is launched with {shape} = {count} workitems: at most {MOST} are possible");
            return Err(Fault::new("simt-shape", message).help("launch several times, or loop in the body"));
        }
        if count > i64::from(self.parts.envelope) {
            let most = self.parts.envelope;
            let message = format!("is launched with {shape} = {count} workitems, and its body is made for {most}");
            return Err(Fault::new("simt-shape", message).help("the body says for how many it is made"));
        }
        Ok([x as u32, y as u32, z as u32])
    }

    fn warps(&self, shape: Shape, args: &[u64]) -> Vec<Warp> {
        let count = shape.iter().product::<u32>();
        let inputs = || {
            let values = args.iter().skip(3).copied();
            self.parts.inputs.iter().map(|reg| reg.0 as usize).zip(values)
        };
        let warp = |first: u32| Warp::new(first, count - first, self.scalars, inputs());
        (0..count).step_by(LANES).map(warp).collect()
    }
}

impl Discover for Launch {
    fn marks(&self) -> bool {
        true
    }

    fn local(&self) -> bool {
        let global = |step: &Instruction| match &step.act {
            Act::Load(cell) | Act::Store(cell) | Act::Change(cell, ..) => cell.space == Space::Gm,
            _ => false,
        };
        !self.parts.steps.iter().any(global)
    }

    fn decisions(&self, args: &[Causes], site: SiteRef, found: &mut Vec<Decision>) {
        decide::decisions(&self.parts, self.scalars, args, site, found);
    }

    fn discover(
        &self,
        args: &[u64],
        Run { env, memory, scratch, .. }: Run<'_>,
        access: &mut Access,
    ) -> Result<u64, Fault> {
        let shape = self.shape(args)?;
        let of = Workitem { number: 0, shape };
        let store = Store::new(memory, env);
        let mut running = Running { parts: &self.parts, of, store, scratch, cycles: 0 };
        let mut warps = self.warps(shape, args);
        running.all(&mut warps)?;
        access.units = Units::of(u64::from(self.parts.spec.startup).saturating_add(running.cycles));
        running.store.finish(access);
        Ok(0)
    }
}
