//! Time by source line.

use std::collections::BTreeMap;

use serde::Serialize;
use slipring_finding::Line;
use slipring_program::SyncRole;
use slipring_sim::Stall;

use super::{Doing, Record, moves, stall_name};
use crate::line::write_line;
use crate::stalls::StallFacts;
use crate::table::Table;

/// A source line, summed over all blocks and cores.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct LineFacts {
    /// The line.
    #[serde(flatten, serialize_with = "write_line")]
    pub line: Line,
    /// Executions of work that comes from it.
    pub count: u64,
    /// Their cycles.
    pub busy: u64,
    /// Cycles for which pipes and scalar units were stalled at it.
    pub stalled: u64,
    /// The stalled cycles by cause, longest first.
    pub stalls: Vec<StallFacts>,
    /// Bytes moved for it by the pipes that move data.
    pub moved: u64,
    /// Cycles of the critical path.
    pub path: u64,
    /// The text of the line, trimmed.
    pub text: String,
}

impl Record {
    /// The activity of each line, in line order. `line` maps an instruction to a line of the text; instructions without
    /// a line are left out. `shown` maps a line of the text to a line of its file, with its text.
    pub fn lines(
        &self,
        line: impl Fn(u32) -> Option<u32>,
        role: impl Fn(u32) -> Option<SyncRole>,
        shown: impl Fn(u32) -> (Line, String),
    ) -> Vec<LineFacts> {
        let mut lines: BTreeMap<u32, LineFacts> = BTreeMap::new();
        for happening in &self.happenings {
            let Some(number) = line(happening.site) else { continue };
            let own = lines.entry(number).or_default();
            match happening.doing {
                Doing::Work { written, .. } => {
                    own.count += 1;
                    own.busy += happening.cycles();
                    own.moved += if moves(happening.agent.pipe) { written } else { 0 };
                }
                Doing::Stall(stall) => {
                    own.stalled += happening.cycles();
                    add(&mut own.stalls, stall, happening.cycles(), &role);
                }
                _ => {}
            }
        }
        for segment in self.path() {
            let site = segment.happening.map(|at| self.happenings[at as usize].site);
            if let Some(own) = site.and_then(&line).and_then(|number| lines.get_mut(&number)) {
                own.path += segment.end - segment.start;
            }
        }
        let idle = |own: &LineFacts| own.count == 0 && own.stalled == 0 && own.path == 0;
        let each = lines.into_iter().filter(|(_, own)| !idle(own)).map(|(line, mut own)| {
            own.stalls.sort_by(|a, b| b.cycles.cmp(&a.cycles).then_with(|| a.cause.cmp(&b.cause)));
            let (line, text) = shown(line);
            LineFacts { line, text, ..own }
        });
        each.collect()
    }
}

fn add(stalls: &mut Vec<StallFacts>, stall: Stall, cycles: u64, role: &impl Fn(u32) -> Option<SyncRole>) {
    let cause = stall_name(stall, role);
    match stalls.iter_mut().find(|known| known.cause == cause) {
        Some(known) => known.cycles += cycles,
        None => stalls.push(StallFacts { cause: cause.into(), cycles }),
    }
}

/// Maximum number of characters of a source line that are shown.
const SHOWN: usize = 60;

/// The lines as a table.
pub fn lines_text(lines: &[LineFacts]) -> String {
    let mut table =
        Table::new(0, &["line", "count", "busy", "stalled", "on path", "moved", "waits", "source"]).left(&[6, 7]);
    for own in lines {
        let waits: Vec<String> = own.stalls.iter().map(|stall| format!("{} {}", stall.cause, stall.cycles)).collect();
        let mut text: String = own.text.chars().take(SHOWN).collect();
        if own.text.chars().count() > SHOWN {
            text += " …";
        }
        table.row(vec![
            own.line.to_string(),
            own.count.to_string(),
            own.busy.to_string(),
            own.stalled.to_string(),
            own.path.to_string(),
            own.moved.to_string(),
            waits.join(", "),
            text,
        ]);
    }
    format!("\nlines (cycles of all cores and blocks; bytes moved)\n{}", table.render())
}
