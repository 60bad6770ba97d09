//! Lowering of steps and programs to dispatch commands.

use super::{Data, HostStep, Program};
use crate::board::{Board, cover};
use crate::wire::{
    Dispatch, DispatchCommand, FieldRange, PCIE_XY, Packets, WritePacked, WritePackedLarge, Xy, send_go, set_go_tiles,
    timestamp, wait_barrier, wait_stream, write_packed, write_packed_large,
};
use crate::{Layout, layout::L1_ALIGN};

/// The policy for turning steps into commands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lowering {
    /// Whether a barrier precedes each go signal, so that earlier writes have arrived.
    pub barrier: bool,
    /// Maximum number of tiles of a packed write.
    pub max_tiles: usize,
    /// Maximum number of bytes of a command; longer writes are split.
    pub max_bytes: usize,
    /// Whether a program's tiles log their start and end times.
    pub core_timing: bool,
    /// Whether core timing is armed only if its slots exist.
    pub checked_slots: bool,
    /// Whether the dispatcher's clock is recorded before and after each program.
    pub timestamps: bool,
    /// Whether tiles of a rectangle, and all workers, are listed column by column; otherwise row by row.
    pub by_column: bool,
}

impl Lowering {
    /// The policy of the fixed host: no barriers, no splitting, core timing always.
    pub const FIXED_HOST: Lowering = Lowering {
        barrier: false,
        max_tiles: usize::MAX,
        max_bytes: usize::MAX,
        core_timing: true,
        checked_slots: false,
        timestamps: true,
        by_column: true,
    };
    /// A policy without its hazards: a barrier before each go signal, writes that fit the dispatcher's list and 32
    /// pages, and no times outside their slots.
    pub const CAREFUL: Lowering = Lowering {
        barrier: true,
        max_tiles: WritePacked::MAX_UNICAST as usize,
        max_bytes: 32 * 4096,
        core_timing: false,
        checked_slots: true,
        timestamps: true,
        by_column: false,
    };
}

/// Turns steps into commands.
///
/// # Errors
/// [`FieldRange`] if data is empty, too long, or their number differs from that of the tiles.
pub fn lower(
    steps: &[HostStep],
    how: Lowering,
    board: &Board,
    layout: &Layout,
) -> Result<Vec<DispatchCommand>, FieldRange> {
    let mut out = Vec::new();
    for step in steps {
        match step {
            HostStep::Write { tiles, addr, data: Data::Same(bytes) } => write_same(tiles, *addr, bytes, how, &mut out)?,
            HostStep::Write { tiles, addr, data: Data::Each(each) } => write_each(tiles, *addr, each, how, &mut out)?,
            HostStep::Launch { tiles } => launch(tiles, how, board, layout, &mut out)?,
        }
    }
    Ok(out)
}

/// Turns programs into commands, with timestamps around each: program `i` has slots `2i` and `2i + 1`.
///
/// # Errors
/// As [`lower`].
pub fn lower_programs(
    programs: &[Program],
    how: Lowering,
    board: &Board,
    layout: &Layout,
) -> Result<Vec<DispatchCommand>, FieldRange> {
    let mut out = Vec::new();
    let stamp = |slot: usize, out: &mut Vec<DispatchCommand>| {
        let host = &layout.sysmem;
        if how.timestamps && slot / 2 * 2 + 1 < host.timestamp_slots as usize {
            out.push(timestamp(PCIE_XY, host.noc(host.timestamps + 16 * slot as u32) as u32));
        }
    };
    for (index, program) in programs.iter().enumerate() {
        if how.core_timing {
            arm_timing(program, index, how, layout, &mut out)?;
        }
        stamp(2 * index, &mut out);
        out.extend(lower(&program.steps(layout), how, board, layout)?);
        stamp(2 * index + 1, &mut out);
    }
    Ok(out)
}

