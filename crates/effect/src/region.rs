//! The bytes occupied by a rectangle of a tile.

use slipring_machine::Role;
use slipring_program::{Extent, Fault};
use slipring_tile::{BLayout, Layout, SLayout, Space};

/// A fault if an op writes bytes that it reads: it continues reading while it writes.
pub(crate) fn apart(code: &'static str, writes: &[Extent], reads: &[Extent]) -> Result<(), Fault> {
    for write in writes.iter().filter(|write| write.bytes() > 0) {
        let overlaps = |read: &&Extent| read.bytes() > 0 && read.start < write.end() && write.start < read.end();
        let Some(read) = reads.iter().find(overlaps) else { continue };
        let range = |e: &Extent| format!("bytes {} to {}", e.start, e.end() - 1);
        let message = format!("it writes {} while it still reads {}", range(write), range(read));
        return Err(Fault::new(code, message).help("give the result memory of its own"));
    }
    Ok(())
}

/// Adds the bytes of the first `rows` × `cols` elements of a tile at `addr`.
pub fn tile_extents(space: Space, core: Role, layout: &Layout, addr: u64, rows: u32, cols: u32, out: &mut Vec<Extent>) {
    rect_extents(space, core, layout, addr, (0, 0), rows, cols, out);
}

/// Adds the bytes of a rectangle of a tile at `addr`. Exact: no adjacent byte is included.
#[allow(clippy::too_many_arguments)]
pub fn rect_extents(
    space: Space,
    core: Role,
    layout: &Layout,
    addr: u64,
    (row, col): (u32, u32),
    rows: u32,
    cols: u32,
    out: &mut Vec<Extent>,
) {
    if rows == 0 || cols == 0 {
        return;
    }
    if (row, col) == (0, 0) && rows == layout.rows && cols == layout.cols {
        out.push(Extent::run(space, core, addr, layout.bytes() as u32));
        return;
    }
    let elem = layout.elem.bytes() as u32;
    // Work on lines: the direction in which adjacent elements are contiguous in memory.
    let lines_are_rows = match layout.slayout {
        SLayout::NoneBox => layout.blayout == BLayout::RowMajor,
        SLayout::RowMajor => true,
        SLayout::ColMajor => false,
    };
    let (box_rows, box_cols) = layout.box_shape();
    let at = |r: u32, c: u32| addr.saturating_add(layout.offset(r, c) as u64);
    let mut push = |start: u64, lines: u32, line_bytes: u32, stride: u64| {
        let whole = lines > 1 && stride == u64::from(line_bytes);
        let extent = if whole {
            Extent::run(space, core, start, lines * line_bytes)
        } else {
            Extent { space, core, start, rows: lines, row_bytes: line_bytes, stride }
        };
        out.push(extent);
    };
    if layout.slayout == SLayout::NoneBox {
        let (lines, length, pitch) = if lines_are_rows { (rows, cols, layout.cols) } else { (cols, rows, layout.rows) };
        push(at(row, col), lines, length * elem, u64::from(pitch * elem));
        return;
    }
    // Box column by box column (or box row by box row): the lines inside are contiguous.
    let (mut c, end_c) = (col, col + cols);
    while c < end_c {
        let next_c = ((c / box_cols + 1) * box_cols).min(end_c);
        let (mut r, end_r) = (row, row + rows);
        let stacked = lines_are_rows && layout.blayout == BLayout::ColMajor;
        while r < end_r {
            // For boxes stacked along the column, lines of all its boxes are equally spaced.
            let next_r = if stacked { end_r } else { ((r / box_rows + 1) * box_rows).min(end_r) };
            if lines_are_rows {
                push(at(r, c), next_r - r, (next_c - c) * elem, u64::from(box_cols * elem));
            } else {
                push(at(r, c), next_c - c, (next_r - r) * elem, u64::from(box_rows * elem));
            }
            r = next_r;
        }
        c = next_c;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipring_tile::Elem;

    fn bytes_of(extents: &[Extent]) -> Vec<u64> {
        let mut all: Vec<u64> = extents
            .iter()
            .flat_map(|e| {
                (0..e.rows)
                    .flat_map(move |r| (0..e.row_bytes).map(move |b| e.start + u64::from(r) * e.stride + u64::from(b)))
            })
            .collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn extents_name_exactly_the_bytes_of_the_rectangle() {
        let layouts = [(BLayout::RowMajor, SLayout::NoneBox), (BLayout::ColMajor, SLayout::NoneBox)].into_iter().chain(
            [BLayout::RowMajor, BLayout::ColMajor]
                .into_iter()
                .flat_map(|b| [SLayout::RowMajor, SLayout::ColMajor].into_iter().map(move |s| (b, s))),
        );
        for (blayout, slayout) in layouts {
            let layout = Layout { elem: Elem::F16, rows: 48, cols: 64, blayout, slayout, fractal: 512 };
            for (row, col, rows, cols) in
                [(0, 0, 48, 64), (0, 0, 48, 16), (3, 5, 20, 30), (16, 16, 16, 16), (47, 63, 1, 1)]
            {
                let mut out = Vec::new();
                rect_extents(Space::Vec, Role::Aiv0, &layout, 1024, (row, col), rows, cols, &mut out);
                let mut expected: Vec<u64> = (row..row + rows)
                    .flat_map(|r| {
                        (col..col + cols).flat_map(move |c| (0..2).map(move |b| 1024 + layout.offset(r, c) as u64 + b))
                    })
                    .collect();
                expected.sort_unstable();
                assert_eq!(bytes_of(&out), expected, "{layout:?} {row} {col} {rows} {cols}");
            }
        }
    }
}
