//! Properties of the project's own files: documents are correct and readable, and sources stay small.

// Shared with the runner of the file tests, which uses the remaining items.
#[allow(dead_code)]
use std::path::PathBuf;

use crate::here::{self, root};
use crate::{directives, walk};

/// Every document for readers, with its text.
fn documents() -> Vec<(PathBuf, String)> {
    let root = root();
    let here = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = here.filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    for folder in ["docs", "tests", "examples", "crates", "scripts", ".github", "python"] {
        files.extend(walk::files(&root.join(folder), &["md"]));
    }
    files.sort();
    assert!(files.len() > 15, "only {} documents", files.len());
    files.into_iter().map(|file| (file.clone(), std::fs::read_to_string(&file).unwrap())).collect()
}

/// The lines of a document outside of code blocks, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut code = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        (!code && !fence).then_some((at + 1, line))
    })
}

/// The code blocks of a document.
fn blocks(text: &str) -> Vec<String> {
    let parts = text.split("\n```").enumerate().filter(|(at, _)| at % 2 == 1);
    parts.map(|(_, block)| block.split_once('\n').map_or("", |(_, body)| body).to_string()).collect()
}

/// Lines of prose have at most 120 characters; a row of a table is one line and may be longer.
#[test]
fn prose_fits_a_window() {
    let mut long = Vec::new();
    for (file, text) in documents() {
        let lines = prose(&text).filter(|(_, line)| !line.starts_with('|') && line.chars().count() > 120);
        long.extend(lines.map(|(at, _)| format!("{}:{at}", file.display())));
    }
    assert!(long.is_empty(), "longer than 120 characters:\n{}", long.join("\n"));
}

/// The architecture document is short enough to be read before a first change.
#[test]
fn the_map_stays_a_map() {
    let bytes = std::fs::metadata(root().join("ARCHITECTURE.md")).unwrap().len();
    assert!(bytes <= 8192, "ARCHITECTURE.md has {bytes} bytes: tables belong in docs/decisions");
}

/// Links between documents, and the paths that documents name, lead to existing files.
#[test]
fn documents_name_what_is_there() {
    let root = root();
    let folders = ["docs", "examples", "crates", "tests", "platforms", "scripts", "benches", "python", "fuzz"];
    let (mut checked, mut missing) = (0, Vec::new());
    // The site has pages that the repository does not have.
    for (file, text) in documents().into_iter().filter(|(file, _)| !file.ends_with("docs/SUMMARY.md")) {
        for (at, line) in prose(&text) {
            // Text in code is not a link: `kernel[4](x)`.
            let code = |(at, part): &(usize, &str)| at % 2 == 1 && part.contains("](");
            let said: String = line.split('`').enumerate().filter(|part| !code(part)).map(|(_, part)| part).collect();
            let links = said.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link);
            let links = links.filter(|link| !link.contains("://") && !link.starts_with('#'));
            let links = links.map(|link| file.parent().unwrap().join(link.split('#').next().unwrap_or(link)));
            let names = line.split('`').skip(1).step_by(2);
            let is_path = |name: &&str| {
                folders.iter().any(|folder| name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
                    && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c))
            };
            // The page on public examples names folders of their suite, which are not in this repository.
            let ours = !file.ends_with("docs/conformance.md");
            let paths = names.filter(is_path).filter(|_| ours).map(|name| root.join(name));
            for path in links.chain(paths) {
                checked += 1;
                if !path.exists() && !path.with_extension("rs").exists() {
                    missing.push(format!("{}:{at} names {}", file.display(), path.display()));
                }
            }
        }
    }
    assert!(checked > 80, "only {checked} names were found");
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// The documentation site has every page of `docs`.
#[test]
fn the_site_has_every_page() {
    let docs = root().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    for file in walk::files(&docs, &["md"]).into_iter().filter(|file| !file.ends_with("SUMMARY.md")) {
        let name = file.strip_prefix(&docs).unwrap().display().to_string();
        assert!(summary.contains(&format!("]({name})")), "docs/SUMMARY.md does not name {name}");
    }
}

