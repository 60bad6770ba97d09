//! Programs around one op each, for ops that no file test or example runs: operations on tiles, and vector functions
//! with one instruction plus loads of its registers and stores of its results.

use std::fmt::Write;

use crate::audit::kit;
use crate::audit::numbers::{Ty, elements};
use crate::audit::run::{self, Tile};

/// A program, and the bytes of its parameters.
pub struct Program {
    pub op: &'static str,
    pub arch: &'static str,
    pub text: String,
    pub inputs: Vec<Vec<u8>>,
}

/// The text before an op.
const NUMBERS: &str =
    "  %f = arith.constant 1.5 : f32\n  %i = arith.constant 3 : i32\n  %x = arith.constant 1 : index\n";

/// Operations on tiles: the op, what follows its name, and each tile's type, rows, bytes of a row, valid rows and columns.
type OnTiles = (&'static str, &'static str, &'static [(&'static str, usize, usize, [usize; 2])]);

const F: (&str, usize, usize, [usize; 2]) = ("f32", 3, 96, [3, 21]);
const I: (&str, usize, usize, [usize; 2]) = ("i32", 3, 96, [3, 21]);
const U: (&str, usize, usize, [usize; 2]) = ("ui32", 3, 96, [3, 21]);
const MASK: (&str, usize, usize, [usize; 2]) = ("ui8", 3, 32, [3, 32]);
const COLUMN: (&str, usize, usize, [usize; 2]) = ("f32", 3, 32, [3, 1]);
const ROW: (&str, usize, usize, [usize; 2]) = ("f32", 1, 96, [1, 21]);
const SMALL: (&str, usize, usize, [usize; 2]) = ("f32", 3, 96, [2, 17]);
const PLACES: (&str, usize, usize, [usize; 2]) = ("i32", 3, 32, [3, 1]);
const PLACES_OF_COLUMNS: (&str, usize, usize, [usize; 2]) = ("i32", 1, 96, [1, 21]);

const TWO: &str = "ins(%t0, %t1 : !t0, !t1) outs(%t2 : !t2)";
const ONE: &str = "ins(%t0 : !t0) outs(%t1 : !t1)";
const THREE: &str = "ins(%t0, %t1, %t2 : !t0, !t1, !t2) outs(%t3 : !t3)";
const WITH: &str = "ins(%t0, %f : !t0, f32) outs(%t1 : !t1)";
const BETWEEN: &str = "ins(%t0, %f, %t1 : !t0, f32, !t1) outs(%t2 : !t2)";

const ON_TILES: &[OnTiles] = &[
    ("pto.trem", TWO, &[F, F, F]),
    ("pto.tfmod", TWO, &[F, F, F]),
    ("pto.tpartadd", TWO, &[F, SMALL, F]),
    ("pto.tpartmul", TWO, &[SMALL, F, F]),
    ("pto.tpartmax", TWO, &[F, SMALL, F]),
    ("pto.tpartmin", TWO, &[SMALL, F, F]),
    ("pto.tprelu", TWO, &[F, F, F]),
    ("pto.tor", TWO, &[I, I, I]),
    ("pto.txor", TWO, &[I, I, I]),
    ("pto.tshl", TWO, &[I, I, I]),
    ("pto.tshr", TWO, &[U, U, U]),
    ("pto.txors", "ins(%t0, %i : !t0, i32) outs(%t1 : !t1)", &[I, I]),
    ("pto.trems", WITH, &[F, F]),
    ("pto.taxpy", WITH, &[F, F]),
    ("pto.tlrelu", WITH, &[F, F]),
    ("pto.taddc", THREE, &[F, F, F, F]),
    ("pto.tsubc", THREE, &[I, I, I, I]),
    ("pto.taddsc", BETWEEN, &[F, F, F]),
    ("pto.tsubsc", BETWEEN, &[F, F, F]),
    ("pto.trowargmax", ONE, &[F, PLACES]),
    ("pto.trowargmin", ONE, &[F, PLACES]),
    ("pto.tcolargmax", ONE, &[F, PLACES_OF_COLUMNS]),
    ("pto.tcolargmin", ONE, &[F, PLACES_OF_COLUMNS]),
    ("pto.trowexpandexpdif", TWO, &[F, COLUMN, F]),
    ("pto.tcolexpanddiv", TWO, &[F, ROW, F]),
    ("pto.tcolexpandmin", TWO, &[F, ROW, F]),
    ("pto.tcolexpandexpdif", TWO, &[F, ROW, F]),
    ("pto.tcmp", "ins(%t0, %t1 {cmpMode = #pto<cmp lt>} : !t0, !t1) outs(%t2 : !t2)", &[F, F, MASK]),
    ("pto.tsel", THREE, &[MASK, F, F, F]),
    ("pto.tpack", ONE, &[I, ("i16", 3, 64, [3, 21])]),
    ("pto.ttri", "ins(%i : i32) outs(%t0 : !t0)", &[F]),
    ("pto.tinsert", "ins(%t0, %x, %x : !t0, index, index) outs(%t1 : !t1)", &[SMALL, F]),
    (
        "pto.tgetval",
        "ins(%t0, %x : !t0, index) outs : f32\n  pto.tsetval ins(%x, %e : index, f32) outs(%t1 : !t1)",
        &[F, F],
    ),
];

