//! The parsed text of a document, and its values.

use slipring::{CompileRequest, Loaded};
use slipring_ir::{Module, ValueId};

use crate::session::Text;

/// Whether the text is in the kernel language.
pub fn is_language(text: &Text) -> bool {
    CompileRequest::default().language(text.language).source(&text.name, "").language
}

/// The parsed text.
pub fn read(text: &Text) -> &Loaded {
    text.subject().loaded()
}

/// All values of a module with their names.
pub fn values(module: &Module) -> Vec<ValueId> {
    let mut list = Vec::new();
    for op in module.walk(module.top) {
        list.extend(module.op(op).results.iter().copied());
        let blocks = module.op(op).regions.iter().flat_map(|region| &module.region(*region).blocks);
        list.extend(blocks.flat_map(|block| module.block(*block).args.iter().copied()));
    }
    list
}
