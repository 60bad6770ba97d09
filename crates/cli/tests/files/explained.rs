//! The pages of `slipring explain` are correct: each example produces its code, and its corrected version produces
//! nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use slipring_reference::{Example, Explanation, explain, explain_document, explanation, explanations};

use crate::walk;

/// A test for each code with an example, and tests for all codes.
pub fn trials() -> impl Iterator<Item = Trial> {
    let examples = explanations().filter_map(|explained| {
        let example = explained.example?;
        Some(Trial::test(format!("explain/{}", explained.code), move || test(explained, &example)))
    });
    let whole: [(&str, fn()); 5] = [
        ("sources", every_code_of_a_source_is_explained),
        ("whole", every_explanation_is_whole),
        ("codes", codes_are_taken_as_messages_show_them),
        ("files", every_file_of_an_example_is_of_a_code),
        ("document", the_document_is_the_generated_one),
    ];
    let whole = whole.map(|(name, test)| {
        Trial::test(format!("explained/{name}"), move || {
            test();
            Ok(())
        })
    });
    examples.chain(whole)
}

/// Codes of messages of an output.
pub fn codes(output: &str) -> Vec<String> {
    let code = |line: &str| {
        let (level, rest) = line.trim_start().split_once('[')?;
        ["error", "warning", "note"]
            .contains(&level)
            .then(|| rest.split_once("]: ").map(|(code, _)| code.to_string()))?
    };
    output.lines().filter_map(code).collect()
}

/// Codes of an output that have no explanation.
pub fn unexplained(output: &str) -> Vec<String> {
    codes(output).into_iter().filter(|code| explanation(code).is_none()).collect()
}

fn test(explained: &Explanation, example: &Example) -> Result<(), Failed> {
    if explained.cause.is_empty() || explained.fix.is_empty() {
        return Err("it says no cause or no fix".into());
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("explain");
    std::fs::create_dir_all(&folder)?;
    let (_, output) = call(&folder.join(example.name), example.command, example.text)?;
    if !codes(&output).iter().any(|code| code == explained.code) {
        return Err(format!("the example does not give it\n{output}").into());
    }
    let Some(fixed) = example.fixed else { return Ok(()) };
    let (exit, output) = call(&folder.join(format!("fixed-{}", example.name)), example.command, fixed)?;
    let said = output.lines().filter(|line| !line.starts_with("note")).collect::<Vec<_>>().join("\n");
    if exit != Some(0) || !codes(&said).is_empty() {
        return Err(format!("mended, it is not clean\n{output}").into());
    }
    Ok(())
}

fn call(file: &Path, command: &str, text: &str) -> Result<(Option<i32>, String), Failed> {
    std::fs::write(file, text)?;
    let words = command.split_whitespace().map(|w| if w == "FILE" { file.display().to_string() } else { w.into() });
    let ran = Command::new(env!("CARGO_BIN_EXE_slipring")).args(words).output()?;
    Ok((ran.status.code(), String::from_utf8(ran.stdout)? + &String::from_utf8(ran.stderr)?))
}

/// Functions that create a message or a fault, up to the code.
const MAKERS: [&str; 14] = [
    "error(",
    "error_at(",
    "warning(",
    "warn(",
    "refuse(",
    "refuse_at(",
    "stop_at(",
    "no_place(",
    "Fault::new(",
    "fault(",
    "nowhere(",
    "apart(",
    "one_type(",
    "code: ",
];

/// The code in the text after such a function, which may have other arguments before it.
fn code(rest: &str) -> Option<&str> {
    let mut rest = rest.trim_start();
    loop {
        if let Some(literal) = rest.strip_prefix('"') {
            let code = literal.split('"').next()?;
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            return (!code.is_empty() && code.chars().all(plain)).then_some(code);
        }
        // A name, such as that of the op, and the next argument.
        let name = rest.len() - rest.trim_start_matches(|c: char| c.is_alphanumeric() || "_.&*".contains(c)).len();
        rest = rest[name..].strip_prefix(',').filter(|_| name > 0)?.trim_start();
    }
}

/// All codes of the sources, each with a file.
fn declared() -> BTreeMap<String, String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let mut found = BTreeMap::new();
    for file in walk::files(&crates, &["rs"]) {
        let name = file.strip_prefix(&crates).unwrap().display().to_string();
        let of_tests = name.split('/').any(|part| part.starts_with("tests") || part == "benches" || part == "examples");
        // The command line and the report define no codes.
        if of_tests || name.starts_with("report/") || name.starts_with("cli/src/verbs/") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        // Kinds with data list their codes in one place.
        let kinds = text.split("pub fn code(&self)").nth(1).filter(|_| name.starts_with("finding/")).unwrap_or("");
        for (at, arrow) in kinds.match_indices("=> ") {
            if let Some(code) = code(&kinds[at + arrow.len()..]) {
                found.entry(code.to_string()).or_insert_with(|| name.clone());
            }
        }
        for maker in MAKERS {
            let own = text.match_indices(maker).filter(|(at, _)| {
                !maker.starts_with(char::is_alphabetic)
                    || !text[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_')
            });
            for (at, _) in own {
                if let Some(code) = code(&text[at + maker.len()..]) {
                    found.entry(code.to_string()).or_insert_with(|| name.clone());
                }
            }
        }
    }
    found
}

fn every_code_of_a_source_is_explained() {
    let declared = declared();
    assert!(declared.len() > 300, "only {} codes were found", declared.len());
    let missing: Vec<_> = declared.iter().filter(|(code, _)| explanation(code).is_none()).collect();
    assert!(missing.is_empty(), "a page of `crates/reference/explain` must say what these mean: {missing:?}");
}

fn every_explanation_is_whole() {
    for Explanation { code, cause, fix, .. } in explanations() {
        assert!(cause.ends_with('.') && fix.ends_with('.'), "{code}: {cause} / {fix}");
        assert!(explain(code).unwrap().starts_with(&format!("{code}: ")));
    }
    let with_example = explanations().filter(|each| each.example.is_some()).count();
    assert!(with_example > 250, "only {with_example} codes have an example");
    let fixed = explanations().filter_map(|each| each.example).filter(|example| example.fixed.is_some()).count();
    assert!(fixed >= 45, "only {fixed} examples are mended");
}

fn codes_are_taken_as_messages_show_them() {
    assert_eq!(explain("error[race]"), explain("race"));
    assert_eq!(explain("rase").unwrap_err(), "no message has the code `rase`; did you mean `race`?");
}

fn every_file_of_an_example_is_of_a_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../reference/explain");
    for file in walk::files(&folder, &["py", "pto", "cpp", "queue"]) {
        let code = file.file_stem().unwrap().to_string_lossy().into_owned();
        let example = explanation(&code).and_then(|each| each.example);
        assert!(example.is_some_and(|example| example.command.contains("FILE")), "{}", file.display());
    }
}

fn the_document_is_the_generated_one() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/codes.md");
    if std::env::var_os("SLIPRING_BLESS").is_some() {
        std::fs::write(&file, explain_document()).unwrap();
    }
    assert!(std::fs::read_to_string(&file).unwrap() == explain_document(), "run it again with SLIPRING_BLESS=1");
}
