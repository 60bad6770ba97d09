//! Exploration of alternative programs, platforms and measurements: points of a grid of constants and edits, cycles of
//! single instructions, and profiles of boards compared with a run.

pub mod cost;

mod profile;
mod tune;

pub use profile::{Beside, BesideRow, CalibratedPipe, Calibration, Profile, ProfileForm, ProfileSpan, ProfileTrack};
pub use slipring_report::{CheckStatus, Verified};
pub use tune::{Improved, KeptEdit, MOST_POINTS, Point, Setting, Tune, TuneProgress, Tuning, Vary, VaryFacts};
