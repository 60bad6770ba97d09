//! Writing the steps of rings into a module.

use super::decide::users;
use slipring_ir::{AttrDict, BlockId, Dim, Module, OpId, Span, TileType, Type, ValueId, ViewType};
use slipring_machine::{CoreKind, Pipe, Platform};
use slipring_micro::CASTPTR;
use slipring_mlir::arith::{self, Relation};
use slipring_mlir::scf;
use slipring_op::function::set_both_lanes;
use slipring_op::ring::{Protocol, Split, ring_tile};
use slipring_op::{Kernel, OpDef, OpRef};
use slipring_program::Direction;
use slipring_pto as pto;
use slipring_tile::Elem;
use smallvec::ToSmallVec;

use crate::analysis::facts::terminator;
use crate::rings::lower_rings::work::{Act, Base, Counter, End, RingStep, Work};

/// A constant, or a value of the text.
#[derive(Clone, Copy)]
enum Number {
    Known(u64),
    Value(ValueId),
}

/// Expands everything.
pub fn write(module: &mut Module, kernel: &Kernel, work: &Work, platform: &Platform) {
    let Some(&first) = work.inits.first() else { return };
    let mut writer = Writer { module, platform, constants: Vec::new(), at: first, span: Span::default() };
    let mut arrays: Vec<(usize, Counter, ValueId)> = Vec::new();
    for (at, end) in work.ends.iter().enumerate() {
        writer.stand(end.init);
        for counter in &end.tags.kept {
            let array = writer.array(end, *counter);
            arrays.push((at, *counter, array));
        }
        writer.begin(end);
    }
    let arrays = |end: usize, counter: Counter| {
        arrays.iter().find(|(at, own, _)| (*at, *own) == (end, counter)).map(|(.., array)| *array)
    };
    for step in &work.steps {
        let end = &work.ends[step.end];
        let mut core = Core { writer: &mut writer, end, step, arrays: &|counter| arrays(step.end, counter) };
        core.write();
    }
    for end in &work.ends {
        writer.finish(end);
    }
    let declared: Vec<ValueId> =
        work.steps.iter().filter_map(|step| ring_tile(&OpRef::of(writer.module, step.op)?)).collect();
    let module = writer.module;
    for op in work.steps.iter().map(|step| step.op).chain(work.inits.iter().copied()) {
        module.remove(op);
    }
    for tile in declared {
        let named = module.defining_op(tile).filter(|op| module.op(*op).is(&pto::DECLARE_TILE.schema));
        if let Some(op) = named.filter(|op| module.op(*op).block.is_some())
            && users(module, tile).is_empty()
        {
            module.remove(op);
        }
    }
    let vector =
        work.ends.iter().find(|end| end.kind == CoreKind::Vector).and_then(|end| module.block_parent(end.body));
    if let Some(function) = vector.filter(|_| kernel.start[0].is_some()) {
        set_both_lanes(module, function, work.both_lanes);
    }
}

struct Writer<'m> {
    module: &'m mut Module,
    platform: &'m Platform,
    /// Constants at the head of a body.
    constants: Vec<(BlockId, i64, Type, ValueId)>,
    /// New ops are inserted before this op.
    at: OpId,
    span: Span,
}

