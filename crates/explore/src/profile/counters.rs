//! Counters by task: `pmu.csv` of the public runtime, whose columns depend on what was asked of the hardware.

use std::collections::BTreeMap;

use super::{Profile, ProfileForm, ProfileTrack};

/// Columns of busy cycles: those of the A2/A3, those of the A5.
const BUSY: [(&str, &str); 13] = [
    ("vec_busy_cycles", "V"),
    ("cube_busy_cycles", "M"),
    ("scalar_busy_cycles", "S"),
    ("mte1_busy_cycles", "MTE1"),
    ("mte2_busy_cycles", "MTE2"),
    ("mte3_busy_cycles", "MTE3"),
    ("pmu_idc_aic_vec_busy_o", "V"),
    ("cube_instr_busy", "M"),
    ("scalar_instr_busy", "S"),
    ("mte1_instr_busy", "MTE1"),
    ("mte2_instr_busy", "MTE2"),
    ("mte3_instr_busy", "MTE3"),
    ("pmu_fix_instr_busy", "FIX"),
];

pub(super) fn read(text: &str) -> Result<Profile, String> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let head: Vec<&str> = lines.next().map_or(Vec::new(), |(_, line)| line.split(',').map(str::trim).collect());
    let column = |name: &str| head.iter().position(|own| *own == name).ok_or(format!("it has no column `{name}`"));
    let (kind, total) = (column("core_type")?, column("pmu_total_cycles")?);
    let busy: Vec<(usize, &'static str)> =
        BUSY.iter().filter_map(|(name, pipe)| Some((column(name).ok()?, *pipe))).collect();
    if busy.is_empty() {
        return Err("it has no column of busy cycles: record event type 2, the utilisation of pipes".into());
    }
    let mut sums: BTreeMap<(&'static str, &'static str), (u64, u64)> = BTreeMap::new();
    let mut longest = 0;
    for (at, line) in lines {
        let line_of = |what: String| format!("line {}: {what}", at + 1);
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if cells.len() != head.len() {
            return Err(line_of(format!("{} cells, and the first line names {} columns", cells.len(), head.len())));
        }
        let number = |column: usize| {
            let wrong = || line_of(format!("`{}` is not a number of `{}`", cells[column], head[column]));
            // Sums of what is more than this could overflow.
            cells[column].parse::<u64>().ok().filter(|number| *number <= 1 << 50).ok_or_else(wrong)
        };
        let kind = match number(kind)? {
            0 => "AIC",
            1 => "AIV",
            other => return Err(line_of(format!("core type {other} is neither 0 nor 1"))),
        };
        longest = longest.max(number(total)?);
        for &(column, pipe) in &busy {
            let cycles = number(column)?;
            if cycles > 0 {
                let sum = sums.entry((kind, pipe)).or_default();
                *sum = (sum.0.saturating_add(cycles), sum.1 + 1);
            }
        }
    }
    let track = |((kind, pipe), (busy, count))| ProfileTrack {
        core: String::new(),
        kind,
        pipe,
        busy,
        count,
        spans: Vec::new(),
    };
    let tracks = sums.into_iter().map(track).collect();
    Ok(Profile { form: ProfileForm::Counters, cycles: longest, tracks, left_out: 0 })
}
