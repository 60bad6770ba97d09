//! Every declared op, with operands, attributes and types of all kinds: the printed text parses to the same op.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use proptest::prelude::*;
use slipring_dialects::Dialects;
use slipring_ir::text::{parse, print};
use slipring_ir::{Arity, Attr, AttrDict, AttrKind, Infer, Module, Source, Type, difference};
use slipring_op::OpDef;
use slipring_tile::Elem;

/// Choices drawn from a seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn roll(&mut self, sides: usize) -> usize {
        (self.word() % sides as u64) as usize
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.roll(items.len())].clone()
    }

    fn int(&mut self) -> i128 {
        let extremes = [0, 1, -1, 31, 255, i32::MIN.into(), i64::MIN.into(), i64::MAX.into(), 1 << 62];
        if self.roll(4) == 0 { (self.word() as i64).into() } else { self.pick(&extremes) }
    }

    fn text(&mut self) -> Arc<str> {
        self.pick(&["", "plain", "with blank", "q\"uote", "back\\slash", "\n\t\r\u{1}\u{7f}", "ünïcödé // {", "\\22"])
            .into()
    }

    fn float(&mut self) -> Attr {
        let ty = self.pick(&[Type::F64, Type::F32, Type::Float(Elem::F16), Type::Float(Elem::BF16)]);
        let (bits, exponent, sign): (u32, u64, u64) = match ty {
            Type::F64 => (64, 0x7FF0_0000_0000_0000, 1 << 63),
            Type::F32 => (32, 0x7F80_0000, 1 << 31),
            Type::Float(Elem::F16) => (16, 0x7C00, 1 << 15),
            _ => (16, 0x7F80, 1 << 15),
        };
        let any = self.word() >> (64 - bits);
        // Infinities, zeros, quiet and other NaNs, the smallest and the largest number.
        let special = [exponent, sign | exponent, 0, sign, exponent | 1, sign | exponent | 3, 1, exponent - 1, any];
        Attr::Float(self.pick(&special), ty)
    }

    fn attr(&mut self, depth: usize) -> Attr {
        match self.roll(if depth == 0 { 9 } else { 12 }) {
            0 => Attr::Unit,
            1 => Attr::Bool(self.roll(2) == 1),
            2 => Attr::Int(self.int(), Type::I64),
            3 => {
                Attr::Int(self.pick(&[-128, -1, 0, 1, 127]), Type::Int { width: 8, sign: slipring_ir::Sign::Signless })
            }
            4 => self.float(),
            5 => Attr::Str(self.text()),
            6 => Attr::Symbol(self.pick(&["f", "a b", "f::@g", "0", "q\"uote"]).into()),
            7 => Attr::Type(self.pick(&types())),
            8 => Attr::member("pipe", self.pick(&["PIPE_ALL", "PIPE_V", "PIPE_MTE2"])),
            9 => Attr::Array((0..self.roll(4)).map(|_| self.attr(depth - 1)).collect()),
            10 => Attr::DenseArray(Type::I64, (0..self.roll(4)).map(|_| self.int()).collect()),
            _ => Attr::Dict(self.dict(depth - 1)),
        }
    }

    fn dict(&mut self, depth: usize) -> AttrDict {
        let names = ["x.a", "x.b-c", "x.true", "x.with \"quotes\"", "unit"];
        let mut dict = AttrDict::default();
        for _ in 0..self.roll(4) {
            dict.set(self.pick(&names), self.attr(depth));
        }
        dict
    }

    fn of_kind(&mut self, kind: AttrKind) -> Attr {
        match kind {
            AttrKind::Int => Attr::Int(self.int(), Type::I64),
            AttrKind::Bool => Attr::Bool(self.roll(2) == 1),
            AttrKind::Str => Attr::Str(self.text()),
            AttrKind::Symbol => Attr::Symbol(self.pick(&["f", "a b", "f::@g"]).into()),
            AttrKind::Unit => Attr::Unit,
            AttrKind::Type => Attr::Type(self.pick(&types())),
            AttrKind::Enum(spec) => Attr::member(spec.kind, self.pick(spec.members)),
            AttrKind::Numbers => Attr::Array((0..self.roll(4)).map(|_| Attr::Int(self.int(), Type::I64)).collect()),
            AttrKind::Flags(spec) => {
                let words: Vec<&str> = (0..=self.roll(2)).map(|_| self.pick(spec.words)).collect();
                Attr::Opaque(spec.whole(&words).into())
            }
            AttrKind::Any => self.attr(1),
        }
    }
}

/// Types for operands and results: each rule of a declaration accepts at least one of them.
fn types() -> Vec<Type> {
    thread_local!(static TYPES: Vec<Type> = read_types());
    TYPES.with(Clone::clone)
}

