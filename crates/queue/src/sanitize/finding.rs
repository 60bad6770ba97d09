//! A detected hazard: its location, and the state of all actors.

use std::fmt;

use super::{Hazard, Severity};

/// A host record, announced by one slot of the fetch queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordRef {
    /// Its index since the queue was opened, from 0.
    pub index: u64,
    /// Its start in the issue region, in bytes.
    pub offset: u64,
    /// Its size in bytes.
    pub length: u32,
}

impl fmt::Display for RecordRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record {} (issue offset 0x{:x}, {} bytes)", self.index, self.offset, self.length)
    }
}

/// A command, as counted by its actor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommandRef {
    /// Number of commands that this actor had met before.
    pub index: u64,
    /// Its name, such as `WRITE_PACKED`; `?` for an unknown id.
    pub name: &'static str,
    /// Its start in the host record's bytes, if it came from one.
    pub at: Option<u32>,
}

impl fmt::Display for CommandRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "command {} {}", self.index, self.name)?;
        match self.at {
            Some(at) => write!(f, " at +0x{at:x}"),
            None => Ok(()),
        }
    }
}

/// One finding of the linter or the machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The hazard.
    pub hazard: Hazard,
    /// The specific error, with its values, in one sentence.
    pub message: String,
    /// Its queue, if there are two.
    pub queue: Option<u8>,
    /// The host record that it comes from.
    pub record: Option<RecordRef>,
    /// The command that it comes from.
    pub command: Option<CommandRef>,
    /// The host action of a stream that it concerns, as an index in [`Capture::acts`](crate::capture::Capture::acts).
    pub act: Option<u64>,
    /// Its time in device cycles; 0 from the linter.
    pub cycle: u64,
    /// Further lines: the activity of each actor, wait relations, ledgers.
    pub notes: Vec<String>,
}

impl Finding {
    /// A finding that consists of a hazard and a sentence.
    pub fn new(hazard: Hazard, message: impl Into<String>) -> Finding {
        let (record, command, act, notes) = (None, None, None, Vec::new());
        Finding { hazard, message: message.into(), queue: None, record, command, act, cycle: 0, notes }
    }

    /// The queue of its record, for messages: empty if there is only one.
    pub fn of_queue(&self) -> String {
        self.queue.map_or(String::new(), |queue| format!(" of queue {queue}"))
    }

    /// Its severity.
    pub fn severity(&self) -> Severity {
        self.hazard.def().severity
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let def = self.hazard.def();
        let severity = match def.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{severity}[{}]: {}", def.code, self.message)?;
        if let Some(record) = &self.record {
            write!(f, "\n  in {record}{}", self.of_queue())?;
        }
        if let Some(command) = &self.command {
            write!(f, "\n  by {command}")?;
        }
        for note in &self.notes {
            write!(f, "\n  {note}")?;
        }
        write!(f, "\n  on silicon: {}\n  help: {}", def.meaning, def.hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_well_formed() {
        let mut codes: Vec<_> = Hazard::ALL.iter().map(|h| h.def().code).collect();
        assert!(codes.iter().all(|c| c.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')));
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), Hazard::ALL.len());
    }

    #[test]
    fn a_finding_reads_from_the_mistake_to_the_remedy() {
        let finding = Finding {
            record: Some(RecordRef { index: 7, offset: 0x1c0, length: 40 }),
            command: Some(CommandRef { index: 9, name: "RELAY_INLINE", at: Some(0) }),
            ..Finding::new(Hazard::RecordUnaligned, "40 bytes are queued")
        };
        let text = finding.to_string();
        assert!(text.starts_with("error[record-unaligned]: 40 bytes are queued\n  in record 7 (issue offset 0x1c0"));
        assert!(text.ends_with("help: pad records to 64 bytes"));
    }
}
