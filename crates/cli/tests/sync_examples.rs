//! The examples of the pipeline synchronisation manual: flags and buffers are equivalent, and omissions are reported.

use slipring::to_diagnostics;
use slipring_check::Schedules;
use slipring_ir::Diagnostic;
use slipring_machine::built_in;

use crate::here::root;
use crate::ready::{Ready, args_of};

fn text(example: &str) -> String {
    let path = root().join("examples/sync").join(example);
    std::fs::read_to_string(path).unwrap()
}

struct Outcome {
    bytes: Vec<u8>,
    cycles: u64,
    findings: Vec<Diagnostic>,
    all_schedules: bool,
}

/// Runs a text with the arguments of its `// args:` line.
fn run(text: &str) -> Outcome {
    let ready = Ready::of("example.pto", text, &built_in("a5").unwrap()).unwrap_or_else(|said| panic!("{said:?}"));
    let values = args_of(text).and_then(|words| ready.values(&words)).unwrap();
    let (execution, report) = ready.checked(&values, 1);
    Outcome {
        bytes: execution.buffer(&values, 1).unwrap().to_vec(),
        cycles: execution.result.cycles,
        findings: to_diagnostics(&report.findings, &ready.prepared.decoded.program),
        all_schedules: report.scope.schedules == Schedules::All,
    }
}

fn clean(example: &str) -> Outcome {
    let outcome = run(&text(example));
    assert!(outcome.findings.is_empty(), "{example}: {:#?}", outcome.findings);
    assert!(outcome.all_schedules, "{example}");
    outcome
}

/// The text without its lines outside loops that begin like this.
fn without(text: &str, line: &str) -> String {
    let kept: Vec<&str> = text.lines().filter(|l| !l.starts_with(line)).collect();
    assert_eq!(text.lines().count() - kept.len(), 4, "{line}");
    kept.join("\n")
}

#[test]
fn flags_and_buffers_do_the_same() {
    for (flags, buffers) in [("1_flags.pto", "2_buffers.pto"), ("3a_flags.pto", "3b_buffers.pto")] {
        let (flags, buffers) = (clean(flags), clean(buffers));
        assert!(flags.bytes == buffers.bytes);
        assert!(flags.bytes.iter().any(|b| *b != 0));
        let (fast, slow) = (flags.cycles.min(buffers.cycles), flags.cycles.max(buffers.cycles));
        assert!(slow - fast <= fast / 20, "within 5 %: {fast} and {slow} cycles");
    }
}

/// Ping-pong overlaps its stages: eight tiles take far less than eight times one tile.
#[test]
fn ping_pong_overlaps() {
    let one = clean("2_buffers.pto").cycles;
    assert!(clean("3b_buffers.pto").cycles < 5 * one);
}

#[test]
fn without_priming_the_report_says_to_prime() {
    let outcome = run(&without(&text("3a_flags.pto"), "  pto.set_flag["));
    let found: Vec<_> = outcome.findings.iter().map(|f| f.code).collect();
    assert_eq!(found, ["deadlock"]);
    let finding = &outcome.findings[0];
    let primary = finding.primary.as_ref().unwrap();
    assert!(primary.text.contains("pipe MTE2 of AIV0 waits for flag V→MTE2 id 0"), "{}", primary.text);
    let help = finding.help.as_deref().unwrap();
    assert!(help.contains("prime it before the loop with set_flag[PIPE_V, PIPE_MTE2, EVENT_ID0]"), "{help}");
}

#[test]
fn without_draining_the_flags_that_stay_set_are_named() {
    let outcome = run(&without(&text("3a_flags.pto"), "  pto.wait_flag["));
    let said: Vec<_> = outcome.findings.iter().map(|f| (f.code, f.message.as_str())).collect();
    let left = |flag| ("flag-left-set", format!("flag {flag} of AIV0 is still set when the program ends"));
    let expected = ["V→MTE2 id 0", "V→MTE2 id 1", "MTE3→V id 0", "MTE3→V id 1"].map(left);
    assert_eq!(said, expected.iter().map(|(code, message)| (*code, message.as_str())).collect::<Vec<_>>());
    assert!(outcome.bytes == clean("3b_buffers.pto").bytes, "the results are there all the same");
}

#[test]
fn a_forgotten_release_is_named() {
    let text = text("3b_buffers.pto");
    let release = "    pto.rls_buf \"PIPE_V\", %id_in, %mode : i64, i64\n";
    let outcome = run(&text.replace(release, ""));
    let codes: Vec<_> = outcome.findings.iter().map(|f| f.code).collect();
    assert!(codes.contains(&"token-not-released") && codes.contains(&"race"), "{codes:?}");
}