impl Writer<'_> {
    fn stand(&mut self, at: OpId) {
        (self.at, self.span) = (at, self.module.op(at).span);
    }

    fn put(&mut self, op: OpId) {
        self.module.insert_before(self.at, op);
    }

    fn value(&mut self, op: OpId, name: &str) -> ValueId {
        self.put(op);
        let value = self.module.op(op).results[0];
        self.module.value_mut(value).name = Some(name.into());
        value
    }

    fn make(&mut self, def: &'static OpDef, name: &str, operands: &[(&str, &[ValueId])], ty: Type) -> ValueId {
        let op = def.make(self.module, operands, AttrDict::default(), &[ty], self.span);
        self.value(op, name)
    }

    fn binary(&mut self, def: &'static OpDef, name: &str, a: ValueId, b: ValueId) -> ValueId {
        let op = arith::binary(self.module, def, [a, b], self.span);
        self.value(op, name)
    }

    /// A constant, at the head of the function.
    fn constant(&mut self, number: u64, ty: &Type) -> ValueId {
        let number = number as i64;
        let Some(body) = self.module.function_of(self.at).and_then(|f| self.module.body(f, 0)) else {
            unreachable!("ops of rings stand in functions")
        };
        let same = |(block, n, own, _): &&(BlockId, i64, Type, ValueId)| (*block, *n, own) == (body, number, ty);
        if let Some((.., value)) = self.constants.iter().find(same) {
            return *value;
        }
        let at = self.constants.iter().filter(|(block, ..)| *block == body).count();
        let op = arith::constant(self.module, number, ty.clone(), self.span);
        self.module.insert(body, at, op);
        let value = self.module.op(op).results[0];
        let suffix = match ty {
            Type::Index => String::new(),
            other => format!("_{other}"),
        };
        self.module.value_mut(value).name = Some(format!("n{number}{suffix}").into());
        self.constants.push((body, number, ty.clone(), value));
        value
    }

    fn number(&mut self, number: Number, ty: &Type) -> ValueId {
        match number {
            Number::Known(n) => self.constant(n, ty),
            Number::Value(value) => value,
        }
    }

    /// An array of one element that counts from 0.
    fn array(&mut self, end: &End, counter: Counter) -> ValueId {
        let does = match counter {
            Counter::Taken if end.produces() => "pushed",
            Counter::Taken => "popped",
            Counter::Freed => "freed",
            Counter::Landed => "landed",
        };
        let name = format!("{}_{does}", end.ring.direction.name().to_lowercase());
        let array = self.make(&pto::DECLARE_LOCAL_ARRAY, &name, &[], array_type());
        let zero = self.constant(0, &Type::I32);
        self.store(array, zero);
        array
    }

    fn store(&mut self, array: ValueId, value: ValueId) {
        let first = self.constant(0, &Type::Index);
        let operands: [(&str, &[ValueId]); 3] = [("array", &[array]), ("indices", &[first]), ("value", &[value])];
        let op = pto::LOCAL_ARRAY_SET.make(self.module, &operands, AttrDict::default(), &[], self.span);
        self.put(op);
    }

    /// The ids of a semaphore, as seen from this end for each lane.
    fn ids(&self, end: &End, first: u32) -> Vec<u32> {
        if end.kind == CoreKind::Vector || self.platform.sync.broadcast_reduce {
            return vec![first];
        }
        end.ring.lanes().map(|lane| first + lane as u32 * self.platform.sync.subblock_offset).collect()
    }

    /// Signals or waits with the flags of a slot, or with the ring's counter.
    fn signal(&mut self, end: &End, pipe: Pipe, waits: bool, free: bool, slot: Number) {
        let (first, slot) = match end.ring.protocol {
            Protocol::Tagged(first) => (first, slot),
            Protocol::Counted(flags) => (if free { flags.free } else { flags.ready }, Number::Known(0)),
        };
        for id in self.ids(end, first) {
            let op = match slot {
                Number::Known(slot) => {
                    let id = i64::from(id) + slot as i64;
                    if waits {
                        pto::sync_wait(self.module, pipe, id, self.span)
                    } else {
                        pto::sync_set(self.module, pipe, id, self.span)
                    }
                }
                Number::Value(tag) => {
                    let mut semaphore = tag;
                    if id > 0 {
                        let first = self.constant(id.into(), &Type::I32);
                        semaphore = self.binary(&arith::ADDI, "flag", first, tag);
                    }
                    if waits {
                        pto::sync_wait_by(self.module, pipe, semaphore, self.span)
                    } else {
                        pto::sync_set_by(self.module, pipe, semaphore, self.span)
                    }
                }
            };
            self.put(op);
        }
    }

    /// The free signals of an unused ring: those of its slots, or as many of its counter.
    fn all_free(&mut self, end: &End, pipe: Pipe, waits: bool) {
        for slot in 0..end.ring.credits {
            self.signal(end, pipe, waits, true, Number::Known(slot.into()));
        }
    }

    /// The initial actions of the consumer.
    fn begin(&mut self, end: &End) {
        if !end.produces() {
            self.all_free(end, Pipe::S, false);
        }
    }

    /// The final actions of the producer: every signal has its wait.
    fn finish(&mut self, end: &End) {
        let Some(last) = terminator(self.module, end.body) else { return };
        if end.produces() {
            self.stand(last);
            self.all_free(end, end.ring.phases.allocate, true);
        }
    }

    /// The sum of a value and a number of its type.
    fn plus(&mut self, value: ValueId, number: Number, name: &str) -> ValueId {
        if let Number::Known(0) = number {
            return value;
        }
        let ty = self.module.ty(value).clone();
        let number = self.number(number, &ty);
        self.binary(&arith::ADDI, name, value, number)
    }

    /// A tag times a constant, converted to a type.
    fn times(&mut self, tag: Number, by: u64, ty: &Type) -> Number {
        match tag {
            Number::Known(tag) => Number::Known(tag * by),
            Number::Value(tag) => {
                let tag = match ty {
                    Type::Index => self.make(&arith::INDEX_CAST, "tag", &[("in", &[tag])], Type::Index),
                    ty if *ty == Type::I64 => self.make(&arith::EXTSI, "tag", &[("in", &[tag])], Type::I64),
                    _ => tag,
                };
                let by = self.constant(by, ty);
                Number::Value(self.binary(&arith::MULI, "offset", tag, by))
            }
        }
    }

    fn lane(&mut self) -> ValueId {
        self.make(&pto::GET_SUBBLOCK_IDX, "lane", &[], Type::I64)
    }

    fn declare(&mut self, name: &str, ty: TileType, address: ValueId, valid: [Option<ValueId>; 2]) -> ValueId {
        let operands: [(&str, &[ValueId]); 3] =
            [("addr", &[address]), ("valid_row", valid[0].as_slice()), ("valid_col", valid[1].as_slice())];
        self.make(&pto::ALLOC_TILE, name, &operands, Type::Tile(ty))
    }

    fn transfer(&mut self, def: &'static OpDef, from: ValueId, to: ValueId, attrs: impl Into<AttrDict>) {
        let op = def.make(self.module, &[("src", &[from]), ("dst", &[to])], attrs, &[], self.span);
        self.put(op);
    }
}

