//! Watching a run.

use slipring_machine::Pipe;
use slipring_program::{Access, Memory, SiteRef, Work, WorkId};

use crate::agent::Agent;
use crate::{Again, CutPoint, Launch, PipeSet, Standing};

/// What the scalar unit puts on a pipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Issued {
    Work(WorkId),
    /// The synchronisation object's index in the program.
    Set(u32),
    Wait(u32),
    /// Of a buffer token; a `deferred` one also comes after the earlier releases of the token and what the pipes `after`
    /// have been given so far, and its pipe goes on after all that.
    Release {
        token: u32,
        deferred: bool,
        after: PipeSet,
    },
    Barrier,
}

/// One execution of work.
#[derive(Clone, Copy, Debug)]
pub struct WorkRun<'a> {
    /// Where it runs.
    pub agent: Agent,
    /// Which work of its core.
    pub id: WorkId,
    /// The same, with name and effect.
    pub work: &'a Work,
    /// Operands, as evaluated at issue.
    pub args: &'a [u64],
    /// Bytes that it touches, all inside their memories.
    pub access: &'a Access,
    /// Cycles from start to completion.
    pub cycles: u64,
    /// The instruction that issued it.
    pub site: SiteRef,
}

/// Why a scalar unit or a pipe stood still.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stall {
    /// The scalar unit had a step for a pipe whose queue was full.
    QueueFull(Pipe),
    /// The scalar unit waited for its core's pipes to drain.
    Drain,
    /// A wait for a synchronisation object: its index in the program.
    Wait(u32),
    /// A wait for a number in global memory that others change.
    Signal,
}

