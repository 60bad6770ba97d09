//! Watching a run.

use slipring_machine::Pipe;
use slipring_program::{Access, Memory, SiteRef, Work, WorkId};

use crate::agent::Agent;
use crate::{Again, CutPoint, Launch, PipeSet, Standing};

/// A step that the scalar unit puts on a pipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Issued {
    Work(WorkId),
    /// The synchronisation object's index in the program.
    Set(u32),
    Wait(u32),
    /// Release of a buffer token; a `deferred` one also comes after the earlier releases of the token and after
    /// everything issued so far to the pipes `after`, and its pipe continues only after all that.
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
    /// The agent that runs it.
    pub agent: Agent,
    /// The work's id in its core.
    pub id: WorkId,
    /// The work itself, with name and effect.
    pub work: &'a Work,
    /// Operands, evaluated at issue.
    pub args: &'a [u64],
    /// Bytes that it touches, all within their memories.
    pub access: &'a Access,
    /// Cycles from start to completion.
    pub cycles: u64,
    /// The instruction that issued it.
    pub site: SiteRef,
}

/// Why a scalar unit or a pipe stalled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stall {
    /// The scalar unit had a step for a pipe whose queue was full.
    QueueFull(Pipe),
    /// The scalar unit waited for its core's pipes to drain.
    Drain,
    /// A wait for a synchronisation object: its index in the program.
    Wait(u32),
    /// A wait for a value in global memory that others change.
    Signal,
}

/// Watches a run. Every method does nothing by default.
///
/// Calls come in order of time, except that a stall is reported when it ends. In
/// [`ExecutionMode::Sequential`](crate::ExecutionMode::Sequential) there is one clock for all cores, and
/// synchronisation inside a core, which has no effect there, is not reported.
#[allow(unused_variables)]
pub trait Observer {
    /// The launch is about to start.
    fn begin(&mut self, launch: &Launch<'_>) {}
    /// The memories before anything has run: an observer may request marks in them.
    fn arm(&mut self, memory: &mut Memory) {}
    /// A block starts on a cluster.
    fn block_start(&mut self, at: u64, block: u32, cluster: u32) {}
    /// All cores and pipes of a block have ended.
    fn block_end(&mut self, at: u64, block: u32, cluster: u32) {}
    /// The scalar unit of `to`'s core puts a step on the pipe `to`.
    fn issue(&mut self, at: u64, to: Agent, step: Issued, site: SiteRef) {}
    /// A get or check of a token is issued to a pipe; called before its [`Issued::Wait`]. `later` lists releases of
    /// other pipes that come only later in the program and that the platform's alternative interpretation
    /// ([`slipring_machine::interpretations::TOKEN_LOCKS`], [`slipring_machine::interpretations::UNIT_FLAG_BLOCKS`])
    /// waits for: the pipe, and the index of its release of the token, from 1.
    fn hold(&mut self, to: Agent, sync: u32, later: &[(Pipe, u32)]) {}
    /// Work starts.
    fn start(&mut self, at: u64, run: &WorkRun<'_>) {}
    /// Work has completed: its bytes have changed.
    fn end(&mut self, at: u64, run: &WorkRun<'_>) {}
    /// An object is signalled; `lost` if it saturates and was at its maximum.
    fn set(&mut self, at: u64, agent: Agent, sync: u32, lost: bool, site: SiteRef) {}
    /// A wait is over: the oldest signal of the object has been consumed.
    fn wait(&mut self, at: u64, agent: Agent, sync: u32, site: SiteRef) {}
    /// A barrier is complete: of `agent`'s pipe or, for the scalar unit, of all pipes of the core.
    fn barrier(&mut self, at: u64, agent: Agent, site: SiteRef) {}
    /// An agent was stalled.
    fn stall(&mut self, from: u64, to: u64, agent: Agent, cause: Stall, site: SiteRef) {}
    /// Only the cores at an [`Inst::Meet`](slipring_program::Inst::Meet) can proceed, and they do so now.
    fn meet(&mut self, at: u64, meeting: &CutPoint<'_>) {}
    /// An [`Inst::Poll`](slipring_program::Inst::Poll) is over: the value last read satisfies its condition.
    fn awaited(&mut self, at: u64, agent: Agent, site: SiteRef) {}
    /// The program of a core has ended; its pipes may still be working.
    fn core_end(&mut self, at: u64, agent: Agent) {}
    /// Serialises the state that determines its future reports, and its counters. If the former is unchanged when the
    /// run returns to a state, the events in between are not reported again; [`Observer::repeat`] is called with the
    /// number of repetitions instead. Returns false if it must receive every event, which is the default. It may be
    /// called repeatedly.
    fn stand(&mut self, standing: &mut Standing) -> bool {
        false
    }
    /// The events between the last two equal states are repeated this many more times: its counters advance.
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
