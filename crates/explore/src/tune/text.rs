//! A grid as a table and as a chart.

use std::fmt::Write;

use slipring_report::{CheckStatus, Dot, DotKind, Scatter, Table, Verified, scatter_svg};

use super::{Point, Tuning};

/// Maximum number of points in the table.
const SHOWN: usize = 60;

fn percent(now: f64, then: f64) -> String {
    format!("{:+.1} %", 100.0 * (now - then) / then.max(f64::MIN_POSITIVE))
}

impl Tuning {
    /// Values of a point in the order of the parameters: `TILE=64 slot_num=2`.
    pub fn named(&self, point: &Point) -> String {
        let pair = |name: &String| point.values.get(name).map(|value| format!("{name}={value}"));
        self.vary.iter().filter_map(|own| pair(&own.name)).collect::<Vec<_>>().join(" ")
    }

    fn count(&self, verdict: CheckStatus) -> usize {
        self.points.iter().filter(|point| point.verdict == verdict).count()
    }

    /// Whether a clean point other than the best takes so little more time that the errors of both could account for
    /// it. False if one of them is an estimate: its error is unknown.
    pub fn is_as_good(&self, point: &Point) -> bool {
        let Some(best) = self.best().filter(|best| point.is_clean() && best.values != point.values) else {
            return false;
        };
        let ends = |point: &Point| {
            let (time, error) = (point.microseconds?, point.error_percent? / 100.0);
            Some((time * (1.0 - error), time * (1.0 + error)))
        };
        ends(best).zip(ends(point)).is_some_and(|(best, own)| own.0 <= best.1)
    }