/// Turns concurrent programs into commands: each has its own tiles and a stream that counts them, starting at the first
/// stream, and all have ended after the last command. The dispatcher's clock is recorded after them, and before them if
/// `first`, in the slots of program 0.
///
/// # Errors
/// As [`lower`], and for more programs than there are streams or more tiles than a list of go signals has.
pub fn lower_together(
    programs: &[Program],
    first: bool,
    how: Lowering,
    board: &Board,
    layout: &Layout,
) -> Result<Vec<DispatchCommand>, FieldRange> {
    let host = &layout.sysmem;
    let stamp = |slot: u32| timestamp(PCIE_XY, host.noc(host.timestamps + 16 * slot) as u32);
    let mut out = Vec::new();
    out.extend((how.timestamps && first).then(|| stamp(0)));
    within("the number of programs at a time", programs.len() as u64, layout.dispatch.streams.into())?;
    for program in programs {
        // The launch is common to all, see below.
        out.extend(lower(&program.writes(layout), how, board, layout)?);
    }
    if how.barrier {
        out.push(wait_barrier());
    }
    let tiles: Vec<Xy> = programs.iter().flat_map(|program| program.tiles.iter().copied()).collect();
    out.push(set_go_tiles(&tiles));
    let (mut start, mut waits) = (0, Vec::new());
    for (index, program) in programs.iter().enumerate() {
        let (stream, tiles) = (layout.dispatch.first_stream as u16 + index as u16, program.tiles.len());
        out.push(wait_stream(stream, 0));
        let mut go = send_go(board.go_word() | index as u32, tiles, stream)?;
        if let Dispatch::SendGoSignal(go) = &mut go.header {
            go.noc_data_start_index = within("the first tile of a go signal", start as u64, 0xFF)? as u8;
        }
        out.push(go);
        waits.push(wait_stream(stream, tiles as u32));
        start += tiles;
    }
    out.extend(waits);
    out.extend(how.timestamps.then(|| stamp(1)));
    Ok(out)
}

fn within(what: &'static str, value: u64, most: u64) -> Result<u64, FieldRange> {
    if value <= most { Ok(value) } else { Err(FieldRange { what, value, least: 0, most }) }
}

