//! A few declarations for tests, covering every kind of text form.

use slipring_ir::text::{BlockArg, CustomSyntax, OpParser, OpPrinter, Tok};
use slipring_ir::{
    Arity, Attr, AttrKind, AttrSpec, EnumSpec, Flow, Infer, OpId, OpSchema, OperandSpec, Part, Registry, Reported,
    ResultSpec, Syntax, Touch, Type, TypeRule,
};

pub const PIPES: EnumSpec = EnumSpec { kind: "pipe", numbered: false, members: &["PIPE_M", "PIPE_V", "PIPE_MTE2"] };

const TILE: TypeRule = TypeRule { describe: "a tile", accepts: |t| matches!(t, Type::Tile(_)) };
const SCALAR: TypeRule = TypeRule { describe: "a scalar", accepts: Type::is_scalar };
const INTEGER: TypeRule = TypeRule { describe: "an integer or index", accepts: Type::is_int_like };
const POINTER: TypeRule = TypeRule { describe: "a pointer", accepts: |t| matches!(t, Type::Ptr(..)) };
const ANY: TypeRule = TypeRule { describe: "any type", accepts: |_| true };

const fn operand(name: &'static str, arity: Arity, ty: TypeRule) -> OperandSpec {
    OperandSpec { name, arity, ty, touch: Touch::Nothing, doc: "" }
}

const fn result(name: &'static str, arity: Arity, ty: TypeRule, infer: Infer) -> ResultSpec {
    ResultSpec { name, arity, ty, infer, doc: "" }
}

const fn attr(name: &'static str, kind: AttrKind, required: bool) -> AttrSpec {
    AttrSpec { name, kind, required, doc: "" }
}

const BASE: OpSchema = OpSchema {
    name: "",
    aliases: &[],
    syntax: Syntax::Generic,
    operands: &[],
    generic: &[],
    results: &[],
    attrs: &[],
    regions: &[],
    flow: Flow::Once,
    terminator: false,
    part: Part::None,
    constant: None,
};

use Arity::{One, Optional, Variadic};

static SCHEMAS: &[OpSchema] = &[
    OpSchema {
        name: "t.func",
        syntax: Syntax::Custom(&Func),
        attrs: &[attr("sym_name", AttrKind::Symbol, true)],
        regions: &["body"],
        ..BASE
    },
    OpSchema {
        name: "builtin.module",
        aliases: &["module"],
        syntax: Syntax::Format("(`attributes` attr-dict)? $body"),
        regions: &["body"],
        ..BASE
    },
    OpSchema {
        name: "t.return",
        aliases: &["return"],
        syntax: Syntax::Format("attr-dict ($values `:` type($values))?"),
        operands: &[operand("values", Variadic, ANY)],
        terminator: true,
        ..BASE
    },
    OpSchema {
        name: "t.const",
        syntax: Syntax::Format("$value attr-dict `->` type($out)"),
        attrs: &[attr("value", AttrKind::Any, true)],
        results: &[result("out", One, SCALAR, Infer::Written)],
        ..BASE
    },
    OpSchema {
        name: "t.alloc",
        syntax: Syntax::Format("(`valid_row` `=` $rows)? (`valid_col` `=` $cols)? attr-dict `:` type($tile)"),
        operands: &[operand("rows", Optional, INTEGER), operand("cols", Optional, INTEGER)],
        results: &[result("tile", One, TILE, Infer::Written)],
        ..BASE
    },
    OpSchema {
        name: "t.add",
        syntax: Syntax::InsOuts { ins: 2, attrs_in_ins: false },
        operands: &[operand("a", One, TILE), operand("b", One, TILE), operand("out", One, TILE)],
        attrs: &[attr("mode", AttrKind::Int, false), attr("on", AttrKind::Enum(&PIPES), false)],
        ..BASE
    },
    OpSchema {
        name: "t.divs",
        syntax: Syntax::InsOuts { ins: 3, attrs_in_ins: true },
        operands: &[
            operand("top", Optional, SCALAR),
            operand("src", One, TILE),
            operand("bottom", Optional, SCALAR),
            operand("out", One, TILE),
        ],
        attrs: &[attr("exact", AttrKind::Bool, false)],
        ..BASE
    },
    OpSchema {
        name: "t.get",
        syntax: Syntax::InsOuts { ins: 2, attrs_in_ins: false },
        operands: &[operand("src", One, TILE), operand("at", One, INTEGER)],
        results: &[result("out", One, SCALAR, Infer::Written)],
        ..BASE
    },
    OpSchema {
        name: "t.flag",
        syntax: Syntax::Format("`[` $src `,` keyword($dst) `,` $id `]` attr-dict"),
        attrs: &[
            attr("src", AttrKind::Enum(&PIPES), true),
            attr("dst", AttrKind::Enum(&PIPES), true),
            attr("id", AttrKind::Int, true),
        ],
        ..BASE
    },
    OpSchema {
        name: "t.ptr",
        syntax: Syntax::Format("$base `,` $by (`fast` $fast)? attr-dict `:` type($base) `->` type($out)"),
        operands: &[operand("base", One, POINTER), operand("by", One, INTEGER)],
        results: &[result("out", One, POINTER, Infer::SameAs(0))],
        attrs: &[attr("fast", AttrKind::Unit, false)],
        ..BASE
    },
    OpSchema {
        name: "t.view",
        syntax: Syntax::Format(
            "$base `,` `shape` `=` `[` $shape `]` `,` `strides` `=` `[` $strides `]` attr-dict `:` type($view)",
        ),
        operands: &[
            operand("base", One, POINTER),
            operand("shape", Variadic, INTEGER),
            operand("strides", Variadic, INTEGER),
        ],
        results: &[result("view", One, ANY, Infer::Written)],
        ..BASE
    },
    OpSchema {
        name: "t.if",
        syntax: Syntax::Format("$cond (`->` `(` type($out) `)`)? $then (`else` $else)? attr-dict"),
        operands: &[operand("cond", One, INTEGER)],
        results: &[result("out", Variadic, ANY, Infer::Written)],
        regions: &["then", "else"],
        ..BASE
    },
    OpSchema {
        name: "t.loop",
        syntax: Syntax::Custom(&Loop),
        regions: &["body"],
        operands: &[operand("n", One, INTEGER)],
        ..BASE
    },
    OpSchema {
        name: "t.idx",
        syntax: Syntax::Format("attr-dict"),
        results: &[result("out", One, ANY, Infer::Fixed(|| Type::Index))],
        ..BASE
    },
    OpSchema {
        name: "t.sum",
        syntax: Syntax::Format("$a `,` $b attr-dict `:` type($a)"),
        operands: &[operand("a", One, SCALAR), operand("b", One, SCALAR)],
        results: &[result("out", One, SCALAR, Infer::From(|types| (types[0] == types[1]).then(|| types[0].clone())))],
        ..BASE
    },
    OpSchema {
        name: "t.generic",
        syntax: Syntax::Generic,
        operands: &[operand("a", Optional, ANY), operand("b", Variadic, ANY)],
        ..BASE
    },
];

