//! The text of the declared ops: what is read of a file is printed and read back as the same.
//!
//! The files are the examples of this repository, the tests of synchronisation, DMA and the matrix unit (which
//! have many spellings) and those under the directory that `SLIPRING_CORPUS` names.

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

#[test]
fn files_read_back_as_they_were_printed() {
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"), &mut files);
    if let Some(dir) = std::env::var_os("SLIPRING_CORPUS") {
        collect(Path::new(&dir), &mut files);
    }
    files.sort();
    for folder in ["sync", "ops/micro-cube", "ops/micro-dma"] {
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files").join(folder), &mut files);
    }
    let registry = &Dialects::get().registry;
    let mut unread = 0;
    for file in &files {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        let name = file.display().to_string();
        let (module, diags) = parse(Arc::new(Source::new(name.clone(), text)), registry);
        if diags.has_errors() {
            unread += 1;
            println!("{}", diags.render(&module.source, false));
            continue;
        }
        let printed = print(&module);
        let (again, diags) = parse(Arc::new(Source::new(name.clone(), printed.clone())), registry);
        assert!(!diags.has_errors(), "{name}: {}\n{printed}", diags.render(&again.source, false));
        assert_eq!(difference(&module, &again), None, "{name}\n{printed}");
        assert_eq!(print(&again), printed, "{name}");
    }
    println!("{} files, {unread} of them not read", files.len());
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
