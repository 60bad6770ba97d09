//! Tiles: buffers, and knowledge about each.

use slipring_ir::{Diagnostic, Dim, Span, TileType, Type, ValueId};
use slipring_pto as pto;
use slipring_tile::{Elem, Space};

use super::lowering::{Lower, Lowered};
use crate::lower::layouts::Place;
use crate::value::{Crossing, Index, Tile, TileId, fold, show};

impl Lower<'_> {
    /// A tile of the list.
    pub fn tile(&self, id: TileId) -> &Tile {
        &self.held.tiles[id.0 as usize]
    }

    /// A new buffer of a type, in the innermost enclosing block outside regions.
    pub fn buffer(&mut self, ty: TileType) -> ValueId {
        let op = self.e.make(&pto::ALLOC_TILE, &[], &[], &[Type::Tile(ty)]);
        match self.open.region {
            Some(region) => self.e.module.insert_before(self.open.regions[region.0 as usize].op, op),
            None => self.e.module.append(self.e.block, op),
        }
        let value = self.e.module.op(op).results[0];
        self.held.allocs.insert(value);
        value
    }

    /// A new tile of a logical shape in a memory, with its usual layout there.
    pub fn new_tile(&mut self, shape: &[u64], elem: Elem, space: Space, made_by: &'static str) -> TileId {
        self.new_tile_in(shape, Place::of(space), elem, made_by)
    }

    /// Like [`Lower::new_tile`], with an explicit layout.
    pub fn new_tile_in(&mut self, shape: &[u64], place: Place, elem: Elem, made_by: &'static str) -> TileId {
        let ty = place.tile_type(shape, elem);
        let value = self.buffer(ty);
        self.add_tile(value, ty, shape, made_by)
    }

    /// A new tile with a smaller valid shape.
    pub fn new_valid_tile(
        &mut self,
        shape: &[u64],
        elem: Elem,
        space: Space,
        valid: [Index; 2],
        made_by: &'static str,
    ) -> TileId {
        self.new_valid_tile_in(shape, Place::of(space), elem, valid, made_by)
    }

    /// Like [`Lower::new_valid_tile`], with an explicit layout.
    pub fn new_valid_tile_in(
        &mut self,
        shape: &[u64],
        place: Place,
        elem: Elem,
        valid: [Index; 2],
        made_by: &'static str,
    ) -> TileId {
        let mut ty = place.tile_type(shape, elem);
        ty.valid = [Dim::Dynamic; 2];
        let value = self.buffer(ty);
        self.set_valid(value, ty, shape, valid, made_by)
    }

    /// Valid extents of a shape as valid rows and columns of the folded one; `None` if all of it is valid.
    pub fn folded_valid(&mut self, valid: &[Index], shape: &[u64], span: Span) -> Lowered<Option<[Index; 2]>> {
        let whole = |(extent, size): (&Index, &u64)| *extent == Index::Known(*size as i64);
        if valid.iter().zip(shape).all(whole) {
            return Ok(None);
        }
        let Some(((cols, rows), (_, lines))) = valid.split_last().zip(shape.split_last()) else { return Ok(None) };
        // The first rows of a folded shape: a range in one dimension, with all of the dimensions after it.
        let first = lines.iter().position(|n| *n != 1).unwrap_or(lines.len());
        let behind = first + 1;
        if behind < lines.len() && !rows[behind..].iter().zip(&lines[behind..]).all(whole) {
            return Err(self.unsupported(span, "valid rows that do not follow one another"));
        }
        let mut count = Index::Known(1);
        for (at, extent) in rows.iter().enumerate() {
            count = match (count, *extent) {
                (Index::Known(a), extent) => self.times(extent, a),
                (count, Index::Known(b)) => self.times(count, b),
                (count, Index::At(_)) if lines[at] == 1 => count,
                _ => return Err(self.unsupported(span, "several extents that only the run knows")),
            };
        }
        Ok(Some([count, *cols]))
    }

    /// Sets the valid shape of a tile in a buffer, and adds it to the list.
    pub fn set_valid(
        &mut self,
        value: ValueId,
        ty: TileType,
        shape: &[u64],
        valid: [Index; 2],
        made_by: &'static str,
    ) -> TileId {
        let [rows, cols] = valid.map(|extent| self.index_value(extent));
        let groups: [(&str, &[_]); 3] = [("source", &[value]), ("valid_row", &[rows]), ("valid_col", &[cols])];
        self.e.op(&pto::SET_VALIDSHAPE, &groups, &[], &[]);
        let id = self.add_tile(value, ty, shape, made_by);
        self.held.tiles[id.0 as usize].valid = Some(valid);
        id
    }

    /// The same tile with a smaller valid shape.
    pub fn with_valid(&mut self, id: TileId, valid: [Index; 2], span: Span) -> Lowered<TileId> {
        self.still_there(id, span)?;
        let tile = self.tile(id).clone();
        self.valid_fits(valid, &tile.shape, span)?;
        let (rows, cols) = fold(&tile.shape);
        if tile.valid.is_none() && valid == [rows, cols].map(|n| Index::Known(n as i64)) {
            return Ok(id);
        }
        let ty = TileType { valid: [Dim::Dynamic; 2], ..tile.ty };
        let view = self.e.value(&pto::TRESHAPE, &[("src", &[tile.value])], &[], Type::Tile(ty));
        let id = self.set_valid(view, ty, &tile.shape, valid, "set_validshape");
        self.held.tiles[id.0 as usize].region = tile.region.or(self.open.region);
        Ok(id)
    }

    /// The valid extent of a part of a tile with this valid extent.
    pub(super) fn counting_part(&mut self, valid: [Index; 2], offsets: [Index; 2], sizes: [u64; 2]) -> [Index; 2] {
        [0, 1].map(|at| {
            let behind = self.less(valid[at], offsets[at]);
            let inside = self.larger(behind, Index::Known(0));
            self.smaller(inside, Index::Known(sizes[at] as i64))
        })
    }

    /// All of a partially valid tile: the same bytes.
    pub fn whole_view(&mut self, id: TileId) -> TileId {
        let tile = self.tile(id).clone();
        if tile.valid.is_none() {
            return id;
        }
        self.view_of_shape(id, &tile.shape)
    }

    /// All of a tile from which an element is taken: an index outside the valid part must not lead to an empty part.
    pub(super) fn with_elements(&mut self, id: TileId, at: &[Index], span: Span) -> Lowered<TileId> {
        self.not_overwritten(id, span)?;
        let tile = self.tile(id).clone();
        let Some(valid) = tile.valid.filter(|_| tile.ty.space == Space::Vec) else { return Ok(id) };
        let outside =
            |(at, valid): (&Index, &Index)| matches!((at, valid), (Index::Known(at), Index::Known(n)) if at >= n);
        if at.len() <= 2 && at.iter().rev().zip(valid.iter().rev()).any(outside) {
            let message = "an element that is not in the valid part of this tile";
            let error = Diagnostic::error("partly-valid", span, message)
                .also(tile.span, "the tile")
                .help("give all of it a value first: `pl.fillpad(x, pl.PadValue.zero)`");
            return Err(self.report(error));
        }
        Ok(self.whole_view(id))
    }

    /// A tile's bytes with another valid shape that fits its layout.
    pub fn view_of_shape(&mut self, id: TileId, shape: &[u64]) -> TileId {
        let tile = self.tile(id).clone();
        let (rows, cols) = fold(shape);
        let ty = TileType { valid: [Dim::Static(rows), Dim::Static(cols)], ..tile.ty };
        let view = self.e.value(&pto::TRESHAPE, &[("src", &[tile.value])], &[], Type::Tile(ty));
        let view = self.add_tile(view, ty, shape, tile.made_by);
        self.held.tiles[view.0 as usize].region = tile.region;
        view
    }

    /// A tile that was copied to the other kind of core as a whole, with its valid shape.
    pub fn crossed(&mut self, id: TileId, valid: Option<[Index; 2]>, span: Span) -> Lowered<TileId> {
        let Some(valid) = valid else { return Ok(id) };
        let (crossing, made_by) = (self.tile(id).crossing, self.tile(id).made_by);
        let id = self.with_valid(id, valid, span)?;
        let own = &mut self.held.tiles[id.0 as usize];
        (own.crossing, own.made_by) = (crossing, made_by);
        Ok(id)
    }

    /// Reports a part of a tile in L1 that is used outside a product.
    pub fn not_in_part(&mut self, id: TileId, span: Span) -> Lowered<()> {
        let tile = self.tile(id);
        if tile.part.is_none() {
            return Ok(());
        }
        let error = Diagnostic::error(
            slipring_ir::Kind::Unsupported,
            span,
            format!("a part of a tile in `{}` here", tile.ty.space),
        )
        .also(tile.span, "the part")
        .help("parts of tiles in L1 are operands of products: load the part from its tensor elsewhere");
        Err(self.report(error))
    }

    /// Reports a partially valid tile where all of it must be valid.
    pub fn wholly_valid(&mut self, id: TileId, what: &str, span: Span) -> Lowered<()> {
        let tile = self.tile(id);
        if tile.valid.is_none() {
            return Ok(());
        }
        let error = Diagnostic::error("partly-valid", span, format!("{what} of a partially valid tile"))
            .also(tile.span, "the tile is made here")
            .help("give all of it a value first: `pl.fillpad(x, pl.PadValue.zero)`");
        Err(self.report(error))
    }

    /// Reports valid extents that exceed a tile's shape.
    pub fn valid_fits(&mut self, valid: [Index; 2], shape: &[u64], span: Span) -> Lowered<()> {
        let (rows, cols) = fold(shape);
        for (extent, most) in valid.iter().zip([rows, cols]) {
            if let Index::Known(n) = extent
                && (*n < 0 || *n as u64 > most)
            {
                let message = format!("{n} valid rows or columns of a tile {}", show(shape));
                return Err(self.error("bounds", span, message));
            }
        }
        Ok(())
    }

    /// A new tile of UB with a tile's shape and valid shape that is padded to these rows and columns.
    pub fn padded_like(
        &mut self,
        model: TileId,
        elem: Elem,
        (rows, cols): (u32, u32),
        made_by: &'static str,
    ) -> TileId {
        let (shape, valid) = (self.tile(model).shape.clone(), self.tile(model).valid);
        let mut ty = Place::of(Space::Vec).tile_type(&shape, elem);
        (ty.layout.rows, ty.layout.cols) = (rows, cols);
        match valid {
            None => {
                let value = self.buffer(ty);
                self.add_tile(value, ty, &shape, made_by)
            }
            Some(valid) => {
                ty.valid = [Dim::Dynamic; 2];
                let value = self.buffer(ty);
                self.set_valid(value, ty, &shape, valid, made_by)
            }
        }
    }

    /// A new tile of UB with a tile's shape and valid shape.
    pub fn tile_like(&mut self, model: TileId, elem: Elem, made_by: &'static str) -> TileId {
        let shape = self.tile(model).shape.clone();
        self.tile_valid_like(model, &shape, elem, [true; 2], made_by)
    }

    /// A new tile of UB with a tile's valid rows or columns, if they are kept; one in the other dimension.
    pub fn tile_valid_like(
        &mut self,
        model: TileId,
        shape: &[u64],
        elem: Elem,
        keep: [bool; 2],
        made_by: &'static str,
    ) -> TileId {
        match self.tile(model).valid {
            None => self.new_tile(shape, elem, Space::Vec, made_by),
            Some(valid) => {
                let valid: [Index; 2] = std::array::from_fn(|at| if keep[at] { valid[at] } else { Index::Known(1) });
                let (rows, cols) = fold(shape);
                if valid == [rows, cols].map(|n| Index::Known(n as i64)) {
                    return self.new_tile(shape, elem, Space::Vec, made_by);
                }
                self.new_valid_tile(shape, elem, Space::Vec, valid, made_by)
            }
        }
    }

    /// Adds a tile in a buffer to the list.
    pub fn add_tile(&mut self, value: ValueId, ty: TileType, shape: &[u64], made_by: &'static str) -> TileId {
        self.e.suggest(value, made_by);
        self.held.tiles.push(Tile {
            value,
            ty,
            shape: shape.iter().copied().collect(),
            valid: None,
            span: self.e.span,
            made_by,
            region: self.open.region,
            crossing: None,
            generation: self.held.buffers.generation(self.viewed(value)),
            copies: Vec::new(),
            part: None,
            mask: None,
            truths: false,
        });
        TileId(self.held.tiles.len() as u32 - 1)
    }

    /// A tile in a buffer whose contents change: earlier copies of it no longer count.
    pub fn renewed(&mut self, id: TileId) -> TileId {
        let generation = self.held.buffers.generation(self.buffer_of(id));
        let tile = Tile { copies: Vec::new(), generation, ..self.tile(id).clone() };
        self.held.tiles.push(tile);
        TileId(self.held.tiles.len() as u32 - 1)
    }

    /// Marks the role of a tile at the border between the cores.
    pub fn mark(&mut self, id: TileId, crossing: Crossing) {
        self.held.tiles[id.0 as usize].crossing = Some(crossing);
    }
}
