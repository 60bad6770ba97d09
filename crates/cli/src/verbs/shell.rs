//! Shell integration: completions, and manual pages.

use clap::{Args, Command};
use clap_complete::Shell;

use super::exit::Exit;
use super::output::{data_bytes, fail};

// Arguments of `completions`.
#[derive(Args)]
pub(super) struct CompletionArgs {
    /// Name of the shell
    shell: Shell,
}

/// Prints a script that completes verbs and options.
pub(super) fn completions(args: &CompletionArgs, mut all: Command) -> Exit {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut all, "slipring", &mut text);
    data_bytes(&text);
    Exit::Clean
}

// Arguments of `man`.
#[derive(Args)]
pub(super) struct ManArgs {
    /// Command to describe. Without one, the page of slipring itself
    verb: Option<String>,
}

/// Prints a manual page.
pub(super) fn man(args: &ManArgs, mut all: Command) -> Exit {
    all.build();
    let page = match &args.verb {
        None => all,
        Some(verb) => match all.find_subcommand(verb) {
            Some(found) => found.clone(),
            None => return fail(format!("there is no command `{verb}`: `slipring --help` lists them")),
        },
    };
    let mut text = Vec::new();
    match clap_mangen::Man::new(page).render(&mut text) {
        Ok(()) => {
            data_bytes(&text);
            Exit::Clean
        }
        Err(error) => fail(format!("the page cannot be written: {error}")),
    }
}
