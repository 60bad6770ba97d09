//! Operations of an orchestration itself on tensors: it reads and writes numbers, copies parts, and calls host
//! functions.

use slipring_tile::Elem;

use crate::{Bytes, Direction, Touched};

/// A part of a tensor.
#[derive(Clone, PartialEq, Debug)]
pub struct Piece {
    /// Index of the tensor.
    pub tensor: usize,
    /// Type of its elements.
    pub elem: Elem,
    /// Its first byte.
    pub offset: u64,
    /// Extents in elements, outermost first.
    pub shape: Vec<u64>,
    /// Strides in elements.
    pub strides: Vec<u64>,
}

impl Piece {
    /// Its bytes.
    pub fn bytes(&self) -> Bytes {
        Bytes::window(self.offset, self.elem.bytes() as u64, &self.shape, &self.strides)
    }

    /// The offset of each of its elements, the last index fastest.
    fn places(&self) -> Vec<u64> {
        let mut places = vec![self.offset];
        for (extent, stride) in self.shape.iter().zip(&self.strides) {
            let step = stride * self.elem.bytes() as u64;
            places = places.iter().flat_map(|first| (0..*extent).map(move |n| first + n * step)).collect();
        }
        places
    }

    /// Its elements, one after the other, the last index fastest.
    pub fn gathered(&self, tensors: &[Vec<u8>]) -> Vec<u8> {
        let (size, source) = (self.elem.bytes(), &tensors[self.tensor]);
        let read = |place: u64| source.get(place as usize..place as usize + size).unwrap_or_default();
        self.places().into_iter().flat_map(read).copied().collect()
    }

    /// Writes elements in this order back to their positions.
    pub fn scatter(&self, elements: &[u8], tensors: &mut [Vec<u8>]) {
        for (place, number) in self.places().into_iter().zip(elements.chunks(self.elem.bytes())) {
            put(&mut tensors[self.tensor], place, number);
        }
    }
}

/// An argument of a host function.
#[derive(Clone, PartialEq, Debug)]
pub enum HostArg {
    /// A part of a tensor, and how the function accesses it.
    Part(Piece, Direction),
    /// A number that does not come from a tensor.
    Number(HostNumber),
}

/// A Python number.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum HostNumber {
    Boolean(bool),
    Whole(i64),
    Float(f64),
}

/// A call of a Python function on the host: only the directions of its parameters are known.
#[derive(Clone, PartialEq, Debug)]
pub struct HostCall {
    /// Name of the function.
    pub name: String,
    /// Its arguments, in the order of its parameters.
    pub args: Vec<HostArg>,
}

impl HostCall {
    /// The parts of tensors among its arguments, in order.
    pub fn parts(&self) -> impl Iterator<Item = (&Piece, Direction)> {
        self.args.iter().filter_map(|arg| match arg {
            HostArg::Part(piece, direction) => Some((piece, *direction)),
            HostArg::Number(_) => None,
        })
    }

    /// True if it writes a tensor.
    pub fn writes(&self) -> bool {
        self.parts().any(|(_, direction)| direction.writes())
    }
}

/// An operation of the orchestration itself.
#[derive(Clone, PartialEq, Debug)]
pub enum Act {
    /// Reads a number, after waiting for its writers.
    Read(Piece),
    /// Writes a number, after waiting for all users of the previous value.
    Write(Piece, Vec<u8>),
    /// Copies a part of a tensor into a part of the same shape.
    Copy {
        #[allow(missing_docs)]
        from: Piece,
        #[allow(missing_docs)]
        to: Piece,
    },
    /// Calls a host function.
    Host(HostCall),
}

impl Act {
    /// The bytes that it touches, by tensor.
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
            Act::Host(call) => {
                let mut list: Vec<(usize, Touched)> = Vec::new();
                for (piece, direction) in call.parts() {
                    let at = list.iter().position(|(tensor, _)| *tensor == piece.tensor).unwrap_or(list.len());
                    if at == list.len() {
                        list.push((piece.tensor, Touched::default()));
                    }
                    let own = &mut list[at].1;
                    if direction.reads() {
                        own.reads = own.reads.and(&piece.bytes());
                    }
                    if direction.writes() {
                        own.writes = own.writes.and(&piece.bytes());
                    }
                }
                list
            }
        }
    }

    /// Performs it on the bytes of all tensors. A call of a host function does nothing here; it is left to the caller.
    pub fn apply(&self, tensors: &mut [Vec<u8>]) {
        match self {
            Act::Read(_) | Act::Host(_) => {}
            Act::Write(piece, number) => put(&mut tensors[piece.tensor], piece.offset, number),
            Act::Copy { from, to } => to.scatter(&from.gathered(tensors), tensors),
        }
    }
}

fn put(tensor: &mut [u8], place: u64, number: &[u8]) {
    if let Some(own) = tensor.get_mut(place as usize..place as usize + number.len()) {
        own.copy_from_slice(number);
    }
}
