//! Messages as a SARIF log (OASIS, Static Analysis Results Interchange Format, 2.1.0), the format that code review
//! services read.

use serde::Serialize;

use crate::message::MessageFacts;

/// A message and its file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    /// The file as it was named: a path, or `-`.
    pub file: String,
    /// The message.
    pub message: MessageFacts,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'a str,
    version: &'a str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Tool<'a>,
    column_kind: &'a str,
    invocations: [Invocation<'a>; 1],
    results: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Tool<'a> {
    driver: Driver<'a>,
}

#[derive(Serialize)]
struct Driver<'a> {
    name: &'a str,
    version: &'a str,
    rules: Vec<Rule<'a>>,
}

#[derive(Serialize)]
struct Rule<'a> {
    id: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation<'a> {
    execution_successful: bool,
    exit_code: u8,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_execution_notifications: Vec<Notification<'a>>,
}

#[derive(Serialize)]
struct Notification<'a> {
    level: &'a str,
    message: Text<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    rule_id: &'a str,
    rule_index: usize,
    level: &'a str,
    message: Text<'a>,
    locations: Vec<Location<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location<'a>>,
}

#[derive(Serialize)]
struct Text<'a> {
    text: std::borrow::Cow<'a, str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    physical_location: Physical,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Artifact,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
struct Artifact {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
    start_column: usize,
    end_line: usize,
    end_column: usize,
}

impl Region {
    fn of(at: [usize; 4]) -> Region {
        let [start_line, start_column, end_line, end_column] = at;
        Region { start_line, start_column, end_line, end_column }
    }
}

/// A log of one invocation: every message with its location, its related locations, and its notes and fix after the
/// message text; failures without a file as notifications. Columns count characters.
pub fn sarif(told: &[Told], failures: &[String], exit_code: u8) -> String {
    let mut codes: Vec<&str> = told.iter().map(|told| told.message.code.as_str()).collect();
    codes.sort_unstable();
    codes.dedup();
    let results = told.iter().map(|told| entry(told, &codes)).collect();
    let failed = |text: &'_ String| Notification { level: "error", message: Text { text: text.clone().into() } };
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [Run {
            tool: Tool {
                driver: Driver {
                    name: "slipring",
                    version: env!("CARGO_PKG_VERSION"),
                    rules: codes.iter().map(|id| Rule { id }).collect(),
                },
            },
            column_kind: "unicodeCodePoints",
            invocations: [Invocation {
                execution_successful: failures.is_empty(),
                exit_code,
                tool_execution_notifications: failures.iter().map(failed).collect(),
            }],
            results,
        }],
    };
    // Strings and numbers always serialise.
    serde_json::to_string_pretty(&log).unwrap_or_default() + "\n"
}

fn entry<'a>(Told { file, message }: &'a Told, codes: &[&str]) -> Entry<'a> {
    let notes = message.notes.iter().map(|note| format!("\nnote: {note}"));
    let help = message.help.iter().map(|help| format!("\nhelp: {help}"));
    let text = notes.chain(help).fold(message.message.clone(), |text, more| text + &more);
    let place = |other: &Option<String>, at: Option<[usize; 4]>| Physical {
        artifact_location: Artifact { uri: uri(other.as_ref().unwrap_or(file)) },
        region: at.map(Region::of),
    };
    let label = |text: &'a str| (!text.is_empty()).then(|| Text { text: text.into() });
    let own = match [message.line, message.column, message.end_line, message.end_column] {
        [Some(line), Some(column), Some(end_line), Some(end_column)] => Some([line, column, end_line, end_column]),
        _ => None,
    };
    let also = message.also.iter().enumerate().map(|(id, also)| Location {
        id: Some(id + 1),
        physical_location: place(&also.file, Some([also.line, also.column, also.end_line, also.end_column])),
        message: label(&also.label),
    });
    Entry {
        rule_id: &message.code,
        rule_index: codes.binary_search(&message.code.as_str()).unwrap_or(0),
        level: message.severity.name(),
        message: Text { text: text.into() },
        locations: vec![Location {
            id: None,
            physical_location: place(&message.file, own),
            message: label(&message.label),
        }],
        related_locations: also.collect(),
    }
}

/// A path as a URI reference: characters that a URI does not allow are percent-encoded.
fn uri(path: &str) -> String {
    let mut text = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => text.push(byte as char),
            _ => text += &format!("%{byte:02X}"),
        }
    }
    text
}
