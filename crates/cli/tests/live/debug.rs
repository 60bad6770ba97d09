//! `slipring debug`: commands in, a transcript out.

use std::io::Write;
use std::process::Stdio;

use crate::here::{self, Folder};

/// The transcript of a script.
pub(super) fn debug(file: &str, words: &[&str]) -> (Option<i32>, String) {
    debug_with(file, &[], words)
}

/// The same with options.
fn debug_with(file: &str, options: &[&str], words: &[&str]) -> (Option<i32>, String) {
    let mut started = here::slipring()
        .args(["debug", file])
        .args(options)
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

/// The output of a command.
pub(super) fn answer<'a>(text: &'a str, word: &str) -> &'a str {
    let rest = text.split_once(&format!("> {word}\n")).unwrap_or_else(|| panic!("no {word} in {text}")).1;
    rest.split("\n> ").next().unwrap()
}

#[test]
fn a_run_goes_forwards_and_backwards() {
    let words = ["next 5", "next", "back", "end", "back 3", "cycle 0", "start", "back", "next 99999"];
    let (code, text) = debug("examples/lang/double.py", &words);
    assert_eq!(code, Some(0));
    // The same event, however it is reached.
    let fifth = answer(&text, "next 5");
    assert!(fifth.starts_with("[5/"), "{text}");
    assert_eq!(answer(&text, "back").trim_end(), fifth.trim_end());
    assert!(answer(&text, "end").starts_with("cycle 887; ["), "{text}");
    assert!(answer(&text, "end").ends_with(answer(&text, "next 99999").trim_end()), "{text}");
    assert_eq!(answer(&text, "start"), "before the first event");
    assert!(
        text.starts_with(&format!("{} events, 887 cycles", answer(&text, "end").split(['/', ']']).nth(1).unwrap())),
        "{text}"
    );
}

#[test]
fn contents_change_when_work_is_over() {
    // A tile of the product before, during and after its computation; zero before, because memories are initialised to
    // zero.
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
    // The final contents of a default run, and nothing yet while the product was computed.
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
    // The last push: the third tile, and none after it.
    assert!(answer(&text, "rop push").contains("AIC.FIX  push ring C2V  line 49"), "{text}");
}

#[test]
fn words_that_mean_nothing_are_said() {
    let words =
        ["nonsense", "next x", "step 0", "show", "show nobody", "line 9999", "rop nothing", "where", "quit", "next"];
    let (code, text) = debug("examples/lang/double.py", &words);
    assert_eq!(code, Some(0));
    assert_eq!(answer(&text, "nonsense"), "there is no command `nonsense`: `help` lists them");
    assert_eq!(answer(&text, "next x"), "`x` is not a number");
    assert_eq!(answer(&text, "step 0"), "there is no command `step 0`: `help` lists them");
    assert!(answer(&text, "show nobody").contains("there is no tile and no buffer `nobody`"));
    assert_eq!(answer(&text, "line 9999"), "there is none after this event");
    assert!(text.trim_end().ends_with("> quit"), "{text}");
    let (code, text) = debug("examples/programs/feed_forward.py", &[]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("whole program"), "{text}");
}

