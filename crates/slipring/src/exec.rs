//! Running a program.

use slipring_dialects::Decoded;
use slipring_machine::Platform;
use slipring_program::{GmBuffer, Memory};
use slipring_sim::{ArgValue, Launch, Mode, Observer, RunResult, run};
use slipring_tile::Space;

use crate::args::Value;

/// How a program is run.
#[derive(Clone, Copy, Debug)]
pub struct ExecuteOptions {
    /// Blocks: each runs on a cluster of its own.
    pub blocks: u32,
    /// As the hardware, or one op at a time.
    pub mode: Mode,
}

/// A run and what it left in the kernel's buffers.
#[derive(Debug)]
pub struct Execution {
    /// What the engine says.
    pub result: RunResult,
}

impl Execution {
    /// The contents of the buffer that was passed for parameter `index`; `None` for scalars.
    pub fn buffer(&self, values: &[Value], index: usize) -> Option<&[u8]> {
        let at = values[..index].iter().filter(|v| matches!(v, Value::Buffer(_))).count();
        matches!(values.get(index)?, Value::Buffer(_))
            .then(|| self.result.memory.gm.get(at).map(|b| b.data.as_slice()))?
    }
}

/// Runs a decoded kernel on these arguments, one for each parameter.
pub fn execute<O: Observer>(
    decoded: &Decoded,
    platform: &Platform,
    values: &[Value],
    options: ExecuteOptions,
    observer: &mut O,
) -> Execution {
    let mut buffers = Vec::new();
    let mut args = Vec::new();
    for (param, value) in decoded.program.params.iter().zip(values) {
        args.push(match value {
            Value::Buffer(data) => {
                buffers.push(GmBuffer { name: param.name.clone(), data: data.clone() });
                ArgValue::Buffer(buffers.len() - 1)
            }
            Value::Scalar(bits) => ArgValue::Scalar(*bits),
        });
    }
    let launch = Launch::new(&decoded.program, platform, options.blocks, args).mode(options.mode);
    let bytes = |space: Space| decoded.local_bytes[space as usize] as usize;
    let mut memory = Memory::with_sizes(launch.clusters(), bytes);
    memory.gm = buffers;
    Execution { result: run(&launch, memory, observer) }
}
