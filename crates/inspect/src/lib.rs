//! What the text of a file decides, whether it holds kernels or a whole program: messages on each platform, and edits that mend it.

mod checked;
mod edits;
mod facts;

pub use checked::{Checked, platforms_of};
pub use edits::changed_lines;
pub use facts::{CheckedFacts, FixFacts, MendedFacts, PlatformFacts};
