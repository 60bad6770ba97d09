//! Hand-made programs for tests.
#![allow(dead_code, missing_docs)]

pub mod random;

use slipring_machine::{Cost, Pipe, Platform, Role, Units, built_in};
use slipring_program::*;
use slipring_sim::{ArgValue, ExecutionMode, Launch, Observer, RunResult, run};
use slipring_tile::Space;

/// A memory, by space and owner.
pub type Place = (Space, Role);
pub const GM: Place = (Space::Gm, Role::Aic);
pub const UB0: Place = (Space::Vec, Role::Aiv0);
pub const UB1: Place = (Space::Vec, Role::Aiv1);
pub const L1: Place = (Space::Mat, Role::Aic);

/// Copies `args[2]` bytes from address `args[0]` to `args[1]`.
#[derive(Debug)]
pub struct Copy {
    pub from: Place,
    pub to: Place,
}

impl Effect for Copy {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        access.reads.push(Extent::run(self.from.0, self.from.1, args[0], args[2] as u32));
        access.writes.push(Extent::run(self.to.0, self.to.1, args[1], args[2] as u32));
        access.units = Units::of(args[2]);
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let len = args[2] as usize;
        let row = &mut scratch.bytes[0];
        row.clear();
        row.extend_from_slice(memory.bytes(env, self.from.1, self.from.0, args[0], len));
        memory.bytes_mut(env, self.to.1, self.to.0, args[1], len).copy_from_slice(row);
        Ok(0)
    }
}

/// `to[i] = 31·to[i] + from[i] + 1` for `args[2]` bytes: depends on the order of executions.
#[derive(Debug)]
pub struct Mix {
    pub from: Place,
    pub to: Place,
}

impl Effect for Mix {
    fn plan(&self, args: &[u64], env: Env, access: &mut Access) -> Result<(), Fault> {
        Copy { from: self.from, to: self.to }.plan(args, env, access)?;
        access.reads.push(access.writes[0]);
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, .. }: Run<'_>) -> Result<u64, Fault> {
        for i in 0..args[2] {
            let from = memory.bytes(env, self.from.1, self.from.0, args[0] + i, 1)[0];
            let to = &mut memory.bytes_mut(env, self.to.1, self.to.0, args[1] + i, 1)[0];
            *to = to.wrapping_mul(31).wrapping_add(from).wrapping_add(1);
        }
        Ok(0)
    }
}

/// Stores the low 8 bytes of `args[1]` at `args[0]` (if there are two operands), and returns the previous 8 bytes.
#[derive(Debug)]
pub struct Scalar8(pub Place);

impl Effect for Scalar8 {
    fn decides(&self, index: usize) -> bool {
        index == 0
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let range = Extent::run(self.0.0, self.0.1, args[0], 8);
        if args.len() > 1 {
            access.writes.push(range)
        } else {
            access.reads.push(range)
        }
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, .. }: Run<'_>) -> Result<u64, Fault> {
        let bytes = memory.bytes_mut(env, self.0.1, self.0.0, args[0], 8);
        let old = u64::from_le_bytes(bytes.try_into().unwrap());
        if let Some(value) = args.get(1) {
            bytes.copy_from_slice(&value.to_le_bytes());
        }
        Ok(old)
    }
}

/// Always fails.
#[derive(Debug)]
pub struct Refuse;

impl Effect for Refuse {
    fn plan(&self, _: &[u64], _: Env, _: &mut Access) -> Result<(), Fault> {
        Err(Fault::new("tile-shape", "a valid shape of 9 rows in a tile of 8"))
    }

    fn run(&self, _: &[u64], _: Run<'_>) -> Result<u64, Fault> {
        Ok(0)
    }
}

/// A program under construction.
#[derive(Default)]
pub struct Build {
    pub program: Program,
}

/// A sequence of objects.
pub type Sync = SyncRef;

/// An object of a sequence.
pub fn nth(sync: Sync, index: Operand) -> Sync {
    SyncRef { index, ..sync }
}

pub fn imm(v: u64) -> Operand {
    Operand::Imm(v)
}

