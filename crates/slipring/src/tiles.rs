//! What tiles hold where a run ended, or was stopped.

use slipring_ir::Type;
use slipring_machine::Role;
use slipring_passes::PassContext;
use slipring_passes::memory::allocate;
use slipring_program::Env;
use slipring_report::{Number, digest};
use slipring_tile::{Space, View, copy::read_row};

use crate::Run;

/// A tile of one core, and the first of its elements.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct TileContents {
    /// What the source calls it.
    pub name: String,
    /// `AIC`, `AIV0` or `AIV1`.
    pub core: &'static str,
    /// Its memory.
    pub space: String,
    /// Its first byte there.
    pub address: u64,
    /// Its type, as a text writes it.
    pub ty: String,
    /// Rows and columns.
    pub shape: [u32; 2],
    /// The first elements of the first rows.
    pub first: Vec<Vec<Number>>,
    /// Smallest and largest element.
    pub range: Option<(Number, Number)>,
}

/// Rows whose first elements are shown.
const ROWS: u32 = 4;

impl Run<'_> {
    /// What the tiles of a name hold on each core of the first cluster that has one, where the run ended or stopped: what lay there
    /// last, whether it is still of use or not. Empty where no tile has the name, or its address is known only when the kernel runs.
    pub fn tiles(&self, name: &str) -> Vec<TileContents> {
        let maps = allocate::memory_maps(&self.compiled.prepared.module, &PassContext::of(&self.compiled.platform));
        let mut found = Vec::new();
        for map in maps {
            let named = |own: &&allocate::MapBuffer| own.slots.is_none() && own.name.trim_start_matches('%') == name;
            for buffer in map.buffers.iter().filter(named) {
                let cores = self.compiled.prepared.decoded.program.cores.iter().map(|core| core.role);
                let cores = cores.filter(|role| role.kind() == map.core);
                found.extend(cores.filter_map(|role| self.tile(name, role, map.space, buffer)));
            }
        }
        found
    }

    fn tile(&self, name: &str, role: Role, space: Space, buffer: &allocate::MapBuffer) -> Option<TileContents> {
        let module = &self.compiled.prepared.module;
        let declared = module.walk(module.top).into_iter().filter(|op| module.op(*op).span == buffer.span);
        let mut values = declared.flat_map(|op| module.op(op).results.to_vec());
        let value = values.find(|value| module.value_name(*value) == buffer.name)?;
        let Type::Tile(tile) = module.ty(value) else { return None };
        let (layout, elem) = (&tile.layout, tile.layout.elem);
        let env = Env { block: 0, core: role };
        let memory = &self.execution.result.memory;
        if memory.capacity(env.block, role, space) == 0 {
            return None;
        }
        let (bytes, start) = memory.locate(env, role, space, buffer.address);
        let bytes = bytes.get(start..).filter(|bytes| bytes.len() >= layout.bytes())?;
        let view = View::tile(layout, 0, 0);
        let row = |row: u32| {
            let mut out = vec![0; layout.cols as usize * elem.bytes()];
            read_row(bytes, &view, row as usize, 0, &mut out);
            out
        };
        let whole = digest(elem, &(0..layout.rows).flat_map(row).collect::<Vec<u8>>());
        Some(TileContents {
            name: name.to_string(),
            core: role.name(),
            space: space.name().to_string(),
            address: buffer.address,
            ty: module.ty(value).to_string(),
            shape: [layout.rows, layout.cols],
            first: (0..layout.rows.min(ROWS)).map(|at| digest(elem, &row(at)).first).collect(),
            range: whole.min.zip(whole.max),
        })
    }
}
