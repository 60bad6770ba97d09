//! Words that name a tile, or a rectangle of tiles, on the network on chip.

use std::fmt;

/// A tile, in translated coordinates: the same on both networks.
///
/// Its word is `y << 6 | x`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Xy {
    /// Row, 0..63. First, so that tiles sort by row and then column.
    pub y: u8,
    /// Column, 0..63.
    pub x: u8,
}

/// The word of the PCIe tile (19, 24) with bit 24, which becomes bit 60 of the 64-bit address: host memory.
pub const PCIE_XY: u32 = 0x0100_0613;

impl Xy {
    /// The tile of a column and a row.
    pub const fn new(x: u8, y: u8) -> Xy {
        Xy { y, x }
    }

    /// The word that addresses this tile.
    pub const fn word(self) -> u32 {
        ((self.y as u32) << 6) | self.x as u32
    }

    /// The tile that a unicast word addresses. Bits above the twelfth are ignored.
    pub const fn from_word(word: u32) -> Xy {
        Xy { x: (word & 63) as u8, y: ((word >> 6) & 63) as u8 }
    }
}

impl fmt::Display for Xy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({},{})", self.x, self.y)
    }
}

/// A rectangle of tiles, corners included.
///
/// Its word is `y1 << 18 | x1 << 12 | y0 << 6 | x0`. The network reads the upper half as start and the lower as end; network 1
/// runs towards smaller coordinates, so the larger corner is its start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rect {
    /// The corner with the smaller coordinates, in rectangles that a driver should send.
    pub low: Xy,
    /// The corner with the larger coordinates.
    pub high: Xy,
}

impl Rect {
    /// The rectangle between two corners.
    pub const fn new(low: Xy, high: Xy) -> Rect {
        Rect { low, high }
    }

    /// The word that addresses this rectangle.
    pub const fn word(self) -> u32 {
        (self.high.word() << 12) | self.low.word()
    }

    /// The rectangle that a multicast word addresses, with its corners in the word's order.
    pub const fn from_word(word: u32) -> Rect {
        Rect { low: Xy::from_word(word), high: Xy::from_word(word >> 12) }
    }

    /// Whether the low corner does not exceed the high one in either coordinate.
    pub const fn is_ordered(self) -> bool {
        self.low.x <= self.high.x && self.low.y <= self.high.y
    }

    /// How many tiles it covers; 0 if its corners are not ordered.
    pub const fn area(self) -> u32 {
        if !self.is_ordered() {
            return 0;
        }
        (self.high.x as u32 - self.low.x as u32 + 1) * (self.high.y as u32 - self.low.y as u32 + 1)
    }

    /// Whether it contains a tile.
    pub const fn contains(self, tile: Xy) -> bool {
        self.low.x <= tile.x && tile.x <= self.high.x && self.low.y <= tile.y && tile.y <= self.high.y
    }

    /// Its tiles, row by row; none if its corners are not ordered.
    pub fn tiles(self) -> impl Iterator<Item = Xy> {
        (self.low.y..=self.high.y).flat_map(move |y| (self.low.x..=self.high.x).map(move |x| Xy { y, x }))
    }
}

impl fmt::Display for Rect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.low, self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_driver() {
        assert_eq!(Xy::new(19, 24).word(), 0x613);
        assert_eq!(Xy::new(1, 2).word(), 0x81);
        let all = Rect::new(Xy::new(1, 2), Xy::new(7, 11));
        assert_eq!((all.word(), all.area()), (0x2C_7081, 70));
        assert_eq!(Rect::from_word(0x2D_0110), Rect::new(Xy::new(16, 4), Xy::new(16, 11)));
    }

    #[test]
    fn corners_out_of_order_cover_nothing() {
        let wrong = Rect::new(Xy::new(3, 3), Xy::new(2, 5));
        assert_eq!((wrong.area(), wrong.tiles().count()), (0, 0));
    }
}