#[test]
fn one_goes_to_where_a_condition_comes_to_hold() {
    let file = "examples/broken/one_pop_too_many.pto";
    let words = [
        "until slot 0 of ring C2V becomes full",
        "until slot 1 of ring C2V.AIV1 becomes full",
        "runtil AIV0.V waits",
        "until ring C2V becomes empty",
        "until AIV1.V waits for C2V",
        "until slot 3 of ring C2V becomes full",
        "until slot 8 of ring C2V becomes full",
        "until ring V2C becomes full",
        "until AIV7 waits",
        "until it rains",
        "end",
        "runtil ring C2V becomes empty",
        "until AIV0.MTE3 waits",
    ];
    let (code, text) = debug(file, &words);
    assert_eq!(code, Some(0));
    assert!(answer(&text, words[0]).contains("AIC.FIX  push ring C2V  line 49"), "{text}");
    assert!(answer(&text, words[1]).contains("446 to 447  AIC.FIX  push ring C2V  line 49"), "{text}");
    assert!(answer(&text, words[2]).contains("401 to 462  AIV0.V  waits for a tile of ring C2V"), "{text}");
    assert!(answer(&text, words[3]).contains("free ring C2V  line 79"), "{text}");
    assert!(answer(&text, words[4]).contains("551 to 590  AIV1.V  waits for a tile of ring C2V  line 77"), "{text}");
    // The fourth slot is the one that the fourth pop waits for.
    assert_eq!(answer(&text, words[5]), "this never happens in this run");
    assert_eq!(answer(&text, words[6]), "ring C2V.AIV0 has slots 0 to 7, and no slot 8");
    assert_eq!(answer(&text, words[7]), "there is no ring `V2C`; there are C2V.AIV0, C2V.AIV1");
    assert!(answer(&text, words[8]).starts_with("no core or pipe is called `AIV7`; there are AIC.M"), "{text}");
    assert!(
        answer(&text, words[9]).starts_with("`it rains` is not a condition; conditions are: slot K of ring R"),
        "{text}"
    );
    assert!(answer(&text, words[11]).contains("free ring C2V"), "{text}");
    // The last waits never end.
    assert!(answer(&text, words[12]).contains("forever, at the end"), "{text}");
}

#[test]
fn a_byte_is_written_once_its_work_is_over() {
    // The second half of the product belongs to the other Vector core: rows 32 to 63 of 64 floats.
    let words = [
        "until byte 8191 of out is written",
        "show out[2047:2049]",
        "until byte 8192 of out is written",
        "show out[2047:2049]",
        "back",
        "show out[2047:2049]",
        "start",
        "until bytes 0..3 of a are read",
        "until byte 0 of product is written",
        "until byte 16384 of out is written",
        "until byte 0 of nobody is written",
    ];
    let (code, text) = debug("examples/lang/double.py", &words);
    assert_eq!(code, Some(0));
    assert!(answer(&text, words[0]).contains("once this is over;") && answer(&text, words[0]).contains("AIV0.MTE3"));
    assert!(answer(&text, words[2]).contains("AIV1.MTE3  pto.tstore"), "{text}");
    let shown: Vec<&str> = text.split("> show out[2047:2049]\n").skip(1).collect();
    let numbers = |at: usize| {
        let line = shown[at].lines().nth(2).unwrap();
        line.split_whitespace().take(2).map(|number| number.parse::<f64>().unwrap()).collect::<Vec<f64>>()
    };
    assert!(numbers(0)[0] != 0.0 && numbers(0)[1] == 0.0, "{text}");
    assert!(numbers(1)[0] != 0.0 && numbers(1)[1] != 0.0, "{text}");
    assert_eq!(numbers(2), [0.0, 0.0], "{text}");
    assert!(answer(&text, words[7]).contains("AIC.MTE2  pto.tload"), "{text}");
    assert!(answer(&text, words[8]).contains("AIC.M  pto.tmatmul"), "{text}");
    assert_eq!(answer(&text, words[9]), "`out` has 16384 bytes, from 0");
    assert!(answer(&text, words[10]).starts_with("there is no tile and no buffer `nobody`"), "{text}");
}

