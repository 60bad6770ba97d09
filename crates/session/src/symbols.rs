//! The constants of seed 000 that give the addresses of a function's rings: `{DIR}_CONSUMER_BUFFER_BASE` and
//! `{DIR}_CONSUMER_BUFFER_SIZE`.
//!
//! They are derived from the ops that create the pipes, once addresses are chosen; they are not stored anywhere else.

use serde::Serialize;
use slipring_ir::Module;
use slipring_machine::Platform;
use slipring_op::ring::{PipeSpec, SlotBase, consumer_buffer, slot_space};
use slipring_op::{OpRef, RingPart, kernel_kind, symbol_name};
use slipring_program::Direction;
use slipring_tile::Space;

/// The slots of one direction of a pipe, from the perspective of a function with an end of it.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct ConsumerBuffer {
    /// The function, without `@`.
    pub function: String,
    /// The pipe's name in messages.
    pub pipe: String,
    /// `C2V` or `V2C`.
    pub direction: &'static str,
    /// First byte in the consumer's memory, if the text determines it.
    pub base: Option<i64>,
    /// Bytes of all slots.
    pub size: u64,
    /// The consumer's memory: `UB` or `L1`.
    pub memory: &'static str,
    /// True for the consumer, false for the producer, which imports them.
    pub own: bool,
}

/// The buffers of all functions that create ends of pipes, in the order of the text. Empty if rings are in global
/// memory.
pub fn consumer_buffers(module: &Module, platform: &Platform) -> Vec<ConsumerBuffer> {
    let mut found = Vec::new();
    for function in module.functions() {
        let Some(body) = module.body(function, 0) else { continue };
        for id in module.walk(body) {
            let Some(op) = OpRef::of(module, id).filter(|op| op.def.ring.is_some_and(RingPart::makes_end)) else {
                continue;
            };
            let Some(spec) = PipeSpec::of(&op, platform).filter(|spec| !spec.in_gm) else { continue };
            for direction in [Direction::C2V, Direction::V2C].into_iter().filter(|direction| spec.has(*direction)) {
                let base = consumer_buffer(&op, direction).map(|value| SlotBase::of(module, value));
                let space = slot_space(direction);
                found.push(ConsumerBuffer {
                    function: symbol_name(module, function).to_string(),
                    pipe: spec.key.text(module),
                    direction: direction.name(),
                    base: base.and_then(|base| base.address(module)),
                    size: spec.ring_bytes(),
                    memory: if space == Space::Vec { "UB" } else { "L1" },
                    own: kernel_kind(module, function) == Some(slipring_op::core_of(space)),
                });
            }
        }
    }
    found
}

impl ConsumerBuffer {
    /// `@vector: C2V_CONSUMER_BUFFER_BASE = 0x1000, C2V_CONSUMER_BUFFER_SIZE = 8192 (pipe 0, its own UB)`.
    pub fn line(&self) -> String {
        let ConsumerBuffer { function, pipe, direction, size, memory, .. } = self;
        let base = self.base.map_or("not known".to_string(), |base| format!("{base:#x}"));
        let whose = if self.own { "its own" } else { "the consumer's" };
        format!(
            "@{function}: {direction}_CONSUMER_BUFFER_BASE = {base}, {direction}_CONSUMER_BUFFER_SIZE = {size} \
             ({pipe}, {whose} {memory})"
        )
    }
}
