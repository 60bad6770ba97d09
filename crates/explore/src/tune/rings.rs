//! Edits of texts in the intermediate form whose rings get more slots: both ends and the reservation must agree on the
//! number of slots, so all are changed together, each attribute in place.

use std::collections::BTreeSet;

use slipring_ir::{Attr, Module, OpId};
use slipring_op::ring::{PipeKey, PipeSpec, set_slots_by};
use slipring_op::{OpDef, OpRef, RingPart};

use super::Tune;
use super::edit::{About, Edit};
use slipring_machine::Platform;

impl Tune {
    /// One more slot and twice as many, for each pipe that the text creates with explicit attributes.
    pub(super) fn deeper_rings(&self, text: &str) -> Vec<Edit> {
        let Some((module, platform)) = self.written() else { return Vec::new() };
        let mut all = Vec::new();
        for (key, slots) in pipes(&module, &platform) {
            for more in [slots + 1, slots * 2].into_iter().collect::<BTreeSet<u32>>() {
                let mut deeper = module.clone();
                set_slots_by(&mut deeper, &platform, |spec| if spec.key == key { more } else { spec.slots });
                let Some((line, text)) = rewritten(text, &module, &deeper) else { continue };
                let what = format!("the ring has {more} slots instead of {slots}");
                all.push(Edit { what, line, text, about: About::Slots });
            }
        }
        all
    }
}

/// The pipes created by the text, each with its number of slots.
fn pipes(module: &Module, platform: &Platform) -> Vec<(PipeKey, u32)> {
    let mut all: Vec<(PipeKey, u32)> = Vec::new();
    for id in module.walk(module.top) {
        let Some(def) = OpDef::of(module, id).filter(|def| def.ring.is_some_and(RingPart::makes_end)) else { continue };
        let Some(spec) = PipeSpec::of(&OpRef { module, id, def }, platform) else { continue };
        if !all.iter().any(|(key, _)| *key == spec.key) {
            all.push((spec.key, spec.slots));
        }
    }
    all
}

/// The text with each number that differs between two forms of its module, and the first line that changes; `None` if
/// one of them is not in the text of its op.
fn rewritten(text: &str, old: &Module, new: &Module) -> Option<(usize, String)> {
    let mut changes: Vec<(usize, usize, String)> = Vec::new();
    for id in old.walk(old.top) {
        let span = old.op(id).span;
        for (name, number) in changed(old, new, id)? {
            let own = text.get(span.start as usize..span.end as usize)?;
            let mut found = own.match_indices(name.as_str()).filter_map(|(at, _)| value_at(own, at, name.len()));
            let (from, to) = found.next()?;
            if found.next().is_some() {
                return None;
            }
            changes.push((span.start as usize + from, span.start as usize + to, number.to_string()));
        }
    }
    changes.sort_unstable();
    let first = changes.first()?.0;
    let mut made = text.to_string();
    for (from, to, number) in changes.iter().rev() {
        made.replace_range(*from..*to, number);
    }
    Some((text[..first].matches('\n').count() + 1, made))
}

/// Attributes of an op with a changed number; `None` if anything else differs.
fn changed(old: &Module, new: &Module, id: OpId) -> Option<Vec<(String, i64)>> {
    let (before, after) = (old.op(id), new.op(id));
    let types = |module: &Module| -> Vec<_> { module.op(id).results.iter().map(|v| module.ty(*v).clone()).collect() };
    if types(old) != types(new) {
        return None;
    }
    let mut all = Vec::new();
    for (name, attr) in after.attrs.iter() {
        if before.attrs.get(name) != Some(attr) {
            all.push((name.to_string(), Attr::as_int(attr)?));
        }
    }
    Some(all)
}

/// The position of the number after a name and its `=`.
fn value_at(text: &str, at: usize, length: usize) -> Option<(usize, usize)> {
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let rest = &text[at + length..];
    let sign = rest.trim_start().strip_prefix('=')?;
    let from = text.len() - sign.trim_start().len();
    let digits = text[from..].chars().take_while(char::is_ascii_digit).count();
    (digits > 0 && !text[..at].ends_with(word) && !rest.starts_with(word)).then_some((from, from + digits))
}
