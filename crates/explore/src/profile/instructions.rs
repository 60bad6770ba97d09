//! Instructions by pipe: Chrome's trace events, as the vendor's operator simulator writes them and the public tools rewrite them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Profile, ProfileForm, ProfileSpan, tasks};
use crate::profile::events::{WORKERS, label, names};
use crate::profile::tracks::cycles;

/// Synchronisation steps, which are listed among the instructions of a pipe.
const SYNC: [&str; 3] = ["SET_FLAG", "WAIT_FLAG", "BAR"];

pub(super) fn read(value: &Value, clock_mhz: u32) -> Result<Profile, String> {
    let events = match value {
        Value::Array(events) => events,
        _ => match value.get("traceEvents") {
            Some(Value::Array(events)) => events,
            _ => return Err("it has neither `traceEvents` nor `chip_swimlane_level`".into()),
        },
    };
    let (processes, threads) = names(events);
    if processes.values().any(|name| name == WORKERS) {
        return tasks::of_picture(events, &processes, &threads, clock_mhz);
    }
    let mut rows: BTreeMap<_, Vec<ProfileSpan>> = BTreeMap::new();
    let mut left_out = 0;
    for (at, event) in events.iter().enumerate() {
        if event["ph"] != "X" {
            continue;
        }
        let wrong = |what: &str| format!("event {at} of `traceEvents`: {what}");
        let name = event["name"].as_str().ok_or_else(|| wrong("`name` is not a text"))?;
        let (pid, tid) = (label(&event["pid"]), label(&event["tid"]));
        let thread = threads.get(&(pid.clone(), tid.clone())).unwrap_or(&tid);
        let Some(pipe) = pipe(thread).filter(|_| !SYNC.contains(&name)) else {
            left_out += 1;
            continue;
        };
        let core = processes.get(&pid).unwrap_or(&pid);
        let kind = kind(core).ok_or_else(|| wrong(&format!("`{core}` is neither a `cubecore` nor a `veccore`")))?;
        let time = |field: &str| {
            let time = event[field].as_f64().and_then(|time| cycles(time, clock_mhz));
            time.ok_or_else(|| wrong(&format!("`{field}` is not a time in microseconds")))
        };
        let start = time("ts")?;
        let span = ProfileSpan { name: name.to_string(), start, end: start + time("dur")? };
        rows.entry((core.clone(), kind, pipe)).or_default().push(span);
    }
    let mut profile = Profile::of_spans(ProfileForm::Instructions, rows);
    profile.left_out = left_out;
    Ok(profile)
}

/// The pipe of a row such as `MTE1`, `MTE1#2` (overlapping work), `CUBE (matmul)`.
fn pipe(row: &str) -> Option<&'static str> {
    Some(match row.split(['#', ' ']).next()? {
        "MTE1" => "MTE1",
        "MTE2" => "MTE2",
        "MTE3" => "MTE3",
        "CUBE" => "M",
        "VECTOR" | "VEC" => "V",
        "FIXPIPE" | "FIXP" => "FIX",
        "SCALAR" => "S",
        _ => return None,
    })
}

fn kind(core: &str) -> Option<&'static str> {
    match (core.contains("cubecore"), core.contains("veccore")) {
        (true, false) => Some("AIC"),
        (false, true) => Some("AIV"),
        _ => None,
    }
}
