//! How the source language of a program spells the advice given in its findings.

use slipring_machine::Pipe;

/// Spellings of ops used in findings. A program of hand-made instructions, which has no text, uses descriptions
/// instead.
///
/// In forms of flags `{from}`, `{to}` and `{id}` are the two pipes and the id, in `pipe_barrier` `{pipe}` is the pipe,
/// in `memory_barrier` `{kind}` is the kind of accesses that it orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Words {
    /// Signals from one pipe to another.
    pub set_flag: &'static str,
    /// Holds a pipe until another has signalled.
    pub wait_flag: &'static str,
    /// The id of a flag.
    pub event: &'static str,
    /// Acquires a buffer for a pipe.
    pub get_buffer: &'static str,
    /// Releases a buffer of a pipe.
    pub release_buffer: &'static str,
    /// Holds a pipe until its own work has completed.
    pub pipe_barrier: &'static str,
    /// Orders accesses inside a vector function.
    pub memory_barrier: &'static str,
    /// Orders the workitems of a launch.
    pub workitem_barrier: &'static str,
}

impl Default for Words {
    fn default() -> Words {
        Words {
            set_flag: "a set of flag {id} from {from} to {to}",
            wait_flag: "a wait for flag {id} from {from} to {to}",
            event: "{id}",
            get_buffer: "an acquire",
            release_buffer: "a release",
            pipe_barrier: "a barrier of {pipe}",
            memory_barrier: "a memory barrier {kind}",
            workitem_barrier: "barrier of all workitems",
        }
    }
}

impl Words {
    /// The set of a flag; `None` for any id.
    pub fn set(&self, from: Pipe, to: Pipe, id: Option<u32>) -> String {
        self.flag(self.set_flag, from, to, id)
    }

    /// The wait for a flag.
    pub fn wait(&self, from: Pipe, to: Pipe, id: Option<u32>) -> String {
        self.flag(self.wait_flag, from, to, id)
    }

    fn flag(&self, form: &str, from: Pipe, to: Pipe, id: Option<u32>) -> String {
        let id = id.map_or("id".to_string(), |id| self.event.replace("{id}", &id.to_string()));
        form.replace("{from}", from.name()).replace("{to}", to.name()).replace("{id}", &id)
    }

    /// The barrier of a pipe.
    pub fn barrier(&self, pipe: Pipe) -> String {
        self.pipe_barrier.replace("{pipe}", pipe.name())
    }

    /// The barrier inside a vector function that orders accesses of this kind.
    pub fn memory_barrier(&self, kind: &str) -> String {
        self.memory_barrier.replace("{kind}", kind)
    }
}
