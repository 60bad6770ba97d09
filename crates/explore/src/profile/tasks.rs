//! Tasks by core: the records of the public runtime, whose rows are core, task, dispatch number, start, end; or the
//! timeline that its converter makes of them.

use std::collections::BTreeMap;

use super::{Profile, ProfileForm, ProfileSpan};
use serde_json::Value;

use crate::profile::events::{Processes, Threads, WORKERS, label};
use crate::profile::tracks::cycles;

pub(super) fn read(value: &Value, clock_mhz: u32) -> Result<Profile, String> {
    let level = &value["chip_swimlane_level"];
    if !level.as_u64().is_some_and(|level| (1..=4).contains(&level)) {
        return Err(format!("`chip_swimlane_level` is {level}: a level from 1 to 4 has tasks"));
    }
    let metadata = &value["metadata"];
    let ticks = metadata["clock_freq_hz"].as_u64().filter(|hertz| *hertz > 0);
    let ticks = ticks.ok_or("`metadata.clock_freq_hz` is not a frequency")?;
    let types = metadata["core_types"].as_array().ok_or("`metadata.core_types` is not a list")?;
    let tasks = value["aicore_tasks"].as_array().ok_or("`aicore_tasks` is not a list")?;
    let mut rows: BTreeMap<_, Vec<ProfileSpan>> = BTreeMap::new();
    // The counter of a board runs as long as the board is up: times are relative to the first task.
    let first = tasks.iter().filter_map(|row| row.get(3)?.as_u64()).min().unwrap_or(0);
    for (at, row) in tasks.iter().enumerate() {
        let wrong = |what: &str| format!("row {at} of `aicore_tasks` {what}");
        let numbers: Option<Vec<u64>> = row.as_array().and_then(|row| row.iter().map(Value::as_u64).collect());
        let Some(&[core, task, _, start, end, ..]) = numbers.as_deref() else {
            return Err(wrong("is not core, task, dispatch, start and end"));
        };
        let kind = usize::try_from(core).ok().and_then(|core| types.get(core)).and_then(Value::as_str);
        let kind = match kind {
            Some("aic") => "AIC",
            Some("aiv") => "AIV",
            _ => return Err(wrong(&format!("is of core {core}, whose type `metadata.core_types` does not name"))),
        };
        if end < start {
            return Err(wrong("ends before it starts"));
        }
        let time = |at: u64| {
            let microseconds = at.saturating_sub(first) as f64 * 1e6 / ticks as f64;
            cycles(microseconds, clock_mhz).ok_or_else(|| wrong("is too late to be counted in cycles"))
        };
        let span = ProfileSpan { name: task_name(task), start: time(start)?, end: time(end)? };
        rows.entry((format!("core {core}"), kind, "")).or_default().push(span);
    }
    Ok(Profile::of_spans(ProfileForm::Tasks, rows))
}

/// Tasks of a timeline: slices of the workers `AIC_0`, `AIV_1`, … A slice also includes the time on the core before the
/// kernel began, which its arguments distinguish.
pub(super) fn of_picture(
    events: &[Value],
    processes: &Processes,
    threads: &Threads,
    clock_mhz: u32,
) -> Result<Profile, String> {
    let mut rows: BTreeMap<_, Vec<ProfileSpan>> = BTreeMap::new();
    let mut left_out = 0;
    for (at, event) in events.iter().enumerate().filter(|(_, event)| event["ph"] == "X") {
        let wrong = |what: &str| format!("event {at} of `traceEvents`: {what}");
        let (pid, tid) = (label(&event["pid"]), label(&event["tid"]));
        let worker = processes.get(&pid).is_some_and(|name| name == WORKERS);
        let core = threads.get(&(pid, tid)).filter(|_| worker);
        let kind = core.and_then(|core| match core.split_once('_') {
            Some(("AIC", _)) => Some((core, "AIC")),
            Some(("AIV", _)) => Some((core, "AIV")),
            _ => None,
        });
        let Some((core, kind)) = kind else {
            left_out += 1;
            continue;
        };
        let name = event["name"].as_str().ok_or_else(|| wrong("`name` is not a text"))?;
        let time = |value: &Value, field: &str| {
            let time = value.as_f64().and_then(|time| cycles(time, clock_mhz));
            time.ok_or_else(|| wrong(&format!("`{field}` is not a time in microseconds")))
        };
        let (start, whole) = (time(&event["ts"], "ts")?, time(&event["dur"], "dur")?);
        let own = match &event["args"]["kernel-duration-us"] {
            Value::Null => whole,
            own => time(own, "kernel-duration-us")?.min(whole),
        };
        let span = ProfileSpan { name: name.to_string(), start: start + whole - own, end: start + whole };
        rows.entry((core.clone(), kind, "")).or_default().push(span);
    }
    let mut profile = Profile::of_spans(ProfileForm::Tasks, rows);
    profile.left_out = left_out;
    Ok(profile)
}

/// A task's id contains its ring above its index there.
fn task_name(task: u64) -> String {
    match (task >> 32) & 0xff {
        0 => format!("t{}", task & 0xffff_ffff),
        ring => format!("r{ring}t{}", task & 0xffff_ffff),
    }
}
