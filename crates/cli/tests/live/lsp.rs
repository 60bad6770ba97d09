//! `slipring lsp` through the protocol: a client without an editor, over standard input and output.

use std::time::Instant;

use serde_json::{Value, json};

use super::client::{Client, codes, edited, example, place};
use crate::here::{self, root};

#[test]
fn messages_come_as_one_types() {
    let (mut client, can) = Client::ready();
    assert_eq!(can["positionEncoding"], "utf-16");
    let text = example("lang/double.py");
    let address = client.open("lang/double.py", "python", &text);
    assert!(client.messages_of(&address, 1).is_empty());
    // An unknown name, after characters of two UTF-16 units and of several bytes.
    let wrong = text.replace("pl.matmul(a, b)", "pl.matmul(a, \"é𝄞\", c)");
    client.change(&address, 2, &wrong);
    let messages = client.messages_of(&address, 2);
    let unknown = messages.iter().find(|message| message["code"] == "undefined-name").unwrap();
    let (line, column) = place(&wrong, "é𝄞", "c)");
    assert_eq!(unknown["range"]["start"], json!({ "line": line, "character": column }));
    assert_eq!(unknown["range"]["end"], json!({ "line": line, "character": column + 1 }));
    assert_eq!((&unknown["severity"], &unknown["source"]), (&json!(1), &json!("slipring")));
    client.change(&address, 3, &text);
    assert!(client.messages_of(&address, 3).is_empty());
    assert_eq!(client.end(), Some(0));
}

