//! `slipring dap`: the debugger over the Debug Adapter Protocol, for editors.
//!
//! A thread is a core's scalar unit or pipe. Steps follow one thread, and a step in goes to whatever begins next; both
//! also work in reverse. The debug console accepts the commands of `slipring debug`; watches and hovers only show.

mod moment;
mod stops;

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};
use slipring::{
    CompileRequest, Error, Given, Kernel, OPTIONS, OptionError, RunOption, RunRequest, Subject, Tensor, Way,
};
use slipring_debug::Session;

use self::moment::{row_now, thread, told, unknown, variables};
use self::stops::{FINDINGS, Stops};
use crate::frames;

/// Maximum size of a message in bytes.
const MOST: usize = 1 << 24;

/// Both directions, and the sequence numbers of sent messages.
struct Wire<R, W> {
    input: R,
    output: W,
    number: u64,
    /// The fields of a location that the editor counts from 0. Here, lines and columns are counted from 1.
    from_zero: Vec<&'static str>,
}

/// Adds to the fields of all locations in a message.
fn renumber(message: &mut Value, fields: &[&str], by: i64) {
    match message {
        Value::Object(own) => {
            for (name, value) in own {
                match value.as_i64().filter(|_| fields.contains(&name.as_str())) {
                    Some(number) => *value = number.saturating_add(by).max(0).into(),
                    None => renumber(value, fields, by),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| renumber(value, fields, by)),
        _ => {}
    }
}

impl<R: BufRead, W: Write> Wire<R, W> {
    /// The next request; `None` if the editor has disconnected.
    fn next(&mut self) -> io::Result<Option<Value>> {
        let Some(bytes) = frames::next(&mut self.input, MOST)? else { return Ok(None) };
        let mut request: Value = serde_json::from_slice(&bytes).map_err(|error| frames::wrong(&error.to_string()))?;
        if request["command"] == "initialize" {
            let counted = [("linesStartAt1", "line"), ("columnsStartAt1", "column")];
            let zero = counted.iter().filter(|(option, _)| request["arguments"][option] == false);
            self.from_zero = zero.map(|(_, field)| *field).collect();
        }
        if let Some(arguments) = request.get_mut("arguments") {
            renumber(arguments, &self.from_zero, 1);
        }
        Ok(Some(request))
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
            Ok(mut body) => {
                renumber(&mut body, &self.from_zero, -1);
                (true, "body", body)
            }
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

    fn stopped(&mut self, session: &Session, why: &str) -> io::Result<()> {
        self.stopped_at(session, why, row_now(session), None)
    }

    /// A stop of a thread, with a remark on it.
    fn stopped_at(&mut self, session: &Session, why: &str, row: Option<usize>, remark: Option<&str>) -> io::Result<()> {
        let (_, cycle) = session.place_in_time();
        let mut body = json!({ "reason": why, "allThreadsStopped": true, "text": format!("cycle {cycle}") });
        if let Some(row) = row {
            body["threadId"] = (row + 1).into();
        }
        if let Some(remark) = remark {
            body["description"] = remark.into();
            self.event("output", json!({ "category": "console", "output": format!("{remark}\n") }))?;
        }
        self.event("stopped", body)
    }
}

/// Serves an editor over standard input and output.
///
/// # Errors
///
/// If the editor sends something that is not a message, or disconnects during a session.
pub(crate) fn serve() -> Result<(), String> {
    let mut wire = Wire { input: io::stdin().lock(), output: io::stdout().lock(), number: 0, from_zero: Vec::new() };
    talk(&mut wire).map_err(|error| error.to_string())
}

fn talk(wire: &mut Wire<impl BufRead, impl Write>) -> io::Result<()> {
    while let Some(request) = wire.next()? {
        match request["command"].as_str().unwrap_or("") {
            "initialize" => {
                let filter = json!({ "filter": FINDINGS, "label": "Findings of the run", "default": true });
                let can = json!({
                    "supportsConfigurationDoneRequest": true,
                    "supportsStepBack": true,
                    "supportsFunctionBreakpoints": true,
                    "supportsDataBreakpoints": true,
                    "supportsEvaluateForHovers": true,
                    "supportsExceptionInfoRequest": true,
                    "exceptionBreakpointFilters": [filter],
                });
                wire.answer(&request, Ok(can))?;
            }
            "launch" => match kernel(&request["arguments"]) {
                Ok(kernel) => return launched(wire, &request, &kernel),
                Err(error) => wire.answer(&request, Err(error.to_string()))?,
            },
            "disconnect" | "terminate" => return wire.answer(&request, Ok(Value::Null)),
            other if AFTER_LAUNCH.contains(&other) => {
                wire.answer(&request, Err(format!("`{other}` is not answered before `launch`")))?;
            }
            other => wire.answer(&request, Err(unknown(other)))?,
        }
    }
    Ok(())
}

/// The requests that need a run.
const AFTER_LAUNCH: &[&str] = &[
    "configurationDone",
    "setBreakpoints",
    "setFunctionBreakpoints",
    "setDataBreakpoints",
    "setExceptionBreakpoints",
    "next",
    "stepBack",
    "stepIn",
    "stepOut",
    "continue",
    "reverseContinue",
    "evaluate",
    "variables",
    "threads",
    "stackTrace",
    "scopes",
    "dataBreakpointInfo",
    "exceptionInfo",
];

/// What editors write into launch requests for themselves; names that begin with `__` are theirs, too.
const OF_EDITORS: &[&str] = &[
    "type",
    "request",
    "name",
    "presentation",
    "preLaunchTask",
    "postDebugTask",
    "internalConsoleOptions",
    "debugServer",
    "serverReadyAction",
    "restart",
    "linux",
    "osx",
    "windows",
    "suppressDebugStatusbar",
    "suppressDebugToolbar",
    "suppressDebugView",
    "suppressMultipleSessionWarning",
    "suppressSaveBeforeStart",
];

/// What the launch request has besides options.
const OF_KERNELS: &[&str] = &["program", "args", "set", "func", "arch"];

/// The options of the launch request.
fn options() -> impl Iterator<Item = &'static RunOption> {
    OPTIONS.iter().filter(|option| option.not_on_command_line.is_none())
}

/// The names in a launch request that have no effect.
fn unused(asked: &Value) -> Vec<&str> {
    let known = |name: &str| {
        name.starts_with("__")
            || [OF_EDITORS, OF_KERNELS].concat().contains(&name)
            || options().any(|option| option.name == name)
    };
    let given = asked.as_object().into_iter().flatten().filter(|(_, value)| !matches!(value, Value::Bool(false)));
    given.map(|(name, _)| name.as_str()).filter(|name| !known(name)).collect()
}

/// A text in the launch request, if it is there.
fn text<'a>(asked: &'a Value, name: &str) -> Result<Option<&'a str>, Error> {
    match &asked[name] {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        _ => Err(Error::Arguments(format!("`{name}` must be a string"))),
    }
}

