//! A client of the language server without an editor, over standard input and output.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::here::{self, root};

/// Time limit for any step on a busy machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

pub(super) fn example(name: &str) -> String {
    std::fs::read_to_string(root().join("examples").join(name)).unwrap()
}

pub(super) struct Client {
    server: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Messages that have arrived and were not consumed yet.
    waiting: Vec<Value>,
    number: i64,
}

impl Client {
    pub(super) fn start() -> Client {
        let mut server = here::slipring()
            .args(["lsp", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = server.stdout.take().unwrap();
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let input = server.stdin.take();
        Client { server, input, messages, waiting: Vec::new(), number: 0 }
    }

    /// A client after initialisation.
    pub(super) fn ready() -> (Client, Value) {
        let mut client = Client::start();
        let said = client.ask("initialize", json!({ "capabilities": {}, "processId": null, "rootUri": null }));
        client.tell("initialized", json!({}));
        (client, said["result"]["capabilities"].clone())
    }

    pub(super) fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    pub(super) fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.send_bytes(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    pub(super) fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request, and waits for the answer.
    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.number += 1;
        let id = self.number;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.wait(|message| message["id"] == id && message.get("method").is_none())
    }

    /// Waits for a message.
    pub(super) fn wait(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.waiting.iter().position(&fits) {
            return self.waiting.remove(at);
        }
        let end = Instant::now() + PATIENCE;
        loop {
            match self.messages.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(message) if fits(&message) => return message,
                Ok(message) => self.waiting.push(message),
                Err(RecvTimeoutError::Timeout) => panic!("nothing comes; left: {:?}", self.waiting),
                Err(RecvTimeoutError::Disconnected) => panic!("the server has ended; left: {:?}", self.waiting),
            }
        }
    }

    /// Opens a text, and returns its URI.
    pub(super) fn open(&mut self, name: &str, language: &str, text: &str) -> String {
        let address = format!("file://{}", root().join("examples").join(name).display());
        let document = json!({ "uri": address, "languageId": language, "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
        address
    }

    pub(super) fn change(&mut self, address: &str, version: i64, text: &str) {
        let document = json!({ "uri": address, "version": version });
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [{ "text": text }] }));
    }

    /// The next diagnostics for a version of a text.
    pub(super) fn messages_of(&mut self, address: &str, version: i64) -> Vec<Value> {
        let said = self.wait(|message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == address
                && message["params"]["version"] == version
        });
        said["params"]["diagnostics"].as_array().unwrap().clone()
    }

    pub(super) fn at(&mut self, what: &str, address: &str, line: usize, character: usize) -> Value {
        let position = json!({ "line": line, "character": character });
        let params = json!({ "textDocument": { "uri": address }, "position": position });
        self.ask(&format!("textDocument/{what}"), params)
    }

    pub(super) fn of(&mut self, what: &str, address: &str) -> Value {
        self.ask(&format!("textDocument/{what}"), json!({ "textDocument": { "uri": address } }))["result"].clone()
    }

    /// Shuts the server down, and returns the exit code.
    pub(super) fn end(mut self) -> Option<i32> {
        let answer = self.ask("shutdown", Value::Null);
        assert!(answer["error"].is_null(), "{answer}");
        self.tell("exit", Value::Null);
        self.exit().0
    }

    /// Waits for the end: exit code, and contents of standard error.
    pub(super) fn exit(mut self) -> (Option<i32>, String) {
        self.input = None;
        let end = Instant::now() + PATIENCE;
        let code = loop {
            match self.server.try_wait().unwrap() {
                Some(status) => break status.code(),
                None if Instant::now() > end => panic!("the server does not end"),
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        let mut text = String::new();
        self.server.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        (code, text)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

pub(super) fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim() {
            "" => break,
            header => length = header.strip_prefix("Content-Length: ").map_or(Some(length), |n| n.parse().ok())?,
        }
    }
    let mut bytes = vec![0; length];
    output.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Line and column, in UTF-16 units, of the first occurrence of a text after another one.
pub(super) fn place(text: &str, behind: &str, what: &str) -> (usize, usize) {
    let from = text.find(behind).unwrap();
    let at = from + text[from..].find(what).unwrap();
    let line = text[..at].matches('\n').count();
    let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
    (line, text[start..at].encode_utf16().count())
}

pub(super) fn codes(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["code"].as_str().unwrap_or("")).collect()
}

/// A text after an edit of the protocol; ranges here consist of complete lines.
pub(super) fn edited(text: &str, edit: &Value) -> String {
    let line = |end: &str| edit["range"][end]["line"].as_u64().unwrap() as usize;
    assert_eq!((&edit["range"]["start"]["character"], &edit["range"]["end"]["character"]), (&json!(0), &json!(0)));
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    lines[..line("start")].concat() + edit["newText"].as_str().unwrap() + &lines[line("end")..].concat()
}
