//! The barrier of all cores of a launch (tile ISA, SYNCALL).

use slipring_effect::{Arrive, ArriveArgs, Await, SignalArgs};
use slipring_ir::{AttrKind, Diags, EnumSpec, Syntax, Touch, Type, TypeRule};
use slipring_machine::{CoreKind, Pipe, Platform};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpRef, PipeRule};
use slipring_op::ops;
use slipring_op::rules::{INTEGER, PLAIN, constant, defaulted, optional, required};
use slipring_program::{Inst, Operand, Special, UpdateKind};
use slipring_tile::{Elem, Space};

/// `#pto.sync_all_mode<…>`.
const MODE: &EnumSpec = &EnumSpec { kind: "sync_all_mode", numbered: false, members: &["hard", "soft"] };
/// `#pto.sync_core_type<…>`.
const CORE_TYPE: &EnumSpec =
    &EnumSpec { kind: "sync_core_type", numbered: false, members: &["aiv_only", "aic_only", "mix"] };

/// The minimum number of elements of a counter's memory: a cache line, which it must not share.
const LINE: u64 = 16;

const COUNTER: TypeRule = TypeRule {
    describe: "a view of `i32` in global memory, or a pointer to them",
    accepts: |t| match t {
        Type::PartitionView(view) | Type::TensorView(view) => view.elem == Elem::I32,
        t => matches!(t, Type::Ptr(Elem::I32, None | Some(Space::Gm))),
    },
};

ops! {
    OPS;

    /// Each core of the kinds that `core_type` names adds one to the counter, once all its work that was issued before
    /// is done, and waits until all have. The counter goes on from one barrier to the next: which of them it is follows
    /// from what it was. `used_cores` counts cores, not blocks: a block of a kernel for both kinds has one Cube core
    /// and two Vector cores, of which the second arrives with the first where it has no work of its own. A core that
    /// comes once too often or too little leaves the others waiting. The library's barrier orders nothing but the
    /// arrival, and leaves stores that are under way and caches to its caller; here what was stored before is seen
    /// after it. The hard form counts in registers of the hardware: give it a counter to run it.
    pub SYNCALL "pto.syncall" "Wait until all cores of the launch have come here": PLAIN, source: "tile ISA, SYNCALL",
        pipe: PipeRule::Fixed(Pipe::S), each_core: true, update: |_| Some(UpdateKind::Add), verify: verify,
        lower: lower
        => {
            syntax: Syntax::Format(
                "`(` ($counter (`,` $used_cores)? `:` type($counter) (`,` type($used_cores))?)? `)` \
                 (`mode` `=` $mode `,`)? `core_type` `=` $core_type attr-dict",
            ),
            operands: &[
                optional(
                    "counter",
                    COUNTER,
                    Touch::Write,
                    "16 numbers or more that begin with zeros and that nothing else uses",
                ),
                optional("used_cores", INTEGER, Touch::Nothing, "how many cores meet; else all of the launch"),
            ],
            attrs: &[
                defaulted("mode", AttrKind::Enum(MODE), "`soft`: the cores count in memory; `hard` is not run"),
                required("core_type", AttrKind::Enum(CORE_TYPE), "the cores that meet; `mix`: those of both kinds"),
            ],
        };
}

fn verify(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    if let Some(Type::PartitionView(view) | Type::TensorView(view)) = op.ty("counter") {
        let elements = view.dims.iter().try_fold(1u64, |n, dim| n.checked_mul(dim.known()?));
        if let Some(n) = elements.filter(|n| *n < LINE) {
            let message =
                format!("the counter of a barrier has a line of the cache for itself: {LINE} numbers, not {n}");
            diags.push(op.error("view-shape", message));
        }
    }
    if op.operand("counter").is_some() && op.text("mode") == Some("hard") {
        diags.push(
            op.error("argument", "a hard barrier has no counter")
                .help("leave it out, or say `mode = #pto.sync_all_mode<soft>`"),
        );
    }
    if op.ty("used_cores").is_some_and(|ty| *ty != Type::I32) {
        diags.push(op.error("operand-type", "expects used_cores to be an i32"));
    }
    if op.operand("used_cores").and_then(|value| constant(op.module, value)).is_some_and(|n| n < 0) {
        diags.push(op.error("argument", "`used_cores` is a number of cores, or 0 for all of the launch"));
    }
}

fn lower(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let Some(counter) = op.operand("counter") else {
        let error = op.error(
            slipring_ir::Kind::Unsupported,
            "a hard barrier counts in registers of the hardware, which are not modelled",
        );
        return Err(d.report(
            error.help("give it a counter: `mode = #pto.sync_all_mode<soft>` and a view of 16 `i32` that begin with 0"),
        ));
    };
    let base = match op.ty("counter") {
        Some(Type::Ptr(..)) => d.scalar(counter)?,
        _ => d.view(counter)?.base,
    };
    let kinds: &[CoreKind] = match op.text("core_type") {
        Some("aiv_only") => &[CoreKind::Vector],
        Some("aic_only") => &[CoreKind::Cube],
        _ => &[CoreKind::Cube, CoreKind::Vector],
    };
    let (own, all) = d.arrivals(kinds);
    if own == 0 {
        return Ok(());
    }
    let told = op.operand("used_cores").filter(|value| constant(op.module, *value) != Some(0));
    let missing = kinds.iter().find(|kind| d.arrivals(&[**kind]).1 == 0);
    if let (None, Some(kind)) = (told, missing) {
        let message = format!("this barrier waits for {} cores, and the kernel runs on none", kind.name());
        let help = "name the cores that come: `core_type = aiv_only` or `aic_only`";
        return Err(d.report(op.error("barrier", message).help(help)));
    }
    let launched = |d: &mut Decoder<'_>| {
        let blocks = d.special(Special::BlockNum);
        d.distance(blocks, Operand::Imm(all.into()))
    };
    let used = match told {
        None => launched(d),
        Some(value) => d.scalar(value)?,
    };
    d.emit(Inst::Barrier { pipe: None });
    let args = ArriveArgs { signal: base, cores: Operand::Imm(own.into()), used };
    let target = d.issue_scalar(Arrive, args.list());
    let again = d.label();
    d.place(again);
    let over = d.issue_scalar(Await { at_least: true }, SignalArgs { signal: base, number: target }.list());
    d.poll(over, again);
    Ok(())
}
