//! The part of a file that is not a kernel: module level, functions that build programs, classes, `__main__`. It is run here as
//! Python would run it, as far as numbers, strings, lists, shapes and the language's own words go; everything else is
//! *unknown*, with the place and the reason, and stops nothing. What comes out are the kernels with the constants that
//! they see, and the shapes of what the file's own host code passes to them.
//!
//! What something that is not followed may have changed is not known from there on (`unsure`); what Python raises is raised
//! (`raise`).
//!
//! | module | has |
//! |---|---|
//! | `value` | what a name of the host stands for; scopes |
//! | `contents` | what is in a value |
//! | `view` | tensors of a program that is followed |
//! | `locals` | which names a text binds |
//! | `texts` | the file and the modules that it imports |
//! | `names` | names that Python itself has |
//! | `limits` | how far host code is followed |
//! | `state` | what the run of the code knows |
//! | `recorder` | what a program has submitted so far |
//! | `key` | what is one key of a dict |
//! | `run` | statements; what is defined |
//! | `unsure` | what may or may not run, or may have been changed |
//! | `raise` | exceptions |
//! | `expr` | expressions |
//! | `compare` | operators and comparisons |
//! | `iter` | iterators and comprehensions |
//! | `text` | `str`, `repr` and formats |
//! | `object` | members of classes and instances |
//! | `instance` | how an instance is made |
//! | `methods` | methods of lists, dicts, sets and strings |
//! | `call` | calls of functions, classes and kernels |
//! | `builtin` | functions of Python |
//! | `kinds` | `isinstance`, `getattr`, `hasattr` |
//! | `library` | functions of modules: `math`, `functools`, `dataclasses`, torch |
//! | `tasks` | functions that start kernels: what they submit becomes a task graph |
//! | `tensors` | shapes and types of the host's tensors |
//! | `seen` | what a kernel sees of a value |

mod builtin;
mod call;
mod compare;
mod contents;
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
pub(crate) use tensors::elem_named;
pub(crate) use texts::ModuleText;
pub(crate) use value::HostValue;
pub(crate) use view::View;