fn array_type() -> Type {
    Type::named("pto.local_array<1xi32>")
}

/// A step, with its position.
struct Core<'w, 'm> {
    writer: &'w mut Writer<'m>,
    end: &'w End,
    step: &'w RingStep,
    arrays: &'w dyn Fn(Counter) -> Option<ValueId>,
}

impl Core<'_, '_> {
    fn write(&mut self) {
        self.writer.stand(self.step.op);
        match self.step.act {
            Act::Push => self.push(),
            Act::Pop { frees } => {
                self.pop();
                if frees {
                    self.free();
                }
            }
            Act::Free => self.free(),
            Act::Nothing => {}
        }
    }

    /// The slot of this op, from a counter modulo `of`.
    fn tag(&mut self, counter: Counter, of: u32) -> Number {
        if let Some(before) = self.end.tags.before(counter, self.step.op) {
            return Number::Known(before % u64::from(of));
        }
        let Some(array) = (self.arrays)(counter) else { return Number::Known(0) };
        let first = self.writer.constant(0, &Type::Index);
        let operands: [(&str, &[ValueId]); 2] = [("array", &[array]), ("indices", &[first])];
        Number::Value(self.writer.make(&pto::LOCAL_ARRAY_GET, "tag", &operands, Type::I32))
    }