fn read_types() -> Vec<Type> {
    let mut list: Vec<String> = "index i1 i8 i16 i32 i64 si8 ui8 ui16 ui32 ui64 f16 bf16 f32 f64 !pto.align !pto.pipe \
        !pto.mask<b8> !pto.mask<b16> !pto.mask<b32> !pto.record_event !pto.eventid_array<4> !pto.async_session !pto.async_event !pto.tpipe<1,DIR_C2V> !pto.local_array<2x2xi32> !pto.struct<f32,i8> !pto.multi_tile_buf<vec,1x8xf32,count=3> vector<4xi16> vector<3xi64> vector<8xf32>"
        .split_whitespace()
        .map(str::to_string)
        .collect();
    for elem in ["f32", "f16", "i8", "i32", "ui16"] {
        list.extend(
            ["", ", gm", ", ub", ", l1", ", l0a", ", l0b", ", l0c", ", bt", ", fb"]
                .map(|s| format!("!pto.ptr<{elem}{s}>")),
        );
        list.extend(["", "partition_"].map(|s| format!("!pto.{s}tensor_view<?x9223372036854775807x{elem}>")));
        list.push(format!("!pto.tile_view<16x16x{elem}>"));
        let lanes = match elem {
            "f32" | "i32" => 64,
            "i8" => 256,
            _ => 128,
        };
        list.push(format!("!pto.vreg<{lanes}x{elem}>"));
        list.push(format!("!pto.vmi.vreg<{lanes}x{elem}>"));
        list.push(format!("!pto.vmi.vreg<24x{elem}>"));
        list.push(format!("!pto.vmi.mask<{lanes}xpred>"));
        for space in ["vec", "mat", "left", "right", "acc", "bias", "scaling"] {
            list.push(format!("!pto.tile_buf<{space}, 16x32x{elem}, valid=?x?, pad=2>"));
            list.push(format!("memref<16x?x{elem}, strided<[?, 1], offset: ?>, #pto.address_space<{space}>>"));
        }
        list.push(format!("memref<4x{elem}>"));
    }
    list.extend(Dialects::get().all().iter().flat_map(|def| def.schema.results).filter_map(
        |result| match result.infer {
            Infer::Fixed(ty) => Some(ty().to_string()),
            _ => None,
        },
    ));
    let args: Vec<String> = list.iter().enumerate().map(|(at, ty)| format!("%v{at}: {ty}")).collect();
    let module =
        read(&format!("func.func @f({}) {{\n  return\n}}\n", args.join(", "))).expect("types that can be read");
    let function = module.ops_named("func.func").next().expect("the function");
    let body = module.body(function, 0).expect("its body");
    let mut types: Vec<Type> = Vec::new();
    for arg in &module.block(body).args {
        if !types.contains(module.ty(*arg)) {
            types.push(module.ty(*arg).clone());
        }
    }
    types
}

fn read(text: &str) -> Result<Module, String> {
    let (module, diags) = parse(Arc::new(Source::new("a.pto", text)), &Dialects::get().registry);
    if diags.has_errors() { Err(diags.render(&module.source, false)) } else { Ok(module) }
}

