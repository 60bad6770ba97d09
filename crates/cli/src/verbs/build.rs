//! `slipring build`: run the passes and print.

use std::path::{Path, PathBuf};

use clap::Args;
use slipring::{BuildOptions, BuiltProgram, PassStage};
use slipring_ir::Module;
use slipring_passes::{Pass, chosen, pass};
use slipring_report::{memory_svg, memory_text};

use super::asked::ShapeArgs;
use super::exit::Exit;
use super::kernel::LaunchArgs;
use super::opened::open;
use super::output::{fail, out_beside, report, write_file};
use super::passes::{list_passes, unknown_pass};
use super::platform::PlatformArgs;
use super::project;

// Arguments of `build`.
#[derive(Args)]
pub(super) struct BuildArgs {
    /// Input file, or `-` for standard input
    #[arg(required_unless_present = "list_passes")]
    pub file: Option<String>,
    /// Output file. Defaults to standard output
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<String>,
    #[command(flatten)]
    pub platform: PlatformArgs,
    /// Also print the program to standard error after this pass, or after `all` passes
    #[arg(long, value_name = "PASS")]
    print_ir_after: Vec<String>,
    /// Print the time of each pass to standard error
    #[arg(long)]
    time_passes: bool,
    /// Verify the program after each pass, and stop at the first pass that breaks it
    #[arg(long)]
    verify_passes: bool,
    /// Run only these passes, in this order
    #[arg(long = "pass", value_name = "PASS")]
    passes: Vec<String>,
    /// Print the layout of local memory: a picture if OUT ends in .svg, else a table. Defaults to standard output; the
    /// program itself is then written only with `-o`
    #[arg(long, value_name = "OUT", num_args = 0..=1, default_missing_value = "-")]
    pub memory_map: Option<String>,
    /// List the passes
    #[arg(long)]
    list_passes: bool,
    /// Print for another tool, in the spelling it reads, or say why it cannot take the program
    #[arg(long = "for", value_name = "TARGET", conflicts_with = "passes")]
    pub target: Option<String>,
    /// Write a folder for a launch on a board: kernel, host program, inputs, expected outputs and a script that
    /// compares. For ptoas-0.27 unless `--for` names another tool
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "memory_map", "passes", "print_ir_after", "time_passes", "verify_passes", "list_passes"])]
    pub project: Option<PathBuf>,
    /// With `--project`: the assembler; by default `ptoas` of $PTOAS_ROOT or of PATH
    #[arg(long, value_name = "BINARY", requires = "project")]
    pub ptoas: Option<PathBuf>,
    #[command(flatten)]
    pub launch: LaunchArgs,
    /// Add flags to functions that have none, even if other functions of the file synchronise by hand. In a file
    /// without any synchronisation they are always added
    #[arg(long)]
    pub insert_sync: bool,
    #[command(flatten)]
    pub shapes: ShapeArgs,
}

/// Runs the passes and writes the program; on an error nothing is written.
pub(super) fn build(args: &BuildArgs) -> Exit {
    if args.list_passes {
        return list_passes();
    }
    if let (Some(folder), Some(file)) = (&args.project, &args.file) {
        let kernel = args.launch.kernel(file, &args.platform, &args.shapes, args.insert_sync);
        return project::write(&kernel, args.target.as_deref(), args.ptoas.as_deref(), folder);
    }
    let mut named = args.print_ir_after.iter().filter(|n| *n != "all").chain(&args.passes);
    if let Some(message) = named.find_map(|name| unknown_pass(name)) {
        return fail(message);
    }
    let run = chosen(&args.passes, None);
    let runs = |name: &String| pass(name).is_some_and(|pass| run.iter().any(|one| one.name == pass.name));
    if let Some(name) = args.print_ir_after.iter().find(|name| *name != "all" && !runs(name)) {
        return fail(format!("`{name}` is not among the passes that run"));
    }
    let target = match args.target.as_deref().map(slipring::find_target).transpose() {
        Ok(target) => target,
        Err(message) => return fail(message),
    };
    let opened = match args.file.as_deref().map(|file| open(file, &args.platform, &args.shapes)) {
        Some(Ok(opened)) => opened,
        Some(Err(message)) => return fail(message),
        None => return fail("no file given"),
    };
    let shown = |own: &Pass| {
        let is = |name: &str| slipring_passes::pass(name).is_some_and(|pass| pass.name == own.name);
        args.print_ir_after.iter().any(|name| name == "all" || is(name))
    };
    let watch = |stage: PassStage, pass: &Pass, module: &Module| {
        let PassStage::After(time) = stage else { return };
        if args.time_passes {
            out_beside(&format!("{:16} {:9.3} ms\n", pass.name, time.as_secs_f64() * 1e3));
        }
        if shown(pass) {
            out_beside(&format!("// ---- after {}\n{}\n", pass.name, slipring_ir::text::print(module)));
        }
    };
    let options = BuildOptions {
        target,
        passes: &args.passes,
        last: None,
        verify: args.verify_passes,
        insert_sync: args.insert_sync,
    };
    let built = slipring::build(opened, options, watch);
    let BuiltProgram { module, platform, diags, .. } = &built;
    report(diags, &module.source);
    if diags.has_errors() {
        return Exit::BadInput;
    }
    if let Some(path) = &args.memory_map {
        let memories = slipring::memory_map(module, platform);
        let picture = Path::new(path).extension().is_some_and(|e| e.eq_ignore_ascii_case("svg"));
        let text = if picture { memory_svg(&memories) } else { memory_text(&memories) };
        if let Err(message) = write_file(path, &[text.as_bytes()]) {
            return fail(message);
        }
        if args.output.is_none() {
            return Exit::Clean;
        }
    }
    let text = match built.text() {
        Ok(text) => text,
        Err(message) => return fail(message),
    };
    match write_file(args.output.as_deref().unwrap_or("-"), &[text.as_bytes()]) {
        Ok(()) => Exit::Clean,
        Err(message) => fail(message),
    }
}
