//! The definition of a pass, and its inputs besides the module.

use slipring_ir::{Diags, Module};
use slipring_machine::Platform;

/// Inputs of a pass besides the module.
#[derive(Clone, Copy, Debug)]
pub struct PassContext<'a> {
    /// The target platform.
    pub platform: &'a Platform,
    /// The functions that get flags.
    pub insert_sync: InsertSync,
}

impl<'a> PassContext<'a> {
    /// For a platform; flags are inserted by default.
    pub fn of(platform: &'a Platform) -> PassContext<'a> {
        PassContext { platform, insert_sync: InsertSync::default() }
    }
}

/// The functions that get flags between the pipes of their core. A function that already has flags never gets any.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum InsertSync {
    /// Those of a program without manual synchronisation.
    #[default]
    WhereNone,
    /// All.
    Asked,
    /// None: the text of the program is synchronised by hand.
    Never,
}

/// A pass: one step from a module as written to a module that can be decoded.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Name on the command line.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Changes the module in place. Errors in it are reported; the module must not be used afterwards.
    pub run: fn(&mut Module, &PassContext<'_>, &mut Diags),
}
