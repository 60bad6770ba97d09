//! Quantisation to short floats with an exponent for each group of 32 elements (PTO IR manual 4.15).

use slipring_effect::vector::{GROUP, Groups, Local, QuantiseGroups, SharedExponent, TileArg};
use slipring_ir::{AttrKind, Diags, EnumSpec, Kind, Syntax, TileType, Touch};
use slipring_machine::{Platform, Role};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpRef, Reported};
use slipring_op::ops;
use slipring_op::rules::{TILE, defaulted, operand, optional, required};
use slipring_tile::{Elem, Space};

use super::check::{self, Elems};
use super::lower::Operands;
use super::{VECTOR, apart, types};

/// `#pto<quant_type …>`.
const QUANT_TYPE: &EnumSpec = &EnumSpec { kind: "quant_type", numbered: false, members: &["MXFP8", "MXFP4_E2M1"] };
/// `#pto<quant_scale_alg …>`.
const SCALE_ALG: &EnumSpec = &EnumSpec { kind: "quant_scale_alg", numbered: false, members: &["ocp", "nv"] };
/// `#pto<mx_group_axis …>`.
pub(crate) const GROUP_AXIS: &EnumSpec =
    &EnumSpec { kind: "mx_group_axis", numbered: false, members: &["axis0", "axis1"] };
/// `#pto<vec_store_mode …>`.
const STORE_MODE: &EnumSpec = &EnumSpec { kind: "vec_store_mode", numbered: false, members: &["nd", "nz"] };

/// The source and the results.
const TILES: [&str; 5] = ["src", "dst", "exp", "max", "scaling"];

const BYTES: Elems = Elems::new("i8 or ui8", |elem| matches!(elem, Elem::I8 | Elem::U8));
const PAIRS: Elems = Elems::new("!pto.f4E2M1x2", |elem| elem == Elem::F4E2M1x2);

ops! {
    OPS;

    /// For each group of 32 columns (`axis0`: 32 rows) `max` is the largest magnitude, where NaN counts as the largest;
    /// `exp` the shared exponent, biased by 127; `scaling` 2 to the power of its negative; `dst` the elements times
    /// `scaling`, rounded to the nearest, ties to even, and saturated. `MXFP8` is e4m3, `MXFP4_E2M1` has two elements in
    /// a byte. `ocp`: the exponent of the maximum minus 8 (of e2m1: 2), at least 0. `nv`: the smallest with which the
    /// maximum, multiplied in f32 by 1/448 (1/6) as f32, is at most 1. A group with NaN has the exponent 255, NaN as its
    /// scale, and as its elements NaN (of e2m1: 6). 16-bit sources have the bits of a bf16 in `scaling`, and in `max`,
    /// whatever its type, but for `nv` of f16.
    ///
    /// `max` and `scaling` of groups of columns are contiguous from the beginning of their tiles; if `exp` has one row,
    /// its elements are, too. Of such a form the library stores whole registers into `scaling`: what is behind its
    /// numbers is uninitialised; and if it works on two registers at a time (f32, more than 1024 elements, tile and
    /// valid rows multiples of 256 elements), `scaling` has each number twice. With `interleave` the exponents of two
    /// groups of rows alternate. Padded 16-bit sources, 16-bit sources with an `exp` of several rows, and `exp_zz` are
    /// not modelled.
    pub TQUANT_MX "pto.tquant.mx" "Quantise groups to short floats with shared exponents (A5)": VECTOR,
        source: "PTO IR manual 4.15; tile library of the A5 and the generator of its test data, TQUANT",
        elems: types::GROUPED, verify: verify, lower: lower, class: "convert",
        apart: apart::EVERYWHERE
        => {
            syntax: Syntax::InsOuts { ins: 1, attrs_in_ins: false },
            operands: &[
                operand("src", TILE, Touch::Read, "what is quantised: f32, f16, bf16"),
                operand("dst", TILE, Touch::Write, "the short floats: i8 or ui8, packed pairs for MXFP4"),
                operand("exp", TILE, Touch::Write, "the shared exponents: i8 or ui8"),
                operand("max", TILE, Touch::Write, "the largest magnitude of each group"),
                operand("scaling", TILE, Touch::Write, "the factor of each group"),
                optional("exp_zz", TILE, Touch::Write, "the exponents as the matrix unit reads them, of an older form"),
            ],
            attrs: &[
                required("quant_type", AttrKind::Enum(QUANT_TYPE), "the short float"),
                defaulted("quantScaleAlg", AttrKind::Enum(SCALE_ALG), "how exponents are found; `ocp` by default"),
                defaulted("storeMode", AttrKind::Enum(STORE_MODE), "of `exp_zz`"),
                defaulted("grpAxis", AttrKind::Enum(GROUP_AXIS), "`axis1`: groups of columns, the default; `axis0`: of rows"),
                defaulted("interleave", AttrKind::Bool, "whether the exponents of two groups of rows alternate"),
            ],
        };
}

