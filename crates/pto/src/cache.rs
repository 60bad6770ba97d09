//! Fences and the scalar unit's cache of global memory (tile ISA, device headers: `dsb`, `dcci`).

use slipring_effect::CleanCache;
use slipring_ir::text::{CustomSyntax, OpParser, OpPrinter, Parsed, Tok};
use slipring_ir::{Attr, AttrKind, AttrSpec, Diags, EnumSpec, Kind, OpId, Syntax, Touch, Type, TypeRule, ValueId};
use slipring_machine::{Cost, Pipe, Platform};
use slipring_op::decode::Decoder;
use slipring_op::def::{InCoreSync, Lowered, OpRef, PipeRule};
use slipring_op::ops;
use slipring_op::rules::{PLAIN, defaulted, one_of, operand, optional, required};
use slipring_program::Inst;
use slipring_tile::Space;

const SCOPE: &EnumSpec = &EnumSpec { kind: "fence_scope", numbered: false, members: &["gm", "all"] };
const SPACE: &EnumSpec = &EnumSpec { kind: "address_space", numbered: false, members: &["gm"] };
const SPACE_ATTR: AttrSpec = required("space", AttrKind::Enum(SPACE), "global memory");

/// Where lines of a cache may come from.
const CACHED: TypeRule = TypeRule {
    describe: "a pointer into `ub`, or a pointer or a view in global memory",
    accepts: |t| (IN_GM.accepts)(t) || in_ub(t),
};

const IN_GM: TypeRule = TypeRule {
    describe: "a pointer or a view in global memory",
    accepts: |t| match t {
        Type::Ptr(_, space) => space.unwrap_or(Space::Gm) == Space::Gm,
        Type::MemRef(memref) => memref.space.unwrap_or(Space::Gm) == Space::Gm,
        t => matches!(t, Type::PartitionView(_) | Type::TensorView(_)),
    },
};

ops! {
    OPS;

    /// What the scalar unit has written into these lines of 64 bytes is in global memory afterwards, and it reads them
    /// anew. The cache holds no bytes of its own here; what is shared without this op is `stale-scalar` with
    /// `--interpretation scalar-cache`.
    pub CACHE_INVALID "pto.cmo.cacheinvalid" "Write back and forget lines of the scalar unit's cache": PLAIN,
        source: "PTO IR of the public assembler 0.60, pto.cmo.cacheinvalid; device headers, dcci",
        pipe: PipeRule::Fixed(Pipe::S), around_vector_functions: true,
        lower: |op, d| clean(op, d, op.operand("addr"))
        => {
            syntax: Syntax::Custom(&CacheText),
            operands: &[optional("addr", IN_GM, Touch::Nothing, "in the line that is meant; else all lines")],
            attrs: &[SPACE_ATTR],
        };

    /// As `pto.cmo.cacheinvalid`, for the line that contains `addr`, or for all lines of global memory. No cache keeps
    /// what the scalar unit does in UB here: for a line of UB nothing is done. Lines of atomics are not modelled, and
    /// neither are lines of UB for a pointer to global memory.
    pub DCCI "pto.dcci" "Write back and forget lines of the scalar unit's cache": PLAIN,
        source: "micro-instruction manual of assembler 0.60, 1", pipe: PipeRule::Fixed(Pipe::S),
        around_vector_functions: true, verify: verify_dcci, lower: lower_dcci
        => {
            syntax: Syntax::Format("$addr $cache (`,` $dst)? attr-dict `:` type($addr)"),
            operands: &[operand("addr", CACHED, Touch::Nothing, "in the line that is meant")],
            attrs: &[
                required("cache", AttrKind::Str, "the line, or all of them"),
                defaulted("dst", AttrKind::Str, "`CACHELINE_ALL`, `CACHELINE_OUT` or `CACHELINE_UB`"),
            ],
        };

    /// The core waits until all its pipes are idle, whichever of `ALL`, `DDR` and `UB` is written: no more is kept
    /// apart here. What the sequencer sees (`SEQ`) is not modelled.
    pub DSB "pto.dsb" "Accesses to memory before it are done before any after it": PLAIN,
        source: "micro-instruction manual of assembler 0.60, 1", in_core_sync: InCoreSync::No,
        around_vector_functions: true, lower: lower_dsb, verify: verify_dsb
        => {
            syntax: Syntax::Format("$mem attr-dict"),
            attrs: &[required("mem", AttrKind::Str, "the memory that is meant")],
        };

    /// The core waits until all its pipes are idle; what they stored is in global memory then.
    pub FENCE "pto.fence.barrier_all" "Everything that was stored before is seen before anything later": PLAIN,
        source: "PTO IR of the public assembler 0.60, pto.fence.barrier_all", in_core_sync: InCoreSync::No,
        around_vector_functions: true, lower: lower_dsb
        => {
            syntax: Syntax::Format("$scope attr-dict"),
            attrs: &[required("scope", AttrKind::Enum(SCOPE), "what must be seen: `gm` or `all`")],
        };
}

