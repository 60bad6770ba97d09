//! The text of the declared ops: a parsed file prints to a text that parses to the same module.
//!
//! The files are the examples of this repository and, on request, those below the folder `SLIPRING_CORPUS`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use slipring_dialects::Dialects;
use slipring_ir::text::{check_schema, parse, print};
use slipring_ir::{Source, difference};

#[test]
fn every_declaration_can_be_read_and_printed() {
    for def in Dialects::get().all() {
        assert_eq!(check_schema(&def.schema), Ok(()), "{}", def.schema.name);
    }
}

#[test]
fn builtin_dialects_in_every_form() {
    let registry = &Dialects::get().registry;
    let (module, diags) = parse(Arc::new(Source::new("forms.pto", include_str!("forms.pto"))), registry);
    assert!(diags.list.is_empty(), "{}", diags.render(&module.source, false));
    let printed = print(&module);
    let (again, diags) = parse(Arc::new(Source::new("again.pto", printed.clone())), registry);
    assert!(diags.list.is_empty(), "{}", diags.render(&again.source, false));
    assert_eq!(difference(&module, &again), None, "{printed}");
    assert_eq!(print(&again), printed);
}

/// All examples can be parsed; the file tests have their own round-trip test.
#[test]
fn examples_read_back_as_they_were_printed() {
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"), &mut files);
    assert!(files.len() > 15, "only {} examples", files.len());
    let unread: Vec<String> = files.iter().filter_map(|file| reads_back(file).err()).collect();
    assert!(unread.is_empty(), "{}", unread.join("\n"));
}

/// Every public file is either accepted or rejected; the accepted ones are tested for a round trip.
#[test]
#[ignore = "needs a folder of public files: SLIPRING_CORPUS"]
fn public_files_read_back_as_they_were_printed() {
    let mut files = Vec::new();
    collect(Path::new(&std::env::var_os("SLIPRING_CORPUS").expect("SLIPRING_CORPUS names a folder")), &mut files);
    let unread: Vec<String> = files.iter().filter_map(|file| reads_back(file).err()).collect();
    println!("{} files, {} of them not read:\n{}", files.len(), unread.len(), unread.join("\n"));
    assert!(files.len() > 2 * unread.len(), "most files of a corpus can be read");
}

/// Parses, prints and parses again; returns the reason if the file is rejected.
fn reads_back(file: &Path) -> Result<(), String> {
    let registry = &Dialects::get().registry;
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
    let (module, diags) = parse(Arc::new(Source::new(name.clone(), text)), registry);
    if diags.has_errors() {
        return Err(diags.render(&module.source, false));
    }
    let printed = print(&module);
    let (again, diags) = parse(Arc::new(Source::new(name.clone(), printed.clone())), registry);
    assert!(!diags.has_errors(), "{name}: {}\n{printed}", diags.render(&again.source, false));
    assert_eq!(difference(&module, &again), None, "{name}\n{printed}");
    assert_eq!(print(&again), printed, "{name}");
    Ok(())
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for path in entries.flatten().map(|e| e.path()) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "pto") {
            files.push(path);
        }
    }
}
