//! Profiles: the behaviour recorded by a board, or by the vendor's simulator of one, in cycles of a platform.
//!
//! Four forms are read, each by its own decoder: instructions by pipe (Chrome's trace events, as the vendor's operator
//! simulator writes them), tasks by core (the records of the public runtime, or the timeline that its converter makes
//! of them), counters by task (its `pmu.csv`), busy time by block (`PipeUtilization.csv` of the vendor's operator
//! profiler). Anything that a decoder does not recognise is an error that names it, or is counted in
//! [`Profile::left_out`]; nothing is guessed.

mod beside;
mod blocks;
mod calibrate;
mod cells;
mod counters;
mod events;
mod instructions;
mod tasks;
mod tracks;

pub use tracks::{Profile, ProfileForm, ProfileSpan, ProfileTrack};

use serde_json::Value;

pub use beside::{Beside, BesideRow};
pub use calibrate::{CalibratedPipe, Calibration};

/// The error for a summary by op.
const SUMMARY: &str = "it is a summary by op, whose busy times are means over the cores: `msprof op` gives each core's in \
    `PipeUtilization.csv`";

impl Profile {
    /// Reads a profile. `clock_mhz` is the clock of its platform.
    ///
    /// # Errors
    /// A sentence with the error and its location.
    pub fn read(bytes: &[u8], clock_mhz: u32) -> Result<Profile, String> {
        let text = std::str::from_utf8(bytes).map_err(|error| format!("it is not text: {error}"))?;
        let profile = match text.trim_start().starts_with(['{', '[']) {
            true => {
                let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
                match value.get("chip_swimlane_level") {
                    Some(_) => tasks::read(&value, clock_mhz)?,
                    None => instructions::read(&value, clock_mhz)?,
                }
            }
            false => {
                let cells = cells::Cells::read(text)?;
                match cells.column("Task Duration(us)").is_some() {
                    true => return Err(SUMMARY.into()),
                    false if blocks::is(&cells) => blocks::read(&cells)?,
                    false => counters::read(&cells)?,
                }
            }
        };
        match profile.tracks.is_empty() {
            true => Err("it records no work of any core".into()),
            false => Ok(profile),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Profile, String> {
        Profile::read(text.as_bytes(), 1000)
    }

    fn sums(profile: &Profile) -> Vec<(&str, &str, u64, u64)> {
        profile.tracks.iter().map(|track| (track.kind, track.pipe, track.busy, track.count)).collect()
    }

    #[test]
    fn instructions_of_a_pipe_overlap() {
        let text = r#"{"traceEvents": [
            {"name": "process_name", "ph": "M", "pid": 7, "args": {"name": "core0.veccore1"}},
            {"name": "thread_name", "ph": "M", "pid": 7, "tid": 2, "args": {"name": "MTE2#1"}},
            {"name": "MOV", "ph": "X", "pid": 7, "tid": 2, "ts": 1.0, "dur": 0.4},
            {"name": "MOV", "ph": "X", "pid": 7, "tid": 2, "ts": 1.2, "dur": 0.4},
            {"name": "VADD", "ph": "X", "pid": "core0.veccore1", "tid": "VECTOR", "ts": 2.0, "dur": 0.1},
            {"name": "WAIT_FLAG", "ph": "X", "pid": "core0.veccore1", "tid": "VECTOR", "ts": 1.5, "dur": 0.5},
            {"name": "MMAD", "ph": "X", "pid": "core0.cubecore0", "tid": "CUBE", "ts": 2.5, "dur": 0.25},
            {"name": "x", "ph": "X", "pid": "core0.veccore1", "tid": "CACHEMISS", "ts": 1.0, "dur": 9}]}"#;
        let profile = read(text).expect("a profile");
        assert_eq!((profile.cycles, profile.left_out), (1750, 2));
        assert_eq!(sums(&profile), [("AIC", "M", 250, 1), ("AIV", "MTE2", 600, 2), ("AIV", "V", 100, 1)]);
        assert_eq!(profile.tracks[2].spans[0].start, 1000);
    }

