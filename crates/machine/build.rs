//! The built-in platform files as JSON: a process reads that in a fraction of the time.

use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    for name in ["a5", "a2a3"] {
        let file = format!("platforms/{name}.toml");
        println!("cargo:rerun-if-changed={file}");
        let table: toml::Table = toml::from_str(&fs::read_to_string(&file)?)?;
        fs::write(Path::new(&env::var("OUT_DIR")?).join(format!("{name}.json")), serde_json::to_string(&table)?)?;
    }
    Ok(())
}
