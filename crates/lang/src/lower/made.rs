//! Tensors that a scope makes. The public compiler makes a tile of UB for each. Here it is a tile if the scalar unit
//! accesses its elements, because DMA could not see what is in the scalar cache, and a tensor in global memory
//! otherwise. Which it is only shows after it was made: the function is lowered again with that knowledge, and again
//! with a tensor if the tile does not support its uses.

use slipring_ir::{Diags, Reported, Span};

use super::lowering::{Lower, Lowered};
use crate::compiled::Direction;
use crate::globals::Globals;
use crate::value::{Tensor, Value};

/// The maximum size of a tensor that becomes a tile, in bytes: a third of the smaller UB, to leave capacity for other
/// tiles.
const MOST_BYTES: u64 = 64 << 10;

/// Lowers a function or a scope, and again while tensors that it makes turn out to be tiles.
pub(super) fn with_made_tiles<T>(
    globals: &Globals<'_>,
    diags: &mut Diags,
    mut lower: impl FnMut(&mut Diags) -> Result<T, Reported>,
) -> Result<T, Reported> {
    let asked = || globals.made_tiles.borrow().count();
    let (before, said) = (asked(), diags.list.len());
    loop {
        let known = asked();
        let outcome = lower(diags);
        let failed = outcome.is_err() && asked() > before;
        if failed && asked() == known {
            globals.made_tiles.borrow_mut().refuse(before);
        } else if asked() == known {
            return outcome;
        }
        diags.list.truncate(said);
    }
}

impl Lower<'_> {
    /// True if the tensor that is made at this place is a tile.
    pub fn is_made_tile(&self, place: &[Span]) -> bool {
        self.open.scopes > 0 && self.globals.made_tiles.borrow().has(place)
    }

    /// Notes that the scalar unit accesses an element of a tensor.
    ///
    /// # Errors
    /// If the scope has made the tensor: it is lowered again, with a tile.
    pub fn by_element(&mut self, element: &Tensor) -> Lowered<()> {
        let at = self.tensors.roots[element.root].of.unwrap_or(element.root);
        let root = &self.tensors.roots[at];
        let elements: u64 = root.dims[usize::from(root.by_block)..].iter().product();
        let bytes = elements.saturating_mul(root.elem.bytes() as u64);
        if !root.of_scope || root.direction != Direction::Out || bytes > MOST_BYTES {
            return Ok(());
        }
        let made = |value: &Value| matches!(value, Value::Tensor(own) if own.root == at);
        let Some((place, _)) = self.facts.created.iter().find(|(_, value)| made(value)) else { return Ok(()) };
        match self.globals.made_tiles.borrow_mut().ask(place) {
            true => Err(Reported),
            false => Ok(()),
        }
    }
}