#[test]
fn a_tile_is_followed_through_its_ring() {
    let words = [
        "tile 2 of C2V",
        "follow",
        "follow",
        "follow",
        "rfollow",
        "rfollow",
        "rop tload",
        "follow",
        "follow",
        "rfollow",
        "tile 9 of C2V",
    ];
    let (code, text) = debug("examples/broken/one_pop_too_many.pto", &words);
    assert_eq!(code, Some(0));
    let lines: Vec<&str> = answer(&text, words[0]).lines().collect();
    let way = ["slot taken", "pushed", "popped", "freed"];
    assert!(lines[0].starts_with("tile 2 of ring C2V.AIV0 (slot 1)"), "{text}");
    assert!(way.iter().zip(&lines[1..]).all(|(stage, line)| line.trim_start().starts_with(stage)), "{text}");
    let follows: Vec<&str> = text.split("> follow\n").skip(1).map(|rest| rest.lines().next().unwrap()).collect();
    assert!(
        follows[0].starts_with("tile 2 of ring C2V.AIV0 is popped: [") && follows[0].contains("AIV0.V  pop"),
        "{text}"
    );
    assert!(follows[1].starts_with("tile 2 of ring C2V.AIV0 is freed: ["), "{text}");
    assert!(!follows[2].starts_with('['), "{text}");
    let backs: Vec<&str> = text.split("> rfollow\n").skip(1).map(|rest| rest.lines().next().unwrap()).collect();
    assert!(backs[0].contains(" is popped: [") && backs[1].contains(" is pushed: ["), "{text}");
    // From a load to the flag that it sets, to the pipe that takes the flag, and back.
    assert!(follows[3].contains("set flag MTE2→MTE1") && follows[4].contains("take flag MTE2→MTE1"), "{text}");
    assert!(backs[2].contains("set flag MTE2→MTE1"), "{text}");
    assert!(answer(&text, words[10]).contains("tiles 1 to 3, and no tile 9"), "{text}");
}

#[test]
fn a_held_work_makes_another_run() {
    let words = ["op tmatmul", "hold 500", "held", "end", "op", "release", "flags", "hold 5"];
    let (code, text) = debug("examples/lang/double.py", &words);
    assert_eq!(code, Some(0));
    let held = answer(&text, "hold 500");
    assert!(held.starts_with("delay AIC.M work 1 by 500\n887 cycles before, 1387 now\n"), "{text}");
    assert!(held.contains("every buffer ends with the same bytes\n["), "{text}");
    assert!(held.lines().last().unwrap().contains("AIC.M  pto.tmatmul  line 10"), "{text}");
    assert!(answer(&text, "release").starts_with("nothing is held\n1387 cycles before, 887 now\n"), "{text}");
    assert!(answer(&text, "hold 5").contains("delay AIV1.MTE3 work 1 by 5"), "{text}");
    // The same from a file, and with commands on the command line.
    let folder = Folder::empty("held");
    folder.write("held", answer(&text, "held"));
    let file = folder.file("held").display().to_string();
    let (code, text) = debug_with("examples/lang/double.py", &["--schedule", &file, "-x", "end", "-x", "held"], &[]);
    assert_eq!(code, Some(0));
    assert!(text.contains("> end\ncycle 1387; ["), "{text}");
    assert!(text.contains("> held\ndelay AIC.M work 1 by 500\n"), "{text}");
    // A race: the contents that the store sees depend on its timing.
    let (_, text) = debug("examples/broken/missing_flag.pto", &["line 28", "hold 1000"]);
    let held = answer(&text, "hold 1000");
    assert!(held.contains("went  warning[uninitialised-output]"), "{text}");
    assert!(held.contains("other bytes at the end in y\n"), "{text}");
}

#[test]
fn steps_go_along_a_pipe_and_its_lines() {
    let words = ["op tload", "step", "step", "rstep", "signal", "rsignal", "flags", "where"];
    let (code, text) = debug("examples/matmul_to_vector.pto", &words);
    assert_eq!(code, Some(0));
    let place = |word: &str| {
        let line = answer(&text, word).lines().next().unwrap();
        let who = line.split("  ").nth(1).unwrap().to_string();
        (who, line.split("line ").nth(1).unwrap().split(':').next().unwrap().to_string())
    };
    let (who, line) = place("op tload");
    assert!(place("step").0 == who && place("step").1 != line, "{text}");
    assert!(answer(&text, "signal").contains("set flag") || answer(&text, "signal").contains("take"), "{text}");
}
