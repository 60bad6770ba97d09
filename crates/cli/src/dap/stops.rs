//! Breakpoints of an editor: at lines, ops and conditions, bytes, and findings.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use slipring_debug::{Condition, Session};
use slipring_ir::Line;

/// The exception filter for findings.
pub const FINDINGS: &str = "findings";

/// The requests that set breakpoints, and the reason reported for a stop. When running forwards, the first of several
/// reasons at one event is reported.
const KINDS: [(&str, &str); 4] = [
    ("setExceptionBreakpoints", "exception"),
    ("setDataBreakpoints", "data breakpoint"),
    ("setFunctionBreakpoints", "function breakpoint"),
    ("setBreakpoints", "breakpoint"),
];

/// Breakpoints of one kind, as requested, and the events that match them. A group at lines belongs to one file.
struct Group {
    /// Index in [`KINDS`].
    kind: usize,
    asked: Value,
    events: BTreeSet<usize>,
}

/// All breakpoints, sorted by kind.
#[derive(Default)]
pub struct Stops(Vec<Group>);

/// The file of a request.
fn path(asked: &Value) -> Option<&str> {
    asked["source"]["path"].as_str()
}

impl Stops {
    /// Replaces the breakpoints of a kind (at lines: of one file), and returns the state of each.
    pub fn set(&mut self, session: &Session, command: &str, asked: &Value) -> Vec<Value> {
        let kind = KINDS.iter().position(|(known, _)| *known == command).unwrap_or(0);
        let (events, list) = events(session, command, asked);
        self.0.retain(|own| (own.kind, path(&own.asked)) != (kind, path(asked)));
        self.0.push(Group { kind, asked: asked.clone(), events });
        self.0.sort_by_key(|own| own.kind);
        list
    }

    /// Finds their events again in another run.
    pub fn renew(&mut self, session: &Session) {
        for group in &mut self.0 {
            group.events = events(session, KINDS[group.kind].0, &group.asked).0;
        }
    }

    /// Goes to the next stop, or to the previous one, and returns its reason.
    pub fn next(&self, session: &mut Session, on: bool) -> Option<&'static str> {
        let nearest = self.0.iter().filter_map(|own| Some((session.next_of(on, &own.events)?, KINDS[own.kind].1)));
        let (event, why) = match on {
            true => nearest.min_by_key(|(event, _)| *event)?,
            false => nearest.max_by_key(|(event, _)| *event)?,
        };
        session.go(event + 1);
        Some(why)
    }
}

/// Whether an editor's path denotes the file that the text names.
fn is_file(path: &str, name: &str) -> bool {
    std::path::Path::new(path).ends_with(name)
}

/// The events that match a request, and an answer for each breakpoint.
fn events(session: &Session, command: &str, asked: &Value) -> (BTreeSet<usize>, Vec<Value>) {
    let history = session.history();
    let others: Vec<&str> = session.source().parts_of_others().iter().map(|part| part.name.as_str()).collect();
    let (mut all, mut list) = (BTreeSet::new(), Vec::new());
    let mut add = |found: Result<BTreeSet<usize>, String>, mut answer: Value| {
        match found {
            Ok(found) => {
                answer["verified"] = (!found.is_empty()).into();
                if found.is_empty() {
                    answer["message"] = "nothing of the run is there".into();
                }
                all.extend(found);
            }
            Err(message) => {
                answer["verified"] = false.into();
                answer["message"] = message.trim_end().into();
            }
        }
        list.push(answer);
    };
    for stop in asked["breakpoints"].as_array().into_iter().flatten() {
        match command {
            "setBreakpoints" => {
                let Some(line) = stop["line"].as_u64() else { continue };
                // Breakpoints in a file that is part of the text use that file's own line numbers.
                let path = path(asked);
                let here = |own: &Line| {
                    u64::from(own.number) == line
                        && match &own.file {
                            Some(file) => path.is_some_and(|path| is_file(path, file)),
                            None => path.is_none_or(|path| !others.iter().any(|file| is_file(path, file))),
                        }
                };
                let source = session.source();
                let rows = (1..=source.text.lines().count()).filter(|row| here(&source.shown_line(*row)));
                let rows: BTreeSet<usize> = rows.collect();
                let own =
                    (0..history.count()).filter(|event| history.row(*event).is_some_and(|row| rows.contains(&row)));
                add(Ok(own.collect()), json!({ "line": line }));
            }
            "setFunctionBreakpoints" => {
                let name = stop["name"].as_str().unwrap_or("");
                let found = match name.parse::<Condition>() {
                    Ok(condition) => session.events_of(&condition),
                    Err(_) => {
                        let named = history.names_with(name);
                        Ok((0..history.count()).filter(|event| named[history.name(*event)]).collect())
                    }
                };
                add(found, json!({}));
            }
            _ => {
                let bytes = stop["dataId"].as_str().unwrap_or("");
                let kinds: &[&str] = match stop["accessType"].as_str() {
                    Some("read") => &["read"],
                    Some("readWrite") => &["read", "written"],
                    _ => &["written"],
                };
                let mut found = Ok(BTreeSet::new());
                for kind in kinds {
                    let condition = format!("{bytes} is {kind}").parse::<Condition>();
                    let own = condition.and_then(|condition| session.events_of(&condition));
                    found = found.and_then(|mut all: BTreeSet<usize>| {
                        all.extend(own?);
                        Ok(all)
                    });
                }
                add(found, json!({}));
            }
        }
    }
    for filter in asked["filters"].as_array().into_iter().flatten() {
        let found = if filter == FINDINGS { session.finding_events() } else { BTreeSet::new() };
        add(Ok(found), json!({}));
    }
    (all, list)
}
