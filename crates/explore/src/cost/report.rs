//! Op costs as text and as facts.

use std::fmt::Write;

use serde_json::{Value, json};
use slipring_machine::cost::{Points, Rule, Shape};
use slipring_machine::{Backing, Platform};

use super::{Costed, ErrorTable, Measured, Query};

/// The cost of an op and how it is computed, as text. `shape` is shown as given.
pub fn text(platform: &Platform, query: &Query, shape: &str, costed: &Costed) -> String {
    let Costed { cycles, price, units, counts } = costed;
    let time = *cycles as f64 / f64::from(platform.clock_mhz);
    let backing = backing(query, costed);
    let (range, estimate) = (backing.range(), backing.mark());
    let mut text = format!(
        "{} {} {} on {}: {cycles} cycles{range} ({time:.3} us{estimate})\n",
        query.op, query.elem, shape, platform.name
    );
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
    if let Some(tenths) = price.within(*units) {
        let most = if price.points(*units).count < 10 { "all" } else { "nine of ten" };
        let within = f64::from(tenths) / 10.0;
        let _ = writeln!(text, "  range    {most} of them, each left out of the fit, are within {within:.1} %");
    }
    text
}

/// The evidence behind the cycles.
fn backing(query: &Query, costed: &Costed) -> Backing {
    Backing::of(&query.op, &costed.price, costed.units, costed.cycles)
}

fn evidence(costed: &Costed) -> String {
    let Costed { price, units, .. } = costed;
    let (points, shape) = (price.points(*units), Shape::of(*units).name());
    let count = |n: u32| if n == 1 { "1 published point".to_string() } else { format!("{n} published points") };
    let own = match price.rule {
        Rule::Plain(_) => count(points.count),
        Rule::Rows(_) => format!("{} of this op and type with {shape}", count(points.count)),
    };
    if !price.is_estimate(*units) {
        return format!("{own}; mean error {:.1} %", points.error);
    }
    match (points.count, price.evidence.points, price.evidence.others) {
        (0, 0, 0) => "estimate: no published point".into(),
        (0, 0, others) => {
            format!("estimate: no published point of this op, {others} of others that share the entry")
        }
        (0, all, _) => format!("estimate: no published point with {shape} of this type; {} of the op", count(all)),
        _ if points.error.is_finite() => format!("estimate: {own}; mean error {:.1} %", points.error),
        _ => format!("estimate: {own}"),
    }
}

/// The cost as facts.
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
        "estimate": price.is_estimate(*units),
        "points": price.points(*units).count,
        "points_of_entry": price.evidence.points,
        "points_of_others": price.evidence.others,
        "error_percent": error_percent(price.points(*units)),
        "within_percent": price.within(*units).map(|tenths| f64::from(tenths) / 10.0),
    })
}

/// Their mean error, if there are points and it is known.
fn error_percent(points: Points) -> Option<f64> {
    let known = points.count > 0 && points.error.is_finite();
    known.then(|| (f64::from(points.error) * 10.0).round() / 10.0)
}

/// A table of points next to their costs, as text.
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
        "mean error {} over {} points, {} with the {doubted} that the table marks as suspect",
        percent(errors.sound.mean),
        errors.sound.points,
        percent(errors.all.mean)
    );
    text
}

/// The table as facts.
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
            row["types"] = json!(measured.types());
            row["cost"] = facts(costed);
            row["error"] = json!(measured.error());
        }
        Err(why) => row["not_costed"] = json!(why),
    }
    row
}
