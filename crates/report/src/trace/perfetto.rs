//! Perfetto's own trace format: a protobuf message. A cycle is written as a nanosecond, so that all times are integers.

use std::collections::BTreeMap;

use prost::Message;

use super::{Edge, Slice, Trace, Value, arrows_of};

/// The messages of the published schema that these traces need, with the schema's names and field numbers
/// (`protos/perfetto/trace/perfetto_trace.proto`). A crate of the whole schema is 1.3 MB of generated source, or needs
/// `protoc`.
#[allow(missing_docs)]
pub mod schema {
    /// A trace.
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Trace {
        #[prost(message, repeated, tag = "1")]
        pub packet: Vec<TracePacket>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct TracePacket {
        /// Nanoseconds.
        #[prost(uint64, optional, tag = "8")]
        pub timestamp: Option<u64>,
        #[prost(uint32, optional, tag = "10")]
        pub trusted_packet_sequence_id: Option<u32>,
        #[prost(message, optional, tag = "11")]
        pub track_event: Option<TrackEvent>,
        #[prost(message, optional, tag = "12")]
        pub interned_data: Option<InternedData>,
        #[prost(uint32, optional, tag = "13")]
        pub sequence_flags: Option<u32>,
        #[prost(message, optional, tag = "60")]
        pub track_descriptor: Option<TrackDescriptor>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct TrackDescriptor {
        #[prost(uint64, optional, tag = "1")]
        pub uuid: Option<u64>,
        #[prost(string, optional, tag = "2")]
        pub name: Option<String>,
        #[prost(message, optional, tag = "3")]
        pub process: Option<ProcessDescriptor>,
        #[prost(uint64, optional, tag = "5")]
        pub parent_uuid: Option<u64>,
        #[prost(message, optional, tag = "8")]
        pub counter: Option<CounterDescriptor>,
        /// 3: by the rank of each child.
        #[prost(int32, optional, tag = "11")]
        pub child_ordering: Option<i32>,
        #[prost(int32, optional, tag = "12")]
        pub sibling_order_rank: Option<i32>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct ProcessDescriptor {
        #[prost(int32, optional, tag = "1")]
        pub pid: Option<i32>,
        #[prost(string, optional, tag = "6")]
        pub process_name: Option<String>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct CounterDescriptor {
        /// 2: a count, 3: bytes.
        #[prost(int32, optional, tag = "3")]
        pub unit: Option<i32>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct TrackEvent {
        #[prost(uint64, repeated, packed = "false", tag = "3")]
        pub category_iids: Vec<u64>,
        #[prost(message, repeated, tag = "4")]
        pub debug_annotations: Vec<DebugAnnotation>,
        /// 1: a slice begins, 2: it ends, 4: a counter has a value.
        #[prost(int32, optional, tag = "9")]
        pub r#type: Option<i32>,
        #[prost(uint64, optional, tag = "10")]
        pub name_iid: Option<u64>,
        #[prost(uint64, optional, tag = "11")]
        pub track_uuid: Option<u64>,
        #[prost(int64, optional, tag = "30")]
        pub counter_value: Option<i64>,
        #[prost(fixed64, repeated, packed = "false", tag = "47")]
        pub flow_ids: Vec<u64>,
        #[prost(fixed64, repeated, packed = "false", tag = "48")]
        pub terminating_flow_ids: Vec<u64>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct DebugAnnotation {
        #[prost(uint64, optional, tag = "1")]
        pub name_iid: Option<u64>,
        #[prost(uint64, optional, tag = "3")]
        pub uint_value: Option<u64>,
        #[prost(uint64, optional, tag = "17")]
        pub string_value_iid: Option<u64>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct InternedData {
        #[prost(message, repeated, tag = "1")]
        pub event_categories: Vec<Name>,
        #[prost(message, repeated, tag = "2")]
        pub event_names: Vec<Name>,
        #[prost(message, repeated, tag = "3")]
        pub debug_annotation_names: Vec<Name>,
        #[prost(message, repeated, tag = "29")]
        pub debug_annotation_string_values: Vec<Name>,
    }

    /// `EventCategory`, `EventName`, `DebugAnnotationName` and `InternedString` of the schema, which look the same.
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Name {
        #[prost(uint64, optional, tag = "1")]
        pub iid: Option<u64>,
        #[prost(string, optional, tag = "2")]
        pub name: Option<String>,
    }
}

use schema::{
    CounterDescriptor, DebugAnnotation, InternedData, Name, ProcessDescriptor, TracePacket, TrackDescriptor, TrackEvent,
};

const SLICE_BEGIN: i32 = 1;
const SLICE_END: i32 = 2;
const COUNTER: i32 = 4;
const BY_RANK: i32 = 3;
const COUNT: i32 = 2;
const BYTES: i32 = 3;
/// This packet clears the interned data.
const CLEARED: u32 = 1;
/// This packet refers to interned data of earlier packets.
const NEEDS: u32 = 2;

/// Assigns indices to strings, from 1 in order of first use.
#[derive(Default)]
struct Names<'a>(BTreeMap<&'a str, u64>);

impl<'a> Names<'a> {
    fn number(&mut self, name: &'a str) -> u64 {
        let next = self.0.len() as u64 + 1;
        *self.0.entry(name).or_insert(next)
    }

    fn table(&self) -> Vec<Name> {
        let mut table: Vec<(u64, &str)> = self.0.iter().map(|(name, number)| (*number, *name)).collect();
        table.sort_unstable();
        table.into_iter().map(|(iid, name)| Name { iid: Some(iid), name: Some(name.into()) }).collect()
    }
}

#[derive(Default)]
struct Interned<'a> {
    categories: Names<'a>,
    events: Names<'a>,
    args: Names<'a>,
    texts: Names<'a>,
}

/// The trace in Perfetto's form.
pub fn perfetto(trace: &Trace) -> Vec<u8> {
    let mut packets = descriptors(trace);
    let mut interned = Interned::default();
    let ends = trace.flow_ends();
    let first_track = trace.groups.len() as u64 + 1;
    let mut events: Vec<(u64, TrackEvent)> = Vec::new();
    for row in 0..trace.tracks.len() {
        let track_uuid = Some(first_track + row as u64);
        for (at, edge) in trace.edges(row) {
            let mut event = TrackEvent { track_uuid, ..TrackEvent::default() };
            match edge {
                Edge::End => event.r#type = Some(SLICE_END),
                Edge::Begin(end, slice) => {
                    event.r#type = Some(SLICE_BEGIN);
                    begin(slice, &mut event, &mut interned);
                    for (_, id, begins) in arrows_of(&ends, end) {
                        let ids = if *begins { &mut event.flow_ids } else { &mut event.terminating_flow_ids };
                        ids.push(*id);
                    }
                }
            }
            events.push((at, event));
        }
    }
    let first_counter = first_track + trace.tracks.len() as u64;
    for (row, counter) in trace.counters.iter().enumerate() {
        for (at, value) in &counter.samples {
            let event = TrackEvent {
                r#type: Some(COUNTER),
                track_uuid: Some(first_counter + row as u64),
                counter_value: Some(i64::try_from(*value).unwrap_or(i64::MAX)),
                ..TrackEvent::default()
            };
            events.push((*at, event));
        }
    }
    // Stable sort: events of one track at one cycle keep their order.
    events.sort_by_key(|(at, _)| *at);
    packets.insert(
        0,
        TracePacket {
            interned_data: Some(InternedData {
                event_categories: interned.categories.table(),
                event_names: interned.events.table(),
                debug_annotation_names: interned.args.table(),
                debug_annotation_string_values: interned.texts.table(),
            }),
            sequence_flags: Some(CLEARED),
            ..packet()
        },
    );
    let events = events.into_iter().map(|(at, event)| TracePacket {
        timestamp: Some(at),
        track_event: Some(event),
        sequence_flags: Some(NEEDS),
        ..packet()
    });
    packets.extend(events);
    schema::Trace { packet: packets }.encode_to_vec()
}

fn packet() -> TracePacket {
    TracePacket { trusted_packet_sequence_id: Some(1), ..TracePacket::default() }
}

fn begin<'a>(slice: &'a Slice, event: &mut TrackEvent, interned: &mut Interned<'a>) {
    event.name_iid = Some(interned.events.number(&slice.name));
    event.category_iids = vec![interned.categories.number(slice.kind.name())];
    let args = slice.args.iter().map(|(name, value)| {
        let name_iid = Some(interned.args.number(name));
        match value {
            Value::Number(number) => DebugAnnotation { name_iid, uint_value: Some(*number), string_value_iid: None },
            Value::Text(text) => {
                let iid = interned.texts.number(text);
                DebugAnnotation { name_iid, uint_value: None, string_value_iid: Some(iid) }
            }
        }
    });
    event.debug_annotations = args.collect();
}

/// A descriptor for each group, track and counter, numbered from 1 in this order.
fn descriptors(trace: &Trace) -> Vec<TracePacket> {
    let mut list = Vec::new();
    let group = |at: usize| Some(at as u64 + 1);
    for (at, own) in trace.groups.iter().enumerate() {
        let process = own
            .parent
            .is_none()
            .then(|| ProcessDescriptor { pid: Some(at as i32 + 1), process_name: Some(own.name.clone()) });
        list.push(TrackDescriptor {
            name: process.is_none().then(|| own.name.clone()),
            process,
            parent_uuid: own.parent.and_then(group),
            child_ordering: Some(BY_RANK),
            ..TrackDescriptor::default()
        });
    }
    for track in &trace.tracks {
        list.push(TrackDescriptor {
            name: Some(track.name.clone()),
            parent_uuid: group(track.group),
            ..TrackDescriptor::default()
        });
    }
    for counter in &trace.counters {
        list.push(TrackDescriptor {
            name: Some(counter.name.clone()),
            parent_uuid: group(counter.group),
            counter: Some(CounterDescriptor { unit: Some(if counter.bytes { BYTES } else { COUNT }) }),
            ..TrackDescriptor::default()
        });
    }
    let numbered = list.into_iter().enumerate().map(|(at, descriptor)| TracePacket {
        track_descriptor: Some(TrackDescriptor {
            uuid: Some(at as u64 + 1),
            sibling_order_rank: Some(at as i32),
            ..descriptor
        }),
        ..packet()
    });
    numbered.collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let trace = schema::Trace::decode(&*perfetto(&sample())).expect("a trace");
        let events: Vec<(u64, &TrackEvent)> =
            trace.packet.iter().filter_map(|p| Some((p.timestamp?, p.track_event.as_ref()?))).collect();
        let count = |kind| events.iter().filter(|(_, event)| event.r#type == Some(kind)).count();
        assert_eq!([count(SLICE_BEGIN), count(SLICE_END), count(COUNTER)], [4, 4, 2]);
        assert!(events.is_sorted_by_key(|(at, _)| *at));
        let from = events.iter().find(|(_, event)| event.flow_ids == [1]).expect("the arrow begins");
        let to = events.iter().find(|(_, event)| event.terminating_flow_ids == [1]).expect("the arrow ends");
        assert_eq!((from.0, to.0), (10, 11));
        let names = &trace.packet[0].interned_data.as_ref().expect("names").event_names;
        assert!(names.iter().any(|name| name.iid == to.1.name_iid && name.name.as_deref() == Some("add")));
    }
}
