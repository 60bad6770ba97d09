//! Runs the passes on files and judges what they did by the independent checks.
//!
//! `cargo run --release -p slipring-passes --example audit -- a5 FILE…` prints a line a file: signals, barriers and time.

use std::sync::Arc;
use std::time::Instant;

use slipring_dialects::Dialects;
use slipring_ir::text::parse;
use slipring_ir::{Diags, Module, Source};
use slipring_op::InCoreSync;
use slipring_passes::analysis::facts::Functions;
use slipring_passes::analysis::roots::{Address, Roots};
use slipring_passes::memory::allocate;
use slipring_passes::sync::insert_sync;
use slipring_passes::{PassContext, run_passes};

fn main() {
    let mut args = std::env::args().skip(1);
    let arch = args.next().unwrap_or_default();
    let platform = match slipring_machine::built_in(&arch) {
        Ok(platform) => platform,
        Err(error) => return eprintln!("{error}"),
    };
    let mut bad = 0;
    for file in args {
        match audit(&file, &platform) {
            Ok(line) => println!("{file}: {line}"),
            Err(error) => {
                bad += 1;
                println!("{file}: {error}");
            }
        }
    }
    println!("{bad} with mistakes");
}

fn audit(file: &str, platform: &slipring_machine::Platform) -> Result<String, String> {
    let text = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
    let (mut module, mut diags) = parse(Arc::new(Source::new(file, text)), &Dialects::get().registry);
    if diags.has_errors() {
        return Ok("not readable".into());
    }
    let by_hand = flags(&module, |_| true);
    let placed_by_hand = roots_with_address(&module);
    let start = Instant::now();
    run_passes(&mut module, &PassContext::of(platform), None, &mut diags, |_, _| {});
    let time = start.elapsed();
    if diags.has_errors() {
        return Ok(format!("refused: {}", first_error(&diags)));
    }
    let clashes = allocate::check::clashes(&module, platform);
    if !clashes.is_empty() && placed_by_hand == 0 {
        return Err(format!("addresses: {clashes:?}"));
    }
    let problems = insert_sync::problems(&module, platform);
    if !problems.is_empty() && by_hand == 0 {
        return Err(format!("flags: {problems:?}"));
    }
    let (signals, barriers) = (flags(&module, |n| n.ends_with("set_flag")), flags(&module, |n| n.ends_with("barrier")));
    let hand = if by_hand > 0 { ", some by hand" } else { "" };
    Ok(format!("{signals} signals, {barriers} barriers{hand}, {time:.1?}"))
}

/// Buffers whose address is in the text: what they overlap is the author's business.
fn roots_with_address(module: &Module) -> usize {
    let roots = Roots::of(module, &Functions::of(module));
    roots.roots.iter().filter(|root| matches!(root.address, Address::At(_))).count()
}

fn flags(module: &Module, wanted: fn(&str) -> bool) -> usize {
    let manual = |name: &str| Dialects::get().def(name).is_some_and(|d| d.in_core_sync == InCoreSync::Manual);
    let ops = module.walk(module.top);
    ops.iter().map(|op| &*module.op(*op).name).filter(|name| manual(name) && wanted(name)).count()
}

fn first_error(diags: &Diags) -> String {
    diags.list.iter().find(|d| d.severity == slipring_ir::Severity::Error).map_or(String::new(), |d| d.message.clone())
}
