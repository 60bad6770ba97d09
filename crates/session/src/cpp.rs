//! Vocabulary of the C++ reader; empty in a build without it.

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

/// Names of the library's calls on tiles, and the number of operands each writes: those come first.
pub fn library_calls() -> Vec<(String, usize)> {
    known::library_calls()
}
