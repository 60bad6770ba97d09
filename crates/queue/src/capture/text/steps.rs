//! Statements for host operations: they become records through the host's own lowering.

use super::values::{Line, bytes, tiles};
use super::{Entry, Parser, TextError};
use crate::board::cover;
use crate::capture::text::error::MOST_BYTES;
use crate::host::{Data, HostStep, lower};
use crate::wire::{DispatchCommand, FieldRange, PCIE_XY, host_event, relay_inline, timestamp};

impl Parser {
    pub(super) fn step(&mut self, line: &Line<'_>, what: &str) -> Result<(), TextError> {
        let fits = |error: FieldRange| TextError::new(line.span.clone(), error.to_string());
        let commands = match what {
            "write" | "each" => {
                let board = self.board()?;
                let tiles = tiles(line.word(0, "tiles")?, &board, self.lowering.by_column)?;
                let addr = line.number(1, "an address", u64::from(u32::MAX))? as u32;
                let most = MOST_BYTES.saturating_sub(self.bytes);
                let bytes = bytes(line.rest(2), most)?;
                // The same bytes are sent once for each rectangle, and shares are padded.
                let copies = if what == "write" { cover(tiles.iter().copied()).len() } else { 1 };
                let padding = if what == "write" { 0 } else { 20 * tiles.len() };
                if bytes.len().saturating_mul(copies).saturating_add(padding) > most {
                    return Err(TextError::full(line.span.clone()));
                }
                let data =
                    if what == "write" { Data::Same(bytes) } else { Data::Each(shares(line, bytes, tiles.len())?) };
                lower(&[HostStep::Write { tiles, addr, data }], self.lowering, &board, &self.layout).map_err(fits)?
            }
            "launch" => {
                let board = self.board()?;
                let tiles = tiles(line.word(0, "tiles")?, &board, self.lowering.by_column)?;
                lower(&[HostStep::Launch { tiles }], self.lowering, &board, &self.layout).map_err(fits)?
            }
            "timestamp" => {
                let host = &self.layout.sysmem;
                let slot = line.number(0, "a slot", u64::from(host.timestamp_slots) - 1)? as u32;
                vec![timestamp(PCIE_XY, host.noc(host.timestamps + 16 * slot) as u32)]
            }
            _ => {
                let events = &mut self.events[usize::from(self.queue)];
                *events += 1;
                vec![host_event(*events)]
            }
        };
        commands.iter().map(DispatchCommand::encode).try_for_each(|payload| {
            let record = relay_inline(payload).map_err(fits)?.encode();
            self.add(Entry { span: line.span.clone(), ..Entry::new(record) })
        })
    }
}

/// Divides data into one share for each tile.
fn shares(line: &Line<'_>, bytes: Vec<u8>, tiles: usize) -> Result<Vec<Vec<u8>>, TextError> {
    if tiles == 0 || bytes.is_empty() || !bytes.len().is_multiple_of(tiles) {
        let message = format!("{} bytes cannot be shared by {tiles} tiles", bytes.len());
        return Err(TextError::new(line.span.clone(), message));
    }
    Ok(bytes.chunks(bytes.len() / tiles).map(<[u8]>::to_vec).collect())
}
