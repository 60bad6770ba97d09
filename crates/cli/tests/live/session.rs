//! The recorded session of `docs/editors.md`: the attention step of the tutorial, broken and fixed in an editor, and
//! stepped back from a hang.

use serde_json::json;

use super::client::{Client, codes, edited, example, place};
use crate::here::{self, Folder};

/// The attention step as `slipring build` writes it, for one platform and without source locations.
fn built() -> String {
    let ran = here::slipring().args(["build", "examples/lang/5_attention_step.py", "--arch", "a5"]).output().unwrap();
    let text = String::from_utf8(ran.stdout).unwrap();
    let plain = |line: &str| line.split(" loc(").next().unwrap().to_string() + "\n";
    let (head, body) = text.split_once("func.func").unwrap();
    let body: String = format!("func.func{body}").lines().map(plain).collect();
    format!("{head}module attributes {{pto.target_arch = \"a5\"}} {{\n{body}}}\n")
}

/// A text without the lines that contain this part, and the number of removed lines.
fn without(text: &str, part: &str) -> (String, usize) {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let kept: Vec<&str> = lines.iter().copied().filter(|line| !line.contains(part)).collect();
    (kept.concat(), lines.len() - kept.len())
}

/// Step 1: both lanes store into the same rows while the offset is typed without the lane, and no longer once it has
/// it.
#[test]
fn lanes_that_overlap_show_as_one_types() {
    let text = example("lang/5_attention_step.py");
    let whole = "row = aiv_id * HALF + r0";
    let (mut client, _) = Client::ready();
    let address = client.open("lang/5_attention_step.py", "python", &text);
    assert!(client.messages_of(&address, 1).is_empty());
    let mut version = 1;
    for typed in ["row = ", "row = r0", "row = aiv_id * HALF + ", whole] {
        version += 1;
        let now = text.replace(whole, typed);
        client.change(&address, version, &now);
        let messages = client.messages_of(&address, version);
        let found = codes(&messages);
        match typed {
            "row = r0" => {
                let overlap = messages.iter().find(|message| message["code"] == "lanes-overlap").unwrap();
                let (line, column) = place(&now, "row = r0", "mi[row");
                assert_eq!(overlap["range"]["start"], json!({ "line": line, "character": column }));
            }
            _ if typed == whole => assert!(found.is_empty(), "{messages:?}"),
            _ => assert!(found.contains(&"python-syntax"), "{typed}: {messages:?}"),
        }
    }
    assert_eq!(client.end(), Some(0));
}

/// Step 2: a pair of flags is missing; the run finds the race, and its edit restores the pair.
#[test]
fn a_race_of_the_built_step_is_mended_by_its_edit() {
    let text = built();
    let flag = "[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]";
    let (broken, lines) = without(&text, flag);
    assert_eq!(lines, 2, "{text}");
    let (mut client, _) = Client::ready();
    let address = client.open("attention_step.pto", "pto", &text);
    assert!(client.messages_of(&address, 1).is_empty());
    assert!(client.messages_of(&address, 1).is_empty(), "the run finds nothing");
    client.change(&address, 2, &broken);
    assert!(client.messages_of(&address, 2).is_empty(), "no path is wrong");
    let found = client.messages_of(&address, 2);
    let race = found.iter().find(|message| message["code"] == "race").unwrap();
    assert_eq!(race["range"]["start"]["line"], place(&broken, "outs(%qk_mi", "pto.tstore").0);
    let params = json!({
        "textDocument": { "uri": address },
        "range": race["range"],
        "context": { "diagnostics": [race] },
    });
    let actions = client.ask("textDocument/codeAction", params)["result"].clone();
    let mended = edited(&broken, &actions[0]["edit"]["changes"][&address][0]);
    assert_eq!(mended.matches(flag).count(), 2, "{mended}");
    client.change(&address, 3, &mended);
    assert!(client.messages_of(&address, 3).is_empty());
    assert!(client.messages_of(&address, 3).is_empty(), "the run finds nothing");
    assert_eq!(client.end(), Some(0));
}

/// Step 3: a push is missing, and the run hangs; from there back to where it is missing.
#[test]
fn one_steps_back_from_the_hang_to_the_missing_push() {
    let (broken, lines) = without(&built(), "pto.tpush_to_aic");
    assert_eq!(lines, 1);
    let folder = Folder::empty("session");
    folder.write("attention_step.pto", &broken);
    let words = ["finding 1", "rings", "list", "rop tmov"];
    let (code, text) = super::debug::debug(&folder.file("attention_step.pto").display().to_string(), &words);
    assert_eq!(code, Some(0));
    let hang = super::debug::answer(&text, "finding 1");
    assert!(hang.contains("AIC pops tile 1 of `ring V2C`, but AIV0 has pushed only 0"), "{text}");
    assert!(hang.contains("AIC.MTE1    waits for ring V2C slot 0 ready"), "{text}");
    assert!(super::debug::answer(&text, "rings").contains("ring V2C (AIV0 to AIC): filled slots of 2: 0"), "{text}");
    // A Vector core's last action is to wait for the tile that it never pushes; the tile was computed just before.
    let last = super::debug::answer(&text, "list");
    assert!(last.contains("pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID2>]"), "{text}");
    assert!(last.contains("return") && !last.contains("tpush"), "{text}");
    assert!(super::debug::answer(&text, "rop tmov").contains("pto.tmov ins(%cast"), "{text}");
}
