//! Checked accesses of workitems to memory.

use slipring_machine::Role;
use slipring_program::{Access, Change, Changed, Env, Extent, Fault, Kind, Memory, Misuse, SiteRef};
use slipring_tile::{Elem, Space};

use crate::instruction::{Cell, Compute, Slot, Workitem};
use crate::slots::Kept;
use crate::spans::Spans;
use crate::touched::{By, Touch, Touched};

/// The memory of a launch, and what the launch did with it.
#[derive(Debug)]
pub(crate) struct Store<'a> {
    pub memory: &'a mut Memory,
    pub env: Env,
    pub touched: Touched,
    reads: [Spans; 2],
    writes: [Spans; 2],
    kept: Kept,
    /// The bytes of atomic changes in global memory, by their kind.
    changes: Vec<(Change, Spans)>,
}

/// The access of a workitem: the workitem, and the location of the step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Who {
    pub workitem: Workitem,
    pub site: SiteRef,
}

/// The index of a memory among those that workitems reach.
fn index(space: Space) -> usize {
    usize::from(space == Space::Gm)
}

/// Bits of memory as a register keeps them: signed integers sign-extended.
fn widened(bytes: &[u8], elem: Elem) -> u64 {
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    let value = u64::from_le_bytes(all);
    let unused = 64 - 8 * bytes.len() as u32;
    if elem.is_signed_int() { (((value << unused) as i64) >> unused) as u64 } else { value }
}

impl<'a> Store<'a> {
    pub fn new(memory: &'a mut Memory, env: Env) -> Store<'a> {
        let (reads, writes) = Default::default();
        Store { memory, env, touched: Touched::default(), reads, writes, kept: Kept::default(), changes: Vec::new() }
    }

    /// The bytes of an element, which must exist and be aligned.
    fn extent(&self, cell: Cell, address: u64, verb: &str) -> Result<Extent, Fault> {
        let bytes = cell.elem.bytes() as u32;
        let extent = Extent::run(cell.space, self.env.core, address, bytes);
        if !self.memory.has(&extent, self.env) {
            return Err(self.memory.miss(&extent, verb, self.env));
        }
        if !address.is_multiple_of(u64::from(bytes)) {
            let message = format!("{verb} {bytes} bytes at an address that is not a multiple of {bytes}");
            return Err(Fault::new(Kind::Unsupported, message).help("such accesses of workitems are not modelled"));
        }
        Ok(extent)
    }

    fn bytes(&mut self, extent: &Extent) -> &mut [u8] {
        self.memory.bytes_mut(self.env, extent.core, extent.space, extent.start, extent.row_bytes as usize)
    }

    fn touch(&mut self, extent: &Extent, who: Who, how: Touch) {
        let by = By { workitem: who.workitem.number, site: who.site };
        let at = |number| Workitem { number, ..who.workitem }.at();
        self.touched.touch(extent, by, how, at);
    }

    /// Reports uninitialised bytes where they are read.
    fn look(&mut self, extent: &Extent, site: SiteRef) {
        let env = self.env;
        if let Some(shadow) = &mut self.memory.shadow
            && shadow.any(&[*extent], env)
        {
            shadow.misuse(Misuse { site, env, what: "reads", extent: Some(*extent) });
        }
    }

    fn define(&mut self, extent: &Extent) {
        let env = self.env;
        if let Some(shadow) = &mut self.memory.shadow {
            shadow.define(&[*extent], env);
        }
    }

    /// Reads an element.
    pub fn load(&mut self, cell: Cell, address: u64, who: Who) -> Result<u64, Fault> {
        let extent = self.extent(cell, address, "reads")?;
        self.look(&extent, who.site);
        self.touch(&extent, who, Touch::Read);
        self.reads[index(cell.space)].add(extent.start, extent.end());
        Ok(widened(self.bytes(&extent), cell.elem))
    }

    /// Writes an element.
    pub fn store(&mut self, cell: Cell, address: u64, value: u64, who: Who) -> Result<(), Fault> {
        let extent = self.extent(cell, address, "writes")?;
        let new = &value.to_le_bytes()[..cell.elem.bytes()];
        let same = self.bytes(&extent) == new;
        self.bytes(&extent).copy_from_slice(new);
        self.touch(&extent, who, Touch::Write(same));
        self.writes[index(cell.space)].add(extent.start, extent.end());
        self.define(&extent);
        Ok(())
    }

    /// Changes an element in one step and returns what was there.
    pub fn change(
        &mut self,
        (cell, change): (Cell, Change),
        given: &[u64],
        by: &Compute,
        who: Who,
    ) -> Result<u64, Fault> {
        let extent = self.extent(cell, given[0], "updates")?;
        self.look(&extent, who.site);
        self.touch(&extent, who, Touch::Atomic(change.order_shows()));
        self.note_change(cell.space, change, &extent);
        let bytes = self.bytes(&extent);
        let old = widened(bytes, cell.elem);
        bytes.copy_from_slice(&by(old, &given[1..]).to_le_bytes()[..bytes.len()]);
        self.define(&extent);
        Ok(old)
    }

    /// Keeps a value for the next launch.
    pub fn keep(&mut self, slot: Slot, value: u64, by: Workitem) -> u64 {
        self.kept.keep(self.memory, self.env, slot, value, by);
        0
    }

    /// The value that was kept by the launch before.
    pub fn resume(&self, slot: Slot, by: Workitem) -> Result<u64, Fault> {
        Kept::resume(self.memory, self.env, slot, by)
    }

    /// No other core reaches the unified buffer: there a change is a read and a write.
    fn note_change(&mut self, space: Space, change: Change, extent: &Extent) {
        let (start, end) = (extent.start, extent.end());
        if space != Space::Gm {
            self.reads[index(space)].add(start, end);
            return self.writes[index(space)].add(start, end);
        }
        let at = self.changes.iter().position(|own| own.0 == change).unwrap_or_else(|| {
            self.changes.push((change, Spans::default()));
            self.changes.len() - 1
        });
        self.changes[at].1.add(start, end);
    }

    /// Puts all accesses of the launch into its list.
    pub fn finish(self, access: &mut Access) {
        let core: Role = self.env.core;
        for (list, to) in [(self.reads, &mut access.reads), (self.writes, &mut access.writes)] {
            let [local, global] = list;
            to.extend(local.extents(Space::Vec, core));
            to.extend(global.extents(Space::Gm, core));
        }
        if let Some(slots) = self.kept.finish(self.memory, self.env) {
            access.reads.push(slots);
            access.writes.push(slots);
        }
        for (change, spans) in self.changes {
            for extent in spans.extents(Space::Gm, core) {
                let (read, write) = (access.reads.len() as u32, access.writes.len() as u32);
                access.changes.push(Changed { read, write, how: change });
                access.reads.push(extent);
                access.writes.push(extent);
            }
        }
        (access.conflicts, access.contended) = (self.touched.conflicts, self.touched.contended);
        if let Some(shadow) = &mut self.memory.shadow {
            shadow.derive(access, self.env);
        }
    }
}
