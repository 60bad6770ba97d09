//! Names of memories and bytes in reports.

use slipring_machine::Role;
use slipring_program::{Extent, ParamKind, Program, gm_split};
use slipring_sim::{ArgValue, Launch};
use slipring_tile::Space;

/// A memory of a launch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub(crate) enum LaunchMemory {
    /// A buffer in global memory.
    Buffer(usize),
    Local {
        cluster: u32,
        core: Role,
        space: Space,
    },
}

impl LaunchMemory {
    /// The memory of a range, and the offset of the range's first byte in it. The engine has checked that the range
    /// exists.
    pub fn of(range: &Extent, cluster: u32) -> (LaunchMemory, u64) {
        if range.space != Space::Gm {
            return (LaunchMemory::Local { cluster, core: range.core, space: range.space }, range.start);
        }
        let (buffer, offset) = gm_split(range.start).unwrap_or((usize::MAX, 0));
        (LaunchMemory::Buffer(buffer), offset.max(0) as u64)
    }

    /// `vec` of AIV0, or the name of the kernel parameter that the buffer was passed for.
    pub fn name(&self, names: &Names) -> String {
        match self {
            LaunchMemory::Local { core, space, .. } => format!("`{space}` of {core}"),
            LaunchMemory::Buffer(buffer) => match names.of_buffer(*buffer)[..] {
                [] => format!("buffer {buffer}"),
                [name] => format!("buffer `{name}`"),
                ref shared => format!("the memory of {}", together(shared)),
            },
        }
    }
}

/// One value for each memory of the launch.
#[derive(Clone, Debug)]
pub(crate) struct PerPlace<T> {
    buffers: Vec<T>,
    /// (cluster × 3 + core) × spaces + space.
    locals: Vec<T>,
}

impl<T> Default for PerPlace<T> {
    fn default() -> Self {
        PerPlace { buffers: Vec::new(), locals: Vec::new() }
    }
}

impl<T: Default> PerPlace<T> {
    /// The value of a memory, created on first use.
    pub fn get(&mut self, place: LaunchMemory) -> &mut T {
        let (list, index) = match place {
            LaunchMemory::Buffer(index) => (&mut self.buffers, index),
            LaunchMemory::Local { cluster, core, space } => {
                (&mut self.locals, (cluster as usize * 3 + core.index()) * Space::COUNT + space as usize)
            }
        };
        if list.len() <= index {
            list.resize_with(index + 1, T::default);
        }
        &mut list[index]
    }

    /// The value of a buffer, if it has one.
    pub fn buffer(&self, index: usize) -> Option<&T> {
        self.buffers.get(index)
    }

    /// The values of the local memories, in a fixed order.
    pub fn locals(&self) -> impl Iterator<Item = &T> {
        self.locals.iter()
    }

    /// The values of all memories, in a fixed order.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.buffers.iter().chain(&self.locals)
    }

    /// The values of a cluster's local memories.
    pub fn of_cluster(&mut self, cluster: u32) -> impl Iterator<Item = &mut T> {
        let width = 3 * Space::COUNT;
        let len = self.locals.len();
        let first = (cluster as usize * width).min(len);
        self.locals[first..(first + width).min(len)].iter_mut()
    }
}

/// Names of ops and buffers, recorded when the launch begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    ops: Vec<std::sync::Arc<str>>,
    buffers: Vec<(usize, String)>,
    /// Element size of each buffer in bytes.
    elems: Vec<(usize, u64)>,
    /// Names of the synchronisation objects.
    pub syncs: Vec<std::sync::Arc<str>>,
}

impl Names {
    pub fn new(launch: &Launch<'_>) -> Names {
        let program: &Program = launch.program;
        let passed = launch.args.iter().zip(&program.params).filter_map(|(arg, param)| match arg {
            ArgValue::Buffer(index) | ArgValue::Part { buffer: index, .. } => Some((*index, param.name.clone())),
            ArgValue::Scalar(_) => None,
        });
        let elem = |(arg, param): (&ArgValue, &slipring_program::Param)| match (arg, param.kind) {
            (ArgValue::Buffer(index) | ArgValue::Part { buffer: index, .. }, ParamKind::Buffer { elem, .. }) => {
                Some((*index, elem.bytes() as u64))
            }
            _ => None,
        };
        Names {
            elems: launch.args.iter().zip(&program.params).filter_map(elem).collect(),
            ops: program.sites.iter().map(|site| site.op.clone()).collect(),
            buffers: passed.collect(),
            syncs: program.syncs.iter().map(|sync| sync.name.clone()).collect(),
        }
    }

    /// The parameters for which a buffer was passed.
    fn of_buffer(&self, buffer: usize) -> Vec<&str> {
        self.buffers.iter().filter(|(index, _)| *index == buffer).map(|(_, name)| name.as_str()).collect()
    }

    /// The arguments that share a memory, as text.
    pub fn shared(&self) -> Vec<String> {
        let mut seen: Vec<usize> = Vec::new();
        let mut list = Vec::new();
        for (buffer, _) in &self.buffers {
            let names = self.of_buffer(*buffer);
            if names.len() > 1 && !seen.contains(buffer) {
                seen.push(*buffer);
                list.push(format!("{} in one memory", together(&names)));
            }
        }
        list
    }

    /// Element size of a buffer in bytes; 0 if unknown.
    pub fn elem_bytes(&self, buffer: usize) -> u64 {
        self.elems.iter().find(|(index, _)| *index == buffer).map_or(0, |(_, bytes)| *bytes)
    }

    /// Name of the op at a location.
    pub fn op(&self, site: u32) -> &str {
        self.ops.get(site as usize).map_or("?", |op| op)
    }
}

/// Names in one phrase.
fn together(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ")
}

/// `byte 5`, or `bytes 0 to 63`, from start and end.
pub(crate) fn bytes(first: u64, end: u64) -> String {
    if end == first + 1 { format!("byte {first}") } else { format!("bytes {first} to {}", end - 1) }
}
