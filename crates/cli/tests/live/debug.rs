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
fn parts_that_are_not_there_are_refused() {
    let words = [
        "show c[0:4, 0:4]",
        "show c[4096:4097]",
        "show c[0:99999999999999999999]",
        "show out[32:33]",
        "show out[0:32, 60:65]",
        "show out[4:4]",
        "end",
        "show c[4095:]",
        "show out[31:, :2]",
    ];
    let (code, text) = debug("examples/matmul_to_vector.pto", &words);
    assert_eq!(code, Some(0));
    assert_eq!(
        answer(&text, words[0]),
        "`c` is a buffer, whose elements have one index: `show c[A:B]`, of 4096 elements"
    );
    let told = "the buffer `c` has 4096 elements, from 0, and not those of `";
    assert_eq!(answer(&text, words[1]), format!("{told}[4096:4097]`"));
    assert!(answer(&text, words[2]).starts_with(told), "{text}");
    let told = |asked: &str, core: &str| {
        format!("the tile `out` of {core} has 32 rows and 64 columns, from 0, and not those of `[{asked}]`")
    };
    for (word, asked) in [(words[3], "32:33"), (words[4], "0:32, 60:65")] {
        assert_eq!(answer(&text, word), format!("{}\n{}", told(asked, "AIV0"), told(asked, "AIV1")));
    }
    assert!(answer(&text, words[5]).starts_with("`[4:4]` is not a slice"), "{text}");
    // A heading, the buffer and one element; two tiles with two elements of a row each.
    let shown: Vec<&str> = answer(&text, words[7]).lines().collect();
    assert_eq!((shown.len(), shown[2].split_whitespace().count()), (3, 1), "{text}");
    let shown: Vec<&str> = answer(&text, words[8]).lines().collect();
    assert_eq!((shown.len(), shown[2], shown[4].split_whitespace().count()), (5, shown[2], 3), "{text}");
}

#[test]
fn an_argument_has_a_value() {
    let folder = Folder::empty("argument");
    let text = "func.func @k(%x: !pto.ptr<f32, gm>, %n: i32, %f: f32, %b: i1) {\n  return\n}\n";
    folder.write("k.pto", text);
    let file = folder.file("k.pto").display().to_string();
    let given = ["--arg", "x=zeros:16", "--arg", "n=-3:i32", "--arg", "f=1.5:f32", "--arg", "b=true"];
    let (code, text) = debug_with(&file, &given, &["show n", "show %f", "show b", "show n[0:1]"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(answer(&text, "show n").ends_with("\nn: -3, an argument of type i32"), "{text}");
    assert!(answer(&text, "show %f").ends_with("\nf: 1.5, an argument of type f32"), "{text}");
    assert!(answer(&text, "show b").ends_with("\nb: true, an argument of type i1"), "{text}");
    assert_eq!(answer(&text, "show n[0:1]").trim_end(), "`n` is a number, which has no parts");
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
    let words = [
        "nonsense",
        "next x",
        "step 0",
        "show",
        "show nobody",
        "line 9999",
        "line x.py:3",
        "tile 1 of V2C",
        "next\t2",
        "quit",
        "next",
    ];
    let (code, text) = debug("examples/lang/double.py", &words);
    assert_eq!(code, Some(0));
    assert_eq!(answer(&text, "nonsense"), "there is no command `nonsense`: `help` lists them");
    assert_eq!(answer(&text, "next x"), "`x` is not a number");
    assert_eq!(answer(&text, "step 0"), "there is no command `step 0`: `help` lists them");
    assert!(answer(&text, "show nobody").contains("there is no tile and no buffer `nobody`"));
    assert_eq!(answer(&text, "line 9999"), "the run has no line 9999");
    assert_eq!(answer(&text, "line x.py:3"), "the run has no line 3 of x.py");
    assert_eq!(answer(&text, "tile 1 of V2C"), "there is no ring `V2C`; there are C2V.AIV0, C2V.AIV1");
    assert!(answer(&text, "next\t2").starts_with("[2/"), "{text}");
    assert!(text.trim_end().ends_with("> quit"), "{text}");
    let words = ["cycle", "hold", "op", "rop", "finding"];
    let (_, text) = debug("examples/lang/double.py", &words);
    assert_eq!(answer(&text, "cycle"), "`cycle` needs a number: `cycle 12`");
    assert_eq!(answer(&text, "hold"), "`hold` needs a number: `hold 12`");
    assert_eq!(answer(&text, "op"), "`op` needs a part of an event's name: `op tload`");
    assert_eq!(answer(&text, "finding").trim_end(), "nothing was found");
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
