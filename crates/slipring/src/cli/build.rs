//! `slipring build`: run the passes and print.

use std::path::Path;

use clap::Args;
use slipring::launch_lines;
use slipring_dialects::rules::counted;
use slipring_ir::{Severity, Source};
use slipring_machine::Platform;
use slipring_passes::{Outcome, PassContext, pipeline, run_passes};
use slipring_report::{memory_svg, memory_text};

use super::asked::ShapeArgs;
use super::check::{check_all, rings};
use super::output::{fail, out, out_beside, report, write_file};
use super::{Exit, Opened, PlatformArgs, open};

/// Arguments of `build`.
#[derive(Args)]
pub(super) struct BuildArgs {
    /// The file; `-` is standard input
    #[arg(required_unless_present = "list_passes")]
    file: Option<String>,
    /// Where the program goes; standard output by default
    #[arg(short, long, value_name = "OUT")]
    output: Option<String>,
    #[command(flatten)]
    platform: PlatformArgs,
    /// Also print the program after this pass, or after `all`, to standard error
    #[arg(long, value_name = "PASS")]
    print_ir_after: Vec<String>,
    /// Run only these passes
    #[arg(long = "pass", value_name = "PASS")]
    passes: Vec<String>,
    /// What lies where in local memory: a picture if OUT ends in .svg, else a table; on standard output if no OUT is
    /// given. The program itself is then written only with `-o`
    #[arg(long, value_name = "OUT", num_args = 0..=1, default_missing_value = "-")]
    memory_map: Option<String>,
    /// List the passes
    #[arg(long)]
    list_passes: bool,
    #[command(flatten)]
    shapes: ShapeArgs,
}

/// Runs the passes and writes the program, whole or not at all.
pub(super) fn build(args: &BuildArgs) -> Exit {
    if args.list_passes {
        for pass in pipeline() {
            out(&format!("{:16} {}\n", pass.name, pass.summary));
        }
        return Exit::Clean;
    }
    for name in args.print_ir_after.iter().filter(|n| *n != "all").chain(&args.passes) {
        if slipring_passes::pass(name).is_none() {
            let names: Vec<_> = pipeline().iter().map(|p| p.name).collect();
            return fail(format!("there is no pass `{name}`; the passes are {}", names.join(", ")));
        }
    }
    let opened = match args.file.as_deref().map(|file| open(file, &args.platform, &args.shapes)) {
        Some(Ok(opened)) => opened,
        Some(Err(message)) => return fail(message),
        None => return fail("no file given"),
    };
    let Opened { mut module, platform, mut diags, kernels } = opened;
    rings(&module, &platform, &mut diags);
    if !diags.has_errors() {
        let context = PassContext { platform: &platform };
        let shown = |name: &str| args.print_ir_after.iter().any(|n| n == name || n == "all");
        let print = |name: &str, module: &slipring_ir::Module| {
            if shown(name) {
                out_beside(&format!("// ---- after {name}\n{}\n", slipring_ir::text::print(module)));
            }
        };
        if args.passes.is_empty() {
            let outcome = run_passes(&mut module, &context, None, &mut diags, |pass, module| print(pass.name, module));
            debug_assert!(outcome == Outcome::Done || diags.has_errors());
        } else {
            for pass in pipeline().iter().filter(|p| args.passes.iter().any(|n| n == p.name)) {
                (pass.run)(&mut module, &context, &mut diags);
                print(pass.name, &module);
                if diags.has_errors() {
                    break;
                }
            }
        }
    }
    report(&diags, &module.source);
    if diags.has_errors() {
        return Exit::BadInput;
    }
    if let Some(path) = &args.memory_map {
        let memories = slipring::memory_map(&module, &platform);
        let picture = Path::new(path).extension().is_some_and(|e| e.eq_ignore_ascii_case("svg"));
        let text = if picture { memory_svg(&memories) } else { memory_text(&memories) };
        if let Err(message) = write_file(path, &[text.as_bytes()]) {
            return fail(message);
        }
        if args.output.is_none() {
            return Exit::Clean;
        }
    }
    let buffers = slipring::consumer_buffers(&module, &platform);
    let symbols: String = buffers.iter().map(|buffer| format!("// {}\n", buffer.line())).collect();
    let text = launch_lines(&module, &kernels) + &symbols + &slipring_ir::text::print(&module);
    // With single passes alone the program may be one that the others complete.
    if args.passes.is_empty()
        && let Err(message) = judge(&text, &platform)
    {
        return fail(message);
    }
    match write_file(args.output.as_deref().unwrap_or("-"), &[text.as_bytes()]) {
        Ok(()) => Exit::Clean,
        Err(message) => fail(message),
    }
}

/// Reads what will be written, as `check` would.
///
/// # Errors
/// What is wrong with it, as one message: the author's own text has no place for it.
fn judge(text: &str, platform: &Platform) -> Result<(), String> {
    let (module, mut diags) = slipring::load(Source::new("output", text));
    check_all(&module, platform, &mut diags);
    let mut errors = diags.list.iter().filter(|d| d.severity == Severity::Error);
    let Some(first) = errors.next() else { return Ok(()) };
    let line = first.primary.as_ref().map(|place| module.source.line_column(place.span.start).0);
    let line = line.and_then(|line| text.lines().nth(line.saturating_sub(1)));
    let shown = line.map_or(String::new(), |line| format!("\n  in `{}`", line.trim()));
    let more = match errors.count() {
        0 => String::new(),
        n => format!("\n  and {} like it", counted(n, "more error")),
    };
    Err(format!("the built program is not one that `check` accepts: {} ({}){shown}{more}", first.message, first.code))
}
