//! `slipring dap`: the same over the Debug Adapter Protocol, for editors.
//!
//! A thread is a core's scalar unit or pipe. Steps go along a thread, a step in to whatever begins next; both have their way back. The
//! debug console takes the words of `slipring debug`.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Read, Write};

use serde_json::{Value, json};
use slipring::report::Value as Fact;
use slipring::{Asked, Error, Kernel, RunOptions, Subject, Tensor};

use super::Session;

/// The most bytes of a message.
const MOST: usize = 1 << 24;

/// Both directions, and the numbers of what is sent.
struct Wire<R, W> {
    input: R,
    output: W,
    number: u64,
}

impl<R: BufRead, W: Write> Wire<R, W> {
    /// The next request; `None` where the editor has gone away.
    fn next(&mut self) -> io::Result<Option<Value>> {
        let wrong = |what: &str| io::Error::other(format!("the editor sends what is no message: {what}"));
        let mut length = None;
        loop {
            let mut line = String::new();
            if self.input.by_ref().take(1 << 12).read_line(&mut line)? == 0 {
                return Ok(None);
            }
            let line = line.trim();
            if line.is_empty() {
                break;
            }
            if let Some(number) = line.strip_prefix("Content-Length:") {
                length = number.trim().parse().ok().filter(|length| *length <= MOST);
            }
        }
        let mut bytes = vec![0; length.ok_or_else(|| wrong("a message has a length"))?];
        self.input.read_exact(&mut bytes)?;
        serde_json::from_slice(&bytes).map(Some).map_err(|error| wrong(&error.to_string()))
    }

    fn send(&mut self, mut message: Value) -> io::Result<()> {
        self.number += 1;
        message["seq"] = self.number.into();
        let text = message.to_string();
        write!(self.output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        self.output.flush()
    }

    fn event(&mut self, name: &str, body: Value) -> io::Result<()> {
        self.send(json!({ "type": "event", "event": name, "body": body }))
    }

    fn answer(&mut self, request: &Value, body: Result<Value, String>) -> io::Result<()> {
        let (success, key, value) = match body {
            Ok(body) => (true, "body", body),
            Err(message) => (false, "message", message.trim_end().into()),
        };
        self.send(json!({
            "type": "response",
            "request_seq": request["seq"],
            "command": request["command"],
            "success": success,
            key: value,
        }))
    }

    fn stopped(&mut self, session: &Session<'_>, why: &str) -> io::Result<()> {
        let (begun, cycle) = session.place_in_time();
        let thread = begun.checked_sub(1).map_or(0, |event| session.history().row_of(event)) + 1;
        let text = format!("cycle {cycle}");
        let body = json!({ "reason": why, "threadId": thread, "allThreadsStopped": true, "text": text });
        self.event("stopped", body)
    }
}

/// Serves an editor over standard input and output.
///
/// # Errors
/// If what it sends is no message, or it goes away in between.
pub(crate) fn serve() -> Result<(), String> {
    let mut wire = Wire { input: io::stdin().lock(), output: io::stdout().lock(), number: 0 };
    talk(&mut wire).map_err(|error| error.to_string())
}

fn talk(wire: &mut Wire<impl BufRead, impl Write>) -> io::Result<()> {
    while let Some(request) = wire.next()? {
        match request["command"].as_str().unwrap_or("") {
            "initialize" => {
                let can = json!({ "supportsConfigurationDoneRequest": true, "supportsStepBack": true });
                wire.answer(&request, Ok(can))?;
            }
            "launch" => match kernel(&request["arguments"]) {
                Ok(kernel) => return launched(wire, &request, &kernel),
                Err(error) => wire.answer(&request, Err(error.to_string()))?,
            },
            "disconnect" | "terminate" => return wire.answer(&request, Ok(Value::Null)),
            other => wire.answer(&request, Err(format!("`{other}` comes behind `launch`")))?,
        }
    }
    Ok(())
}

/// The words of a list of the launch.
fn words(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|word| word.as_str().map(str::to_string)).collect()
}

/// The kernel that is to be run: `program`, and as for `slipring run` `args`, `set`, `func` and `arch`.
fn kernel(asked: &Value) -> Result<Kernel, Error> {
    let Some(file) = asked["program"].as_str() else { return Err(Error::Arguments("`program` names a file".into())) };
    let request = Asked::new(asked["func"].as_str(), &words(&asked["args"]), &words(&asked["set"]))?;
    let kernel = Subject::open(file, &request)?.executed()?.kernel()?;
    match asked["arch"].as_str() {
        Some(arch) => kernel.platform(arch),
        None => Ok(kernel),
    }
}

