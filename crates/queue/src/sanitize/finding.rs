//! A hazard that was met: where, and what everybody was doing.

use std::fmt;

use super::{Hazard, Severity};

/// A host record: what one slot of the fetch queue announces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordRef {
    /// Its number since the queue was opened, from 0.
    pub index: u64,
    /// Where it starts in the issue region, in bytes.
    pub offset: u64,
    /// Its size in bytes.
    pub length: u32,
}

impl fmt::Display for RecordRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record {} (issue offset 0x{:x}, {} bytes)", self.index, self.offset, self.length)
    }
}

/// A command, as its actor counts them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommandRef {
    /// How many commands this actor had met before.
    pub index: u64,
    /// Its name, such as `WRITE_PACKED`; `?` for an id that has none.
    pub name: &'static str,
    /// Where it starts in the host record's bytes, if it came from one.
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
    /// Which hazard.
    pub hazard: Hazard,
    /// What is wrong here, with its numbers, in one sentence.
    pub message: String,
    /// Which of two queues it is about, where there are two.
    pub queue: Option<u8>,
    /// The host record that it comes from.
    pub record: Option<RecordRef>,
    /// The command that it comes from.
    pub command: Option<CommandRef>,
    /// What the host of a stream does, by its place among [`Capture::acts`](crate::capture::Capture::acts), that it is about.
    pub act: Option<u64>,
    /// When, in device cycles; 0 from the linter.
    pub cycle: u64,
    /// Further lines: what each actor was doing, who waits for what, ledgers.
    pub notes: Vec<String>,
}

impl Finding {
    /// A finding that is only a hazard and a sentence.
    pub fn new(hazard: Hazard, message: impl Into<String>) -> Finding {
        let (record, command, act, notes) = (None, None, None, Vec::new());
        Finding { hazard, message: message.into(), queue: None, record, command, act, cycle: 0, notes }
    }

    /// Which queue a record of it is of, for messages: nothing, where there is one.
    pub fn of_queue(&self) -> String {
        self.queue.map_or(String::new(), |queue| format!(" of queue {queue}"))
    }

    /// How bad it is.
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
