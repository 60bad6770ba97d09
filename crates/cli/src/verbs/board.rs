//! The board of a command queue.

use slipring::{files, queue_board};
use slipring_queue::board::Board;

use super::input::{read_at_most, shown};

/// The board that an option names.
pub(super) fn board_named(name: &str) -> Result<Board, String> {
    queue_board(name, read_whole)
}

/// Reads a stream or a board file, neither of which may be empty.
///
/// # Errors
///
/// If it is empty, or cannot be read.
pub(super) fn read_whole(path: &str) -> Result<Vec<u8>, String> {
    let bytes = read_at_most(path, files::MOST_STREAM)?;
    if bytes.is_empty() {
        return Err(format!("`{}` is empty", shown(path)));
    }
    Ok(bytes)
}
