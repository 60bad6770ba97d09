//! Members of parts of the language that are constants: types, memories, members of enumerations.

use slipring_tile::Space;

use crate::dtype::DTYPES;
use crate::value::{Const, SPLIT_MODES};

/// The prefix of the language in full names.
const ROOT: &str = "pl";

/// A constant member of the language or one of its parts: a type, a memory, a member of an enumeration.
pub(crate) fn member(path: &str, name: &str) -> Option<Const> {
    let of_kind = |kind| Some(Const::Member(kind, name.into()));
    match path.rsplit('.').next().unwrap_or("") {
        kind @ ("NotifyOp" | "WaitCmp" | "ReduceOp" | "AtomicType") if path.starts_with("pld.") => {
            ["NotifyOp", "WaitCmp", "ReduceOp", "AtomicType"]
                .iter()
                .find(|own| **own == kind)
                .and_then(|kind| of_kind(kind))
        }
        "math" | "np" | "numpy" | "torch" => match name {
            "pi" => Some(Const::Float(std::f64::consts::PI)),
            "e" => Some(Const::Float(std::f64::consts::E)),
            "inf" => Some(Const::Float(f64::INFINITY)),
            _ => None,
        },
        _ if !path.starts_with(ROOT) => None,
        "Mem" | "MemorySpace" => space(name).map(Const::Space),
        "SplitMode" => SPLIT_MODES.iter().find(|(n, _)| *n == name).map(|(_, mode)| Const::Split(*mode)),
        "Level" => of_kind("Level"),
        "Role" => of_kind("Role"),
        "PadValue" => of_kind("PadValue"),
        "FunctionType" => of_kind("FunctionType"),
        "TileLayout" => of_kind("TileLayout"),
        "AtomicType" => of_kind("AtomicType"),
        "TensorLayout" => of_kind("TensorLayout"),
        "MaskPattern" => ["P0101", "P1010", "P0001", "P0010", "P0100", "P1000", "P1111"]
            .iter()
            .position(|pattern| *pattern == name)
            .map(|at| Const::Int(at as i64 + 1)),
        _ if path == ROOT => match name {
            "AUTO" => Some(Const::Int(-1)),
            "DIR_C2V" => Some(Const::Int(1)),
            "DIR_V2C" => Some(Const::Int(2)),
            "DIR_BOTH" => Some(Const::Int(3)),
            _ => DTYPES.iter().find(|(n, _)| *n == name).map(|(_, ty)| Const::DType(*ty)),
        },
        _ => None,
    }
}

/// Memories by their names in the language.
fn space(name: &str) -> Option<Space> {
    Some(match name {
        "DDR" | "GM" => Space::Gm,
        "Vec" | "UB" => Space::Vec,
        "Mat" | "L1" => Space::Mat,
        "Left" | "L0A" => Space::Left,
        "Right" | "L0B" => Space::Right,
        "Acc" | "L0C" => Space::Acc,
        "Bias" => Space::Bias,
        "Scaling" => Space::Scaling,
        "LeftScale" => Space::LeftScale,
        "RightScale" => Space::RightScale,
        _ => return None,
    })
}
