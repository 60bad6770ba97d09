//! Moves between devices, which are read, printed and verified, and cannot be run yet, and ops that are known and refused.

use slipring_ir::{AttrKind, Diags, Dim, Infer, OpSchema, Syntax, Touch, Type, TypeRule};

use slipring_op::decode::Binding;
use slipring_op::def::{OpDef, OpRef};
use slipring_op::rules::{ANY, BOOL, PLAIN, TILE, defaulted, operand, result, schema, variadic};
use slipring_program::Operand;

/// The ops of this file.
pub(crate) const OPS: &[&OpDef] =
    &[&BUILD_ASYNC_SESSION, &TPUT_ASYNC, &TGET_ASYNC, &WAIT_ASYNC_EVENT, &TEST_ASYNC_EVENT, &TIMG2COL, &SETFMATRIX];

/// What all of them have in common.
const READ_ONLY: OpDef = OpDef {
    lower: |_, d| {
        Err(d.unsupported("a move to or from another device's memory, through a workspace that the vendor's runtime on the host makes,"))
    },
    ..PLAIN
};

const SESSION: TypeRule =
    TypeRule { describe: "an asynchronous session", accepts: |t| is_named(t, "pto.async_session") };
const EVENT: TypeRule = TypeRule { describe: "an asynchronous event", accepts: |t| is_named(t, "pto.async_event") };

fn is_named(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Named(text) if &**text == name)
}

pub static BUILD_ASYNC_SESSION: OpDef = OpDef {
    schema: OpSchema {
        aliases: &["pto.comm.build_async_session"],
        ..schema(
            "pto.build_async_session",
            Syntax::Format(
                "`(` $scratch `,` $workspace `:` type($scratch) `,` type($workspace) `)` attr-dict `->` type($session)",
            ),
            &[
                operand("scratch", TILE, Touch::ReadWrite, "local memory to work in"),
                operand("workspace", ANY, Touch::ReadWrite, "global memory to work in"),
            ],
            &[result("session", SESSION, Infer::Written, "the session")],
            &[
                defaulted("sync_id", AttrKind::Int, "flag to use"),
                defaulted("block_bytes", AttrKind::Int, "bytes of a block"),
                defaulted("comm_block_offset", AttrKind::Int, "first byte"),
                defaulted("queue_num", AttrKind::Int, "queues"),
                defaulted("channel_group_idx", AttrKind::Int, "group of channels"),
            ],
        )
    },
    summary: "Prepare moves that run beside the kernel",
    doc: "A session for `pto.tput_async` and `pto.tget_async`. Cannot be run yet.",
    source: "PTO IR of the public assembler, asynchronous moves",
    ..READ_ONLY
};

const ASYNC_MOVE: OpSchema = schema(
    "",
    Syntax::Format("`(` $operands `:` type($operands) `)` attr-dict `->` type($event)"),
    &[variadic(
        "operands",
        ANY,
        Touch::ReadWrite,
        "destination and source of a put, source and destination of a get, and the session",
    )],
    &[result("event", EVENT, Infer::Written, "completes with the move")],
    &[],
);

pub static TPUT_ASYNC: OpDef = OpDef {
    schema: OpSchema { name: "pto.tput_async", aliases: &["pto.comm.tput_async"], ..ASYNC_MOVE },
    summary: "Start a move from global memory to another device's",
    doc: "Operands: destination, source, session. Both memories are flat and contiguous. Cannot be run yet.",
    source: "PTO IR of the public assembler, asynchronous moves",
    verify: |op, _, diags| verify_async(op, ["dst", "src"], diags),
    ..READ_ONLY
};

pub static TGET_ASYNC: OpDef = OpDef {
    schema: OpSchema { name: "pto.tget_async", aliases: &["pto.comm.tget_async"], ..ASYNC_MOVE },
    summary: "Start a move from another device's global memory",
    doc: "Operands: source, destination, session. Both memories are flat and contiguous. Cannot be run yet.",
    source: "PTO IR of the public assembler, asynchronous moves",
    verify: |op, _, diags| verify_async(op, ["src", "dst"], diags),
    ..READ_ONLY
};