/// A file with one op in generic form, and the attributes of the op.
fn file_with(def: &OpDef, dice: &mut Dice) -> Option<(String, AttrDict)> {
    let schema = &def.schema;
    let types = types();
    let mut operands: Vec<Type> = Vec::new();
    let mut firsts: Vec<Type> = Vec::new();
    let mut segments: Vec<i128> = Vec::new();
    let mut follows = false;
    for spec in schema.operands {
        let count = match spec.arity {
            Arity::One => 1,
            Arity::Instead if follows => 0,
            Arity::Optional | Arity::Instead => dice.roll(2),
            Arity::Variadic => dice.roll(4),
        };
        let fitting: Vec<Type> = types.iter().filter(|ty| (spec.ty.accepts)(ty)).cloned().collect();
        if fitting.is_empty() {
            return None;
        }
        // Often the type of a previous operand: many declarations require that.
        let same = operands.iter().find(|ty| fitting.contains(ty)).cloned();
        let chosen = same.filter(|_| dice.roll(2) == 0).unwrap_or_else(|| dice.pick(&fitting));
        operands.extend((0..count).map(|_| chosen.clone()));
        firsts.push(chosen);
        segments.push(count as i128);
        follows = count == 1;
    }
    let mut results: Vec<Type> = Vec::new();
    for spec in schema.results {
        let ty = match spec.infer {
            Infer::Fixed(ty) => ty(),
            Infer::SameAs(index) => firsts[index].clone(),
            Infer::From(of) => of(&operands)?,
            Infer::Written => {
                let fitting: Vec<Type> = types.iter().filter(|ty| (spec.ty.accepts)(ty)).cloned().collect();
                dice.pick(&fitting)
            }
        };
        let count = match spec.arity {
            Arity::One => 1,
            Arity::Optional | Arity::Instead => dice.roll(2),
            Arity::Variadic => dice.roll(3),
        };
        results.extend((0..count).map(|_| ty.clone()));
    }
    // In the generic form, the operands may be in a different order.
    let first = |place: usize| segments[..place].iter().sum::<i128>() as usize;
    let of = |place: usize| operands[first(place)..first(place) + segments[place] as usize].iter().cloned();
    let order = schema.generic_order();
    let (operands, segments): (Vec<Type>, Vec<i128>) =
        (order.iter().flat_map(|place| of(*place)).collect(), order.iter().map(|place| segments[*place]).collect());
    let mut attrs = AttrDict::default();
    for spec in schema.attrs {
        if spec.required || dice.roll(2) == 0 {
            attrs.set(spec.name, dice.of_kind(spec.kind));
        }
    }
    if dice.roll(2) == 0 {
        for (name, attr) in dice.dict(2).iter() {
            attrs.set(name.to_string(), attr.clone());
        }
    }
    let args: Vec<String> = operands.iter().enumerate().map(|(at, ty)| format!("%v{at}: {ty}")).collect();
    let values: Vec<String> = (0..operands.len()).map(|at| format!("%v{at}")).collect();
    let list = |types: &[Type]| types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
    let mut text = format!("func.func @f({}) {{\n  ", args.join(", "));
    if !results.is_empty() {
        let _ = write!(text, "%r:{} = ", results.len());
    }
    let _ = write!(text, "\"{}\"({})", schema.name, values.join(", "));
    if schema.operands.iter().any(|o| o.arity != Arity::One) {
        let _ = write!(text, " <{{operandSegmentSizes = {}}}>", Attr::DenseArray(Type::I32, segments));
    }
    if !schema.regions.is_empty() {
        let _ = write!(text, " ({})", vec!["{\n^bb0:\n}"; schema.regions.len()].join(", "));
    }
    let _ = writeln!(text, " {attrs} : ({}) -> ({})\n  return\n}}", list(&operands), list(&results));
    Some((text, attrs))
}

/// Prints a file with this op and parses it again. False if the op cannot be written with the drawn parts.
fn goes_round(def: &OpDef, seed: u64) -> Result<bool, String> {
    let mut dice = Dice(seed);
    let Some((text, attrs)) = file_with(def, &mut dice) else { return Ok(false) };
    let module = match read(&text) {
        Ok(module) => module,
        Err(why) => {
            if std::env::var_os("SLIPRING_SHOW").is_some() {
                println!("{why}");
            }
            return Ok(false);
        }
    };
    // The enclosing function is the first op of that name.
    let around = usize::from(def.schema.name == "func.func");
    let op = module.ops_named(def.schema.name).nth(around).ok_or_else(|| format!("it is not there:\n{text}"))?;
    for (name, attr) in attrs.iter() {
        if module.op(op).attrs.get(name) != Some(attr) {
            return Err(format!("`{name}` is {:?}, not {attr:?}:\n{text}", module.op(op).attrs.get(name)));
        }
    }
    let printed = print(&module);
    let again = read(&printed).map_err(|why| format!("printed from\n{text}\n{printed}\n{why}"))?;
    if let Some(other) = difference(&module, &again) {
        return Err(format!("{other}\n{text}\n{printed}"));
    }
    if print(&again) != printed {
        return Err(format!("printed twice:\n{printed}\n{}", print(&again)));
    }
    Ok(true)
}

#[test]
fn every_op_is_drawn() {
    let mut never: BTreeMap<&str, &str> = BTreeMap::new();
    let mut wrong = Vec::new();
    for def in Dialects::get().all() {
        let mut drawn = false;
        for seed in 0..64 {
            match goes_round(def, seed) {
                Ok(read) => drawn |= read,
                Err(why) => {
                    wrong.push(format!("{} (seed {seed}): {why}", def.schema.name));
                    break;
                }
            }
        }
        if !drawn {
            never.insert(def.schema.name, def.summary);
        }
    }
    assert!(wrong.is_empty(), "{} ops:\n{}", wrong.len(), wrong.join("\n"));
    assert!(never.is_empty(), "never drawn: {never:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_op_reads_back_as_it_was_printed(seed: u64) {
        for def in Dialects::get().all() {
            if let Err(why) = goes_round(def, seed) {
                prop_assert!(false, "{}: {why}", def.schema.name);
            }
        }
    }
}
