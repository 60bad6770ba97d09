//! Chrome's JSON trace format, which Perfetto also opens. Its unit of time is the microsecond; a cycle is written as
//! one, so that all times are integers.

use std::fmt::Write;

use serde_json::{Value as Json, json};

use super::{Edge, Slice, Trace, Value, arrows_of};

/// The trace as JSON, one event per line.
pub fn chrome(trace: &Trace) -> String {
    let mut out = Lines { text: String::from("{\"traceEvents\":["), first: true };
    let mut processes: Vec<usize> = Vec::new();
    let used = trace.tracks.iter().map(|track| track.group).chain(trace.counters.iter().map(|counter| counter.group));
    for group in used {
        if let Err(at) = processes.binary_search(&group) {
            processes.insert(at, group);
        }
    }
    for group in &processes {
        let name = trace.path(*group);
        out.event(json!({"ph": "M", "name": "process_name", "pid": group + 1, "args": {"name": name}}));
        out.event(json!({"ph": "M", "name": "process_sort_index", "pid": group + 1, "args": {"sort_index": group}}));
    }
    let ends = trace.flow_ends();
    for (row, track) in trace.tracks.iter().enumerate() {
        let (pid, tid) = (track.group + 1, row + 1);
        out.event(json!({"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": track.name}}));
        out.event(json!({"ph": "M", "name": "thread_sort_index", "pid": pid, "tid": tid, "args": {"sort_index": row}}));
        for (_, edge) in trace.edges(row) {
            let Edge::Begin(end, slice) = edge else { continue };
            out.event(json!({
                "ph": "X", "name": &*slice.name, "cat": slice.kind.name(), "pid": pid, "tid": tid, "ts": slice.start,
                "dur": slice.cycles(), "args": args(slice),
            }));
            for (_, id, begins) in arrows_of(&ends, end) {
                let Some(flow) = trace.flows.get(*id as usize - 1) else { continue };
                let mut event = json!({
                    "ph": if *begins { "s" } else { "f" }, "name": flow.what, "cat": "flow", "id": id, "pid": pid,
                    "tid": tid, "ts": slice.start,
                });
                if !begins {
                    // Bind it to the enclosing slice, not to the next one.
                    event["bp"] = json!("e");
                }
                out.event(event);
            }
        }
    }
    for counter in &trace.counters {
        for (at, value) in &counter.samples {
            let args = json!({"value": value});
            out.event(json!({"ph": "C", "name": counter.name, "pid": counter.group + 1, "ts": at, "args": args}));
        }
    }
    let about = json!({"clock_mhz": trace.clock_mhz, "unit": "a cycle is written as a microsecond"});
    let _ = write!(out.text, "\n],\"displayTimeUnit\":\"ns\",\"otherData\":{about}}}\n");
    out.text
}

fn args(slice: &Slice) -> Json {
    let each = slice.args.iter().map(|(name, value)| {
        let value = match value {
            Value::Number(number) => json!(number),
            Value::Text(text) => json!(&**text),
        };
        ((*name).to_string(), value)
    });
    Json::Object(each.collect())
}

struct Lines {
    text: String,
    first: bool,
}

impl Lines {
    fn event(&mut self, event: Json) {
        let comma = if self.first { "" } else { "," };
        let _ = write!(self.text, "{comma}\n{event}");
        self.first = false;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;
    use super::*;

    #[test]
    fn a_trace_has_rows_slices_arrows_and_counters() {
        let trace: Json = serde_json::from_str(&chrome(&sample())).expect("JSON");
        let events = trace["traceEvents"].as_array().expect("events");
        let of = |phase: &str| events.iter().filter(|e| e["ph"] == phase).collect::<Vec<_>>();
        let next = of("X").into_iter().find(|e| e["name"] == "next").expect("a slice");
        assert_eq!(
            (next["ts"].as_u64(), next["dur"].as_u64(), next["args"]["line"].as_u64()),
            (Some(10), Some(2), Some(7))
        );
        assert_eq!((of("X").len(), of("C").len()), (4, 2));
        let (from, to) = (of("s")[0], of("f")[0]);
        assert_eq!((&from["id"], &from["ts"], &to["ts"]), (&to["id"], &json!(10), &json!(11)));
        assert!(of("M").iter().any(|e| e["args"]["name"] == "cluster 0 AIC"));
    }
}
