//! Tiles with data, an op on them, and their data afterwards.

use super::common::{Arg, finding, kernel, matrix, part, run};

/// A tile of a test.
#[derive(Clone)]
pub struct Tile {
    name: &'static str,
    elem: &'static str,
    shape: (usize, usize),
    valid: (usize, usize),
    dynamic: bool,
    layout: &'static str,
    pad: u8,
    at: Option<usize>,
    data: Vec<u8>,
}

/// A row-major, fully valid tile with these bytes.
pub fn tile(name: &'static str, elem: &'static str, rows: usize, cols: usize, data: Vec<u8>) -> Tile {
    assert_eq!(data.len(), rows * cols * bytes(elem), "{name}");
    let shape = (rows, cols);
    Tile { name, elem, shape, valid: shape, dynamic: false, layout: ND, pad: 0, at: None, data }
}

pub const ND: &str = "blayout=row_major, slayout=none_box";
pub const DN: &str = "blayout=col_major, slayout=none_box";
pub const NZ: &str = "blayout=col_major, slayout=row_major";
pub const ZN: &str = "blayout=row_major, slayout=col_major";

fn bytes(elem: &str) -> usize {
    elem.trim_start_matches(|c: char| !c.is_ascii_digit()).parse::<usize>().unwrap() / 8
}

impl Tile {
    pub fn valid(self, rows: usize, cols: usize) -> Tile {
        Tile { valid: (rows, cols), ..self }
    }

    /// With a dynamic valid shape.
    pub fn dynamic(self, rows: usize, cols: usize) -> Tile {
        Tile { dynamic: true, ..self.valid(rows, cols) }
    }

    pub fn laid(self, layout: &'static str) -> Tile {
        Tile { layout, ..self }
    }

    pub fn pad(self, pad: u8) -> Tile {
        Tile { pad, ..self }
    }

    /// Sets its byte address; by default it comes after the previous tiles.
    pub fn at(self, address: usize) -> Tile {
        Tile { at: Some(address), ..self }
    }

    fn ty(&self, valid: (String, String)) -> String {
        let Tile { elem, shape: (rows, cols), layout, pad, .. } = self;
        format!(
            "!pto.tile_buf<loc=vec, dtype={elem}, rows={rows}, cols={cols}, v_row={}, v_col={}, {layout}, fractal=512, pad={pad}>",
            valid.0, valid.1
        )
    }
}

/// A kernel that loads the complete tiles, applies the op, and stores the complete tiles.
fn text(tiles: &[Tile], op: &str) -> String {
    let (mut types, mut params, mut body) = (String::new(), Vec::new(), String::new());
    let (mut loads, mut stores) = (String::new(), String::new());
    let mut next = 0;
    for t in tiles {
        let Tile { name, elem, shape: (rows, cols), valid, .. } = t;
        let at = t.at.unwrap_or(next);
        next = next.max(at + t.data.len()).next_multiple_of(512);
        params.push(format!("%{name}_p: !pto.ptr<{elem}>"));
        let text = |dynamic: bool, n: usize| if dynamic { "?".to_string() } else { n.to_string() };
        types += &format!("!{name}_all = {}\n", t.ty((text(false, *rows), text(false, *cols))));
        types += &format!("!{name} = {}\n", t.ty((text(t.dynamic, valid.0), text(t.dynamic, valid.1))));
        body += &matrix(&format!("{name}_p"), elem, *rows, *cols);
        let window = part(elem, &[*rows, *cols]);
        let given =
            if t.dynamic { format!("valid_row = %c{} valid_col = %c{}", valid.0, valid.1) } else { String::new() };
        body += &format!("  %{name}_all = pto.alloc_tile addr = %c{at} : !{name}_all\n");
        body += &format!("  %{name} = pto.alloc_tile addr = %c{at} {given} : !{name}\n");
        loads += &format!("  pto.tload ins(%{name}_p_w : {window}) outs(%{name}_all : !{name}_all)\n");
        stores += &format!("  pto.tstore ins(%{name}_all : !{name}_all) outs(%{name}_p_w : {window})\n");
    }
    types + &kernel(&params.join(", "), &format!("{body}{loads}  {op}\n{stores}"))
}

fn args(tiles: &[Tile]) -> Vec<Arg> {
    tiles.iter().map(|t| Arg::Buffer(t.data.clone())).collect()
}

/// The data of all tiles after an op.
pub fn after(tiles: &[Tile], op: &str) -> Vec<Vec<u8>> {
    run("a5", &text(tiles, op), args(tiles))
}

/// The data of the last tile after an op.
pub fn result(tiles: &[Tile], op: &str) -> Vec<u8> {
    after(tiles, op).pop().unwrap()
}

/// The message of the fault that an op ends with.
pub fn fault(tiles: &[Tile], op: &str) -> String {
    let (code, message) = finding("a5", &text(tiles, op), args(tiles));
    format!("{code}: {message}")
}
