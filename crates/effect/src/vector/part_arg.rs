//! The larger or smaller of two elements together with its index.

use slipring_program::{Access, Effect, Env, Fault, Run};
use slipring_tile::{Compare, Elem};

use super::gather::{put, take};
use super::operands::Shape;
use super::{Local, TileArg, tile_units};

/// A value, and its index.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Numbered {
    pub value: TileArg,
    pub number: TileArg,
}

/// `dst = a` where that is selected, otherwise `b`, both values and their indices; the valid one where only one is. One
/// of the sources has the destination's valid shape, the other none larger.
#[derive(Clone, Copy, Debug)]
pub struct PartArg {
    /// The memory of all operands.
    pub local: Local,
    /// `a` is selected if this holds for its value and that of `b`,
    pub first_if: Option<Compare>,
    /// otherwise `b` if this holds for its value and that of `a`.
    pub second_if: Compare,
    /// The destination.
    pub dst: Numbered,
    /// The sources.
    pub sources: [Numbered; 2],
}

impl PartArg {
    /// The valid shapes of the destination and the sources.
    fn shapes(&self, args: &[u64]) -> Result<(Shape, [Shape; 2]), Fault> {
        let shape = |pair: &Numbered| {
            let (value, number) = (pair.value.valid(args)?, pair.number.valid(args)?);
            if value == number {
                return Ok(value);
            }
            let (a, b) = (pair.value.name, pair.number.name);
            let message =
                format!("`{a}` has {} x {} valid elements, `{b}` {} x {}", value.0, value.1, number.0, number.1);
            Err(Fault::new("tile-valid", message).help("each value has its number"))
        };
        let (dst, [a, b]) = (shape(&self.dst)?, [shape(&self.sources[0])?, shape(&self.sources[1])?]);
        let largest = (a.0.max(b.0), a.1.max(b.1));
        if largest != dst || (a != dst && b != dst) {
            let name = self.dst.value.name;
            let message = format!(
                "`{name}` has {} x {} valid elements, the sources {} x {} and {} x {}",
                dst.0, dst.1, a.0, a.1, b.0, b.1
            );
            return Err(Fault::new("tile-valid", message)
                .help("one source has the valid shape of the destination, the other none larger"));
        }
        Ok((dst, [a, b]))
    }
}

impl Effect for PartArg {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let ((rows, cols), shapes) = self.shapes(args)?;
        for (source, (rows, cols)) in self.sources.iter().zip(shapes) {
            source.value.rect(rows, cols).extents(self.local, args, &mut access.reads);
            source.number.rect(rows, cols).extents(self.local, args, &mut access.reads);
        }
        self.dst.value.rect(rows, cols).extents(self.local, args, &mut access.writes);
        self.dst.number.rect(rows, cols).extents(self.local, args, &mut access.writes);
        access.units = tile_units(&self.dst.value.layout, rows, cols);
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, .. }: Run<'_>) -> Result<u64, Fault> {
        let ((rows, cols), shapes) = self.shapes(args)?;
        let at = (env, self.local);
        let taken = |tile: &TileArg, (rows, cols): Shape| {
            let mut bytes = Vec::new();
            take(memory, at, tile.rect(rows, cols), args, &mut bytes);
            bytes
        };
        let values: [Vec<u8>; 2] = std::array::from_fn(|i| taken(&self.sources[i].value, shapes[i]));
        let numbers: [Vec<u8>; 2] = std::array::from_fn(|i| taken(&self.sources[i].number, shapes[i]));
        let (elem, index) = (self.dst.value.layout.elem, self.dst.number.layout.elem);
        let element = |bytes: &[&[u8]; 2], of: usize, elem: Elem, row: u32, col: u32| {
            let start = (row as usize * shapes[of].1 as usize + col as usize) * elem.bytes();
            bytes[of][start..start + elem.bytes()].to_vec()
        };
        let (values, numbers) = ([&values[0][..], &values[1][..]], [&numbers[0][..], &numbers[1][..]]);
        let (mut chosen, mut belonging) = (Vec::new(), Vec::new());
        for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
            let valid = shapes.map(|shape| row < shape.0 && col < shape.1);
            let of = match valid {
                [true, true] => {
                    let [a, b] = [0, 1].map(|of| element(&values, of, elem, row, col));
                    let mut holds = [0];
                    match self.first_if {
                        Some(first_if) => first_if.run(elem, &a, &b, &mut holds),
                        None => self.second_if.run(elem, &b, &a, &mut holds),
                    }
                    usize::from((holds != [0]) != self.first_if.is_some())
                }
                [true, false] => 0,
                _ => 1,
            };
            chosen.extend(element(&values, of, elem, row, col));
            belonging.extend(element(&numbers, of, index, row, col));
        }
        put(memory, at, self.dst.value.rect(rows, cols), args, &chosen);
        put(memory, at, self.dst.number.rect(rows, cols), args, &belonging);
        Ok(0)
    }
}
