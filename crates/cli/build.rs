//! How the command is linked.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    // At an address of its own, where the system lets it: else the loader writes some 10⁵ addresses anew before each
    // command begins, which is half of what a short one takes.
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bin=slipring=-no-pie");
    }
}
