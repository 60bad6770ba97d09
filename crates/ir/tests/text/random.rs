//! Random modules: the printed text parses to the same module.

use std::sync::Arc;

use proptest::prelude::*;
use slipring_ir::text::{parse, print};
use slipring_ir::{
    Attr, AttrDict, BlockId, Dim, FuncType, MemRefType, Module, OpId, PipeParam, PipeType, Sign, Source, Span,
    TileType, Type, ValueId, ViewType, difference,
};
use slipring_tile::{BLayout, Elem, Layout, SLayout, Space};

use super::registry::{PIPES, registry, schemas};

/// Choices drawn from bytes; after their end every choice is the first one, so that modules are finite.
struct Dice<'b>(&'b [u8]);

impl Dice<'_> {
    fn roll(&mut self, sides: usize) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first as usize % sides
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.roll(items.len())].clone()
    }

    fn word(&mut self) -> u64 {
        (0..8).fold(0, |all, _| all << 8 | self.roll(256) as u64)
    }

    fn dim(&mut self) -> Dim {
        if self.roll(3) == 0 { Dim::Dynamic } else { Dim::Static(self.roll(200) as u64) }
    }

    fn tile(&mut self) -> TileType {
        let (rows, cols) = (1 + self.roll(64) as u32, 1 + self.roll(64) as u32);
        let named = self.pick(&Space::NAMED);
        let mut layout = Layout {
            elem: self.pick(&Elem::ALL),
            rows,
            cols,
            blayout: self.pick(&[BLayout::RowMajor, BLayout::ColMajor]),
            slayout: self.pick(&[SLayout::NoneBox, SLayout::RowMajor, SLayout::ColMajor]),
            fractal: self.pick(&[512, 32, 1024]),
        };
        let valid = if self.roll(2) == 0 {
            [Dim::Static(rows.into()), Dim::Static(cols.into())]
        } else {
            [self.dim(), self.dim()]
        };
        // Scales of operands have a fixed layout.
        if named.is_scale() {
            let left = named == Space::LeftScale;
            layout.elem = Elem::F8E8M0;
            layout.fractal = 32;
            layout.blayout = if left { BLayout::RowMajor } else { BLayout::ColMajor };
            layout.slayout = if left { SLayout::RowMajor } else { SLayout::ColMajor };
        }
        let space = TileType::memory(named, &layout).expect("a memory that has such tiles");
        TileType { space, layout, valid, pad: self.roll(4) as u8, compact: self.roll(3) as u8 }
    }

    fn view(&mut self) -> ViewType {
        let elem = self.pick(&Elem::ALL);
        ViewType { elem, dims: (0..1 + self.roll(5)).map(|_| self.dim()).collect() }
    }

    fn scalar(&mut self) -> Type {
        let width = 1 + self.roll(64) as u16;
        match self.roll(6) {
            0 => Type::Index,
            1 => Type::Float(self.pick(&Elem::ALL.map(|e| if e.is_float() { e } else { Elem::F32 }))),
            2 => Type::F64,
            3 => Type::I1,
            4 => Type::I64,
            _ => Type::Int { width, sign: self.pick(&[Sign::Signless, Sign::Signed, Sign::Unsigned]) },
        }
    }

    fn ty(&mut self, depth: usize) -> Type {
        let space = if self.roll(2) == 0 { None } else { Some(self.pick(&Space::NAMED)) };
        match self.roll(if depth == 0 { 9 } else { 12 }) {
            0 | 1 => self.scalar(),
            2 => Type::Ptr(self.pick(&Elem::ALL), space),
            3 => Type::TensorView(self.view()),
            4 => Type::PartitionView(self.view()),
            5 => Type::TileView(self.view()),
            6 => Type::Tile(self.tile()),
            7 => Type::named(self.pick(&[
                "pto.pipe",
                "pto.queue<64xf32>",
                "a.b<\"x y\", [1]>",
                "tensor<4xf32>",
                "none.x",
            ])),
            8 => {
                let number = PipeParam::Int(self.pick(&[-1, 0, 4, 16384]));
                let word = PipeParam::Word(self.pick(&["DIR_C2V", "GM_FIFO", "false"]).into());
                let tile = PipeParam::Type(Type::Tile(self.tile()));
                let params =
                    (0..self.roll(6)).map(|_| self.pick(&[number.clone(), word.clone(), tile.clone()])).collect();
                Type::Pipe(Arc::new(PipeType { multi: self.roll(2) == 0, params }))
            }
            9 => {
                let dims: smallvec::SmallVec<[Dim; 5]> = (0..self.roll(4)).map(|_| self.dim()).collect();
                let strides = if self.roll(2) == 0 {
                    None
                } else {
                    Some((dims.iter().map(|_| self.dim()).collect(), self.dim()))
                };
                Type::MemRef(Arc::new(MemRefType { elem: self.ty(depth - 1), dims, strides, space }))
            }
            10 => Type::Vector(Arc::new(((0..1 + self.roll(3)).map(|n| n as u64 + 1).collect(), self.scalar()))),
            _ => {
                let list = |dice: &mut Self| (0..dice.roll(3)).map(|_| dice.ty(depth - 1)).collect();
                Type::Function(Arc::new(FuncType { inputs: list(self), results: list(self) }))
            }
        }
    }

    fn text(&mut self) -> Arc<str> {
        self.pick(&["", "plain", "with blank", "q\"uote", "back\\slash", "line\nbreak\u{1}", "ünïcödé // {"]).into()
    }

    fn attr(&mut self, depth: usize) -> Attr {
        match self.roll(if depth == 0 { 9 } else { 12 }) {
            0 => Attr::Unit,
            1 => Attr::Bool(self.roll(2) == 1),
            2 => Attr::int(self.word() as i64),
            3 => Attr::Int(self.pick(&[-1, 0, 1, 127]), Type::Int { width: 8, sign: Sign::Signed }),
            4 => {
                let ty = self.pick(&[Type::F32, Type::F64, Type::Float(Elem::F16), Type::Float(Elem::F8E5M2)]);
                let bits = match &ty {
                    Type::F64 => 64,
                    ty => ty.elem().map_or(0, |e| e.bytes() * 8),
                };
                Attr::Float(self.word() >> (64 - bits), ty)
            }
            5 => Attr::Str(self.text()),
            6 => Attr::Symbol(self.pick(&["f", "f::@g", "a b::@c-d", "0"]).into()),
            7 => Attr::Type(self.ty(1)),
            8 => self.pick(&[
                Attr::member("cmp", "lt"),
                Attr::Opaque("#x.y".into()),
                Attr::Opaque("#array<o<p:>2>".into()),
                Attr::Opaque("#x.y<a, \"b  c\">".into()),
                Attr::Opaque("dense<[1, 2]> : tensor<2xi32>".into()),
                Attr::Opaque("affine_map<(d0) -> (d0)>".into()),
            ]),
            9 => Attr::Array((0..self.roll(4)).map(|_| self.attr(depth - 1)).collect()),
            10 => Attr::DenseArray(Type::I32, (0..self.roll(4)).map(|n| n as i128 - 1).collect()),
            _ => Attr::Dict(self.dict(depth - 1)),
        }
    }

    fn dict(&mut self, depth: usize) -> AttrDict {
        let mut dict = AttrDict::default();
        for _ in 0..self.roll(4) {
            let name = self.pick(&["x.a", "x.b-c", "x.true", "x.name with \"quotes\"", "x.z"]);
            dict.set(name, self.attr(depth));
        }
        dict
    }
}

