//! `slipring dap` through the protocol.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::here::{self, root};

struct Adapter {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    number: u64,
    events: Vec<Value>,
}

impl Adapter {
    fn start() -> Adapter {
        let mut child = here::slipring()
            .arg("dap")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Adapter { child, input, output, number: 0, events: Vec::new() }
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the adapter has ended");
            match line.trim().strip_prefix("Content-Length: ") {
                Some(number) => length = number.parse().unwrap(),
                None => break,
            }
        }
        let mut bytes = vec![0; length];
        self.output.read_exact(&mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    /// Sends a request, and waits for the answer.
    fn ask(&mut self, command: &str, arguments: Value) -> Value {
        self.number += 1;
        let text =
            json!({ "seq": self.number, "type": "request", "command": command, "arguments": arguments }).to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.input.flush().unwrap();
        loop {
            let message = self.read();
            if message["type"] == "response" && message["request_seq"] == self.number {
                return message;
            }
            self.events.push(message);
        }
    }

    /// The next event of a name.
    fn event(&mut self, name: &str) -> Value {
        loop {
            if let Some(at) = self.events.iter().position(|event| event["event"] == name) {
                return self.events.remove(at)["body"].clone();
            }
            let message = self.read();
            self.events.push(message);
        }
    }

    fn launch(&mut self, file: &str) {
        self.launch_for(json!({}), file);
    }

    /// Launches a file for an editor that says this of itself.
    fn launch_for(&mut self, editor: Value, file: &str) {
        assert_eq!(self.ask("initialize", editor)["body"]["supportsStepBack"], true);
        let answer = self.ask("launch", json!({ "program": root().join(file).display().to_string() }));
        assert_eq!(answer["success"], true, "{answer}");
        self.event("initialized");
    }

    /// The thread of this name.
    fn thread(&mut self, name: &str) -> Value {
        let threads = self.ask("threads", json!({}))["body"]["threads"].clone();
        let found = threads.as_array().unwrap().iter().find(|thread| thread["name"] == name);
        found.unwrap_or_else(|| panic!("{threads}"))["id"].clone()
    }

    fn frame(&mut self, thread: &Value) -> Value {
        self.ask("stackTrace", json!({ "threadId": thread }))["body"]["stackFrames"][0].clone()
    }

    fn end(mut self) {
        self.ask("disconnect", json!({}));
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn an_editor_stops_steps_and_goes_back() {
    let mut adapter = Adapter::start();
    adapter.launch("examples/lang/double.py");
    let stops = json!({ "source": {}, "breakpoints": [{ "line": 10 }, { "line": 1 }] });
    let set = adapter.ask("setBreakpoints", stops)["body"]["breakpoints"].clone();
    assert_eq!((&set[0]["verified"], &set[1]["verified"]), (&json!(true), &json!(false)));
    adapter.ask("configurationDone", json!({}));
    assert_eq!(adapter.event("stopped")["reason"], "entry");
    adapter.ask("continue", json!({ "threadId": 1 }));
    assert_eq!(adapter.event("stopped")["reason"], "breakpoint");
    let thread = adapter.thread("AIC.M");
    // Along one pipe and back: the same event.
    adapter.ask("evaluate", json!({ "expression": "op tmatmul" }));
    let stopped = adapter.event("stopped");
    assert_eq!((&stopped["reason"], &stopped["threadId"]), (&json!("goto"), &thread));
    let product = adapter.frame(&thread);
    assert!(product["name"].as_str().unwrap().starts_with("pto.tmatmul (") && product["line"] == 10, "{product}");
    for command in ["next", "stepBack"] {
        adapter.ask(command, json!({ "threadId": thread }));
        assert_eq!(adapter.event("stopped")["threadId"], thread);
    }
    assert_eq!(adapter.frame(&thread), product);
    // Facts about the current moment.
    let scopes = adapter.ask("scopes", json!({ "frameId": product["id"] }))["body"]["scopes"].clone();
    let mut variables = |at: usize| {
        let number = &scopes[at]["variablesReference"];
        adapter.ask("variables", json!({ "variablesReference": number }))["body"]["variables"].to_string()
    };
    assert!(variables(0).contains("product"), "the tile");
    assert!(variables(1).contains("waits for a tile of ring C2V"));
    assert!(variables(2).contains("ring C2V (AIC to AIV0): filled slots of 2"));
    assert!(variables(3).contains("16384 bytes of f32, 0 to 0"));
    // To the end, and all the way back.
    adapter.ask("setBreakpoints", json!({ "source": {}, "breakpoints": [] }));
    adapter.ask("continue", json!({ "threadId": 1 }));
    assert_eq!(adapter.event("stopped")["text"], "cycle 887");
    adapter.ask("reverseContinue", json!({ "threadId": 1 }));
    assert_eq!(adapter.event("stopped")["text"], "cycle 0");
    adapter.end();
}

#[test]
fn lines_and_columns_are_counted_as_the_editor_counts() {
    for (lines, columns) in [(true, false), (false, true), (false, false)] {
        let mut adapter = Adapter::start();
        let editor = json!({ "linesStartAt1": lines, "columnsStartAt1": columns });
        adapter.launch_for(editor, "examples/lang/double.py");
        let first = u64::from(lines);
        let asked = json!({ "source": {}, "breakpoints": [{ "line": 9 + first }, { "line": first }] });
        let set = adapter.ask("setBreakpoints", asked)["body"]["breakpoints"].clone();
        assert_eq!((&set[0]["verified"], &set[0]["line"]), (&json!(true), &json!(9 + first)));
        assert_eq!((&set[1]["verified"], &set[1]["line"]), (&json!(false), &json!(first)));
        adapter.ask("configurationDone", json!({}));
        adapter.ask("continue", json!({ "threadId": 1 }));
        let stopped = adapter.event("stopped");
        let frame = adapter.frame(&stopped["threadId"]);
        assert_eq!((&frame["line"], &frame["column"]), (&json!(9 + first), &json!(u64::from(columns))));
        adapter.end();
    }
}

#[test]
fn an_editor_stops_at_ops_conditions_bytes_and_findings() {
    let mut adapter = Adapter::start();
    adapter.launch("examples/lang/double.py");
    let named = json!([{ "name": "tmatmul" }, { "name": "slot 0 of ring C2V becomes full" }, { "name": "nothing" }]);
    let set = adapter.ask("setFunctionBreakpoints", json!({ "breakpoints": named }))["body"]["breakpoints"].clone();
    let verified: Vec<&Value> = set.as_array().unwrap().iter().map(|stop| &stop["verified"]).collect();
    assert_eq!(verified, [true, true, false]);
    let info = adapter.ask("dataBreakpointInfo", json!({ "name": "out" }))["body"].clone();
    assert_eq!(info["dataId"], "bytes 0..16383 of out");
    let bytes = json!([{ "dataId": "byte 4096 of out", "accessType": "write" }]);
    let set = adapter.ask("setDataBreakpoints", json!({ "breakpoints": bytes }))["body"]["breakpoints"].clone();
    assert_eq!(set[0]["verified"], true, "{set}");
    adapter.ask("configurationDone", json!({}));
    adapter.event("stopped");
    let mut reasons = Vec::new();
    for command in ["continue", "continue", "continue", "continue", "reverseContinue", "reverseContinue"] {
        adapter.ask(command, json!({ "threadId": 1 }));
        reasons.push(adapter.event("stopped")["reason"].as_str().unwrap().to_string());
    }
    let ops = "function breakpoint";
    // The signals of both lanes fill one slot 0 each.
    assert_eq!(reasons, [ops, ops, ops, "data breakpoint", ops, ops]);
    // Tiles and buffers have children.
    let scopes = adapter.ask("scopes", json!({ "frameId": 1 }))["body"]["scopes"].clone();
    let mut list = |reference: &Value, start: usize| {
        let asked = json!({ "variablesReference": reference, "start": start, "count": 2 });
        adapter.ask("variables", asked)["body"]["variables"].clone()
    };
    let tiles = adapter_scope(&scopes, "Tiles");
    let tiles = list(&tiles, 0);
    assert!(tiles[0]["value"].as_str().unwrap().contains(" of AIC at 0x"), "{tiles}");
    let rows = list(&tiles[0]["variablesReference"], 7);
    assert_eq!((rows.as_array().unwrap().len(), &rows[0]["name"]), (2, &json!("AIC[7]")), "{rows}");
    assert_eq!(rows[0]["value"].as_str().unwrap().split(' ').count(), 64, "{rows}");
    let buffers = list(&adapter_scope(&scopes, "Buffers"), 1);
    let elements = list(&buffers[0]["variablesReference"], 3);
    assert_eq!(elements[0]["name"], "[48]", "{elements}");
    // A delay gives a different run, in which the breakpoints are found again.
    adapter.ask("evaluate", json!({ "expression": "op tmatmul" }));
    adapter.ask("evaluate", json!({ "expression": "start" }));
    adapter.ask("disconnect", json!({}));

    let mut adapter = Adapter::start();
    adapter.launch("examples/broken/missing_flag.pto");
    adapter.ask("setExceptionBreakpoints", json!({ "filters": ["findings"] }));
    adapter.ask("configurationDone", json!({}));
    adapter.event("stopped");
    adapter.ask("continue", json!({ "threadId": 1 }));
    assert_eq!(adapter.event("stopped")["reason"], "exception");
    let info = adapter.ask("exceptionInfo", json!({ "threadId": 1 }))["body"].clone();
    assert_eq!(info["exceptionId"], "race");
    adapter.end();
}

fn adapter_scope(scopes: &Value, name: &str) -> Value {
    let found = scopes.as_array().unwrap().iter().find(|scope| scope["name"] == name);
    found.unwrap_or_else(|| panic!("{scopes}"))["variablesReference"].clone()
}

#[test]
fn words_of_a_launch_without_effect_are_named() {
    let mut adapter = Adapter::start();
    let program = root().join("examples/matmul_to_vector.pto").display().to_string();
    let given = json!({ "program": program, "__sessionId": "1", "type": "slipring", "seeed": 3, "noDebug": false });
    assert_eq!(adapter.ask("launch", given)["success"], true);
    adapter.event("initialized");
    let said = |event: &&Value| event["event"] == "output" && event["body"]["category"] == "important";
    let said: Vec<_> = adapter.events.iter().filter(said).map(|event| event["body"]["output"].clone()).collect();
    assert_eq!(said, [json!("`seeed` has no effect on a launch\n")]);
    adapter.end();
}

#[test]
fn findings_are_told_and_wrong_questions_refused() {
    let mut adapter = Adapter::start();
    for (command, message) in [
        ("nonsense", "`nonsense` is not a request that `slipring dap` answers"),
        ("threads", "`threads` is not answered before `launch`"),
    ] {
        assert_eq!(adapter.ask(command, json!({}))["message"], message);
    }
    let answer = adapter.ask("launch", json!({ "program": "/nowhere.pto" }));
    assert!(answer["message"].as_str().unwrap().contains("cannot read"), "{answer}");
    // A kernel of a whole program must be named.
    let program = root().join("examples/programs/feed_forward.py").display().to_string();
    let answer = adapter.ask("launch", json!({ "program": program }));
    assert!(answer["message"].as_str().unwrap().contains("this is a whole program"), "{answer}");
    let program = root().join("examples/broken/one_pop_too_many.pto").display().to_string();
    for (name, value, says) in [
        ("timing", json!(5), "`timing` takes `platform`, `random:SEED`, `slow:CORE` or `slow:CORE.PIPE`, not 5"),
        ("max_steps", json!(-1), "`max_steps` takes a non-negative integer, not -1"),
        ("strict", json!("no"), "`strict` takes true or false, not `no`"),
        ("args", json!("n=1"), "`args` must be a list of strings"),
        ("set", json!([1]), "`set` must be a list of strings"),
        ("func", json!(3), "`func` must be a string"),
        // Options that `debug` does not accept, either.
        ("launches", json!(2), "`--launches` has no effect here: it is an option of `run`"),
        ("verify", json!(true), "`--verify` has no effect here: it is an option of `run`"),
        ("time_only", json!(true), "`--time-only` has no effect here: it is an option of `run`"),
        ("device", json!("p150"), "`--device` has no effect here: it is an option of `run`"),
    ] {
        let mut other = Adapter::start();
        let answer = other.ask("launch", json!({ "program": program.clone(), name: value }));
        assert_eq!((&answer["success"], &answer["message"]), (&json!(false), &json!(says)));
        other.end();
    }
    adapter.launch("examples/broken/one_pop_too_many.pto");
    assert!(adapter.event("output")["output"].as_str().unwrap().contains("error[deadlock]"));
    for (command, message) in [
        ("nonsense", "`nonsense` is not a request that `slipring dap` answers"),
        ("launch", "`launch` was answered already"),
    ] {
        assert_eq!(adapter.ask(command, json!({}))["message"], message);
    }
    assert_eq!(adapter.ask("variables", json!({ "variablesReference": 99_999_999 }))["body"]["variables"], json!([]));
    let told = adapter.ask("evaluate", json!({ "expression": "finding 1" }));
    let result = told["body"]["result"].as_str().unwrap();
    assert!(result.contains("forever") && result.contains("this would signal it"), "{told}");
    adapter.end();
    let mut adapter = Adapter::start();
    adapter.input.write_all(b"Content-Length: 4\r\n\r\n{no}").unwrap();
    adapter.input.flush().unwrap();
    assert_eq!(adapter.child.wait().unwrap().code(), Some(2));
}

#[test]
fn breakpoints_belong_to_their_file() {
    let mut adapter = Adapter::start();
    adapter.launch("examples/lang/double.py");
    let mut set = |source: Value, stops: Value| {
        let asked = json!({ "source": source, "breakpoints": stops });
        adapter.ask("setBreakpoints", asked)["body"]["breakpoints"].clone()
    };
    let other = set(json!({ "path": "/nowhere/other.py" }), json!([{ "line": 10 }]));
    assert_eq!(other[0]["verified"], false, "{other}");
    assert!(other[0]["message"].as_str().unwrap().starts_with("`/nowhere/other.py` is not a file of this run"));
    // The same name in another folder is another file.
    assert_eq!(set(json!({ "path": "/nowhere/double.py" }), json!([{ "line": 10 }]))[0]["verified"], false);
    // Each breakpoint has its entry, also one that cannot be.
    let file = root().join("examples/broken/../lang/double.py").display().to_string();
    let stops = json!([{ "line": 0 }, { "line": 10 }, { "line": -3 }, {}, { "line": 10, "condition": "AIV1 waits" }]);
    let list = set(json!({ "path": file }), stops);
    let list: Vec<(&Value, &Value)> =
        list.as_array().unwrap().iter().map(|stop| (&stop["line"], &stop["verified"])).collect();
    let no = &json!(false);
    assert_eq!(
        list,
        [(&json!(0), no), (&json!(10), &json!(true)), (&json!(-3), no), (&Value::Null, no), (&json!(10), no)]
    );
    // Another spelling of the path replaces them.
    let file = root().join("examples/lang/double.py").display().to_string();
    assert_eq!(set(json!({ "path": file }), json!([])), json!([]));
    let named = json!({ "breakpoints": [{ "name": "" }, { "name": " " }, {}] });
    let list = adapter.ask("setFunctionBreakpoints", named)["body"]["breakpoints"].clone();
    assert!(list.as_array().unwrap().iter().all(|stop| stop["verified"] == false), "{list}");
    let filters = adapter.ask("setExceptionBreakpoints", json!({ "filters": ["rain"] }))["body"]["breakpoints"].clone();
    assert_eq!(filters[0]["message"], "there is no filter \"rain\"");
    adapter.ask("configurationDone", json!({}));
    adapter.event("stopped");
    adapter.ask("continue", json!({}));
    assert_eq!(adapter.event("stopped")["description"], "the end of the run");
    adapter.end();
}

#[test]
fn watches_show_and_only_the_console_commands() {
    let mut adapter = Adapter::start();
    adapter.launch("examples/lang/double.py");
    adapter.ask("configurationDone", json!({}));
    adapter.event("stopped");
    let mut say = |said: &str, context: Value| {
        let asked = json!({ "expression": said, "context": context });
        let answer = adapter.ask("evaluate", asked);
        let text = if answer["success"] == true { &answer["body"]["result"] } else { &answer["message"] };
        (answer["success"] == true, text.as_str().unwrap().to_string())
    };
    assert!(say("cycle 300", json!("repl")).0);
    let (_, here) = say("where", Value::Null);
    for context in ["watch", "hover", "variables", "clipboard"] {
        // `b` is a buffer, and a command that steps back.
        let (shown, text) = say("b", json!(context));
        assert!(shown && text.contains("b: 8192 bytes of f16"), "{text}");
        let (shown, text) = say(" product[0:1, 0:2]", json!(context));
        assert!(shown && text.contains("product: 64x64 in acc of AIC"), "{text}");
        for wrong in ["start", "next", "hold 5", "", "product[64:65]"] {
            assert!(!say(wrong, json!(context)).0, "{wrong}");
        }
        assert_eq!(say("where", json!("repl")).1, here);
    }
    assert!(!say("start", json!(7)).0);
    assert_eq!(say("where", json!("repl")).1, here);
    for wrong in ["nonsense", "cycle", "show nobody", "line 9999", "quit"] {
        assert!(!say(wrong, json!("repl")).0, "{wrong}");
    }
    assert_eq!(adapter.ask("evaluate", json!({}))["message"], "`expression` is a string");
    adapter.end();
}

#[test]
fn a_thread_without_a_further_event_stays() {
    let mut adapter = Adapter::start();
    adapter.launch("examples/matmul_to_vector.pto");
    adapter.ask("configurationDone", json!({}));
    let entry = adapter.event("stopped");
    let threads = adapter.ask("threads", json!({}))["body"]["threads"].clone();
    assert!(threads.as_array().unwrap().iter().any(|thread| thread["id"] == entry["threadId"]), "{entry} {threads}");
    let wrong = adapter.ask("next", json!({ "threadId": 99 }));
    assert_eq!(wrong["message"], "there is no thread 99: `threads` lists them");
    assert_eq!(adapter.ask("stackTrace", json!({ "threadId": 0 }))["success"], false);
    // The last op of the Cube's product pipe, long before the end of the run.
    adapter.ask("evaluate", json!({ "expression": "op tmatmul" }));
    adapter.event("stopped");
    let thread = adapter.thread("AIC.M");
    loop {
        adapter.ask("next", json!({ "threadId": thread }));
        let stopped = adapter.event("stopped");
        assert_eq!((&stopped["reason"], &stopped["threadId"]), (&json!("step"), &thread));
        if stopped["description"] == "AIC.M has nothing after this event" {
            break;
        }
    }
    let cycle = adapter.ask("evaluate", json!({ "expression": "log 1" }))["body"]["result"].clone();
    assert!(cycle.as_str().unwrap().contains("AIC.M "), "{cycle}");
    // A step by lines is one of its thread, whatever the present event is.
    adapter.ask("evaluate", json!({ "expression": "end" }));
    adapter.event("stopped");
    adapter.ask("stepBack", json!({ "threadId": thread, "granularity": "line" }));
    assert_eq!(adapter.event("stopped")["threadId"], thread);
    adapter.end();
}
