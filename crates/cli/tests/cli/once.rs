//! A text is parsed once and lowered once, and every command reports the same about it.

use crate::here::{self, root};
use crate::walk::files;

/// Standard output and standard error.
fn call(file: &str, words: &str) -> (String, String) {
    let words = words.split_whitespace().map(|word| if word == "%s" { file } else { word });
    let ran = here::slipring().args(words).output().unwrap();
    (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap())
}

/// The number of times that a command parsed and lowered texts.
fn counted(file: &str, words: &str) -> (u64, u64) {
    let (_, said) = call(file, &format!("{words} --counts"));
    let counts = said.lines().find_map(|line| line.split_once("parsed ")?.1.split_once(", lowered "));
    let (parsed, lowered) = counts.unwrap_or_else(|| panic!("`{words}` of {file} counts nothing: {said}"));
    (parsed.parse().unwrap(), lowered.trim().parse().unwrap())
}

const COMMANDS: [&str; 7] = [
    "check %s",
    "run %s",
    "prove %s --timings 0",
    "report %s --no-advice -o -",
    "graph %s",
    "build %s",
    "tune %s --vary arch=a5,a2a3",
];

#[test]
fn a_text_is_parsed_once_and_lowered_once() {
    for file in ["examples/lang/1_vector_add.py", "examples/programs/feed_forward.py", "examples/matmul_to_vector.pto"]
    {
        let own = u64::from(file.ends_with(".py"));
        for words in COMMANDS {
            let (parsed, lowered) = counted(file, words);
            assert_eq!(parsed, own, "`{words}` of {file} parses {parsed} times");
            assert!(lowered <= own, "`{words}` of {file} lowers {lowered} times");
        }
    }
    // Varying constants are lowered for each value, and also for the file as written.
    let (parsed, lowered) = counted("tests/files/tune/constants.py", "tune %s --vary TILE=16,32");
    assert_eq!((parsed, lowered), (1, 3));
    // Contents of tensors that determine tasks are followed again for each platform; nothing is parsed again.
    let (parsed, lowered) = counted("tests/files/programs/devices_open.py", "check %s");
    assert_eq!(parsed, 1);
    assert!(lowered <= 7, "lowered {lowered} times");
}

/// Errors of a text that a command rejects, first lines only.
fn errors(said: &str) -> Vec<String> {
    said.lines().filter(|line| line.starts_with("error[")).map(str::to_string).collect()
}

#[test]
fn every_command_says_the_same_of_a_text_that_is_wrong() {
    let all = crate::here::everything();
    let list = files(&root().join("tests/files/lang/errors"), &["py"]);
    assert!(list.len() > 50);
    for file in list.iter().step_by(if all { 1 } else { 23 }) {
        let file = file.display().to_string();
        // Errors that a run reports before it begins.
        let (out, said) = call(&file, "run %s");
        let refused = errors(&said);
        // `check` chooses no kernel.
        let chooses = refused.iter().any(|error| error.starts_with("error[which-kernel]"));
        if !out.is_empty() || refused.is_empty() || chooses {
            continue;
        }
        for words in ["prove %s", "report %s -o -", "debug %s"] {
            assert_eq!(errors(&call(&file, words).1), refused, "`{words}` of {file}");
        }
        let checked = errors(&call(&file, "check %s").1);
        let missing: Vec<_> = refused.iter().filter(|error| !checked.contains(error)).collect();
        assert!(missing.is_empty(), "`check` of {file} does not say {missing:?}, but {checked:?}");
        let first = refused[0].split_once("]: ").unwrap().1;
        let point = call(&file, "tune %s --vary arch=a5").1;
        assert!(point.contains(first), "`tune` of {file} does not say {first}, but {point}");
    }
}