/// Physical and valid extents, rows first.
#[derive(Clone, Copy)]
struct Shape {
    all: [u64; 2],
    valid: [u64; 2],
}

impl Shape {
    fn of(tile: &TileType) -> Option<Shape> {
        let valid = [tile.valid[0].known()?, tile.valid[1].known()?];
        Some(Shape { all: [tile.layout.rows.into(), tile.layout.cols.into()], valid })
    }

    fn elements(self) -> u64 {
        self.all[0] * self.all[1]
    }
}

fn groups(op: &OpRef<'_>) -> Groups {
    match op.text("grpAxis") {
        Some("axis0") => Groups::Rows { interleaved: op.is_set("interleave") },
        _ => Groups::Columns { flat: op.tile("exp").is_some_and(|tile| tile.layout.rows == 1) },
    }
}

fn verify(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::spaces(op, diags);
    check::by_rows(op, &TILES, diags);
    let packed = op.text("quant_type") == Some("MXFP4_E2M1");
    check::elem(op, "dst", if packed { PAIRS } else { BYTES }, diags);
    check::elem(op, "exp", BYTES, diags);
    let Some(src) = op.tile("src") else { return };
    let elem = src.layout.elem;
    if packed && elem == Elem::F32 {
        diags.push(op.error("tile-elem", "expects MXFP4_E2M1 src element type to be f16/bf16"));
    }
    for name in ["max", "scaling"] {
        if op.tile(name).is_some_and(|tile| tile.layout.elem != elem) {
            diags.push(op.error("tile-elem", format!("expects {name} element type to match src element type")));
        }
    }
    if op.operand("exp_zz").is_some() || op.attr("storeMode").is_some() {
        return diags.push(op.error(Kind::Unsupported, "`exp_zz` of `pto.tquant.mx` is not modelled"));
    }
    if op.is_set("interleave") && !matches!(groups(op), Groups::Rows { .. }) {
        diags.push(op.error("attribute", "expects interleave to be used only with grpAxis=axis0"));
    }
    let shapes = TILES.map(|name| op.tile(name).and_then(Shape::of));
    for (name, _) in TILES.iter().zip(shapes).filter(|(_, shape)| shape.is_none()) {
        diags.push(op.error("tile-valid", format!("expects static valid and physical shapes for {name}")));
    }
    if let [Some(src), Some(dst), Some(exp), Some(max), Some(scaling)] = shapes {
        verify_shapes(op, elem, if packed { 2 } else { 1 }, [src, dst, exp, max, scaling], diags);
    }
}

fn verify_shapes(op: &OpRef<'_>, elem: Elem, pack: u64, shapes: [Shape; 5], diags: &mut Diags) {
    let [src, dst, exp, max, scaling] = shapes;
    let [rows, cols] = src.valid;
    let group = u64::from(GROUP);
    let mut require = |holds: bool, kind: &'static str, message: String| {
        if !holds {
            diags.push(op.error(kind, message));
        }
    };
    let (along, count, unit) = match groups(op) {
        Groups::Columns { .. } => ("columns", cols, group),
        Groups::Rows { interleaved } => ("rows", rows, if interleaved { 2 * group } else { group }),
    };
    let of_groups = match groups(op) {
        Groups::Columns { flat: true } => [1, rows * cols / group],
        Groups::Columns { flat: false } => [rows, cols / group],
        Groups::Rows { .. } => [rows / group, cols],
    };
    let exponents = match groups(op) {
        Groups::Rows { interleaved: true } => [rows / (2 * group), 2 * cols],
        _ => of_groups,
    };
    require(
        count > 0 && count % unit == 0,
        "tile-valid",
        format!("expects valid {along} of src to be a multiple of {unit}"),
    );
    require(
        cols % pack == 0 && src.all[1] % pack == 0,
        "tile-valid",
        "expects src to have an even number of columns".into(),
    );
    let expected = [("dst", dst, [rows, cols / pack]), ("exp", exp, exponents), ("max", max, of_groups)];
    for (name, shape, [lines, width]) in expected.into_iter().chain([("scaling", scaling, of_groups)]) {
        let [have, wide] = shape.valid;
        let message = format!("expects {name} to have {lines}x{width} valid elements, not {have}x{wide}");
        require(shape.valid == [lines, width], "tile-valid", message);
    }
    verify_storage(op, elem, pack, shapes, diags);
}