/// Goes through the run of a kernel.
fn launched(wire: &mut Wire<impl BufRead, impl Write>, launch: &Value, kernel: &Kernel) -> io::Result<()> {
    let given = words(&launch["arguments"]["args"]);
    let arguments = || Ok(kernel.arguments(&given, 0)?.into_iter().map(Tensor::from).collect());
    let mut session = match Session::start(kernel, &arguments, RunOptions::default()) {
        Ok(session) => session,
        Err(error) => {
            wire.answer(launch, Err(error.to_string()))?;
            return talk(wire);
        }
    };
    wire.answer(launch, Ok(Value::Null))?;
    wire.event("output", json!({ "category": "console", "output": session.title() }))?;
    wire.event("initialized", Value::Null)?;
    let mut stops: BTreeSet<u64> = BTreeSet::new();
    while let Some(request) = wire.next()? {
        let asked = &request["arguments"];
        let row = asked["threadId"].as_u64().unwrap_or(1).saturating_sub(1) as usize;
        let command = request["command"].as_str().unwrap_or("");
        let on = !matches!(command, "stepBack" | "reverseContinue");
        match command {
            "configurationDone" => {
                wire.answer(&request, Ok(Value::Null))?;
                wire.stopped(&session, "entry")?;
            }
            "setBreakpoints" => {
                let lines = asked["breakpoints"].as_array().into_iter().flatten();
                let lines: Vec<u64> = lines.filter_map(|stop| stop["line"].as_u64()).collect();
                stops = lines.iter().copied().collect();
                let known: BTreeSet<u64> =
                    (0..session.history().count()).filter_map(|event| session.history().line(event)).collect();
                let list: Vec<Value> =
                    lines.iter().map(|line| json!({ "verified": known.contains(line), "line": line })).collect();
                wire.answer(&request, Ok(json!({ "breakpoints": list })))?;
            }
            "next" | "stepBack" | "stepIn" | "stepOut" => {
                let moved = match command {
                    "stepIn" | "stepOut" => session.find(true, |_, _| true),
                    _ => session.find(on, |history, event| history.row_of(event) == row),
                };
                if moved.is_err() {
                    if on {
                        session.go(usize::MAX)
                    } else {
                        session.go(0)
                    };
                }
                wire.answer(&request, Ok(Value::Null))?;
                wire.stopped(&session, "step")?;
            }
            "continue" | "reverseContinue" => {
                let stop = |history: &super::history::History, event: usize| {
                    history.line(event).is_some_and(|line| stops.contains(&line))
                };
                let found = session.find(on, stop).is_ok();
                if !found {
                    if on {
                        session.at(session.history().end())
                    } else {
                        session.go(0)
                    };
                }
                wire.answer(&request, Ok(json!({ "allThreadsContinued": true })))?;
                wire.stopped(&session, if found { "breakpoint" } else { "pause" })?;
            }
            "evaluate" => {
                let before = session.place_in_time();
                let told = session.said(asked["expression"].as_str().unwrap_or("")).unwrap_or_default();
                wire.answer(&request, Ok(json!({ "result": told.trim_end(), "variablesReference": 0 })))?;
                if session.place_in_time() != before {
                    wire.stopped(&session, "goto")?;
                }
            }
            "disconnect" | "terminate" => return wire.answer(&request, Ok(Value::Null)),
            _ => wire.answer(&request, told(&session, command, asked, row))?,
        }
    }
    Ok(())
}

/// What is asked of the moment.
fn told(session: &Session<'_>, command: &str, asked: &Value, row: usize) -> Result<Value, String> {
    let history = session.history();
    let (begun, cycle) = session.place_in_time();
    match command {
        "threads" => {
            let threads = history.rows().into_iter().map(|(row, name)| json!({ "id": row + 1, "name": name }));
            Ok(json!({ "threads": threads.collect::<Vec<_>>() }))
        }
        "stackTrace" => {
            // The last event of the thread that has begun.
            let event = (0..begun).rev().find(|event| history.row_of(*event) == row);
            let source = session.kernel().source();
            let name = std::path::Path::new(&source.name).file_name().map_or("", |name| name.to_str().unwrap_or(""));
            let frames: Vec<Value> = event
                .into_iter()
                .map(|event| {
                    let slice = history.slice(event);
                    json!({
                        "id": event + 1,
                        "name": format!("{} ({} to {})", slice.name, slice.start, slice.end),
                        "line": history.line(event).unwrap_or(0),
                        "column": 1,
                        "source": { "name": name, "path": source.name },
                    })
                })
                .collect();
            Ok(json!({ "totalFrames": frames.len(), "stackFrames": frames }))
        }
        "scopes" => {
            let scope = |name: &str, number: u64| json!({ "name": name, "variablesReference": number, "expensive": number == 4 });
            let event = asked["frameId"].as_u64().unwrap_or(0);
            Ok(json!({ "scopes": [
                scope("Event", 16 + event), scope("Cores", 2), scope("Rings", 3), scope("Buffers", 4),
            ]}))
        }
        "variables" => {
            let pair = |name: &str, value: &str| json!({ "name": name, "value": value, "variablesReference": 0 });
            let list: Vec<Value> = match asked["variablesReference"].as_u64().unwrap_or(0) {
                2 => {
                    let doing = history.doing(cycle).into_iter();
                    doing
                        .map(|(who, slice, ended)| {
                            let ended = ended.map_or(String::new(), |ended| format!("; {ended}"));
                            pair(&who, &format!("{}{ended}", slice.name))
                        })
                        .collect()
                }
                3 => history
                    .rings(cycle)
                    .iter()
                    .filter_map(|ring| ring.rsplit_once(": "))
                    .map(|(name, level)| pair(name, level))
                    .collect(),
                4 => {
                    let parameters = session.kernel().parameters().map_err(|error| error.to_string())?;
                    let shown = parameters.iter().filter(|own| own.is_buffer).map(|own| {
                        let text = session.show(&own.name)?;
                        let lines: Vec<&str> = text.lines().skip(1).map(str::trim).collect();
                        Ok(pair(&own.name, lines.join(": ").split_once(": ").map_or("", |(_, rest)| rest)))
                    });
                    shown.collect::<Result<_, String>>()?
                }
                number if number > 16 && number - 17 < history.count() as u64 => {
                    let slice = history.slice((number - 17) as usize);
                    let facts = slice.args.iter().map(|(name, fact)| match fact {
                        Fact::Number(number) => pair(name, &number.to_string()),
                        Fact::Text(text) => pair(name, text),
                    });
                    std::iter::once(pair("cycle", &cycle.to_string())).chain(facts).collect()
                }
                _ => Vec::new(),
            };
            Ok(json!({ "variables": list }))
        }
        other => Err(format!("`{other}` is not answered")),
    }
}