pub fn registry() -> Registry {
    Registry::new(SCHEMAS)
}

pub fn schemas() -> &'static [OpSchema] {
    SCHEMAS
}

/// `@name(%a: T) { … }`.
struct Func;

impl CustomSyntax for Func {
    fn parse(&self, p: &mut OpParser<'_>, op: OpId) -> Result<(), Reported> {
        let name = p.symbol()?;
        p.module.op_mut(op).attrs.set("sym_name", Attr::Symbol(name));
        p.expect(Tok::LParen, "`(`")?;
        let mut args = Vec::new();
        p.list_until(Tok::RParen, "`)`", |p| {
            let (name, span) = p.value_name()?;
            p.expect(Tok::Colon, "`:`")?;
            args.push(BlockArg { name, ty: p.parse_type()?, span });
            Ok(())
        })?;
        p.region(op, args)
    }

    fn print(&self, p: &mut OpPrinter<'_>, op: OpId) {
        p.write(" ");
        let module = p.module;
        p.symbol(module.op(op).attrs.get("sym_name").and_then(Attr::as_str).unwrap_or(""));
        p.write("(");
        for (i, arg) in module.body(op, 0).map(|b| &module.block(b).args[..]).unwrap_or(&[]).iter().enumerate() {
            p.write(if i > 0 { ", " } else { "" });
            p.value_with_type(*arg);
        }
        p.write(") ");
        p.region(op, 0, false);
    }
}

/// `%i < %n { … }`.
struct Loop;

impl CustomSyntax for Loop {
    fn parse(&self, p: &mut OpParser<'_>, op: OpId) -> Result<(), Reported> {
        let (name, span) = p.value_name()?;
        p.expect(Tok::Less, "`<`")?;
        let n = p.operand()?;
        p.set_operands(op, &[&[n]]);
        p.region(op, vec![BlockArg { name, ty: Type::Index, span }])
    }

    fn print(&self, p: &mut OpPrinter<'_>, op: OpId) {
        let module = p.module;
        p.write(" ");
        if let Some(body) = module.body(op, 0) {
            p.values(&module.block(body).args);
        }
        p.write(" < ");
        p.values(&module.op(op).operands);
        p.write(" ");
        p.region(op, 0, false);
    }
}
