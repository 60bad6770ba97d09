//! How a check ended, and how a comparison with the sequential semantics did, as values: words are for pages and JSON.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a check, a run or a point of a grid ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum CheckStatus {
    /// It was checked to the end, and nothing was found.
    #[serde(rename = "clean")]
    Clean,
    /// Only warnings.
    #[serde(rename = "warnings")]
    Warnings,
    /// Errors.
    #[serde(rename = "findings")]
    Findings,
    /// Nothing was found up to where the run stopped.
    #[serde(rename = "partly")]
    Partly,
    /// Nothing was found, but only in this schedule.
    #[serde(rename = "not shown")]
    NotShown,
    /// Nothing was checked.
    #[serde(rename = "not checked")]
    NotChecked,
    /// It cannot be run.
    #[serde(rename = "refused")]
    Refused,
    /// A row that states the scope of the others.
    #[default]
    #[serde(rename = "")]
    Scope,
}

impl CheckStatus {
    /// The status after this number of errors in a run that completed, or stopped.
    pub fn of(errors: usize, complete: bool) -> CheckStatus {
        match (errors, complete) {
            (0, true) => CheckStatus::Clean,
            (0, false) => CheckStatus::Partly,
            _ => CheckStatus::Findings,
        }
    }

    /// Its word on pages and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            CheckStatus::Clean => "clean",
            CheckStatus::Warnings => "warnings",
            CheckStatus::Findings => "findings",
            CheckStatus::Partly => "partly",
            CheckStatus::NotShown => "not shown",
            CheckStatus::NotChecked => "not checked",
            CheckStatus::Refused => "refused",
            CheckStatus::Scope => "",
        }
    }
}

impl fmt::Display for CheckStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// How a comparison with the sequential semantics of the source ended. In JSON it is its text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub enum Verified {
    /// The same bytes.
    Same,
    /// It was not made, with the reason.
    NotChecked(String),
    /// Other bytes.
    Different,
    /// The sequential semantics itself has an error: the detail of the comparison, which says so.
    Faulty(String),
}

const NOT_CHECKED: &str = "not checked: ";

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verified::Same => f.write_str("same"),
            Verified::NotChecked(why) => write!(f, "{NOT_CHECKED}{why}"),
            Verified::Different => f.write_str("different"),
            Verified::Faulty(detail) => f.write_str(detail),
        }
    }
}

impl From<Verified> for String {
    fn from(verified: Verified) -> String {
        verified.to_string()
    }
}

impl From<String> for Verified {
    fn from(text: String) -> Verified {
        match text.strip_prefix(NOT_CHECKED) {
            Some(why) => Verified::NotChecked(why.into()),
            None if text == "same" => Verified::Same,
            None if text == "different" => Verified::Different,
            None => Verified::Faulty(text),
        }
    }
}

impl Verified {
    /// What is known of a run whose bytes are those of an earlier one.
    pub fn beside_the_same_bytes(verified: Option<&Verified>) -> String {
        match verified {
            Some(Verified::Same) => "the same bytes as before and as the sequential semantics".into(),
            Some(other) => format!("the same bytes as before; the sequential semantics is {other}"),
            None => "the same bytes as before".into(),
        }
    }
}
