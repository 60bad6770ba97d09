//! `slipring opt`: single passes on a text, and the result of each.

use clap::Args;
use slipring::{BuildOptions, PassStage};
use slipring_ir::Module;
use slipring_ir::text::print;
use slipring_passes::{Pass, chosen, pass};

use super::asked::ShapeArgs;
use super::exit::Exit;
use super::opened::open;
use super::output::{fail, out_beside, report, write_file};
use super::passes::{list_passes, unknown_pass};
use super::platform::PlatformArgs;

// Arguments of `opt`.
#[derive(Args)]
pub(super) struct OptArgs {
    /// Input file, or `-` for standard input
    #[arg(required_unless_present = "list_passes")]
    pub file: Option<String>,
    /// Output file. Defaults to standard output
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<String>,
    #[command(flatten)]
    pub platform: PlatformArgs,
    /// Run these passes, in this order. Defaults to all of `slipring build`
    #[arg(long, visible_alias = "pass", value_name = "PASSES", value_delimiter = ',')]
    passes: Vec<String>,
    /// Stop after this pass. One that `slipring build` leaves out runs after all others
    #[arg(long, value_name = "PASS")]
    stop_after: Option<String>,
    /// Print the program before these passes, or before `all`, to standard error
    #[arg(long, value_name = "PASSES", value_delimiter = ',')]
    print_before: Vec<String>,
    /// Print the program after these passes, or after `all`, to standard error
    #[arg(long, value_name = "PASSES", value_delimiter = ',')]
    print_after: Vec<String>,
    /// Print the program to standard error after each pass that changed it, and name those that did not
    #[arg(long)]
    print_changed: bool,
    /// Omit source locations, `loc(…)`
    #[arg(long)]
    no_loc: bool,
    /// Verify the program after each pass, and stop at the first pass that breaks it
    #[arg(long)]
    verify_passes: bool,
    /// List the passes and their aliases
    #[arg(long)]
    list_passes: bool,
    #[command(flatten)]
    shapes: ShapeArgs,
}

/// Runs passes and writes the program; on an error nothing is written.
pub(super) fn opt(args: &OptArgs) -> Exit {
    if args.list_passes {
        return list_passes();
    }
    let named = args.passes.iter().chain(&args.stop_after);
    let shown = args.print_before.iter().chain(&args.print_after).filter(|name| *name != "all");
    if let Some(message) = named.chain(shown).find_map(|name| unknown_pass(name)) {
        return fail(message);
    }
    let run = chosen(&args.passes, args.stop_after.as_deref());
    let runs = |name: &String| pass(name).is_some_and(|pass| run.iter().any(|one| one.name == pass.name));
    let shown = args.print_before.iter().chain(&args.print_after).filter(|name| *name != "all");
    if let Some(name) = args.stop_after.iter().chain(shown).find(|name| !runs(name)) {
        let reason = "is not among the passes that run: `--passes` and `--stop-after` choose them";
        return fail(format!("`{name}` {reason}"));
    }
    let opened = match args.file.as_deref().map(|file| open(file, &args.platform, &args.shapes)) {
        Some(Ok(opened)) => opened,
        Some(Err(message)) => return fail(message),
        None => return fail("no file given"),
    };
    let asked = |list: &[String], own: &Pass| {
        list.iter().any(|name| name == "all" || pass(name).is_some_and(|named| named.name == own.name))
    };
    let text = |module: &Module| if args.no_loc { print(&module.without_places()) } else { print(module) };
    let mut before = String::new();
    let watch = |stage: PassStage, own: &Pass, module: &Module| match stage {
        PassStage::Before => {
            if asked(&args.print_before, own) {
                out_beside(&format!("// ---- before {}\n{}\n", own.name, text(module)));
            }
            if args.print_changed {
                before = text(module);
            }
        }
        PassStage::After(_) => {
            let changed = args.print_changed && before != text(module);
            if changed || asked(&args.print_after, own) {
                out_beside(&format!("// ---- after {}\n{}\n", own.name, text(module)));
            } else if args.print_changed {
                out_beside(&format!("// ---- {} changes nothing\n", own.name));
            }
        }
    };
    let options = BuildOptions {
        passes: &args.passes,
        last: args.stop_after.as_deref(),
        verify: args.verify_passes,
        ..BuildOptions::default()
    };
    let mut built = slipring::build(opened, options, watch);
    report(&built.diags, &built.module.source);
    if built.diags.has_errors() {
        return Exit::BadInput;
    }
    if args.no_loc {
        built.module = built.module.without_places();
    }
    let written = built.text().and_then(|text| write_file(args.output.as_deref().unwrap_or("-"), &[text.as_bytes()]));
    match written {
        Ok(()) => Exit::Clean,
        Err(message) => fail(message),
    }
}
