//! Lists of matrices: matrices of one tensor, and matrices in separate accumulators.

use slipring_ir::Span;
use slipring_pto as pto;
use slipring_tile::Space;

use super::lowering::{Lower, Lowered};
use crate::value::{Index, Parts, Tensor, TileId, Value};

impl Lower<'_> {
    /// One matrix of a window with more than two dimensions.
    pub fn matrix_of(&mut self, tensor: &Tensor, place: &[Index], span: Span) -> Lowered<Tensor> {
        let shape = tensor.shape();
        let mut parts: Vec<super::window::Part> = place.iter().map(|index| super::window::Part::One(*index)).collect();
        parts.extend(shape[place.len()..].iter().map(|n| super::window::Part::Range(Index::Known(0), *n)));
        self.tensor_part(tensor, &parts, span)
    }

    /// All matrices of a list in one tile of UB or L1.
    pub(super) fn whole_of(&mut self, parts: &Parts, space: Space, span: Span) -> Lowered<TileId> {
        let known =
            parts.whole.borrow().iter().find(|(s, block, _)| *s == space && self.open.blocks.contains(block)).copied();
        if let Some((.., whole)) = known {
            return Ok(whole);
        }
        let Some(first) = parts.tiles.first().copied() else { return Err(slipring_ir::Reported) };
        let model = self.tile(first).clone();
        let [rows, cols] = model.shape[..] else { return Err(slipring_ir::Reported) };
        let whole = self.new_tile(&parts.shape, model.ty.layout.elem, space, model.made_by);
        for (at, id) in parts.tiles.iter().enumerate() {
            let first = Index::Known(at as i64 * rows as i64);
            if space == Space::Vec {
                let part = self.subset(whole, ([first, Index::Known(0)], [rows, cols]), &[rows, cols], span)?;
                let source = self.demand(&Value::Tile(*id), space, span)?;
                let (src, dst) = (self.tile(source).value, self.tile(part).value);
                self.e.op(&pto::TMOV, &[("src", &[src]), ("dst", &[dst])], &[], &[]);
            } else {
                self.still_there(*id, span)?;
                let (row, col) = (self.index_value(first), self.e.index(0));
                let (src, dst) = (self.tile(*id).value, self.tile(whole).value);
                let groups: [(&str, &[_]); 4] = [("src", &[src]), ("row", &[row]), ("col", &[col]), ("dst", &[dst])];
                self.e.op(&pto::TINSERT, &groups, &[], &[]);
            }
        }
        parts.whole.borrow_mut().push((space, self.e.block, whole));
        Ok(whole)
    }

    /// Stores each matrix of a list to its place.
    pub(super) fn store_parts(&mut self, parts: &Parts, tensor: &Tensor, atomic: bool, span: Span) -> Lowered<()> {
        let shape = tensor.shape();
        let list = &parts.shape[..parts.shape.len() - 2];
        if shape.as_slice() != parts.shape {
            let whole = self.demand(&Value::Parts(std::rc::Rc::new(parts.clone())), Space::Vec, span)?;
            return self.store(&Value::Tile(whole), tensor, atomic, span);
        }
        for (at, id) in parts.tiles.iter().enumerate() {
            let mut left = at as u64;
            let mut place: Vec<Index> = Vec::new();
            for extent in list.iter().rev() {
                place.insert(0, Index::Known((left % extent) as i64));
                left /= extent;
            }
            let window = self.matrix_of(tensor, &place, span)?;
            self.store(&Value::Tile(*id), &window, atomic, span)?;
        }
        Ok(())
    }
}
