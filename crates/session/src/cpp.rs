//! Vocabulary of the C++ reader; empty in a build without it.

use slipring_ir::Span;
use slipring_tile::Elem;

#[cfg(feature = "cpp")]
mod known {
    pub use slipring_cpp::{element_name, element_names, launched, template};

    pub fn library_calls() -> Vec<(String, usize)> {
        slipring_cpp::library_calls(crate::prepare::table())
    }
}

#[cfg(not(feature = "cpp"))]
mod known {
    use slipring_ir::Span;
    use slipring_tile::Elem;

    pub fn element_name(_: Elem) -> Option<&'static str> {
        None
    }

    pub fn element_names() -> Vec<&'static str> {
        Vec::new()
    }

    pub fn launched(_: &str) -> Vec<String> {
        Vec::new()
    }

    pub fn template(_: &str, _: &str) -> Option<(Span, String)> {
        None
    }

    pub fn library_calls() -> Vec<(String, usize)> {
        Vec::new()
    }
}

/// The C++ spelling of an element type; `None` for one that has no name there.
pub fn element_name(elem: Elem) -> Option<&'static str> {
    known::element_name(elem)
}

/// The names that [`element_name`] knows.
pub fn element_names() -> Vec<&'static str> {
    known::element_names()
}

/// Names of the functions of a C++ text that a host or the runtime launches.
pub fn launched(text: &str) -> Vec<String> {
    known::launched(text)
}

/// The place of the name of a function template of a C++ text, and the text of its parameters, if it has one of this
/// name.
pub fn template(text: &str, name: &str) -> Option<(Span, String)> {
    known::template(text, name)
}

/// Names of the library's calls on tiles, and the number of operands each writes: those come first.
pub fn library_calls() -> Vec<(String, usize)> {
    known::library_calls()
}
