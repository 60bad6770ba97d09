//! The server loop: requests, notifications and their handlers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};

use super::documents::{Documents, text_of, too_large};
use super::{complete, edits, hints, hover, judge, names, outline, wire};

/// Stack size of threads in bytes: texts may be deeply nested.
const STACK: usize = 64 << 20;

/// Serves an editor over standard input and output until it sends `exit`. Returns whether it sent `shutdown` before, as
/// the protocol requires of it.
///
/// # Errors
///
/// If it disconnects without a shutdown request, or sends something that is not a message.
pub(crate) fn serve() -> Result<bool, String> {
    let (connection, threads) = wire::open();
    let documents = Arc::new(Documents::default());
    let served = talk(&connection, &documents);
    documents.end();
    drop(connection);
    // The error of an invalid message comes from the thread that read it.
    threads.join().map_err(|error| error.to_string())?;
    served
}

/// Where a session is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Before `initialize`.
    New,
    Ready,
    /// After `shutdown`.
    Down,
}

fn talk(connection: &Connection, documents: &Arc<Documents>) -> Result<bool, String> {
    let mut stage = Stage::New;
    for message in &connection.receiver {
        match message {
            Message::Request(request) => {
                let refused = match (stage, request.method.as_str()) {
                    (Stage::New, "initialize") => {
                        let refreshes = &request.params["capabilities"]["workspace"]["inlayHint"]["refreshSupport"];
                        documents.lock().refreshes = *refreshes == true;
                        send(connection, Response::new_ok(request.id, about()).into());
                        begin(connection, documents)?;
                        stage = Stage::Ready;
                        continue;
                    }
                    (Stage::New, _) => (ErrorCode::ServerNotInitialized, "is not answered before `initialize`"),
                    (Stage::Ready, "initialize") => (ErrorCode::InvalidRequest, "was answered already"),
                    (Stage::Ready, "shutdown") => {
                        documents.end();
                        send(connection, Response::new_ok(request.id, Value::Null).into());
                        stage = Stage::Down;
                        continue;
                    }
                    (Stage::Ready, _) => {
                        answer(connection, documents, request)?;
                        continue;
                    }
                    (Stage::Down, _) => (ErrorCode::InvalidRequest, "is not answered after `shutdown`"),
                };
                let message = format!("`{}` {}", request.method, refused.1);
                send(connection, Response::new_err(request.id, refused.0 as i32, message).into());
            }
            Message::Notification(said) if said.method == "exit" => return Ok(stage == Stage::Down),
            Message::Notification(said) if stage == Stage::Ready => heard(documents, connection, &said),
            Message::Notification(_) | Message::Response(_) => {}
        }
    }
    match stage {
        Stage::Down => Ok(true),
        _ => Err("the editor disconnected without `shutdown`".into()),
    }
}

/// Sends a message. Nothing reads it if the editor has disconnected, which the reading thread notices.
fn send(connection: &Connection, message: Message) {
    let _ = connection.sender.send(message);
}

/// The answer to `initialize`.
fn about() -> Value {
    json!({
        "capabilities": {
            "positionEncoding": "utf-16",
            "textDocumentSync": { "openClose": true, "change": 1 },
            "hoverProvider": true,
            "definitionProvider": true,
            "documentSymbolProvider": true,
            "foldingRangeProvider": true,
            "referencesProvider": true,
            "documentHighlightProvider": true,
            "renameProvider": { "prepareProvider": true },
            "inlayHintProvider": true,
            "signatureHelpProvider": { "triggerCharacters": ["(", ","] },
            "semanticTokensProvider": {
                "legend": { "tokenTypes": names::KINDS, "tokenModifiers": ["declaration"] },
                "full": true,
            },
            "codeActionProvider": { "codeActionKinds": ["quickfix"] },
            "completionProvider": { "triggerCharacters": [".", "%", "!"], "resolveProvider": true },
        },
        "serverInfo": { "name": "slipring", "version": env!("CARGO_PKG_VERSION") },
    })
}

