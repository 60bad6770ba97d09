//! Names, semantic tokens and inlay hints, through the language server protocol.

use serde_json::{Value, json};

use super::client::{Client, example, place};
use crate::here::{self, root};

/// The lines, from 1, of the locations in an answer.
fn lines_of(list: &Value) -> Vec<u64> {
    list.as_array()
        .unwrap_or_else(|| panic!("{list}"))
        .iter()
        .map(|own| own["range"]["start"]["line"].as_u64().unwrap() + 1)
        .collect()
}

#[test]
fn names_are_found_and_changed_everywhere() {
    let (mut client, can) = Client::ready();
    assert_eq!((&can["referencesProvider"], &can["renameProvider"]["prepareProvider"]), (&json!(true), &json!(true)));
    let text = "import slipring.language as pl\n\n@pl.incore\ndef f(x: pl.Tensor, rows: int):\n    for i in pl.range(rows):\n        \
                é = x[i]; y = x\n    return x\n\ndef g(x):\n    return f(x, rows=3)\n";
    let address = client.open("names.py", "python", text);
    let (line, column) = place(text, "def f", "x");
    assert_eq!(lines_of(&client.at("references", &address, line, column)["result"]), [4, 6, 6, 7]);
    let (line, column) = place(text, "for i", "rows");
    assert_eq!(lines_of(&client.at("documentHighlight", &address, line, column)["result"]), [4, 5, 10]);
    let asked = |line: usize, column: usize, name: &str| json!({ "textDocument": { "uri": address }, "position": { "line": line, "character": column }, "newName": name });
    let edits = client.ask("textDocument/rename", asked(line, column, "count"))["result"]["changes"][&address].clone();
    assert_eq!(lines_of(&edits), [4, 5, 10]);
    assert!(edits.as_array().unwrap().iter().all(|edit| edit["newText"] == "count"));
    for (name, why) in [
        ("y", "is already a name in this file"),
        ("int", "is already a name in this file"),
        ("range", "is a builtin name of Python"),
        ("2 x", "is not a name"),
        ("x²", "is not a name"),
        ("x.y", "is not a name"),
        ("", "is not a name"),
        ("lambda", "is a keyword of Python"),
    ] {
        let answer = client.ask("textDocument/rename", asked(line, column, name));
        assert!(answer["error"]["message"].as_str().unwrap().contains(why), "{answer}");
    }
    for name in ["ö", "名", "match", "rows"] {
        let edits = client.ask("textDocument/rename", asked(line, column, name))["result"]["changes"][&address].clone();
        assert_eq!(edits[0]["newText"], name);
    }
    let (line, column) = place(text, "@pl", "incore");
    assert!(!client.at("prepareRename", &address, line, column)["error"].is_null());
    // Two loops with counters of the same name.
    let text = example("matmul_to_vector.pto");
    let address = client.open("matmul_to_vector.pto", "pto", &text);
    let (line, column) = place(&text, "func.func", "%c0 ");
    let list = lines_of(&client.at("references", &address, line, column)["result"]);
    let own = (1..).zip(text.lines()).filter(|(_, line)| line.split("//").next().unwrap().contains("%c0"));
    let all: Vec<u64> = own.map(|(line, _)| line).collect();
    assert!(!list.is_empty() && list.iter().all(|line| all.contains(line)), "{list:?} of {all:?}");
    let text = "func.func @f(%n: index) {\n  scf.for %i = %n to %n step %n {\n    %x = arith.addi %i, %i : index\n  }\n  scf.for %i = %n to %n step %n {\n    \
                %y = arith.addi %i, %n : index // %i\n  }\n  return\n}\n";
    let address = client.open("loops.pto", "pto", text);
    assert_eq!(lines_of(&client.at("references", &address, 1, 11)["result"]), [2, 3, 3]);
    assert_eq!(lines_of(&client.at("references", &address, 5, 21)["result"]), [5, 6]);
    assert_eq!(lines_of(&client.at("references", &address, 0, 14)["result"]), [1, 2, 2, 2, 5, 5, 5, 6]);
    let asked =
        json!({ "textDocument": { "uri": address }, "position": { "line": 5, "character": 21 }, "newName": "k" });
    let edits = client.ask("textDocument/rename", asked)["result"]["changes"][&address].clone();
    assert_eq!(edits[1]["newText"], "%k");
    // A name that is used and not defined is in use.
    client.change(&address, 2, &text.replace("%n : index //", "%late : index //"));
    for (name, why) in [("late", "`%late` is already"), ("f²", "is not a name"), ("%é", "is not a name")] {
        let asked =
            json!({ "textDocument": { "uri": address }, "position": { "line": 5, "character": 21 }, "newName": name });
        let answer = client.ask("textDocument/rename", asked);
        assert!(answer["error"]["message"].as_str().unwrap().contains(why), "{answer}");
    }
    assert_eq!(client.end(), Some(0));
}

