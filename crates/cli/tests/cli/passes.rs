//! `slipring opt`: single passes in a given order, with the result of each.

use crate::here::{self, root};

/// Exit code, the program, and standard error.
fn opt(words: &[&str]) -> (Option<i32>, String, String) {
    let root = root();
    let ran = here::slipring().arg("opt").args(words).current_dir(root).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (ran.status.code(), text(ran.stdout), text(ran.stderr))
}

const FILE: &str = "examples/lang/double.py";

#[test]
fn passes_run_in_the_order_that_is_asked_for() {
    let (code, program, beside) = opt(&[FILE, "--arch", "a5", "--passes=expand-mixed,split-cores", "--print-changed"]);
    assert_eq!(code, Some(0), "{beside}");
    assert!(
        beside.contains("// ---- after expand-mixed\n") && beside.contains("// ---- split-cores changes nothing\n")
    );
    assert!(!beside.contains("allocate") && !program.contains(" addr = "), "{program}");
    // In the reverse order, the second pass also has nothing to do; the result is the same.
    let (_, other, beside) = opt(&[FILE, "--arch", "a5", "--passes=split-cores,expand-mixed", "--print-changed"]);
    let at = |part: &str| beside.find(part).unwrap_or_else(|| panic!("no `{part}` in {beside}"));
    assert!(at("split-cores changes nothing") < at("after expand-mixed"));
    assert_eq!(program, other);
}

#[test]
fn names_of_other_compilers_are_taken() {
    let (_, own, _) = opt(&[FILE, "--arch", "a5", "--passes=expand-mixed"]);
    let (code, other, beside) = opt(&[FILE, "--arch", "a5", "--passes=ExpandMixedKernel"]);
    assert_eq!((code, &own), (Some(0), &other), "{beside}");
    let (code, list, _) = opt(&["--list-passes"]);
    assert_eq!(code, Some(0));
    assert!(list.contains("(PlanMemory, AllocateMemoryAddr)"), "{list}");
    let (code, _, beside) = opt(&[FILE, "--passes=expand-mixed,nonsense"]);
    assert_eq!(code, Some(2));
    assert!(beside.contains("there is no pass `nonsense`; the passes are infer-vecscopes, "), "{beside}");
}

#[test]
fn it_stops_after_a_pass_and_prints_before_others() {
    let words = [FILE, "--arch", "a5", "--stop-after=AllocateMemoryAddr", "--print-before=allocate,insert-sync"];
    let (code, program, beside) = opt(&words);
    assert_eq!(code, Some(0), "{beside}");
    assert!(program.contains(" addr = ") && !program.contains("set_flag"), "{program}");
    assert_eq!(beside.matches("// ---- before ").count(), 1, "{beside}");
    let before = beside.split_once("// ---- before allocate\n").unwrap().1;
    assert!(!before.contains(" addr = "), "{before}");
    let (_, whole, beside) = opt(&[FILE, "--arch", "a5", "--print-after", "insert-sync"]);
    assert!(whole.contains("set_flag") && beside.contains("// ---- after insert-sync\n"), "{beside}");
}

#[test]
fn places_are_left_out_where_that_is_asked_for() {
    let (_, with, _) = opt(&[FILE, "--arch", "a5"]);
    let (_, without, _) = opt(&[FILE, "--arch", "a5", "--no-loc"]);
    assert!(with.contains(" loc(") && !without.contains("loc("), "{without}");
    let plain: String = with.lines().map(|line| line.split(" loc(").next().unwrap().to_string() + "\n").collect();
    assert_eq!(plain, without);
}

#[test]
fn rings_are_written_out_where_that_is_asked_for() {
    let (code, program, beside) =
        opt(&[FILE, "--arch", "a5", "--stop-after", "lower-rings", "--print-after=lower-rings"]);
    assert_eq!(code, Some(0), "{beside}");
    assert!(program.contains("pto.set_flag[") && program.contains("pto.sync.wait <PIPE_FIX>, 0"), "{program}");
    assert!(!program.contains("pto.tpush") && beside.contains("// ---- after lower-rings\n"), "{program}{beside}");
    // On its own it leaves addresses and flags to the other passes.
    let (code, alone, beside) = opt(&["examples/matmul_to_vector.pto", "--arch", "a5", "--pass", "lower-rings"]);
    assert_eq!((code, alone.contains("pto.sync.wait <PIPE_FIX>, 0")), (Some(0), true), "{beside}{alone}");
    assert!(!alone.contains("pto.set_flag[") && alone.contains("alloc_tile addr = %peer"), "{alone}");
    let (code, _, beside) = opt(&[FILE, "--arch", "a5", "--print-after", "lower-rings"]);
    assert_eq!(code, Some(2));
    assert!(beside.contains("`lower-rings` is not among the passes that run"), "{beside}");
}
