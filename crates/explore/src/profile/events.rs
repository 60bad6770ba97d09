//! Names of processes and threads in trace events.

use std::collections::BTreeMap;

use serde_json::Value;

pub(crate) type Processes = BTreeMap<String, String>;

pub(crate) type Threads = BTreeMap<(String, String), String>;

/// Names of processes and threads, if given in the events.
pub(crate) fn names(events: &[Value]) -> (Processes, Threads) {
    let (mut processes, mut threads) = (Processes::new(), Threads::new());
    for event in events.iter().filter(|event| event["ph"] == "M") {
        let Some(name) = event["args"]["name"].as_str() else { continue };
        let pid = label(&event["pid"]);
        match event["name"].as_str() {
            Some("process_name") => drop(processes.insert(pid, name.to_string())),
            Some("thread_name") => drop(threads.insert((pid, label(&event["tid"])), name.to_string())),
            _ => {}
        }
    }
    (processes, threads)
}

/// Process and thread ids are numbers or strings.
pub(crate) fn label(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// The process of a timeline whose threads are cores with their tasks.
pub(crate) const WORKERS: &str = "Worker View";