fn verify_dcci(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    one_of(op, "cache", &LINES, diags);
    one_of(op, "dst", &DESTINATIONS, diags);
    let ub = op.ty("addr").is_some_and(in_ub);
    match op.text("dst") {
        Some(dst @ "CACHELINE_ATOMIC") => {
            diags.push(op.error(Kind::Unsupported, format!("`{dst}` is not modelled")));
        }
        Some(OF_UB) if !ub => {
            let message = format!("`{OF_UB}` is not modelled for a pointer to global memory");
            diags.push(op.error(Kind::Unsupported, message));
        }
        Some(dst @ "CACHELINE_OUT") if ub && op.text("cache") == Some(LINES[0]) => {
            let message = format!("`{dst}` names lines of global memory, and `addr` is in UB");
            diags.push(op.error("attr-value", message).help(format!("write `{OF_UB}` or `CACHELINE_ALL`")));
        }
        _ => {}
    }
}

fn verify_dsb(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    one_of(op, "mem", &["ALL", "DDR", "UB", SEQUENCER], diags);
    if op.text("mem") == Some(SEQUENCER) {
        let message = format!("`{SEQUENCER}` is not modelled: only the order of accesses to memory is");
        diags.push(op.error(Kind::Unsupported, message));
    }
}

fn in_ub(ty: &Type) -> bool {
    matches!(ty, Type::Ptr(_, Some(Space::Vec)))
}

fn lower_dcci(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let one = op.text("cache") == Some(LINES[0]);
    // No cache keeps what the scalar unit does in UB.
    if op.text("dst") == Some(OF_UB) || one && op.ty("addr").is_some_and(in_ub) {
        return Ok(());
    }
    clean(op, d, op.operand("addr").filter(|_| one))
}

fn lower_dsb(_: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    d.emit(Inst::Barrier { pipe: None });
    Ok(())
}

/// The scopes of `pto.dcci`: one line, or all.
const LINES: [&str; 2] = ["SINGLE_CACHE_LINE", "ENTIRE_DATA_CACHE"];
/// The lines of UB among the [`DESTINATIONS`].
const OF_UB: &str = "CACHELINE_UB";
/// Which of them, by destination.
const DESTINATIONS: [&str; 4] = ["CACHELINE_ALL", "CACHELINE_OUT", OF_UB, "CACHELINE_ATOMIC"];
/// The scope of `pto.dsb` that is not a memory.
const SEQUENCER: &str = "SEQ";

/// Writes back the line of a pointer or a view, or all lines.
fn clean(op: &OpRef<'_>, d: &mut Decoder<'_>, line: Option<ValueId>) -> Lowered {
    let line = match line {
        None => None,
        Some(line) if matches!(op.module.ty(line), Type::Ptr(..)) => Some(d.scalar(line)?),
        Some(line) => Some(d.view(line)?.base),
    };
    let cost = Cost::fixed(d.platform.cost.scalar_memory);
    d.issue(Pipe::S, CleanCache, line.into_iter().collect(), cost);
    Ok(())
}

/// `all #pto.address_space<gm>`, or `%line single_cache_line : T`.
struct CacheText;

impl CustomSyntax for CacheText {
    fn parse(&self, parser: &mut OpParser<'_>, op: OpId) -> Parsed<()> {
        if parser.eat_text("all") {
            let space = parser.attr_of_kind(&SPACE_ATTR)?;
            parser.module.op_mut(op).attrs.set("space", space);
            parser.set_operands(op, &[&[]]);
            return parser.attr_dict(op);
        }
        let line = parser.operand()?;
        parser.expect_text("single_cache_line")?;
        parser.set_operands(op, &[&[line]]);
        parser.expect(Tok::Colon, "`:` and the type")?;
        parser.operand_type(line)?;
        parser.attr_dict(op)?;
        if parser.module.op(op).attrs.get("space").is_none() {
            parser.module.op_mut(op).attrs.set("space", Attr::member("address_space", "gm"));
        }
        Ok(())
    }

    fn print(&self, printer: &mut OpPrinter<'_>, op: OpId) {
        let module = printer.module;
        match module.operands_named(op, "addr") {
            [] => printer.write(" all #pto.address_space<gm>"),
            line => {
                printer.write(" ");
                printer.values(line);
                printer.write(" single_cache_line : ");
                printer.types_of(line);
            }
        }
        printer.attr_dict(op, &["space"]);
    }
}
