//! Forbidden code in sources: names of ops and attributes outside declarations, ops created without the common builder,
//! unordered maps.

use std::collections::BTreeSet;
use std::path::Path;

use slipring_dialects::Dialects;

use super::{read, root};

/// Crates that declare ops.
const DECLARING: [&str; 3] = ["mlir", "pto", "micro"];

/// A rule of the sources.
struct Rule {
    what: &'static str,
    /// Whether it applies to a file, by path below `crates`.
    holds_in: fn(&str) -> bool,
    /// Whether a line breaks it.
    broken_by: fn(&str) -> bool,
    /// Lines that break it, and lines that do not.
    bad: &'static [&'static str],
    good: &'static [&'static str],
}

/// The string literals of a line.
fn literals(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').skip(1).step_by(2)
}

/// Methods that take the name of a declared operand.
const BY_NAME: [&str; 11] =
    ["operand", "operands", "if_declared", "tile", "space", "ty", "reg", "data", "optional", "elem", "number"];

/// Functions that take an op, followed by names of its operands.
const GIVEN_OP: [&str; 11] = [
    "operand_group",
    "operands_named",
    "operands_named_mut",
    "require_space",
    "memory",
    "numbers",
    "governs",
    "lanes_of",
    "number_for",
    "as_wide",
    "pointee",
];

/// The arguments of each call of a function, up to the first closing parenthesis.
fn arguments<'a>(line: &'a str, function: &str) -> Vec<&'a str> {
    let call = format!("{function}(");
    line.split(call.as_str()).skip(1).filter_map(|rest| rest.split(')').next()).collect()
}

/// Prefixes of op names.
const DIALECTS: [&str; 8] = ["pto.", "arith.", "scf.", "func.", "memref.", "builtin.", "hacc.", "llvm."];

/// Whether a literal is (or begins) the name of an op, or of an attribute with the prefix of a dialect.
fn is_name(literal: &str) -> bool {
    let plain = literal.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '.' || c == '_');
    plain && DIALECTS.iter().any(|prefix| literal.starts_with(prefix))
}

/// Crates below the declarations, which do not know the text form.
const WITHOUT_TEXT: [&str; 9] = ["tile", "machine", "program", "vector", "simt", "effect", "tasks", "sim", "check"];

/// Whether a literal spells an op that findings could suggest.
fn spells_op(literal: &str) -> bool {
    let ops =
        ["set_flag", "wait_flag", "get_buf", "rls_buf", "pipe_barrier", "mem_bar", "vldas", "init_align", "`pto."];
    ops.iter().any(|op| literal.contains(op))
}

/// Whether a method of one of these names is given a literal.
fn takes_literal(line: &str, methods: &[&str]) -> bool {
    methods.iter().any(|method| line.contains(&format!("{method}(\"")))
}

fn member(path: &str) -> &str {
    path.split('/').next().unwrap_or_default()
}

