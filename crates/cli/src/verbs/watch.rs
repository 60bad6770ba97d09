//! `slipring watch`: checks and runs a file whenever it is saved, and reports what changed.

use std::path::Path;
use std::time::{Duration, SystemTime};

use clap::Args;
use slipring::{Control, Diagnostic, Error, Severity, Source};
use slipring_report::LineFacts;

use super::exit::Exit;
use super::input::read_text;
use super::output::{fail, note, out, said_error};
use super::pages::Pages;
use crate::session::Text;

/// The polling interval.
const EACH: Duration = Duration::from_millis(50);

// Arguments of `watch`.
#[derive(Args)]
pub(super) struct WatchArgs {
    /// The file
    file: String,
    /// Also serve the page of `slipring report` on this port of 127.0.0.1, and reload it after each change. Defaults to
    /// a free port
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    serve: Option<u16>,
    /// Stop after this many checks, with the exit code of the last one. By default runs until interrupted
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    looks: Option<u32>,
}

/// The results for one version of the file.
#[derive(Default)]
struct Look {
    messages: Vec<Diagnostic>,
    /// Kernel and platform, the cycles of the run, and their error in per cent.
    ran: Option<(String, u64, Option<f64>)>,
    /// The activity of each line.
    lines: Vec<LineFacts>,
    /// The page of the run.
    page: Option<String>,
    /// Why it was not run.
    why: String,
    refused: bool,
}

/// Watches a file.
pub(super) fn watch(args: &WatchArgs) -> Exit {
    if args.file == "-" {
        return fail("`watch` needs a file, not standard input");
    }
    let (mut stamp, mut text, mut before, mut looks) = (None, None, None::<Look>, 0);
    let (mut gone, mut last) = (false, None);
    let pages = match args.serve.map(Pages::serve).transpose() {
        Ok(pages) => pages,
        Err(error) => return fail(format!("cannot listen on 127.0.0.1: {error}")),
    };
    if let Some(pages) = &pages {
        note(format!("the page is at {}", pages.address()));
    }
    loop {
        let now = changed(&args.file);
        // A file that is still being written is read once it no longer changes.
        let stays = before.is_none() || now == last;
        last = now;
        if stays && (stamp.is_none() || now != stamp) {
            match read_text(&args.file) {
                Ok(read) if text.as_ref() != Some(&read) => {
                    let source = Source::new(args.file.as_str(), read.as_str());
                    let mut seen = look(&args.file, &read, pages.is_some());
                    if let Some(pages) = &pages {
                        pages.show(seen.page.take().unwrap_or_else(|| seen.words(&source)));
                    }
                    tell(before.as_ref(), &seen, &source);
                    looks += 1;
                    if args.looks == Some(looks) {
                        return seen.exit();
                    }
                    (before, text, gone) = (Some(seen), Some(read), false);
                }
                Ok(_) => gone = false,
                Err(message) if before.is_none() => return fail(message),
                // An editor may remove the file for a moment while saving.
                Err(message) if !gone => {
                    gone = true;
                    note(message);
                }
                Err(_) => {}
            }
            stamp = now;
        }
        std::thread::sleep(EACH);
    }
}

/// Modification time and size of a file.
fn changed(file: &str) -> Option<(SystemTime, u64)> {
    let about = std::fs::metadata(Path::new(file)).ok()?;
    Some((about.modified().ok()?, about.len()))
}

fn look(name: &str, text: &str, page: bool) -> Look {
    let text = Text::new(name, None, text, true);
    let checked = match text.check() {
        Ok(checked) => checked,
        Err(error) => return Look { why: error.to_string(), refused: true, ..Look::default() },
    };
    let mut seen = Look { messages: checked.diags().list.clone(), ..Look::default() };
    if checked.errors() > 0 {
        return Look { why: "it has errors".into(), refused: true, ..seen };
    }
    let found = match text.run_with(&Control::default(), page) {
        Ok(ran) => {
            let stopped = if ran.complete { "" } else { ", stopped" };
            seen.ran = Some((ran.title + stopped, ran.cycles, ran.error_percent));
            (seen.lines, seen.page) = (ran.lines, ran.page);
            ran.findings.messages().to_vec()
        }
        Err(Error::Text(report)) => {
            (seen.why, seen.refused) = ("it has errors".into(), true);
            report.messages().to_vec()
        }
        Err(error) => {
            (seen.why, seen.refused) = (error.to_string(), true);
            Vec::new()
        }
    };
    for new in found {
        if !seen.messages.iter().any(|known| known.repeats(&new)) {
            seen.messages.push(new);
        }
    }
    seen
}

