//! Whether two paths refer to the same file.

use std::fs::Metadata;
use std::path::Path;

/// True if two paths refer to the same file.
pub fn same(a: &Path, b: &Path) -> bool {
    match (std::fs::metadata(a), std::fs::metadata(b)) {
        (Ok(a), Ok(b)) if identity(&a).is_some() => identity(&a) == identity(&b),
        _ => a == b || a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b)),
    }
}

#[cfg(unix)]
pub(crate) fn identity(meta: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((meta.dev(), meta.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<(u64, u64)> {
    None
}
