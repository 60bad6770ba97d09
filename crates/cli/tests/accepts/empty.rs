//! Each op with dynamic valid shapes: full tiles, half tiles, no rows, no columns, nothing at all. It runs, or a
//! message states what is unsupported.

use slipring::Bound;
use slipring_machine::built_in;
use slipring_program::ParamKind;

use super::forms::{forms, taken};
use crate::ready::Ready;

/// The valid extents, from the number of rows and columns.
type Valid = fn(u64, u64) -> [u64; 2];

/// The valid rows and columns that are tried.
const EXTENTS: [(&str, Valid); 5] = [
    ("whole", |rows, cols| [rows, cols]),
    ("half", |rows, cols| [rows.div_ceil(2), cols.div_ceil(2)]),
    ("no rows", |_, cols| [0, cols]),
    ("no columns", |rows, _| [rows, 0]),
    ("nothing", |_, _| [0, 0]),
];

/// The number after a word of a text.
fn number(text: &str, word: &str) -> Option<u64> {
    let (_, rest) = text.split_once(word)?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The program with dynamic valid shapes, computed from numeric parameters that are all 0 in the run.
fn with_open_shapes(text: &str, extents: fn(u64, u64) -> [u64; 2]) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let made = line.trim().split_once(" = pto.alloc_tile addr = ").and_then(|(name, rest)| {
            let (addr, ty) = rest.split_once(" : ")?;
            let [rows, cols] = extents(number(ty, "v_row=")?, number(ty, "v_col=")?);
            let name = name.trim_start_matches('%');
            Some(format!(
                "    %rows_{name} = arith.constant {rows} : index\n    %cols_{name} = arith.constant {cols} : index
    %valid_rows_{name} = arith.addi %rows_{name}, %nought : index
    %valid_cols_{name} = arith.addi %cols_{name}, %nought : index
    %{name} = pto.alloc_tile addr = {addr} valid_row = %valid_rows_{name} valid_col = %valid_cols_{name} : {ty}"
            ))
        });
        out += made.as_deref().unwrap_or(line);
        out += "\n";
    }
    let mut open = String::new();
    for (at, part) in out.split("v_row=").enumerate() {
        if at > 0 {
            let (_, rest) = part.split_once(", v_col=").expect("a tile type");
            open += "v_row=?, v_col=?";
            open += rest.trim_start_matches(|c: char| c.is_ascii_digit());
        } else {
            open += part;
        }
    }
    let open = open.replacen("@k(", "@k(%nought: index, ", 1);
    open.replacen(", ) {", ") {", 1)
}

/// The findings of a run; `None` if the text is rejected.
fn findings(text: &str, arch: &str) -> Option<Vec<String>> {
    let ready = Ready::of("open", text, &built_in(arch).unwrap()).ok()?;
    let values: Vec<Bound<'static>> = ready
        .prepared
        .kernel
        .params
        .iter()
        .map(|param| match param.kind {
            ParamKind::Scalar(_) => Bound::scalar(0),
            _ => Bound::buffer(vec![0; 16384]),
        })
        .collect();
    let ran = ready.run(&values);
    Some(ran.result.findings.iter().map(|finding| format!("{}: {}", finding.code, finding.message)).collect())
}

#[test]
fn shapes_that_only_the_run_knows() {
    let (mut wrong, mut ran) = (Vec::new(), 0);
    for form in forms().iter().filter(|form| !form.name.ends_with(" places")) {
        for arch in ["a5", "a2a3"] {
            let Some(types) = taken(form.name, arch).first().copied() else { continue };
            let programs = form.programs(arch);
            let Some((_, text)) = programs.iter().find(|(of, _)| of == types) else { continue };
            for (extent, extents) in EXTENTS {
                let program = with_open_shapes(text, extents);
                let Some(said) = findings(&program, arch) else {
                    // Only the shapes differ from the accepted program.
                    if findings(text, arch).is_some() {
                        wrong.push(format!("{} on {arch}, {extent}: refused\n{program}", form.name));
                    }
                    continue;
                };
                ran += 1;
                // Uninitialised memory, and operands that are all 0, are not about shapes.
                let of_shapes = |line: &&String| {
                    !["uninitialised", "sources-disagree", "mx-scales", "mask-rows"]
                        .iter()
                        .any(|code| line.starts_with(code))
                };
                let said: Vec<&String> = said.iter().filter(of_shapes).collect();
                if matches!(extent, "whole" | "half") && said.iter().any(|line| line.contains("tile-valid")) {
                    wrong.push(format!("{} on {arch}, {extent}: {said:?}", form.name));
                }
            }
        }
    }
    assert!(ran > 500, "{ran}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
