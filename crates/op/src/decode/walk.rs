//! Walks the functions of a kernel for one core and expands every op.

use std::collections::BTreeSet;
use std::sync::Arc;

use slipring_effect::OnCore;
use slipring_ir::{BlockId, Diagnostic, Diags, Kind, Module, OpId, Span, TileType, ValueId};
use slipring_machine::{CoreKind, Cost, Pipe, Platform, Price, Role};
use slipring_program::{Action, Discover, Effect, Inst, Operand, Program, Reg, Special};
use slipring_tile::Space;

use crate::decode::binding::Binding;
use crate::decode::builder::{CoreBuilder, Label};
use crate::decode::cluster::not_expanded;
use crate::decode::cores::Kernel;
use crate::decode::decoder::{Cluster, Decoder, Decoding, Registers, Shared};
use crate::def::{Lowered, OpRef, PipeRule, Reported};
use crate::facts::CoreRule;
use crate::function::{kernel_kind, symbol_name};
use crate::names;
use crate::ring::{CoreRings, RingPlan};

/// A decoded kernel.
#[derive(Debug)]
pub struct Decoded {
    /// The program.
    pub program: Program,
    /// Bytes of each local memory that it needs, by [`Space`]; at least the platform's capacity.
    pub local_bytes: [u64; Space::COUNT],
}

/// Maximum depth of nested calls. A kernel has no stack; this limit rejects recursion.
const MAX_CALL_DEPTH: usize = 64;

/// Maximum number of expanded calls in a kernel. Each call is decoded anew: functions that call others twice double
/// them at each level.
const MOST_CALLS: u32 = 1 << 12;

/// Decodes a kernel: one program for each core that takes part.
///
/// # Errors
/// Reported to `diags`: ops without a declaration, or ops that cannot run where they are.
pub fn decode(
    module: &Module,
    kernel: &Kernel,
    platform: &Platform,
    mode: Decoding,
    diags: &mut Diags,
) -> Result<Decoded, Reported> {
    let before = diags.list.len();
    if kernel.mixed && mode == Decoding::Device {
        diags.push(not_expanded(module, kernel));
        return Err(Reported);
    }
    let rings = RingPlan::new(module, kernel, platform, mode, diags)?;
    let mut shared = Shared::default();
    for space in Space::NAMED {
        shared.local_bytes[space as usize] = platform.space(space).map_or(0, |s| s.bytes);
    }
    shared.sites.add("", Span::default(), "");
    let mut program = Program {
        name: kernel.name.clone(),
        params: kernel.params.clone(),
        rings: rings.decls(),
        whole_cluster: kernel.mixed,
        words: names::WORDS,
        ..Program::default()
    };
    let mut failed = false;
    let roles = kernel.roles().take(if kernel.mixed { 1 } else { Role::ALL.len() });
    for role in roles {
        let Some(start) = kernel.start[role.index()] else { continue };
        let mut decoder = Decoder {
            module,
            platform,
            mode,
            role,
            rings: &rings,
            core_rings: CoreRings::default(),
            kernel,
            builder: CoreBuilder::new(role),
            function: None,
            launch: None,
            shared: &mut shared,
            registers: Registers::default(),
            cluster: kernel.mixed.then(|| Cluster::new(kernel.lanes())),
            bindings: vec![None; module.value_count()],
            yielded: Vec::new(),
            calls: Vec::new(),
            written_out: 0,
            current: ("", Span::default()),
            masks: None,
            diags: &mut *diags,
        };
        failed |= decoder.start(start).is_err();
        program.cores.push(decoder.builder.finish());
    }
    if failed || diags.list[before..].iter().any(|d| d.severity == slipring_ir::Severity::Error) {
        return Err(Reported);
    }
    program.syncs = shared.syncs.decls;
    program.sites = shared.sites.0;
    Ok(Decoded { program, local_bytes: shared.local_bytes })
}

