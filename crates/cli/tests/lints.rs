//! The path findings of `check` are correct: none for examples and file tests whose runs are all clean, and the
//! expected ones for the files listed here, which are wrong on some path.

use slipring::{is_finding, judge, load_file};
use slipring_ir::Source;
use slipring_machine::built_in;

use crate::here::root;
use crate::walk;

/// Files that are wrong on some path, and the codes of their findings.
const WRONG: &[(&str, &str)] = &[
    ("tests/files/check/paths/flags.pto", "flag-left-set flag-never-set token-not-released"),
    ("tests/files/check/paths/freed_in_an_arm.pto", "use-after-free"),
    ("tests/files/check/tile_overwritten.pto", "tile-overwritten"),
    ("tests/files/findings/operands_that_overlap.pto", "tile-overwritten"),
    ("tests/files/failures/flag_left_set.pto", "flag-left-set"),
    ("tests/files/failures/flag_never_set.pto", "flag-never-set"),
    ("tests/files/failures/flag_set_twice.pto", "flag-left-set"),
    ("tests/files/failures/use_after_free.pto", "use-after-free"),
    ("tests/files/proof/use_after_free.pto", "use-after-free"),
    ("tests/files/rings/use_behind_the_free.pto", "use-after-free"),
    ("tests/files/run/for/no_blocks.pto", "tile-lines"),
    ("tests/files/run/deadlock_on_a_flag.pto", "flag-never-set"),
    ("tests/files/run/flag_left_set.pto", "flag-left-set"),
    ("tests/files/sync/buffer_never_released.pto", "token-not-released"),
    ("tests/files/sync/buffer_unbalanced.pto", "token-not-held token-not-released"),
    ("tests/files/sync/library_flag.pto", "library-flag"),
];

#[test]
fn findings_of_paths_are_those_of_wrong_programs() {
    let root = root();
    let platforms = ["a5", "a2a3"].map(|name| built_in(name).unwrap());
    let mut found = Vec::new();
    for folder in ["examples", "tests/files"] {
        for file in walk::files(&root.join(folder), &["pto", "py"]) {
            let name = file.strip_prefix(&root).unwrap().display().to_string();
            // Tests of single passes are not complete programs.
            if name.starts_with("tests/files/passes") {
                continue;
            }
            let text = std::fs::read_to_string(&file).unwrap();
            let ends =
                |line: &str| line.trim_start_matches(['/', '#']).trim().strip_prefix("exit: 1").map(str::to_string);
            let wrong = text.lines().filter_map(ends).any(|rest| rest.is_empty() || rest.starts_with(" with "));
            let loaded = load_file(Source::new(name.clone(), text));
            if loaded.diags.has_errors() {
                continue;
            }
            let judged = judge(&loaded.module, &platforms, &[]);
            let said = judged.iter().filter(|judged| judged.applies).flat_map(|judged| &judged.diags.list);
            let mut codes: Vec<&str> = said.filter(|said| is_finding(said)).map(|said| said.code).collect();
            codes.sort_unstable();
            codes.dedup();
            assert!(codes.is_empty() || wrong, "{name}: {codes:?}");
            found.push((name, codes.join(" ")));
        }
    }
    for (file, codes) in WRONG {
        let said = found.iter().find(|(name, _)| name == file).map(|(_, codes)| codes.as_str());
        assert_eq!(said, Some(*codes), "{file}");
    }
}
