//! Reports of a run: facts that serialise to JSON, and the same facts as text.

mod advice;
mod compare;
mod diagram;
mod digest;
mod facts;
mod html;
mod line;
mod memory;
mod merge;
mod message;
mod occupancy;
mod picture;
mod record;
mod rings;
mod sarif;
mod scatter;
mod stalls;
mod status;
mod table;
mod text;
mod trace;

pub use advice::{Predicted, TriedEdit};
pub use compare::{Change, Compared, compare, compare_text};
pub use digest::{Digest, Number, digest, numbers};
pub use facts::{BufferFacts, CheckFacts, OpFacts, PipeFacts, RingFacts, RunFacts};
pub use html::{Page, html};
pub use line::{write_line, write_line_or_null};
pub use memory::{BufferPlace, MemoryFacts, memory_svg, memory_text};
pub use message::{MessageFacts, PlaceFacts, WrittenFacts};
pub use occupancy::{Occupancy, OccupancyFacts, WaitFacts, occupancy_text};
pub use record::{
    BlockTime, Doing, Happening, Legend, LineFacts, PathFacts, PathPart, Record, Recorder, Roofline, Segment,
    SegmentKind, Touch, lines_text, path_text, stall_name,
};
pub use rings::{RingTimes, RingTrace, TileFacts};
pub use sarif::{Told, sarif};
pub use scatter::{Dot, DotKind, Scatter, scatter_svg};
pub use slipring_machine::figure;
pub use stalls::StallFacts;
pub use status::{CheckStatus, Verified};
pub use table::Table;
pub use text::{buffers_text, checks_text, printed_text, stats_text, summary_text};
pub use trace::{
    Counter, End, Flow, Group, Slice, SliceKind, Trace, TraceForm, Track, Value, chart, chrome, perfetto, schema,
};