/// A ring of `slots` slots of `bytes` bytes: its objects and its memory.
#[derive(Clone, Copy)]
pub struct Ring {
    pub ready: Sync,
    pub free: Sync,
    pub slots: u32,
    pub bytes: u32,
    pub place: Place,
    pub base: u64,
    pub producer: (Role, Pipe),
    pub consumer: (Role, Pipe),
}

impl Build {
    pub fn sync(&mut self, name: &str, role: SyncRole, setter: Role, waiter: Role, max: u32, last: u32) -> Sync {
        let first = self.program.syncs.len() as u32;
        self.program.syncs.push(SyncDecl {
            name: name.into(),
            role,
            setter,
            waiter,
            max,
            saturates: false,
            final_count: last,
            returned: 0,
        });
        SyncRef { first, count: 1, index: imm(0) }
    }

    pub fn event(&mut self, core: Role, from: Pipe, to: Pipe, id: u32) -> Sync {
        let name = format!("flag {from}→{to} id {id} of {core}");
        self.sync(&name, SyncRole::Event { from, to, id }, core, core, 1, 0)
    }

    pub fn semaphore(&mut self, from: Role, to: Role, id: u32) -> Sync {
        self.sync(&format!("semaphore {id} {from}→{to}"), SyncRole::Semaphore { id }, from, to, 15, 0)
    }

    pub fn token(&mut self, core: Role, id: u32) -> Sync {
        self.sync(&format!("buffer token {id} of {core}"), SyncRole::Token { id }, core, core, 1, 0)
    }

    /// A ring with one ready and one free flag per slot.
    pub fn ring(
        &mut self,
        producer: (Role, Pipe),
        consumer: (Role, Pipe),
        slots: u32,
        bytes: u32,
        place: Place,
        base: u64,
    ) -> Ring {
        let ring = self.program.rings.len() as u32;
        let direction = if producer.0 == Role::Aic { Direction::C2V } else { Direction::V2C };
        let lane = if producer.0 == Role::Aic { consumer.0 } else { producer.0 };
        let name = format!("ring{ring}");
        let run = |build: &mut Build, what: &str, of: fn(u32, u32) -> SyncRole, setter, waiter, last| {
            let first = build.program.syncs.len() as u32;
            for slot in 0..slots {
                build.sync(
                    &format!("{what} flag of slot {slot} of ring `{name}`"),
                    of(ring, slot),
                    setter,
                    waiter,
                    1,
                    last,
                );
            }
            SyncRef { first, count: slots, index: imm(0) }
        };
        let ready = run(self, "ready", |ring, slot| SyncRole::RingReady { ring, slot }, producer.0, consumer.0, 0);
        let free = run(self, "free", |ring, slot| SyncRole::RingFree { ring, slot }, consumer.0, producer.0, 1);
        self.program.rings.push(RingDecl {
            base: None,
            sparse: false,
            undivided: false,
            from_rows: false,
            name: name.as_str().into(),
            direction,
            lane,
            slots,
            slot_bytes: bytes,
            space: place.0,
            counted: false,
            period: 1,
            credits: slots,
        });
        Ring { ready, free, slots, bytes, place, base, producer, consumer }
    }

    /// Adds a core's program, which `code` writes; the end is added automatically.
    pub fn core(&mut self, role: Role, code: impl FnOnce(&mut Code<'_>)) {
        let core = CoreProgram { role, insts: vec![], inst_sites: vec![], works: vec![], regs: 0 };
        let mut text = Code { core, sites: &mut self.program.sites, op: "op" };
        code(&mut text);
        text.emit(Inst::End);
        let core = text.core;
        self.program.cores.push(core);
    }

    /// The op of a site, for assertions.
    pub fn op(&self, site: SiteRef) -> &str {
        &self.program.sites[site as usize].op
    }

    pub fn buffer_param(&mut self, name: &str) {
        let kind = ParamKind::Buffer { elem: slipring_tile::Elem::U8, bytes: None };
        self.program.params.push(Param { name: name.into(), kind });
    }
}

/// The instructions of a core.
pub struct Code<'a> {
    pub core: CoreProgram,
    sites: &'a mut Vec<Site>,
    op: &'static str,
}

