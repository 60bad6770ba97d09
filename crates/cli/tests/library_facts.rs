//! Pipes, cores and flags inside library operations, compared with the public library and the assembler
//! (`tests/library_facts.tsv`, which `scripts/library_facts` records from checkouts). Each difference is decided, with
//! its sources, in `docs/decisions/pipes.md`; a decided difference that no longer exists is an error, too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use slipring_dialects::Dialects;
use slipring_op::{CoreRule, OpDef, PipeRule};

use crate::here::root;

/// The source of a fact, and its pipes or flags.
type Facts = Vec<(String, BTreeSet<String>)>;

fn read(path: &str) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The facts of each op that is declared here.
fn recorded() -> BTreeMap<&'static str, (&'static OpDef, Facts)> {
    let mut all: BTreeMap<&str, (&OpDef, Facts)> = BTreeMap::new();
    for line in read("tests/library_facts.tsv").lines().skip(1) {
        let mut cells = line.split('\t').map(str::to_string);
        let [Some(op), Some(source), Some(said)] = [cells.next(), cells.next(), cells.next()] else {
            panic!("three cells: {line}");
        };
        let name = format!("pto.{op}");
        let def = Dialects::get().all().iter().find(|def| def.schema.name == name);
        if let Some(def) = def {
            let facts = &mut all.entry(def.schema.name).or_insert_with(|| (def, Facts::new())).1;
            facts.push((source, said.split(' ').map(str::to_string).collect()));
        }
    }
    all
}

/// The part of a fact that the declaration of an op does not have.
fn difference(def: &OpDef, source: &str, said: &BTreeSet<String>) -> Option<String> {
    if let Some(platform) = source.strip_prefix("npu/") {
        let here = def.inside.iter().filter(|case| case.has == (platform == "a5"));
        let here: BTreeSet<String> =
            here.flat_map(|case| case.flags).map(|(from, to)| format!("{from}→{to}")).collect();
        let missing: Vec<&String> = said.difference(&here).collect();
        return (!missing.is_empty()).then(|| format!("uses {missing:?} inside, which is not declared"));
    }
    let only = |pipe: &str| said.len() == 1 && said.contains(pipe);
    match def.pipe {
        PipeRule::By(_) if said.len() == 1 => return Some(format!("always {said:?}, here it depends")),
        PipeRule::Fixed(pipe) if !only(&pipe.to_string()) => return Some(format!("{said:?}, here {pipe}")),
        PipeRule::None if !only("S") => return Some(format!("{said:?}, here none")),
        PipeRule::By(_) | PipeRule::Fixed(_) | PipeRule::None => {}
    }
    let of_cube = said.iter().all(|pipe| ["M", "MTE1"].contains(&pipe.as_str()));
    match def.core {
        CoreRule::Cube if only("V") => Some(format!("{said:?} on the Cube core")),
        CoreRule::Vector if of_cube => Some(format!("{said:?} on the Vector core")),
        CoreRule::Any | CoreRule::Cube | CoreRule::Vector | CoreRule::ByTile => None,
    }
}

#[test]
fn declarations_say_what_the_public_library_says() {
    let facts = recorded();
    assert!(facts.len() > 100, "few ops have facts: {}", facts.len());
    // First cells of the page's tables.
    let page = read("docs/decisions/pipes.md");
    let cells = page.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let decided: BTreeSet<&str> =
        cells.flat_map(|cell| cell.split(['`', ',', ' '])).filter(|name| !name.is_empty()).collect();
    let (mut wrong, mut differ) = (Vec::new(), BTreeSet::new());
    for (name, (def, facts)) in &facts {
        let name = name.trim_start_matches("pto.");
        for (source, said) in facts {
            let Some(what) = difference(def, source, said) else { continue };
            differ.insert(name);
            if !decided.contains(name) {
                wrong.push(format!("{name}: {source} says {what}"));
            }
        }
    }
    assert!(wrong.is_empty(), "not declared and not decided in docs/decisions/pipes.md:\n{}", wrong.join("\n"));
    assert!(differ.len() > 10, "the differences that the page decides are found: {differ:?}");
}

#[test]
fn a_wrong_pipe_or_flag_is_a_difference() {
    let find = |name: &str| Dialects::get().all().iter().find(|def| def.schema.name == name).expect(name);
    let of = |words: &[&str]| words.iter().map(ToString::to_string).collect::<BTreeSet<String>>();
    assert_eq!(difference(find("pto.tadd"), "event.hpp", &of(&["V"])), None);
    assert!(difference(find("pto.tadd"), "event.hpp", &of(&["MTE3"])).is_some());
    assert!(difference(find("pto.tmatmul"), "PTOOps.td", &of(&["V"])).is_some());
    assert!(difference(find("pto.tadd"), "npu/a5", &of(&["V→S"])).is_some());
}
