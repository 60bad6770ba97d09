//! Asynchronous moves between devices, which are parsed, printed and verified but cannot be run yet, and ops that are
//! known but rejected.

use slipring_ir::{AttrKind, Diags, Dim, Infer, OpSchema, Syntax, Touch, Type, TypeRule};

use slipring_op::decode::Binding;
use slipring_op::def::{OpDef, OpRef};
use slipring_op::ops;
use slipring_op::rules::{ANY, BOOL, PLAIN, TILE, defaulted, operand, result, schema, variadic};
use slipring_program::Operand;

/// The base of ops that are not run.
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

ops! {
    OPS;

    /// A session for `pto.tput_async` and `pto.tget_async`. Cannot be run yet.
    pub BUILD_ASYNC_SESSION "pto.build_async_session" "Prepare moves that run beside the kernel": READ_ONLY,
        source: "PTO IR of the public assembler, asynchronous moves"
        => {
            syntax: Syntax::Format(
                "`(` $scratch `,` $workspace `:` type($scratch) `,` type($workspace) `)` attr-dict `->` type($session)",
            ),
            operands: &[
                operand("scratch", TILE, Touch::ReadWrite, "local memory to work in"),
                operand("workspace", ANY, Touch::ReadWrite, "global memory to work in"),
            ],
            results: &[result("session", SESSION, Infer::Written, "the session")],
            attrs: &[
                defaulted("sync_id", AttrKind::Int, "flag to use"),
                defaulted("block_bytes", AttrKind::Int, "bytes of a block"),
                defaulted("comm_block_offset", AttrKind::Int, "first byte"),
                defaulted("queue_num", AttrKind::Int, "queues"),
                defaulted("channel_group_idx", AttrKind::Int, "group of channels"),
            ],
            aliases: &["pto.comm.build_async_session"],
        };

    /// Operands: destination, source, session. Both memories are flat and contiguous. Cannot be run yet.
    pub TPUT_ASYNC "pto.tput_async" "Start a move from global memory to another device's": READ_ONLY.with(ASYNC_MOVE),
        source: "PTO IR of the public assembler, asynchronous moves",
        verify: |op, _, diags| verify_async(op, ["dst", "src"], diags)
        => { aliases: &["pto.comm.tput_async"] };

    /// Operands: source, destination, session. Both memories are flat and contiguous. Cannot be run yet.
    pub TGET_ASYNC "pto.tget_async" "Start a move from another device's global memory": READ_ONLY.with(ASYNC_MOVE),
        source: "PTO IR of the public assembler, asynchronous moves",
        verify: |op, _, diags| verify_async(op, ["src", "dst"], diags)
        => { aliases: &["pto.comm.tget_async"] };

    /// True if it succeeded. A load into the cache (`pto.tprefetch_async`) always has; moves between devices are not
    /// run.
    pub WAIT_ASYNC_EVENT "pto.wait_async_event"
        "Wait until a move beside the kernel is complete": OVER.with(ASYNC_EVENT)
        => { aliases: &["pto.comm.wait_async_event"] };

    /// True if it is. A load into the cache (`pto.tprefetch_async`) always is; moves between devices are not run.
    pub TEST_ASYNC_EVENT "pto.test_async_event"
        "Ask whether a move beside the kernel is complete": OVER.with(ASYNC_EVENT)
        => { aliases: &["pto.comm.test_async_event"] };

    /// Known by name. The text has no type for a feature map, so what it would do cannot be said: an error.
    pub TIMG2COL "pto.timg2col" "Columns of a feature map, for convolutions: refused": FEATURE_MAP
        => {
            syntax: Syntax::InsOuts { ins: 1, attrs_in_ins: true },
            operands: &[
                operand("src", ANY, Touch::Read, "the feature map"),
                operand("dst", ANY, Touch::Write, "where its columns go"),
            ],
        };

    /// Known by name. The text has no type for a feature map, so what it would do cannot be said: an error.
    pub SETFMATRIX "pto.SETFMATRIX" "Sizes of a feature map for `pto.timg2col`: refused": FEATURE_MAP
        => {
            syntax: Syntax::Format("$config `:` type($config) attr-dict `->` `(` `)`"),
            operands: &[operand("config", ANY, Touch::Nothing, "sizes and paddings of a convolution")],
        };
}

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

/// Loads into the cache complete immediately; no other asynchronous op gets here yet.
const OVER: OpDef = OpDef {
    source: "PTO IR of the public assembler, asynchronous moves",
    lower: |op, d| {
        d.bind(op.result(0), Binding::Scalar(Operand::Imm(1)));
        Ok(())
    },
    ..PLAIN
};

/// Ops on feature maps. Their tiles have five dimensions and the sizes, paddings and strides of a convolution. The
/// library's C++ has types for them, but the text does not.
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