    /// `(tag + 1) % of`.
    fn advance(&mut self, counter: Counter, tag: Number, of: u32) {
        let (Number::Value(tag), Some(array)) = (tag, (self.arrays)(counter)) else { return };
        let (one, of) = (self.writer.constant(1, &Type::I32), self.writer.constant(of.into(), &Type::I32));
        let next = self.writer.binary(&arith::ADDI, "next", tag, one);
        let next = self.writer.binary(&arith::REMSI, "next", next, of);
        self.writer.store(array, next);
    }

    fn free(&mut self) {
        let (end, slots) = (self.end, self.end.ring.slots);
        let tag = if end.ring.protocol.is_tagged() { self.tag(Counter::Freed, slots) } else { Number::Known(0) };
        self.writer.signal(end, end.ring.phases.free, false, true, tag);
        self.advance(Counter::Freed, tag, slots);
    }

    /// The address of a slot in a local memory.
    fn address(&mut self, base: ValueId, tag: Number) -> ValueId {
        let ty = self.writer.module.ty(base).clone();
        let offset = self.writer.times(tag, self.end.ring.slot_bytes.into(), &ty);
        self.writer.plus(base, offset, "slot")
    }

    fn push(&mut self) {
        let end = self.end;
        let op = OpRef::of(self.writer.module, self.step.op);
        let Some(source) = op.and_then(|op| ring_tile(&op)) else { return };
        let Some(pushed) = self.writer.module.ty(source).as_tile().copied() else { return };
        let tag = self.tag(Counter::Taken, end.ring.slots);
        self.writer.signal(end, end.ring.phases.allocate, true, true, tag);
        match end.base {
            Base::Local(base) => self.move_to(source, &pushed, base, tag),
            Base::Gm { pointer, bytes } => self.store(source, &pushed, pointer, bytes, tag),
        }
        self.writer.signal(end, end.ring.phases.record, false, false, tag);
        self.advance(Counter::Taken, tag, end.ring.slots);
    }

    /// Runs `body` on lane 0 alone, if both lanes hold the tile.
    fn by_one_lane(&mut self, body: impl FnOnce(&mut Self)) {
        let ring = &self.end.ring;
        if self.step.split != Split::None || ring.lanes != [true, true] || self.end.kind == CoreKind::Cube {
            return body(self);
        }
        let span = self.writer.span;
        let lane = self.writer.lane();
        let zero = self.writer.constant(0, &Type::I64);
        let first = arith::compare(self.writer.module, Relation::Equal, [lane, zero], span);
        let first = self.writer.value(first, "first_lane");
        let branch = scf::IF.make(self.writer.module, &[("condition", &[first])], AttrDict::default(), &[], span);
        self.writer.put(branch);
        let region = self.writer.module.add_region(branch);
        let block = self.writer.module.add_block(region);
        let ends = scf::YIELD.make(self.writer.module, &[], AttrDict::default(), &[], span);
        self.writer.module.append(block, ends);
        // Without an `else` its region is empty.
        self.writer.module.add_region(branch);
        let outside = std::mem::replace(&mut self.writer.at, ends);
        body(self);
        self.writer.at = outside;
    }