#[test]
fn methods_are_found_where_they_are_called() {
    let text = "import slipring.language as pl\n\n@pl.program\nclass Mlp:\n    N = 64\n\
                \n    @pl.function\n    def linear(\n        self,\n        x: pl.Tensor[[64, 64], pl.FP32],\n    ):\n        return x\n\
                \n    @pl.function\n    def main(self, x):\n        y = self.linear(x, self.N)\n        return self.linear(x=y)\n\
                \nMlp.main.run(Mlp.N)\n";
    let (mut client, _) = Client::ready();
    let address = client.open("methods.py", "python", text);
    let asked = |(line, column): (usize, usize), name: &str| json!({ "textDocument": { "uri": address }, "position": { "line": line, "character": column }, "newName": name });
    for at in
        [place(text, "def linear", "linear"), place(text, "y = self", "linear"), place(text, "return self", "linear")]
    {
        assert_eq!(lines_of(&client.at("references", &address, at.0, at.1 + 2)["result"]), [8, 16, 17]);
        let edits = client.ask("textDocument/rename", asked(at, "dense"))["result"]["changes"][&address].clone();
        assert_eq!(lines_of(&edits), [8, 16, 17]);
        let from = client.at("definition", &address, at.0, at.1)["result"].clone();
        assert_eq!(from["range"]["start"], json!({ "line": 7, "character": 8 }));
        let page = client.at("hover", &address, at.0, at.1)["result"]["contents"]["value"].clone();
        assert_eq!(page, "```text\ndef linear(\n    self,\n    x: pl.Tensor[[64, 64], pl.FP32],\n)\n```");
    }
    let at = place(text, "self.N", "N");
    assert_eq!(lines_of(&client.at("references", &address, at.0, at.1)["result"]), [5, 16, 19]);
    assert_eq!(client.at("hover", &address, at.0, at.1)["result"]["contents"]["value"], "```text\nN = 64\n```");
    let at = place(text, "x=y", "x");
    assert_eq!(lines_of(&client.at("references", &address, at.0, at.1)["result"]), [10, 12, 17]);
    // The names before the first binding in the body of a class are those of outside.
    client.change(&address, 2, &format!("N = 1\n{}", text.replace("N = 64", "N = N").replace("Mlp.N", "Mlp(N=N)")));
    assert_eq!(lines_of(&client.at("references", &address, 0, 0)["result"]), [1, 6, 20]);
    assert_eq!(lines_of(&client.at("references", &address, 5, 4)["result"]), [6, 17, 20]);
    // The object of another attribute may be of the class.
    client.change(&address, 3, &text.replace("Mlp.N)", "other().linear)"));
    let answer = client.ask("textDocument/rename", asked(place(text, "def linear", "linear"), "dense"));
    assert!(
        answer["error"]["message"].as_str().unwrap().starts_with("`.linear` of line 19 may be the same"),
        "{answer}"
    );
    let answer = client.ask("textDocument/rename", asked(place(text, "def linear", "linear"), "run"));
    assert!(answer["error"]["message"].as_str().unwrap().contains("is already a name"), "{answer}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn words_have_kinds_and_calls_their_parameters() {
    let (mut client, can) = Client::ready();
    let kinds = can["semanticTokensProvider"]["legend"]["tokenTypes"].clone();
    let text = example("lang/double.py");
    let address = client.open("lang/double.py", "python", &text);
    let words = |client: &mut Client, address: &str, text: &str| {
        let data = client.of("semanticTokens/full", address)["data"].clone();
        let data: Vec<u64> = data.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect();
        let (mut line, mut column, mut found) = (0, 0, Vec::new());
        for word in data.chunks(5) {
            column = if word[0] > 0 { word[1] } else { column + word[1] };
            line += word[0];
            let own: String =
                text.lines().nth(line as usize).unwrap().chars().skip(column as usize).take(word[2] as usize).collect();
            found.push((own, kinds[word[3] as usize].as_str().unwrap().to_string(), word[4]));
        }
        found
    };
    let found = words(&mut client, &address, &text);
    let kind = |name: &str| found.iter().find(|(own, ..)| own == name).map(|(_, kind, _)| kind.as_str());
    assert_eq!(kind("pl"), Some("namespace"));
    assert_eq!(kind("double"), Some("function"));
    assert_eq!(kind("matmul"), Some("function"));
    assert_eq!(kind("Tensor"), Some("type"));
    assert_eq!(kind("out"), Some("parameter"));
    assert!(
        found.contains(&("product".into(), "variable".into(), 1))
            && found.contains(&("product".into(), "variable".into(), 0))
    );
    let text = example("broken/missing_flag.pto");
    let address = client.open("broken/missing_flag.pto", "pto", &text);
    let found = words(&mut client, &address, &text);
    assert!(found.contains(&("pto.vabs".into(), "function".into(), 0)), "{found:?}");
    assert!(
        found.contains(&("%v".into(), "variable".into(), 1))
            && found.contains(&("%lane".into(), "parameter".into(), 1)),
        "{found:?}"
    );
    let text = "import slipring.language as pl\n\n@pl.incore\ndef f(x):\n    y = pl.matmul(x, [1, 2], \n";
    let address = client.open("call.py", "python", text);
    let help = client.at("signatureHelp", &address, 4, 29)["result"].clone();
    assert!(help["signatures"][0]["label"].as_str().unwrap().starts_with("matmul("), "{help}");
    assert_eq!(help["activeParameter"], 2, "{help}");
    assert!(client.at("signatureHelp", &address, 0, 3)["result"].is_null());
    assert_eq!(client.end(), Some(0));
}

#[test]
fn shapes_places_and_cycles_stand_in_the_text() {
    let (mut client, _) = Client::ready();
    let text = example("lang/double.py");
    let address = client.open("lang/double.py", "python", &text);
    let (checked, ran) = (client.messages_of(&address, 1), client.messages_of(&address, 1));
    assert!(checked.is_empty() && ran.is_empty());
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let params = json!({ "textDocument": { "uri": address }, "range": range });
    let hints = client.ask("textDocument/inlayHint", params)["result"].clone();
    let labels: Vec<(u64, &str)> = hints
        .as_array()
        .unwrap()
        .iter()
        .map(|hint| (hint["position"]["line"].as_u64().unwrap() + 1, hint["label"].as_str().unwrap()))
        .collect();
    assert!(labels.contains(&(10, ": 64x64 f32, acc at 0x0")), "{labels:?}");
    // The output of `run --lines` for the same line.
    let ran = here::slipring()
        .args(["run", "--lines", "--json"])
        .arg(root().join("examples/lang/double.py"))
        .output()
        .unwrap();
    let facts: Value = serde_json::from_slice(&ran.stdout).unwrap();
    for line in facts["lines"].as_array().unwrap().iter().filter(|line| line["busy"] != 0) {
        let (number, busy) = (line["line"].as_u64().unwrap(), &line["busy"]);
        let said = labels.iter().any(|(own, label)| *own == number && label.starts_with(&format!("{busy} cycles")));
        assert!(said, "line {number} of {labels:?}");
    }
    assert_eq!(client.end(), Some(0));
}

#[test]
fn cpp_is_checked_as_one_types() {
    let file = root().join("tests/files/cpp");
    let file = std::fs::read_dir(file)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|end| end == "cpp"));
    let file = file.expect("a C++ kernel");
    let text = std::fs::read_to_string(&file).unwrap();
    let (mut client, _) = Client::ready();
    let address = format!("file://{}", file.display());
    let document = json!({ "uri": address, "languageId": "cpp", "version": 1, "text": text });
    client.tell("textDocument/didOpen", json!({ "textDocument": document }));
    let messages = client.messages_of(&address, 1);
    let ran = here::slipring().arg("check").arg("--json").arg(&file).output().unwrap();
    let facts: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(facts["diagnostics"].as_array().unwrap().len(), messages.len(), "{messages:?}");
    for what in ["semanticTokens/full", "inlayHint", "documentSymbol", "foldingRange"] {
        assert!(
            client.ask(&format!("textDocument/{what}"), json!({ "textDocument": { "uri": address } }))["error"]
                .is_null()
        );
    }
    assert_eq!(client.end(), Some(0));
}
