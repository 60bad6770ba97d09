//! `slipring dap`: the debugger over the Debug Adapter Protocol, for editors.
//!
//! A thread is a core's scalar unit or pipe. Steps follow one thread, and a step in goes to whatever begins next; both
//! also work in reverse. The debug console accepts the commands of `slipring debug`.

mod moment;
mod stops;

use std::io::{self, BufRead, Read, Write};

use serde_json::{Value, json};
use slipring::{
    CompileRequest, Error, Given, Kernel, OPTIONS, OptionError, RunOption, RunRequest, Subject, Tensor, Way,
};
use slipring_debug::Session;

use self::moment::{told, variables};
use self::stops::{FINDINGS, Stops};

/// Maximum size of a message in bytes.
const MOST: usize = 1 << 24;

/// Both directions, and the sequence numbers of sent messages.
struct Wire<R, W> {
    input: R,
    output: W,
    number: u64,
}

impl<R: BufRead, W: Write> Wire<R, W> {
    /// The next request; `None` if the editor has disconnected.
    fn next(&mut self) -> io::Result<Option<Value>> {
        let wrong = |what: &str| io::Error::other(format!("the editor sent something that is not a message: {what}"));
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

    fn stopped(&mut self, session: &Session, why: &str) -> io::Result<()> {
        let (_, cycle) = session.place_in_time();
        let thread = session.event_now().map_or(0, |event| session.history().row_of(event)) + 1;
        let text = format!("cycle {cycle}");
        let body = json!({ "reason": why, "threadId": thread, "allThreadsStopped": true, "text": text });
        self.event("stopped", body)
    }
}

/// Serves an editor over standard input and output.
///
/// # Errors
///
/// If the editor sends something that is not a message, or disconnects during a session.
pub(crate) fn serve() -> Result<(), String> {
    let mut wire = Wire { input: io::stdin().lock(), output: io::stdout().lock(), number: 0 };
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
            other => wire.answer(&request, Err(format!("`{other}` is not answered before `launch`")))?,
        }
    }
    Ok(())
}

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
    let kernel = Subject::open(file, &request)?.executed()?.kernel()?;
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
        let row = asked["threadId"].as_u64().unwrap_or(1).saturating_sub(1) as usize;
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
            "next" | "stepBack" | "stepIn" | "stepOut" => {
                let line = asked["granularity"].as_str() == Some("line");
                let moved = match command {
                    "stepIn" | "stepOut" => session.find(true, |_, _| true),
                    _ if line => session.step(on),
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
                let found = stops.next(&mut session, on);
                if found.is_none() {
                    if on {
                        session.at(session.history().end())
                    } else {
                        session.go(0)
                    };
                }
                wire.answer(&request, Ok(json!({ "allThreadsContinued": true })))?;
                wire.stopped(&session, found.unwrap_or("pause"))?;
            }
            "evaluate" => {
                let before = session.place_in_time();
                let held = session.asked().delays.clone();
                let told = session.said(asked["expression"].as_str().unwrap_or("")).unwrap_or_default();
                // A run with a held delay is a different run, whose events have other indices.
                if session.asked().delays != held {
                    stops.renew(&session);
                }
                wire.answer(&request, Ok(json!({ "result": told.trim_end(), "variablesReference": 0 })))?;
                if session.place_in_time() != before {
                    wire.stopped(&session, "goto")?;
                }
            }
            "variables" => {
                let list = variables(&mut session, asked);
                wire.answer(&request, Ok(json!({ "variables": list })))?;
            }
            "disconnect" | "terminate" => return wire.answer(&request, Ok(Value::Null)),
            _ => wire.answer(&request, told(&session, command, asked, row))?,
        }
    }
    Ok(())
}
