//! The passes by name, for the verbs that take some of them.

use slipring_passes::{by_name, pipeline};

use super::exit::Exit;
use super::output::out;

/// Lists the passes in pipeline order, with the names that other compilers give them.
pub(super) fn list_passes() -> Exit {
    for pass in pipeline() {
        let others: Vec<&str> = pass.other_names().collect();
        let others = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
        out(&format!("{:18} {}{others}\n", pass.name, pass.summary));
    }
    out("\nonly where they are named\n");
    for pass in by_name() {
        out(&format!("{:18} {}\n", pass.name, pass.summary));
    }
    Exit::Clean
}

/// The error message if no pass has this name.
pub(super) fn unknown_pass(name: &str) -> Option<String> {
    let names = || pipeline().iter().chain(by_name()).map(|pass| pass.name).collect::<Vec<_>>().join(", ");
    slipring_passes::pass(name).is_none().then(|| format!("there is no pass `{name}`; the passes are {}", names()))
}