/// Builds a module; every value has a unique name, or none.
struct Builder<'b> {
    dice: Dice<'b>,
    module: Module,
    /// Values in scope.
    values: Vec<ValueId>,
    names: usize,
}

impl Builder<'_> {
    fn name(&mut self) -> Option<Arc<str>> {
        self.names += 1;
        match self.dice.roll(4) {
            0 => None,
            1 => Some(format!("{}", 100 + self.names).into()),
            _ => Some(format!("{}{}", self.dice.pick(&["x", "_", "a.b-c$"]), self.names).into()),
        }
    }

    fn value(&mut self, accepts: impl Fn(&Type) -> bool) -> Option<ValueId> {
        let fitting: Vec<_> = self.values.iter().copied().filter(|v| accepts(self.module.ty(*v))).collect();
        if fitting.is_empty() { None } else { Some(self.dice.pick(&fitting)) }
    }

    fn any_values(&mut self, most: usize) -> Vec<ValueId> {
        (0..self.dice.roll(most + 1)).filter_map(|_| self.value(|_| true)).collect()
    }

    fn declared(&mut self, name: &str, operands: &[&[ValueId]], results: &[Type]) -> OpId {
        let schema = schemas().iter().find(|s| s.name == name).expect("a declaration of the test");
        let attrs = if self.dice.roll(3) == 0 { self.dice.dict(2) } else { AttrDict::default() };
        let op = self.module.build(schema, operands, attrs, results, Span::default());
        if self.dice.roll(5) == 0 {
            self.module.op_mut(op).loc = Some(self.dice.pick(&["unknown", "\"f\":1:2", "fused[\"a\", \"b\"]"]).into());
        }
        op
    }

    /// Appends an op to a block, and brings its results into scope.
    fn put(&mut self, block: BlockId, op: OpId) {
        self.module.append(block, op);
        let shared = self.name();
        let together = self.dice.roll(2) == 0;
        for result in self.module.op(op).results.clone() {
            self.module.value_mut(result).name = if together { shared.clone() } else { self.name() };
            self.values.push(result);
        }
    }

    fn region(&mut self, op: OpId, args: Vec<Type>, depth: usize) {
        let region = self.module.add_region(op);
        let block = self.module.add_block(region);
        let scope = self.values.len();
        for ty in args {
            let name = self.name();
            let arg = self.module.add_arg(block, ty, name, Span::default());
            self.values.push(arg);
        }
        for _ in 0..self.dice.roll(6) {
            self.op(block, depth);
        }
        self.values.truncate(scope);
    }

    fn op(&mut self, block: BlockId, depth: usize) {
        let is_tile = |t: &Type| matches!(t, Type::Tile(_));
        let op = match self.dice.roll(if depth == 0 { 11 } else { 14 }) {
            0 => self.declared("t.idx", &[], &[Type::Index]),
            1 => {
                let ty = self.dice.scalar();
                let op = self.declared("t.const", &[], &[ty]);
                // An attribute that a format parses before a type can be neither a type nor a keyword.
                let value = match self.dice.attr(1) {
                    Attr::Type(_) | Attr::Dict(_) | Attr::Unit | Attr::Opaque(_) => Attr::int(7),
                    value => value,
                };
                self.module.op_mut(op).attrs.set("value", value);
                op
            }
            2 => {
                let tile = Type::Tile(self.dice.tile());
                let sizes: Vec<ValueId> = self.value(Type::is_int_like).into_iter().collect();
                let (rows, cols) = if self.dice.roll(2) == 0 { (&sizes[..], &[][..]) } else { (&[][..], &sizes[..]) };
                self.declared("t.alloc", &[rows, cols], &[tile])
            }
            3 => {
                let (Some(a), Some(b)) = (self.value(is_tile), self.value(is_tile)) else { return };
                let op = self.declared("t.add", &[&[a], &[b], &[a]], &[]);
                if self.dice.roll(2) == 0 {
                    let member = self.dice.pick(PIPES.members);
                    self.module.op_mut(op).attrs.set("on", Attr::member("pipe", member));
                }
                op
            }
            4 => {
                let (Some(a), Some(s)) = (self.value(is_tile), self.value(Type::is_scalar)) else { return };
                let (top, bottom) = match self.dice.roll(4) {
                    0 => (vec![], vec![]),
                    1 => (vec![s], vec![]),
                    2 => (vec![], vec![s]),
                    _ => (vec![s], vec![s]),
                };
                self.declared("t.divs", &[&top, &[a], &bottom, &[a]], &[])
            }
            5 => {
                let (Some(a), Some(i)) = (self.value(is_tile), self.value(Type::is_int_like)) else { return };
                let ty = self.dice.scalar();
                self.declared("t.get", &[&[a], &[i]], &[ty])
            }
            6 => {
                let op = self.declared("t.flag", &[], &[]);
                let (src, dst) = (self.dice.pick(PIPES.members), self.dice.pick(PIPES.members));
                let id = self.dice.word() as i64;
                let attrs = &mut self.module.op_mut(op).attrs;
                attrs.set("src", Attr::member("pipe", src));
                attrs.set("dst", Attr::member("pipe", dst));
                attrs.set("id", Attr::int(id));
                op
            }
            7 => {
                let Some(a) = self.value(Type::is_scalar) else { return };
                let ty = self.module.ty(a).clone();
                self.declared("t.sum", &[&[a], &[a]], &[ty])
            }
            8 => {
                let (a, b) = (self.any_values(1), self.any_values(3));
                self.declared("t.generic", &[&a, &b], &[])
            }
            9 => {
                let Some(base) = self.value(|t| matches!(t, Type::Ptr(..))) else { return };
                let Some(i) = self.value(Type::is_int_like) else { return };
                let ty = self.dice.ty(2);
                self.declared("t.view", &[&[base], &[i, i], &[]], &[ty])
            }
            10 => {
                let values = self.any_values(2);
                self.declared("t.return", &[&values], &[])
            }
            11 => {
                let Some(n) = self.value(Type::is_int_like) else { return };
                let op = self.declared("t.loop", &[&[n]], &[]);
                self.module.op_mut(op).attrs = AttrDict::default();
                self.region(op, vec![Type::Index], depth - 1);
                op
            }
            12 => {
                let Some(n) = self.value(Type::is_int_like) else { return };
                let results: Vec<Type> = (0..self.dice.roll(3)).map(|_| self.dice.ty(1)).collect();
                let op = self.declared("t.if", &[&[n]], &results);
                self.region(op, Vec::new(), depth - 1);
                if self.dice.roll(2) == 0 {
                    self.region(op, Vec::new(), depth - 1);
                } else {
                    self.module.add_region(op);
                }
                op
            }
            _ => {
                let operands = self.any_values(3);
                let op = self.module.create(self.dice.pick(&["un.known", "odd name"]), None, Span::default());
                self.module.op_mut(op).operands = operands.into();
                self.module.op_mut(op).attrs = self.dice.dict(3);
                for _ in 0..self.dice.roll(3) {
                    let ty = self.dice.ty(2);
                    self.module.add_result(op, ty, None, Span::default());
                }
                for _ in 0..self.dice.roll(3) {
                    let args = (0..self.dice.roll(3)).map(|_| self.dice.ty(1)).collect();
                    self.region(op, args, depth - 1);
                }
                op
            }
        };
        self.put(block, op);
    }

    fn function(&mut self, block: BlockId) {
        let op = self.declared("t.func", &[], &[]);
        self.names += 1;
        let mut attrs = AttrDict::default();
        attrs.set("sym_name", Attr::Symbol(format!("f{}", self.names).into()));
        self.module.op_mut(op).attrs = attrs;
        let args = (0..self.dice.roll(5)).map(|_| self.dice.ty(2)).collect();
        self.region(op, args, 4);
        self.module.append(block, op);
    }
}

