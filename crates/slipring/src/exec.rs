//! Running a program.

use slipring_dialects::Decoded;
use slipring_machine::Platform;
use slipring_program::{GmBuffer, Memory, ParamKind};
use slipring_sim::{ArgValue, Launch, Mode, Observer, RunResult, Timing, run};
use slipring_tile::Space;

use crate::args::Value;

/// How a program is run.
#[derive(Clone, Copy, Debug)]
pub struct ExecuteOptions {
    /// Blocks: each runs on a cluster of its own.
    pub blocks: u32,
    /// As the hardware, or one op at a time.
    pub mode: Mode,
    /// Zeroed bytes behind every buffer in global memory that the kernel may touch, as a device allocator would give.
    /// They are not part of the buffer's contents afterwards.
    pub gm_slack: usize,
}

/// A run and what it left in the kernel's buffers.
#[derive(Debug)]
pub struct Execution {
    /// What the engine says. Its buffers in global memory have the slack behind them.
    pub result: RunResult,
    /// Bytes of each buffer without slack.
    sizes: Vec<usize>,
}

impl Execution {
    /// The contents of the buffer that was passed for parameter `index`; `None` for scalars.
    pub fn buffer(&self, values: &[Value], index: usize) -> Option<&[u8]> {
        let at = values[..index].iter().filter(|v| matches!(v, Value::Buffer(_))).count();
        let whole = matches!(values.get(index)?, Value::Buffer(_)).then(|| self.result.memory.gm.get(at))??;
        whole.data.get(..*self.sizes.get(at)?)
    }
}

/// Runs a decoded kernel on these arguments, one for each parameter that is passed.
pub fn execute<O: Observer>(
    decoded: &Decoded,
    platform: &Platform,
    values: &[Value],
    options: ExecuteOptions,
    observer: &mut O,
) -> Execution {
    execute_timed(decoded, platform, values, options, Timing::Platform, observer)
}

/// The same where things take other times than the platform says.
pub fn execute_timed<O: Observer>(
    decoded: &Decoded,
    platform: &Platform,
    values: &[Value],
    options: ExecuteOptions,
    timing: Timing,
    observer: &mut O,
) -> Execution {
    launch(decoded, platform, values, options, (None, timing), observer)
}

/// The same for blocks of a larger launch: `part` says the number of the first one and how many there are in all.
pub(crate) fn execute_part<O: Observer>(
    decoded: &Decoded,
    platform: &Platform,
    values: &[Value],
    options: ExecuteOptions,
    part: Option<(u32, u32)>,
    observer: &mut O,
) -> Execution {
    launch(decoded, platform, values, options, (part, Timing::Platform), observer)
}

fn launch<O: Observer>(
    decoded: &Decoded,
    platform: &Platform,
    values: &[Value],
    options: ExecuteOptions,
    (part, timing): (Option<(u32, u32)>, Timing),
    observer: &mut O,
) -> Execution {
    let mut buffers = Vec::new();
    let mut sizes = Vec::new();
    let mut args = Vec::new();
    for (param, value) in decoded.program.params.iter().filter(|p| p.is_passed()).zip(values) {
        args.push(match value {
            Value::Buffer(data) => {
                let mut room = Vec::with_capacity(data.len() + options.gm_slack);
                room.extend_from_slice(data);
                room.resize(data.len() + options.gm_slack, 0);
                buffers.push(GmBuffer { name: param.name.clone(), data: room });
                sizes.push(data.len());
                ArgValue::Buffer(buffers.len() - 1)
            }
            Value::Scalar(bits) => ArgValue::Scalar(*bits),
        });
    }
    let blocks = part.map_or(options.blocks, |(_, all)| all);
    for param in &decoded.program.params {
        if let ParamKind::Scratch { bytes_per_block } = param.kind {
            let bytes = bytes_per_block.saturating_mul(u64::from(blocks)) as usize;
            buffers.push(GmBuffer { name: param.name.clone(), data: vec![0; bytes] });
            args.push(ArgValue::Buffer(buffers.len() - 1));
        }
    }
    let mut launch = Launch::new(&decoded.program, platform, options.blocks, args).mode(options.mode).timing(timing);
    launch.part = part;
    let bytes = |space: Space| decoded.local_bytes[space as usize] as usize;
    let mut memory = Memory::with_sizes(launch.clusters(), bytes);
    memory.gm = buffers;
    Execution { result: run(&launch, memory, observer), sizes }
}
