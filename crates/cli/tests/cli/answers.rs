//! The output of a proof while it is running.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::{Folder, command};

/// Counts to 2⁶² in a loop that a proof has to run, so the proof does not end within the test.
const ENDLESS: &str = r#"// args: 3:i64
func.func @k(%n: i64) attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %far = arith.constant 4611686018427387904 : i64
  %end = scf.while (%i = %c0) : (i64) -> i64 {
    %more = arith.cmpi slt, %i, %far : i64
    scf.condition(%more) %i : i64
  } do {
  ^bb0(%i: i64):
    %next = arith.addi %i, %c1 : i64
    scf.yield %next : i64
  }
  return
}
"#;

#[test]
fn a_proof_that_does_not_end_speaks_within_ten_seconds() {
    let folder = Folder::new("answers");
    folder.write("endless.pto", ENDLESS);
    let begin = Instant::now();
    let words = ["prove", "endless.pto", "--arch", "a5", "--max-steps", "4611686018427387904"];
    let mut child = command(&folder.0, &words).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut said = String::new();
    let read = BufReader::new(child.stderr.take().unwrap()).read_line(&mut said);
    let after = begin.elapsed();
    child.kill().unwrap();
    child.wait().unwrap();
    read.unwrap();
    assert!(said.contains("not decided after 1 s: one run with all checks"), "{said}");
    assert!(after < Duration::from_secs(10), "{after:?}");
}