    /// A push into slots on chip.
    fn move_to(&mut self, source: ValueId, pushed: &TileType, base: ValueId, tag: Number) {
        let (end, split) = (self.end, self.step.split);
        let slot = end.ring.slot_tile(split, pushed);
        if end.ring.direction == Direction::C2V {
            let address = self.address(base, tag);
            let tile = self.writer.declare("slot_tile", slot, address, [None; 2]);
            let ways = match split.axis() {
                Some(axis) => vec![pto::to_vector(None, Some(axis))],
                None => end.ring.lanes().map(|lane| pto::to_vector(Some(lane), None)).collect(),
            };
            for way in ways {
                self.writer.transfer(&pto::TMOV, source, tile, [way]);
            }
            return;
        }
        self.by_one_lane(|core| {
            let address = core.address(base, tag);
            let tile = core.writer.declare("slot_tile", slot, address, [None; 2]);
            let Some(axis) = split.axis() else {
                return core.writer.transfer(&pto::TMOV, source, tile, AttrDict::default());
            };
            let own = pushed.valid[axis].known().unwrap_or(0);
            let [row, col] = core.corner(axis, own, &Type::I64);
            let operands: [(&str, &[ValueId]); 4] =
                [("src", &[source]), ("row", &[row]), ("col", &[col]), ("dst", &[tile])];
            let op = pto::TINSERT.make(core.writer.module, &operands, AttrDict::default(), &[], core.writer.span);
            core.writer.put(op);
        });
    }

    /// Row and column at which this lane's half begins: `own` after the other lane's along the divided axis.
    fn corner(&mut self, axis: usize, own: u64, ty: &Type) -> [ValueId; 2] {
        let zero = self.writer.constant(0, ty);
        let lane = self.writer.lane();
        let lane = match ty {
            Type::Index => self.writer.make(&arith::INDEX_CAST, "lane", &[("in", &[lane])], Type::Index),
            _ => lane,
        };
        let own = self.writer.constant(own, ty);
        let first = self.writer.binary(&arith::MULI, "first", lane, own);
        if axis == 0 { [first, zero] } else { [zero, first] }
    }

    /// The window of a slot in global memory that holds a tile of this end; `elem` is the element type of the slot.
    fn window(&mut self, own: &TileType, elem: Elem, (pointer, bytes): (ValueId, u64), tag: Number) -> ValueId {
        let (end, split) = (self.end, self.step.split);
        let ty = Type::Ptr(elem, None);
        let typed = match self.writer.module.ty(pointer).elem() == Some(elem) {
            true => pointer,
            false => self.writer.make(&CASTPTR, "slots", &[("address", &[pointer])], ty.clone()),
        };
        let size = elem.bytes() as u64;
        let slot = self.writer.times(tag, u64::from(end.ring.slot_bytes) / size, &Type::Index);
        let offset = match slot {
            Number::Known(n) => Number::Known(n + bytes / size),
            Number::Value(slot) => Number::Value(self.writer.plus(slot, Number::Known(bytes / size), "offset")),
        };
        let typed = match offset {
            Number::Known(0) => typed,
            other => {
                let offset = self.writer.number(other, &Type::Index);
                self.writer.make(&pto::ADDPTR, "slot", &[("ptr", &[typed]), ("offset", &[offset])], ty)
            }
        };
        let whole = end.ring.cube_tile(split, own, end.kind == CoreKind::Cube).layout;
        let capacity = [own.layout.rows, own.layout.cols];
        let part = [0, 1].map(|axis| own.valid[axis].known().unwrap_or(capacity[axis].into()));
        let number = |writer: &mut Writer<'_>, n: u64| writer.constant(n, &Type::Index);
        let [rows, cols] = [whole.rows, whole.cols].map(|n| number(self.writer, n.into()));
        let one = number(self.writer, 1);
        let view = ViewType { elem, dims: [whole.rows, whole.cols].map(|n| Dim::Static(n.into())).to_smallvec() };
        let operands: [(&str, &[ValueId]); 3] =
            [("ptr", &[typed]), ("shape", &[rows, cols]), ("strides", &[cols, one])];
        let view = self.writer.make(&pto::MAKE_TENSOR_VIEW, "slot_view", &operands, Type::TensorView(view));
        let from = match split.axis().filter(|_| end.kind == CoreKind::Vector) {
            Some(axis) => self.corner(axis, u64::from([whole.rows, whole.cols][axis]) / 2, &Type::Index),
            None => [number(self.writer, 0); 2],
        };
        let sizes = part.map(|n| number(self.writer, n));
        let window = ViewType { elem, dims: part.map(Dim::Static).to_smallvec() };
        let operands: [(&str, &[ValueId]); 3] = [("source", &[view]), ("offsets", &from), ("sizes", &sizes)];
        self.writer.make(&pto::PARTITION_VIEW, "slot_part", &operands, Type::PartitionView(window))
    }

