//! Static checks of a file, which holds kernels or a whole program: diagnostics for each platform, and edits that fix
//! them.

mod checked;
mod edits;
mod facts;

pub use checked::{Checked, platforms_of};
pub use edits::changed_lines;
pub use facts::{CheckedFacts, FixFacts, MendedFacts, PlatformFacts};
