//! Reference material: pages of ops and of the builtins of the kernel language, and explanations of diagnostics.

mod explain;
mod pages;

pub use explain::{Example, Explanation, explain, explain_document, explain_list, explanation, explanations};
pub use pages::{AttributeFacts, OpFacts, OperandFacts, facts, is_op, language_list, language_page, list, ops, page};
