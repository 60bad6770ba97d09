//! How the text that a program comes from spells what its findings advise.

use slipring_machine::Pipe;

/// Forms of ops that findings name. A program of hand-made instructions, which no text has, says what is meant instead.
///
/// In forms of flags `{from}`, `{to}` and `{id}` stand for the two pipes and the number, in `pipe_barrier` `{pipe}` for the
/// pipe, in `memory_barrier` `{kind}` for the accesses that it orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Words {
    /// Signals from one pipe to another.
    pub set_flag: &'static str,
    /// Holds a pipe until another has signalled.
    pub wait_flag: &'static str,
    /// The number of a flag.
    pub event: &'static str,
    /// Gets a buffer for a pipe.
    pub get_buffer: &'static str,
    /// Releases a buffer of a pipe.
    pub release_buffer: &'static str,
    /// Holds a pipe until its own work has completed.
    pub pipe_barrier: &'static str,
    /// Orders accesses inside a vector function.
    pub memory_barrier: &'static str,
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
        }
    }
}

impl Words {
    /// The set of a flag; `None` for any number.
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
