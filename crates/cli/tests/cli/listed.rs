//! Folders and patterns of files, and edits written in place.

use super::Folder;

const LEFT: &str = include_str!("../../../reference/explain/examples/flag-left-set.pto");
const CLEAN: &str = include_str!("../../../../examples/lang/double.py");

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    std::fs::create_dir_all(folder.file("kernels/deep/.hidden")).unwrap();
    folder.write("kernels/b.py", CLEAN);
    folder.write("kernels/deep/a.pto", LEFT);
    folder.write("kernels/deep/.hidden/wrong.pto", "nonsense");
    folder.write("kernels/host.py", "print(1)\n");
    folder.write("kernels/notes.txt", "nonsense");
    folder
}

#[test]
fn folders_and_patterns_stand_for_their_files() {
    let folder = folder("listed");
    let all = folder.call(&["check", "kernels"]).exits(1);
    assert!(all.out.contains("kernels/b.py: ok") && all.out.contains("kernels/deep/a.pto: 1 finding"), "{}", all.out);
    let last = "2 files: 1 ok, 1 with findings, 0 with errors; left out: 1 Python file without kernels";
    assert_eq!(all.out.lines().last(), Some(last));
    let found = folder.call(&["check", "kernels/**/*.pto"]).exits(1);
    assert!(found.out.contains("kernels/deep/a.pto: 1 finding") && !found.out.contains("b.py"), "{}", found.out);
    folder.call(&["check", "nothing/*.py"]).exits(2).says("no file matches `nothing/*.py`");
    folder.call(&["check", "kernels/host.py"]).exits(2).says("the file has no kernel");
    std::fs::create_dir_all(folder.file("empty")).unwrap();
    folder.call(&["check", "empty"]).exits(2).says("there are no kernels in `empty`");
    // A file named explicitly is read whatever its extension.
    folder.call(&["check", "kernels/notes.txt"]).exits(2);
    folder.call(&["check", "nobody.pto"]).exits(2).says("cannot read `nobody.pto`");
    // One object per file.
    let objects = folder.call(&["check", "--json", "kernels"]).exits(1).out;
    assert!(objects.lines().count() == 2 && objects.lines().all(|line| line.starts_with('{')), "{objects}");
}

#[test]
fn edits_are_written_in_place() {
    let folder = folder("in-place");
    let mended = folder.call(&["check", "--in-place", "kernels"]).exits(0);
    assert!(mended.out.contains("  fixed: ") && mended.out.contains("  0 findings left"), "{}", mended.out);
    let text = std::fs::read_to_string(folder.file("kernels/deep/a.pto")).unwrap();
    assert_ne!(text, LEFT);
    assert_eq!(std::fs::read_to_string(folder.file("kernels/b.py")).unwrap(), CLEAN, "what is right stays as it is");
    let again = folder.call(&["check", "kernels/deep/a.pto", "--in-place"]).exits(0);
    assert!(!again.out.contains("fixed"), "{}", again.out);
    folder.call(&["check", "--in-place", "-"]).exits(2).says("standard input cannot be rewritten");
    std::fs::write(folder.file("kernels/deep/a.pto"), LEFT).unwrap();
    let facts = folder.call(&["check", "--in-place", "--json", "kernels/deep/a.pto"]).exits(0).out;
    let facts: serde_json::Value = serde_json::from_str(&facts).unwrap();
    let mended = &facts["mended"];
    assert!(facts["findings"] == 1 && mended["left"] == 0 && mended["file"] == "kernels/deep/a.pto", "{facts}");
    assert_eq!(mended["edits"].as_array().map(Vec::len), Some(1), "{facts}");
    let facts = folder.call(&["check", "--in-place", "--json", "kernels/deep/a.pto"]).exits(0).out;
    let facts: serde_json::Value = serde_json::from_str(&facts).unwrap();
    assert!(facts["mended"]["file"].is_null() && facts["mended"]["left"] == 0, "{facts}");
    let facts = folder.call(&["check", "--json", "kernels/deep/a.pto"]).exits(0).out;
    assert!(!facts.contains("mended"), "{facts}");
}
