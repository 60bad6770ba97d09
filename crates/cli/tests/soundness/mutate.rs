//! Mutants of a text: each changes its synchronisation, at one line or at two.

use crate::dice::Dice;

/// The purpose of a mutation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Intent {
    /// It may break the program; the oracle decides whether it does.
    Break,
    /// It keeps the program correct: more order, deeper rings, renamed ids.
    Keep,
}

/// A changed text.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The kind of change: a row of the table.
    pub class: &'static str,
    pub intent: Intent,
    /// The change and its location.
    pub what: String,
    pub text: String,
}

/// The op of a line that only synchronises, without its dialect.
fn sync_op(line: &str) -> Option<&str> {
    const OPS: [&str; 21] = [
        "set_flag",
        "wait_flag",
        "set_flag_dyn",
        "wait_flag_dyn",
        "barrier",
        "pipe_barrier",
        "get_buf",
        "rls_buf",
        "set_cross_core",
        "wait_flag_dev",
        "set_intra_block",
        "wait_intra_block",
        "set_intra_core",
        "wait_intra_core",
        "sync.set",
        "sync.wait",
        "record_event",
        "wait_event",
        "mem_bar",
        "set_record_status",
        "set_wait_status",
    ];
    let line = line.trim_start().trim_start_matches('"');
    let name = line.strip_prefix("pto.")?;
    let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(name.len());
    OPS.contains(&&name[..end]).then_some(&name[..end])
}

/// A line that frees a slot of a ring.
fn frees(line: &str) -> bool {
    line.contains("pto.tfree")
}

/// A line with an effect that is complete in itself: no bracket opens or closes in it.
fn movable(line: &str) -> bool {
    let line = line.trim();
    let structural = line.is_empty() || line.ends_with('{') || line.starts_with('}') || line.starts_with("//");
    !structural && line.contains("pto.") && !line.contains("pto.vecscope")
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

const PIPES: [&str; 6] = ["PIPE_MTE2", "PIPE_V", "PIPE_MTE3", "PIPE_MTE1", "PIPE_M", "PIPE_FIX"];

/// Occurrences of `part` in a line, except as the prefix of a longer word.
fn words(line: &str, part: &str) -> Vec<usize> {
    let ends = |at: usize| !line[at + part.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    line.match_indices(part).map(|(at, _)| at).filter(|at| ends(*at)).collect()
}

fn replaced(line: &str, at: usize, from: &str, to: &str) -> String {
    format!("{}{to}{}", &line[..at], &line[at + from.len()..])
}

/// The integer after `key` in a line: its offset and length.
fn number_after(line: &str, key: &str) -> Option<(usize, usize)> {
    let at = line.find(key)? + key.len();
    let len = line[at..].chars().take_while(char::is_ascii_digit).count();
    (len > 0).then_some((at, len))
}

struct Lines<'a> {
    lines: Vec<&'a str>,
    list: Vec<Mutant>,
}

impl Lines<'_> {
    fn push(&mut self, class: &'static str, intent: Intent, at: usize, note: &str, lines: Vec<String>) {
        let what = format!("line {}: {note} `{}`", at + 1, self.lines[at].trim());
        self.list.push(Mutant { class, intent, what, text: lines.join("\n") + "\n" });
    }

    fn owned(&self) -> Vec<String> {
        self.lines.iter().map(|l| l.to_string()).collect()
    }

    fn with(&mut self, class: &'static str, intent: Intent, at: usize, note: &str, line: String) {
        let mut lines = self.owned();
        lines[at] = line;
        self.push(class, intent, at, note, lines);
    }

    fn without(&mut self, class: &'static str, at: usize) {
        let mut lines = self.owned();
        lines.remove(at);
        self.push(class, Intent::Break, at, "without", lines);
    }

    fn moved(&mut self, class: &'static str, at: usize, to: usize) {
        let mut lines = self.owned();
        let line = lines.remove(at);
        lines.insert(to, line);
        self.push(class, Intent::Break, at, if to < at { "earlier" } else { "later" }, lines);
    }
}

