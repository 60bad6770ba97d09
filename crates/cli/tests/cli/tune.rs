//! `tune`: the same table for any number of points run in parallel, and for any number of interruptions.

use serde_json::Value;

use super::Folder;
use crate::here::root;

const TILES: &str = "\
import slipring.language as pl

TILE, FACTOR = 64, 2.0


@pl.jit
def scale(x: pl.Tensor[[128, 64], pl.FP32], out: pl.Out[pl.Tensor[[128, 64], pl.FP32]]):
    pl.func_attr({'exact_slices': True})
    for at in pl.range(0, 128, TILE):
        out[at : at + TILE, :] = x[at : at + TILE, :] * FACTOR
";

const GRID: [&str; 6] = ["tune", "tiles.py", "--vary", "TILE=8,16,32,64,128,100", "--vary", "FACTOR=0.5,3.0"];

fn with(more: &[&'static str]) -> Vec<&'static str> {
    GRID.iter().chain(more).copied().collect()
}

fn points(facts: &Value) -> Vec<Value> {
    facts["points"].as_array().unwrap().clone()
}

#[test]
fn every_number_of_threads_gives_the_same_table() {
    let folder = Folder::new("tune-threads");
    folder.write("tiles.py", TILES);
    let one = folder.call(&with(&["-j", "1", "--json"])).exits(0).json();
    let four = folder.call(&with(&["-j", "4", "--json"])).exits(0).json();
    assert_eq!(one, four);
    let all = points(&one);
    assert_eq!(all.len(), 12);
    for point in &all {
        // Each point agrees with `run` for the same values.
        let (tile, factor) = (point["values"]["TILE"].as_str().unwrap(), point["values"]["FACTOR"].as_str().unwrap());
        let sets = [format!("TILE={tile}"), format!("FACTOR={factor}")];
        let run = folder.call(&["run", "tiles.py", "--set", &sets[0], "--set", &sets[1], "--json"]).json();
        let cycles = if run["complete"] == true { run["cycles"].clone() } else { Value::Null };
        assert_eq!(point["cycles"], cycles, "{sets:?}");
        assert_eq!(point["verdict"] == "clean", run["findings"].as_array().unwrap().is_empty(), "{sets:?}");
        assert_eq!(point["verdict"] == "findings", tile == "100", "{sets:?}");
    }
    let clean = all.iter().filter(|point| point["verdict"] == "clean");
    let least = clean.map(|point| point["cycles"].as_u64().unwrap()).min().unwrap();
    let best = &all[one["best"].as_u64().unwrap() as usize];
    assert_eq!((best["cycles"].as_u64(), best["verified"].as_str()), (Some(least), Some("same")));
}

#[test]
fn a_grid_goes_on_where_it_was_stopped() {
    let folder = Folder::new("tune-resume");
    folder.write("tiles.py", TILES);
    let fresh = folder.call(&with(&["--json", "--resume", "points.jsonl"])).exits(0).json();
    assert_eq!(fresh["reused"], 0);
    let whole = std::fs::read_to_string(folder.file("points.jsonl")).unwrap();
    assert_eq!(whole.lines().count(), 13, "a line a point, and one for the file as it is written");
    let again = folder.call(&with(&["--json", "--resume", "points.jsonl"])).exits(0).json();
    assert_eq!((points(&again), again["reused"].as_u64()), (points(&fresh), Some(12)));
    assert_eq!(std::fs::read_to_string(folder.file("points.jsonl")).unwrap(), whole);
    // A process that ended in the middle of a line.
    let some: String = whole.split_inclusive('\n').take(5).collect();
    folder.write("points.jsonl", some + "{\"values\":{\"TILE\":");
    let rest = folder.call(&with(&["--json", "--resume", "points.jsonl"])).exits(0).json();
    assert_eq!((points(&rest), rest["reused"].as_u64()), (points(&fresh), Some(4)));
    assert_eq!(std::fs::read_to_string(folder.file("points.jsonl")).unwrap(), whole);
    // The source has changed: the points in the file no longer apply.
    folder.write("tiles.py", TILES.replace("* FACTOR", "* FACTOR + 1.0"));
    let changed = folder.call(&with(&["--json", "--resume", "points.jsonl"])).exits(0).json();
    assert_eq!(changed["reused"], 0);
    assert_ne!(points(&changed)[0]["result"], points(&fresh)[0]["result"]);
    let seeded = folder.call(&with(&["--json", "--resume", "points.jsonl", "--seed", "7"])).exits(0).json();
    assert_eq!(seeded["reused"], 0);
    // A file with other contents is not changed.
    for text in ["not points\n", "not points", "{\"cycles\": 3}\n"] {
        folder.write("other.jsonl", text);
        folder.call(&with(&["--resume", "other.jsonl"])).exits(2).says("was not written by `tune --resume`");
        assert_eq!(std::fs::read_to_string(folder.file("other.jsonl")).unwrap(), text);
    }
}

#[test]
fn the_picture_has_every_point_that_ran() {
    let folder = Folder::new("tune-plot");
    folder.write("tiles.py", TILES);
    folder.call(&with(&["--plot", "grid.svg"])).exits(0);
    let svg = std::fs::read_to_string(folder.file("grid.svg")).unwrap();
    // Ten complete points, and the file as written.
    assert_eq!(svg.matches("<title>").count(), 11);
    folder.call(&with(&["--plot", "-", "--json"])).exits(2).says("both write to standard output");
    folder
        .call(&["tune", "tiles.py", "--auto", "--patch", "-", "--json"])
        .exits(2)
        .says("both write to standard output");
}

const COUNTED: &str = "\
import slipring.language as pl


@pl.jit
def scale(x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for i in pl.range(n):
        out[:, :] = x[:, :] * 2.0
";

#[test]
fn numbers_that_the_kernel_takes_vary() {
    let folder = Folder::new("tune-numbers");
    folder.write("counted.py", COUNTED);
    let grid = ["tune", "counted.py", "--vary", "n=1..3", "--json"];
    let x = ["--arg", "rand:f32[64x64]", "--arg", "7:i64", "--arg", "zeros:16384"];
    // The other arguments as the file declares them, by name, and in order.
    for args in [&[][..], &["--arg", "n=9:i64"], &x] {
        let call: Vec<&str> = grid.iter().chain(args).copied().collect();
        let all = points(&folder.call(&call).exits(0).json());
        let cycles: Vec<u64> = all.iter().map(|point| point["cycles"].as_u64().unwrap()).collect();
        for (n, cycles) in (1..).zip(&cycles) {
            let own = format!("n={n}:i64");
            assert_eq!(folder.call(&["run", "counted.py", "--arg", &own, "--json"]).json()["cycles"], *cycles, "{n}");
        }
        assert!(cycles[0] < cycles[1] && cycles[1] < cycles[2], "{cycles:?}");
    }
    folder.call(&["tune", "counted.py", "--vary", "n=1,x"]).exits(0).says("refused: `x:i64` is not an argument");
    folder.call(&["tune", "counted.py", "--vary", "out=1,2"]).exits(2).says("the file has no constant `out`");
}

/// Applies a unified diff to a text using only the lines of the diff.
fn patched(text: &str, patch: &str) -> String {
    let old: Vec<&str> = text.lines().collect();
    let (mut new, mut at) = (Vec::new(), 0);
    for line in patch.lines().skip(2) {
        if let Some(hunk) = line.strip_prefix("@@ -") {
            let first: usize = hunk.split([',', ' ']).next().unwrap().parse().unwrap();
            new.extend(&old[at..first - 1]);
            at = first - 1;
            continue;
        }
        let (kind, rest) = line.split_at(1);
        if kind != "+" {
            assert_eq!(old[at], rest, "{patch}");
            at += 1;
        }
        if kind != "-" {
            new.push(rest);
        }
    }
    new.extend(&old[at..]);
    new.join("\n") + "\n"
}

/// The printed patches alone make the kernels of the tutorial faster, and the results do not change.
#[test]
fn patches_improve_the_tutorial() {
    let folder = Folder::new("patches");
    for (name, least) in [
        ("1_vector_add", 20.0),
        ("2_matmul", 12.0),
        ("5_attention_step", 3.0),
        ("5_attention_step_automatic", 3.0),
        ("5_attention_step_whole", 6.0),
    ] {
        let path = format!("{}/../../examples/lang/{name}.py", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        folder.write("k.py", &text);
        let improved = folder.call(&["tune", "k.py", "--auto", "--json"]).exits(0).json();
        folder.write("k.py", patched(&text, improved["patch"].as_str().unwrap()));
        let run = folder.call(&["run", "k.py", "--verify", "--json"]).exits(0).json();
        let (before, after) = (improved["written"]["cycles"].as_f64().unwrap(), run["cycles"].as_f64().unwrap());
        assert_eq!(improved["best"]["cycles"].as_f64(), Some(after), "{name}");
        assert!(100.0 * (before - after) / before >= least, "{name}: {before} to {after}");
        assert_eq!((improved["proof"].as_str(), run["findings"].as_array().map(Vec::len)), (Some("proved"), Some(0)));
    }
}

/// Rows of the tutorial's table: kernel, platform, cycles before and after.
fn promised() -> Vec<(String, String, u64, u64)> {
    let page = include_str!("../../../../docs/tutorial.md");
    let rows = page.lines().filter(|line| line.starts_with("| `") && line.contains(".py` | a"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        (cells[1].to_string(), cells[2].to_string(), cells[3].parse().unwrap(), cells[4].parse().unwrap())
    };
    rows.map(row).collect()
}

/// The printed patches make the tutorial's kernels as fast as it states, and leave the same bytes.
#[test]
fn printed_patches_make_the_tutorial_faster() {
    let git = std::process::Command::new("git").arg("--version").output();
    if !git.is_ok_and(|git| git.status.success()) {
        println!("skipped: there is no git to apply patches with");
        return;
    }
    let rows = promised();
    assert_eq!(rows.len(), 5, "{rows:?}");
    for (kernel, platform, before, after) in rows {
        let folder = Folder::new(&format!("tune-patch-{kernel}"));
        let examples = root().join("examples/lang");
        folder.write(&kernel, std::fs::read_to_string(examples.join(&kernel)).unwrap());
        let run = || folder.call(&["run", &kernel, "--arch", &platform, "--json"]).exits(0).json();
        let written = run();
        folder.call(&["tune", &kernel, "--auto", "--arch", &platform, "--patch", "own.patch"]).exits(0);
        let applied = std::process::Command::new("git")
            .args(["apply", "own.patch"])
            .env("GIT_CEILING_DIRECTORIES", std::env::temp_dir())
            .current_dir(folder.file("."))
            .output()
            .unwrap();
        assert!(applied.status.success(), "{kernel}: {}", String::from_utf8_lossy(&applied.stderr));
        let patched = run();
        assert_eq!((written["cycles"].as_u64(), patched["cycles"].as_u64()), (Some(before), Some(after)), "{kernel}");
        assert_eq!(written["buffers"], patched["buffers"], "{kernel}");
    }
}

/// A kernel whose Cube core waits for slots of a ring.
const BURST: &str = "\
import slipring.language as pl

ROWS, COLS, TILE = 1024, 128, 64


@pl.jit
def burst(
    a: pl.Tensor[[ROWS, COLS], pl.FP16],
    b: pl.Tensor[[COLS, TILE], pl.FP16],
    out: pl.Out[pl.Tensor[[ROWS, TILE], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.cross_core_slot(slot_num=1)]):
        for at in pl.range(0, ROWS, TILE):
            x = pl.matmul(a[at : at + TILE, :], b)
            for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
                out[at + lane * 32 : at + lane * 32 + 32, :] = pl.exp(pl.aiv_shard(x))
";

/// Each significant forecast has an edit, or a reason for having none; the patches of the edits alone give the stated
/// cycles and leave the same bytes.
#[test]
fn forecasts_have_edits_or_the_reason_why_not() {
    let at = |name: &str| format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(at(name)).unwrap();
    let attention = read("examples/lang/6_attention.py");
    let cases = [
        // File, its text, platform, and the hypothesis of a forecast with an edit.
        ("k.py", attention.clone(), "a5", "no wait at line 31"),
        ("k.py", read("examples/lang/1_vector_add.py"), "a2a3", "one more buffer for `a_vec`"),
        ("k.py", BURST.to_string(), "a2a3", "rings without end: no push waits for a free slot"),
        ("k.pto", read("tests/files/rings/two_pops_outstanding.pto"), "a5", "twice as many slots in ring C2V"),
        ("k.py", read("examples/lang/4_vector_to_matmul.py"), "a5", ""),
        ("k.pto", read("examples/sync/1_flags.pto"), "a5", ""),
    ];
    let folder = Folder::new("forecast-edits");
    for (name, text, platform, supposed) in cases {
        folder.write(name, &text);
        let facts = folder.call(&["run", name, "--arch", platform, "--advice", "--json"]).exits(0).json();
        let advice = &facts["advice"];
        let now = facts["cycles"].as_u64().unwrap();
        let edits = advice["edits"].as_array().unwrap();
        for own in advice["forecasts"].as_array().unwrap() {
            let gains = 50 * (now - own["cycles"].as_u64().unwrap()) >= now;
            let (edit, why) = (own["edit"].as_u64(), own["no_edit"].as_str().unwrap());
            assert_eq!(gains, edit.is_some() == why.is_empty(), "{own}");
            assert!(edit.is_none_or(|at| (at as usize) < edits.len()), "{own}");
            assert!(supposed.is_empty() || own["what"] != supposed || edit.is_some(), "{own}");
        }
        assert_eq!(edits.is_empty(), supposed.is_empty(), "{advice}");
        for edit in edits {
            folder.write(name, patched(&text, edit["patch"].as_str().unwrap()));
            let run = folder.call(&["run", name, "--arch", platform, "--verify", "--json"]).exits(0).json();
            assert!(edit["cycles"] == run["cycles"] && run["cycles"].as_u64().unwrap() < now, "{edit}");
            assert_eq!(run["buffers"], facts["buffers"], "{edit}");
        }
    }
    // Without computed values there is nothing to compare.
    folder.write("k.py", &attention);
    let timed = folder.call(&["run", "k.py", "--advice", "--time-only", "--json"]).exits(0).json();
    assert_eq!(timed["advice"]["edits"].as_array().map(Vec::len), Some(0));
    let said = |own: &Value| own["no_edit"].as_str().unwrap().contains("only counts cycles");
    assert!(timed["advice"]["forecasts"].as_array().unwrap().iter().any(said));
    // The page contains them as well.
    let page = folder.call(&["report", "k.py", "-o", "-"]).exits(0).out;
    assert!(
        page.contains("id=\"edit-1\"") && page.contains("is moved before line 28") && page.contains("without an edit")
    );
}
