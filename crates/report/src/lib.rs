//! What a run shows: facts that serialise to JSON, and the same facts as text.

mod diagram;
mod digest;
mod facts;
mod memory;
mod message;
mod occupancy;
mod rings;
mod table;
mod text;
mod timeline;

pub use digest::{Digest, Number, digest};
pub use facts::{BufferFacts, CheckFacts, OpFacts, PipeFacts, RingFacts, RunFacts, StallFacts};
pub use memory::{BufferPlace, MemoryFacts, memory_svg, memory_text};
pub use message::{MessageFacts, PlaceFacts};
pub use occupancy::{Occupancy, OccupancyFacts, WaitFacts, occupancy_text};
pub use rings::{RingTimes, RingTrace, TileFacts};
pub use table::Table;
pub use text::{buffers_text, checks_text, printed_text, stats_text, summary_text};
pub use timeline::{Counter, Track, TrackSpan, chart, chrome_trace};