impl Code<'_> {
    /// Sets the name of the op from which the following instructions come.
    pub fn op(&mut self, op: &'static str) -> &mut Self {
        self.op = op;
        self
    }

    pub fn emit(&mut self, inst: Inst) -> usize {
        let at = self.sites.len() as u32;
        self.sites.push(Site { op: self.op.into(), span: (at, at + 1), note: "" });
        self.core.insts.push(inst);
        self.core.inst_sites.push(at);
        self.core.insts.len() - 1
    }

    pub fn reg(&mut self) -> Reg {
        self.core.regs += 1;
        Reg(self.core.regs - 1)
    }

    /// A register with a value.
    pub fn mov(&mut self, a: Operand) -> Reg {
        let d = self.reg();
        self.emit(Inst::Move { d, a });
        d
    }

    pub fn calc(&mut self, f: ScalarFn, a: Operand, b: Operand) -> Operand {
        let d = self.reg();
        self.emit(Inst::Scalar { f, law: slipring_program::Law::Unknown, d, args: [a, b, imm(0)] });
        Operand::Reg(d)
    }

    pub fn special(&mut self, which: Special) -> Operand {
        let d = self.reg();
        self.emit(Inst::Special { d, which });
        Operand::Reg(d)
    }

    pub fn work(
        &mut self,
        pipe: Pipe,
        name: &'static str,
        effect: impl Effect + 'static,
        args: &[Operand],
        cost: Cost,
    ) {
        self.issue(Work {
            pipe,
            name,
            effect: Action::planned(effect),
            args: args.into(),
            cost: cost.into(),
            result: None,
            fills: None,
        });
    }

    pub fn issue(&mut self, work: Work) {
        self.core.works.push(work);
        let work = self.core.works.len() as u32 - 1;
        self.emit(Inst::Issue { work });
    }

    pub fn copy(&mut self, pipe: Pipe, from: (Place, Operand), to: (Place, Operand), bytes: u64) {
        let effect = Copy { from: from.0, to: to.0 };
        self.work(pipe, "copy", effect, &[from.1, to.1, imm(bytes)], Cost { fixed: 10, num: 1, den: 64 });
    }

    pub fn mix(&mut self, pipe: Pipe, from: (Place, Operand), to: (Place, Operand), bytes: u64) {
        let effect = Mix { from: from.0, to: to.0 };
        self.work(pipe, "mix", effect, &[from.1, to.1, imm(bytes)], Cost { fixed: 20, num: 1, den: 64 });
    }

    /// Stores 8 bytes from the scalar unit.
    pub fn store(&mut self, to: (Place, Operand), value: Operand) {
        self.work(Pipe::S, "store", Scalar8(to.0), &[to.1, value], Cost::fixed(0));
    }

    /// Loads 8 bytes to the scalar unit.
    pub fn load(&mut self, from: (Place, Operand)) -> Operand {
        let d = self.reg();
        let effect = Action::planned(Scalar8(from.0));
        self.issue(Work {
            pipe: Pipe::S,
            name: "load",
            effect,
            args: [from.1].into(),
            cost: Cost::fixed(0).into(),
            result: Some(d),
            fills: None,
        });
        Operand::Reg(d)
    }

    pub fn set(&mut self, pipe: Pipe, sync: Sync) {
        self.emit(Inst::Set { pipe, sync });
    }

    /// Acquires a token, mode 0.
    pub fn acquire(&mut self, pipe: Pipe, token: Sync) {
        self.emit(Inst::Acquire { pipe, token, waits: true });
    }

    /// Releases a token, mode 0.
    pub fn release(&mut self, pipe: Pipe, token: Sync) {
        self.emit(Inst::Release { pipe, token, deferred: false });
    }

    pub fn wait(&mut self, pipe: Pipe, sync: Sync) {
        self.emit(Inst::Wait { pipe, sync });
    }

    pub fn barrier(&mut self, pipe: Option<Pipe>) {
        self.emit(Inst::Barrier { pipe });
    }

    /// `for i in 0..n`.
    pub fn repeat(&mut self, n: Operand, body: impl FnOnce(&mut Self, Operand)) {
        let i = self.mov(imm(0));
        let head = self.emit(Inst::JumpIfGe { a: Operand::Reg(i), b: n, to: 0 });
        body(self, Operand::Reg(i));
        self.emit(Inst::Add { d: i, a: Operand::Reg(i), b: imm(1) });
        self.emit(Inst::Jump { to: head as u32 });
        let exit = self.core.insts.len() as u32;
        if let Inst::JumpIfGe { to, .. } = &mut self.core.insts[head] {
            *to = exit;
        }
    }

    /// The consumer declares all slots free.
    pub fn initialize(&mut self, ring: &Ring) {
        self.op("initialize_pipe");
        for slot in 0..ring.slots {
            self.set(Pipe::S, nth(ring.free, imm(slot.into())));
        }
    }

    fn slot(&mut self, ring: &Ring, i: Operand) -> (Operand, Operand) {
        let tag = self.calc(|[a, b, _]| Ok(a % b), i, imm(ring.slots.into()));
        let offset = self.calc(|[a, b, _]| Ok(a * b), tag, imm(ring.bytes.into()));
        (tag, self.plus(offset, ring.base))
    }

    /// `a + b`, in a new register.
    pub fn plus(&mut self, a: Operand, b: u64) -> Operand {
        let d = self.reg();
        self.emit(Inst::Add { d, a, b: imm(b) });
        Operand::Reg(d)
    }

    /// Pushes tile `i` of the core, with its bytes at `from`.
    pub fn push(&mut self, ring: &Ring, i: Operand, from: (Place, Operand)) {
        self.op("tpush");
        let (tag, slot) = self.slot(ring, i);
        let pipe = ring.producer.1;
        self.wait(pipe, nth(ring.free, tag));
        self.copy(pipe, from, (ring.place, slot), ring.bytes.into());
        self.set(pipe, nth(ring.ready, tag));
    }

    /// Pops tile `i` and copies it to `to`.
    pub fn pop(&mut self, ring: &Ring, i: Operand, to: (Place, Operand)) {
        self.op("tpop");
        let (tag, slot) = self.slot(ring, i);
        let pipe = ring.consumer.1;
        self.wait(pipe, nth(ring.ready, tag));
        self.copy(pipe, (ring.place, slot), to, ring.bytes.into());
    }

    /// Frees the slot of tile `i`.
    pub fn free(&mut self, ring: &Ring, i: Operand) {
        self.op("tfree");
        let (tag, _) = self.slot(ring, i);
        self.set(ring.consumer.1, nth(ring.free, tag));
    }
}