    /// Points that ran, by their cycles, then the refused ones.
    fn in_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.points.len()).collect();
        let class = |point: &Point| match point.verdict {
            CheckStatus::Clean => 0,
            CheckStatus::Refused => 2,
            _ => 1,
        };
        order.sort_by_key(|at| (class(&self.points[*at]), self.points[*at].rank(), *at));
        order
    }

    /// The table and the best point, in the format of the command line.
    pub fn text(&self) -> String {
        let names: Vec<&str> = self.vary.iter().map(|own| own.name.as_str()).collect();
        let all = if self.points.len() == 1 { "1 point".to_string() } else { format!("{} points", self.points.len()) };
        let mut text = format!("{}: {all} of {}", self.file, names.join(" x "));
        for verdict in [CheckStatus::Clean, CheckStatus::Findings, CheckStatus::Partly, CheckStatus::Refused] {
            match (self.count(verdict), verdict) {
                (0, _) => {}
                (n, CheckStatus::Findings) => text += &format!(", {n} with findings"),
                (n, CheckStatus::Partly) => text += &format!(", {n} stopped"),
                (n, verdict) => text += &format!(", {n} {verdict}"),
            }
        }
        if self.reused > 0 {
            text += &format!("; {} from the file of points", self.reused);
        }
        text += "\n\n";
        let mut head = vec!["cycles", "us", "to best", "local bytes"];
        head.extend(&names);
        head.push("outcome");
        let mut table = Table::new(0, &head).left(&[head.len() - 1]);
        let show = |n: Option<u64>| n.map_or("-".to_string(), |n| n.to_string());
        let best = self.best();
        let mut row = |point: &Point, outcome: String| {
            let against = best.and_then(|best| best.microseconds).zip(point.microseconds);
            let mut cells = vec![
                show(point.cycles),
                point.microseconds.map_or("-".to_string(), |time| format!("{time:.2}")),
                against.map_or("-".to_string(), |(best, own)| percent(own, best)),
                show(point.local_memory),
            ];
            cells.extend(names.iter().map(|name| point.values.get(*name).cloned().unwrap_or_default()));
            cells.push(outcome);
            table.row(cells);
        };
        let order = self.in_order();
        for at in order.iter().take(SHOWN) {
            let point = &self.points[*at];
            let why = point.reason.as_ref().map_or(String::new(), |why| format!(": {why}"));
            let close = if self.is_as_good(point) { ", within the error of the best" } else { "" };
            let own = if Some(*at) == self.written_at { ", as the file is written" } else { "" };
            row(point, format!("{}{own}{}", point.verdict, if point.is_clean() { close } else { &why }));
        }
        if let Some(written) = self.written.as_ref().filter(|written| written.cycles.is_some()) {
            row(written, format!("{}, the unchanged file", written.verdict));
        }
        text += &table.render();
        if order.len() > SHOWN {
            let _ = writeln!(text, "  … and {} more: `--json` has all", order.len() - SHOWN);
        }
        text + &self.best_text()
    }

    fn best_text(&self) -> String {
        let Some(best) = self.best() else { return "\nno point is clean: there is no best\n".into() };
        let mut text = format!("\nbest: {}: {}", self.named(best), best.figure());
        let written = self.as_written().filter(|written| written.is_clean()).and_then(|own| own.microseconds);
        match best.microseconds.zip(written) {
            _ if self.best == self.written_at => text += ", as the file is written",
            Some((own, written)) => text += &format!(", {} compared with the unchanged file", percent(own, written)),
            None => {}
        }
        text += &match &best.verified {
            Some(Verified::Same) => "; checked, and the same bytes as the sequential semantics\n".to_string(),
            Some(other) => format!("; checked; the sequential semantics is {other}\n"),
            None => "; checked, not compared with the sequential semantics\n".to_string(),
        };
        let as_good = self.points.iter().filter(|point| self.is_as_good(point)).count();
        if self.points.iter().any(|point| point.estimate) {
            text += "cycles are an estimate: the smallest significant difference between two points is unknown\n\
                     (`slipring cost` gives the evidence for each op)\n";
        } else if as_good > 0 {
            let others = if as_good == 1 { "1 other differs".to_string() } else { format!("{as_good} others differ") };
            let _ = writeln!(text, "{others} from it by less than the error of the cycles");
        }
        let mut results: Vec<&str> =
            self.points.iter().filter(|p| p.is_clean()).filter_map(|p| p.result.as_deref()).collect();
        results.sort_unstable();
        results.dedup();
        if results.len() > 1 {
            let _ = writeln!(
                text,
                "the clean points leave {} different results: other shapes, or sums in another order (`result` in `--json`)",
                results.len()
            );
        }
        text
    }

    /// A chart (SVG) of cycles against local memory, with a mark for each point that ran.
    pub fn svg(&self) -> String {
        let dot = |(at, point): (usize, &Point)| {
            let (x, y) = (point.local_memory?, point.cycles?);
            let kind = match (Some(at) == self.best, point.is_clean()) {
                (true, _) => DotKind::Best,
                (false, true) => DotKind::Clean,
                (false, false) => DotKind::Wrong,
            };
            let own = Some(at) == self.written_at;
            let kind = if own && kind == DotKind::Clean { DotKind::Written } else { kind };
            let also = if own { ", as written" } else { "" };
            Some(Dot { x, y, kind, label: self.named(point) + also })
        };
        let written = self.written.iter().filter_map(|point| {
            let (x, y) = (point.local_memory?, point.cycles?);
            let kind = if point.is_clean() { DotKind::Written } else { DotKind::Wrong };
            Some(Dot { x, y, kind, label: "as written".into() })
        });
        let dots: Vec<Dot> = self.points.iter().enumerate().filter_map(dot).chain(written).collect();
        let refused = match self.count(CheckStatus::Refused) {
            0 => String::new(),
            n => format!("; {n} points are refused and not shown"),
        };
        scatter_svg(&Scatter {
            title: format!("{}: cycles against local memory", self.file.rsplit('/').next().unwrap_or_default()),
            note: format!("bytes of a cluster's local memories{refused}"),
            x: "bytes of local memory",
            y: if self.points.iter().any(|point| point.estimate) { "cycles (estimates)" } else { "cycles" },
            dots: &dots,
        })
    }
}
