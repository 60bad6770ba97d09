//! Writing files, whole or not at all.

use std::io::Write;
use std::path::Path;

/// Writes a file through a temporary one beside it, so that no reader ever sees a part of it.
///
/// # Errors
/// What the system says; the file is then as it was.
pub fn write_whole(path: &Path, parts: &[&[u8]]) -> std::io::Result<()> {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = (|| {
        let mut file = std::fs::File::create(&temporary)?;
        for part in parts {
            file.write_all(part)?;
        }
        file.sync_all()?;
        std::fs::rename(&temporary, path)
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}
