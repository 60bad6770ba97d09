//! `slipring test`: files that state the expected behaviour of the tool.

use super::*;

#[test]
fn files_are_as_they_say_or_not() {
    let folder = Folder::new("expected");
    folder.write(
        "right.pto",
        format!("// test: run %s --arch a5\n// check: race clean\n// out[1]: f32 2 3 4 …\n{KERNEL}"),
    );
    let wrong = format!("// test: run %s --arch a5\n// check: nothing prints this\n// out[1]: f32 7 …\n{KERNEL}");
    folder.write("wrong.pto", wrong);
    folder.write("plain.pto", KERNEL);
    folder.call(&["test", "right.pto"]).exits(0).says("1 passed (1 runs), 0 failed");
    // A file without expectations is skipped in a folder, and is an error if named.
    let all = folder.call(&["test", "."]).exits(1).says("1 passed (1 runs), 1 failed\n");
    assert!(!all.out.contains("plain.pto"), "{}", all.out);
    all.says("does not print, in this order: nothing prints this").says("element 0 is 2, not 7");
    folder.call(&["test", "plain.pto"]).exits(2).says("has no line `// test: run %s`");
    folder.write("misspelt.pto", format!("// test: run %s\n// chek: clean\n{KERNEL}"));
    folder.call(&["test", "misspelt.pto"]).exits(2).says("did you mean `check:`?");
    // A folder without any test is not a success.
    fs::create_dir(folder.file("empty")).unwrap();
    fs::write(folder.file("empty/plain.pto"), KERNEL).unwrap();
    folder.call(&["test", "empty"]).exits(2).says("nothing was tested");
}

#[test]
fn a_product_of_the_wrong_sides_is_mended() {
    let folder = Folder::new("mended");
    let kernel = "import slipring.language as pl\n\n\n@pl.incore\ndef f(a: pl.Tensor[[32, 64], pl.FP16], b: pl.Tensor[[48, 64], pl.FP16], \
                  c: pl.Out[pl.Tensor[[32, 48], pl.FP32]]):\n    c[:, :] = PRODUCT\n";
    for (product, mended) in
        [("pl.matmul(a, b)", "pl.matmul(a, b, b_trans=True)"), ("a[:, :] @ b[:, :]", "a[:, :] @ b[:, :].T")]
    {
        folder.write("k.py", kernel.replace("PRODUCT", product));
        folder.call(&["check", "k.py"]).exits(2).says("b_trans=True");
        folder.call(&["check", "k.py", "--in-place"]).exits(0).says("line 6: c[:, :] = ");
        let text = fs::read_to_string(folder.file("k.py")).unwrap();
        assert!(text.contains(mended), "{text}");
    }
}

#[test]
fn a_file_requests_nothing_that_writes_starts_or_stays() {
    let folder = Folder::new("requested");
    for (line, reason) in [
        ("build %s -o out.pto", "cannot write files, as `-o` does"),
        ("run %s --arch a5 --trace t.json", "cannot write files, as `--trace` does"),
        ("run %s --arch a5 --arg @x.npy:out", "cannot write files, as `--arg` does"),
        ("check %s --in-place", "`slipring check`: it changes files"),
        ("trace k.cpp", "`slipring trace`: it runs other programs"),
        ("test %s", "`slipring test`: it would run test lines again"),
        ("watch %s", "`slipring watch`: it runs until its user stops it"),
    ] {
        folder.write("k.pto", format!("// test: run %s --arch a5\n// test: {line}\n{KERNEL}"));
        let before = folder.names();
        let called = folder.call(&["test", "k.pto"]).exits(2);
        assert!(called.err.contains(reason), "{line}: {}", called.err);
        assert_eq!(folder.names(), before, "{line}");
    }
    folder.write("k.pto", format!("// test: report %s --arch a5 -o /dev/null\n{KERNEL}"));
    folder.call(&["test", "k.pto"]).exits(0);
}