/// Starts the threads that check and run documents.
fn begin(connection: &Connection, documents: &Arc<Documents>) -> Result<(), String> {
    for (name, work) in [("check", judge::check_all as fn(&Documents, &judge::Send<'_>)), ("run", judge::run_all)] {
        let (documents, sender) = (documents.clone(), connection.sender.clone());
        let send = move |method: &str, params: Value| {
            // Nothing reads the message if the editor has disconnected. Responses to these requests carry no
            // information.
            let message = match method.starts_with("workspace/") {
                true => Request { id: RequestId::from(method.to_string()), method: method.into(), params }.into(),
                false => Notification { method: method.into(), params }.into(),
            };
            let _ = sender.send(message);
        };
        let thread = std::thread::Builder::new().name(name.into()).stack_size(STACK);
        thread.spawn(move || work(&documents, &send)).map_err(|error| format!("no thread: {error}"))?;
    }
    Ok(())
}

/// Handles a notification about documents.
fn heard(documents: &Documents, connection: &Connection, said: &Notification) {
    let document = &said.params["textDocument"];
    let Some(address) = document["uri"].as_str() else { return };
    let version = document["version"].as_i64().unwrap_or(0);
    match said.method.as_str() {
        "textDocument/didOpen" => {
            let text = document["text"].as_str().unwrap_or("").to_string();
            documents.put(address, version, text_of(address, document["languageId"].as_str().unwrap_or(""), text));
        }
        "textDocument/didChange" => {
            let Some(known) = documents.text(address) else { return };
            // Changes are whole texts, as negotiated: the last one counts.
            let change = said.params["contentChanges"].as_array().and_then(|changes| changes.last());
            if let Some(text) = change.and_then(|change| change["text"].as_str()) {
                documents.put(address, version, known.with(text));
            }
        }
        "textDocument/didClose" => {
            documents.close(address);
            let params = json!({ "uri": address, "diagnostics": [] });
            let gone = Notification { method: "textDocument/publishDiagnostics".into(), params };
            let _ = connection.sender.send(gone.into());
        }
        _ => {}
    }
}

/// Answers a request; requests that search for edits may take a while and get their own thread.
fn answer(connection: &Connection, documents: &Arc<Documents>, request: Request) -> Result<(), String> {
    let (documents, sender) = (documents.clone(), connection.sender.clone());
    let slow = request.method == "textDocument/codeAction";
    let work = move || {
        let id = request.id.clone();
        let reply = catch_unwind(AssertUnwindSafe(|| reply(&documents, &request)));
        let reply = reply.unwrap_or_else(|_| {
            let message = "slipring itself failed; please report the input".to_string();
            Response::new_err(id, ErrorCode::InternalError as i32, message)
        });
        let _ = sender.send(reply.into());
    };
    if !slow {
        work();
        return Ok(());
    }
    let thread = std::thread::Builder::new().name("edits".into()).stack_size(STACK);
    thread.spawn(work).map(drop).map_err(|error| format!("no thread: {error}"))
}

/// Requests about a text.
const KNOWN: [&str; 13] = [
    "hover",
    "definition",
    "documentSymbol",
    "foldingRange",
    "codeAction",
    "completion",
    "references",
    "documentHighlight",
    "prepareRename",
    "rename",
    "semanticTokens/full",
    "inlayHint",
    "signatureHelp",
];

/// The requests that also have a position.
const PLACED: [&str; 8] = [
    "hover",
    "definition",
    "completion",
    "references",
    "documentHighlight",
    "prepareRename",
    "rename",
    "signatureHelp",
];

fn reply(documents: &Documents, request: &Request) -> Response {
    let id = request.id.clone();
    let params = &request.params;
    if request.method == "completionItem/resolve" {
        return Response::new_ok(id, complete::resolve(params.clone()));
    }
    let method = request.method.strip_prefix("textDocument/").filter(|method| KNOWN.contains(method));
    let Some(method) = method else {
        let message = format!("`{}` is not answered", request.method);
        return Response::new_err(id, ErrorCode::MethodNotFound as i32, message);
    };
    let refused = |message: String| Response::new_err(id.clone(), ErrorCode::InvalidParams as i32, message);
    let Some(address) = params["textDocument"]["uri"].as_str() else { return refused("no document is named".into()) };
    let known = {
        let open = documents.lock();
        open.documents.get(address).map(|document| {
            let said = [&document.checked, &document.ran].into_iter().flatten().flatten().cloned();
            (document.text.clone(), said.collect::<Vec<Value>>(), document.lines.clone())
        })
    };
    let Some((text, messages, ran)) = known else { return refused(format!("`{address}` is not open")) };
    if let Some(why) = too_large(&text) {
        return refused(why);
    }
    let position = &params["position"];
    if PLACED.contains(&method) && !(position["line"].is_u64() && position["character"].is_u64()) {
        return refused("a position has a line and a character, both from 0".into());
    }
    // A rename that is rejected has its own error response.
    let renamed = match method {
        "prepareRename" => Some(names::prepare_rename(&text, params)),
        "rename" => Some(names::rename(&text, address, params)),
        _ => None,
    };
    if let Some(renamed) = renamed {
        return match renamed {
            Ok(edits) => Response::new_ok(id, edits),
            Err(why) => Response::new_err(id, ErrorCode::RequestFailed as i32, why),
        };
    }
    let result = match method {
        "references" => names::references(&text, address, params).unwrap_or_default(),
        "documentHighlight" => names::highlights(&text, params).unwrap_or_default(),
        "semanticTokens/full" => names::tokens_of(&text),
        "inlayHint" => hints::hints(&text, &ran, &params["range"]).into(),
        "signatureHelp" => hints::signature(&text, position).unwrap_or_default(),
        "hover" => hover::hover(&text, &messages, position).unwrap_or_default(),
        "definition" => hover::definition(&text, address, position).unwrap_or_default(),
        "documentSymbol" => outline::symbols(&text).into(),
        "foldingRange" => outline::folds(&text).into(),
        "codeAction" => edits::actions(&text, address, &messages).into(),
        _ => json!({ "isIncomplete": false, "items": complete::complete(&text, position) }),
    };
    Response::new_ok(id, result)
}
