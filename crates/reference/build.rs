//! The list of the files in `explain`: what each message means is read from there.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=explain");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut text = String::new();
    for (list, folder) in [("SUBJECTS", "explain"), ("EXAMPLES", "explain/examples"), ("FIXED", "explain/fixed")] {
        let _ = writeln!(text, "const {list}: &[(&str, &str)] = &[");
        for file in files(&root.join(folder))? {
            let name = file.file_name().unwrap_or_default();
            let _ = writeln!(text, "    ({name:?}, include_str!({:?})),", file.display().to_string());
        }
        text += "];\n";
    }
    fs::write(Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join("explain.rs"), text)
}

/// The files of a folder, by name.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    Ok(files)
}