/// Vector instructions: the type of the registers `%va`, `%vb` and `%vc`, the instruction with `V` for that type and
/// `M` for its mask `%m`, and the types of its results `%r0`, `%r1`. An instruction that produces a mask is followed by
/// one that converts the mask to `%r0`.
type OnLanes = (&'static str, kit::Ty, &'static str, &'static [kit::Ty]);

const F32: kit::Ty = kit::Ty("f32", 4);
const I32: kit::Ty = kit::Ty("i32", 4);
const U32: kit::Ty = kit::Ty("ui32", 4);
const I16: kit::Ty = kit::Ty("i16", 2);
const U16: kit::Ty = kit::Ty("ui16", 2);
const F16: kit::Ty = kit::Ty("f16", 2);

const ON_LANES: &[OnLanes] = &[
    ("pto.vneg", F32, "%r0 = pto.vneg %va, %m : V, M -> V", &[F32]),
    ("pto.vexp", F32, "%r0 = pto.vexp %va, %m : V, M -> V", &[F32]),
    ("pto.vln", F32, "%r0 = pto.vln %va, %m : V, M -> V", &[F32]),
    ("pto.vsqrt", F32, "%r0 = pto.vsqrt %va, %m : V, M -> V", &[F32]),
    ("pto.vrelu", F32, "%r0 = pto.vrelu %va, %m : V, M -> V", &[F32]),
    ("pto.vnot", I32, "%r0 = pto.vnot %va, %m : V, M -> V", &[I32]),
    ("pto.vsub", F32, "%r0 = pto.vsub %va, %vb, %m : V, V, M -> V", &[F32]),
    ("pto.vmul", F32, "%r0 = pto.vmul %va, %vb, %m : V, V, M -> V", &[F32]),
    ("pto.vdiv", F32, "%r0 = pto.vdiv %va, %vb, %m : V, V, M -> V", &[F32]),
    ("pto.vmax", F32, "%r0 = pto.vmax %va, %vb, %m : V, V, M -> V", &[F32]),
    ("pto.vmin", F32, "%r0 = pto.vmin %va, %vb, %m : V, V, M -> V", &[F32]),
    ("pto.vand", I32, "%r0 = pto.vand %va, %vb, %m : V, V, M -> V", &[I32]),
    ("pto.vor", I32, "%r0 = pto.vor %va, %vb, %m : V, V, M -> V", &[I32]),
    ("pto.vxor", I32, "%r0 = pto.vxor %va, %vb, %m : V, V, M -> V", &[I32]),
    ("pto.vshl", I32, "%r0 = pto.vshl %va, %vb, %m : V, V, M -> V", &[I32]),
    ("pto.vshr", U32, "%r0 = pto.vshr %va, %vb, %m : V, V, M -> V", &[U32]),
    ("pto.vprelu", F32, "%r0 = pto.vprelu %va, %vb, %m : V, V, M -> V", &[F32]),
    ("pto.vadds", F32, "%r0 = pto.vadds %va, %f, %m : V, f32, M -> V", &[F32]),
    ("pto.vmaxs", F32, "%r0 = pto.vmaxs %va, %f, %m : V, f32, M -> V", &[F32]),
    ("pto.vmins", F32, "%r0 = pto.vmins %va, %f, %m : V, f32, M -> V", &[F32]),
    ("pto.vlrelu", F32, "%r0 = pto.vlrelu %va, %f, %m : V, f32, M -> V", &[F32]),
    ("pto.vshls", I32, "%r0 = pto.vshls %va, %h, %m : V, i16, M -> V", &[I32]),
    ("pto.vaddc", U32, "%r0, %k = pto.vaddc %va, %vb, %m : V, V, M -> V, M", &[U32]),
    ("pto.vsubc", U32, "%r0, %k = pto.vsubc %va, %vb, %m : V, V, M -> V, M", &[U32]),
    ("pto.vaddcs", U32, "%r0, %k = pto.vaddcs %va, %vb, %m, %m : V, V, M, M -> V, M", &[U32]),
    ("pto.vsubcs", U32, "%r0, %k = pto.vsubcs %va, %vb, %m, %m : V, V, M, M -> V, M", &[U32]),
    ("pto.vmula", F32, "%r0 = pto.vmula %vc, %va, %vb, %m : V, V, V, M -> V", &[F32]),
    ("pto.vaxpy", F32, "%r0 = pto.vaxpy %va, %vb, %f, %m : V, V, f32, M -> V", &[F32]),
    ("pto.vexpdif", F32, "%r0 = pto.vexpdif %va, %vb, %m, \"ODD\" : V, V, M -> V", &[F32]),
    ("pto.vmull", I32, "%r0, %r1 = pto.vmull %va, %vb, %m : V, V, M -> V, V", &[I32, I32]),
    ("pto.vtrc", F32, "%r0 = pto.vtrc %va, %m, \"R\" : V, M -> V", &[F32]),
    ("pto.vci", I32, "%r0 = pto.vci %i {order = \"DESC\"} : i32 -> V", &[I32]),
    ("pto.vcmax", F32, "%r0 = pto.vcmax %va, %m : V, M -> V", &[F32]),
    ("pto.vcmin", F32, "%r0 = pto.vcmin %va, %m : V, M -> V", &[F32]),
    ("pto.vcgadd", F32, "%r0 = pto.vcgadd %va, %m : V, M -> V", &[F32]),
    ("pto.vcgmax", F32, "%r0 = pto.vcgmax %va, %m : V, M -> V", &[F32]),
    ("pto.vcgmin", F32, "%r0 = pto.vcgmin %va, %m : V, M -> V", &[F32]),
    ("pto.vcpadd", F32, "%r0 = pto.vcpadd %va, %m : V, M -> V", &[F32]),
    (
        "pto.vcmp",
        F32,
        "%k = pto.vcmp %va, %vb, %m, \"lt\" : V, V, M -> M\n    %r0 = pto.vsel %va, %vb, %k : V, V, M -> V",
        &[F32],
    ),
    ("pto.vsel", F32, "%r0 = pto.vsel %va, %vb, %m : V, V, M -> V", &[F32]),
    ("pto.vselr", I32, "%r0 = pto.vselr %va, %vb : V, V -> V", &[I32]),
    ("pto.vintlvv2", F32, "%r0 = pto.vintlvv2 %va, %vb, \"HIGHER\" : V, V -> V", &[F32]),
    ("pto.vdintlvv2", F32, "%r0 = pto.vdintlvv2 %va, %vb, \"LOWER\" : V, V -> V", &[F32]),
    ("pto.vusqz", I32, "%r0 = pto.vusqz %va, %m : V, M -> V", &[I32]),
    ("pto.vpack", I32, "%r0 = pto.vpack %va, \"HIGHER\" : V -> !pto.vreg<128xui16>", &[U16]),
    ("pto.vsunpack", I16, "%r0 = pto.vsunpack %va, %x : V -> !pto.vreg<64xi32>", &[I32]),
    ("pto.vzunpack", I16, "%r0 = pto.vzunpack %va, %x : V -> !pto.vreg<64xi32>", &[I32]),
    ("pto.vbitcast", I16, "%r0 = pto.vbitcast %va : V -> !pto.vreg<128xui16>", &[U16]),
    (
        "pto.vcvt",
        F32,
        "%r0 = pto.vcvt %va, %m {rnd = \"R\", sat = \"SAT\", part = \"ODD\"} : V, M -> !pto.vreg<128xf16>",
        &[F16],
    ),
];

/// Every program.
pub fn all() -> Vec<Program> {
    let on_tiles = ON_TILES.iter().map(|(op, rest, shapes)| {
        let tiles: Vec<Tile> = shapes
            .iter()
            .enumerate()
            .map(|(at, (ty, rows, bytes, valid))| {
                let (ty, cols) = (Ty(ty), bytes / Ty(ty).bytes());
                Tile { ty, shape: [*rows, cols], valid: *valid, data: elements(ty, rows * cols, 7 + at as u64) }
            })
            .collect();
        let result = if rest.contains("%e") { "%e = " } else { "" };
        let text = run::program("a5", &format!("{NUMBERS}  {result}{op} {rest}"), &tiles);
        let inputs = tiles.iter().map(|tile| crate::audit::numbers::bytes(tile.ty, &tile.data)).collect();
        Program { op, arch: "a5", text, inputs }
    });
    let on_lanes = ON_LANES.iter().map(|(op, ty, line, results)| {
        let mut text = ["a", "b", "c"].map(|name| kit::load_reg(name, *ty)).concat() + &kit::mask(*ty, ty.lanes() - 5);
        let line = line.replace(" M", &format!(" !pto.mask<b{}>", ty.mask())).replace('V', &ty.vreg());
        writeln!(text, "    {line}").unwrap();
        for (at, result) in results.iter().enumerate() {
            text += &kit::store_reg(&format!("r{at}"), *result, at);
        }
        let more = format!("{NUMBERS}  %h = arith.constant 3 : i16");
        let noise = |seed: u64| kit::noise(seed, 256).into_iter().flat_map(u64::to_le_bytes).collect::<Vec<u8>>();
        let inputs = (1..=4).map(noise).collect();
        Program { op, arch: "a5", text: kit::program(&more, &text, 3), inputs }
    });
    on_tiles.chain(on_lanes).collect()
}