/// The text after `$ slipring …` in a document is the printed output, line by line; `…` stands for omitted lines.
#[test]
fn documents_show_what_is_printed() {
    let (mut shown, mut wrong) = (0, Vec::new());
    for (file, text) in documents() {
        for block in blocks(&text) {
            let Some((command, expected)) = block.strip_prefix("$ slipring ").and_then(|b| b.split_once('\n')) else {
                continue;
            };
            shown += 1;
            let ran = here::slipring().args(command.split_whitespace()).output().unwrap();
            // Findings come after the report if both are shown, and first if the document is about them.
            let output = [ran.stderr.clone(), ran.stdout, ran.stderr].concat();
            let output = String::from_utf8_lossy(&output).into_owned();
            let mut lines = output.lines().filter(|line| !line.trim().is_empty());
            let mut omitted = true;
            for line in expected.lines().filter(|line| !line.trim().is_empty()) {
                if line.trim() == "…" {
                    omitted = true;
                    continue;
                }
                let is_line = |printed: &str| printed.trim_end() == line.trim_end();
                if !(if omitted { lines.any(is_line) } else { lines.next().is_some_and(is_line) }) {
                    wrong.push(format!("{}: `slipring {command}` does not print here\n{line}", file.display()));
                    break;
                }
                omitted = false;
            }
        }
    }
    assert!(shown >= 5, "only {shown} outputs are shown");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Complete kernels in documents are those of the examples.
#[test]
fn documents_show_the_examples() {
    let examples: Vec<String> = walk::files(&root().join("examples"), &["py"])
        .iter()
        .map(|file| std::fs::read_to_string(file).unwrap().trim().to_string())
        .collect();
    let mut kernels = 0;
    for (file, text) in documents() {
        // The tests of the Python package run each block of this page.
        if file.ends_with("docs/kernels.md") {
            continue;
        }
        for block in blocks(&text).iter().filter(|block| block.contains("import slipring.language")) {
            kernels += 1;
            let kernel = block[block.find("import slipring.language").unwrap()..].trim();
            let same = examples.iter().any(|example| example.ends_with(kernel));
            assert!(same, "{}: this kernel is not an example, so nothing runs it:\n{block}", file.display());
        }
    }
    assert!(kernels >= 2, "only {kernels} kernels are shown");
}

/// Each source has a single subject. Longer ones are listed here with the reason.
#[test]
fn sources_stay_small() {
    const LINES: usize = 600;
    // A second device, written to be compared with the first: a single text, meant to be read next to it.
    const LONGER: [&str; 1] = ["crates/queue/tests/shadow/mod.rs"];
    let root = root();
    let mut files = walk::files(&root.join("crates"), &["rs"]);
    files.extend(walk::files(&root.join("fuzz/fuzz_targets"), &["rs"]));
    assert!(files.len() > 300, "only {} files", files.len());
    let mut long = Vec::new();
    for file in files.iter().filter(|file| !LONGER.iter().any(|name| file.ends_with(name))) {
        let lines = std::fs::read_to_string(file).unwrap().lines().count();
        if lines > LINES {
            long.push(format!("{}: {lines} lines", file.display()));
        }
    }
    assert!(long.is_empty(), "longer than {LINES} lines, divide by subject:\n{}", long.join("\n"));
}

/// The tests of a crate are one binary, whose `tests/main.rs` names every module: a file that it omits would not run.
#[test]
fn every_subject_of_the_tests_runs() {
    let mut forgotten = Vec::new();
    for (folder, manifest) in manifests() {
        let Ok(main) = std::fs::read_to_string(folder.join("tests/main.rs")) else {
            continue;
        };
        assert!(manifest.contains("autotests = false"), "{}: its tests are more than one binary", folder.display());
        for entry in std::fs::read_dir(folder.join("tests")).unwrap() {
            let path = entry.unwrap().path();
            let subject = path.file_stem().unwrap().to_str().unwrap();
            let is_one = path.extension().is_some_and(|end| end == "rs") || path.join("mod.rs").exists();
            let runs = |text: &str| text.lines().any(|line| line == format!("mod {subject};"));
            let own_harness = manifest.contains(&format!("name = \"{subject}\"\nharness = false"));
            if is_one && subject != "main" && !runs(&main) && !own_harness {
                forgotten.push(path.display().to_string());
            }
        }
    }
    assert!(forgotten.is_empty(), "no `tests/main.rs` names these, so they never run:\n{}", forgotten.join("\n"));
}

#[test]
fn what_is_misspelt_in_a_file_test_is_said() {
    let said = |text: &str| directives::read(text, "//").unwrap_err().join("\n");
    assert!(said("// test: run %s\n// chek: clean\n").contains("did you mean `check:`?"));
    assert!(said("// test: run %s\nx // eror: code\n").contains("did you mean `error:`?"));
    assert!(said("// exit: 1\n// test: run %s\n").contains("must come after a `test:`"));
    assert!(said("// test: run %s\n// exit: one\n").contains("is not an exit code"));
    assert!(said("// test: run %s\n// out[x]: f32 1\n").contains("no number of a parameter"));
    assert!(said("// test: run %s\n// error: code").contains("the last line has nothing below it"));
    assert!(said("// test: build %s\n// error: code\nx\n").contains("no command that lists"));
    assert!(said("// platforms: a5, a6\n// test: run %s\n").contains("`a6` is not a platform"));
    assert!(said("// test: run %s\n// platforms: a5\n").contains("before the first `test:`"));
}

#[test]
fn prose_in_a_file_test_is_prose() {
    let text = "// A file: what it shows.\n// e.g.: this\n// test: run %s\n// https://example.org\n";
    assert_eq!(directives::read(text, "//").unwrap().runs.len(), 1);
}

#[test]
fn several_platforms_of_a_file_test_are_several_runs() {
    let text = "// platforms: a5, a2a3\n// test: run %s\n// exit: 1\n// test: run %s --arch a5\n";
    let runs = directives::read(text, "//").unwrap().runs;
    let commands: Vec<(&str, i32)> = runs.iter().map(|run| (&*run.command, run.exit)).collect();
    assert_eq!(commands, [("run %s --arch a5", 1), ("run %s --arch a2a3", 1), ("run %s --arch a5", 0)]);
}

/// The manifests of the crates, with their folders.
fn manifests() -> Vec<(PathBuf, String)> {
    let folders = std::fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = folders.filter(|folder| folder.join("Cargo.toml").exists()).collect();
    folders.sort();
    assert!(folders.len() > 10);
    let read = |folder: PathBuf| {
        let text = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        (folder, text)
    };
    folders.into_iter().map(read).collect()
}

/// The names under the headings of a manifest that end in `dependencies]`.
fn dependencies(manifest: &str) -> Vec<&str> {
    let mut inside = false;
    let mut names = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]");
        } else if let Some((name, _)) = line.split_once(['.', ' ', '=']).filter(|(n, _)| inside && !n.is_empty()) {
            names.extend((!name.starts_with('#')).then_some(name));
        }
    }
    names
}

