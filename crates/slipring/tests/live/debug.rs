//! `slipring debug`: words in, a transcript out.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// The transcript of a script.
fn debug(file: &str, words: &[&str]) -> (Option<i32>, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut started = Command::new(env!("CARGO_BIN_EXE_slipring"))
        .args(["debug", file])
        .current_dir(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    started.stdin.take().unwrap().write_all((words.join("\n") + "\n").as_bytes()).unwrap();
    let ran = started.wait_with_output().unwrap();
    let text = String::from_utf8(ran.stdout).unwrap() + &String::from_utf8(ran.stderr).unwrap();
    (ran.status.code(), text)
}

/// What was said to a word.
fn answer<'a>(text: &'a str, word: &str) -> &'a str {
    let rest = text.split_once(&format!("> {word}\n")).unwrap_or_else(|| panic!("no {word} in {text}")).1;
    rest.split("\n> ").next().unwrap()
}

#[test]
fn a_run_goes_forwards_and_backwards() {
    let words = ["next 5", "next", "back", "end", "back 3", "cycle 0", "start", "back", "next 99999"];
    let (code, text) = debug("examples/lang/double.py", &words);
    assert_eq!(code, Some(0));
    // The same event, whichever way it is come to.
    let fifth = answer(&text, "next 5");
    assert!(fifth.starts_with("[5/"), "{text}");
    assert_eq!(answer(&text, "back").trim_end(), fifth.trim_end());
    assert!(answer(&text, "end").starts_with("cycle 887; ["), "{text}");
    assert!(answer(&text, "end").ends_with(answer(&text, "next 99999").trim_end()), "{text}");
    assert_eq!(answer(&text, "start"), "in front of the first event");
    assert!(
        text.starts_with(&format!("{} events, 887 cycles", answer(&text, "end").split(['/', ']']).nth(1).unwrap())),
        "{text}"
    );
}

#[test]
fn contents_change_when_work_is_over() {
    // A tile of the product before, while and after it is computed; zero before, since memories begin so.
    let words = [
        "show product",
        "op tmatmul",
        "show product",
        "where",
        "line 12",
        "end",
        "show out",
        "rop tmatmul",
        "show out",
    ];
    let (code, text) = debug("examples/lang/double.py", &words);
    assert_eq!(code, Some(0));
    let before = answer(&text, "show product");
    assert!(before.contains("product: 64x64 in acc of AIC at 0x0, 0 to 0"), "{text}");
    let at: u64 = answer(&text, "op tmatmul").split(' ').nth(1).unwrap().parse().unwrap();
    assert!(answer(&text, "where").contains(&format!("cycle {at}")), "{text}");
    assert!(answer(&text, "where").contains("AIC.M"), "{text}");
    // What a plain run ends with, and nothing yet while the product was computed.
    let outs: Vec<&str> = text.split("> show out\n").skip(1).map(|rest| rest.split("\n> ").next().unwrap()).collect();
    assert!(outs[0].contains("-19.00331 to 23.26076") && outs[0].contains("9.10085 2.85237"), "{text}");
    assert!(outs[1].contains("0 to 0"), "{text}");
}

#[test]
fn a_race_leads_to_both_of_its_accesses() {
    let (code, text) = debug("examples/broken/missing_flag.pto", &["finding 1", "list", "finding 9"]);
    assert_eq!(code, Some(0));
    let found = answer(&text, "finding 1");
    assert!(
        found.contains("error[race]") && found.contains("pipe V of AIV0 writes here; last event of its line: ["),
        "{text}"
    );
    assert!(found.lines().last().unwrap().contains("AIV0.MTE3  pto.mte_ub_gm  line 28"), "{text}");
    assert!(answer(&text, "list").contains("*   28    pto.mte_ub_gm"), "{text}");
    assert!(answer(&text, "finding 9").starts_with("findings go from 1 to"), "{text}");
}

#[test]
fn one_steps_back_from_a_hang() {
    let words = ["finding 1", "where", "rings", "rop push", "rings"];
    let (code, text) = debug("examples/broken/one_pop_too_many.pto", &words);
    assert_eq!(code, Some(0));
    assert!(text.contains("finding 1: error[deadlock]: pipe V of AIV0 waits for ring C2V slot 3 ready"), "{text}");
    let waits = "AIV0.V      waits for ring C2V slot 3 ready (AIC→AIV0, flag 3) forever: ";
    assert!(answer(&text, "finding 1").contains(waits), "{text}");
    assert!(answer(&text, "where").contains(waits), "{text}");
    assert!(answer(&text, "rings").contains("ring C2V (AIC to AIV0): filled slots of"), "{text}");
    // The last push: the third tile, and none behind it.
    assert!(answer(&text, "rop push").contains("AIC.FIX  push ring C2V  line 49"), "{text}");
}

#[test]
fn words_that_mean_nothing_are_said() {
    let words = ["nonsense", "next x", "show", "show nobody", "line 9999", "rop nothing", "where", "quit", "next"];
    let (code, text) = debug("examples/lang/double.py", &words);
    assert_eq!(code, Some(0));
    assert_eq!(answer(&text, "nonsense"), "there is no word `nonsense`: `help` lists them");
    assert_eq!(answer(&text, "next x"), "`x` is not a number");
    assert!(answer(&text, "show nobody").contains("there is no tile and no buffer `nobody`"));
    assert_eq!(answer(&text, "line 9999"), "there is none behind this event");
    assert!(text.trim_end().ends_with("> quit"), "{text}");
    let (code, text) = debug("examples/programs/feed_forward.py", &[]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("whole program"), "{text}");
}
