//! Moves of whole tiles between local memories.

use slipring_ir::{Attr, AttrKind, AttrSpec, Diags, OperandSpec, Syntax, Touch};
use slipring_machine::{Pipe, Platform, Role, cost_types};
use slipring_program::Operand;
use slipring_tile::{Elem, Space};

use super::store::accumulator_types;
use slipring_effect::{Finish, Taken, TileMove, TileMoveArgs};
use slipring_op::decode::{Decoder, TileRef};
use slipring_op::def::{CoreRule, Lowered, OpDef, OpRef, PipeRule, Reported, Transfer};
use slipring_op::rules::{INTEGER, PLAIN, TILE, defaulted, operand, optional, require_space, schema};
use slipring_op::{Along, TileRules, ops};

use crate::dma::ways::{
    ACC_TO_VEC_MODE, FP, OUT_OF_THE_ACCUMULATOR, RELU_PRE_MODE, SCALING, fp_doc, place, relu, require_acc_to_mat,
    require_way, shape, way_out,
};

/// A scale for each column of an accumulator store.
pub(super) const SCALES: OperandSpec =
    optional("fp", SCALING, Touch::Read, "quantisation parameters, one for each column");
/// A scale for all columns.
pub(super) const SCALE: OperandSpec =
    optional("preQuantScalar", INTEGER, Touch::Nothing, "scale on the way out of the accumulator: bits of an f32");
/// The destination in the Vector cores.
pub(super) const MODE: AttrSpec = defaulted(
    "accToVecMode",
    AttrKind::Enum(ACC_TO_VEC_MODE),
    "out of the accumulator into UB: which Vector core receives it, or how it is split",
);
/// The axis along which scales of exponents are grouped, of a form that is not modelled.
const GROUP_AXIS: AttrSpec =
    defaulted("grpAxis", AttrKind::Enum(crate::vector::blocks::GROUP_AXIS), "of a form that is not modelled: see `fp`");
/// ReLU in an accumulator store.
pub(super) const RELU: AttrSpec =
    defaulted("reluPreMode", AttrKind::Enum(RELU_PRE_MODE), "`normal_relu`: negative values become 0 first");

pub static TMOV: OpDef = OpDef {
    schema: schema(
        "pto.tmov",
        Syntax::InsOuts { ins: 3, attrs_in_ins: false },
        &[
            operand("src", TILE, Touch::Read, "the tile to move"),
            OperandSpec { ty: TILE, ..SCALES },
            SCALE,
            operand("dst", TILE, Touch::Write, "where it goes"),
        ],
        &[],
        &[MODE, RELU, GROUP_AXIS],
    )
    .in_generic_form(&["src", "dst", "fp", "preQuantScalar"]),
    summary: "Move a tile to another local memory or layout",
    doc: "`dst[i, j] = src[i, j]` for the rows and columns that both valid shapes have in common; elements land where \
          the layout of `dst` puts them. Ways: L1 to L0A, L0B, the bias table, the scale buffer or the scales beside L0A and L0B; UB to UB or to the \
          Cube core's L1; the accumulator to L1 or to the Vector cores' UB. Out of the accumulator elements may change \
          as in `pto.tstore`: ReLU, scale, conversion. Into UB `single_mode_vec0` (the default) and `single_mode_vec1` \
          choose the Vector core; `dual_mode_split_m` gives the upper half of the source's rows to Vector core 0 and the \
          lower to 1, `dual_mode_split_n` the left and right halves of its columns. Into the bias table narrow floats \
          become f32. With `fp` each column has a scale of its own: see `pto.tmov.fp`.",
    source: "PTO IR manual 4.3; tile ISA, TMOV",
    core: CoreRule::ByTile,
    along: Along::EACH,
    transfer: Some(Transfer::Whole),
    pipe: PipeRule::By(|op, _| pipe_of(op.space("src"), op.space("dst"))),
    class: "move",
    verify: verify_move,
    lower: lower_move,
    ..PLAIN
};

