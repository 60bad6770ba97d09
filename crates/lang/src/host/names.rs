//! Builtin names of Python.

use super::exceptions::exception;

/// Host code knows its value or result, if the arguments are known.
const HOST: u8 = 1;
/// It neither keeps nor changes its arguments.
const PURE: u8 = 2;
/// Kernels may use it.
const KERNEL: u8 = 4;
/// An annotation in a kernel may name it.
const TYPE: u8 = 8;

/// Builtin names, in order, with their properties; exceptions are listed in `raise`.
#[rustfmt::skip]
const PYTHON: &[(&str, u8)] = &[
    ("Ellipsis", HOST), ("NotImplemented", HOST), ("__builtins__", HOST), ("__debug__", 0), ("__doc__", HOST),
    ("__file__", HOST), ("__import__", HOST), ("__loader__", HOST), ("__name__", 0), ("__package__", HOST),
    ("__spec__", HOST), ("abs", HOST | PURE | KERNEL), ("all", HOST), ("any", HOST), ("ascii", 0),
    ("bin", HOST | PURE), ("bool", HOST | PURE | KERNEL | TYPE), ("breakpoint", KERNEL), ("bytearray", 0),
    ("bytes", HOST | PURE), ("callable", HOST | PURE), ("chr", HOST | PURE), ("classmethod", HOST), ("compile", 0),
    ("complex", HOST | PURE), ("delattr", HOST), ("dict", HOST | TYPE), ("dir", HOST | PURE),
    ("divmod", HOST | PURE), ("enumerate", HOST | KERNEL), ("eval", HOST), ("exec", HOST), ("filter", HOST),
    ("float", HOST | PURE | KERNEL | TYPE), ("format", HOST | PURE), ("frozenset", HOST), ("getattr", HOST),
    ("globals", HOST), ("hasattr", HOST), ("hash", HOST | PURE), ("help", 0), ("hex", HOST | PURE),
    ("id", HOST | PURE), ("input", HOST | PURE), ("int", HOST | PURE | KERNEL | TYPE), ("isinstance", HOST | PURE),
    ("issubclass", HOST | PURE), ("iter", HOST), ("len", HOST | PURE | KERNEL), ("list", HOST | TYPE),
    ("locals", HOST), ("map", HOST), ("max", HOST | KERNEL), ("memoryview", HOST), ("min", HOST | KERNEL),
    ("next", HOST), ("object", HOST | TYPE), ("oct", HOST | PURE), ("open", HOST | PURE), ("ord", HOST | PURE),
    ("pow", HOST | PURE | KERNEL), ("print", HOST | PURE | KERNEL), ("property", HOST),
    ("range", HOST | PURE | KERNEL), ("repr", HOST | PURE), ("reversed", HOST | KERNEL),
    ("round", HOST | PURE | KERNEL), ("set", HOST), ("setattr", HOST), ("slice", HOST), ("sorted", HOST),
    ("staticmethod", HOST), ("str", HOST | PURE | TYPE), ("sum", HOST | KERNEL), ("super", HOST),
    ("tuple", HOST | TYPE), ("type", HOST | PURE | TYPE), ("vars", HOST), ("zip", HOST | KERNEL),
];

// The names are searched by halves; a function without side effects has a known result.
const _: () = {
    let mut at = 0;
    while at < PYTHON.len() {
        assert!(PYTHON[at].1 & PURE == 0 || PYTHON[at].1 & HOST != 0, "its result is known");
        assert!(at == 0 || is_before(PYTHON[at - 1].0.as_bytes(), PYTHON[at].0.as_bytes()), "in order");
        at += 1;
    }
};

/// True if a name sorts before another one.
const fn is_before(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at < b.len() && (at == a.len() || a[at] < b[at])
}

/// True for a builtin name of Python, exceptions included; its value or result may not be known.
pub(crate) fn is_of_python(name: &str) -> bool {
    facts(name).is_some() || exception(name).is_some()
}

/// True if host code knows its value or result.
pub(super) fn is_known(name: &str) -> bool {
    facts(name).is_some_and(|facts| facts & HOST != 0)
}

/// True for a function that neither keeps nor changes its arguments.
pub(super) fn keeps_nothing(name: &str) -> bool {
    facts(name).is_some_and(|facts| facts & PURE != 0)
}

/// True for a type that an annotation in a kernel may name.
pub(crate) fn is_type(name: &str) -> bool {
    facts(name).is_some_and(|facts| facts & TYPE != 0)
}

/// Functions that kernels may use.
pub(crate) fn of_kernels() -> impl Iterator<Item = &'static str> {
    PYTHON.iter().filter(|(_, facts)| facts & KERNEL != 0).map(|(name, _)| *name)
}

fn facts(name: &str) -> Option<u8> {
    let at = PYTHON.binary_search_by(|(own, _)| (*own).cmp(name)).ok()?;
    Some(PYTHON[at].1)
}

/// Modules of Python's standard library.
pub(super) const STANDARD: &[&str] = &[
    "abc",
    "argparse",
    "ast",
    "bisect",
    "collections",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "enum",
    "functools",
    "gc",
    "glob",
    "hashlib",
    "heapq",
    "importlib",
    "inspect",
    "io",
    "itertools",
    "json",
    "logging",
    "math",
    "operator",
    "os",
    "pathlib",
    "pickle",
    "platform",
    "random",
    "re",
    "shutil",
    "socket",
    "statistics",
    "string",
    "struct",
    "subprocess",
    "sys",
    "tempfile",
    "textwrap",
    "threading",
    "time",
    "traceback",
    "types",
    "typing",
    "unittest",
    "uuid",
    "warnings",
    "ctypes",
    "decimal",
    "fractions",
    "numbers",
    "signal",
    "queue",
    "multiprocessing",
];

/// True for a module of the standard library, or a submodule.
pub(super) fn is_standard(path: &str) -> bool {
    STANDARD.contains(&path.split('.').next().unwrap_or(path))
}
