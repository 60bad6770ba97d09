//! Views of a recorded run: its timeline, its lines, its critical path.

use slipring_report::{End, Legend, LineFacts, Page, PathFacts, Predicted, Record, Trace, html};

use crate::{Advice, Forecast, Run, memory_map};

pub use crate::names::Names;

impl Run<'_> {
    /// The full record; `None` if the run was not recorded ([`RunOptions::record`](crate::RunOptions::record)).
    pub fn record(&self) -> Option<&Record> {
        self.seen.record.as_ref()
    }

    /// The timeline, for [`chrome`](slipring_report::chrome), [`perfetto`](slipring_report::perfetto) and
    /// [`chart`](slipring_report::chart); `None` if the run was not recorded.
    pub fn trace(&self) -> Option<Trace> {
        self.timetable().map(|(trace, _)| trace)
    }

    /// The timeline, and the position of each event in it.
    #[doc(hidden)]
    pub fn timetable(&self) -> Option<(Trace, Vec<End>)> {
        let record = self.record()?;
        let names = Names::new(&self.compiled.prepared, &self.compiled.platform);
        let buffers: Vec<String> = self.execution.result.memory.gm.iter().map(|buffer| buffer.name.clone()).collect();
        let places = Legend {
            program: names.program,
            line: &|site| names.at(site),
            tile: &|extent, site| names.tile(extent, site),
            buffers: &buffers,
        };
        Some(record.trace(&places))
    }

    /// A self-contained page with everything that the run shows, which needs no other file and no network; `None` if
    /// the run was not recorded. It includes `advice` if given.
    ///
    /// # Errors
    /// A defect of the template.
    pub fn html(&self, advice: Option<&Advice>) -> Option<Result<String, String>> {
        self.html_against(advice, None)
    }

    /// As [`Run::html`], compared with another run, whose facts are given as from `run --json`.
    ///
    /// # Errors
    /// If the facts are invalid, or a defect of the template.
    pub fn html_against(
        &self,
        advice: Option<&Advice>,
        other: Option<&serde_json::Value>,
    ) -> Option<Result<String, String>> {
        let record = self.record()?;
        let (trace, ends) = self.timetable()?;
        let steps = record.path().into_iter().filter_map(|segment| segment.happening);
        let on_path = steps.map(|at| ends[at as usize]).collect();
        let facts = self.facts();
        let memory = memory_map(&self.compiled.prepared.module, &self.compiled.platform);
        let predicted = |own: &Forecast| Predicted {
            what: own.what.clone(),
            cycles: own.cycles,
            edit: own.edit,
            no_edit: own.no_edit.clone(),
        };
        let what_if: Vec<Predicted> =
            advice.map_or(Vec::new(), |advice| advice.forecasts.iter().map(predicted).collect());
        let source = &self.compiled.prepared.written.source;
        let roofline = record.roofline();
        let both = other.map(|other| {
            let own = serde_json::to_value(&facts).map_err(|error| error.to_string())?;
            slipring_report::compare(other, &own).map(|both| slipring_report::compare_text(&both))
        });
        let against = match both.transpose() {
            Ok(text) => text.unwrap_or_default(),
            Err(why) => return Some(Err(why)),
        };
        let page = Page {
            against: &against,
            against_estimate: other.is_some_and(|other| other["estimate"].as_bool().unwrap_or(true)),
            facts: &facts,
            trace: &trace,
            on_path: &on_path,
            source: (&source.name, &source.text),
            shown: &|line| source.shown_line(line),
            memory: &memory,
            roofline: roofline.as_ref(),
            advice: advice.map_or(&[], |advice| &advice.words),
            what_if: &what_if,
            edits: advice.map_or(&[], |advice| &advice.edits),
            launch: None,
        };
        Some(html(&page))
    }

    /// Cycles, stalls and bytes by source line; `None` if the run was not recorded.
    pub fn lines(&self) -> Option<Vec<LineFacts>> {
        let record = self.record()?;
        let names = Names::new(&self.compiled.prepared, &self.compiled.platform);
        Some(record.lines(
            |site| names.line(site),
            |sync| names.role(sync),
            |line| (names.shown(line), names.text(line)),
        ))
    }

    /// The critical path: what the last cycle waited for, and what that waited for, back to the first; `None` if the
    /// run was not recorded.
    pub fn path(&self) -> Option<PathFacts> {
        let record = self.record()?;
        let names = Names::new(&self.compiled.prepared, &self.compiled.platform);
        Some(record.path_facts(|site| names.at(site), |sync| names.object(sync)))
    }
}
