//! Structural equality of two modules.

use std::collections::BTreeMap;

use crate::{Attr, AttrDict, BlockId, Module, OpId, ValueId};

/// The first difference between the contents of two modules: structure, names of ops and values, types, attributes,
/// locations. Positions in the text, ids of ops and values and the order of an op's attributes do not count, nor does a
/// name that only one of the two gives to a value. `None` if there is no difference.
pub fn difference(a: &Module, b: &Module) -> Option<String> {
    let mut comparison = Comparison { a, b, names: true, values: BTreeMap::new() };
    comparison.blocks(a.top, b.top).err()
}

/// As [`difference`], ignoring names of values: a text has each of them only once.
pub fn difference_but_for_names(a: &Module, b: &Module) -> Option<String> {
    let mut comparison = Comparison { a, b, names: false, values: BTreeMap::new() };
    comparison.blocks(a.top, b.top).err()
}

struct Comparison<'m> {
    a: &'m Module,
    b: &'m Module,
    names: bool,
    values: BTreeMap<ValueId, ValueId>,
}

impl Comparison<'_> {
    fn blocks(&mut self, a: BlockId, b: BlockId) -> Result<(), String> {
        let (x, y) = (self.a.block(a), self.b.block(b));
        self.define(&x.args, &y.args, || "the arguments of a block".into())?;
        for (x, y) in x.ops.iter().zip(&y.ops) {
            self.ops(*x, *y)?;
        }
        equal(|| "the number of ops in a block".into(), &x.ops.len(), &y.ops.len())
    }

    fn ops(&mut self, a: OpId, b: OpId) -> Result<(), String> {
        let (x, y) = (self.a.op(a), self.b.op(b));
        equal(|| "an op".into(), &x.name, &y.name)?;
        let what = |part: &'static str| move || format!("{part} of `{}`", x.name);
        equal(what("whether there is a declaration"), &x.declaration.is_some(), &y.declaration.is_some())?;
        let operands: Vec<_> = x.operands.iter().map(|v| self.values.get(v).copied()).collect();
        equal(what("operands"), &operands, &y.operands.iter().copied().map(Some).collect())?;
        equal(what("operand groups"), &x.segments, &y.segments)?;
        equal(what("successors"), &x.successors, &y.successors)?;
        equal(what("attributes"), &sorted(&x.attrs), &sorted(&y.attrs))?;
        equal(what("location"), &x.loc, &y.loc)?;
        equal(what("number of regions"), &x.regions.len(), &y.regions.len())?;
        for (x_region, y_region) in x.regions.iter().zip(&y.regions) {
            let (p, q) = (&self.a.region(*x_region).blocks, &self.b.region(*y_region).blocks);
            equal(what("number of blocks"), &p.len(), &q.len())?;
            for (p, q) in p.iter().zip(q) {
                self.blocks(*p, *q)?;
            }
        }
        self.define(&x.results, &y.results, what("results"))
    }

    fn define(&mut self, a: &[ValueId], b: &[ValueId], what: impl Fn() -> String) -> Result<(), String> {
        equal(|| format!("number of {}", what()), &a.len(), &b.len())?;
        for (x, y) in a.iter().zip(b) {
            let (p, q) = (self.a.value(*x), self.b.value(*y));
            equal(|| format!("type of {}", what()), &p.ty, &q.ty)?;
            if let (true, Some(p), Some(q)) = (self.names, &p.name, &q.name) {
                equal(|| format!("name of {}", what()), p, q)?;
            }
            self.values.insert(*x, *y);
        }
        Ok(())
    }
}

fn sorted(attrs: &AttrDict) -> Vec<(&str, &Attr)> {
    let mut list: Vec<_> = attrs.iter().collect();
    list.sort_by_key(|(name, _)| *name);
    list
}

fn equal<T: PartialEq + std::fmt::Debug>(what: impl Fn() -> String, a: &T, b: &T) -> Result<(), String> {
    if a == b { Ok(()) } else { Err(format!("{}: {a:?} and {b:?}", what())) }
}
