//! The editor's open documents, shared by the threads that check and run them.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use slipring::{Control, Lang, Source, files};
use slipring_report::LineFacts;

use crate::session::Text;

/// An open document.
pub struct Document {
    /// The editor's version number.
    pub version: i64,
    /// Its text.
    pub text: Arc<Text>,
    /// When it last changed.
    pub changed: Instant,
    /// Messages of `check`, once available for this version.
    pub checked: Option<Vec<Value>>,
    /// Findings of a run; `None` if this version has not been run.
    pub ran: Option<Vec<Value>>,
    /// The activity of each line in that run.
    pub lines: Arc<Vec<LineFacts>>,
    /// True if the text has no errors, so that it can be run.
    pub runs: bool,
}

/// All open documents, and the state of the server.
#[derive(Default)]
pub struct Open {
    /// By URI.
    pub documents: BTreeMap<String, Document>,
    /// True once the server is shutting down.
    pub closing: bool,
    /// Whether the editor supports requests to refresh its hints.
    pub refreshes: bool,
    /// The run in progress: its document, and the handle that cancels it.
    pub running: Option<(String, Control)>,
}

/// The open documents, shared between threads.
#[derive(Default)]
pub struct Documents {
    open: Mutex<Open>,
    changed: Condvar,
}

impl Documents {
    /// Locks the open documents.
    pub fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens or replaces a document.
    pub fn put(&self, address: &str, version: i64, text: Text) {
        let mut open = self.lock();
        open.end_run(address);
        let document = Document {
            version,
            text: Arc::new(text),
            changed: Instant::now(),
            checked: None,
            ran: None,
            lines: Arc::default(),
            runs: false,
        };
        open.documents.insert(address.to_string(), document);
        self.changed.notify_all();
    }

    /// Closes a document.
    pub fn close(&self, address: &str) {
        let mut open = self.lock();
        open.end_run(address);
        open.documents.remove(address);
    }

    /// Stops all threads.
    pub fn end(&self) {
        let mut open = self.lock();
        open.closing = true;
        if let Some((_, control)) = open.running.take() {
            control.cancel();
        }
        self.changed.notify_all();
    }

    /// Wakes the threads to look for work.
    pub fn wake(&self) {
        self.changed.notify_all();
    }

    /// The text of a document.
    pub fn text(&self, address: &str) -> Option<Arc<Text>> {
        self.lock().documents.get(address).map(|document| document.text.clone())
    }

    /// The next document that is due: unchanged for the `quiet` time, and not yet processed. `None` when the server
    /// shuts down.
    pub fn next(&self, quiet: Duration, due: impl Fn(&Document) -> bool) -> Option<(String, i64, Arc<Text>)> {
        let mut open = self.lock();
        loop {
            if open.closing {
                return None;
            }
            let waiting = open.documents.iter().filter(|(_, document)| due(document));
            let Some((address, document)) = waiting.min_by_key(|(_, document)| document.changed) else {
                open = self.changed.wait(open).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let age = document.changed.elapsed();
            if age >= quiet {
                return Some((address.clone(), document.version, document.text.clone()));
            }
            open = self.changed.wait_timeout(open, quiet - age).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Open {
    /// Cancels the run of a text that has changed.
    fn end_run(&mut self, address: &str) {
        if let Some((running, control)) = &self.running
            && running == address
        {
            control.cancel();
        }
    }
}

/// A text with its URI: its name is the path of a file URI.
pub fn text_of(address: &str, language: &str, text: String) -> Text {
    let name = address.strip_prefix("file://").map_or_else(|| address.to_string(), decoded);
    let language = match language {
        _ if Source::new(name.as_str(), "").is_named() => None,
        "python" => Some(Lang::Python),
        "cpp" => Some(Lang::Cpp),
        _ => Some(Lang::Text),
    };
    Text::new(name, language, text, false)
}

/// Whether the text is to be checked: a Python file that does not import the language contains no kernels.
pub fn is_ours(text: &Text) -> bool {
    let lang = text.language.unwrap_or_else(|| Source::new(text.name.as_str(), "").lang());
    lang != Lang::Python || crate::session::names_us(&text.text)
}

/// An error message if the text is too large.
pub fn too_large(text: &Text) -> Option<String> {
    let (bytes, most) = (text.text.len() as u64, files::MOST_TEXT);
    (bytes > most).then(|| format!("the text has {bytes} bytes, and at most {most} are read"))
}

/// A percent-decoded path.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let escape = behind.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match escape.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_become_paths() {
        assert_eq!(text_of("file:///a%20b/k%C3%A9.py", "python", String::new()).name, "/a b/ké.py");
        assert_eq!(text_of("untitled:1", "python", String::new()).language, Some(Lang::Python));
        assert_eq!(decoded("a%2"), "a%2");
        assert!(!is_ours(&text_of("file:///x.py", "python", "print(1)".into())));
        assert!(is_ours(&text_of("file:///x.pto", "pto", "".into())));
    }
}
