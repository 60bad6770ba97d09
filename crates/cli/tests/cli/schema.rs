//! `docs/json.md`: the output of `--json`, field by field, collected from the output of commands.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::here::{self, pinned};

/// Commands and their sample runs; fields that other options add are not covered.
const SAMPLES: [(&str, &[&str]); 18] = [
    (
        "check",
        &[
            "check --json examples/lang/double.py examples/broken/missing_flag.pto",
            "check --json crates/reference/explain/examples/syntax.pto",
            "check --json crates/reference/explain/examples/flag-left-set.pto crates/reference/explain/examples/split-odd.py",
        ],
    ),
    (
        "run",
        &[
            "run --json --lines --verify examples/matmul_to_vector.pto",
            "run --json --lines examples/broken/missing_flag.pto",
            "run --json --advice examples/lang/6_attention.py",
            "run --json examples/broken/one_pop_too_many.pto",
            "run --json examples/two_clusters.pto",
            "run --json --time-only examples/lang/double.py",
            "run --json examples/programs/feed_forward.py",
        ],
    ),
    (
        "sync-check",
        &["sync-check --json examples/broken/missing_flag.pto", "sync-check --json examples/sync/1_flags.pto"],
    ),
    ("compare", &["compare --json examples/lang/double.py examples/lang/linear.py"]),
    ("timeline", &["timeline --json tests/files/profile/double.py --arch a5 --against tests/files/profile/trace.json"]),
    ("graph", &["graph --json examples/programs/feed_forward.py"]),
    ("ring", &["ring --json examples/matmul_to_vector.pto", "ring --json examples/broken/one_pop_too_many.pto"]),
    ("prove", &["prove --json examples/broken/missing_flag.pto", "prove --json examples/matmul_to_vector.pto"]),
    ("tune", &["tune --json examples/lang/6_attention.py --vary TILE=64,128,0"]),
    ("cost", &["cost --json pto.tadd", "cost --json pto.tmatmul --shape 128x64x256"]),
    ("ops", &["ops --json"]),
    ("board-check", &["board-check --json examples/lang/double.py"]),
    ("queue lint", &["queue lint --json tests/files/queue/allow.queue"]),
    (
        "queue run",
        &["queue run --json tests/files/queue/launch.queue", "queue run --json tests/files/queue/hang.queue"],
    ),
    ("queue stats", &["queue stats --json tests/files/queue/stats.queue"]),
    (
        "queue prove",
        &["queue prove --json tests/files/queue/prove.queue", "queue prove --json tests/files/queue/prove_wrong.queue"],
    ),
    ("queue diff", &["queue diff --json tests/files/queue/launch.queue tests/files/queue/host_stores.queue"]),
    ("what cannot be read", &["run --json nowhere.pto", "check --json nowhere.pto"]),
];

/// Objects whose keys are names from the program, not fields.
const BY_NAME: [&str; 3] = ["points[].values", "evidence.cycles_without", "ops[].costs[].evidence.cycles_without"];

/// The facts about a field: its types, and the number of parent objects that contain it.
#[derive(Default)]
struct Field {
    types: BTreeSet<&'static str>,
    seen: usize,
    around: usize,
}

/// Fields by their paths: `findings[].line`.
type Fields = BTreeMap<String, Field>;

fn gather(fields: &mut Fields, objects: &mut BTreeMap<String, usize>, path: &str, value: &Value) {
    match value {
        Value::Object(entries) => {
            *objects.entry(path.to_string()).or_default() += 1;
            let by_name = BY_NAME.contains(&path);
            for (name, value) in entries {
                let name = if by_name { "NAME" } else { name };
                let own = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
                let field = fields.entry(own.clone()).or_default();
                field.types.insert(kind(value));
                field.seen += 1;
                gather(fields, objects, &own, value);
            }
        }
        Value::Array(list) => {
            let own = format!("{path}[]");
            for value in list {
                if !value.is_object() && !value.is_array() {
                    fields.entry(own.clone()).or_default().types.insert(kind(value));
                }
                gather(fields, objects, &own, value);
            }
        }
        _ => {}
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The objects that a command prints, each with its version.
fn printed(command: &str) -> Vec<Value> {
    let ran = here::slipring().args(command.split_whitespace()).output().unwrap();
    let text = String::from_utf8(ran.stdout).unwrap();
    let objects: Result<Vec<Value>, _> = serde_json::Deserializer::from_str(&text).into_iter().collect();
    let objects = objects.unwrap_or_else(|error| panic!("`slipring {command}`: {error}\n{text}"));
    assert!(!objects.is_empty(), "`slipring {command}` prints no object");
    for object in &objects {
        assert_eq!(object["schema"], 2, "`slipring {command}` does not say its version: {object}");
    }
    objects
}

fn page() -> String {
    let mut page = String::from(
        "# What `--json` prints\n\n\
         Every object has `schema`, the version of this page: 2. It grows when a field is removed or changes its meaning;\n\
         fields may be added without that. `check` prints one object per file, each on its own line, and so do\n\
         `sync-check`, `ops` and the verbs of `queue`; the others print one object. `?` marks fields that some objects\n\
         leave out. `[]` are the elements of a list, `NAME` stands for names of the program or of ops. Fields that only\n\
         other options give are not listed. `error` says what was wrong with the input. A place in another file than the\n\
         one that was asked for has its name as `file`.\n\n\
         This page is made by `crates/cli/tests/cli/schema.rs` from what the commands print\n\
         (`SLIPRING_BLESS=1 cargo test --release -p slipring-cli --test all -- cli::schema`).\n",
    );
    for (verb, commands) in SAMPLES {
        let (mut fields, mut objects) = (Fields::new(), BTreeMap::new());
        for command in commands {
            printed(command).iter().for_each(|object| gather(&mut fields, &mut objects, "", object));
        }
        let verb = if verb.contains("cannot") { format!("W{}", &verb[1..]) } else { format!("`slipring {verb}`") };
        page += &format!("\n## {verb}\n\n| field | type |\n|---|---|\n");
        for (path, field) in &mut fields {
            let around = path.rsplit_once('.').map_or("", |(around, _)| around);
            field.around = objects.get(around).copied().unwrap_or(0);
            let element = path.ends_with("[]");
            let left_out = !element && field.seen < field.around && !BY_NAME.contains(&around);
            let types: Vec<&str> = field.types.iter().copied().collect();
            page += &format!("| `{path}`{} | {} |\n", if left_out { " ?" } else { "" }, types.join(" or "));
        }
    }
    page
}

#[test]
fn the_page_of_the_schema_is_what_commands_print() {
    pinned("docs/json.md", &page());
}
