//! What a pass is, and what it may ask besides the module.

use slipring_ir::{Diags, Module};
use slipring_machine::Platform;

/// What a pass may ask besides the module.
#[derive(Clone, Copy, Debug)]
pub struct PassContext<'a> {
    /// The platform that the program is for.
    pub platform: &'a Platform,
    /// Which functions get flags.
    pub insert_sync: InsertSync,
}

impl<'a> PassContext<'a> {
    /// For a platform; flags are added as by default.
    pub fn of(platform: &'a Platform) -> PassContext<'a> {
        PassContext { platform, insert_sync: InsertSync::default() }
    }
}

/// Which functions get flags between the pipes of their core. None does that has some.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum InsertSync {
    /// Those of a program in which nothing synchronises by hand.
    #[default]
    WhereNone,
    /// All.
    Asked,
    /// None: the text that the program is of synchronises by hand.
    Never,
}

/// A pass: one step from a module as written to a module that can be decoded.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Name on the command line.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Changes the module in place. What is wrong with it is reported; the module is then of no further use.
    pub run: fn(&mut Module, &PassContext<'_>, &mut Diags),
}
