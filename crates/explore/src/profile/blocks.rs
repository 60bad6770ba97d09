//! Busy time by block: `PipeUtilization.csv` of the vendor's operator profiler, a row for each core of each block.

use super::cells::Cells;
use super::{Profile, ProfileForm, ProfileTrack};

/// Prefixes of column names, with the kind of core.
const KINDS: [(&str, &str); 2] = [("aic", "AIC"), ("aiv", "AIV")];

/// Pipes in names of columns.
const PIPES: [(&str, &str); 7] = [
    ("cube", "M"),
    ("vec", "V"),
    ("scalar", "S"),
    ("mte1", "MTE1"),
    ("mte2", "MTE2"),
    ("mte3", "MTE3"),
    ("fixpipe", "FIX"),
];

/// True for the header line of such a table.
pub(super) fn is(cells: &Cells<'_>) -> bool {
    cells.column("block_id").is_some() && cells.column("sub_block_id").is_some()
}

pub(super) fn read(cells: &Cells<'_>) -> Result<Profile, String> {
    let (block, core) = (cells.needed("block_id")?, cells.needed("sub_block_id")?);
    let (mut tracks, mut longest, mut columns) = (Vec::new(), 0, 0);
    for (prefix, kind) in KINDS {
        let column = |what: &str| cells.column(&format!("{prefix}_{what}"));
        let (Some(time), Some(total)) = (column("time(us)"), column("total_cycles")) else { continue };
        let pipes: Vec<(usize, &'static str)> =
            PIPES.iter().filter_map(|(name, pipe)| Some((column(&format!("{name}_time(us)"))?, *pipe))).collect();
        columns += pipes.len();
        for row in cells.rows()? {
            // A row belongs to one core, and has no figures of the other kind.
            if matches!(row.text(total), "NA" | "N/A" | "") {
                continue;
            }
            let (whole, cycles): (f64, u64) = (row.number(time)?, row.number(total)?);
            longest = longest.max(cycles);
            for &(column, pipe) in &pipes {
                let part: f64 = row.number(column)?;
                // The row's own clock, as cycles per microsecond.
                let busy = if whole > 0.0 { (part / whole * cycles as f64).round() } else { 0.0 };
                if part > whole {
                    return Err(row.wrong(&format!("pipe {pipe} of {kind} is busy {part} us of {whole}")));
                }
                if busy >= 1.0 {
                    let core = format!("block {} {}", row.text(block), row.text(core));
                    tracks.push(ProfileTrack { core, kind, pipe, busy: busy as u64, count: 1, spans: Vec::new() });
                }
            }
        }
    }
    if columns == 0 {
        return Err("it has no column of busy times with the total beside it: `PipeUtilization.csv` has them".into());
    }
    Ok(Profile { form: ProfileForm::Blocks, cycles: longest, tracks, left_out: 0 })
}
