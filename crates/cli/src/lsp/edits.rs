//! Edits that mend what is found, as actions of an editor.

use serde_json::{Value, json};

use super::text::LineMap;
use crate::session::Text;

/// The actions for a text that has messages: the edits of `check --fix`, or of `prove --fix`.
pub fn actions(text: &Text, address: &str, messages: &[Value]) -> Vec<Value> {
    // A text whose messages are warnings and notes has nothing that is mended.
    if !messages.iter().any(|message| message["severity"] == 1) {
        return Vec::new();
    }
    let Ok(Some((mended, edits))) = text.mended() else { return Vec::new() };
    let title = format!("slipring: {}", edits.join("; "));
    vec![json!({
        "title": title,
        "kind": "quickfix",
        "isPreferred": true,
        "diagnostics": messages,
        "edit": { "changes": { address: [edit(&text.text, &mended)] } },
    })]
}

/// The lines that change, as one edit.
fn edit(old: &str, new: &str) -> Value {
    let lines = LineMap::new(old);
    let same = |(x, y): &(char, char)| x == y;
    let mut front: usize = old.chars().zip(new.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    // Whole lines are easier to read.
    front = old[..front].rfind('\n').map_or(0, |at| at + 1);
    let back: usize =
        old[front..].chars().rev().zip(new[front..].chars().rev()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let (mut end, mut stop) = (old.len() - back, new.len() - back);
    let rest = old[end..].find('\n').map_or(old.len() - end, |at| at + 1);
    (end, stop) = (end + rest, stop + rest);
    json!({ "range": lines.range(front, end), "newText": new[front..stop] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_has_the_lines_that_change() {
        let said = edit("a\nb\nc\n", "a\nx\nb\nc\n");
        assert_eq!(said["newText"], "x\nb\n");
        assert_eq!(said["range"]["start"]["line"], 1);
        assert_eq!(said["range"]["end"]["line"], 2);
        assert_eq!(edit("a", "a")["newText"], "a");
    }
}
