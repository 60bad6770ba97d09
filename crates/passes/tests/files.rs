//! A file is a test: `tests/files/passes/**/*.pto`.
//!
//! ```text
//! // run: resolve-rings allocate     passes in order; `all` for the whole pipeline
//! // arch: a2a3                      a5 by default
//! …the module…
//! // ---
//! // what comes out: diagnostics, then the module unless one is an error; each line after `// `
//! ```
//!
//! `SLIPRING_BLESS=1 cargo test -p slipring-passes` rewrites the expected output. Independently of it, assigned
//! addresses and flags must pass their own checks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use slipring_dialects::Dialects;
use slipring_ir::text::{parse, print};
use slipring_ir::{Diags, Source};
use slipring_passes::memory::allocate;
use slipring_passes::sync::insert_sync;
use slipring_passes::{InsertSync, Pass, PassContext, by_name, pass, pipeline, verify_after};

const MARK: &str = "// ---\n";

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files/passes");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let trials = files.into_iter().map(|file| {
        let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        Trial::test(name, move || check(&file))
    });
    let trials: Vec<Trial> = trials.collect();
    assert!(!trials.is_empty(), "no files under {}", root.display());
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "pto") {
            files.push(path);
        }
    }
}

fn check(file: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(file)?;
    let (input, expected) = match text.split_once(MARK) {
        Some((input, expected)) => (input, expected),
        None => (text.as_str(), ""),
    };
    let output = run(input, file)?;
    let commented: String =
        output.lines().map(|l| if l.is_empty() { "//\n".to_string() } else { format!("// {l}\n") }).collect();
    if commented == expected {
        return Ok(());
    }
    if std::env::var_os("SLIPRING_BLESS").is_some() {
        std::fs::write(file, format!("{input}{MARK}{commented}"))?;
        return Ok(());
    }
    Err(format!("expected:\n{expected}\nfound:\n{commented}").into())
}

/// The value of `// key: value` in the head of a file.
fn option<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let head = text.lines().take_while(|l| l.starts_with("//"));
    head.filter_map(|l| l.strip_prefix("// ")?.strip_prefix(key)?.strip_prefix(':')).next().map(str::trim)
}

/// Rejects a head with unknown options.
fn known_options(text: &str) -> Result<(), Failed> {
    let head = text.lines().take_while(|l| l.starts_with("//"));
    for (name, _) in head.filter_map(|l| l.strip_prefix("//")?.trim().split_once(':')) {
        let option = name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        if option && !["run", "arch"].contains(&name) {
            return Err(format!("`{name}:` is neither `run:` nor `arch:`").into());
        }
    }
    Ok(())
}

fn run(input: &str, file: &Path) -> Result<String, Failed> {
    known_options(input)?;
    let passes: Vec<&str> = option(input, "run").ok_or("no `// run:` line")?.split_whitespace().collect();
    let platform = slipring_machine::built_in(option(input, "arch").unwrap_or("a5"))?;
    let context = PassContext { insert_sync: InsertSync::Asked, ..PassContext::of(&platform) };
    let name = file.file_name().map_or("test.pto".into(), |n| n.to_string_lossy().into_owned());
    let source = Arc::new(Source::new(name, input));
    let (mut module, mut diags) = parse(source.clone(), &Dialects::get().registry);
    if diags.has_errors() {
        return Err(diags.render(&source, false).into());
    }
    slipring_op::verify(Dialects::get(), &module, &platform, &mut diags);
    let chosen = chosen(&passes);
    if let Some(unknown) = passes.iter().find(|p| **p != "all" && pass(p).is_none()) {
        return Err(format!("there is no pass `{unknown}`").into());
    }
    for pass in chosen {
        if diags.has_errors() {
            break;
        }
        (pass.run)(&mut module, &context, &mut diags);
        if !diags.has_errors() {
            let broken = verify_after(pass, &module, Dialects::get(), &platform);
            if broken.has_errors() {
                return Err((broken.render(&source, false) + &print(&module)).into());
            }
            independent_checks(pass.name, &module, &context)?;
        }
    }
    let failed = diags.has_errors();
    let mut output = diags.render(&source, false);
    if !failed {
        let text = print(&module);
        let again = rerun(&text, &passes, &context)?;
        if again != text {
            return Err(format!("not the same when run again:\n{again}").into());
        }
        output += &text;
    }
    Ok(output)
}

/// The passes of a `run` line: `all` means those of the pipeline.
fn chosen<'p>(passes: &'p [&str]) -> impl Iterator<Item = &'static Pass> + 'p {
    let all = passes.contains(&"all");
    let whole = pipeline().iter().filter(move |p| all || passes.contains(&p.name));
    whole.chain(by_name().iter().filter(|p| passes.contains(&p.name)))
}

fn independent_checks(pass: &str, module: &slipring_ir::Module, context: &PassContext<'_>) -> Result<(), Failed> {
    if pass == allocate::PASS.name {
        let clashes = allocate::check::clashes(module, context.platform);
        if !clashes.is_empty() {
            return Err(format!("addresses clash: {clashes:?}\n{}", print(module)).into());
        }
    }
    if pass == insert_sync::PASS.name {
        let problems = insert_sync::problems(module, context.platform);
        if !problems.is_empty() {
            return Err(format!("flags are wrong: {problems:?}\n{}", print(module)).into());
        }
    }
    Ok(())
}

/// Runs the same passes on their own output.
fn rerun(text: &str, passes: &[&str], context: &PassContext<'_>) -> Result<String, Failed> {
    let source = Arc::new(Source::new("again.pto", text));
    let (mut module, mut diags) = parse(source.clone(), &Dialects::get().registry);
    for pass in chosen(passes) {
        if !diags.has_errors() {
            (pass.run)(&mut module, context, &mut diags);
        }
    }
    let diags = Diags { list: diags.list.into_iter().filter(|d| d.severity == slipring_ir::Severity::Error).collect() };
    if diags.has_errors() { Err((diags.render(&source, false) + text).into()) } else { Ok(print(&module)) }
}
