//! Counters by task: `pmu.csv` of the public runtime, whose columns depend on the counters that were enabled.

use std::collections::BTreeMap;

use super::cells::Cells;
use super::{Profile, ProfileForm, ProfileTrack};

/// Columns of busy cycles: those of the A2/A3 and of the A5.
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

pub(super) fn read(cells: &Cells<'_>) -> Result<Profile, String> {
    let (kind, total) = (cells.needed("core_type")?, cells.needed("pmu_total_cycles")?);
    let busy: Vec<(usize, &'static str)> =
        BUSY.iter().filter_map(|(name, pipe)| Some((cells.column(name)?, *pipe))).collect();
    if busy.is_empty() {
        return Err("it has no column of busy cycles: record event type 2, the utilisation of pipes".into());
    }
    let mut sums: BTreeMap<(&'static str, &'static str), (u64, u64)> = BTreeMap::new();
    let mut longest = 0;
    for row in cells.rows()? {
        let kind = match row.number::<u64>(kind)? {
            0 => "AIC",
            1 => "AIV",
            other => return Err(row.wrong(&format!("core type {other} is neither 0 nor 1"))),
        };
        longest = longest.max(row.number::<u64>(total)?);
        for &(column, pipe) in &busy {
            let cycles: u64 = row.number(column)?;
            if cycles > 0 {
                let sum = sums.entry((kind, pipe)).or_default();
                *sum = (sum.0 + cycles, sum.1 + 1);
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
