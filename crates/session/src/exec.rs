//! Running a program.

use std::collections::TryReserveError;
use std::ops::Range;

use slipring_machine::Platform;
use slipring_op::Decoded;
use slipring_program::{Cancel, Finding, GmBuffer, Kind, Memory, ParamKind, Severity, zeroed};
use slipring_sim::{
    ArgValue, Delay, ExecutionMode, Keeper, Launch, Limits, Observer, RunResult, Snapshot, Suppose, Timing, run,
    run_kept, run_on,
};
use slipring_tile::Space;

use crate::launch::{TOO_LARGE_HELP, too_large_text};
use crate::places::{BufferPlace, Places};
use crate::tensor::Bound;

/// How a program is run.
#[derive(Clone, Copy, Debug)]
pub struct ExecuteOptions {
    /// Blocks: each runs on its own cluster.
    pub blocks: u32,
    /// As on the hardware, or one op at a time.
    pub mode: ExecutionMode,
    /// Zeroed bytes after every buffer in global memory that the kernel may touch, as a device allocator would give.
    /// They are not part of the buffer's contents afterwards.
    pub gm_slack: usize,
    /// The limits of the run.
    pub limits: Limits,
}

impl Default for ExecuteOptions {
    /// One block on pipes, no slack, the engine's own limits.
    fn default() -> ExecuteOptions {
        ExecuteOptions { blocks: 1, mode: ExecutionMode::Pipes, gm_slack: 0, limits: Limits::default() }
    }
}

/// A run and the resulting contents of the kernel's buffers.
#[derive(Debug)]
pub struct Execution {
    /// The engine's result. Its buffers in global memory are followed by the slack.
    pub result: RunResult,
    /// The location of each argument, and the size of each buffer without slack.
    places: Places,
}

