//! Breakpoints of an editor: at lines, ops and conditions, bytes, and findings.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

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
    /// The file of breakpoints at lines, if the request names one.
    file: Option<PathBuf>,
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
        let file = path(asked).map(|path| real(Path::new(path)));
        self.0.retain(|own| (own.kind, &own.file) != (kind, &file));
        self.0.push(Group { kind, file, asked: asked.clone(), events });
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

/// A path without links and relative parts; one that does not exist is only made absolute.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.into())
}

/// Whether an editor's path denotes the file that the text of a run names, or that a text of this folder names.
fn is_file(path: &str, name: &str, folder: Option<&Path>) -> bool {
    let named = [Some(PathBuf::from(name)), folder.map(|folder| folder.join(name))];
    let mut known = named.into_iter().flatten().filter(|named| named.exists()).peekable();
    match known.peek() {
        Some(_) => known.any(|named| real(&named) == real(Path::new(path))),
        // A recording may come from another machine: only the end of its paths is the same here.
        None => Path::new(path).ends_with(name),
    }
}

/// The rows of the text that come from the file of a request, each with its line in that file.
fn rows_of(session: &Session, asked: &Value) -> Result<Vec<(usize, u64)>, String> {
    let source = session.source();
    let Some(path) = path(asked) else {
        // A request without a path means the file that was launched.
        let rows = (1..=source.text.lines().count()).map(|row| (row, source.shown_line(row)));
        return Ok(rows.filter(|(_, line)| line.file.is_none()).map(|(row, line)| (row, line.number.into())).collect());
    };
    let folder = Path::new(&source.name).parent();
    let own = is_file(path, &source.name, None);
    let others: BTreeSet<&str> = source.parts_of_others().iter().map(|part| part.name.as_str()).collect();
    let others: BTreeSet<&str> = others.into_iter().filter(|name| is_file(path, name, folder)).collect();
    if !own && others.is_empty() {
        return Err(format!("`{path}` is not a file of this run, which is of `{}`", source.shown_name()));
    }
    let here = |line: &Line| line.file.as_deref().map_or(own, |file| others.contains(file));
    let rows = (1..=source.text.lines().count()).map(|row| (row, source.shown_line(row)));
    Ok(rows.filter(|(_, line)| here(line)).map(|(row, line)| (row, line.number.into())).collect())
}

/// What a breakpoint may have by the protocol, where the adapter says that it supports it; this one does not.
const CONDITIONAL: [&str; 3] = ["condition", "hitCondition", "logMessage"];

/// The events of a breakpoint at a line.
fn at_line(session: &Session, rows: &[(usize, u64)], stop: &Value) -> Result<BTreeSet<usize>, String> {
    let Some(line) = stop["line"].as_u64().filter(|line| *line > 0) else {
        return Err("lines are whole numbers, counted from 1".into());
    };
    if let Some(name) = CONDITIONAL.into_iter().find(|name| !stop[*name].is_null()) {
        return Err(format!("`{name}` is not supported here; the name of a function breakpoint may be a condition"));
    }
    let rows: BTreeSet<usize> = rows.iter().filter(|(_, own)| *own == line).map(|(row, _)| *row).collect();
    let history = session.history();
    Ok((0..history.count()).filter(|event| history.row(*event).is_some_and(|row| rows.contains(&row))).collect())
}

/// The events of a function breakpoint: those of a condition, or of all ops whose name contains a text.
fn of_name(session: &Session, name: &str) -> Result<BTreeSet<usize>, String> {
    let history = session.history();
    match name.parse::<Condition>() {
        _ if name.trim().is_empty() => {
            Err("a function breakpoint needs a part of an event's name, or a condition".into())
        }
        Ok(condition) => session.events_of(&condition),
        Err(_) => {
            let named = history.names_with(name);
            Ok((0..history.count()).filter(|event| named[history.name(*event)]).collect())
        }
    }
}

/// The events of a data breakpoint.
fn of_data(session: &Session, stop: &Value) -> Result<BTreeSet<usize>, String> {
    let bytes = stop["dataId"].as_str().unwrap_or("");
    let kinds: &[&str] = match stop["accessType"].as_str() {
        Some("read") => &["read"],
        Some("readWrite") => &["read", "written"],
        _ => &["written"],
    };
    let mut all = BTreeSet::new();
    for kind in kinds {
        all.extend(session.events_of(&format!("{bytes} is {kind}").parse::<Condition>()?)?);
    }
    Ok(all)
}

/// The events that match a request, and an answer for each breakpoint.
fn events(session: &Session, command: &str, asked: &Value) -> (BTreeSet<usize>, Vec<Value>) {
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
    // Breakpoints in a file that is part of the text use that file's own line numbers.
    let rows = if command == "setBreakpoints" { rows_of(session, asked) } else { Ok(Vec::new()) };
    // The answer has an entry for each breakpoint of the request, in its order.
    for stop in asked["breakpoints"].as_array().into_iter().flatten() {
        match command {
            "setBreakpoints" => {
                let found = rows.clone().and_then(|rows| at_line(session, &rows, stop));
                add(found, stop["line"].as_i64().map_or(json!({}), |line| json!({ "line": line })));
            }
            "setFunctionBreakpoints" => add(of_name(session, stop["name"].as_str().unwrap_or("")), json!({})),
            _ => add(of_data(session, stop), json!({})),
        }
    }
    for filter in asked["filters"].as_array().into_iter().flatten() {
        let found = match filter.as_str() {
            Some(FINDINGS) => Ok(session.finding_events()),
            _ => Err(format!("there is no filter {filter}")),
        };
        add(found, json!({}));
    }
    (all, list)
}
