//! Each run option is a flag of the verbs with its way of running, or states why it is not; a wrong value names the
//! option.

use slipring::{OPTIONS, Takes, Way};

use super::Folder;

/// Verbs, and their ways of running.
const VERBS: [(&str, &[Way]); 6] = [
    ("run", &[Way::Kernel, Way::Program, Way::Board, Way::BoardProgram]),
    ("prove", &[Way::Proof]),
    ("ring", &[Way::Rings]),
    ("debug", &[Way::Stepping]),
    ("tune", &[Way::Tune]),
    ("check", &[Way::Check]),
];

#[test]
fn every_option_is_a_flag_or_says_why_not() {
    let folder = Folder::new("options");
    let mut flags = 0;
    for (verb, ways) in VERBS {
        let help = folder.call(&[verb, "--help"]).exits(0).out;
        let shown: Vec<&str> = help.lines().filter_map(|line| line.split_whitespace().next()).collect();
        let own = OPTIONS.iter().filter(|option| ways.iter().any(|way| option.of.contains(way)));
        for option in own.filter(|option| option.not_on_command_line.is_none()) {
            let flag = format!("--{}", option.dashed());
            assert!(shown.contains(&flag.as_str()), "`{verb}` has no `{flag}`:\n{help}");
            flags += 1;
        }
    }
    assert!(flags > 40, "{flags} flags");
    assert!(OPTIONS.iter().all(|option| option.not_on_command_line.is_none_or(|why| !why.is_empty())));
}

#[test]
fn a_wrong_value_names_the_option() {
    let folder = Folder::new("options-wrong");
    for option in OPTIONS.iter().filter(|option| option.not_on_command_line.is_none()) {
        let (flag, value) = (format!("--{}", option.dashed()), option.value);
        let (wrong, says) = match option.takes {
            Takes::Number(..) => ("-1", format!("invalid value '-1' for '{flag} <{value}>': it takes a")),
            Takes::Texts(..) => (" ", format!("invalid value ' ' for '{flag} <{value}>': it takes")),
            Takes::Words(..) | Takes::Text(Some(_), ..) => {
                ("nobody", format!("invalid value 'nobody' for '{flag} <{value}>': it takes"))
            }
            Takes::Flag(_) => ("nobody", format!("unexpected value 'nobody' for '{flag}'")),
            Takes::Text(None, ..) => ("nobody", "there is no board `nobody`".to_string()),
            Takes::Lines(..) => ("nobody", "cannot read `nobody`".to_string()),
            Takes::Contents(_) | Takes::Own => panic!("`{flag}` cannot be written on a command line"),
        };
        folder.call(&["run", "add.pto", &format!("{flag}={wrong}")]).exits(2).says(&says);
    }
}

#[test]
fn what_has_no_effect_is_refused() {
    let folder = Folder::new("options-refused");
    let refused = |words: &[&str], says: &str| {
        folder.call(words).exits(2).says(says);
    };
    let pipe = "`--timing slow:AIV0.FIX`: AIV0 of a5 has no pipe FIX; it has S, V, MTE2, MTE3";
    for verb in ["run", "ring", "debug"] {
        refused(&[verb, "add.pto", "--timing", "slow:AIV0.FIX"], pipe);
    }
    refused(&["run", "add.pto", "--timing", "slow:AIC.V"], "AIC of a5 has no pipe V; it has S, ");
    folder.call(&["run", "add.pto", "--timing", "slow:AIV0.MTE2"]).exits(0);
    for verb in ["run", "prove", "debug", "check"] {
        refused(&[verb, "add.pto", "--assume", ""], "for '--assume <CONDITIONS>': it takes conditions such as");
        refused(&[verb, "add.pto", "--assume", ", and "], "there is none in `, and `");
    }
    refused(
        &["run", "add.pto", "--delays", "1"],
        "`--delays` is for runs on a board: it has no effect without `--device`",
    );
    refused(&["run", "add.pto", "--order", "1"], "`--order` is for whole programs, and this is a kernel");
    refused(&["run", "add.pto", "--device", "p150", "--timing", "random:1"], "the board has `--delays`");
    refused(&["run", "add.pto", "--time-only", "--check", "race"], "cannot be used with");
    refused(&["tune", "add.pto", "--vary", "blocks=1,2", "--patch", "p.diff"], "cannot be used with");
    for words in [&["cost", "tadd"][..], &["cost", "--points", "points.tsv"]] {
        let with = [words, &["--interpretation", "predicate-bytes"]].concat();
        refused(&with, "`--interpretation` has no effect here: the cost of an op does not depend on it");
    }
    folder.write("late.txt", "slower\n");
    refused(&["run", "add.pto", "--schedule", "late.txt"], "late.txt: takes a schedule: `slower` is not");
}
