//! `slipring debug`: a run, forwards and backwards.

use std::io::{BufRead, IsTerminal};

use clap::Args;
use slipring::{Error, Tensor};
use slipring_debug::Session;

use super::exit::Exit;
use super::flags::{Flags, OfDebugger};
use super::kernel::KernelArgs;
use super::output::{out, refused, report_all};

// Arguments of `debug`.
#[derive(Args)]
pub(super) struct DebugArgs {
    #[command(flatten)]
    pub(super) kernel: KernelArgs,
    #[command(flatten)]
    pub(super) flags: Flags<OfDebugger>,
    /// Execute this command first. May be repeated: `-x 'finding 1' -x where`
    #[arg(short = 'x', long = "word", value_name = "WORDS")]
    words: Vec<String>,
    /// Full-screen view: source, cores and pipes, rings, waits and memory, with keys that step both ways
    #[arg(long)]
    view: bool,
}

/// Runs a kernel, and steps through the run by the commands on standard input.
pub(super) fn debug(args: &DebugArgs) -> Exit {
    match start(args) {
        Ok(()) => Exit::Clean,
        Err(error) => refused(&error, false),
    }
}

fn start(args: &DebugArgs) -> Result<(), Error> {
    if args.kernel.file == "-" {
        return Err(Error::Arguments("`debug` reads commands from standard input, so it needs a file".into()));
    }
    let subject = args.kernel.subject()?;
    if args.kernel.program_of(&subject)?.is_some() {
        let message = "`debug` is for kernels, and this is a whole program: name a kernel with `--func`";
        return Err(Error::Unsupported(message.into()));
    }
    let kernel = args.kernel.kernel_of(&subject)?;
    report_all(&kernel.compile()?);
    let request = args.kernel.request_with(&args.flags)?;
    let options = Session::options(request.run);
    let tensors: Vec<Tensor<'_>> = args.kernel.arguments(&kernel)?;
    let run = kernel.run_with(tensors, &options)?.into_owned();
    let mut session = Session::start(run, options);
    if args.view {
        return crate::view::view(&mut session, &args.kernel.file, &args.words).map_err(Error::Arguments);
    }
    let asked = std::io::stdin().is_terminal();
    out(&session.title());
    for word in &args.words {
        out(&format!("> {word}\n"));
        let Some(told) = session.said(word) else { return Ok(()) };
        out(&told);
    }
    if asked {
        out("`help` lists the commands\n> ");
    }
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|_| Error::Arguments("standard input is not text".into()))?;
        // Commands read from a file are echoed in the transcript.
        if !asked {
            out(&format!("> {line}\n"));
        }
        let Some(told) = session.said(&line) else { break };
        out(&told);
        if asked {
            out("> ");
        }
    }
    Ok(())
}
