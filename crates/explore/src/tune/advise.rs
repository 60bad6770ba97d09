//! The source edits that correspond to a forecast: each is tried alone.

use std::collections::BTreeMap;

use super::auto::{is_worth, patch};
use super::edit::{About, Edit, is_about};
use super::{Point, Tune};
use slipring::{Advice, Error, Forecast, Otherwise};
use slipring_report::TriedEdit;

/// Maximum product of edits and events of the run up to which edits are tried without being requested.
const MOST_WORK: usize = 1 << 22;

impl Tune {
    /// Searches for a source edit for each forecast worth reporting, and gives the reason if there is none. Every edit
    /// is tried alone: it must leave the same bytes, have no findings, and be proved if the original file is.
    /// `happenings` is the amount of work in one run.
    ///
    /// # Errors
    /// If the search is cancelled.
    pub fn advise(&self, advice: &mut Advice, happenings: usize) -> Result<(), Error> {
        let wanted: Vec<usize> =
            (0..advice.forecasts.len()).filter(|at| advice.is_worth(&advice.forecasts[*at])).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let all = |advice: &mut Advice, why: &str| {
            wanted.iter().for_each(|at| advice.forecasts[*at].no_edit = why.to_string());
        };
        if self.run.time_only {
            all(advice, "none was tried: the run only counts cycles, so there are no results to compare");
            return Ok(());
        }
        let text = String::from_utf8_lossy(&self.bytes).into_owned();
        let serving = |forecast: &Forecast, edit: &Edit| serves(forecast, edit, &text);
        let mut proposed = self.proposals();
        proposed.retain(|edit| wanted.iter().any(|at| serving(&advice.forecasts[*at], edit)));
        if proposed.len().saturating_mul(happenings) > MOST_WORK {
            all(advice, "none was tried, as the run is long: `slipring tune FILE --auto` tries them");
            return Ok(());
        }
        let written = self.point_of(&[], &[], &[], true);
        if !written.is_clean() || written.result.is_none() {
            all(advice, "none was tried: the file must be clean before it can be made faster");
            return Ok(());
        }
        if written.cycles != Some(advice.cycles) {
            all(advice, "none was tried: this run has settings that an edited text cannot be run with");
            return Ok(());
        }
        let first = self.judgement();
        let points = self.try_all(&proposed, &|_| ());
        if self.run.control.is_cancelled() {
            return Err(Error::Cancelled);
        }
        // Verdicts on the edits examined in detail.
        let mut judged: BTreeMap<usize, Option<TriedEdit>> = BTreeMap::new();
        let mut chosen: BTreeMap<usize, usize> = BTreeMap::new();
        for at in wanted {
            let forecast = &advice.forecasts[at];
            let mut own: Vec<usize> = (0..proposed.len()).filter(|edit| serving(forecast, &proposed[*edit])).collect();
            own.sort_by_key(|edit| (points[*edit].as_ref().map(Point::rank), *edit));
            let stands = own.iter().copied().find(|edit| {
                let worth = points[*edit].as_ref().is_some_and(|point| is_worth(point, &written, &written));
                let judge = || {
                    let own = self.with(&proposed[*edit].text);
                    let (point, proof) = own.stands(&written, &written, first)?;
                    Some(TriedEdit {
                        what: proposed[*edit].what.clone(),
                        line: proposed[*edit].line,
                        cycles: point.cycles?,
                        verified: point.verified.clone(),
                        proof: proof.map(|own| own.word().to_string()),
                        patch: patch(&self.name, &text, &proposed[*edit].text),
                    })
                };
                worth && judged.entry(*edit).or_insert_with(judge).is_some()
            });
            match stands {
                Some(edit) => drop(chosen.insert(at, edit)),
                None => {
                    let tried: Vec<&Point> = own.iter().filter_map(|edit| points[*edit].as_ref()).collect();
                    let why = why(&advice.forecasts[at], &tried, &written, self.is_language());
                    advice.forecasts[at].no_edit = why;
                }
            }
        }
        // The fastest comes first.
        let mut order: Vec<usize> = chosen.values().copied().collect();
        let cycles = |edit: &usize| judged.get(edit).and_then(|own| Some(own.as_ref()?.cycles));
        order.sort_by_key(|edit| (cycles(edit), *edit));
        order.dedup();
        for (at, edit) in chosen {
            advice.forecasts[at].edit = order.iter().position(|own| *own == edit);
        }
        advice.edits = order.iter().filter_map(|edit| judged.remove(edit).flatten()).collect();
        Ok(())
    }
}

/// True if an edit may have the effect supposed by a forecast.
fn serves(forecast: &Forecast, edit: &Edit, text: &str) -> bool {
    let about = || forecast.about.iter().any(|line| is_about(edit, text, *line as usize));
    match &forecast.otherwise {
        // Fewer and larger moves, or fewer bytes.
        Otherwise::Bandwidth => matches!(edit.about, About::Constant(_) | About::Split),
        Otherwise::EndlessRings | Otherwise::Slots { .. } => edit.about == About::Slots,
        Otherwise::Buffer => matches!(edit.about, About::Loop(_)) && about(),
        Otherwise::Wait => about(),
    }
}

/// Why a forecast has no edit.
fn why(forecast: &Forecast, tried: &[&Point], written: &Point, language: bool) -> String {
    let none = match (&forecast.otherwise, language) {
        (Otherwise::Bandwidth, _) => "no edit of a source widens pipes",
        (Otherwise::EndlessRings | Otherwise::Slots { .. }, true) => {
            "the text has no `slot_num`, and no function to give one"
        }
        (Otherwise::EndlessRings | Otherwise::Slots { .. }, false) => {
            "the slots stand where an edit of numbers does not reach them: in a type, or in another file"
        }
        (Otherwise::Buffer, true) => "no loop with `pl.range` or `stage=` is around the line",
        (Otherwise::Buffer, false) => {
            "no edit of this form gives each iteration its own tiles; in the kernel language `pl.pipeline` does"
        }
        (Otherwise::Wait, _) => "no loop, statement or barrier around the line can be changed or moved",
    };
    if tried.is_empty() {
        return none.to_string();
    }
    let count = |is: &dyn Fn(&Point) -> bool| tried.iter().filter(|point| is(point)).count();
    let refused = count(&|point| !point.is_clean());
    let other = count(&|point| point.is_clean() && point.result != written.result);
    let slow = count(&|point| point.is_clean() && point.result == written.result && !is_worth(point, written, written));
    let rest = tried.len() - refused - other - slow;
    let first = tried.iter().find(|point| !point.is_clean()).and_then(|point| point.reason.as_deref());
    let first = first.map_or(String::new(), |why| format!(" (the first: {why})"));
    let parts = [
        (slow, "not faster".to_string()),
        (other, "with other results".to_string()),
        (refused, format!("refused or with findings{first}")),
        (rest, "faster, but neither the same as the sequential semantics nor proved".to_string()),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    let tried =
        if tried.len() == 1 { "1 edit was tried".to_string() } else { format!("{} edits were tried", tried.len()) };
    let bandwidth = if forecast.otherwise == Otherwise::Bandwidth {
        format!("{none}; of those that move less or more at once ")
    } else {
        String::new()
    };
    format!("{bandwidth}{tried}: {}", parts.join(", "))
}