ops! {
    OPS [&TMOV];

    /// As `pto.tmov` out of the accumulator, column j by parameter j.
    pub TMOV_FP "pto.tmov.fp" "Move an accumulator with a quantisation parameter for each column" [fp_doc]: PLAIN,
        source: "PTO IR manual 4.15; tile ISA, TMOV_FP; device headers, GetVectorPreQuantMode", core: CoreRule::Cube,
        pipe: PipeRule::Fixed(Pipe::Fix), verify: verify_tmov_fp, lower: lower_move,
        tiles: TileRules { layouts: &[OUT_OF_THE_ACCUMULATOR], shapes: &[] }
        => {
            syntax: Syntax::InsOuts { ins: 2, attrs_in_ins: false },
            operands: &[
                operand("src", TILE, Touch::Read, "the accumulator"),
                FP,
                operand("dst", TILE, Touch::Write, "where it goes"),
            ],
        };
}

fn verify_tmov_fp(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    if require_space(op, "src", &[Space::Acc], diags) {
        verify_move(op, platform, diags);
    }
}

/// The pipe of a move between two memories.
pub(super) fn pipe_of(from: Option<Space>, to: Option<Space>) -> Pipe {
    match (from, to) {
        // The pipe that reads the scale buffer also loads it (`event.hpp`, TMOV_M2S).
        (Some(Space::Mat), Some(Space::Scaling)) => Pipe::Fix,
        (Some(Space::Mat), _) => Pipe::Mte1,
        (Some(Space::Acc), _) => Pipe::Fix,
        (Some(Space::Vec), Some(Space::Mat)) => Pipe::Mte3,
        _ => Pipe::V,
    }
}

const WAYS: [(Space, &[Space]); 3] = [
    (Space::Mat, &[Space::Left, Space::Right, Space::Bias, Space::Scaling, Space::LeftScale, Space::RightScale]),
    (Space::Vec, &[Space::Vec, Space::Mat]),
    (Space::Acc, &[Space::Mat, Space::Vec]),
];

fn verify_move(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    let (Some(from), Some(to)) = (op.space("src"), op.space("dst")) else { return };
    if !third_tile(op, diags) {
        return;
    }
    if !WAYS.iter().any(|(source, targets)| *source == from && targets.contains(&to)) {
        let ways: Vec<String> = WAYS
            .iter()
            .flat_map(|(source, targets)| targets.iter().map(move |target| format!("{source}->{target}")))
            .collect();
        diags.push(
            op.error("move-way", format!("no tile moves from `{from}` to `{to}`"))
                .help(format!("the ways are {}", ways.join(", "))),
        );
        return;
    }
    if !require_way(op, platform, "tile", (from, to), diags) {
        return;
    }
    let quantised = way_rules(op, (from, to), diags);
    let (Some(source), Some(target)) = (op.tile("src"), op.tile("dst")) else { return };
    if to.is_scale() && (source.layout.blayout, source.layout.slayout) != (target.layout.blayout, target.layout.slayout)
    {
        diags.push(
            op.error("move-layout", format!("expects src to lie as `{to}` does"))
                .help("load the scales into a tile of L1 with the layout and fractal of dst"),
        );
    }
    if from == Space::Mat && (source.layout.rows, source.layout.cols) != (target.layout.rows, target.layout.cols) {
        diags.push(op.error(
            "move-shape",
            format!("expects src shape ({}) to match dst shape ({})", shape(&source.layout), shape(&target.layout)),
        ));
    }
    move_types(op, platform, source.layout.elem, target.layout.elem, (from, to), quantised, diags);
}

/// Reports a third tile that is not one of quantisation parameters. False if there is one.
fn third_tile(op: &OpRef<'_>, diags: &mut Diags) -> bool {
    let space = op.if_declared("fp").and_then(|value| op.module.ty(value).space());
    let grouped = op.attr("grpAxis").is_some();
    match space {
        None | Some(Space::Scaling) if !grouped => return true,
        Some(Space::Vec) | None => {
            let message =
                "`pto.tmov` of exponents into the order of the matrix unit (X to ZZ, with `tmp`) is not modelled";
            diags.push(op.error(slipring_ir::Kind::Unsupported, message));
        }
        Some(_) if grouped => diags.push(op.error("attribute", "expects `grpAxis` with a working tile in UB only")),
        Some(other) => diags.push(
            op.error("operand-type", format!("`fp` of `pto.tmov` must be {}", SCALING.describe))
                .label(format!("it is in `{other}`")),
        ),
    }
    false
}

