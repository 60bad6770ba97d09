//! Fixes for diagnostics, as code actions.

use serde_json::{Value, json};
use slipring::changed_lines;

use super::text::LineMap;
use crate::session::Text;

/// The code actions for a text with diagnostics: the edits of `check --fix`, or of `prove --fix`.
pub fn actions(text: &Text, address: &str, messages: &[Value]) -> Vec<Value> {
    // There are no fixes for warnings and notes.
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

/// The changed lines as one edit.
fn edit(old: &str, new: &str) -> Value {
    let (gone, text) = changed_lines(old, new);
    json!({ "range": LineMap::new(old).range(gone.start, gone.end), "newText": text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_has_the_lines_that_change() {
        let said = edit("a\nb\nc\n", "a\nx\nb\nc\n");
        assert_eq!(said["newText"], "x\n");
        assert_eq!(said["range"]["start"]["line"], 1);
        assert_eq!(said["range"]["end"]["line"], 1);
        assert_eq!(edit("a", "a")["newText"], "");
        let last = edit("a\nb", "a\nc");
        assert_eq!((&last["newText"], &last["range"]["end"]["character"]), (&json!("c"), &json!(1)));
    }
}
