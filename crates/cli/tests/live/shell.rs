//! Completions and manual pages cover every command.

use crate::here;

fn slipring(words: &[&str]) -> (Option<i32>, String) {
    let ran = here::slipring().args(words).output().unwrap();
    (ran.status.code(), String::from_utf8(ran.stdout).unwrap() + &String::from_utf8(ran.stderr).unwrap())
}

#[test]
fn every_command_is_completed_and_has_a_page() {
    let (_, help) = slipring(&["--help"]);
    let verbs = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    // The line of a command is indented by two spaces, its continuation by more.
    let verbs = verbs.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let lines: Vec<Vec<&str>> = verbs.map(|line| line.split_whitespace().collect()).collect();
    let verbs: Vec<&str> = lines.iter().map(|words| words[0]).filter(|verb| *verb != "help").collect();
    assert!(verbs.len() >= 18, "{help}");
    for words in lines.iter().filter(|words| words[0] != "help") {
        let (code, text) = slipring(&[words[0], "--help"]);
        let own: Vec<&str> = text.split_whitespace().take(3).collect();
        assert_eq!((code, &own[..]), (Some(0), &words[1..4]), "{text}");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (code, text) = slipring(&["completions", shell]);
        assert_eq!(code, Some(0));
        assert!(verbs.iter().all(|verb| text.contains(verb)), "{shell}");
        assert!(text.contains("insert-sync"), "{shell} has the options");
    }
    for verb in &verbs {
        let (code, page) = slipring(&["man", verb]);
        assert_eq!(code, Some(0), "{page}");
        assert!(
            page.contains(".SH SYNOPSIS") && page.contains(&format!("slipring\\-{}", verb.replace('-', "\\-"))),
            "{page}"
        );
    }
    let (_, page) = slipring(&["man"]);
    assert!(page.contains("slipring \\- Write, check and run"), "{page}");
    assert_eq!(slipring(&["man", "nothing"]).0, Some(2));
}

#[test]
fn quiet_leaves_the_report_out() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/lang/double.py");
    assert_eq!(slipring(&["run", "--quiet", file]), (Some(0), String::new()));
    // Requested data is still printed.
    assert!(slipring(&["run", "-q", "--json", file]).1.starts_with('{'));
}