/// Reports options of accumulator stores on other moves. True if the tile is scaled.
pub(super) fn way_rules(op: &OpRef<'_>, (from, to): (Space, Space), diags: &mut Diags) -> bool {
    let (fp, scalar) = (op.if_declared("fp").is_some(), op.if_declared("preQuantScalar").is_some());
    let (quantised, mode) = (fp || scalar, op.text("accToVecMode"));
    if fp && scalar {
        diags.push(op.error("move-quant", "expects a scale for all columns or one for each, not both"));
    }
    if from != Space::Acc && (quantised || relu(op)) {
        diags.push(op.error("move-quant", "expects src to use loc=acc for reluPreMode, fp and preQuantScalar"));
    }
    if mode.is_some() && (from, to) != (Space::Acc, Space::Vec) {
        diags.push(op.error("move-mode", "expects accToVecMode only from loc=acc to loc=vec"));
    }
    if quantised && mode.is_some_and(|mode| mode.starts_with("dual")) {
        diags.push(op.error("move-mode", "expects a single accToVecMode with fp or preQuantScalar"));
    }
    quantised
}

/// Reports conversions that a move between two memories does not support.
pub(super) fn move_types(
    op: &OpRef<'_>,
    platform: &Platform,
    from: Elem,
    to: Elem,
    way: (Space, Space),
    quantised: bool,
    diags: &mut Diags,
) {
    let widens = matches!((from, to), (Elem::F16 | Elem::BF16, Elem::F32));
    match way {
        (Space::Acc, Space::Mat) if !quantised => require_acc_to_mat(op, platform, from, to, diags),
        (Space::Acc, _) => accumulator_types(op, platform, from, to, quantised, diags),
        (_, Space::Bias) if from == to || widens => {}
        _ if from == to => {}
        _ => diags.push(op.error("move-type", format!("a move does not turn {from} into {to}")).help("use `pto.tcvt`")),
    }
}

fn lower_move(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let source = d.tile(op.operand("src").ok_or(Reported)?)?;
    let target = d.tile(op.operand("dst").ok_or(Reported)?)?;
    let (finish, scale) = way_out(op, d)?;
    issue_move(op, d, (&source, &target), Taken::Common, finish, [Operand::Imm(0), Operand::Imm(0), scale]);
    Ok(())
}

/// Issues a move. `extra` holds row and column of the window and the bits of the scale.
pub(super) fn issue_move(
    op: &OpRef<'_>,
    d: &mut Decoder<'_>,
    (source, target): (&TileRef, &TileRef),
    taken: Taken,
    finish: Finish,
    extra: [Operand; 3],
) {
    let (from, mut to) = (place(d, source), place(d, target));
    to.core = match (from.space, to.space) {
        (Space::Acc, Space::Vec) => Role::lane(usize::from(op.text("accToVecMode") == Some("single_mode_vec1"))),
        (Space::Vec, Space::Mat) => Role::Aic,
        _ => d.role,
    };
    let by_valid = d.moves_by_valid(source);
    d.out_of_product(source, by_valid);
    let halves = match op.text("accToVecMode") {
        Some("dual_mode_split_m") => Some(0),
        Some("dual_mode_split_n") => Some(1),
        _ => None,
    };
    let effect = TileMove { from, to, taken, halves, finish };
    let [row, col, scale] = extra;
    let ([from_rows, from_cols], [to_rows, to_cols]) = (source.valid, target.valid);
    let args =
        TileMoveArgs { from: source.addr, from_rows, from_cols, to: target.addr, to_rows, to_cols, row, col, scale };
    let pipe = pipe_of(Some(from.space), Some(to.space));
    let cost = match pipe {
        Pipe::V => d.platform.vector_cost("tmov", "move", &cost_types(from.layout.elem, None)),
        _ => d.platform.dma_cost(from.space, to.space),
    };
    d.issue(pipe, effect, args.list(), cost);
}

/// The attribute of a move from the accumulator to UB: the Vector core that gets the tile, or the axis (0 rows, 1
/// columns) that is halved between both.
pub fn to_vector(lane: Option<usize>, halves: Option<usize>) -> (&'static str, Attr) {
    let member = match (halves, lane) {
        (Some(0), _) => "dual_mode_split_m",
        (Some(_), _) => "dual_mode_split_n",
        (None, Some(1)) => "single_mode_vec1",
        (None, _) => "single_mode_vec0",
    };
    ("accToVecMode", Attr::member(ACC_TO_VEC_MODE.kind, member))
}