pub fn a5() -> Platform {
    built_in("a5").unwrap()
}

/// A buffer of `bytes` bytes counting up.
pub fn buffer(name: &str, bytes: usize) -> GmBuffer {
    GmBuffer { name: name.into(), data: (0..bytes).map(|i| (i % 251) as u8).collect() }
}

pub fn zeros(name: &str, bytes: usize) -> GmBuffer {
    GmBuffer { name: name.into(), data: vec![0; bytes] }
}

pub fn memory(platform: &Platform, clusters: u32, buffers: Vec<GmBuffer>) -> Memory {
    let mut memory = Memory::new(platform, clusters);
    memory.gm = buffers;
    memory
}

/// Runs one block with the buffers as arguments.
pub fn go(build: &Build, platform: &Platform, buffers: Vec<GmBuffer>) -> RunResult {
    go_with(build, platform, buffers, ExecutionMode::Pipes, &mut ())
}

pub fn go_with(
    build: &Build,
    platform: &Platform,
    buffers: Vec<GmBuffer>,
    mode: ExecutionMode,
    observer: &mut impl Observer,
) -> RunResult {
    let args = (0..buffers.len()).map(ArgValue::Buffer).collect();
    let launch = Launch::new(&build.program, platform, 1, args).mode(mode);
    run(&launch, memory(platform, 1, buffers), observer)
}

/// Codes of the findings.
pub fn codes(result: &RunResult) -> Vec<&'static str> {
    result.findings.iter().map(|f| f.code).collect()
}
