//! What ops cost, for people and as facts.

use std::fmt::Write;

use serde_json::{Value, json};
use slipring_machine::Platform;

use super::{Costed, ErrorTable, Measured, Query};

/// What an op costs and how the cycles come about, for people. `shape` is shown as it was asked for.
pub fn text(platform: &Platform, query: &Query, shape: &str, costed: &Costed) -> String {
    let Costed { cycles, price, units, counts } = costed;
    let time = *cycles as f64 / f64::from(platform.clock_mhz);
    let mut text =
        format!("{} {} {} on {}: {cycles} cycles ({time:.3} us)\n", query.op, query.elem, shape, platform.name);
    let _ = writeln!(text, "  entry    {}", price.entry);
    let rows = units.count();
    let size = match (rows, *counts) {
        (1, counts) => format!("{} {counts}", units.total),
        (rows, _) if price.repeats(*units).is_none() => format!("{} bytes in {rows} blocks", units.total),
        (rows, counts) => {
            let how = if units.joined { "that follow each other" } else { "with gaps" };
            format!("{rows} rows of {} {counts} {how}", units.total / rows)
        }
    };
    let repeats = price.repeats(*units).map_or(String::new(), |repeats| format!(", {repeats} repeats"));
    let _ = writeln!(text, "  units    {size}{repeats}");
    let _ = writeln!(text, "  formula  {} = {cycles}", price.formula(*units));
    let _ = writeln!(text, "  rests on {}", evidence(costed));
    text
}

fn evidence(costed: &Costed) -> String {
    match (costed.price.evidence.points, costed.price.evidence.error) {
        (0, _) if costed.price.evidence.others > 0 => {
            format!(
                "estimate: no published point of this op, {} of others that share the entry",
                costed.price.evidence.others
            )
        }
        (0, _) => "estimate: no published point".into(),
        (1, _) => "1 published point".into(),
        (points, None) => format!("{points} published points, too few to leave any out"),
        (points, Some(error)) => format!("{points} published points; mean error {error} % on those left out of a fit"),
    }
}

/// The same as facts.
pub fn facts(costed: &Costed) -> Value {
    let Costed { cycles, price, units, counts } = costed;
    json!({
        "cycles": cycles,
        "entry": *price.entry,
        "units": {
            *counts: units.total,
            "rows": units.count(),
            "repeats": price.repeats(*units),
            "joined": units.joined,
        },
        "formula": price.formula(*units),
        "estimate": price.evidence.points == 0,
        "points": price.evidence.points,
        "points_of_others": price.evidence.others,
        "error_percent": price.evidence.error.map(|error| (f64::from(error) * 10.0).round() / 10.0),
    })
}

/// A table of points beside their costs, for people.
pub fn table_text(measured: &[Measured<'_>], errors: &ErrorTable) -> String {
    let mut text = String::new();
    let percent = |error: f64| format!("{:.1} %", 100.0 * error);
    for (what, groups) in &errors.groups {
        let _ = writeln!(text, "{what:34} points     mean    worst  at line");
        for (name, errors) in groups {
            let (worst, line) = errors.worst;
            let _ = writeln!(
                text,
                "  {name:32} {:6} {:>8} {:>8} {line:8}",
                errors.points,
                percent(errors.mean),
                percent(worst)
            );
        }
        text.push('\n');
    }
    for (line, op, why) in measured.iter().filter_map(|m| Some((m.point.line, &m.point.op, m.costed.as_ref().err()?))) {
        let _ = writeln!(text, "line {line}, {op}: not costed: {why}");
    }
    let doubted = errors.all.points - errors.sound.points;
    let _ = writeln!(
        text,
        "mean error {} over {} points, {} with the {doubted} that the table calls suspect",
        percent(errors.sound.mean),
        errors.sound.points,
        percent(errors.all.mean)
    );
    text
}

/// The same as facts.
pub fn table_facts(measured: &[Measured<'_>], errors: &ErrorTable) -> Value {
    let rows: Vec<Value> = measured.iter().map(row).collect();
    json!({ "points": rows, "mean_error": errors.sound.mean, "mean_error_of_all": errors.all.mean })
}

fn row(measured: &Measured<'_>) -> Value {
    let point = measured.point;
    let mut row = json!({
        "line": point.line,
        "arch": point.arch,
        "op": point.op,
        "case": point.case,
        "expected": point.expected,
        "suspect": point.suspect,
    });
    match &measured.costed {
        Ok(costed) => {
            row["cost"] = facts(costed);
            row["error"] = json!(measured.error());
        }
        Err(why) => row["not_costed"] = json!(why),
    }
    row
}