fn verify_async(op: &OpRef<'_>, names: [&str; 2], diags: &mut Diags) {
    let operands = op.operands("operands");
    if operands.len() != 3 || !(SESSION.accepts)(op.module.ty(operands[2])) {
        diags.push(op.error("async-operands", format!("expects {}, {} and a session", names[0], names[1])));
        return;
    }
    for (value, name) in operands.iter().zip(names) {
        let dims: &[Dim] = match op.module.ty(*value) {
            Type::MemRef(memref) => &memref.dims,
            Type::PartitionView(view) | Type::TensorView(view) => &view.dims,
            _ => continue,
        };
        let long = dims.iter().filter(|dim| dim.known() != Some(1)).count();
        if long > 1 || dims.iter().any(|dim| dim.known().is_none()) {
            let message = format!("expects {name} to be a static flat contiguous logical 1D GM memref or view");
            diags.push(op.error("async-shape", message));
        }
    }
}

const ASYNC_EVENT: OpSchema = schema(
    "",
    Syntax::Format("`(` $event `,` $session `:` type($event) `,` type($session) `)` attr-dict `->` type($done)"),
    &[operand("event", EVENT, Touch::Nothing, "the move"), operand("session", SESSION, Touch::Nothing, "its session")],
    &[result("done", BOOL, Infer::Fixed(|| Type::I1), "true once it is complete")],
    &[],
);

/// Loads into the cache are over at once, and nothing else that runs beside a kernel gets so far.
const OVER: OpDef = OpDef {
    source: "PTO IR of the public assembler, asynchronous moves",
    lower: |op, d| {
        d.bind(op.result(0), Binding::Scalar(Operand::Imm(1)));
        Ok(())
    },
    ..PLAIN
};

pub static WAIT_ASYNC_EVENT: OpDef = OpDef {
    schema: OpSchema { name: "pto.wait_async_event", aliases: &["pto.comm.wait_async_event"], ..ASYNC_EVENT },
    summary: "Wait until a move beside the kernel is complete",
    doc: "True if it succeeded. A load into the cache (`pto.tprefetch_async`) always has; moves between devices are not run.",
    ..OVER
};

pub static TEST_ASYNC_EVENT: OpDef = OpDef {
    schema: OpSchema { name: "pto.test_async_event", aliases: &["pto.comm.test_async_event"], ..ASYNC_EVENT },
    summary: "Ask whether a move beside the kernel is complete",
    doc: "True if it is. A load into the cache (`pto.tprefetch_async`) always is; moves between devices are not run.",
    ..OVER
};

/// Ops on feature maps. Their tiles have five dimensions, sizes, paddings and strides of a convolution, which the library's C++ says
/// in types of its own and no type of the text does.
const FEATURE_MAP: OpDef = OpDef {
    verify: |op, _, diags| {
        let name = op.def.schema.name;
        diags.push(
            op.error("no-type", format!("`{name}` works on a feature map, which no type of the text describes"))
                .label("a tile of five dimensions with the sizes, paddings and strides of a convolution")
                .help("lay the columns out in global memory, or with loads of windows, and multiply those"),
        );
    },
    lower: |_, _| Err(slipring_op::def::Reported),
    source: "tile ISA, page of the same name",
    ..PLAIN
};

pub static TIMG2COL: OpDef = OpDef {
    schema: schema(
        "pto.timg2col",
        Syntax::InsOuts { ins: 1, attrs_in_ins: true },
        &[
            operand("src", ANY, Touch::Read, "the feature map"),
            operand("dst", ANY, Touch::Write, "where its columns go"),
        ],
        &[],
        &[],
    ),
    summary: "Columns of a feature map, for convolutions: refused",
    doc: "Known by name. The text has no type for a feature map, so what it would do cannot be said: an error.",
    ..FEATURE_MAP
};

pub static SETFMATRIX: OpDef = OpDef {
    schema: schema(
        "pto.SETFMATRIX",
        Syntax::Format("$config `:` type($config) attr-dict `->` `(` `)`"),
        &[operand("config", ANY, Touch::Nothing, "sizes and paddings of a convolution")],
        &[],
        &[],
    ),
    summary: "Sizes of a feature map for `pto.timg2col`: refused",
    doc: "Known by name. The text has no type for a feature map, so what it would do cannot be said: an error.",
    ..FEATURE_MAP
};
