//! Dependencies of the crates, against the table in ARCHITECTURE.md.

use std::collections::BTreeMap;

use super::{read, root};

/// A row of the table.
#[derive(Clone, Debug)]
struct Member {
    name: String,
    /// The crates and facts of which it must not know.
    unknown: String,
}

/// The crates in the order of the table.
fn members(document: &str) -> Vec<Member> {
    let rows = document.lines().skip_while(|line| !line.starts_with("| crate |")).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let cells = rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    cells.map(|row| Member { name: row[0].trim_matches('`').to_string(), unknown: row[2].to_string() }).collect()
}

/// The crates of this project that a manifest's `[dependencies]` name.
fn dependencies(manifest: &str) -> Vec<String> {
    let lines = manifest.lines().skip_while(|line| line.trim() != "[dependencies]").skip(1);
    let lines = lines.take_while(|line| !line.trim_start().starts_with('['));
    let names = lines.filter_map(|line| line.trim().split(['.', ' ', '=']).next());
    let own = names.filter_map(|name| if name == "slipring" { Some(name) } else { name.strip_prefix("slipring-") });
    own.map(str::to_string).collect()
}

/// The crates that a phrase of the last column denotes; `None` for facts that dependencies cannot show.
fn meant(phrase: &str) -> Option<&'static [&'static str]> {
    Some(match phrase {
        "ops" => &["op", "mlir", "pto", "micro", "dialects"],
        "programs" => &["program"],
        "text" | "IR" => &["ir"],
        "the engine" | "scheduling" | "time" => &["sim", "check"],
        "drawing" => &["report"],
        "the queue" => &["queue"],
        "task graphs" => &["tasks"],
        "proofs" => &["prove"],
        "passes" => &["passes"],
        "the table" => &["dialects"],
        "other families" => &["mlir", "pto", "micro"],
        "any other crate" | "kernels and programs" => &[
            "tile", "machine", "finding", "ir", "program", "vector", "simt", "effect", "op", "mlir", "pto", "micro",
            "dialects", "lang", "passes", "sim", "check", "report", "session", "prove", "board", "programs", "explore",
        ],
        // About names, internals and sources, which the scans check.
        "any op by name" | "what is in them" | "kernels' insides" | "how events arose" => return None,
        "passes do not use each other" | "nothing: it only connects" => return None,
        _ => panic!("ARCHITECTURE.md: what is meant by `{phrase}`? Say it in `meant`"),
    })
}

/// The violations among these dependencies.
fn broken(members: &[Member], edges: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut found = Vec::new();
    let position = |name: &str| members.iter().position(|member| member.name == name);
    for (name, to) in edges {
        let Some(at) = position(name) else {
            found.push(format!("`{name}` is not in the table"));
            continue;
        };
        for other in to {
            if position(other).is_none_or(|other| other >= at) {
                found.push(format!("`{name}` depends on `{other}`, which is not above it"));
            }
        }
        let phrases = members[at].unknown.split([',', ';']).map(str::trim);
        for phrase in phrases {
            let hidden = meant(phrase).unwrap_or(&[]).iter().filter(|other| **other != name.as_str());
            let known = hidden.filter(|other| to.iter().any(|own| own == *other));
            found.extend(known.map(|other| format!("`{name}` knows nothing of {phrase}, and depends on `{other}`")));
        }
    }
    for member in members.iter().filter(|member| !edges.contains_key(&member.name)) {
        found.push(format!("there is no crate `{}`", member.name));
    }
    found
}

#[test]
fn crates_depend_on_what_is_above_them() {
    let members = members(&read(&root().join("ARCHITECTURE.md")));
    let crates = std::fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let edges: BTreeMap<String, Vec<String>> = crates
        .filter(|folder| folder.join("Cargo.toml").exists())
        .map(|folder| {
            let name = folder.file_name().unwrap().to_string_lossy().into_owned();
            (name, dependencies(&read(&folder.join("Cargo.toml"))))
        })
        .collect();
    assert!(edges.values().map(Vec::len).sum::<usize>() > 40, "the manifests are not read: {edges:?}");
    let found = broken(&members, &edges);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn wrong_edges_are_found() {
    let table = "| crate | its one job | knows nothing of |\n|---|---|---|\n| `tile` | a | ops, time |\n\
                 | `ir` | b | any op by name |\n| `op` | c | any op by name; scheduling, time |\n\
                 | `sim` | d | text, IR, ops |\n\nafter\n";
    let members = members(table);
    assert_eq!(members.len(), 4);
    let manifest = |list: &[&str]| {
        let lines: String = list.iter().map(|name| format!("slipring-{name}.workspace = true\n")).collect();
        dependencies(&format!(
            "[package]\nname = \"x\"\n[dependencies]\nhalf.workspace = true\n{lines}[lints]\nslipring-no = 1\n"
        ))
    };
    let edges = |own: &[(&str, &[&str])]| {
        let mut all: BTreeMap<String, Vec<String>> =
            ["tile", "ir", "op", "sim"].map(|name| (name.to_string(), Vec::new())).into();
        own.iter().for_each(|(name, to)| drop(all.insert(name.to_string(), manifest(to))));
        broken(&members, &all)
    };
    assert_eq!(edges(&[("ir", &["tile"]), ("op", &["ir", "tile"]), ("sim", &["tile"])]), [""; 0]);
    assert_eq!(edges(&[("tile", &["ir"])]), ["`tile` depends on `ir`, which is not above it"]);
    assert_eq!(edges(&[("sim", &["ir"])]).len(), 2, "text and IR");
    assert_eq!(edges(&[("sim", &["op"])]), ["`sim` knows nothing of ops, and depends on `op`"]);
    assert_eq!(edges(&[("op", &["sim"])]).len(), 3, "below it, and twice the engine");
    assert_eq!(edges(&[("other", &[])]), ["`other` is not in the table"]);
}
