//! `slipring build`: run the passes and print.

use std::path::Path;
use std::time::Instant;

use clap::Args;
use slipring_ir::{Module, Severity, Source, difference_but_for_names};
use slipring_op::target::Target;
use slipring_passes::{Pass, PassContext, pipeline, verify_after};
use slipring_pto::targets::{TARGETS, target};
use slipring_report::{memory_svg, memory_text};

use super::asked::ShapeArgs;
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
    /// Print to standard error how long each pass took
    #[arg(long)]
    time_passes: bool,
    /// Check the program against the declarations after each pass, and stop where a pass broke it
    #[arg(long)]
    verify_passes: bool,
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
    /// Print for another tool: what it takes, spelt as it reads it, or the reason why not
    #[arg(long = "for", value_name = "TARGET", conflicts_with = "passes")]
    target: Option<String>,
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
    let target = match args.target.as_deref().map(find_target).transpose() {
        Ok(target) => target,
        Err(message) => return fail(message),
    };
    let opened = match args.file.as_deref().map(|file| open(file, &args.platform, &args.shapes)) {
        Some(Ok(opened)) => opened,
        Some(Err(message)) => return fail(message),
        None => return fail("no file given"),
    };
    let Opened { mut module, mut platform, mut diags, kernels } = opened;
    if let Some(target) = target.filter(|_| !diags.has_errors()) {
        platform = slipring_passes::target::platform_for(target, &platform);
        slipring_passes::target::before(&mut module, target, &platform, &mut diags);
    }
    let whole = args.passes.is_empty();
    if !diags.has_errors() {
        let context = PassContext { platform: &platform };
        let shown = |name: &str| args.print_ir_after.iter().any(|n| n == name || n == "all");
        let print = |name: &str, module: &Module| {
            if shown(name) {
                out_beside(&format!("// ---- after {name}\n{}\n", slipring_ir::text::print(module)));
            }
        };
        let asked = |pass: &&Pass| whole || args.passes.iter().any(|name| name == pass.name);
        for pass in pipeline().iter().filter(asked) {
            let start = Instant::now();
            (pass.run)(&mut module, &context, &mut diags);
            if args.time_passes {
                out_beside(&format!("{:16} {:9.3} ms\n", pass.name, start.elapsed().as_secs_f64() * 1e3));
            }
            print(pass.name, &module);
            if args.verify_passes && !diags.has_errors() {
                diags.list.extend(verify_after(pass, &module, slipring_dialects::Dialects::get(), &platform).list);
            }
            if diags.has_errors() {
                break;
            }
        }
    }
    // With single passes alone the program may be one that the others complete.
    if whole && !diags.has_errors() {
        let judged = slipring::judge(&module, std::slice::from_ref(&platform));
        let errors = slipring::merged(&judged)
            .list
            .into_iter()
            .filter(|d| d.severity == Severity::Error && !slipring::is_finding(d));
        diags.list.extend(errors);
    }
    let head = slipring::head_lines(&module, &kernels, &platform);
    if let Some(target) = target.filter(|_| !diags.has_errors()) {
        slipring_passes::target::after(&mut module, target, &platform, &mut diags);
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
    let program = match target {
        Some(target) => slipring_ir::text::print_in(&module, target.spelling),
        None => slipring_ir::text::print(&module),
    };
    let text = head + &program;
    if let Err(message) = reads_back(&text, &module) {
        return fail(message);
    }
    match write_file(args.output.as_deref().unwrap_or("-"), &[text.as_bytes()]) {
        Ok(()) => Exit::Clean,
        Err(message) => fail(message),
    }
}

/// The target of a name.
///
/// # Errors
/// The names that there are.
fn find_target(name: &str) -> Result<&'static Target, String> {
    target(name).ok_or_else(|| {
        let names: Vec<_> = TARGETS.iter().map(|target| format!("`{}`", target.name)).collect();
        format!("there is no target `{name}`; the targets are {}", names.join(", "))
    })
}

/// Reads what will be written: what was judged is the program that the text says.
///
/// # Errors
/// What the text says otherwise: slipring is at fault, and the author's own text has no place for it.
fn reads_back(text: &str, built: &Module) -> Result<(), String> {
    let (module, diags) = slipring::load(Source::new("output", text));
    let error = diags.list.iter().find(|d| d.severity == Severity::Error);
    let other = match error {
        Some(error) => Some(format!("{} ({})", error.message, error.code)),
        None => difference_but_for_names(built, &module),
    };
    other.map_or(Ok(()), |other| {
        Err(format!("the text of the built program does not say what was built: {other}; please report the input"))
    })
}