/// All single mutants of a text, in the order of its lines.
pub fn mutants(text: &str) -> Vec<Mutant> {
    let mut all = Lines { lines: text.lines().collect(), list: Vec::new() };
    for at in 0..all.lines.len() {
        let line = all.lines[at];
        if let Some(op) = sync_op(line) {
            sync_mutants(&mut all, at, op);
        }
        if frees(line) {
            all.without("free dropped", at);
            shifts(&mut all, "free moved", at);
        }
        for key in ["slot_num = ", "slot_num ="] {
            let Some((from, len)) = number_after(line, key) else { continue };
            let depth: u64 = line[from..from + len].parse().unwrap_or(0);
            if depth > 1 {
                let text = replaced(line, from, &line[from..from + len], &(depth - 1).to_string());
                all.with("ring shallower at one end", Intent::Break, at, "shallower", text);
            }
            break;
        }
    }
    whole_text(&mut all, text);
    all.list
}

fn sync_mutants(all: &mut Lines<'_>, at: usize, op: &str) {
    let line = all.lines[at];
    all.without("dropped", at);
    let mut lines = all.owned();
    lines.insert(at, line.to_string());
    let twice = if op.contains("barrier") || op == "mem_bar" { Intent::Keep } else { Intent::Break };
    all.push("doubled", twice, at, "twice", lines);
    shifts(all, "moved", at);
    for pipe in PIPES {
        for place in words(line, pipe) {
            for other in PIPES.iter().filter(|other| **other != pipe && !line.contains(**other)) {
                let text = replaced(line, place, pipe, other);
                all.with("another pipe", Intent::Break, at, other, text);
            }
        }
    }
    for id in 0..3 {
        let from = format!("EVENT_ID{id}");
        for place in words(line, &from) {
            let text = replaced(line, place, &from, &format!("EVENT_ID{}", (id + 1) % 3));
            all.with("another id", Intent::Break, at, "another id", text);
        }
    }
    for place in words(line, "PIPE_ALL") {
        for pipe in ["PIPE_V", "PIPE_MTE2", "PIPE_M"] {
            all.with("barrier weakened", Intent::Break, at, pipe, replaced(line, place, "PIPE_ALL", pipe));
        }
    }
}

/// Moves the line by one step and by several steps, both ways, inside its block.
fn shifts(all: &mut Lines<'_>, class: &'static str, at: usize) {
    let same = |all: &Lines<'_>, to: usize| movable(all.lines[to]) && depth(all.lines[to]) == depth(all.lines[at]);
    for far in [1, 4] {
        let mut to = at;
        while to > 0 && at - to < far && same(all, to - 1) {
            to -= 1;
        }
        if to < at {
            all.moved(class, at, to);
        }
        let mut to = at;
        while to + 1 < all.lines.len() && to - at < far && same(all, to + 1) {
            to += 1;
        }
        if to > at {
            all.moved(class, at, to);
        }
    }
}

/// Mutants that change the text in many places at once.
fn whole_text(all: &mut Lines<'_>, text: &str) {
    let swapped = text.replace("EVENT_ID0\"", "EVENT_ID_\"").replace("EVENT_ID1\"", "EVENT_ID0\"");
    let swapped = swapped.replace("EVENT_ID_\"", "EVENT_ID1\"");
    if swapped != text && !text.contains("_dyn") {
        all.list.push(Mutant {
            class: "ids renamed everywhere",
            intent: Intent::Keep,
            what: "ids 0 and 1 change their names".into(),
            text: swapped,
        });
    }
    if text.contains("EVENT_ID1\"") {
        all.list.push(Mutant {
            class: "two ids made one",
            intent: Intent::Break,
            what: "id 1 becomes id 0".into(),
            text: text.replace("EVENT_ID1\"", "EVENT_ID0\""),
        });
    }
}

/// Pairs of single mutants of the same text, where both changes are possible: selected by a walk over the list.
pub fn pairs(text: &str, singles: &[Mutant], count: usize, seed: u64) -> Vec<Mutant> {
    let mut dice = Dice(seed | 1);
    let broken: Vec<&Mutant> = singles.iter().filter(|m| m.intent == Intent::Break).collect();
    let mut list = Vec::new();
    for _ in 0..count * 4 {
        if list.len() == count || broken.is_empty() {
            break;
        }
        let first = dice.pick(&broken);
        let seconds = mutants(&first.text);
        if seconds.is_empty() {
            continue;
        }
        let second = &seconds[dice.place(seconds.len())];
        if second.text == text {
            continue;
        }
        list.push(Mutant {
            class: "two at once",
            intent: Intent::Break,
            what: format!("{}, {}; then {}, {}", first.class, first.what, second.class, second.what),
            text: second.text.clone(),
        });
    }
    list
}
