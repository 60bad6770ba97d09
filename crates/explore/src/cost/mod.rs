//! The cost of a single op: the figures that a run uses, without a program.
//!
//! The op's price is the one that decoding puts into a program, and its size is computed by the same functions as for
//! the op's work. Ops that cannot be run have a price as well.

mod points;
mod report;
mod table;

use slipring_dialects::Dialects;
use slipring_effect::product_blocks;
use slipring_effect::vector::tile_units;
use slipring_ir::text::nearest;
use slipring_machine::cost::Price;
use slipring_machine::{Pipe, Platform, Units};
use slipring_op::{OpDef, PipeRule, reduces_in_groups};
use slipring_tile::{BLOCK_BYTES, Elem, Layout, Space};

pub use points::{Point, read_points};
pub use report::{facts, table_facts, table_text, text};
pub use table::{ErrorTable, Errors, Measured, compare};

/// One op with one size.
#[derive(Clone, Debug)]
pub struct Query {
    /// Its name, with or without `pto.`, in either case.
    pub op: String,
    /// Element type of its operands.
    pub elem: Elem,
    /// Type of its result, if it converts.
    pub to: Option<Elem>,
    /// Rows and columns of the tile; for a product m, k and n.
    pub shape: Vec<u32>,
    /// Valid rows and columns, if they are not all.
    pub valid: Option<(u32, u32)>,
    /// Number of blocks of a data move, 1 by default: the product of the outer dimensions of its window.
    pub blocks: Option<u64>,
    /// Source and destination memory, for data moves with several paths.
    pub way: Option<(Space, Space)>,
    /// True for the high-precision variant.
    pub precise: bool,
    /// True if the rows are reduced to a column, in column order.
    pub column: bool,
}

/// The cost of an op.
#[derive(Clone, Debug)]
pub struct Costed {
    /// Cycles on its pipe.
    pub cycles: u64,
    /// The entry of the platform file, its formula, and its evidence.
    pub price: Price,
    /// Its size.
    pub units: Units,
    /// The unit of the size: `bytes`, or `blocks` of the matrix unit.
    pub counts: &'static str,
}

/// The cost of an op with this size on a platform.
///
/// # Errors
/// A sentence, if there is no such op, it does no pipe work, or it cannot have this size.
pub fn cost(platform: &Platform, query: &Query) -> Result<Costed, String> {
    let name = query.op.to_lowercase();
    let dialects = Dialects::get();
    let found = dialects.def(&name).or_else(|| dialects.def(&format!("pto.{name}")));
    let Some(def) = found else {
        let near = nearest(&format!("pto.{name}"), dialects.registry.names().iter().copied());
        return Err(format!(
            "there is no op `{name}`{}",
            near.map_or(String::new(), |near| format!("; did you mean `{near}`?"))
        ));
    };
    let kind = Kind::of(def, query)?;
    kind.requires_effect(def, query)?;
    let (price, units, counts) = match kind {
        Kind::Product => product(platform, query)?,
        Kind::Vector => vector(def, platform, query)?,
        Kind::Move(from, to) => moved(platform, query, (from, to))?,
    };
    Ok(Costed { cycles: price.cycles(units), price, units, counts })
}

/// What the cost of an op depends on.
enum Kind {
    /// The extents of a product.
    Product,
    /// The valid rows of a tile in UB.
    Vector,
    /// The bytes that move from one memory to another.
    Move(Space, Space),
}

impl Kind {
    fn of(def: &OpDef, query: &Query) -> Result<Kind, String> {
        if def.product.is_some() {
            return Ok(Kind::Product);
        }
        let computes = !def.class.is_empty() && !matches!(def.pipe, PipeRule::Fixed(pipe) if pipe != Pipe::V);
        let moves = !matches!(def.pipe, PipeRule::None | PipeRule::Fixed(Pipe::V | Pipe::S | Pipe::M));
        let name = def.schema.name;
        match query.way {
            None if computes => Ok(Kind::Vector),
            Some((Space::Vec, Space::Vec)) if computes && moves => Ok(Kind::Vector),
            Some((from, to)) if moves => Ok(Kind::Move(from, to)),
            Some(_) => Err(format!("`{name}` does not move data between memories: it has no path")),
            None => {
                let (from, to) = way_of(def).ok_or_else(|| match moves {
                    true => format!(
                        "the operands of `{name}` decide between which memories it moves data: choose a path with `--way`, \
                         such as `--way gm-vec`"
                    ),
                    false => format!("`{name}` is not an operation of a pipe with a cost of its own"),
                })?;
                Ok(Kind::Move(from, to))
            }
        }
    }

