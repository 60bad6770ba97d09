//! Working memory of an op: the part that the tile libraries of the platforms write, and whether the tile is large
//! enough.

use slipring_effect::vector::{Around, Found, WorkingSpans, lacking};
use slipring_ir::{Diags, Dim, OperandSpec, Touch};
use slipring_machine::{Capability, Platform};
use slipring_tile::Layout;

use crate::def::{OpRef, WorkingMemory, WorkingUse};

impl WorkingMemory {
    /// The use by the library of this platform, and by that of the other kind of unit.
    fn here_and_there(self, platform: &Platform) -> [WorkingUse; 2] {
        let WorkingMemory { memory, registers } = self;
        if platform.can(Capability::RegisterScratch) { [registers, memory] } else { [memory, registers] }
    }

    /// How many rows, as wide as those of the source, are enough for the libraries of all platforms: those of the source at least.
    pub fn rows_for(self, src: Layout, valid: [u64; 2]) -> u32 {
        let found = |layout: Layout| Found { layout, valid, fixed: true };
        let enough = |rows: u32| {
            let around = Around { src: found(src), dst: found(src), tmp: found(Layout { rows, ..src }) };
            [self.memory, self.registers].iter().all(|of| match of {
                WorkingUse::Spans(spans) => lacking(*spans, &around).is_none(),
                WorkingUse::Nothing | WorkingUse::Forms(_) => true,
            })
        };
        // What a library writes of it beyond the source is a few pieces of a row.
        (src.rows..src.rows.saturating_add(64)).find(|rows| enough(*rows)).unwrap_or(src.rows)
    }
}

impl OpRef<'_> {
    /// True if an operand is working memory that the library of the other kind of unit writes, and that of this
    /// platform does not use.
    pub fn leaves_alone(&self, operand: &OperandSpec, platform: &Platform) -> bool {
        let [here, there] = self.def.working.here_and_there(platform);
        let nothing = |of: WorkingUse| matches!(of, WorkingUse::Nothing);
        operand.touch == Touch::Scratch && nothing(here) && !nothing(there)
    }

    /// The part of its working memory that it writes on this platform, if any.
    pub fn working(&self, platform: &Platform) -> Option<WorkingSpans> {
        let [here, _] = self.def.working.here_and_there(platform);
        match here {
            WorkingUse::Nothing => None,
            WorkingUse::Spans(spans) => Some(spans),
            WorkingUse::Forms(forms) => forms.iter().find(|form| (form.when)(self)).map(|form| form.spans),
        }
    }
}

/// The names of an op's first source, whose shape decides how much working memory it needs.
pub const FIRST_SOURCES: [&str; 3] = ["src", "src0", "base"];

/// Reports working memory that is too small, if the valid shapes are known.
pub(crate) fn working_memory(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    let Some(spans) = op.working(platform) else { return };
    let found = |name: &str| {
        let at = op.def.schema.operands.iter().position(|spec| spec.name == name)?;
        let tile = op.tile(at)?;
        let [rows, cols] = tile.valid.map(Dim::known);
        let valid = [rows?.min(tile.layout.rows.into()), cols?.min(tile.layout.cols.into())];
        Some(Found { layout: tile.layout, valid, fixed: true })
    };
    let (Some(tmp), Some(dst)) = (found("tmp"), found("dst")) else { return };
    let has = |name: &&&str| op.if_declared(name).is_some_and(|value| op.module.ty(value).as_tile().is_some());
    let src = match FIRST_SOURCES.iter().find(has) {
        None => dst,
        Some(name) => match found(name) {
            Some(found) => found,
            None => return,
        },
    };
    if let Some((needed, have)) = lacking(spans, &Around { src, dst, tmp }) {
        let (name, on) = (op.def.schema.name, &platform.name);
        let error = op.error("tmp-size", format!("`{name}` needs {needed} here on {on}")).label(have);
        diags.push(error.help("make `tmp` as large as that: the device's library overwrites what follows it"));
    }
}
