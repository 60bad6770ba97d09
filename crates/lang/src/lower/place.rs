//! Placement of tiles: layouts of the memories, and moves to where a tile is needed.

use slipring_ir::{Diagnostic, Kind, Span, Type};
use slipring_pto as pto;
use slipring_tile::{BLayout, SLayout, Space};

use super::layouts::Place;
use super::lowering::{Lower, Lowered, describe, with_integer_help};
use crate::value::{Const, Copied, Index, Loaded, Tensor, TileId, Value, fold, show};

impl Lower<'_> {
    /// The tile of a value in a memory: moved there, loaded from global memory, or unchanged.
    ///
    /// # Errors
    /// Reported if the value is not a tile or tensor, or cannot get there.
    pub fn demand(&mut self, value: &Value, space: Space, span: Span) -> Lowered<TileId> {
        match value {
            Value::Tile(id) => self.moved(*id, space, false, span),
            Value::Tensor(tensor) => {
                let id = match space {
                    Space::Vec => self.loaded(tensor, Space::Vec)?,
                    // A bias has the same layout in L1 as in its own memory: a row.
                    Space::Bias => self.load_in(tensor, Place { space: Space::Mat, ..Place::of(Space::Bias) })?,
                    _ => self.loaded(tensor, Space::Mat)?,
                };
                self.moved(id, space, false, span)
            }
            Value::Parts(parts) => {
                let whole =
                    self.whole_of(&parts.clone(), if space == Space::Vec { Space::Vec } else { Space::Mat }, span)?;
                self.moved(whole, space, false, span)
            }
            other => {
                let what = describe(self, other);
                let error = Diagnostic::error("value-kind", span, format!("a tile is needed here, this is {what}"));
                Err(self.report(match other {
                    Value::Tuple(_) => error.help("numbers for a whole row are passed as a tensor: `x * w[:]`"),
                    _ => error,
                }))
            }
        }
    }

    /// The transposed tile of a value in L1, L0A or L0B.
    pub fn demand_transposed(&mut self, value: &Value, space: Space, span: Span) -> Lowered<TileId> {
        let id = self.demand(value, Space::Mat, span)?;
        self.moved(id, space, true, span)
    }

    /// A tile in a memory.
    fn moved(&mut self, id: TileId, space: Space, transposed: bool, span: Span) -> Lowered<TileId> {
        self.not_overwritten(id, span)?;
        let from = self.tile(id).ty.space;
        if from == space && !transposed {
            return Ok(id);
        }
        let known = self
            .tile(id)
            .copies
            .iter()
            .find(|c| c.space == space && c.transposed == transposed && self.open.blocks.contains(&c.block))
            .copied();
        let in_l0 = matches!(space, Space::Left | Space::Right);
        if !(in_l0 || space == Space::Mat && transposed) {
            self.not_in_part(id, span)?;
        }
        let buffer = self.buffer_of(id);
        // A later use finds the copy, unless the tile has been written in place since.
        if let Some(known) = known.filter(|known| !self.held.buffers.written_after(buffer, known.writes)) {
            return Ok(known.tile);
        }
        let tile = match (from, space) {
            (Space::Mat, Space::Mat) => self.transposed_view(id),
            (Space::Mat, Space::Left | Space::Right | Space::Bias) => {
                let source = match (transposed, space) {
                    (true, _) => self.moved(id, Space::Mat, true, span)?,
                    (false, Space::Bias) => self.bias_row(id)?,
                    (false, _) => id,
                };
                self.copy_to(source, space)
            }
            (Space::Mat, Space::LeftScale | Space::RightScale) => {
                let (tile, wanted) = (self.tile(id), Place::of(space));
                if (tile.ty.layout.blayout, tile.ty.layout.slayout) != (wanted.blayout, wanted.slayout) {
                    let side = if space == Space::LeftScale { "MX_A_ZZ" } else { "MX_B_NN" };
                    let error = Diagnostic::error("tile-layout", span, format!("these are not scales for `{space}`"))
                        .also(tile.span, "the tile is made here")
                        .help(format!(
                            "load them from a tensor of packed scales: `pl.Tensor[[…], pl.FP8E8M0, pl.{side}]`"
                        ));
                    return Err(self.report(error));
                }
                self.copy_to(id, space)
            }
            (Space::Acc, Space::Mat) => self.copy_to(id, Space::Mat),
            (Space::Acc, Space::Left | Space::Right | Space::Bias)
            | (Space::Vec, Space::Left | Space::Right | Space::Bias) => {
                // There is no direct path: operands and biases are loaded from L1.
                let on_the_way = self.moved(id, Space::Mat, false, span)?;
                self.moved(on_the_way, space, transposed, span)?
            }
            (Space::Acc, Space::Vec) | (Space::Vec, Space::Mat) => self.cross(id, space, span)?,
            _ => {
                let tile = self.tile(id);
                let message = format!("a tile cannot get from `{from}` to `{space}`");
                let error = Diagnostic::error("no-way", span, message).also(tile.span, "the tile is made here");
                return Err(self.report(error.help("load it from its tensor where it is needed, or store it first")));
            }
        };
        let source = self.tile(id);
        let name = self.e.module.value(source.value).name.as_deref().unwrap_or(source.made_by).to_string();
        let name = name.strip_suffix(&format!("_{from}")).unwrap_or(&name).to_string();
        self.name_copy(tile, &name, space);
        let block = self.e.block;
        let writes = self.held.buffers.now();
        let copies = &mut self.held.tiles[id.0 as usize].copies;
        copies.retain(|c| c.space != space || c.transposed != transposed || c.block != block);
        copies.push(Copied { space, transposed, block, tile, writes });
        Ok(tile)
    }

    /// Reports a tile whose buffer an op that works in place has overwritten, and a part of a tile in L1, which is not
    /// a tile of its own.
    pub fn still_there(&mut self, id: TileId, span: Span) -> Lowered<()> {
        self.not_overwritten(id, span)?;
        self.not_in_part(id, span)
    }

    /// Reports a tile whose buffer an op that works in place has overwritten.
    pub fn not_overwritten(&mut self, id: TileId, span: Span) -> Lowered<()> {
        let buffer = self.buffer_of(id);
        let Some(place) = self.held.buffers.taken_at(buffer) else { return Ok(()) };
        if self.tile(id).generation == self.held.buffers.generation(buffer) {
            return Ok(());
        }
        let error = Diagnostic::error("tile-gone", span, "this tile has been overwritten")
            .also(place, "here an op accumulated into it, in place")
            .help("use the result of that op, or make the tile anew");
        Err(self.report(error))
    }

    /// Names a copy that no variable is bound to after its source and its memory.
    fn name_copy(&mut self, copy: TileId, source: &str, space: Space) {
        let value = self.tile(copy).value;
        self.e.rename(value, &format!("{source}_{space}"));
    }

    /// A copy by `pto.tmov`.
    pub fn copy_to(&mut self, id: TileId, space: Space) -> TileId {
        let source = self.tile(id).clone();
        let (value, shape, elem, made_by) = (source.value, source.shape, source.ty.layout.elem, source.made_by);
        if let Some((_, at)) = source.part {
            let target = self.new_tile(&shape, elem, space, made_by);
            let [row, col] = at.map(|offset| [self.index_value(offset)]);
            let dst = self.tile(target).value;
            self.e.op(&pto::TEXTRACT, &[("src", &[value]), ("row", &row), ("col", &col), ("dst", &[dst])], &[], &[]);
            return target;
        }
        let copy = match source.valid {
            None => self.new_tile(&shape, elem, space, made_by),
            Some(valid) => self.new_valid_tile(&shape, elem, space, valid, made_by),
        };
        let target = self.tile(copy).value;
        self.e.op(&pto::TMOV, &[("src", &[value]), ("dst", &[target])], &[], &[]);
        copy
    }

    /// The tile itself if its lines are contiguous in memory as usual, else a contiguous copy: a part has the strides
    /// of its tile, and padding may be larger than usual.
    pub fn dense(&mut self, id: TileId) -> TileId {
        let tile = self.tile(id);
        let usual = Place::of(Space::Vec).tile_type(&tile.shape, tile.ty.layout.elem).layout;
        let lies = slipring_pto::lies(&self.e.module, tile.value).unwrap_or(tile.ty.layout);
        let (lines, own, wanted) = match lies.blayout {
            BLayout::RowMajor => (lies.rows, lies.cols, usual.cols),
            BLayout::ColMajor => (lies.cols, lies.rows, usual.rows),
        };
        let alike = own == wanted || lines == 1;
        // A tile that is not in UB, or is a whole tile with an entirely different layout, is left to the caller. A
        // column of a tile in row order is a part with a different layout.
        let other = lies.blayout != usual.blayout && (lies == tile.ty.layout || lines == 1);
        if alike || other || tile.ty.space != Space::Vec { id } else { self.copy_to(id, Space::Vec) }
    }

    /// The same bytes of L1 with rows and columns exchanged: fractals in column order are fractals in row order of the
    /// transposed tile.
    fn transposed_view(&mut self, id: TileId) -> TileId {
        if let Some((whole, [row, col])) = self.tile(id).part {
            let tile = self.tile(id).clone();
            let whole = self.transposed_view(whole);
            let (value, mut ty) = (self.tile(whole).value, tile.ty);
            let of = self.tile(whole).ty.layout;
            (ty.layout.rows, ty.layout.cols) = (tile.ty.layout.cols, tile.ty.layout.rows);
            (ty.layout.blayout, ty.layout.slayout) = (of.blayout, of.slayout);
            ty.valid = [tile.ty.valid[1], tile.ty.valid[0]];
            let part = self.add_tile(value, ty, &[tile.shape[1], tile.shape[0]], tile.made_by);
            self.held.tiles[part.0 as usize].part = Some((whole, [col, row]));
            return part;
        }
        let source = self.tile(id);
        let (value, from, made_by, valid) = (source.value, source.ty, source.made_by, source.valid);
        let (rows, cols) = fold(&source.shape);
        let mut ty = from;
        ty.layout.rows = from.layout.cols;
        ty.layout.cols = from.layout.rows;
        ty.valid = [from.valid[1], from.valid[0]];
        ty.layout.blayout = match from.layout.blayout {
            BLayout::RowMajor => BLayout::ColMajor,
            BLayout::ColMajor => BLayout::RowMajor,
        };
        ty.layout.slayout = match from.layout.slayout {
            SLayout::RowMajor => SLayout::ColMajor,
            SLayout::ColMajor => SLayout::RowMajor,
            SLayout::NoneBox => SLayout::NoneBox,
        };
        let view = self.e.value(&pto::TRESHAPE, &[("src", &[value])], &[], Type::Tile(ty));
        match valid {
            None => self.add_tile(view, ty, &[cols, rows], made_by),
            Some([of_rows, of_cols]) => self.set_valid(view, ty, &[cols, rows], [of_cols, of_rows], made_by),
        }
    }

    /// Copies a whole tile to the other kind of core, if no split is written.
    fn cross(&mut self, id: TileId, space: Space, span: Span) -> Lowered<TileId> {
        let tile = self.tile(id).clone();
        if let Some(region) = self.open.region {
            let region = self.open.regions[region.0 as usize].span;
            let (code, message, help) = if space == Space::Vec {
                (
                    "implicit-shard",
                    "a tile of the Cube core is read on the Vector cores without a shard",
                    "take each lane's part with `pl.aiv_shard(…)` at the top of the region and use that",
                )
            } else {
                (
                    "cube-in-region",
                    "a tile of a region goes to the Cube core inside the region",
                    "gather it with `pl.aic_gather(…)` and use the whole tile after the region",
                )
            };
            let error = Diagnostic::error(code, span, message)
                .also(tile.span, format!("the tile is made here by `{}`", tile.made_by))
                .also(region, "the region begins here");
            return Err(self.report(error.help(help)));
        }
        if let Some(region) = tile.region.filter(|_| space == Space::Mat) {
            let region = self.open.regions[region.0 as usize].span;
            let error =
                Diagnostic::error("implicit-gather", span, "a lane's tile is used on the Cube core without a gather")
                    .also(tile.span, format!("each lane has its own: made here by `{}`", tile.made_by))
                    .also(region, "in this region")
                    .help(
                        "put the lanes' tiles together with `pl.aic_gather(…)` inside the region, and use the result",
                    );
            return Err(self.report(error));
        }
        if let Some((mode, _)) = self.facts.divided() {
            // The automatic split halves every tile that crosses.
            self.halve(&mut tile.shape.clone(), mode, span)?;
        }
        let elem = tile.ty.layout.elem;
        // The fractals of a compact accumulator are laid out by its valid rows: a view of all of it would access them
        // at other addresses.
        let by_valid_rows = tile.ty.space == Space::Acc && tile.ty.compact != 0 && self.facts.divided().is_none();
        let whole = if by_valid_rows { id } else { self.whole_view(id) };
        let copy = self.new_tile(&tile.shape, elem, space, tile.made_by);
        let (source, target) = (self.tile(whole).value, self.tile(copy).value);
        self.e.op(&pto::TCROSS, &[("src", &[source]), ("dst", &[target])], &[], &[]);
        self.crossed(copy, tile.valid, span)
    }

    // ---- global memory ----

    /// The tile for a window that an op reads without an explicit load: an input is loaded once.
    fn loaded(&mut self, tensor: &Tensor, space: Space) -> Lowered<TileId> {
        let is_input = !self.tensors.roots[tensor.root].writable;
        let known = self
            .tensors
            .loads
            .iter()
            .find(|l| l.space == space && self.open.blocks.contains(&l.block) && l.tensor == *tensor);
        if let Some(known) = known.filter(|_| is_input) {
            return Ok(known.tile);
        }
        let tile = self.load(tensor, space)?;
        let name = self.tensors.roots[tensor.root].name.to_string();
        self.name_copy(tile, &name, space);
        self.note_image(tile, tensor, false);
        if is_input {
            self.tensors.loads.push(Loaded { tensor: tensor.clone(), space, block: self.e.block, tile });
        }
        Ok(tile)
    }

    /// Records that a tile of L1 has the contents of a window that nothing changes: that of an input, or of memory that
    /// is the kernel's `own`.
    pub fn note_image(&mut self, tile: TileId, tensor: &Tensor, own: bool) {
        let root = &self.tensors.roots[tensor.root];
        let plain = self.tile(tile).ty.space == Space::Mat && self.tile(tile).valid.is_none() && root.scales.is_none();
        if plain && tensor.valid.is_none() && (own || !root.writable) {
            let changes = self.held.buffers.changes(self.buffer_of(tile));
            let image = Loaded { tensor: tensor.clone(), space: Space::Mat, block: self.e.block, tile };
            self.held.images.push((image, changes));
        }
    }

    /// The window that a tile of L1 still has the contents of. In a loop or branch it might change.
    pub fn image_of(&self, tile: TileId) -> Option<Tensor> {
        let (image, changes) = self.held.images.iter().rev().find(|(own, _)| own.tile == tile)?;
        let same = image.block == self.e.block && self.held.buffers.changes(self.buffer_of(tile)) == *changes;
        same.then(|| image.tensor.clone())
    }

    /// Loads a window of a tensor.
    pub fn load(&mut self, tensor: &Tensor, space: Space) -> Lowered<TileId> {
        let Some(scales) = self.tensors.roots[tensor.root].scales else {
            return self.load_in(tensor, Place::of(space));
        };
        let root = &self.tensors.roots[tensor.root];
        let whole = tensor.shape() == root.dims && tensor.sizes == root.dims && tensor.reshaped.is_none();
        if space != Space::Mat || !whole {
            let (name, place) = (root.name.clone(), root.span);
            let error = Diagnostic::error(
                "packed-scales",
                self.e.span,
                format!("packed scales of `{name}` are not loaded like this"),
            )
            .also(place, "the tensor")
            .help("load all of them into L1: `pl.load(scales, [0, 0], [rows, cols], target_memory=pl.Mem.Mat)`");
            return Err(self.report(error));
        }
        self.load_in(tensor, Place { space, ..Place::of(scales) })
    }

    fn load_in(&mut self, tensor: &Tensor, place: Place) -> Lowered<TileId> {
        self.reads(tensor, self.e.span);
        let window = self.window(tensor);
        let shape = tensor.shape();
        let shape: &[u64] = if shape.is_empty() { &[1] } else { &shape };
        let tile = match &tensor.valid {
            None => self.new_tile_in(shape, place, tensor.elem, "load"),
            Some(valid) => self.new_valid_tile_in(shape, place, tensor.elem, **valid, "load"),
        };
        self.held.tiles[tile.0 as usize].truths = self.tensors.roots[tensor.root].truths;
        let target = self.tile(tile).value;
        self.e.op(&pto::TLOAD, &[("src", &[window]), ("dst", &[target])], &[], &[]);
        if place == Place::of(Space::Mat) && fold(shape).0 == 1 {
            self.held.rows.push((target, tensor.clone(), self.held.buffers.stores.len()));
        }
        Ok(tile)
    }

    /// A row of L1 in the line layout that a bias needs: a tile in fractals is loaded again.
    fn bias_row(&mut self, id: TileId) -> Lowered<TileId> {
        let tile = self.tile(id);
        if tile.ty.layout.slayout == SLayout::NoneBox {
            return Ok(id);
        }
        let Some((_, window, stores)) = self.held.rows.iter().find(|(buffer, ..)| *buffer == tile.value).cloned()
        else {
            return Ok(id);
        };
        let root = &self.tensors.roots[window.root];
        let written =
            self.open.loops > 0 || self.held.buffers.stores[stores..].iter().any(|s| s.window.root == window.root);
        if root.writable && written {
            return Ok(id);
        }
        self.load_in(&window, Place { space: Space::Mat, ..Place::of(Space::Bias) })
    }

    /// The view for a window.
    pub fn window(&mut self, tensor: &Tensor) -> slipring_ir::ValueId {
        let root = &self.tensors.roots[tensor.root];
        let (source, elem) = (root.view, root.elem);
        let offsets: Vec<_> = tensor.offsets.iter().map(|offset| self.index_value(*offset)).collect();
        let extents = self.touched(tensor);
        let sizes: Vec<_> = extents.iter().map(|n| self.e.index(*n as i64)).collect();
        let dims = extents.iter().map(|n| slipring_ir::Dim::Static(*n)).collect();
        let ty = Type::PartitionView(slipring_ir::ViewType { elem, dims });
        let operands = [("source", &[source][..]), ("offsets", &offsets), ("sizes", &sizes)];
        self.e.value(&pto::PARTITION_VIEW, &operands, &[], ty)
    }

    /// The extents of a window that are known to be valid and inside its tensor.
    fn touched(&self, tensor: &Tensor) -> smallvec::SmallVec<[u64; 5]> {
        let mut extents = tensor.sizes.clone();
        let Some(valid) = tensor.valid.as_ref().filter(|_| tensor.reshaped.is_none()) else { return extents };
        let kept: Vec<usize> = (0..extents.len()).filter(|at| !tensor.dropped[*at]).collect();
        let lines: u64 = kept.iter().rev().skip(2).map(|at| extents[*at]).product();
        for (at, valid) in kept.iter().rev().zip(valid.iter().rev()).filter(|_| lines == 1) {
            match (valid, tensor.offsets[*at]) {
                (Index::Known(n), _) => extents[*at] = extents[*at].min((*n).max(1) as u64),
                (Index::At(_), Index::Known(first)) => {
                    let left = self.tensors.roots[tensor.root].dims[*at].saturating_sub(first.max(0) as u64);
                    extents[*at] = extents[*at].min(left.max(1));
                }
                _ => {}
            }
        }
        extents
    }

    /// An offset as a value.
    pub fn index_value(&mut self, index: Index) -> slipring_ir::ValueId {
        match index {
            Index::Known(n) => self.e.index(n),
            Index::At(scalar) => scalar.value,
        }
    }

    /// Reports a write to a read-only tensor.
    pub fn writable(&mut self, root: usize, span: Span) -> Lowered<()> {
        let root = &self.tensors.roots[root];
        if root.writable {
            return Ok(());
        }
        if let Some(function) = &self.opaque
            && self.globals.writes(function, &root.name)
        {
            // It is lowered again with that knowledge.
            return Err(slipring_ir::Reported);
        }
        let error = Diagnostic::error(
            Kind::ReadOnly { name: (&*root.name).into() },
            span,
            format!("`{}` is an input and cannot be written", root.name),
        )
        .also(root.span, "declared here")
        .help("declare it `pl.Out[…]`, or `pl.InOut[…]` if the kernel reads it too");
        Err(self.report(error))
    }

    /// Stores a value into a window of a tensor of the same shape.
    pub fn store(&mut self, value: &Value, tensor: &Tensor, atomic: bool, span: Span) -> Lowered<()> {
        self.writable(tensor.root, span)?;
        let root = self.tensors.roots[tensor.root].clone();
        let id = match value {
            Value::Tile(id) => *id,
            Value::Tensor(source) => self.load(source, Space::Vec)?,
            Value::Parts(parts) => return self.store_parts(&parts.clone(), tensor, atomic, span),
            other => {
                let what = describe(self, other);
                return Err(self.error("value-kind", span, format!("only tiles are stored, this is {what}")));
            }
        };
        self.still_there(id, span)?;
        // A mask is stored as bits if the tensor holds bytes, else as ones and zeros.
        let fits = fold(&self.tile(id).shape) == fold(&tensor.sizes);
        let id = match fits && root.elem.bytes() == 1 && !root.truths {
            true => id,
            false if root.truths => super::masks::truths(self, id, span)?,
            false => super::masks::unpacked(self, id)?,
        };
        let id = match self.tile(id).ty.space {
            Space::Vec | Space::Acc | Space::Mat => id,
            other => {
                return Err(self.error("no-way", span, format!("a tile in `{other}` cannot be stored")));
            }
        };
        let tile = self.tile(id).clone();
        let (have, want) = (fold(&tile.shape), fold(&tensor.sizes));
        // Only the valid part is stored, and only it must fit.
        let fits = match tile.valid {
            None => false,
            Some([Index::Known(rows), Index::Known(cols)]) => (rows as u64, cols as u64) == want,
            Some(_) => want.0 <= have.0 && want.1 <= have.1,
        };
        if have != want && !fits {
            let error = Diagnostic::error(
                "store-shape",
                span,
                format!(
                    "a tile {} does not fit a window {} of `{}`",
                    show(&tile.shape),
                    show(&tensor.shape()),
                    root.name
                ),
            )
            .also(tile.span, "the tile is made here");
            let help = match (have.0 * have.1 == want.0 * want.1 && have.1 == 1, tensor.sizes.len()) {
                (true, 1) => {
                    "a column is stored into a column: give the tensor the shape [n, 1], or the tile one row (`pl.reshape`)"
                }
                _ => "make the shapes equal: slice the one or the other",
            };
            return Err(self.report(error.help(help)));
        }
        let from = tile.ty.layout.elem;
        if tile.ty.space != Space::Acc && from != root.elem {
            let names = [crate::dtype::DType::Elem(from).name(), crate::dtype::DType::Elem(root.elem).name()];
            let error = Diagnostic::error(
                "store-type",
                span,
                format!(
                    "{} tile is stored into {} tensor",
                    crate::dtype::with_article(names[0]),
                    crate::dtype::with_article(names[1])
                ),
            )
            .also(root.span, format!("`{}` is declared here", root.name))
            .help(format!("convert it: `pl.cast(…, pl.{})`", names[1]));
            return Err(self.report(error));
        }
        self.stored(tensor, tile.valid, span)?;
        let window = self.window(tensor);
        let attrs: &[_] =
            if atomic { &[("atomicType", slipring_ir::Attr::member("atomic_type", "atomic_add"))] } else { &[] };
        self.e.op(&pto::TSTORE, &[("src", &[tile.value]), ("dst", &[window])], attrs, &[]);
        Ok(())
    }

    /// A number that must be known at compile time.
    pub fn known_int(&mut self, value: &Value, what: &str, span: Span) -> Lowered<i64> {
        match value {
            Value::Const(Const::Int(n)) => Ok(*n),
            other => {
                let is = describe(self, other);
                let message = format!("{what} must be a constant integer, this is {is}");
                let error = Diagnostic::error("not-constant", span, message);
                Err(self.report(with_integer_help(error, other)))
            }
        }
    }
}
