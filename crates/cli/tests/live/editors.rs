//! The extension's files match its manifest.

use std::collections::BTreeSet;

use serde_json::Value;
use slipring::{OPTIONS, Way};

use crate::here::root;

#[test]
fn the_manifest_of_the_extension_names_what_is_there() {
    let folder = root().join("editors/vscode");
    let read =
        |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let json =
        |name: &str| serde_json::from_str::<Value>(&read(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let manifest = json("package.json");
    let gives = &manifest["contributes"];
    let mut named = Vec::new();
    for (list, key) in [("grammars", "path"), ("snippets", "path"), ("languages", "configuration")] {
        let entries = gives[list].as_array().unwrap().iter();
        named.extend(entries.map(|entry| entry[key].as_str().unwrap().trim_start_matches("./").to_string()));
    }
    assert_eq!(named.len(), 4);
    named.iter().for_each(|name| drop(json(name)));
    let client = read(manifest["main"].as_str().unwrap());
    // The commands that it starts are verbs of the tool.
    for word in ["lsp", "dap"] {
        assert!(client.contains(&format!("[\"{word}\"")), "{word}");
    }
    assert_eq!(gives["languages"][0]["extensions"][0], ".pto");
    // A launch has the properties that select the kernel, and the options of `debug`.
    let properties = &gives["debuggers"][0]["configurationAttributes"]["launch"]["properties"];
    let known: BTreeSet<&str> = properties.as_object().unwrap().keys().map(String::as_str).collect();
    let own = OPTIONS.iter().filter(|option| option.of.contains(&Way::Stepping)).map(|option| option.name);
    assert_eq!(known, own.chain(["program", "func", "arch", "args", "set"]).collect());
}