fn build(bytes: &[u8]) -> Module {
    let module = Module::new(Arc::new(Source::default()));
    let mut builder = Builder { dice: Dice(bytes), module, values: Vec::new(), names: 0 };
    let top = builder.module.top;
    for _ in 0..1 + builder.dice.roll(3) {
        builder.function(top);
    }
    builder.module
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printed_modules_read_back(bytes in proptest::collection::vec(any::<u8>(), 0..1500)) {
        let module = build(&bytes);
        let printed = print(&module);
        let (again, diags) = parse(Arc::new(Source::new("again", printed.clone())), &registry());
        prop_assert!(diags.list.is_empty(), "{}\n{printed}", diags.render(&again.source, false));
        prop_assert_eq!(difference(&module, &again), None, "{}", printed);
        prop_assert_eq!(print(&again), printed);
    }
}

#[test]
fn clashing_and_impossible_names_become_legal_ones() {
    let schema = schemas().iter().find(|s| s.name == "t.idx").expect("a declaration of the test");
    let mut module = Module::new(Arc::new(Source::default()));
    let top = module.top;
    let mut last = None;
    for name in [Some("a"), Some("a"), None, Some("0"), Some("0"), Some("1x"), Some("a b"), Some(""), Some("a_0"), None]
    {
        let op = module.build(schema, &[], AttrDict::default(), &[Type::Index], Span::default());
        let result = module.op(op).results[0];
        module.value_mut(result).name = name.map(Into::into);
        module.append(top, op);
        last = Some(result);
    }
    let end = module.create("x.end", None, Span::default());
    module.op_mut(end).operands.push(last.expect("a value"));
    module.append(top, end);
    let printed = print(&module);
    let names: Vec<&str> = printed.lines().filter_map(|l| l.split_once(" = ")).map(|l| l.0).collect();
    assert_eq!(names, ["%a", "%a_1", "%1", "%0", "%2", "%_1x", "%a_b", "%3", "%a_0", "%4"]);
    assert!(printed.ends_with("\"x.end\"(%4) : (index) -> ()\n"));
}
