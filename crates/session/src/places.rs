//! Allocation of arguments in global memory, and the initial contents of the buffers.

use std::collections::BTreeMap;

use slipring_check::Tools;
use slipring_ir::{Diagnostic, Kind};
use slipring_lang::{Direction, KernelInfo};
use slipring_program::{Param, ParamKind, Unwritten};

use crate::launch::info;
use crate::params::slot_params;
use crate::tensor::Bound;
use crate::{Error, Prepared};

pub use crate::args::Within;

/// The location of an argument: a buffer in global memory, and the byte offset at which the argument begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BufferPlace {
    /// The buffer, in the order of their first arguments.
    pub buffer: usize,
    /// The byte offset.
    pub offset: usize,
}

/// The location of each argument.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// By argument; `None` for a scalar.
    pub of: Vec<Option<BufferPlace>>,
    /// Bytes of each buffer.
    pub sizes: Vec<usize>,
}

impl Places {
    /// Each argument in a buffer of its own, except for those that share a memory.
    pub fn new(values: &[Bound<'_>]) -> Places {
        let mut places = Places::default();
        let mut memories: BTreeMap<u32, usize> = BTreeMap::new();
        for value in values {
            places.of.push(value.contents().map(|data| {
                let within = value.within();
                let next = places.sizes.len();
                let (buffer, offset) = match within {
                    Some(Within { memory, offset }) => (*memories.entry(memory).or_insert(next), offset),
                    None => (next, 0),
                };
                places.sizes.resize(places.sizes.len().max(buffer + 1), 0);
                places.sizes[buffer] = places.sizes[buffer].max(offset.saturating_add(data.len()));
                BufferPlace { buffer, offset }
            }));
        }
        places
    }

    /// The location of an argument, if it is a buffer.
    pub fn get(&self, index: usize) -> Option<BufferPlace> {
        self.of.get(index).copied().flatten()
    }

    /// The first argument in a buffer.
    pub fn argument_of(&self, buffer: usize) -> Option<usize> {
        self.of.iter().position(|place| place.is_some_and(|place| place.buffer == buffer))
    }

    /// True for a buffer with several arguments.
    pub fn is_shared(&self, buffer: usize) -> bool {
        self.of.iter().flatten().filter(|place| place.buffer == buffer).count() > 1
    }

    /// Refuses arguments that share a buffer where each must have its own; `why` is the reason.
    ///
    /// # Errors
    /// The first such arguments, by name.
    pub fn refuse_shared(&self, names: &[&str], why: &str) -> Result<(), Error> {
        let Some(buffer) = (0..self.sizes.len()).find(|buffer| self.is_shared(*buffer)) else { return Ok(()) };
        let of = |at: usize| self.of[at].is_some_and(|place| place.buffer == buffer);
        let names: Vec<String> = (0..self.of.len()).filter(|at| of(*at)).map(|at| format!("`{}`", names[at])).collect();
        let names = names.join(" and ");
        Err(Error::Arguments(format!("{names} share memory, and {why}: pass a copy of one of them")))
    }

    /// True if any two arguments share a buffer.
    pub(crate) fn any_shared(&self) -> bool {
        (0..self.sizes.len()).any(|buffer| self.is_shared(buffer))
    }
}

/// Tools that know the initial contents of a launch's buffers: slots of rings are uninitialised, and so are outputs.
pub fn beginning(prepared: &Prepared, kernels: &[KernelInfo], values: &[Bound<'_>], tools: Tools) -> Tools {
    let scratch = slot_buffers(prepared, values);
    let (program, places) = (&prepared.decoded.program, Places::new(values));
    let direction = |at: usize| {
        let param = program.params.get(at).filter(|param| matches!(param.kind, ParamKind::Buffer { .. }))?;
        Some(info(kernels, &program.name, param)?.direction)
    };
    let mut unwritten = Vec::new();
    for (at, place) in places.of.iter().enumerate() {
        let Some(place) = place.filter(|_| direction(at) == Some(Direction::Out)) else { continue };
        if !places.is_shared(place.buffer) {
            unwritten.push(Unwritten::whole(place.buffer));
            continue;
        }
        // The contents of another argument in the same memory are present.
        let range = |at: usize, offset: usize| {
            let bytes = values[at].contents().map_or(0, <[u8]>::len);
            (offset as u64, (offset + bytes) as u64)
        };
        let mut left = vec![range(at, place.offset)];
        for (other, its) in places.of.iter().enumerate() {
            let Some(its) = its.filter(|its| its.buffer == place.buffer && direction(other) != Some(Direction::Out))
            else {
                continue;
            };
            let (from, to) = range(other, its.offset);
            left =
                left.into_iter().flat_map(|(a, b)| [(a, b.min(from)), (a.max(to), b)]).filter(|(a, b)| a < b).collect();
        }
        unwritten.extend(left.into_iter().map(|(from, to)| Unwritten { buffer: place.buffer, from, to }));
    }
    Tools { scratch, unwritten, ..tools }
}

/// The bytes of outputs that a run must write, unless the compiler has already reported that it does not (`said`).
pub fn results(
    prepared: &Prepared,
    kernels: &[KernelInfo],
    values: &[Bound<'_>],
    said: &[Diagnostic],
) -> Vec<Unwritten> {
    if said.iter().any(|message| matches!(message.kind, Kind::OutputInPart(_))) {
        return Vec::new();
    }
    let (program, places) = (&prepared.decoded.program, Places::new(values));
    let is_output = |param: &&Param| {
        let info = info(kernels, &program.name, param);
        info.is_some_and(|info| info.direction == Direction::Out)
    };
    let passed = program.params.iter().filter(|param| param.is_passed());
    let one = |((at, _), value): ((usize, &Param), &Bound<'_>)| {
        let place = places.get(at)?;
        let bytes = value.contents()?.len();
        Some(Unwritten { buffer: place.buffer, from: place.offset as u64, to: (place.offset + bytes) as u64 })
    };
    passed.enumerate().zip(values).filter(|((_, param), _)| is_output(param)).filter_map(one).collect()
}

/// Global buffers (by index among the kernel's buffers) that only hold slots of rings.
pub fn slot_buffers(prepared: &Prepared, values: &[Bound<'_>]) -> Vec<usize> {
    let params = slot_params(&prepared.written, &prepared.kernel);
    let places = Places::new(values);
    let buffers = params.into_iter().filter_map(|at| places.get(at)).map(|place| place.buffer);
    // A buffer shared with other arguments holds not only slots.
    let mut found: Vec<usize> = buffers.filter(|buffer| !places.is_shared(*buffer)).collect();
    // Buffers allocated by the launch come after those that were passed.
    let passed = places.sizes.len();
    let allocated = prepared.decoded.program.params.iter().filter(|p| !p.is_passed());
    found.extend(allocated.enumerate().map(|(at, _)| passed + at));
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tensor;

    #[test]
    fn arguments_of_one_memory_lie_in_one_buffer() {
        let buffer = |bytes: u64| Param {
            name: "x".into(),
            kind: ParamKind::Buffer { elem: slipring_tile::Elem::U8, bytes: Some(bytes) },
        };
        let view = |bytes: usize, within: Option<(u32, usize)>| {
            let tensor = Tensor::raw(vec![0; bytes]);
            let tensor = match within {
                Some((memory, offset)) => tensor.within(memory, offset),
                None => tensor,
            };
            tensor.bind(0, &buffer(bytes as u64), None).unwrap()
        };
        let number = Bound::scalar(0);
        let views = [view(16, Some((7, 0))), number, view(8, None), view(16, Some((7, 8))), view(4, Some((3, 4)))];
        let places = Places::new(&views);
        let place = |buffer, offset| Some(BufferPlace { buffer, offset });
        assert_eq!(places.of, [place(0, 0), None, place(1, 0), place(0, 8), place(2, 4)]);
        assert_eq!(places.sizes, [24, 8, 8]);
        assert_eq!([0, 1, 2].map(|buffer| places.is_shared(buffer)), [true, false, false]);
    }
}