/// Every dependency that a manifest names is named in its sources, and every one of the workspace in a manifest.
#[test]
fn dependencies_are_used() {
    let mut unused = Vec::new();
    let mut named = Vec::new();
    for (folder, manifest) in manifests() {
        let sources: String =
            walk::files(&folder, &["rs"]).iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
        for name in dependencies(&manifest) {
            named.push(name.to_string());
            if !sources.contains(&name.replace('-', "_")) {
                unused.push(format!("{}: {name}", folder.display()));
            }
        }
    }
    let workspace = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let nobody = dependencies(&workspace).into_iter().filter(|name| !named.iter().any(|used| used == name));
    unused.extend(nobody.map(|name| format!("Cargo.toml: {name}")));
    assert!(named.len() > 50, "only {} dependencies were found", named.len());
    assert!(unused.is_empty(), "named in a manifest and used by nobody:\n{}", unused.join("\n"));
}

/// True if a source has an example in its documentation that the test tool would compile.
fn has_example(source: &str) -> bool {
    let mut open = false;
    let fences = source.lines().filter_map(|line| {
        let line = line.trim_start();
        line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?.trim_start().strip_prefix("```")
    });
    fences.into_iter().any(|kind| {
        open = !open;
        open && kind
            .split(',')
            .any(|word| ["", "rust", "no_run", "should_panic", "compile_fail"].contains(&word.trim()))
    })
}

