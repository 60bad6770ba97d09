//! Where an editor wants to stop: lines, ops and conditions, bytes, findings.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use slipring_debug::{Condition, Session};
use slipring_ir::Line;

use super::FINDINGS;

/// Stops of one kind, as they were asked for, and the events that they are.
#[derive(Default)]
struct Group {
    asked: Value,
    events: BTreeSet<usize>,
}

/// All stops.
#[derive(Default)]
pub struct Stops {
    lines: Group,
    functions: Group,
    data: Group,
    findings: Group,
}

impl Stops {
    fn group(&mut self, command: &str) -> &mut Group {
        match command {
            "setBreakpoints" => &mut self.lines,
            "setFunctionBreakpoints" => &mut self.functions,
            "setDataBreakpoints" => &mut self.data,
            _ => &mut self.findings,
        }
    }

    /// Sets the stops of a kind; what became of each.
    pub fn set(&mut self, session: &Session, command: &str, asked: &Value) -> Vec<Value> {
        let (events, list) = events(session, command, asked);
        *self.group(command) = Group { asked: asked.clone(), events };
        list
    }

    /// Finds them again in another run.
    pub fn renew(&mut self, session: &Session) {
        for command in ["setBreakpoints", "setFunctionBreakpoints", "setDataBreakpoints", "setExceptionBreakpoints"] {
            let group = self.group(command);
            if !group.asked.is_null() {
                group.events = events(session, command, &group.asked).0;
            }
        }
    }

    /// Goes to the next stop, or to the one before; why it is one.
    pub fn next(&self, session: &mut Session, on: bool) -> Option<&'static str> {
        let groups = [
            (&self.findings, "exception"),
            (&self.data, "data breakpoint"),
            (&self.functions, "function breakpoint"),
            (&self.lines, "breakpoint"),
        ];
        let nearest = groups.iter().filter_map(|(group, why)| Some((session.next_of(on, &group.events)?, *why)));
        let (event, why) = match on {
            true => nearest.min_by_key(|(event, _)| *event)?,
            false => nearest.max_by_key(|(event, _)| *event)?,
        };
        session.go(event + 1);
        Some(why)
    }
}

/// Whether an editor's path is that of a file as the text names it.
fn is_file(path: &str, name: &str) -> bool {
    std::path::Path::new(path).ends_with(name)
}

/// The events of what is asked for, and an answer for each.
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
                // Breakpoints of a file that is part of the text stand at lines of its own.
                let path = asked["source"]["path"].as_str();
                let here = |own: &Line| {
                    u64::from(own.number) == line
                        && match &own.file {
                            Some(file) => path.is_some_and(|path| is_file(path, file)),
                            None => path.is_none_or(|path| !others.iter().any(|file| is_file(path, file))),
                        }
                };
                let own = (0..history.count()).filter(|event| history.line(*event).is_some_and(|own| here(&own)));
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
