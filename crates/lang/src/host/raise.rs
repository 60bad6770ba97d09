//! Exceptions.

use std::rc::Rc;

use slipring_ir::{Diagnostic, Span};

use super::value::HostValue;
use crate::host::state::{Host, Raised};
use crate::host::value::unknown;
use crate::value::{Const, Strange, Unknown};

/// Python's exceptions, each with its base.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("BaseException", ""),
    ("Exception", "BaseException"),
    ("SystemExit", "BaseException"),
    ("KeyboardInterrupt", "BaseException"),
    ("GeneratorExit", "BaseException"),
    ("ArithmeticError", "Exception"),
    ("ZeroDivisionError", "ArithmeticError"),
    ("OverflowError", "ArithmeticError"),
    ("FloatingPointError", "ArithmeticError"),
    ("LookupError", "Exception"),
    ("IndexError", "LookupError"),
    ("KeyError", "LookupError"),
    ("AssertionError", "Exception"),
    ("AttributeError", "Exception"),
    ("EOFError", "Exception"),
    ("ImportError", "Exception"),
    ("ModuleNotFoundError", "ImportError"),
    ("MemoryError", "Exception"),
    ("NameError", "Exception"),
    ("UnboundLocalError", "NameError"),
    ("OSError", "Exception"),
    ("FileNotFoundError", "OSError"),
    ("PermissionError", "OSError"),
    ("TimeoutError", "OSError"),
    ("RuntimeError", "Exception"),
    ("NotImplementedError", "RuntimeError"),
    ("RecursionError", "RuntimeError"),
    ("StopIteration", "Exception"),
    ("TypeError", "Exception"),
    ("ValueError", "Exception"),
    ("UnicodeError", "ValueError"),
    ("Warning", "Exception"),
    ("UserWarning", "Warning"),
    ("DeprecationWarning", "Warning"),
    ("RuntimeWarning", "Warning"),
];

/// Python's exception with this name.
pub(super) fn exception(name: &str) -> Option<&'static str> {
    EXCEPTIONS.iter().find(|(known, _)| *known == name).map(|(known, _)| *known)
}

/// True if an exception of Python is another one, or derives from it.
fn is_a(name: &str, other: &str) -> bool {
    let mut name = name;
    while !name.is_empty() {
        if name == other {
            return true;
        }
        name = EXCEPTIONS.iter().find(|(known, _)| *known == name).map_or("", |(_, base)| base);
    }
    false
}

