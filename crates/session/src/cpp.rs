//! What the reader of C++ knows; nothing in a build without it.

use slipring_tile::Elem;

#[cfg(feature = "cpp")]
mod known {
    pub use slipring_cpp::{element_name, element_names, launched};

    pub fn library_calls() -> Vec<(String, usize)> {
        slipring_cpp::library_calls(crate::prepare::table())
    }
}

#[cfg(not(feature = "cpp"))]
mod known {
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

    pub fn library_calls() -> Vec<(String, usize)> {
        Vec::new()
    }
}

/// How C++ writes an element type; `None` for one that it has no name for.
pub fn element_name(elem: Elem) -> Option<&'static str> {
    known::element_name(elem)
}

/// The names that [`element_name`] knows.
pub fn element_names() -> Vec<&'static str> {
    known::element_names()
}

/// Names of the functions of a C++ text that a host or the runtime launches, whatever form the text has otherwise.
pub fn launched(text: &str) -> Vec<String> {
    known::launched(text)
}

/// Names of the library's calls on tiles, and how many of its operands each writes: those stand first.
pub fn library_calls() -> Vec<(String, usize)> {
    known::library_calls()
}