/// WRITE_PACKED_LARGE, 35 rectangles at a time.
fn write_same(
    tiles: &[Xy],
    addr: u32,
    bytes: &[u8],
    how: Lowering,
    out: &mut Vec<DispatchCommand>,
) -> Result<(), FieldRange> {
    let rects = cover(tiles.iter().copied());
    for rects in rects.chunks(usize::from(WritePackedLarge::MAX_SUBS)) {
        let list = 16 + (12 * rects.len()).next_multiple_of(16);
        let capacity = how.max_bytes.saturating_sub(list) / rects.len() / L1_ALIGN as usize * L1_ALIGN as usize;
        let chunk = if how.max_bytes == usize::MAX { bytes.len() } else { capacity.min(0x1_0000) };
        let mut at = addr;
        // At least once: the command itself refuses empty data.
        let mut rest = bytes;
        loop {
            let (now, later) = rest.split_at(rest.len().min(chunk.max(L1_ALIGN as usize)));
            out.push(write_packed_large(rects, at, now)?);
            at = at.wrapping_add(now.len() as u32);
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
    }
    Ok(())
}

/// WRITE_PACKED, with as many tiles at a time as fit.
fn write_each(
    tiles: &[Xy],
    addr: u32,
    each: &[Vec<u8>],
    how: Lowering,
    out: &mut Vec<DispatchCommand>,
) -> Result<(), FieldRange> {
    let size = each.first().map_or(0, Vec::len);
    let one = size.next_multiple_of(L1_ALIGN as usize) + 4;
    let most = (how.max_bytes.saturating_sub(32) / one).clamp(1, how.max_tiles);
    if tiles.len() != each.len() || tiles.len() <= most {
        out.push(write_packed(tiles, addr, Packets::Each(each))?);
        return Ok(());
    }
    for (tiles, each) in tiles.chunks(most).zip(each.chunks(most)) {
        out.push(write_packed(tiles, addr, Packets::Each(each))?);
    }
    Ok(())
}

fn launch(
    tiles: &[Xy],
    how: Lowering,
    board: &Board,
    layout: &Layout,
    out: &mut Vec<DispatchCommand>,
) -> Result<(), FieldRange> {
    let stream = layout.dispatch.first_stream as u16;
    if how.barrier {
        out.push(wait_barrier());
    }
    out.push(set_go_tiles(tiles));
    out.push(wait_stream(stream, 0));
    out.push(send_go(board.go_word(), tiles.len(), stream)?);
    out.push(wait_stream(stream, tiles.len() as u32));
    Ok(())
}

/// Marks the control block of core timing as armed: its word 20.
pub const TIMING_MAGIC: u32 = 0xC710_C0DE;

/// Gives each tile of a program the addresses for its start and end times.
fn arm_timing(
    program: &Program,
    index: usize,
    how: Lowering,
    layout: &Layout,
    out: &mut Vec<DispatchCommand>,
) -> Result<(), FieldRange> {
    let count = program.tiles.len();
    if how.checked_slots && (index + 1) * count > layout.sysmem.timing_slots as usize {
        return Ok(());
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|at| (program.tiles[*at].x, program.tiles[*at].y));
    let mut each = vec![vec![0; 128]; count];
    let first = layout.sysmem.noc(layout.sysmem.timing) as u32;
    let base = first.wrapping_add((index * count * 16) as u32);
    for (id, at) in order.into_iter().enumerate() {
        for (word, value) in [(20, TIMING_MAGIC), (21, PCIE_XY), (22, base), (23, 16), (24, id as u32)] {
            each[at][4 * word..4 * word + 4].copy_from_slice(&value.to_le_bytes());
        }
    }
    write_each(&program.tiles, layout.worker.timing, &each, how, out)
}

#[cfg(test)]
mod tests {
    use super::super::Role;
    use super::*;
    use crate::board::built_in;
    use crate::wire::{host_event, relay_inline};

    fn program(board: &Board) -> Program {
        let tiles: Vec<Xy> = board.workers().collect();
        let launch = crate::wire::LaunchMessage { local_cb_offset: 16, ..Default::default() };
        Program {
            args: Data::Each(vec![vec![0; 12]; tiles.len()]),
            roles: vec![Role { tiles: tiles.clone(), launch, image: vec![7; 6000] }],
            tiles,
        }
    }

    /// The figures come from the fixed host's own code: 13 records, 37,696 bytes, 20 pages, in this order.
    #[test]
    fn the_fixed_host_sends_these_records_for_a_program() {
        let (board, layout) = (built_in("p100").expect("p100"), Layout::default());
        let mut commands = lower_programs(&[program(&board)], Lowering::FIXED_HOST, &board, &layout).expect("fits");
        commands.push(host_event(1));
        let ids: Vec<u8> = commands.iter().map(|c| c.header.id()).collect();
        assert_eq!(ids, [5, 18, 6, 6, 5, 6, 6, 17, 7, 14, 7, 18, 3]);
        let payloads: Vec<usize> = commands.iter().map(|c| c.encode().len()).collect();
        assert_eq!(payloads.iter().map(|bytes| bytes.div_ceil(4096)).sum::<usize>(), 20);
        let records = commands.iter().map(|c| relay_inline(c.encode()).expect("a record").encode().len());
        assert_eq!(records.sum::<usize>(), 37_696);
    }

    #[test]
    fn careful_commands_fit_the_dispatcher() {
        let (board, layout) = (built_in("p150").expect("p150"), Layout::default());
        let mut program = program(&board);
        program.roles[0].image = (0..300_000u32).map(|i| i as u8).collect();
        let how = Lowering { core_timing: true, ..Lowering::CAREFUL };
        let commands = lower_programs(&[program.clone()], how, &board, &layout).expect("fits");
        assert!(commands.iter().all(|c| c.encode().len() <= how.max_bytes));
        let mut written = vec![0; 300_000];
        let base = layout.kernel_config_base + 16;
        for command in &commands {
            if let (crate::wire::Dispatch::WritePacked(c), _) = (&command.header, ()) {
                assert!(c.count <= WritePacked::MAX_UNICAST);
            }
            if let crate::wire::Subs::Large(subs) = &command.subs {
                let sub = subs[0];
                if sub.addr >= base {
                    let at = (sub.addr - base) as usize;
                    let length = sub.length() as usize;
                    written[at..at + length].copy_from_slice(&command.data[..length]);
                }
            }
        }
        assert!(written == program.roles[0].image);
    }

    #[test]
    fn empty_data_is_refused() {
        let (board, layout) = (built_in("p100").expect("p100"), Layout::default());
        let step = HostStep::Write { tiles: vec![Xy::new(1, 2)], addr: 0, data: Data::Same(Vec::new()) };
        for how in [Lowering::FIXED_HOST, Lowering::CAREFUL] {
            assert!(lower(std::slice::from_ref(&step), how, &board, &layout).is_err());
        }
    }
}