impl Decoder<'_> {
    /// True for a tile that is only used as a mask between ops of the kernel; `find` lists all of them and is called
    /// once.
    pub fn is_mask(&mut self, tile: ValueId, find: fn(&Module) -> BTreeSet<ValueId>) -> bool {
        let module = self.module;
        self.masks.get_or_insert_with(|| find(module)).contains(&tile)
    }

    fn start(&mut self, function: OpId) -> Lowered {
        let Some(body) = self.module.body(function, 0) else { return Ok(()) };
        if let Some(error) = super::kernel::not_launched(self.module, self.kernel) {
            return Err(self.report(error));
        }
        let given = self.kernel.args[self.role.index()].clone();
        let args = self.module.block(body).args.clone();
        for (arg, which) in args.iter().zip(given) {
            let value = match which {
                Special::Param(_) => {
                    let d = self.fresh();
                    self.emit(Inst::Special { d, which });
                    Operand::Reg(d)
                }
                which => self.special(which),
            };
            let binding = self.bind_param(*arg, value);
            self.bind(*arg, binding);
            if let (Special::SubblockIdx, Some(cluster)) = (which, &mut self.cluster) {
                cluster.bind_second(*arg, Binding::Scalar(Operand::Imm(1)));
            }
        }
        self.calls.push(function);
        self.block(body)?;
        self.calls.pop();
        crate::ring::finish(self);
        Ok(())
    }

    /// The binding of a kernel argument: memrefs are views at the buffer's address.
    fn bind_param(&mut self, arg: ValueId, value: Operand) -> Binding {
        super::memory::bind_argument(self, arg, value).unwrap_or(Binding::Scalar(value))
    }

    /// Decodes the ops of a block in order and returns what its terminator yielded.
    ///
    /// [`Reported`] if an op could not be decoded; the ops after it are still decoded, so that their errors are
    /// reported too.
    pub fn block(&mut self, block: BlockId) -> Result<Vec<Binding>, Reported> {
        self.yielded.clear();
        let mut outcome = Ok(());
        for &op in &self.module.block(block).ops {
            outcome = self.op(op).and(outcome);
        }
        outcome.map(|()| std::mem::take(&mut self.yielded))
    }

    fn op(&mut self, id: OpId) -> Lowered {
        let name = self.module.op(id).name.clone();
        let span = self.module.op(id).span;
        let Some(op) = OpRef::of(self.module, id) else {
            self.diags.push(
                Diagnostic::error("unknown-op", span, format!("`{name}` is not an op that slipring knows"))
                    .label("cannot be run"),
            );
            return Err(Reported);
        };
        if !self.belongs_here(&op) {
            self.diags.push(
                op.error("wrong-core", format!("`{name}` cannot run on {}", self.role))
                    .label(format!("is in the program of the {} core", self.role.kind().name()))
                    .help("put it into a function or `pto.section` of the other kind"),
            );
            return Err(Reported);
        }
        if let Some(error) = self.misplaced(&op) {
            self.diags.push(error);
            return Err(Reported);
        }
        let site = self.shared.sites.add(&name, span, "");
        let outer_site = self.builder.set_site(site);
        let outer = std::mem::replace(&mut self.current, (op.def.schema.name, span));
        let missing = op.module.op(id).operands.iter().any(|v| self.binding(*v).is_none());
        self.flags_inside(&op);
        let lanes = self.lanes_of(&op);
        let outcome = match (missing, lanes.is_empty()) {
            (true, _) => Err(Reported),
            (false, true) => (op.def.lower)(&op, self),
            (false, false) => self.on_lanes(lanes, |d, _| (op.def.lower)(&op, d)),
        };
        self.current = outer;
        self.builder.set_site(outer_site);
        outcome
    }

    /// True if this core can run the op, or if the op only names things.
    fn belongs_here(&self, op: &OpRef<'_>) -> bool {
        if matches!(op.def.pipe, PipeRule::None) || (self.cluster.is_some() && self.role == Role::Aic) {
            return true;
        }
        match op.def.core {
            CoreRule::Any => true,
            CoreRule::Cube | CoreRule::Vector | CoreRule::ByTile => {
                crate::affinity(op).is_none_or(|kind| kind == self.role.kind())
            }
        }
    }

    /// Decodes a call: the callee's body with these arguments. Functions of the other kind of core are skipped.
    pub fn call(&mut self, callee: OpId, args: Vec<Binding>) -> Result<Vec<Binding>, Reported> {
        if kernel_kind(self.module, callee).is_some_and(|kind| kind != self.role.kind()) {
            return Ok(Vec::new());
        }
        if self.calls.contains(&callee) || self.calls.len() >= MAX_CALL_DEPTH {
            let name = symbol_name(self.module, callee).to_string();
            self.error("recursion", format!("`@{name}` calls itself: a kernel has no stack"));
            return Err(Reported);
        }
        self.written_out += 1;
        if self.written_out > MOST_CALLS {
            let message = format!("the kernel comes to more than {MOST_CALLS} calls when each is written out");
            let error = self.error("too-many-calls", message);
            return Err(error);
        }
        let Some(body) = self.module.body(callee, 0) else {
            let name = symbol_name(self.module, callee).to_string();
            self.error("no-body", format!("`@{name}` is declared but has no body to run"));
            return Err(Reported);
        };
        for (arg, binding) in self.module.block(body).args.clone().iter().zip(args) {
            self.bind(*arg, binding);
        }
        self.calls.push(callee);
        let results = self.block(body);
        self.calls.pop();
        results
    }

    /// Sets the values that the block's terminator passes on.
    pub fn set_yield(&mut self, values: &[ValueId]) {
        self.yielded = values.iter().filter_map(|v| self.binding(*v).cloned()).collect();
    }

    // ---- instructions ----

    /// A register that nothing else uses.
    pub fn fresh(&mut self) -> Reg {
        self.builder.fresh()
    }

    /// Adds an instruction. Synchronisation inside a vector function is reported.
    pub fn emit(&mut self, inst: Inst) {
        if self.function.is_some() && matches!(inst, Inst::Set { .. } | Inst::Wait { .. } | Inst::Barrier { .. }) {
            let name = self.current.0;
            self.error("in-vecscope", format!("`{name}` synchronises pipes: it cannot be used in a vector function"));
            return;
        }
        if self.launch.is_some() && !(inst.is_own() || matches!(inst, Inst::Issue { .. })) {
            self.not_for_workitems();
            return;
        }
        self.builder.emit(inst);
    }

    /// Copies a value to a register of its own, so that it can be changed.
    pub fn variable(&mut self, value: Operand) -> Reg {
        let d = self.fresh();
        self.emit(Inst::Move { d, a: value });
        d
    }

    /// How many cores of these kinds this core represents at a barrier of the whole block, and how many arrive in
    /// total. A Vector core that runs nothing arrives with the other one; a program that represents all cores arrives
    /// for all.
    pub fn arrivals(&self, kinds: &[CoreKind]) -> (u32, u32) {
        let all = kinds.iter().map(|kind| self.kernel.cores(*kind)).sum();
        let kind = self.role.kind();
        let own = match (self.cluster.is_some(), kind) {
            (true, _) => all,
            _ if !kinds.contains(&kind) => 0,
            (_, CoreKind::Cube) => 1,
            (_, CoreKind::Vector) => self.kernel.cores(kind) / (self.kernel.lanes() as u32).max(1),
        };
        (own, all)
    }

    /// A value of the launch, in a register.
    pub fn special(&mut self, which: Special) -> Operand {
        match (&self.cluster, which) {
            (Some(_), Special::SubblockIdx) => return Operand::Imm(self.role.subblock().into()),
            (Some(cluster), Special::SubblockNum) => return Operand::Imm(cluster.lanes() as u64),
            _ => {}
        }
        let d = self.fresh();
        self.outer_builder().emit(Inst::Special { d, which });
        Operand::Reg(d)
    }

    /// Adds work for a pipe under the name of the op that is being decoded.
    pub fn issue(&mut self, pipe: Pipe, effect: impl Effect + 'static, args: Vec<Operand>, cost: impl Into<Price>) {
        if self.function.is_some() {
            self.issue_inside(pipe, Arc::new(effect), args, None);
            return;
        }
        if self.launch.is_some() {
            self.not_for_workitems();
            return;
        }
        let effect = self.on_this_core(effect);
        self.builder.work(pipe, self.current.0, effect, args, cost.into(), None);
    }

    /// Like [`Decoder::issue`], for work whose accesses are only known once it has run.
    pub fn issue_discovering(
        &mut self,
        pipe: Pipe,
        effect: impl Discover + 'static,
        args: Vec<Operand>,
        cost: impl Into<Price>,
    ) {
        if self.function.is_some() {
            self.out_of_reach(pipe);
            return;
        }
        if self.launch.is_some() {
            self.not_for_workitems();
            return;
        }
        let effect = match self.role == self.builder.role() {
            true => Action::discovering(effect),
            false => Action::discovering(OnCore { core: self.role, effect }),
        };
        self.builder.work(pipe, self.current.0, effect, args, cost.into(), None);
    }

    /// Like [`Decoder::issue`], for work that moves a tile into a ring (index in the program's rings).
    pub fn issue_into_ring(
        &mut self,
        pipe: Pipe,
        effect: impl Effect + 'static,
        args: Vec<Operand>,
        cost: impl Into<Price>,
        ring: u32,
    ) {
        self.issue(pipe, effect, args, cost);
        self.builder.fills(ring);
    }

    /// Adds work of the scalar unit whose value goes to a register.
    pub fn issue_scalar(&mut self, effect: impl Effect + 'static, args: Vec<Operand>) -> Operand {
        let d = self.fresh();
        if self.function.is_some() {
            self.issue_inside(Pipe::S, Arc::new(effect), args, Some(d));
            return Operand::Reg(d);
        }
        if self.launch.is_some() {
            self.not_for_workitems();
            return Operand::Reg(d);
        }
        let cost = Cost::fixed(self.platform.cost.scalar_memory);
        let effect = self.on_this_core(effect);
        self.builder.work(Pipe::S, self.current.0, effect, args, cost.into(), Some(d));
        Operand::Reg(d)
    }

    /// A label to place later.
    pub fn label(&mut self) -> Label {
        self.builder.label()
    }

    /// Places a label here.
    pub fn place(&mut self, label: Label) {
        self.builder.place(label);
    }

    /// Jumps to a label.
    pub fn jump(&mut self, label: Label) {
        self.builder.jump(label);
    }

    /// Jumps to a label if a value is 0.
    pub fn jump_if_zero(&mut self, a: Operand, label: Label) {
        self.builder.jump_if_zero(a, label);
    }

    /// If a value is 0, holds the core until memory may have changed, then jumps to a label.
    pub fn poll(&mut self, a: Operand, label: Label) {
        self.builder.poll(a, label);
    }

    /// Jumps to a label if `a >= b`, signed.
    pub fn jump_if_ge(&mut self, a: Operand, b: Operand, label: Label) {
        self.builder.jump_if_ge(a, b, label);
    }

    /// Describes the following instructions of this op for reports, such as `waits for a free slot`.
    pub fn note(&mut self, note: &'static str) {
        let (name, span) = self.current;
        let site = self.shared.sites.add(name, span, note);
        self.builder.set_site(site);
    }

    // ---- memory ----

    /// Memory for a ring of a reference run, private to the ring: every core that names the ring gets the same.
    pub fn ring_memory(&mut self, ring: u32, space: Space, bytes: u64) -> Operand {
        if let Some(base) = self.shared.ring_memory.get(&ring) {
            return *base;
        }
        let base = self.private(space, bytes);
        self.shared.ring_memory.insert(ring, base);
        base
    }

    /// A tile type with this platform's layout for L0A, whatever the text says.
    pub fn platform_tile(&self, mut ty: TileType) -> TileType {
        if ty.space == Space::Left {
            ty.layout.blayout = self.platform.left_blayout;
        }
        ty
    }

    /// Private memory for a reference run, beyond everything that has an address.
    pub fn private(&mut self, space: Space, bytes: u64) -> Operand {
        let end = &mut self.shared.local_bytes[space as usize];
        let start = end.next_multiple_of(512);
        *end = start + bytes;
        Operand::Imm(start)
    }

    // ---- errors ----

    /// Reports an error at the op that is being decoded.
    pub fn error(&mut self, kind: impl Into<Kind>, message: impl Into<String>) -> Reported {
        let span = self.current.1;
        self.diags.push(Diagnostic::error(kind, span, message));
        Reported
    }

    /// Reports a diagnostic.
    pub fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        self.diags.push(diagnostic);
        Reported
    }

    /// Reports that the op, or this form of it, can be parsed but not run yet.
    pub fn unsupported(&mut self, what: &str) -> Reported {
        let name = self.current.0;
        self.error(slipring_ir::Kind::Unsupported, format!("`{name}`: {what} cannot be run yet"))
    }
}