const RULES: &[Rule] = &[
    Rule {
        what: "the name of an op outside of the crates that declare ops: name its declaration, or ask it",
        // Names that `op` itself reads are in one file of it; declarations of functions and loops use them from there.
        holds_in: |path| {
            !DECLARING.contains(&member(path)) && member(path) != "queue" && !path.starts_with("op/src/names.rs")
        },
        broken_by: |line| literals(line).any(is_name),
        bad: &[
            r#"if &*op.name == "pto.tload" {"#,
            r#"match name { "arith.addi" => 1 }"#,
            r#"call.entry.op.starts_with("pto.trow")"#,
            r#"attrs.get("pto.entry")"#,
        ],
        good: &[r#"error.help("pto.set_flag and a wait")"#, r#"format!("`pto.tload`")"#, r#"Some("tensor.empty")"#],
    },
    Rule {
        what: "the text of an op in a crate that knows no text: ask the program (`Words`), or whoever made the step",
        holds_in: |path| WITHOUT_TEXT.contains(&member(path)),
        broken_by: |line| literals(line).any(spells_op),
        bad: &[
            r#"hint: Some("each release needs a get_buf before it".into()),"#,
            r#".help("begin it with `pto.vldas` of the same address")"#,
        ],
        good: &["words.set(from, to, Some(id))", r#".help(format!("begin it with `{begins}`"))"#],
    },
    Rule {
        what: "an attribute of an op by its name: ask the crate that declares it",
        // The text layer reads generic text. The names of pipes that `op` reads are in `op/src/ring/words.rs`.
        holds_in: |path| {
            !DECLARING.contains(&member(path)) && member(path) != "queue" && !path.starts_with("ir/src/text/")
        },
        broken_by: |line| {
            let of_dict = ["attrs.get", "attrs.set", "attrs.remove", "op.attr", "op.int", "op.text", "init.attr"];
            takes_literal(line, &of_dict) || takes_literal(line, &["end.attr", "init.int", "init.text"])
        },
        bad: &[
            r#"module.op(op).attrs.get("callee")"#,
            r#"op.text("atomicType") == Some("atomic_add")"#,
            r#"attrs.set("base", Attr::int(0))"#,
        ],
        good: &["attrs.get(name)", "op.int(ID)", r#"call.get("pipe")"#, r#"env.get("self")"#],
    },
    Rule {
        what: "an operand by its position: name it",
        holds_in: |path| member(path) != "queue" && member(path) != "ir",
        broken_by: |line| {
            let digit = |arg: &str| arg.starts_with(|c: char| c.is_ascii_digit());
            let op = |arg: &&str| matches!(arg.trim(), "op" | "d" | "id");
            BY_NAME.iter().any(|method| arguments(line, &format!(".{method}")).into_iter().any(digit))
                || GIVEN_OP
                    .iter()
                    .flat_map(|name| arguments(line, name))
                    .any(|args| args.split(',').skip_while(op).take(2).any(|arg| digit(arg.trim())))
        },
        bad: &[
            "let source = op.operand(0)?;",
            "if op.space(1) == Some(Space::Vec) {",
            "let (lhs, out) = (e.reg(0)?, e.out(0));",
            "let from = memory(op, d, 0)?;",
            "check::governs(op, 2, 0, diags);",
            "printer.values(module.operand_group(op, 1));",
        ],
        good: &[
            r#"op.operand("src")"#,
            "op.operands(index)",
            "module.op(id).operands[at]",
            r#"memory(op, d, "src")?"#,
            "module.ty(op.result(0))",
        ],
    },
    Rule {
        what: "an argument of work by its position: declare its name (`slipring_program::arguments`)",
        holds_in: |path| member(path) != "lang" && member(path) != "queue",
        // A function of scalars depends on a triple, not on the arguments of an effect.
        broken_by: |line| {
            line.split("args[").skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
                && !line.contains(".of(args[")
                && !line.contains(".ty(args[")
        },
        bad: &["let rows = args[2];", "nest_extents((Space::Gm, CORE, args[0]), size)", "if args[2..6].is_empty() {"],
        good: &["GmMoveArgs::of(args).rows", "args[GmMoveArgs::COUNT..]", "args[*number]"],
    },
    Rule {
        what: "a search for ops by name: ask for a part or a declaration",
        holds_in: |path| member(path) != "ir",
        broken_by: |line| {
            let compared = ["schema.name ==", "schema.name !=", "&*data.name", "&*op.name ==", "*op.name =="];
            line.contains("ops_named(") || compared.iter().any(|text| line.contains(text))
        },
        bad: &[r#"module.ops_named("func.func")"#, "match &*data.name {", "op.def.schema.name == VCADD.schema.name"],
        good: &["op.def == &VCADD", "module.functions()"],
    },
    Rule {
        what: "the first declaration that fits: which op is made is said by name",
        holds_in: |_| true,
        broken_by: |line| line.contains(".all().iter().find"),
        bad: &["Dialects::get().all().iter().find(|def| def.ring == Some(part))"],
        good: &["found.iter().find(|def| def.ring.is_some())"],
    },
    Rule {
        what: "the table where no text is read: an op of a module carries its declaration (`OpDef::of`, `OpRef::of`)",
        // Code that reads and checks texts, and code that lists ops for users.
        holds_in: |path| {
            let lists = ["reference/src/pages.rs", "session/src/build.rs", "explore/src/cost/mod.rs"];
            path != "session/src/prepare.rs" && !lists.contains(&path)
        },
        broken_by: |line| line.contains("Dialects::get()"),
        bad: &["let def = Dialects::get().def(&module.op(op).name);"],
        good: &["OpDef::of(module, op)", "verify(table, module, platform, diags)"],
    },
    Rule {
        what: "an op made past the builder (`OpDef::make`)",
        holds_in: |path| member(path) != "ir" && path != "op/src/make.rs",
        broken_by: |line| line.contains("odule.create(") || line.contains("odule.build("),
        bad: &[r#"let op = self.module.create(name, None, span);"#, "module.build(schema, &[], attrs, &[], span)"],
        good: &["pto::TMOV.make(module, &operands, attrs, &[], span)", "File::create(path)", "module.like(&data)"],
    },
    Rule {
        what: "a branch on the code of a finding: ask its kind (`slipring_finding::Kind`)",
        // Code that displays and distinguishes findings. The queue is separate, and has `Hazard`. For a host function,
        // the code is its text. Files that expect errors name their codes.
        holds_in: |path| {
            let others = ["lang/src/host/value.rs", "lang/src/host/call.rs", "cli/src/expect/directives.rs"];
            !["finding", "queue"].contains(&member(path)) && path != "ir/src/diag.rs" && !others.contains(&path)
        },
        broken_by: |line| {
            let compared = ["code == ", "code != ", ".code, &", "code.as_str() {", ".code() =="];
            compared.iter().any(|text| line.contains(text))
                || line.contains("match ") && line.contains(".code {") && !line.contains("args.code")
                || line.contains("matches!(") && line.contains(".code,")
                || line.contains("contains(&") && line.contains(".code)")
        },
        bad: &[
            r#"if finding.code == "deadlock" {"#,
            "known.code != error.code",
            "match finding.code.as_str() {",
            "return Some(match first.code {",
            r#"matches!(message.code, "unsupported" | "memory-limit")"#,
            "CODES.contains(&said.code)",
            "(known.code, &known.message) == (new.code, &new.message)",
        ],
        good: &[
            "finding.kind == Kind::StepLimit",
            "known.says_the_same(message)",
            r#"format!("{}: {}", error.code, error.message)"#,
        ],
    },
    Rule {
        what: "a message that is read back: give the finding data (`slipring_finding::Kind`)",
        // `toml` reports unknown fields only as text.
        holds_in: |path| path != "machine/src/load.rs",
        broken_by: |line| {
            let texts = ["message", "message()", "label", "hint", "help", "note"];
            let reads = ["contains", "starts_with", "ends_with", "strip_prefix", "strip_suffix", "split_once", "find"];
            // A name generated for an early return is displayed as text.
            !line.contains("jumps::RESULT")
                && texts.iter().any(|text| {
                    reads.iter().any(|read| {
                        line.contains(&format!("{text}.{read}(")) && !line.contains(&format!("_{text}.{read}("))
                    })
                })
        },
        bad: &[
            r#"message.contains(" of buffer ")"#,
            r#"m.message.starts_with(&format!("`{name}`"))"#,
            r#"note.split_once(" waits for ")?"#,
        ],
        good: &["error.notes.contains(&note)", "said.list.contains(message)", r#"text.contains("x")"#],
    },
    Rule {
        what: "a map whose order differs from run to run: use BTreeMap or IndexMap",
        holds_in: |_| true,
        broken_by: |line| ["HashMap", "HashSet", "RandomState"].iter().any(|name| line.contains(name)),
        bad: &["use std::collections::HashMap;", "let seen = std::collections::HashSet::new();"],
        good: &["use std::collections::BTreeMap;", "IndexMap::new()"],
    },
];

/// A line without its comment.
fn code(line: &str) -> &str {
    match line.find("//") {
        // Not inside a literal.
        Some(at) if line[..at].matches('"').count().is_multiple_of(2) => &line[..at],
        _ => line,
    }
}

/// The lines of a source outside tests, numbered from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let end = text.lines().position(|line| line.trim() == "#[cfg(test)]").unwrap_or(usize::MAX);
    text.lines().take(end).enumerate().map(|(at, line)| (at + 1, code(line)))
}

fn breaches(rule: &Rule, path: &str, text: &str) -> Vec<String> {
    if !(rule.holds_in)(path) {
        return Vec::new();
    }
    let found = lines(text).filter(|(_, line)| (rule.broken_by)(line));
    found.map(|(at, line)| format!("crates/{path}:{at}: {}: {}", rule.what, line.trim())).collect()
}

/// Every source of the crates outside tests: path below `crates`, and text.
pub(super) fn sources() -> Vec<(String, String)> {
    fn walk(folder: &Path, top: &Path, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "tests" {
                walk(&path, top, found);
            } else if name.ends_with(".rs") && name != "tests.rs" {
                let below = path.strip_prefix(top).unwrap().to_string_lossy().into_owned();
                found.push((below, read(&path)));
            }
        }
    }
    let top = root().join("crates");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&top).unwrap() {
        let folder = entry.unwrap().path().join("src");
        if folder.is_dir() {
            walk(&folder, &top, &mut found);
        }
    }
    found.sort();
    found
}

#[test]
fn sources_keep_the_rules() {
    let sources = sources();
    assert!(sources.len() > 300, "only {} sources are read", sources.len());
    let each = RULES.iter().flat_map(|rule| sources.iter().flat_map(|(path, text)| breaches(rule, path, text)));
    let found: Vec<String> = each.collect();
    assert!(found.is_empty(), "{} breaches\n{}", found.len(), found.join("\n"));
}

/// The names of operands in a line.
fn operand_names(line: &str) -> Vec<&str> {
    let methods = BY_NAME.iter().flat_map(|method| arguments(line, &format!(".{method}")));
    let first = methods.filter_map(|args| args.strip_prefix('"')?.split('"').next());
    first.chain(GIVEN_OP.iter().flat_map(|name| arguments(line, name)).flat_map(literals)).collect()
}

#[test]
fn operands_are_named_as_they_are_declared() {
    let declared: BTreeSet<&str> =
        Dialects::get().all().iter().flat_map(|def| def.schema.operands).map(|spec| spec.name).collect();
    let mut seen = 0;
    for (path, text) in sources() {
        if !DECLARING.contains(&member(&path)) && !["op", "passes", "report"].contains(&member(&path)) {
            continue;
        }
        for (at, line) in lines(&text) {
            for name in operand_names(line) {
                assert!(
                    declared.contains(name),
                    "crates/{path}:{at}: no op declares an operand `{name}`: {}",
                    line.trim()
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 300, "only {seen} names are seen");
    assert_eq!(operand_names(r#"let a = (op.tile("src"), memory(op, d, "dst")?, op.ty(name));"#), ["src", "dst"]);
}

#[test]
fn what_breaks_a_rule_is_found() {
    for rule in RULES {
        let paths = ["passes/src/any.rs", "sim/src/any.rs"];
        let path = paths.into_iter().find(|path| (rule.holds_in)(path)).expect(rule.what);
        for line in rule.bad {
            assert_eq!(breaches(rule, path, &format!("fn f() {{\n    {line}\n}}\n")).len(), 1, "{}: {line}", rule.what);
            let hidden = format!("// {line}\n#[cfg(test)]\nmod tests {{\n    {line}\n}}\n");
            assert_eq!(breaches(rule, path, &hidden).len(), 0, "comments and tests: {line}");
        }
        for line in rule.good {
            assert_eq!(breaches(rule, path, line).len(), 0, "{}: {line}", rule.what);
        }
    }
}

/// Ambiguous words, and the only type that each may name, by the file that declares it.
const WORDS: [(&str, &[&str]); 5] = [
    // The memory and the layout of a tile.
    ("Place", &["lang/src/lower/layouts.rs"]),
    // A decoded instruction of a vector function.
    ("Step", &["vector/src/function.rs"]),
    // A part of a view of global memory; the queue's type is what a driver opens, with the name that drivers use.
    ("Window", &["passes/src/analysis/windows.rs", "queue/src/host/device.rs"]),
    ("Mode", &[]),
    ("Lane", &[]),
];

/// The files whose lines declare a type of this name.
fn declaring<'a>(sources: &'a [(String, String)], word: &str) -> Vec<&'a str> {
    let kinds = ["struct", "enum", "trait", "type", "union"];
    let declares = |line: &str| {
        let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_').skip_while(|w| !kinds.contains(w));
        words.next().is_some() && words.next() == Some(word)
    };
    let found = sources.iter().filter(|(_, text)| lines(text).any(|(_, line)| declares(line)));
    found.map(|(path, _)| path.as_str()).collect()
}

#[test]
fn a_word_names_one_thing() {
    let sources = sources();
    for (word, meant) in WORDS {
        assert_eq!(declaring(&sources, word), meant, "`{word}` names one thing: say what yours is");
    }
    let text = "pub(crate) enum Step {\nstruct Steps;\n// struct Step\n".to_string();
    assert_eq!(declaring(&[("here".to_string(), text.clone())], "Step"), ["here"]);
    assert_eq!(declaring(&[("here".to_string(), text)], "Place"), [""; 0]);
}

#[test]
fn the_linter_knows_of_maps_too() {
    let settings = read(&root().join("clippy.toml"));
    for name in ["HashMap", "HashSet"] {
        assert!(settings.contains(&format!("std::collections::{name}")), "clippy.toml says nothing of {name}");
    }
}
