//! A proof in words.

use std::fmt;

use slipring_check::Because;
use slipring_ir::Line;
use slipring_program::{Choice, SiteRef};

use super::{Judgement, Proof};

/// What loaded data decide at a place.
pub(super) fn decided(because: &Because, line: impl Fn(SiteRef) -> Option<Line>) -> String {
    format!("loaded data decide {}", choice(&because.op, because.choice, line(because.site)))
}

/// What is decided at a place.
pub(super) fn choice(op: &str, choice: Choice, line: Option<Line>) -> String {
    let at = line.map_or(String::new(), |line| format!(" (line {line})"));
    choice.describe(op, &at)
}

impl Judgement {
    /// `proved`, `doubtful`, `violated` or `not proved`.
    pub fn word(self) -> &'static str {
        match self {
            Judgement::Proved => "proved",
            Judgement::Doubtful => "doubtful",
            Judgement::Violated => "violated",
            Judgement::NotProved => "not proved",
        }
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let blocks = if self.blocks == 1 { "1 block".into() } else { format!("{} blocks", self.blocks) };
        let conditions = match (self.judgement, self.scope.clean_if.is_empty()) {
            (Judgement::Proved, false) => ", if what no source decides is so",
            _ => "",
        };
        writeln!(f, "{}{conditions}: {} on {}, {blocks}", self.judgement.word(), self.kernel, self.platform)?;
        let mut row = |name: &str, text: &str| writeln!(f, "  {name:<9} {text}");
        for (at, reason) in self.reasons.iter().enumerate() {
            row(if at == 0 { "because" } else { "" }, reason)?;
        }
        row("schedules", &self.scope.schedules)?;
        row("values", &self.scope.values)?;
        row("counts", &self.scope.counts)?;
        row("loops", &self.scope.loops)?;
        row("launches", &self.scope.launches)?;
        for (at, assumption) in self.scope.assumes.iter().enumerate() {
            row(if at == 0 { "given" } else { "" }, assumption)?;
        }
        for (at, condition) in self.scope.clean_if.iter().enumerate() {
            row(if at == 0 { "clean if" } else { "" }, condition)?;
        }
        row("explored", &self.explored.join(", "))?;
        if let Some(witness) = &self.witness {
            row("witness", &witness.to_string())?;
        }
        if let Some(fix) = &self.fix {
            for (at, edit) in fix.edits.iter().enumerate() {
                row(if at == 0 { "fix" } else { "" }, edit)?;
            }
            row("", &fix.then())?;
        }
        Ok(())
    }
}