    #[test]
    fn tasks_have_a_clock_of_their_own() {
        let text = r#"{"chip_swimlane_level": 1, "metadata": {"clock_freq_hz": 50000000, "core_types": ["aic", "aiv"]},
            "aicore_tasks": [[0, 4294967298, 1, 1000, 1100], [1, 5, 1, 1050, 1300, 3]]}"#;
        let profile = read(text).expect("a profile");
        assert_eq!(profile.cycles, 6000);
        assert_eq!(sums(&profile), [("AIC", "", 2000, 1), ("AIV", "", 5000, 1)]);
        assert_eq!(
            (profile.tracks[0].spans[0].name.as_str(), profile.tracks[1].spans[0].name.as_str()),
            ("r1t2", "t5")
        );
    }

    #[test]
    fn counters_are_those_of_the_pipes() {
        let text = "thread_id,core_id,task_id,func_id,core_type,pmu_total_cycles,vec_busy_cycles,mte2_busy_cycles,icache_miss,event_type\n\
                    2,5,0x0000000200000a00,0,1,18432,1024,256,3,2\n0,6,0x1,0,1,100,6,4,0,2\n";
        let profile = read(text).expect("a profile");
        assert_eq!(profile.cycles, 18432);
        assert_eq!(sums(&profile), [("AIV", "MTE2", 260, 2), ("AIV", "V", 1030, 2)]);
    }

    #[test]
    fn blocks_have_a_clock_of_their_own() {
        let text = "block_id,sub_block_id,aic_time(us),aic_total_cycles,aic_cube_time(us),aic_cube_ratio,aiv_time(us),\
            aiv_total_cycles,aiv_vec_time(us),aiv_mte2_time(us)\n\
            0,cube0,2.0,3000,0.5,0.25,NA,NA,NA,NA\n0,vector0,NA,NA,NA,NA,1.0,1500,0.2,0\n0,vector1,N/A,N/A,N/A,N/A,1.0,1600,0.25,0.5\n";
        let profile = read(text).expect("a profile");
        assert_eq!(profile.cycles, 3000);
        assert_eq!(
            sums(&profile),
            [("AIC", "M", 750, 1), ("AIV", "V", 300, 1), ("AIV", "V", 400, 1), ("AIV", "MTE2", 800, 1)]
        );
        assert_eq!(profile.tracks[3].core, "block 0 vector1");
    }

    #[test]
    fn pictures_of_tasks_have_them_at_their_workers() {
        let text = r#"{"traceEvents": [
            {"args": {"name": "Worker View"}, "cat": "__metadata", "name": "process_name", "ph": "M", "pid": 4},
            {"args": {"name": "AIV_1"}, "cat": "__metadata", "name": "thread_name", "ph": "M", "pid": 4, "tid": 1010},
            {"args": {"name": "AICPU_0"}, "cat": "__metadata", "name": "thread_name", "ph": "M", "pid": 4, "tid": 1020},
            {"args": {"name": "AICPU Scheduler"}, "cat": "__metadata", "name": "process_name", "ph": "M", "pid": 2},
            {"args": {"kernel-duration-us": 2.0}, "cat": "event", "id": 0, "name": "QK(r0t1)", "ph": "X", "pid": 4, "tid": 1010,
             "ts": 1.0, "dur": 2.5},
            {"args": {}, "cat": "event", "id": 1, "name": "dummy(r0t2)", "ph": "X", "pid": 4, "tid": 1020, "ts": 1, "dur": 0.02},
            {"args": {}, "cat": "scheduler", "name": "dispatch", "ph": "X", "pid": 2, "tid": 2000, "ts": 0, "dur": 9}]}"#;
        let profile = read(text).expect("a profile");
        assert_eq!((profile.form, profile.cycles, profile.left_out), (ProfileForm::Tasks, 2000, 2));
        assert_eq!(sums(&profile), [("AIV", "", 2000, 1)]);
        assert_eq!((profile.tracks[0].core.as_str(), profile.tracks[0].spans[0].name.as_str()), ("AIV_1", "QK(r0t1)"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let one = |row: &str| {
            format!(
                r#"{{"chip_swimlane_level": 1, "metadata": {{"clock_freq_hz": 50, "core_types": ["aic"]}}, "aicore_tasks": [{row}]}}"#
            )
        };
        let head = "thread_id,core_id,task_id,func_id,core_type,pmu_total_cycles";
        let blocks = "block_id,sub_block_id,aiv_time(us),aiv_total_cycles,aiv_vec_time(us)\n";
        let cases = [
            ("{".to_string(), "not JSON"),
            ("{}".into(), "`traceEvents`"),
            (
                r#"[{"ph": "X", "name": "a", "pid": "core0.veccore0", "tid": "MTE2", "ts": "now", "dur": 1}]"#.into(),
                "event 0",
            ),
            (r#"[{"ph": "X", "name": "a", "pid": "host", "tid": "MTE2", "ts": 0, "dur": 1}]"#.into(), "`host`"),
            (
                r#"[{"ph": "X", "name": "a", "pid": "core0.veccore0", "tid": "MTE2", "ts": 1e300, "dur": 1}]"#.into(),
                "event 0",
            ),
            ("[]".into(), "no work"),
            (r#"{"chip_swimlane_level": 9}"#.into(), "level"),
            (r#"{"chip_swimlane_level": 1, "metadata": {}}"#.into(), "clock_freq_hz"),
            (one("[0, 1, 1, 5, 4]"), "before it starts"),
            (one("[3, 1, 1, 5, 9]"), "core 3"),
            (one("[0, 1]"), "row 0"),
            ("a,b\n1,2\n".into(), "column `core_type`"),
            (String::new(), "it is empty"),
            ("Op Name,Task Duration(us),aiv_vec_time(us)\nx,3.0,1.0\n".into(), "means over the cores"),
            ("block_id,sub_block_id,aiv_time(us)\n0,vector0,1\n".into(), "no column of busy times"),
            (format!("{blocks}0,vector0,1.0,1650,1.5\n"), "line 2: pipe V of AIV is busy 1.5 us of 1"),
            (format!("{blocks}0,vector0,1.0,1650,-1\n"), "line 2: `-1`"),
            (format!("{blocks}0,vector0,1.0,1650\n"), "line 2: 4 cells"),
            (format!("{blocks}0,cube0,NA,NA,NA\n"), "no work"),
            (r#"[{"ph": "M", "name": "process_name", "pid": 4, "args": {"name": "Worker View"}}]"#.into(), "no work"),
            (format!("{head},event_type\n0,0,0,0,1,5,4\n"), "busy cycles"),
            (format!("{head},vec_busy_cycles,event_type\n0,0,0,0,1,5,4\n"), "line 2"),
            (format!("{head},vec_busy_cycles,event_type\n0,0,0,0,1,5,many,2\n"), "`vec_busy_cycles`"),
            (format!("{head},vec_busy_cycles,event_type\n0,0,0,0,7,5,1,2\n"), "core type 7"),
        ];
        for (text, words) in cases {
            let error = read(&text).expect_err(&text);
            assert!(error.contains(words), "{text}\n{error}");
        }
    }
}
