//! Exceptions.

use std::rc::Rc;

use slipring_ir::{Diagnostic, Span};

use super::exceptions::{exception, is_a};
use super::value::HostValue;
use crate::host::state::{Host, Raised};
use crate::host::value::unknown;
use crate::value::{Const, Strange, Unknown};

/// The text of a message of Python itself, or of an exception whose only argument is one.
pub(super) fn said(value: &HostValue<'_>) -> Option<Rc<str>> {
    match value {
        HostValue::Unknown(why) => match &why.is {
            Strange::Said(text) => Some(text.clone()),
            _ => None,
        },
        HostValue::Exception(exception) => match &exception.1[..] {
            [one] => said(one),
            _ => None,
        },
        HostValue::Object(object) if object.class.as_ref()?.exception.is_some() => match object.fields.get("args")? {
            HostValue::Tuple(args) if args.len() == 1 => said(&args[0]),
            _ => None,
        },
        _ => None,
    }
}

impl<'a> Host<'a> {
    /// Raises a Python exception. Its text is for messages only: Python's wording differs between versions, so the file
    /// cannot depend on it.
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
                None | Some(HostValue::Const(Const::None | Const::Int(0) | Const::Bool(false))) => return None,
                // It may be 0, unless it is a text.
                Some(code @ HostValue::Unknown(_)) if said(&code).is_none() => return None,
                _ => {}
            }
        }
        let text = match said(&raised.value) {
            Some(text) => text.to_string(),
            None => self.exception_text(&raised.value, raised.span).unwrap_or_default(),
        };
        let what = if text.is_empty() { name.to_string() } else { format!("{name}: {text}") };
        let code = if &*kind == "AssertionError" { "assert" } else { "raise" };
        let message = format!("the file's own code stops here: {what}");
        let place = if raised.module == 0 { raised.span } else { Span::default() };
        let mut error = Diagnostic::error(code, place, message);
        if raised.module != 0 {
            error = error.note(format!("in the module `{}`", self.module_name(raised.module)));
            error.primary = None;
        }
        Some(error.help("Python stops at the same place: mend the file, or give it what it asks for with `--set`"))
    }
}
