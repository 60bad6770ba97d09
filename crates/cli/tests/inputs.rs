//! Any input of a parser or decoder ends in a result or an error: the fuzz targets (`fuzz/src/targets.rs`) on the files
//! of the tests and on changed ones, the same in every run. `scripts/fuzz` runs them with a fuzzing engine.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use crate::dice::Dice;
use crate::here::root;
use crate::walk::files;

#[path = "../../../fuzz/src/lib.rs"]
mod fuzz;

use fuzz::targets;

/// Longest input.
const MOST: usize = 16 << 10;

/// What a target reads.
enum Target {
    Text(fn(&str)),
    Bytes(fn(&[u8])),
}

impl Target {
    fn run(&self, input: &[u8]) {
        match self {
            Target::Text(target) => target(&String::from_utf8_lossy(input)),
            Target::Bytes(target) => target(input),
        }
    }
}

/// The files with which a target begins: those with this ending, of the tests or of a folder, and seeds of a target.
fn seeds(of: &str, ending: &str, folder: &str) -> Vec<Vec<u8>> {
    let folders = if folder.is_empty() { ["tests/files", "examples"].as_slice() } else { &[folder] };
    let mut places: Vec<PathBuf> = folders.iter().flat_map(|folder| files(&root().join(folder), &[ending])).collect();
    let own = fs::read_dir(root().join("fuzz/seeds").join(of)).into_iter().flatten().flatten();
    let mut own: Vec<PathBuf> = own.map(|entry| entry.path()).collect();
    own.sort();
    places.append(&mut own);
    places.iter().map(|path| fs::read(path).expect("a seed")).filter(|seed| seed.len() <= MOST).collect()
}

/// A seed with a few changes: parts left out, doubled, taken from another seed, and single bytes.
fn changed(seeds: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    let mut input = dice.pick(seeds);
    for _ in 0..=dice.below(4) {
        let at = dice.place(input.len() + 1);
        let end = (at + 1 + dice.place(24)).min(input.len());
        match dice.below(5) {
            0 => drop(input.drain(at.min(end)..end)),
            1 => {
                let part = input[at.min(end)..end].to_vec();
                input.splice(at..at, part);
            }
            2 => {
                let other = &seeds[dice.place(seeds.len())];
                let from = dice.place(other.len() + 1);
                let part = other[from..(from + 1 + dice.place(40)).min(other.len()).max(from)].to_vec();
                input.splice(at.min(end)..end, part);
            }
            3 if at < input.len() => input[at] = dice.pick(b"0123456789-.,:;<>()[]{}%#@!\"' \nxfi=\0\xff"),
            _ if at < input.len() => input[at] ^= 1 << dice.below(8),
            _ => {}
        }
    }
    input.truncate(MOST);
    input
}

/// Runs a target on some of its seeds as they are and on `count` changed ones.
fn survives(name: &str, target: &Target, [of, ending, folder]: [&str; 3], count: u64) {
    let seeds = seeds(of, ending, folder);
    assert!(!seeds.is_empty(), "`{name}` has nothing to begin with");
    let count = if crate::here::everything() { 20 * count } else { count };
    let mut dice = Dice::new(1);
    let whole: Vec<Vec<u8>> = (0..(count / 4).max(1)).map(|_| dice.pick(&seeds)).collect();
    let inputs = whole.into_iter().chain((0..count).map(|_| changed(&seeds, &mut dice)));
    for input in inputs {
        if catch_unwind(AssertUnwindSafe(|| target.run(&input))).is_err() {
            let place = root().join("target/inputs");
            fs::create_dir_all(&place).expect("target is writable");
            fs::write(place.join(name), &input).expect("target is writable");
            panic!("`{name}` does not survive an input: target/inputs/{name}");
        }
    }
}

macro_rules! targets {
    ($($name:ident $kind:ident $of:literal $ending:literal $folder:literal $count:literal;)*) => {$(
        #[test]
        fn $name() {
            survives(stringify!($name), &Target::$kind(targets::$name), [$of, $ending, $folder], $count);
        }
    )*};
}

// The target, what it reads, whose seeds it has, the ending of its files, their folder, the number of changed inputs.
targets! {
    args Text "args" "-" "fuzz" 40000;
    board Text "board" "toml" "platforms/boards" 10000;
    cpp Text "cpp" "cpp" "" 2000;
    device Bytes "wire" "-" "fuzz" 400;
    kernel Text "kernel" "pto" "" 2000;
    lang Text "lang" "py" "" 1200;
    npy Bytes "npy" "-" "fuzz" 40000;
    parse Text "parse" "pto" "" 4000;
    platform Text "platform" "toml" "platforms" 4000;
    profile Bytes "profile" "-" "fuzz" 20000;
    queue Bytes "queue" "queue" "" 600;
    queue_run Bytes "queue_run" "queue" "" 400;
    types Text "types" "-" "fuzz" 40000;
    wire Bytes "wire" "-" "fuzz" 40000;
}