/// A library without unit tests or examples is not compiled again for them, and one that has some runs them.
#[test]
fn libraries_are_compiled_for_the_tests_that_they_have() {
    for (folder, manifest) in manifests() {
        let library = manifest.split_once("\n[lib]\n").map_or("", |(_, rest)| rest.split("\n[").next().unwrap_or(""));
        let sources: Vec<String> = walk::files(&folder.join("src"), &["rs"])
            .iter()
            .map(|file| std::fs::read_to_string(file).unwrap())
            .collect();
        let tests = sources.iter().any(|source| source.contains("#[cfg(test)]"));
        // A library that C or Python loads cannot be linked into tests of its own.
        let loaded = library.contains("cdylib");
        for (word, has) in [("test", tests), ("doctest", sources.iter().any(|source| has_example(source)))] {
            let off = library.lines().any(|line| line == format!("{word} = false"));
            assert!(off != has || loaded, "{}: `[lib]` needs `{word} = {has}`", folder.display());
        }
    }
}

/// Only one version of each crate is built. Duplicates caused by other crates are listed here.
#[test]
fn dependencies_have_one_version() {
    // `proptest` has a random number generator of its own; `logos` generates code with the older `syn`, `prost` with the older
    // `itertools`; the parser of Python has a newer `compact_str` than `ratatui`, which has a newer `strum` than a test's types of
    // SARIF.
    const TWICE: [&str; 8] =
        ["compact_str", "getrandom", "itertools", "rand", "rand_core", "strum", "strum_macros", "syn"];
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let mut names: Vec<&str> = lock.lines().filter_map(|line| line.strip_prefix("name = ")).collect();
    assert!(names.len() > 50);
    names.sort_unstable();
    let twice: Vec<&str> =
        names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0].trim_matches('"')).collect();
    let new: Vec<&&str> = twice.iter().filter(|name| !TWICE.contains(name)).collect();
    assert!(new.is_empty(), "built in two versions: {new:?}");
}

/// Every crate has the metadata that a registry requires, and inherits the common part.
#[test]
fn crates_can_be_published() {
    for (folder, manifest) in manifests() {
        for field in ["version", "edition", "license", "rust-version", "keywords", "categories"] {
            let line = format!("\n{field}.workspace = true\n");
            assert!(manifest.contains(&line), "{}: {field} is not inherited", folder.display());
        }
        assert!(manifest.contains("\ndescription = \""), "{}: no description", folder.display());
        let outside = walk::files(&folder.join("src"), &["rs"]).into_iter().find(|file| {
            let text = std::fs::read_to_string(file).unwrap();
            let text = text.split("mod tests {").next().unwrap_or_default();
            let up = |part: &str| part.matches("../").count();
            let depth = file.strip_prefix(&folder).unwrap().components().count() - 1;
            !file.ends_with("tests.rs")
                && text
                    .split("include_str!(\"")
                    .skip(1)
                    .any(|part| up(part.split('"').next().unwrap_or_default()) > depth)
        });
        assert_eq!(outside, None, "a file outside of the crate is built into it");
    }
    let workspace = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let paths = workspace.lines().filter(|line| line.contains("path = "));
    let without: Vec<&str> = paths.filter(|line| !line.contains("version = ")).collect();
    assert!(without.is_empty(), "without a version nothing that needs them can be published: {without:?}");
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let needs = workspace.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap().trim_matches('"');
    assert!(readme.contains(&format!("Rust toolchain ({needs} or later)")), "the README does not say {needs}");
}
