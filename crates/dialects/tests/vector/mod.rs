//! Vector ops from text to bytes, compared with naive code or with explicit numbers.

use crate::common;
mod elementwise;
mod kit;
mod reduce;
mod select;
mod shapes;
mod types;
