//! Costs compared with published points: errors by op, type and shape.

use std::collections::BTreeMap;

use slipring_machine::Platform;

use super::{Costed, Point, cost};

/// A point, and the prediction of the platform file.
#[derive(Clone, Debug)]
pub struct Measured<'a> {
    /// The point.
    pub point: &'a Point,
    /// The cost of the op, or why it has none.
    pub costed: Result<Costed, String>,
}

impl Measured<'_> {
    /// The relative error, |predicted - expected| / expected.
    pub fn error(&self) -> Option<f64> {
        let cycles = self.costed.as_ref().ok()?.cycles as f64;
        Some((cycles - self.point.expected).abs() / self.point.expected)
    }

    /// The element types, as keys of the platform file.
    pub(super) fn types(&self) -> String {
        match &self.point.query {
            Ok(query) if query.precise => format!("{}-precise", slipring_machine::cost_types(query.elem, None)),
            Ok(query) => slipring_machine::cost_types(query.elem, query.to.filter(|to| *to != query.elem)),
            Err(_) => "?".into(),
        }
    }

    /// The arrangement of the tile's rows.
    fn shape(&self) -> &'static str {
        let (Ok(query), Ok(costed)) = (&self.point.query, &self.costed) else { return "not costed" };
        let units = costed.units;
        match (query.blocks.is_some_and(|n| n > 1), units.count(), units.joined) {
            _ if costed.counts == "blocks" => "product",
            (true, _, _) => "several blocks",
            (_, 1, _) => "one row or block",
            (_, _, true) => "rows that follow each other",
            (_, rows, false) if (units.total / rows) <= slipring_machine::cost::REPEAT => "gaps, one repeat a row",
            _ => "gaps, several repeats a row",
        }
    }
}

/// Errors of some points.
#[derive(Clone, Debug, Default)]
pub struct Errors {
    /// Number of points with a cost.
    pub points: usize,
    /// Mean of the relative errors.
    pub mean: f64,
    /// The largest one, and the line of its point.
    pub worst: (f64, usize),
}

impl Errors {
    fn of<'a>(all: impl Iterator<Item = &'a Measured<'a>>) -> Errors {
        let mut errors = Errors::default();
        let mut sum = 0.0;
        for (error, line) in all.filter_map(|m| Some((m.error()?, m.point.line))) {
            errors.points += 1;
            sum += error;
            if error > errors.worst.0 || errors.worst.1 == 0 {
                errors.worst = (error, line);
            }
        }
        errors.mean = if errors.points == 0 { 0.0 } else { sum / errors.points as f64 };
        errors
    }
}

/// Errors by group.
#[derive(Clone, Debug)]
pub struct ErrorTable {
    /// By platform, op, element types and shape, without the doubtful points: the grouping criterion, then the groups in
    /// alphabetical order.
    pub groups: Vec<(&'static str, Vec<(String, Errors)>)>,
    /// Over all points not marked as doubtful by the table, and over all.
    pub sound: Errors,
    #[allow(missing_docs)]
    pub all: Errors,
}

/// Computes the costs of all points. `platform` gives the platform for a line's `arch`.
///
/// # Errors
/// Those of `platform`.
pub fn compare<'a, E>(
    points: &'a [Point],
    mut platform: impl FnMut(&str) -> Result<Platform, E>,
) -> Result<(Vec<Measured<'a>>, ErrorTable), E> {
    let mut known: BTreeMap<&str, Platform> = BTreeMap::new();
    for point in points {
        if !known.contains_key(point.arch.as_str()) {
            known.insert(&point.arch, platform(&point.arch)?);
        }
    }
    let measure = |point: &'a Point| {
        let costed = point.query.clone().and_then(|query| cost(&known[point.arch.as_str()], &query));
        Measured { point, costed }
    };
    let measured: Vec<Measured<'a>> = points.iter().map(measure).collect();
    let group = |key: &dyn Fn(&Measured<'a>) -> String| {
        let mut groups: BTreeMap<String, Vec<&Measured<'a>>> = BTreeMap::new();
        for one in measured.iter().filter(|m| m.costed.is_ok() && !m.point.suspect) {
            groups.entry(key(one)).or_default().push(one);
        }
        groups.into_iter().map(|(name, of)| (name, Errors::of(of.into_iter()))).collect::<Vec<_>>()
    };
    let of = |m: &Measured<'_>, what: &str| format!("{} {what}", m.point.arch);
    let groups = vec![
        ("platform", group(&|m| m.point.arch.clone())),
        ("op", group(&|m| of(m, &m.point.op))),
        ("type", group(&|m| of(m, &m.types()))),
        ("shape", group(&|m| of(m, m.shape()))),
    ];
    let sound = Errors::of(measured.iter().filter(|m| !m.point.suspect));
    let all = Errors::of(measured.iter());
    Ok((measured, ErrorTable { groups, sound, all }))
}
