//! Reading board files.

use serde::Deserialize;
use thiserror::Error;

use super::{Bank, Board};
use crate::wire::Xy;

/// Names of the built-in boards.
pub const BUILT_IN: &[&str] = &["p100", "p150"];

/// Why a text is not a board.
#[derive(Debug, Error)]
pub enum BoardError {
    /// Not the form of a board file.
    #[error("{0}")]
    Form(#[from] toml::de::Error),
    /// The parts do not fit together.
    #[error("{0}")]
    Contents(String),
}

/// A built-in board by name.
///
/// # Errors
/// With the available names.
pub fn built_in(name: &str) -> Result<Board, BoardError> {
    let text = match name {
        "p100" => include_str!("../../boards/p100.toml"),
        "p150" => include_str!("../../boards/p150.toml"),
        _ => {
            return Err(BoardError::Contents(format!("there is no board `{name}`; there are {}", BUILT_IN.join(", "))));
        }
    };
    parse(text)
}

/// Parses a board from the text of its file.
///
/// # Errors
/// [`BoardError`], which describes the problem.
pub fn parse(text: &str) -> Result<Board, BoardError> {
    let file: File = toml::from_str(text)?;
    let board = Board {
        columns: file.columns.iter().copied().filter(|x| !file.harvested.contains(x)).collect(),
        rows: file.rows,
        prefetch: file.prefetch.into(),
        dispatch: file.dispatch.into(),
        others: None,
        pcie: file.pcie.into(),
        arc: file.arc.into(),
        windows_2m: file.windows.mib2,
        windows_4g: file.windows.gib4,
        bank_bytes: file.dram.bank_bytes,
        banks: file.dram.banks.into_iter().map(BankFile::bank).collect(),
        clock_mhz: file.clock_mhz,
        name: file.name,
        description: file.description,
    };
    check(&board, &file.harvested, &file.columns)?;
    Ok(board)
}

fn check(board: &Board, harvested: &[u8], columns: &[u8]) -> Result<(), BoardError> {
    let wrong = |what: String| Err(BoardError::Contents(what));
    if !columns.is_sorted_by(|a, b| a < b) {
        return wrong("`columns` must ascend".into());
    }
    if let Some(x) = harvested.iter().find(|x| !columns.contains(x)) {
        return wrong(format!("column {x} is harvested, but not among `columns`"));
    }
    if board.rows.0 > board.rows.1 {
        return wrong(format!("the first row, {}, is after the last, {}", board.rows.0, board.rows.1));
    }
    for (name, core) in [("prefetch", board.prefetch), ("dispatch", board.dispatch)] {
        if !board.is_tensix(core) {
            return wrong(format!("`{name}` {core} is not a working Tensix tile"));
        }
    }
    if board.prefetch == board.dispatch {
        return wrong(format!("`prefetch` and `dispatch` are both {}", board.prefetch));
    }
    if board.workers().next().is_none() {
        return wrong("no tile is left to work".into());
    }
    if board.clock_mhz == 0 {
        return wrong("`clock_mhz` is 0".into());
    }
    if board.banks.is_empty() || board.bank_bytes == 0 {
        return wrong("there is no DRAM".into());
    }
    let tiles = |bank: &Bank| bank.ports.into_iter().chain(bank.physical.clone()).collect::<Vec<_>>();
    let others = board.banks.iter().flat_map(tiles).chain([board.pcie, board.arc]);
    let largest = columns.last().map(|x| Xy::new(*x, board.rows.1));
    if let Some(far) = others.clone().chain(largest).find(|at| at.x > 63 || at.y > 63) {
        return wrong(format!("{far} cannot be addressed: coordinates end at 63"));
    }
    if let Some(both) = others.clone().find(|at| board.is_tensix(*at)) {
        return wrong(format!("{both} is a Tensix tile and something else"));
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    description: String,
    clock_mhz: u32,
    columns: Vec<u8>,
    #[serde(default)]
    harvested: Vec<u8>,
    rows: (u8, u8),
    prefetch: (u8, u8),
    dispatch: (u8, u8),
    pcie: (u8, u8),
    arc: (u8, u8),
    windows: Windows,
    dram: Dram,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Windows {
    mib2: u32,
    gib4: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Dram {
    bank_bytes: u64,
    banks: Vec<BankFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BankFile {
    noc0: (u8, u8),
    noc1: (u8, u8),
    #[serde(default)]
    physical: Vec<(u8, u8)>,
}

impl BankFile {
    fn bank(self) -> Bank {
        let physical = self.physical.into_iter().map(Xy::from).collect();
        Bank { ports: [self.noc0.into(), self.noc1.into()], physical }
    }
}

impl From<(u8, u8)> for Xy {
    fn from((x, y): (u8, u8)) -> Xy {
        Xy::new(x, y)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Tile, cover};
    use super::*;

    #[test]
    fn boards_have_the_drivers_grids_rectangles_and_go_words() {
        for (name, tensix, go, rects) in [
            ("p100", 120, 0x8003_0E00, [0x2C_7081, 0x2C_D08A, 0x2C_E10E]),
            ("p150", 140, 0x8003_1000, [0x2C_7081, 0x2C_F08A, 0x2D_0110]),
        ] {
            let board = built_in(name).expect("a built-in board");
            assert_eq!((board.tensix().count(), board.workers().count()), (tensix, tensix - 2));
            assert_eq!(board.go_word(), go);
            let words: Vec<u32> = cover(board.workers()).into_iter().map(|rect| rect.word()).collect();
            assert_eq!(words, rects);
            assert_eq!(board.tile(Xy::new(8, 5)), Tile::Nothing);
            assert_eq!(board.tile(board.dispatch), Tile::Dispatch);
            assert_eq!(board.tile(Xy::new(17, 14)), Tile::Dram(0));
            // As network 0 numbers them without translation: three tiles a bank, on both sides of the chip.
            for (bank, rows) in
                [[0, 1, 11], [2, 3, 10], [4, 8, 9], [5, 6, 7]].iter().cycle().take(board.banks.len()).enumerate()
            {
                let x = if bank < 4 { 0 } else { 9 };
                assert!(rows.iter().all(|y| board.tile(Xy::new(x, *y)) == Tile::Dram(bank as u32)));
            }
        }
        let (p100, p150) = (built_in("p100").expect("p100"), built_in("p150").expect("p150"));
        assert_eq!(p100.tile(Xy::new(15, 5)), Tile::Nothing);
        assert_eq!(p150.tile(Xy::new(15, 5)), Tile::Worker);
    }

    #[test]
    fn nonsense_is_named() {
        let text = include_str!("../../boards/p100.toml");
        for (from, to, says) in [
            ("harvested = [15, 16]", "harvested = [9]", "column 9 is harvested"),
            ("prefetch = [14, 2]", "prefetch = [15, 2]", "(15,2) is not a working Tensix tile"),
            ("rows = [2, 11]", "rows = [11, 2]", "is after the last"),
            ("pcie = [19, 24]", "pcie = [19, 70]", "cannot be addressed"),
            ("clock_mhz", "clock_ghz", "clock_ghz"),
        ] {
            let error = parse(&text.replacen(from, to, 1)).expect_err(says).to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