/// The strings of a list in the launch request.
fn words(asked: &Value, name: &str) -> Result<Vec<String>, Error> {
    let texts = match &asked[name] {
        Value::Null => Some(Vec::new()),
        Value::Array(list) => list.iter().map(|word| word.as_str().map(str::to_string)).collect(),
        _ => None,
    };
    texts.ok_or_else(|| Error::Arguments(format!("`{name}` must be a list of strings")))
}

/// The kernel to run: `program`, and `args`, `set`, `func` and `arch` as for `slipring run`.
fn kernel(asked: &Value) -> Result<Kernel, Error> {
    let file = text(asked, "program")?.ok_or_else(|| Error::Arguments("`program` names a file".into()))?;
    let request = CompileRequest::new(text(asked, "func")?, &words(asked, "args")?, &words(asked, "set")?)?;
    let subject = Subject::open(file, &request)?.executed()?;
    if subject.program()?.is_some() {
        let message = "the debugger is for kernels, and this is a whole program: name a kernel with `func`";
        return Err(Error::Unsupported(message.into()));
    }
    let kernel = subject.kernel()?;
    match text(asked, "arch")? {
        Some(arch) => kernel.platform(arch),
        None => Ok(kernel),
    }
}

/// The value of an option in the launch request.
fn of_json(value: &Value) -> Given {
    let text = |value: &Value| value.as_str().map(str::to_string);
    match value {
        Value::Null => Given::Nothing,
        Value::Bool(flag) => Given::Flag(*flag),
        Value::String(text) => Given::Text(text.clone()),
        Value::Number(number) => number.as_i128().map_or_else(|| Given::Other(number.to_string()), Given::Whole),
        Value::Array(list) => match list.iter().map(text).collect() {
            Some(texts) => Given::Texts(texts),
            None => Given::Other(value.to_string()),
        },
        Value::Object(_) => Given::Other(value.to_string()),
    }
}

/// Runs a kernel as the launch request says: options are those of `slipring debug`, with `_` in their names.
fn run(kernel: &Kernel, asked: &Value) -> Result<Session, Error> {
    let given = words(asked, "args")?;
    let mut request = RunRequest::default();
    for (option, value) in options().filter_map(|option| Some((option, asked.get(option.name)?))) {
        let wrong = |error: OptionError| Error::Arguments(format!("`{}` {}", option.name, error.reason()));
        request.set(option.name, of_json(value)).map_err(wrong)?;
    }
    request.on(Way::Stepping)?;
    let options = Session::options(request.run);
    let tensors: Vec<Tensor<'_>> = kernel.arguments(&given, 0)?;
    Ok(Session::start(kernel.run_with(tensors, &options)?.into_owned(), options))
}