#[test]
fn the_messages_are_those_of_check() {
    let folder = root().join("crates/reference/explain/examples");
    let (mut client, _) = Client::ready();
    for (name, language) in [("split-odd.py", "python"), ("pop-without-free.pto", "pto"), ("syntax.pto", "pto")] {
        let path = folder.join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        let address = format!("file://{}", path.display());
        let document = json!({ "uri": address, "languageId": language, "version": 7, "text": text });
        client.tell("textDocument/didOpen", json!({ "textDocument": document }));
        let messages = client.messages_of(&address, 7);
        let ran = here::slipring().arg("check").arg("--json").arg(&path).output().unwrap();
        let facts: Value = serde_json::from_slice(&ran.stdout).unwrap();
        let known = facts["diagnostics"].as_array().unwrap();
        assert!(!known.is_empty() && known.len() == messages.len(), "{name}: {messages:?}");
        for (known, message) in known.iter().zip(&messages) {
            assert_eq!(known["code"], message["code"]);
            assert!(message["message"].as_str().unwrap().starts_with(known["message"].as_str().unwrap()));
            if let Some(line) = known["line"].as_u64() {
                assert_eq!(message["range"]["start"]["line"], line - 1);
                assert_eq!(message["range"]["start"]["character"], known["column"].as_u64().unwrap() - 1);
                assert!(message["range"]["end"] != message["range"]["start"]);
            }
            assert_eq!(
                known["also"].as_array().unwrap().len(),
                message["relatedInformation"].as_array().unwrap().len()
            );
        }
    }
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_race_is_found_and_its_edit_mends_it() {
    let (mut client, _) = Client::ready();
    let text = example("broken/missing_flag.pto");
    let address = client.open("broken/missing_flag.pto", "pto", &text);
    // The check reports nothing about it, but the run after it does.
    let checked = client.messages_of(&address, 1);
    assert!(!codes(&checked).contains(&"race"));
    let found = client.messages_of(&address, 1);
    let race = found.iter().find(|message| message["code"] == "race").unwrap();
    let (line, column) = place(&text, "%bytes nburst", "pto.mte_ub_gm");
    assert_eq!(race["range"]["start"], json!({ "line": line, "character": column }));
    let related = &race["relatedInformation"][0];
    assert_eq!(related["location"]["range"]["start"]["line"], place(&text, "set_flag", "pto.vecscope").0);
    assert_eq!(related["message"], "pipe V of AIV0 writes here");
    let params = json!({
        "textDocument": { "uri": address },
        "range": race["range"],
        "context": { "diagnostics": [race] },
    });
    let actions = client.ask("textDocument/codeAction", params)["result"].clone();
    let action = &actions.as_array().unwrap()[0];
    assert_eq!(action["kind"], "quickfix");
    let mended = edited(&text, &action["edit"]["changes"][&address][0]);
    assert!(mended.contains("set_flag[\"PIPE_V\"") || mended.contains("<PIPE_V>"), "{mended}");
    client.change(&address, 2, &mended);
    assert!(client.messages_of(&address, 2).is_empty());
    assert!(client.messages_of(&address, 2).is_empty(), "the run finds nothing, too");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_finding_on_a_path_has_an_edit() {
    let text = std::fs::read_to_string(root().join("crates/reference/explain/examples/flag-left-set.pto")).unwrap();
    let (mut client, _) = Client::ready();
    let address = client.open("left.pto", "pto", &text);
    assert_eq!(codes(&client.messages_of(&address, 1)), ["flag-left-set"]);
    let params = json!({ "textDocument": { "uri": address }, "range": {}, "context": { "diagnostics": [] } });
    let actions = client.ask("textDocument/codeAction", params)["result"].clone();
    let mended = edited(&text, &actions[0]["edit"]["changes"][&address][0]);
    client.change(&address, 2, &mended);
    assert!(client.messages_of(&address, 2).is_empty(), "{mended}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn pages_types_and_addresses_stand_under_the_cursor() {
    let (mut client, _) = Client::ready();
    let text = example("lang/double.py");
    let address = client.open("lang/double.py", "python", &text);
    let shown = |answer: Value| answer["result"]["contents"]["value"].as_str().unwrap_or("").to_string();
    let (line, column) = place(&text, "product =", "matmul");
    let page = shown(client.at("hover", &address, line, column + 2));
    assert!(page.contains("pl.matmul") && page.contains("form"), "{page}");
    let (line, column) = place(&text, "product =", "product");
    let name = shown(client.at("hover", &address, line, column + 1));
    assert!(name.contains("64x64xf32") && name.contains("acc") && name.contains("bytes 0x0 to 0x4000"), "{name}");
    let text = example("broken/missing_flag.pto");
    let address = client.open("broken/missing_flag.pto", "pto", &text);
    let (line, column) = place(&text, "pto.mte_gm_ub", "mte_gm_ub");
    assert!(shown(client.at("hover", &address, line, column)).contains("pto.mte_gm_ub"));
    let (line, column) = place(&text, "pto.mte_gm_ub", "%bytes");
    assert!(shown(client.at("hover", &address, line, column + 3)).contains("%bytes: i64"));
    // Without a symbol there is no answer.
    assert!(client.at("hover", &address, 0, 0)["result"].is_null());
    assert_eq!(client.end(), Some(0));
}

#[test]
fn names_lead_to_where_they_come_from() {
    let (mut client, _) = Client::ready();
    let text = example("broken/missing_flag.pto");
    let address = client.open("broken/missing_flag.pto", "pto", &text);
    let (line, column) = place(&text, "pto.mte_gm_ub", "%in");
    let from = client.at("definition", &address, line, column + 1)["result"].clone();
    assert_eq!(from["range"]["start"]["line"], place(&text, "%in = ", "%in").0);
    let text = example("lang/double.py");
    let address = client.open("lang/double.py", "python", &text);
    let (line, column) = place(&text, "aiv_shard", "product");
    let from = client.at("definition", &address, line, column)["result"].clone();
    let (line, column) = place(&text, "product =", "product");
    assert_eq!(from["range"]["start"], json!({ "line": line, "character": column }));
    let (line, column) = place(&text, "out[", "lane");
    let from = client.at("definition", &address, line, column)["result"].clone();
    assert_eq!(from["range"]["start"]["line"], place(&text, "for lane", "lane").0);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn words_are_completed_with_their_signatures() {
    let (mut client, _) = Client::ready();
    let text = "import slipring.language as pl\n\n@pl.incore\ndef f(x):\n    y = pl.row_ex\n";
    let address = client.open("typed.py", "python", text);
    let items = client.at("completion", &address, 4, 17)["result"]["items"].as_array().unwrap().clone();
    let item = items.iter().find(|item| item["label"] == "row_expand_sub").unwrap();
    assert!(item["detail"].as_str().unwrap().starts_with("pl.row_expand_sub("), "{item}");
    assert!(items.iter().all(|item| item["label"].as_str().unwrap().starts_with("row_ex")));
    let resolved = client.ask("completionItem/resolve", item.clone())["result"].clone();
    assert!(resolved["documentation"]["value"].as_str().unwrap().contains("becomes"), "{resolved}");
    let text = "func.func @f(%count: i32) {\n  %twice = arith.addi %count, %count : i32\n  pto.tad\n  %other = arith.addi %t\n  return\n}\n";
    let address = client.open("typed.pto", "pto", text);
    let items = client.at("completion", &address, 2, 9)["result"]["items"].as_array().unwrap().clone();
    let item = items.iter().find(|item| item["label"] == "pto.tadd").unwrap();
    assert_eq!(item["textEdit"]["range"]["start"], json!({ "line": 2, "character": 2 }));
    let items = client.at("completion", &address, 3, 24)["result"]["items"].as_array().unwrap().clone();
    assert!(items.iter().any(|item| item["label"] == "%twice" && item["detail"] == "i32"), "{items:?}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn functions_are_listed_and_folded() {
    let (mut client, _) = Client::ready();
    let text = example("matmul_to_vector.pto");
    let address = client.open("matmul_to_vector.pto", "pto", &text);
    let symbols = client.of("documentSymbol", &address);
    let functions = text.lines().filter(|line| line.trim_start().starts_with("func.func")).count();
    assert_eq!(symbols.as_array().unwrap().len(), functions, "{symbols}");
    assert!(!client.of("foldingRange", &address).as_array().unwrap().is_empty());
    let text = "import slipring.language as pl\n\n\nclass A:\n    @pl.incore\n    def f(\n        x: int,\n    ):\n        y = x\n\n\ndef g():\n    pass\n";
    let address = client.open("listed.py", "python", text);
    let symbols = client.of("documentSymbol", &address);
    let names: Vec<&Value> = symbols.as_array().unwrap().iter().map(|symbol| &symbol["name"]).collect();
    assert_eq!(names, ["A", "g"], "{symbols}");
    assert_eq!(symbols[0]["children"][0]["name"], "f");
    assert_eq!(symbols[0]["children"][0]["range"]["end"]["line"], 8);
    let folds = client.of("foldingRange", &address);
    assert!(folds.as_array().unwrap().contains(&json!({ "startLine": 5, "endLine": 8 })), "{folds}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn wrong_questions_are_refused_and_the_server_goes_on() {
    let (mut client, _) = Client::ready();
    let unknown = client.at("hover", "file:///nowhere.py", 0, 0);
    assert!(unknown["error"]["message"].as_str().unwrap().contains("is not open"), "{unknown}");
    assert_eq!(client.ask("textDocument/nonsense", json!({}))["error"]["code"], -32601);
    assert_eq!(client.ask("textDocument/hover", json!({ "textDocument": 3 }))["error"]["code"], -32602);
    client.change("file:///nowhere.py", 4, "x");
    client.tell("textDocument/didOpen", json!({ "textDocument": null }));
    // Positions outside the text, and inside a surrogate pair.
    let address = client.open("odd.py", "python", "# 𝄞\nimport slipring.language as pl\n");
    for (line, character) in [(0, 3), (0, 99), (99, 0), (usize::MAX >> 1, usize::MAX >> 1)] {
        for what in ["hover", "definition", "completion"] {
            let answer = client.at(what, &address, line, character);
            assert!(answer["error"].is_null(), "{what} at {line}:{character}: {answer}");
        }
    }
    let negative = json!({ "textDocument": { "uri": address }, "position": { "line": -1, "character": 0 } });
    assert_eq!(client.ask("textDocument/hover", negative)["error"]["code"], -32602);
    // A Python file without kernels is ignored.
    let plain = client.open("plain.py", "python", "print(1)\n");
    assert!(client.messages_of(&plain, 1).is_empty());
    let empty = client.open("empty.pto", "pto", "");
    assert!(client.messages_of(&empty, 1).is_empty());
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_huge_text_does_not_stop_the_others() {
    let (mut client, _) = Client::ready();
    let line = "  %c = arith.constant 1 : i32\n";
    let huge = client.open("huge.pto", "pto", &format!("func.func @f() {{\n{}", line.repeat((65 << 20) / line.len())));
    let messages = client.messages_of(&huge, 1);
    assert!(messages[0]["message"].as_str().unwrap().contains("at most"), "{messages:?}");
    let text = example("lang/double.py");
    let address = client.open("lang/double.py", "python", &text);
    assert!(client.messages_of(&address, 1).is_empty());
    assert_eq!(client.end(), Some(0));
}

#[test]
fn what_is_no_message_ends_the_server_with_a_word() {
    for broken in [
        "Content-Length: 5\r\n\r\n{not ",
        "Content-Length: x\r\n\r\n",
        "Content-Length: 99999999999999999\r\n\r\n{}",
        "Content-Length: 500000000\r\n\r\n{}",
        "no header\r\n\r\n",
    ] {
        let (mut client, _) = Client::ready();
        client.send_bytes(broken.as_bytes());
        let (code, said) = client.exit();
        assert_eq!(code, Some(2), "{said}");
        assert!(said.starts_with("error: ") && !said.contains("panicked"), "{said}");
    }
    let (client, _) = Client::ready();
    let (code, said) = client.exit();
    assert_eq!(code, Some(2));
    assert!(said.contains("without `shutdown`"), "{said}");
}

#[test]
fn a_session_has_a_beginning_and_an_end() {
    let mut client = Client::start();
    assert_eq!(client.ask("textDocument/hover", json!({}))["error"]["code"], -32002);
    client.ask("initialize", json!({ "capabilities": {} }));
    assert_eq!(client.ask("initialize", json!({ "capabilities": {} }))["error"]["code"], -32600);
    assert!(client.ask("shutdown", Value::Null)["error"].is_null());
    for method in ["textDocument/hover", "shutdown", "initialize"] {
        assert_eq!(client.ask(method, json!({}))["error"]["code"], -32600, "{method}");
    }
    client.tell("initialized", json!({}));
    client.tell("exit", Value::Null);
    assert_eq!(client.exit().0, Some(0));
    for (mut client, word) in [(Client::start(), "before"), (Client::ready().0, "after")] {
        client.tell("exit", Value::Null);
        let (code, said) = client.exit();
        assert_eq!((code, said.trim()), (Some(1), "error: the editor sent `exit` without `shutdown`"), "{word}");
    }
}

#[test]
fn an_edit_keeps_the_line_ends_of_its_text() {
    let text = std::fs::read_to_string(root().join("crates/reference/explain/examples/flag-left-set.pto")).unwrap();
    let text = text.replace('\n', "\r\n");
    let (mut client, _) = Client::ready();
    let address = client.open("ends.pto", "pto", &text);
    assert_eq!(codes(&client.messages_of(&address, 1)), ["flag-left-set"]);
    let params = json!({ "textDocument": { "uri": address }, "range": {}, "context": { "diagnostics": [] } });
    let actions = client.ask("textDocument/codeAction", params)["result"].clone();
    let mended = edited(&text, &actions[0]["edit"]["changes"][&address][0]);
    assert!(mended != text && mended.matches('\n').count() == mended.matches("\r\n").count(), "{mended:?}");
    assert_eq!(client.end(), Some(0));
}

/// How long messages take after a change. No test measures time: this is for the documentation.
#[test]
#[ignore = "measures"]
fn latencies() {
    let (mut client, _) = Client::ready();
    for name in ["lang/double.py", "lang/6_attention.py", "matmul_to_vector.pto", "broken/missing_flag.pto"] {
        let language = if name.ends_with("py") { "python" } else { "pto" };
        let text = example(name);
        let address = client.open(name, language, &text);
        client.messages_of(&address, 1);
        let mut times = Vec::new();
        for version in 2..22 {
            let begin = Instant::now();
            client.change(
                &address,
                version,
                &format!("{text}\n{} {version}\n", if language == "pto" { "//" } else { "#" }),
            );
            client.messages_of(&address, version);
            times.push(begin.elapsed());
        }
        times.sort();
        println!("{name}: median {:?}, largest {:?}", times[times.len() / 2], times[times.len() - 1]);
    }
    assert_eq!(client.end(), Some(0));
}