    /// Reports a fact of the query that the cost does not depend on.
    fn requires_effect(&self, def: &OpDef, query: &Query) -> Result<(), String> {
        let (vector, product) = (matches!(self, Kind::Vector), matches!(self, Kind::Product));
        let given = [
            ("to", query.to.is_some() && !(vector && def.converts())),
            ("valid", query.valid.is_some() && product),
            ("blocks", query.blocks.is_some() && !matches!(self, Kind::Move(..))),
            ("precise", query.precise && !vector),
            ("column", query.column && !vector),
        ];
        match given.iter().find(|(_, without_effect)| *without_effect) {
            Some((name, _)) => Err(no_effect(def, name)),
            None => Ok(()),
        }
    }
}

fn no_effect(def: &OpDef, fact: &str) -> String {
    format!("the cost of `{}` does not depend on `{fact}`", def.schema.name)
}

fn product(platform: &Platform, query: &Query) -> Result<(Price, Units, &'static str), String> {
    let &[m, k, n] = &query.shape[..] else {
        return Err(format!("the shape of `{}` has three extents, such as 128x64x256: m, k and n", query.op));
    };
    Ok((platform.cube_cost(query.elem), Units::of(product_blocks(m, k, n, query.elem)), "blocks"))
}

/// Rows and columns.
type Extents = (u32, u32);

/// The extents of the tile, and of its valid part.
fn tile_of(query: &Query) -> Result<(Extents, Extents), String> {
    let &[rows, cols] = &query.shape[..] else {
        return Err(format!("the shape of `{}` has two extents, such as 64x128: rows and columns", query.op));
    };
    let (valid_rows, valid_cols) = query.valid.unwrap_or((rows, cols));
    if valid_rows > rows || valid_cols > cols {
        return Err(format!("{valid_rows}x{valid_cols} valid elements do not fit a tile of {rows}x{cols}"));
    }
    Ok(((rows, cols), (valid_rows, valid_cols)))
}

fn vector(def: &OpDef, platform: &Platform, query: &Query) -> Result<(Price, Units, &'static str), String> {
    let ((rows, cols), (valid_rows, valid_cols)) = tile_of(query)?;
    let to = query.to.unwrap_or(query.elem);
    let wider = if to.bytes() > query.elem.bytes() { to } else { query.elem };
    let usual = def.vector_cost(platform, query.elem, to);
    let variant = match (query.precise, query.column) {
        (true, true) => return Err("a precise variant that reduces to a column is not known".into()),
        (true, false) => Some(("precise", def.precise_cost(platform, query.elem))),
        (false, true) if (valid_rows, valid_cols) == (rows, cols) && reduces_in_groups(query.elem, rows, cols) => {
            Some(("column", def.grouped_cost(platform, query.elem)))
        }
        (false, true) => return Err(no_effect(def, "column") + " for a tile of this shape and type"),
        (false, false) => None,
    };
    let price = match variant {
        // The platform has no entry for the variant: the figure would be that of the usual one.
        Some((name, price)) if price.entry == usual.entry => return Err(no_effect(def, name)),
        Some((_, price)) => price,
        None => usual,
    };
    // The rows of a tile begin at multiples of 32 bytes.
    let line = BLOCK_BYTES as u32 / wider.bytes() as u32;
    let layout = Layout::nd(wider, rows, cols.div_ceil(line) * line);
    if let Some(space) = platform.space(Space::Vec)
        && layout.bytes() as u64 > space.bytes
    {
        return Err(format!(
            "a tile of {rows}x{cols} {wider} has {} bytes, and `{}` of {} only {}",
            layout.bytes(),
            Space::Vec,
            platform.name,
            space.bytes
        ));
    }
    Ok((price, tile_units(&layout, valid_rows, valid_cols), "bytes"))
}

fn moved(
    platform: &Platform,
    query: &Query,
    (from, to): (Space, Space),
) -> Result<(Price, Units, &'static str), String> {
    let (_, (rows, cols)) = tile_of(query)?;
    if !platform.has_way(from, to) {
        return Err(format!("tiles do not move from `{from}` to `{to}` on {}", platform.name));
    }
    let bytes = u64::from(rows) * u64::from(cols) * query.elem.bytes() as u64;
    let units = Units { total: bytes, rows: query.blocks.unwrap_or(1).max(1), joined: true };
    Ok((platform.dma_cost(from, to), units, "bytes"))
}

/// The path of a data move that specifies none, derived from its operands.
fn way_of(def: &OpDef) -> Option<(Space, Space)> {
    let views = |touch| {
        let operands = def.schema.operands.iter();
        operands.filter(|o| o.touch == touch).any(|o| o.ty.describe == slipring_op::rules::VIEW.describe)
    };
    match (views(slipring_ir::Touch::Read), views(slipring_ir::Touch::Write)) {
        (true, false) => Some((Space::Gm, Space::Vec)),
        (false, true) => Some((Space::Vec, Space::Gm)),
        _ => None,
    }
}
