//! `calibrate`: known figures are recovered from the busy cycles of a run with them.

use serde_json::Value;

use super::Folder;

const KERNEL: &str = "\
import slipring.language as pl


@pl.jit
def scale(x: pl.Tensor[[64, 256], pl.FP32], out: pl.Out[pl.Tensor[[64, 256], pl.FP32]]):
    for row in pl.range(0, 64, 16):
        out[row : row + 16, :] = pl.exp(x[row : row + 16, :]) * 2.0
";

/// Busy cycles by pipe of the Vector cores.
fn busy(facts: &Value) -> Vec<(String, u64)> {
    let pipes = facts["pipes"].as_array().unwrap().iter().filter(|pipe| pipe["pipe"] != "S");
    pipes.map(|pipe| (pipe["pipe"].as_str().unwrap().to_string(), pipe["busy"].as_u64().unwrap())).collect()
}

/// The counters that a board would record, by task.
fn counters(facts: &Value) -> String {
    let columns = [("V", "pmu_idc_aic_vec_busy_o"), ("MTE2", "mte2_instr_busy"), ("MTE3", "mte3_instr_busy")];
    let of = |pipe: &str| busy(facts).iter().filter(|(name, _)| name == pipe).map(|(_, busy)| busy).sum::<u64>();
    let (names, cells): (Vec<_>, Vec<_>) = columns.iter().map(|(pipe, name)| (*name, of(pipe).to_string())).unzip();
    let head = "thread_id,core_id,task_id,func_id,core_type,pmu_total_cycles";
    let total = &facts["cycles"];
    format!("{head},{},event_type\n0,0,1,0,1,{total},{},2\n", names.join(","), cells.join(","))
}

/// The same in the format of the vendor's profiler: times in microseconds of the board's own clock, and its cycles next
/// to them.
fn blocks(facts: &Value) -> String {
    let mhz = 1500.0;
    let us = |cycles: u64| format!("{:.6}", cycles as f64 / mhz);
    let cycles = facts["cycles"].as_u64().unwrap();
    let (names, cells): (Vec<_>, Vec<_>) =
        [("V", "aiv_vec_time(us)"), ("MTE2", "aiv_mte2_time(us)"), ("MTE3", "aiv_mte3_time(us)")]
            .into_iter()
            .map(|(pipe, name)| {
                (name, us(busy(facts).iter().filter(|(own, _)| own == pipe).map(|(_, busy)| busy).sum()))
            })
            .unzip();
    let none = "NA,".repeat(names.len());
    format!(
        "block_id,sub_block_id,aic_time(us),aic_total_cycles,aiv_time(us),aiv_total_cycles,{}\n0,cube0,1.0,1500,NA,NA,{}\n\
         0,vector0,NA,NA,{},{cycles},{}\n",
        names.join(","),
        none.trim_end_matches(','),
        us(cycles),
        cells.join(",")
    )
}

#[test]
fn known_figures_come_back() {
    let folder = Folder::new("calibrate");
    folder.write("scale.py", KERNEL);
    let a5 = include_str!("../../../../platforms/a5.toml");
    // A board whose loads take three times as long, and whose exponential takes twice as long.
    let entry = |text: &str| a5.lines().find(|line| line.starts_with(text)).unwrap().to_string();
    let (load, exp) = (entry("gm-vec ="), entry("exp ="));
    let board = a5.replace(&load, "gm-vec = [192, 3, 60]").replace(&exp, "exp = { head = 150, repeat = 4, pitch = 4 }");
    folder.write("board.toml", &board);
    let launch = ["--arg", "rand:f32[64x256]", "--arg", "zeros:f32[64x256]"];
    let run =
        |more: &[&str]| folder.call(&[&["run", "scale.py", "--json"], &launch[..], more].concat()).exits(0).json();
    let (plain, real) = (run(&["--arch", "a5"]), run(&["--platform", "board.toml"]));
    folder.write("pmu.csv", counters(&real));
    folder.write("PipeUtilization.csv", blocks(&real));
    let calibrated = |from: &str, to: &str| {
        let call = [&["calibrate", "scale.py", "--arch", "a5", "--from", from, "-o", to], &launch[..]].concat();
        folder.call(&call).exits(0);
        std::fs::read_to_string(folder.file(to)).unwrap()
    };
    // On standard output it is data, so `--quiet` does not suppress it.
    let to_output = ["--quiet", "calibrate", "scale.py", "--arch", "a5", "--from", "pmu.csv", "-o", "-"];
    assert_eq!(folder.call(&[&to_output, &launch[..]].concat()).exits(0).out, calibrated("pmu.csv", "own.toml"));
    // Both formats of the same figures give the same platform.
    let file = calibrated("pmu.csv", "own.toml");
    assert_eq!(file, calibrated("PipeUtilization.csv", "blocks.toml"));
    // A profile of the platform itself reproduces the platform's own figures.
    folder.write("same.csv", blocks(&plain));
    let same = calibrated("same.csv", "same.toml");
    for pipe in ["V", "MTE2", "MTE3"] {
        assert!(same.contains(&format!("# AIV {pipe} x 1.000")), "{same}");
    }
    assert_eq!(busy(&run(&["--platform", "same.toml"])), busy(&plain));
    let own = run(&["--platform", "own.toml"]);
    for (((pipe, own), (_, real)), (_, plain)) in busy(&own).into_iter().zip(busy(&real)).zip(busy(&plain)) {
        assert!(own.abs_diff(real) * 200 <= real, "{pipe}: {own} cycles, {real} on the board, {plain} before");
    }
    // The total time was not fitted.
    let cycles = |facts: &Value| facts["cycles"].as_u64().unwrap();
    assert!(cycles(&own).abs_diff(cycles(&real)) * 10 <= cycles(&real), "{} and {}", cycles(&own), cycles(&real));
    assert_ne!(cycles(&plain), cycles(&real));
    assert_eq!(own["estimate"], true);
    let load = "# AIV MTE2 x 2.99";
    assert!(file.contains(load) && file.contains("# AIV MTE3 x 1.000: cost.dma.vec-gm"), "{file}");
}