/// Watches a run. Every method does nothing by default.
///
/// Calls come in the order of time, except that a stall is told when it is over. In
/// [`ExecutionMode::Sequential`](crate::ExecutionMode::Sequential) there is one clock for all cores, and synchronisation
/// inside a core, which does nothing there, is not told.
#[allow(unused_variables)]
pub trait Observer {
    /// The launch is about to start.
    fn begin(&mut self, launch: &Launch<'_>) {}
    /// The memories before anything has run: an observer may have marks kept in them.
    fn arm(&mut self, memory: &mut Memory) {}
    /// A block starts on a cluster.
    fn block_start(&mut self, at: u64, block: u32, cluster: u32) {}
    /// All cores and pipes of a block have come to their end.
    fn block_end(&mut self, at: u64, block: u32, cluster: u32) {}
    /// The scalar unit of `to`'s core puts a step on the pipe `to`.
    fn issue(&mut self, at: u64, to: Agent, step: Issued, site: SiteRef) {}
    /// A pipe is given a get or check of a token, told before its [`Issued::Wait`]; `later` are releases of other pipes that the
    /// program has only after it and that the platform's other interpretation ([`slipring_machine::interpretations::TOKEN_LOCKS`],
    /// [`slipring_machine::interpretations::UNIT_FLAG_BLOCKS`]) waits for: the pipe, and which of its releases of the token, from 1.
    fn hold(&mut self, to: Agent, sync: u32, later: &[(Pipe, u32)]) {}
    /// Work starts.
    fn start(&mut self, at: u64, run: &WorkRun<'_>) {}
    /// Work has completed: its bytes have changed.
    fn end(&mut self, at: u64, run: &WorkRun<'_>) {}
    /// An object is signalled; `lost` if it saturates and was at its maximum.
    fn set(&mut self, at: u64, agent: Agent, sync: u32, lost: bool, site: SiteRef) {}
    /// A wait is over: the oldest signal of the object has been taken.
    fn wait(&mut self, at: u64, agent: Agent, sync: u32, site: SiteRef) {}
    /// A barrier holds: of `agent`'s pipe, or, told for the scalar unit, of all pipes of the core.
    fn barrier(&mut self, at: u64, agent: Agent, site: SiteRef) {}
    /// An agent stood still.
    fn stall(&mut self, from: u64, to: u64, agent: Agent, cause: Stall, site: SiteRef) {}
    /// Nothing can go on but the cores that stand at an [`Inst::Meet`](slipring_program::Inst::Meet), which do so now.
    fn meet(&mut self, at: u64, meeting: &CutPoint<'_>) {}
    /// An [`Inst::Poll`](slipring_program::Inst::Poll) is over: what the core last looked at is as it wants it.
    fn awaited(&mut self, at: u64, agent: Agent, site: SiteRef) {}
    /// The program of a core has ended; its pipes may still be working.
    fn core_end(&mut self, at: u64, agent: Agent) {}
    /// Writes down what decides what it will say, and what it counts. Where the first is the same as before, and the run comes back
    /// to where it was, it is not told again of what it was told of meanwhile, but [`Observer::repeat`] how often that happens.
    /// False where it wants to be told, which is the default. It may be asked again and again.
    fn stand(&mut self, standing: &mut Standing) -> bool {
        false
    }
    /// What happened between the last two times that it stood the same happens so many times more: what it counts moves on.
    fn repeat(&mut self, again: &mut Again<'_>) {}
}

impl Observer for () {
    fn stand(&mut self, _: &mut Standing) -> bool {
        true
    }
}

/// Forwards every call to each of the listed observers (options of references).
macro_rules! forward {
    ($self:ident: $($to:expr),+) => {
        forward! { @ $self, [$($to),+]
            begin(launch) (launch: &Launch<'_>),
            arm(memory) (memory: &mut Memory),
            block_start(at, block, cluster) (at: u64, block: u32, cluster: u32),
            block_end(at, block, cluster) (at: u64, block: u32, cluster: u32),
            issue(at, to, step, site) (at: u64, to: Agent, step: Issued, site: SiteRef),
            hold(to, sync, later) (to: Agent, sync: u32, later: &[(Pipe, u32)]),
            start(at, run) (at: u64, run: &WorkRun<'_>),
            end(at, run) (at: u64, run: &WorkRun<'_>),
            set(at, agent, sync, lost, site) (at: u64, agent: Agent, sync: u32, lost: bool, site: SiteRef),
            wait(at, agent, sync, site) (at: u64, agent: Agent, sync: u32, site: SiteRef),
            barrier(at, agent, site) (at: u64, agent: Agent, site: SiteRef),
            stall(from, to, agent, cause, site) (from: u64, to: u64, agent: Agent, cause: Stall, site: SiteRef),
            meet(at, meeting) (at: u64, meeting: &CutPoint<'_>),
            awaited(at, agent, site) (at: u64, agent: Agent, site: SiteRef),
            core_end(at, agent) (at: u64, agent: Agent),
            repeat(again) (again: &mut Again<'_>),
        }

        fn stand(&mut $self, standing: &mut Standing) -> bool {
            $($to.is_none_or(|observer| observer.stand(standing)))&&+
        }
    };
    (@ $self:ident, $to:tt $($name:ident $call:tt $args:tt,)+) => {
        $(forward! { @one $self, $to, $name $call $args })+
    };
    (@one $self:ident, [$($to:expr),+], $name:ident $call:tt ($($args:tt)+)) => {
        #[inline]
        fn $name(&mut $self, $($args)+) {
            $(if let Some(observer) = $to { observer.$name $call; })+
        }
    };
}

impl<O: Observer + ?Sized> Observer for &mut O {
    forward!(self: Some(&mut **self));
}

impl<O: Observer> Observer for Option<O> {
    forward!(self: self.as_mut());
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    forward!(self: Some(&mut self.0), Some(&mut self.1));
}

impl<A: Observer, B: Observer, C: Observer> Observer for (A, B, C) {
    forward!(self: Some(&mut self.0), Some(&mut self.1), Some(&mut self.2));
}

impl<A: Observer, B: Observer, C: Observer, D: Observer> Observer for (A, B, C, D) {
    forward!(self: Some(&mut self.0), Some(&mut self.1), Some(&mut self.2), Some(&mut self.3));
}