/// The rules of where results are stored, which follow from the columns of the source.
fn verify_storage(op: &OpRef<'_>, elem: Elem, pack: u64, [src, dst, exp, max, scaling]: [Shape; 5], diags: &mut Diags) {
    let tight = src.all[1] == src.valid[1];
    let of_rows = matches!(groups(op), Groups::Rows { .. });
    let mut refuse = |wrong: bool, message: &str| {
        if wrong {
            diags.push(op.error("tile-shape", message));
        }
    };
    refuse(
        (!of_rows || pack == 2) && dst.all[1] != src.all[1] / pack,
        "expects the rows of dst to be as far apart as those of src",
    );
    match groups(op) {
        Groups::Columns { flat } => {
            refuse(flat && !tight, "expects all columns of src to be valid if exp has one row");
            let count = src.valid[0] * src.valid[1] / u64::from(GROUP);
            refuse(max.elements() < count, "expects max to hold a number for each group");
            for (name, tile) in [("max", max), ("scaling", scaling)] {
                let contiguous = tile.valid[0] == 1 || tile.all[1] == tile.valid[1];
                refuse(!contiguous, &format!("expects the valid elements of {name} to be contiguous"));
            }
        }
        Groups::Rows { interleaved } => {
            let apart = [max, scaling].iter().any(|tile| tile.all[1] != src.all[1]);
            refuse(apart, "expects max and scaling to have the columns of src");
            let wanted = if interleaved { (2 * src.all[1]).next_multiple_of(32) } else { src.all[1] };
            refuse(exp.all[1] != wanted, &format!("expects exp to have {wanted} columns"));
            let whole = src.all[0].is_multiple_of(64) && exp.all[0] == src.all[0] / 64;
            refuse(interleaved && !whole, "expects src to have a multiple of 64 rows, and exp one for each 64 of them");
            let unaligned = pack == 2 && elem == Elem::F16 && !dst.all[1].is_multiple_of(32);
            refuse(unaligned, "expects rows of dst to be multiples of 32 bytes for an f16 source in groups of rows");
        }
    }
    let mut unmodelled = |message: &str| {
        diags.push(op.error(Kind::Unsupported, message));
    };
    match groups(op) {
        _ if elem != Elem::F32 && !tight => unmodelled("quantisation of a padded 16-bit source is not modelled"),
        Groups::Columns { flat: false } if elem != Elem::F32 => {
            unmodelled("quantisation of a 16-bit source with several rows of exponents is not modelled");
        }
        Groups::Columns { flat: true } if elem != Elem::F32 && op.text("quantScaleAlg") == Some("nv") => {
            unmodelled("`nv` of a 16-bit source with one row of exponents is not modelled");
        }
        Groups::Rows { interleaved: true } if elem == Elem::F32 => {
            unmodelled("alternating exponents of an f32 source are not modelled");
        }
        _ => {}
    }
    if let (Some(effect), Some(rows)) = (declared(op), u32::try_from(src.valid[0]).ok()) {
        let (_, needed) = effect.scales((rows, src.valid[1] as u32));
        if scaling.elements() < u64::from(needed) {
            let message = format!("expects scaling to hold {needed} elements, not {}", scaling.elements());
            diags.push(op.error("tile-shape", message).help("the library stores whole registers of 256 bytes into it"));
        }
    }
}

/// The work for the declared tiles, at no addresses.
fn declared(op: &OpRef<'_>) -> Option<QuantiseGroups> {
    let tile = |name| Some(TileArg { name, layout: op.tile(name)?.layout, at: 0 });
    let local = Local { space: Space::Vec, core: Role::Aiv0 };
    Some(QuantiseGroups {
        local,
        src: tile("src")?,
        dst: tile("dst")?,
        exp: tile("exp")?,
        max: tile("max")?,
        scaling: tile("scaling")?,
        rule: match op.text("quantScaleAlg") {
            Some("nv") => SharedExponent::Ceiling,
            _ => SharedExponent::Exponent,
        },
        groups: groups(op),
    })
}

fn lower(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut operands = Operands::new(op, d);
    let [src, dst, exp, max, scaling] = TILES.map(|name| operands.tile(d, name));
    let (src, dst, exp, max, scaling) = (src?, dst?, exp?, max?, scaling?);
    let known = declared(op).ok_or(Reported)?;
    let local = operands.local;
    operands.issue(d, QuantiseGroups { local, src, dst, exp, max, scaling, ..known })
}
