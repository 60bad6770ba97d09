//! Contents of tiles where a run ended or was stopped.

use slipring_ir::Type;
use slipring_machine::Role;
use slipring_passes::PassContext;
use slipring_passes::memory::allocate::{self, MapBuffer};
use slipring_program::{Env, Memory};
use slipring_tile::{Elem, Space, View, copy::read_row};

use crate::compiled::Compiled;

/// A tile of one core and its contents.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct TileContents {
    /// Its name in the source.
    pub name: String,
    /// `AIC`, `AIV0` or `AIV1`.
    pub core: &'static str,
    /// Its memory.
    pub space: String,
    /// Its first byte.
    pub address: u64,
    /// Its type, as written in a text.
    pub ty: String,
    /// Rows and columns.
    pub shape: [u32; 2],
    /// The element type.
    pub elem: Elem,
    /// Its elements in row-major order, whatever its layout.
    pub elements: Vec<u8>,
}

impl TileContents {
    /// The bytes of a row.
    pub fn row(&self, row: u32) -> &[u8] {
        let bytes = self.shape[1] as usize * self.elem.bytes();
        &self.elements[row as usize * bytes..][..bytes]
    }
}

impl Compiled {
    /// The tiles with a name, or all: their core, memory and address.
    fn tiles_of(&self, name: Option<&str>) -> Vec<(Role, Space, MapBuffer)> {
        let maps = allocate::memory_maps(&self.prepared.module, &PassContext::of(&self.platform));
        let mut found = Vec::new();
        for map in maps {
            let named = |own: &&MapBuffer| {
                own.slots.is_none() && name.is_none_or(|name| own.name.trim_start_matches('%') == name)
            };
            for buffer in map.buffers.iter().filter(named) {
                let cores = self.prepared.decoded.program.cores.iter().map(|core| core.role);
                let cores = cores.filter(|role| role.kind() == map.core);
                found.extend(cores.map(|role| (role, map.space, buffer.clone())));
            }
        }
        found
    }

    /// The bytes occupied by tiles with a name: their core, memory, first byte and size.
    pub fn tile_places(&self, name: &str) -> Vec<(Role, Space, u64, u64)> {
        let tiles = self.tiles_of(Some(name)).into_iter();
        tiles.map(|(role, space, buffer)| (role, space, buffer.address, buffer.bytes)).collect()
    }

    /// Names of all tiles with an address.
    pub fn tile_names(&self) -> Vec<String> {
        let names =
            self.tiles_of(None).into_iter().map(|(_, _, buffer)| buffer.name.trim_start_matches('%').to_string());
        let mut names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The contents of the tiles with a name, or of all, on each core of a cluster that has one, in a memory of a run:
    /// the bytes last stored there, whether they are still needed or not. Empty if no tile has the name, or its address
    /// is known only at run time.
    pub fn tiles_in(&self, memory: &Memory, cluster: u32, name: Option<&str>) -> Vec<TileContents> {
        let tiles = self.tiles_of(name).into_iter();
        tiles.filter_map(|(role, space, buffer)| self.tile(memory, cluster, (role, space), &buffer)).collect()
    }

    fn tile(
        &self,
        memory: &Memory,
        cluster: u32,
        (role, space): (Role, Space),
        buffer: &MapBuffer,
    ) -> Option<TileContents> {
        let module = &self.prepared.module;
        let declared = module.walk(module.top).into_iter().filter(|op| module.op(*op).span == buffer.span);
        let mut values = declared.flat_map(|op| module.op(op).results.to_vec());
        let value = values.find(|value| module.value_name(*value) == buffer.name)?;
        let Type::Tile(tile) = module.ty(value) else { return None };
        let (layout, elem) = (&tile.layout, tile.layout.elem);
        if memory.capacity(cluster, role, space) == 0 {
            return None;
        }
        let (bytes, start) = memory.locate(Env { block: cluster, core: role }, role, space, buffer.address);
        let bytes = bytes.get(start..).filter(|bytes| bytes.len() >= layout.bytes())?;
        let view = View::tile(layout, 0, 0);
        let width = layout.cols as usize * elem.bytes();
        let mut elements = vec![0; layout.rows as usize * width];
        for (row, out) in elements.chunks_exact_mut(width.max(1)).enumerate() {
            read_row(bytes, &view, row, 0, out);
        }
        Some(TileContents {
            name: buffer.name.trim_start_matches('%').to_string(),
            core: role.name(),
            space: space.name().to_string(),
            address: buffer.address,
            ty: module.ty(value).to_string(),
            shape: [layout.rows, layout.cols],
            elem,
            elements,
        })
    }
}
