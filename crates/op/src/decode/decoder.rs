//! State of the decoder while it walks a kernel for one core.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::{Diags, Module, OpId, Span, ValueId};
use slipring_machine::{Platform, Role};
use slipring_program::{Operand, Reg};
use slipring_tile::Space;
use slipring_vector::Step;

use super::binding::Binding;
use super::builder::{CoreBuilder, Sites};
use super::syncs::Syncs;
use crate::decode::TileRef;
use crate::decode::cores::Kernel;
use crate::ring::{CoreRings, RingPlan};

/// The purpose of the decoded program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decoding {
    /// Execution on the simulated device: addresses as planned, rings where the platform has them.
    Device,
    /// The sequential semantics of the source: every tile without an address has memory of its own, rings
    /// are deep FIFOs in memory of their own.
    Reference,
}

/// State shared by the cores of a kernel.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) syncs: Syncs,
    pub(crate) sites: Sites,
    pub(super) local_bytes: [u64; Space::COUNT],
    pub(crate) ring_memory: BTreeMap<u32, Operand>,
}

/// Expands ops for one core.
pub struct Decoder<'a> {
    /// The module that is decoded.
    pub module: &'a Module,
    /// The platform that it is decoded for.
    pub platform: &'a Platform,
    /// Device or reference.
    pub mode: Decoding,
    /// The core that it is decoded for.
    pub role: Role,
    /// Rings of the kernel.
    pub rings: &'a RingPlan,
    /// State of this core's ends of the rings.
    pub core_rings: CoreRings,
    pub(super) kernel: &'a Kernel,
    pub(super) builder: CoreBuilder,
    pub(super) function: Option<FunctionBuilder>,
    pub(super) launch: Option<LaunchBuilder>,
    pub(super) shared: &'a mut Shared,
    pub(super) registers: Registers,
    /// Set while one program represents all cores of the cluster.
    pub(super) cluster: Option<Cluster>,
    pub(super) bindings: Vec<Option<Binding>>,
    pub(crate) yielded: Vec<Binding>,
    pub(crate) calls: Vec<OpId>,
    /// Calls that were expanded so far.
    pub(crate) written_out: u32,
    pub(super) current: (&'static str, Span),
    pub(crate) masks: Option<BTreeSet<ValueId>>,
    pub(crate) diags: &'a mut Diags,
}

/// State of the decoder while one program represents all cores.
#[derive(Debug)]
pub(super) struct Cluster {
    /// Vector cores that take part: 1 or 2.
    pub(crate) lanes: usize,
    /// Bindings of lane 1, for values that were decoded separately for it.
    pub(crate) second: BTreeMap<ValueId, Binding>,
    /// Addresses that ops got on lane 0 of the current region, and how many of them lane 1 has reused.
    pub(crate) given: BTreeMap<OpId, (Vec<Operand>, usize)>,
    /// Whole tiles that lane 1 gathers in this region, for comparison with lane 0's.
    pub(crate) copies: Vec<Copied>,
}

/// A whole tile as lane 1 gathered it.
#[derive(Debug)]
pub(crate) struct Copied {
    /// The tile that lane 0 gathered, at the address that lane 1 named.
    pub(crate) tile: TileRef,
    /// Lane 1's copy, in memory of its own.
    pub(crate) at: Operand,
    /// Nonzero once the tile has been gathered.
    pub(crate) done: Reg,
    pub(crate) site: u32,
}

/// A vector function under construction.
#[derive(Debug)]
pub(super) struct FunctionBuilder {
    /// The program of the surrounding core.
    pub(crate) outer: CoreBuilder,
    pub(crate) steps: Vec<Step>,
    pub(crate) slots: u16,
    /// There were more registers than a function has.
    pub(crate) full: bool,
}

/// A launch of workitems under construction.
#[derive(Debug)]
pub(super) struct LaunchBuilder {
    /// The program of the surrounding core.
    pub(crate) outer: CoreBuilder,
    pub(crate) steps: Vec<slipring_simt::Instruction>,
}

/// Registers of cores by name.
#[derive(Debug, Default)]
pub(super) struct Registers(pub(crate) BTreeMap<(Role, &'static str), Reg>);