/// Steps through the run of a kernel.
fn launched(wire: &mut Wire<impl BufRead, impl Write>, launch: &Value, kernel: &Kernel) -> io::Result<()> {
    let mut session = match run(kernel, &launch["arguments"]) {
        Ok(session) => session,
        Err(error) => {
            wire.answer(launch, Err(error.to_string()))?;
            return talk(wire);
        }
    };
    wire.answer(launch, Ok(Value::Null))?;
    wire.event("output", json!({ "category": "console", "output": session.title() }))?;
    for name in unused(&launch["arguments"]) {
        let text = format!("`{name}` has no effect on a launch\n");
        wire.event("output", json!({ "category": "important", "output": text }))?;
    }
    wire.event("initialized", Value::Null)?;
    let mut stops = Stops::default();
    while let Some(request) = wire.next()? {
        let asked = &request["arguments"];
        let command = request["command"].as_str().unwrap_or("");
        let on = !matches!(command, "stepBack" | "reverseContinue");
        match command {
            "configurationDone" => {
                wire.answer(&request, Ok(Value::Null))?;
                wire.stopped(&session, "entry")?;
            }
            "setBreakpoints" | "setFunctionBreakpoints" | "setDataBreakpoints" | "setExceptionBreakpoints" => {
                let list = stops.set(&session, command, asked);
                wire.answer(&request, Ok(json!({ "breakpoints": list })))?;
            }
            "next" | "stepBack" | "stepIn" | "stepOut" => match thread(&session, asked) {
                Ok(row) => {
                    let remark = step(&mut session, command, asked, row);
                    wire.answer(&request, Ok(Value::Null))?;
                    match remark {
                        None => wire.stopped(&session, "step")?,
                        Some(remark) => wire.stopped_at(&session, "step", Some(row), Some(&remark))?,
                    }
                }
                Err(message) => wire.answer(&request, Err(message))?,
            },
            "continue" | "reverseContinue" => {
                let found = stops.next(&mut session, on);
                let end = if on { "the end of the run" } else { "the beginning of the run" };
                if found.is_none() {
                    if on {
                        session.at(session.history().end())
                    } else {
                        session.go(0)
                    };
                }
                wire.answer(&request, Ok(json!({ "allThreadsContinued": true })))?;
                match found {
                    Some(why) => wire.stopped(&session, why)?,
                    None => wire.stopped_at(&session, "pause", row_now(&session), Some(end))?,
                }
            }
            "evaluate" => {
                let before = session.place_in_time();
                let held = session.asked().delays.clone();
                let told = evaluated(&mut session, asked);
                // A run with a held delay is a different run, whose events have other indices.
                if session.asked().delays != held {
                    stops.renew(&session);
                }
                let told = told.map(|told| json!({ "result": told.trim_end(), "variablesReference": 0 }));
                wire.answer(&request, told)?;
                if session.place_in_time() != before {
                    wire.stopped(&session, "goto")?;
                }
            }
            "variables" => {
                let list = variables(&mut session, asked);
                wire.answer(&request, Ok(json!({ "variables": list })))?;
            }
            "disconnect" | "terminate" => return wire.answer(&request, Ok(Value::Null)),
            "initialize" | "launch" => wire.answer(&request, Err(format!("`{command}` was answered already")))?,
            _ => wire.answer(&request, told(&session, command, asked))?,
        }
    }
    Ok(())
}

/// Makes a step of a thread; returns a remark if there is nothing to step to, and the session stays where it is.
fn step(session: &mut Session, command: &str, asked: &Value, row: usize) -> Option<String> {
    let on = command != "stepBack";
    if matches!(command, "stepIn" | "stepOut") {
        return session.find(true, |_, _| true).err().map(|_| "nothing begins after this event".into());
    }
    let history = session.history();
    let own = (0..session.place_in_time().0).rev().find(|event| history.row_of(*event) == row);
    let line = own.and_then(|event| history.row(event)).filter(|_| asked["granularity"].as_str() == Some("line"));
    let name = history.rows().into_iter().find(|(own, _)| *own == row).map_or(String::new(), |(_, name)| name);
    let moved = session.find(on, |history, event| {
        history.row_of(event) == row && (line.is_none() || history.row(event).is_some_and(|own| Some(own) != line))
    });
    let way = if on { "after" } else { "in front of" };
    moved.err().map(|_| format!("{name} has nothing {way} this event"))
}

/// The answer to an expression. Only the console executes commands: editors evaluate watches and hovers unasked and
/// repeatedly, so those show what a name stands for, and change nothing.
fn evaluated(session: &mut Session, asked: &Value) -> Result<String, String> {
    let said = asked["expression"].as_str().ok_or("`expression` is a string")?;
    match asked["context"].is_null() || asked["context"] == "repl" {
        true => session.command(said).unwrap_or_else(|| Err("the editor ends the session, not the console".into())),
        false => session.show(said),
    }
}
