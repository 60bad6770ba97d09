//! Python constructs that the language lacks, by name, with a replacement.

use ruff_python_ast::{Expr, Stmt};
use slipring_ir::{Diagnostic, Reported, Span};

use super::lowering::Lower;

/// The name of a construct, and a replacement; empty if there is none.
pub(super) type Named = (&'static str, &'static str);

/// The advice for code that changes a list.
pub(super) const LISTS: &str = "a kernel changes only lists and dicts that it made, where it made them: not in a loop or branch of the \
     run that begins later, and not in a function that they are given to";

/// An unsupported expression.
pub(super) fn expression(expr: &Expr) -> Named {
    match expr {
        Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => (
            "a comprehension of a set, a dict or a generator in a kernel",
            "write `[… for i in range(n)]`, or a loop: `for i in pl.range(n):`",
        ),
        Expr::Lambda(_) => {
            ("a lambda in a kernel", "give it a name: a function of the file, which may be `@pl.inline`")
        }
        Expr::Named(_) => ("`:=` in a kernel", "assign on a line of its own"),
        Expr::Set(_) => (
            "a set in a kernel",
            "make it outside of the kernel, where the code is Python's (`python -m slipring` executes it): its \
                 constants may be used",
        ),
        Expr::FString(_) | Expr::TString(_) => {
            ("an f-string of what only the run knows", "pass the parts to `pl.print(x, label=\"…\")`")
        }
        Expr::Await(_) | Expr::Yield(_) | Expr::YieldFrom(_) => {
            ("`await` or `yield` in a kernel", "kernels run from their first line to their last")
        }
        Expr::Starred(_) => ("`*` in a kernel", "write the values one by one"),
        _ => ("this kind of expression", ""),
    }
}

/// An unsupported statement.
pub(super) fn statement(stmt: &Stmt) -> Named {
    match stmt {
        Stmt::Try(_) => (
            "`try` in a kernel",
            "nothing is raised here: `pl.static_assert` checks what is known, an `if` decides what is not",
        ),
        Stmt::Raise(_) => ("`raise` in a kernel", "use `pl.static_assert` for what is known when it is compiled"),
        Stmt::FunctionDef(_) => ("a function inside of a kernel", "define it outside: calls are replaced by its body"),
        Stmt::ClassDef(_) => ("a class inside of a kernel", "define it outside: its constants may be used"),
        Stmt::Import(_) | Stmt::ImportFrom(_) => ("an import inside of a kernel", "import at the top of the file"),
        Stmt::Global(_) | Stmt::Nonlocal(_) => {
            ("`global` or `nonlocal` in a kernel", "names of the file are read without it, and are not assigned to")
        }
        Stmt::Delete(_) => ("`del` in a kernel", "leave it out: memory is given back where a tile is not read again"),
        Stmt::Match(_) => ("`match` in a kernel", "write `if` and `elif`"),
        _ => ("this kind of statement in a kernel", ""),
    }
}

impl Lower<'_> {
    /// Reports an unsupported construct.
    pub(super) fn not_here(&mut self, (what, instead): Named, span: Span) -> Reported {
        let mut error =
            Diagnostic::error(slipring_ir::Kind::Unsupported, span, format!("{what} cannot be compiled yet"));
        if !instead.is_empty() {
            error = Diagnostic::error(slipring_ir::Kind::Unsupported, span, format!("{what} cannot be compiled"))
                .help(instead);
        }
        self.report(error)
    }
}
