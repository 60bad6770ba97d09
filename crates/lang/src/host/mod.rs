//! The part of a file that is not a kernel: module level, functions that build programs, classes, `__main__`. It is run
//! here with the semantics of Python, as far as numbers, strings, lists, shapes and the language's own builtins are
//! concerned; every other value is *unknown*, with the place and the reason, which does not stop the run. The result is
//! the kernels with the constants that they see, and the shapes that the file's host code passes to them.
//!
//! Values that code which is not followed may have changed become unknown (`unsure`); exceptions of Python are raised
//! (`raise`).
//!
//! | module | subject |
//! |---|---|
//! | `value` | values of host names; scopes |
//! | `contents` | contents of a value |
//! | `view` | tensors of a program that is followed |
//! | `locals` | the names that a text binds |
//! | `texts` | the file and the modules that it imports |
//! | `names` | builtin names of Python |
//! | `limits` | limits on following host code |
//! | `state` | the state of the run |
//! | `recorder` | what a program has submitted so far |
//! | `key` | keys of dicts |
//! | `run` | statements; definitions |
//! | `unsure` | code that may or may not run; values that may have changed |
//! | `raise` | exceptions |
//! | `expr` | expressions |
//! | `compare` | operators and comparisons |
//! | `iter` | iterators and comprehensions |
//! | `text` | `str`, `repr` and formats |
//! | `object` | members of classes and instances |
//! | `instance` | creation of instances |
//! | `methods` | methods of lists, dicts, sets and strings |
//! | `call` | calls of functions, classes and kernels |
//! | `builtin` | builtin functions of Python |
//! | `kinds` | `isinstance`, `getattr`, `hasattr` |
//! | `library` | functions of modules: `math`, `functools`, `dataclasses`, torch |
//! | `tasks` | functions that start kernels, whose submits become a task graph |
//! | `tensors` | shapes and types of the host's tensors |
//! | `seen` | host values as kernels see them |

mod builtin;
mod call;
mod compare;
mod contents;
mod exceptions;
mod expr;
mod instance;
mod iter;
mod key;
mod kinds;
mod library;
mod limits;
mod locals;
mod methods;
pub(crate) mod names;
mod object;
mod raise;
mod recorder;
mod refs;
mod run;
mod seen;
mod state;
pub(crate) mod tasks;
mod tensors;
mod text;
mod texts;
mod unsure;
mod value;
mod view;

pub(crate) use locals::Locals;
pub(crate) use recorder::{Groups, Recorder};
pub(crate) use refs::Refs;
pub(crate) use state::{Found, Host};
pub(crate) use texts::ModuleText;
pub(crate) use value::HostValue;
pub(crate) use view::View;
