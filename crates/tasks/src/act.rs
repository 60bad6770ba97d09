//! What an orchestration does itself with tensors: it reads and writes numbers, and copies parts.

use slipring_tile::Elem;

use crate::{Bytes, Touched};

/// A part of a tensor.
#[derive(Clone, PartialEq, Debug)]
pub struct Piece {
    /// Which tensor.
    pub tensor: usize,
    /// Type of its elements.
    pub elem: Elem,
    /// Its first byte.
    pub offset: u64,
    /// Extents in elements, outermost first.
    pub shape: Vec<u64>,
    /// Elements from one index of a dimension to the next.
    pub strides: Vec<u64>,
}

impl Piece {
    /// Its bytes.
    pub fn bytes(&self) -> Bytes {
        Bytes::window(self.offset, self.elem.bytes() as u64, &self.shape, &self.strides)
    }

    /// The first byte of each of its elements, the last index fastest.
    fn places(&self) -> Vec<u64> {
        let mut places = vec![self.offset];
        for (extent, stride) in self.shape.iter().zip(&self.strides) {
            let step = stride * self.elem.bytes() as u64;
            places = places.iter().flat_map(|first| (0..*extent).map(move |n| first + n * step)).collect();
        }
        places
    }
}

/// What an orchestration does itself.
#[derive(Clone, PartialEq, Debug)]
pub enum Act {
    /// It reads a number, and waits until that is there.
    Read(Piece),
    /// It writes a number, and waits until nobody uses what was there.
    Write(Piece, Vec<u8>),
    /// A part of a tensor is copied into a part of the same shape.
    Copy {
        #[allow(missing_docs)]
        from: Piece,
        #[allow(missing_docs)]
        to: Piece,
    },
}

impl Act {
    /// What it touches, by tensor.
    pub fn touched(&self) -> Vec<(usize, Touched)> {
        let reads = |piece: &Piece| (piece.tensor, Touched { reads: piece.bytes(), ..Touched::default() });
        let writes = |piece: &Piece| (piece.tensor, Touched { writes: piece.bytes(), ..Touched::default() });
        match self {
            Act::Read(piece) => vec![reads(piece)],
            Act::Write(piece, _) => vec![writes(piece)],
            Act::Copy { from, to } if from.tensor == to.tensor => {
                vec![(to.tensor, Touched { reads: from.bytes(), writes: to.bytes(), ..Touched::default() })]
            }
            Act::Copy { from, to } => vec![reads(from), writes(to)],
        }
    }

    /// Does it, on the bytes of all tensors.
    pub fn apply(&self, tensors: &mut [Vec<u8>]) {
        match self {
            Act::Read(_) => {}
            Act::Write(piece, number) => put(&mut tensors[piece.tensor], piece.offset, number),
            Act::Copy { from, to } => {
                let size = from.elem.bytes();
                let source = &tensors[from.tensor];
                let read = |place: u64| source.get(place as usize..place as usize + size).unwrap_or_default().to_vec();
                let numbers: Vec<Vec<u8>> = from.places().into_iter().map(read).collect();
                for (place, number) in to.places().into_iter().zip(numbers) {
                    put(&mut tensors[to.tensor], place, &number);
                }
            }
        }
    }
}

fn put(tensor: &mut [u8], place: u64, number: &[u8]) {
    if let Some(own) = tensor.get_mut(place as usize..place as usize + number.len()) {
        own.copy_from_slice(number);
    }
}