    /// A push into slots in global memory.
    fn store(&mut self, source: ValueId, pushed: &TileType, pointer: ValueId, bytes: u64, tag: Number) {
        let elem = self.end.ring.popped.map_or(pushed.layout.elem, |tile| tile.layout.elem);
        self.by_one_lane(|core| {
            let window = core.window(pushed, elem, (pointer, bytes), tag);
            core.writer.transfer(&pto::TSTORE, source, window, AttrDict::default());
        });
    }

    fn pop(&mut self) {
        let (end, split) = (self.end, self.step.split);
        let Some(op) = OpRef::of(self.writer.module, self.step.op) else { return };
        let Some(old) = ring_tile(&op) else { return };
        let Some(popped) = op.module.ty(old).as_tile().copied() else { return };
        let fixed = op.int(slipring_op::address::ADDRESS);
        let given = [("valid_row", 0), ("valid_col", 1)].map(|(name, axis)| {
            let at = op.def.schema.operands.iter().position(|spec| spec.name == name);
            (at.and_then(|at| op.operand(at)), axis)
        });
        let name = op.module.value(old).name.clone();
        let tag = self.tag(Counter::Taken, end.ring.slots);
        self.writer.signal(end, end.ring.phases.wait, true, false, tag);
        let extent = end.ring.popped_extent(split, &popped);
        let valid = given.map(|(value, axis)| match popped.valid[axis] {
            Dim::Static(_) => None,
            Dim::Dynamic => value.or_else(|| Some(self.writer.constant(extent[axis].into(), &Type::Index))),
        });
        let address = match (end.base, fixed) {
            (Base::Local(base), _) => self.address(base, tag),
            (Base::Gm { .. }, Some(fixed)) => self.writer.constant(fixed as u64, &Type::I64),
            (Base::Gm { .. }, None) => {
                let (Some(base), places) = (end.landing, end.ring.local_slots) else { return };
                let lands = end.ring.local_slots != end.ring.slots;
                let place = if lands { self.tag(Counter::Landed, places) } else { tag };
                let address = self.address(base, place);
                if lands {
                    self.advance(Counter::Landed, place, places);
                }
                address
            }
        };
        let tile = self.writer.declare(name.as_deref().unwrap_or("popped"), popped, address, valid);
        if let Base::Gm { pointer, bytes } = end.base {
            let window = self.window(&popped, popped.layout.elem, (pointer, bytes), tag);
            self.writer.transfer(&pto::TLOAD, window, tile, AttrDict::default());
        }
        self.advance(Counter::Taken, tag, end.ring.slots);
        self.take_place(old, tile);
    }

    /// The tile replaces the popped one: everywhere, or from here to the next pop into the same tile.
    fn take_place(&mut self, old: ValueId, tile: ValueId) {
        let (module, pop) = (&mut *self.writer.module, self.step.op);
        if !module.op(pop).operands.contains(&old) {
            return module.replace_uses(old, tile);
        }
        let Some((block, at)) = module.position(pop) else { return };
        let ops: Vec<OpId> = module.block(block).ops[at + 1..].to_vec();
        for outer in ops {
            if OpRef::of(module, outer)
                .is_some_and(|op| op.def.ring.is_some_and(|part| part.takes_tile()) && ring_tile(&op) == Some(old))
            {
                break;
            }
            for op in crate::analysis::last_use::with_inner(module, outer) {
                for operand in &mut module.op_mut(op).operands {
                    if *operand == old {
                        *operand = tile;
                    }
                }
            }
        }
    }
}