impl Look {
    /// The page shown when nothing ran.
    fn words(&self, source: &Source) -> String {
        let messages: Vec<String> = self.messages.iter().map(|message| message.render(source, false)).collect();
        let text = format!("not run: {}\n\n{}", self.why, messages.join("\n"));
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        let name = source.name.replace('&', "&amp;").replace('<', "&lt;");
        format!(
            "<!doctype html><html><head><meta charset=\"utf-8\"><title>{name}</title></head><body><pre>{text}</pre></body></html>"
        )
    }

    fn exit(&self) -> Exit {
        let errors = self.messages.iter().any(|message| message.severity == Severity::Error);
        if !self.refused && !errors {
            return Exit::Clean;
        }
        // The reason is already in the report.
        said_error();
        if self.refused { Exit::BadInput } else { Exit::Findings }
    }
}

/// Messages of the first list that are not in the second; they are compared by text, not by location.
fn without<'a>(list: &'a [Diagnostic], other: &[Diagnostic]) -> Vec<&'a Diagnostic> {
    let mut left: Vec<&Diagnostic> = other.iter().collect();
    let mut new = Vec::new();
    for message in list {
        match left.iter().position(|known| known.says_the_same(message)) {
            Some(at) => drop(left.remove(at)),
            None => new.push(message),
        }
    }
    new
}

/// Maximum number of lines whose cycles are shown.
const LINES: usize = 8;

/// The lines whose cycles changed; lines are matched by text, not by position.
fn other_lines(old: &[LineFacts], new: &[LineFacts]) -> String {
    let mut left: Vec<&LineFacts> = old.iter().collect();
    let mut changes: Vec<(u64, String)> = Vec::new();
    let words = |change: u64, more: bool, now: u64, own: &LineFacts| {
        let way = if more { "more" } else { "fewer" };
        (change, format!("line {}: {now} cycles ({change} {way})  {}\n", own.line, own.text))
    };
    for own in new {
        let known = left.iter().position(|known| known.text == own.text).map(|at| left.remove(at).busy);
        let known = known.unwrap_or(0);
        if known != own.busy {
            changes.push(words(known.abs_diff(own.busy), known < own.busy, own.busy, own));
        }
    }
    let gone = left.into_iter().filter(|own| own.busy > 0);
    changes.extend(gone.map(|own| (own.busy, format!("gone: {} cycles  {}\n", own.busy, own.text))));
    changes.sort_by_key(|(change, _)| std::cmp::Reverse(*change));
    let more = changes.len().saturating_sub(LINES);
    let mut text: String = changes.into_iter().take(LINES).map(|(_, text)| text).collect();
    if more > 0 {
        text += &format!("and {}\n", slipring_op::rules::counted(more, "more line"));
    }
    text
}

fn tell(before: Option<&Look>, now: &Look, source: &Source) {
    let old = before.map_or(&[][..], |seen| &seen.messages);
    let (came, went) = (without(&now.messages, old), without(old, &now.messages));
    for message in &came {
        out(&format!("{}\n", message.render(source, false)));
    }
    for message in &went {
        out(&format!("went  {}[{}]: {}\n", message.severity.name(), message.code, message.message));
    }
    if let Some(before) = before.filter(|before| before.ran.is_some() && now.ran.is_some()) {
        out(&other_lines(&before.lines, &now.lines));
    }
    let cycles = match &now.ran {
        Some((title, cycles, error)) => {
            let known = before.and_then(|seen| seen.ran.as_ref()).map(|(_, known, _)| *known);
            let change = match known {
                Some(known) if known < *cycles => format!(" ({} more)", cycles - known),
                Some(known) if known > *cycles => format!(" ({} fewer)", known - cycles),
                _ => String::new(),
            };
            format!("{title}: {}{change}", slipring_machine::figure(*cycles, *error))
        }
        None => format!("not run: {}", now.why),
    };
    let counts = [(came.len(), "came"), (went.len(), "went")];
    let counts: Vec<String> = counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    let counts = if counts.is_empty() { "no findings appeared or disappeared".to_string() } else { counts.join(", ") };
    out(&format!("== {cycles}; {counts}\n"));
}
