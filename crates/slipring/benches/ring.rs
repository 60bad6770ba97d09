//! Ten million tiles through a ring, by every protocol and placement: seconds, and steps of the engine a second.
//!
//! `cargo bench -p slipring --bench ring` prints a table. A step is an instruction of a scalar unit or an entry of a pipe's
//! queue: work, a set, a wait, a barrier. `TILES=100000 cargo bench …` runs fewer.

use std::path::Path;
use std::time::Instant;

use slipring::{Bound, ExecuteOptions, Prepared, execute, load, prepare};
use slipring_ir::Source;
use slipring_machine::{Platform, built_in};
use slipring_program::SiteRef;
use slipring_sim::{Agent, ExecutionMode, Issued, Observer};

/// Counts what is put on pipes.
#[derive(Default)]
struct Entries(u64);

impl Observer for Entries {
    fn issue(&mut self, _: u64, _: Agent, _: Issued, _: SiteRef) {
        self.0 += 1;
    }
}

/// A way to run the program.
struct Variant {
    name: &'static str,
    platform: &'static str,
    /// What is replaced in the program.
    edits: &'static [(&'static str, &'static str)],
}

const VARIANTS: [Variant; 6] = [
    Variant { name: "counted, on chip", platform: "a5", edits: &[] },
    Variant {
        name: "counted, one signal for 4 tiles",
        platform: "a5",
        edits: &[("{auto_free = false}", "{auto_free = false, period = 4}")],
    },
    Variant {
        name: "tagged, on chip",
        platform: "a5",
        edits: &[("{auto_free = false}", "{auto_free = false, protocol = #pto.pipe_protocol<tagged>}")],
    },
    Variant {
        name: "counted, freed by itself",
        platform: "a5",
        edits: &[("{auto_free = false} ", ""), ("      pto.tfree pipe(%pipe : !pipe)\n", "")],
    },
    Variant { name: "counted, global memory", platform: "a5", edits: &[("DIR_C2V,", "DIR_C2V_GM,")] },
    Variant { name: "counted, global memory", platform: "a2a3", edits: &[] },
];

fn ready(text: &str, platform: &Platform) -> Prepared {
    let (module, mut diags) = load(Source::new("ring.pto", text));
    prepare(module, None, platform, &mut diags)
        .unwrap_or_else(|| panic!("{}", diags.render(&Source::new("ring.pto", text), false)))
}

fn main() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/programs/ring_ten_million.pto");
    let text = std::fs::read_to_string(file).expect("the program is part of the repository");
    let tiles: u64 = std::env::var("TILES").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000_000);
    println!(
        "{tiles} tiles of 1 KiB\n{:34} {:9} {:>8} {:>9} {:>11} {:>13}",
        "ring", "platform", "seconds", "us a tile", "steps a tile", "steps a second"
    );
    for Variant { name, platform: arch, edits } in VARIANTS {
        let platform = built_in(arch).expect("a built-in platform");
        let text = edits.iter().fold(text.clone(), |text, (from, to)| text.replace(from, to));
        let of = |n: u64| text.replace("10000000", &n.to_string());
        let values = [vec![0; 1024], vec![0; 8192]].map(Bound::buffer);
        let options =
            ExecuteOptions { blocks: 1, mode: ExecutionMode::Pipes, gm_slack: 0, ..ExecuteOptions::default() };
        // Steps of a tile, from two short runs.
        let steps = |n: u64| {
            let mut entries = Entries::default();
            let run = execute(&ready(&of(n), &platform).decoded, &platform, &values, options, &mut entries);
            assert!(run.result.complete, "the run did not complete");
            run.result.stats.instructions + entries.0
        };
        let each = (steps(2000) - steps(1000)) as f64 / 1000.0;
        let prepared = ready(&of(tiles), &platform);
        let start = Instant::now();
        let run = execute(&prepared.decoded, &platform, &values, options, &mut ());
        let seconds = start.elapsed().as_secs_f64();
        assert!(run.result.complete && run.result.findings.is_empty(), "{:?}", run.result.findings);
        let rate = each * tiles as f64 / seconds;
        println!(
            "{name:34} {arch:9} {seconds:>8.2} {:>9.3} {each:>11.1} {:>11.1} M",
            1e6 * seconds / tiles as f64,
            rate / 1e6
        );
    }
}