impl Execution {
    /// The contents of the buffer that was passed for parameter `index`; `None` for scalars.
    pub fn buffer(&self, values: &[Bound<'_>], index: usize) -> Option<&[u8]> {
        let (place, bytes) = (self.places.get(index)?, values.get(index)?.contents()?.len());
        let whole = self.result.memory.gm.get(place.buffer)?;
        whole.data.get(place.offset..place.offset.checked_add(bytes)?)
    }

    /// The location of the buffer passed for parameter `index`.
    pub fn place(&self, index: usize) -> Option<BufferPlace> {
        self.places.get(index)
    }

    /// The contents of the buffer with this number, for writing from outside.
    pub(crate) fn passed_mut(&mut self, buffer: usize) -> Option<&mut [u8]> {
        let size = *self.places.sizes.get(buffer)?;
        self.result.memory.gm.get_mut(buffer)?.data.get_mut(..size)
    }
}

/// Runs a decoded kernel with these arguments, one for each parameter that is passed.
pub fn execute<O: Observer>(
    decoded: &Decoded,
    platform: &Platform,
    values: &[Bound<'_>],
    options: ExecuteOptions,
    observer: &mut O,
) -> Execution {
    execute_timed(decoded, platform, values, options, Timing::Platform, observer)
}

/// As [`execute`], with durations other than the platform's.
pub fn execute_timed<O: Observer>(
    decoded: &Decoded,
    platform: &Platform,
    values: &[Bound<'_>],
    options: ExecuteOptions,
    timing: Timing,
    observer: &mut O,
) -> Execution {
    launch(decoded, platform, values, options, LaunchExtras { timing, ..LaunchExtras::default() }, observer)
}

/// As [`execute`], on a device in the state left by an earlier launch of the same program: signals where the platform
/// keeps them, and local memories. Buffers again contain `values`.
pub fn execute_again<O: Observer>(
    decoded: &Decoded,
    platform: &Platform,
    values: &[Bound<'_>],
    options: ExecuteOptions,
    (timing, earlier): (Timing, &RunResult),
    observer: &mut O,
) -> Execution {
    launch(
        decoded,
        platform,
        values,
        options,
        LaunchExtras { timing, earlier: Some(earlier), ..LaunchExtras::default() },
        observer,
    )
}

/// As [`execute`], for blocks of a larger launch: `part` gives the number of the first one and the total.
pub fn execute_part<O: Observer>(
    decoded: &Decoded,
    platform: &Platform,
    values: &[Bound<'_>],
    options: ExecuteOptions,
    part: Option<(u32, u32)>,
    observer: &mut O,
) -> Execution {
    launch(decoded, platform, values, options, LaunchExtras { part, ..LaunchExtras::default() }, observer)
}

/// Settings of some runs besides their options.
#[derive(Clone, Default)]
pub struct LaunchExtras<'a> {
    /// The number of the first block, and the total number of blocks.
    pub part: Option<(u32, u32)>,
    /// The durations.
    pub timing: Timing,
    /// Delayed work.
    pub delays: &'a [Delay],
    /// Whether only times are determined, and nothing is computed.
    pub time_only: bool,
    /// The previous launch on the same device.
    pub earlier: Option<&'a RunResult>,
    /// The cores that leave their loops at each meeting point, instead of their own values deciding.
    pub leave: Option<Vec<Vec<usize>>>,
    /// Whether a loop found to be infinite stops the run at once.
    pub stop_endless: bool,
    /// Hypothetical changes (what-if), for forecasts.
    pub suppose: Suppose,
    /// The cancellation token of the run; a cancelled run has the finding `cancelled`.
    pub cancel: Cancel,
}

/// Runs a decoded kernel.
pub fn launch<O: Observer>(
    decoded: &Decoded,
    platform: &Platform,
    values: &[Bound<'_>],
    options: ExecuteOptions,
    how: LaunchExtras<'_>,
    observer: &mut O,
) -> Execution {
    let earlier = how.earlier;
    match memories(decoded, platform, values, options, how) {
        Ok((mut launch, mut memory, places)) => {
            if let Some(earlier) = earlier {
                launch.counters.clone_from(&earlier.counters);
                memory.keep_locals(&earlier.memory);
            }
            Execution { result: run(&launch, memory, observer), places }
        }
        Err(bytes) => {
            let finding = Finding::new(Kind::MemoryLimit, Severity::Error, too_large_text(bytes)).help(TOO_LARGE_HELP);
            Execution { result: RunResult::refused(finding), places: Places::default() }
        }
    }
}

/// A copy of the bytes.
///
/// # Errors
/// If out of memory.
fn copied(data: &[u8]) -> Result<Vec<u8>, TryReserveError> {
    let mut own = Vec::new();
    own.try_reserve_exact(data.len())?;
    own.extend_from_slice(data);
    Ok(own)
}

/// The parts of a run: the launch, its memories, and the locations of its arguments.
type Ready<'a> = (Launch<'a>, Memory, Places);

/// Allocates the memories of a run.
///
/// # Errors
/// Their size in bytes, if it exceeds the limit or the host's memory.
fn memories<'a>(
    decoded: &'a Decoded,
    platform: &'a Platform,
    values: &[Bound<'_>],
    options: ExecuteOptions,
    how: LaunchExtras<'_>,
) -> Result<Ready<'a>, u64> {
    let blocks = how.part.map_or(options.blocks, |(_, all)| all);
    let program = &decoded.program;
    let bytes = |space: Space| decoded.local_bytes[space as usize];
    let clusters = Launch::new(program, platform, options.blocks, Vec::new()).clusters();
    let local = Memory::bytes_of_blocks(clusters, bytes);
    let places = Places::new(values);
    let each = |bytes: &usize| (*bytes as u64).saturating_add(options.gm_slack as u64);
    let passed = places.sizes.iter().map(each).fold(0, u64::saturating_add);
    let scratch = program.params.iter().map(|param| match param.kind {
        ParamKind::Scratch { bytes_per_block } => bytes_per_block.saturating_mul(u64::from(blocks)),
        _ => 0,
    });
    let all = scratch.fold(local.saturating_add(passed), u64::saturating_add);
    if all > options.limits.memory {
        return Err(all);
    }
    // The first argument that covers a whole buffer and has no zero parts: it need not be zeroed first.
    let fills = |buffer: usize| {
        let first = places.argument_of(buffer).filter(|_| options.gm_slack == 0)?;
        let data = values[first].contents().filter(|data| data.len() == places.sizes[buffer])?;
        let everywhere = values[first].held().iter().map(Range::len).sum::<usize>() == data.len();
        everywhere.then_some((first, data))
    };
    let mut buffers = Vec::new();
    for (buffer, bytes) in places.sizes.iter().enumerate() {
        let data = match fills(buffer) {
            Some((_, data)) => copied(data),
            None => zeroed(bytes + options.gm_slack),
        };
        buffers.push(GmBuffer { name: String::new(), data: data.map_err(|_| all)? });
    }
    let params = decoded.program.params.iter().filter(|p| p.is_passed());
    for (at, ((param, value), place)) in params.zip(values).zip(&places.of).enumerate() {
        if let Some((data, BufferPlace { buffer, offset })) = value.contents().zip(*place) {
            let own = &mut buffers[buffer];
            let target = &mut own.data[offset..offset + data.len()];
            let is_filled = fills(buffer).is_some_and(|(first, _)| first == at);
            if places.is_shared(buffer) && !is_filled {
                target.copy_from_slice(data);
            } else if !is_filled {
                // The buffer is zeroed: untouched parts take neither time nor host memory.
                value.held().iter().for_each(|part| target[part.clone()].copy_from_slice(&data[part.clone()]));
            }
            own.name += if own.name.is_empty() { "" } else { "` and `" };
            own.name += &param.name;
        }
    }
    for param in &decoded.program.params {
        if let ParamKind::Scratch { bytes_per_block } = param.kind {
            let bytes = bytes_per_block.saturating_mul(u64::from(blocks)) as usize;
            buffers.push(GmBuffer { name: param.name.clone(), data: zeroed(bytes).map_err(|_| all)? });
        }
    }
    let launch = given(decoded, platform, values, options, how, &places);
    let mut memory = Memory::try_with_sizes(clusters, |space| bytes(space) as usize).map_err(|_| all)?;
    memory.gm = buffers;
    Ok((launch, memory, places))
}

/// The launch of a run with its arguments at these locations.
fn given<'a>(
    decoded: &'a Decoded,
    platform: &'a Platform,
    values: &[Bound<'_>],
    options: ExecuteOptions,
    how: LaunchExtras<'_>,
    places: &Places,
) -> Launch<'a> {
    let mut args = Vec::new();
    for (value, place) in values.iter().zip(&places.of) {
        args.push(match *place {
            Some(BufferPlace { buffer, offset: 0 }) => ArgValue::Buffer(buffer),
            Some(BufferPlace { buffer, offset }) => ArgValue::Part { buffer, offset: offset as u64 },
            None => ArgValue::Scalar(value.bits().unwrap_or_default()),
        });
    }
    // Per-block buffers come after the ones that are passed.
    let scratch = decoded.program.params.iter().filter(|param| matches!(param.kind, ParamKind::Scratch { .. }));
    args.extend(scratch.enumerate().map(|(at, _)| ArgValue::Buffer(places.sizes.len() + at)));
    let mut launch =
        Launch::new(&decoded.program, platform, options.blocks, args).mode(options.mode).timing(how.timing);
    launch.part = how.part;
    launch.delays = how.delays.to_vec();
    launch.values = !how.time_only;
    launch.limits = options.limits;
    launch.leave = how.leave;
    launch.stop_endless = how.stop_endless;
    launch.suppose = how.suppose;
    launch.cancel = how.cancel;
    launch
}

/// Runs a decoded kernel, with periodic snapshots for a keeper.
pub(crate) fn launch_kept(
    decoded: &Decoded,
    platform: &Platform,
    values: &[Bound<'_>],
    options: ExecuteOptions,
    how: LaunchExtras<'_>,
    keeper: &mut dyn Keeper,
) {
    // A run whose memory cannot be allocated has not run before, either.
    if let Ok((launch, memory, _)) = memories(decoded, platform, values, options, how) {
        run_kept(&launch, memory, &mut (), keeper);
    }
}

/// Resumes a run of the same launch from a snapshot.
pub(crate) fn launch_on(
    decoded: &Decoded,
    platform: &Platform,
    values: &[Bound<'_>],
    options: ExecuteOptions,
    (how, from): (LaunchExtras<'_>, Snapshot),
    observer: &mut dyn Observer,
) -> Execution {
    let places = Places::new(values);
    let launch = given(decoded, platform, values, options, how, &places);
    Execution { result: run_on(&launch, from, observer), places }
}
