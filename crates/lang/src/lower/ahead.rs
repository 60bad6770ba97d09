//! Lowering of functions ahead of their turn.

use std::sync::Arc;

use slipring_ir::{Diags, Source};

use super::lower_function;
use super::lowering::Words;
use crate::emit::Emitter;
use crate::globals::Globals;
use crate::roles::Role;
use crate::specialise::{Specialised, needs_arguments};

/// Lowers the functions that have not been started, to learn their pushes and reservations. Their errors are reported
/// when their turn comes. If one fails, it may have needed a declaration of the function that is being lowered, which
/// has not been reached yet: it is retried a few times.
pub(crate) fn lower_ahead(source: &Arc<Source>, (globals, words): (&Globals<'_>, &'static dyn Words)) {
    const TRIES: u32 = 4;
    for (name, function) in &globals.functions {
        let none = Specialised::new();
        let tries = globals.tries.borrow().get(name).copied().unwrap_or(0);
        if let Role::Kernel(kind) = function.role
            && tries < TRIES
            && !function.again
            && !needs_arguments(globals, function, &none)
            && globals.started.borrow_mut().insert(name.clone())
        {
            globals.tries.borrow_mut().insert(name.clone(), tries + 1);
            let (unrolled, statements) = (globals.unrolled.get(), globals.lowered.get());
            let (mut emitter, mut diags) = (Emitter::new(source.clone()), Diags::default());
            if lower_function(&mut emitter, (globals, words), function, kind, &none, &mut diags).is_err() {
                globals.started.borrow_mut().remove(name);
            }
            globals.unrolled.set(unrolled);
            globals.lowered.set(statements);
        }
    }
}