impl<'a> Host<'a> {
    /// Raises an exception of Python. What is evaluated on the way to who catches it is of no account. The text is for readers:
    /// Python's own differs from version to version, so that the file does not know it.
    pub(super) fn fail(&mut self, kind: &str, text: impl Into<String>, span: Span) -> HostValue<'a> {
        let said = HostValue::Unknown(Rc::new(Unknown::said(span, text)));
        self.raise(HostValue::Exception(Rc::new((kind.into(), vec![said]))), span)
    }

    pub(super) fn raise(&mut self, value: HostValue<'a>, span: Span) -> HostValue<'a> {
        let module = self.module;
        self.raised.get_or_insert_with(|| Box::new(Raised { value, span, module, limit: false }));
        unknown(span, "what is raised")
    }

    /// Gives up on calls that are nested too deeply.
    pub(super) fn too_deep(&mut self, span: Span) -> HostValue<'a> {
        // Python might continue.
        self.risks += 1;
        let module = self.module;
        let value = HostValue::Exception(Rc::new(("RecursionError".into(), Vec::new())));
        self.raised.get_or_insert_with(|| Box::new(Raised { value, span, module, limit: true }));
        unknown(span, "calls that are too deep inside each other")
    }

    /// The exception that `raise X` raises; `None` if it is not known.
    pub(super) fn made_exception(&mut self, value: HostValue<'a>, span: Span) -> Option<HostValue<'a>> {
        let made = match value {
            HostValue::Path(_) | HostValue::Class(_) => {
                self.call_value(value, Vec::new(), span, &|| "the exception".into())
            }
            other => other,
        };
        self.exception_of(&made).map(|_| made)
    }

    /// The Python exception of a value.
    pub(super) fn exception_of(&self, value: &HostValue<'a>) -> Option<Rc<str>> {
        match value {
            HostValue::Exception(exception) => Some(exception.0.clone()),
            HostValue::Object(object) => object.class.as_ref().and_then(|class| class.exception.clone()),
            _ => None,
        }
    }

    /// True if `except kind:` catches an exception; `None` if it is not known.
    pub(super) fn catches(&mut self, kind: &HostValue<'a>, raised: &HostValue<'a>) -> Option<bool> {
        match kind {
            HostValue::Path(path) => {
                let own = self.exception_of(raised)?;
                exception(path).map(|path| is_a(&own, path))
            }
            HostValue::Class(class) => match raised {
                HostValue::Object(object) => Some(object.class.as_ref()?.is_a(class)),
                HostValue::Exception(_) => Some(false),
                _ => None,
            },
            HostValue::Tuple(kinds) => {
                let mut all = Some(false);
                for kind in kinds.iter() {
                    match self.catches(kind, raised) {
                        Some(true) => return Some(true),
                        Some(false) => {}
                        None => all = None,
                    }
                }
                all
            }
            _ => None,
        }
    }

    /// The message of an exception.
    pub(super) fn exception_text(&mut self, value: &HostValue<'a>, span: Span) -> Option<String> {
        let args = match value {
            HostValue::Exception(exception) => {
                if &*exception.0 == "KeyError" && exception.1.len() == 1 {
                    return self.repr_of(&exception.1[0], span);
                }
                exception.1.clone()
            }
            HostValue::Object(object) => match object.fields.get("args") {
                Some(HostValue::Tuple(args)) => args.to_vec(),
                _ => return None,
            },
            _ => return None,
        };
        match &args[..] {
            [] => Some(String::new()),
            [one] => self.str_of(one, span),
            _ => self.repr_of(&HostValue::tuple(args), span),
        }
    }

    /// The error for an uncaught exception. `None` for a termination that is not an error.
    pub(super) fn uncaught(&mut self, raised: &Raised<'a>) -> Option<Diagnostic> {
        if raised.limit {
            let message = "the file's own code goes too deep, with calls inside each other: it is not followed further";
            let mut error = Diagnostic::error("host-depth", raised.span, message);
            if raised.module != 0 {
                error.primary = None;
            }
            return Some(error.help(
                "write the numbers that it computes, or let Python run the file: `python -m slipring COMMAND FILE`",
            ));
        }
        let kind = self.exception_of(&raised.value).unwrap_or_else(|| "Exception".into());
        let name = match &raised.value {
            HostValue::Object(object) => object.class.as_ref().map_or(kind.clone(), |class| class.name.clone()),
            _ => kind.clone(),
        };
        if &*kind == "SystemExit" {
            let code = match &raised.value {
                HostValue::Exception(exception) => exception.1.first().cloned(),
                _ => None,
            };
            match code {
                None
                | Some(HostValue::Const(Const::None | Const::Int(0) | Const::Bool(false)) | HostValue::Unknown(_)) => {
                    return None;
                }
                _ => {}
            }
        }
        let text = match &raised.value {
            HostValue::Exception(exception) => match &exception.1[..] {
                [HostValue::Unknown(why)] => match &why.is {
                    Strange::Said(text) => Some(text.to_string()),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        };
        let text = text.or_else(|| self.exception_text(&raised.value, raised.span)).unwrap_or_default();
        let said = if text.is_empty() { name.to_string() } else { format!("{name}: {text}") };
        let code = if &*kind == "AssertionError" { "assert" } else { "raise" };
        let message = format!("the file's own code stops here: {said}");
        let place = if raised.module == 0 { raised.span } else { Span::default() };
        let mut error = Diagnostic::error(code, place, message);
        if raised.module != 0 {
            error = error.note(format!("in the module `{}`", self.module_name(raised.module)));
            error.primary = None;
        }
        Some(error.help("Python stops at the same place: mend the file, or give it what it asks for with `--set`"))
    }
}
