//! Printed names of values: their own where possible, each visible name unique.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::function::SYMBOL;
use crate::text::kept::Names;
use crate::{BlockId, Module, OpId, ValueId};

/// Names within one function (an op with a symbol), or outside of all functions.
struct Namer<'m> {
    module: &'m Module,
    names: Vec<Option<Rc<str>>>,
    /// Visible names, innermost region last.
    scopes: Vec<BTreeSet<String>>,
    /// Names of this function's own values, and names given to others so far.
    taken: BTreeSet<String>,
    /// The next number to try as a suffix of a name, and without one.
    next: BTreeMap<String, u32>,
}

impl Names {
    /// Names for everything reachable in a module.
    pub fn of(module: &Module) -> Names {
        let mut namer = Namer {
            module,
            names: vec![None; module.value_count()],
            scopes: vec![BTreeSet::new()],
            taken: BTreeSet::new(),
            next: BTreeMap::new(),
        };
        for op in &module.block(module.top).ops {
            namer.collect(*op);
        }
        namer.block(module.top);
        Names(namer.names)
    }

    /// `%name` or `%name#1`.
    pub fn get(&self, module: &Module, value: ValueId) -> String {
        let mut text = String::new();
        self.write(module, value, &mut text);
        text
    }

    /// As [`Names::get`], appended to a text.
    pub fn write(&self, module: &Module, value: ValueId, text: &mut String) {
        match self.0.get(value.index()).and_then(|n| n.as_ref()) {
            Some(name) => {
                text.push('%');
                text.push_str(name);
            }
            // A value that is not in the module, which only a defect of a pass can cause.
            None => text.push_str(&module.value_name(value)),
        }
    }

    /// The text before `=`: `%a`, `%a, %b`, `%x:2`.
    pub fn groups(&self, module: &Module, op: OpId) -> Vec<String> {
        let text = |values: &Vec<ValueId>| {
            let first = self.get(module, values[0]);
            match values.len() {
                1 => first,
                n => format!("{}:{n}", first.trim_end_matches("#0")),
            }
        };
        result_groups(module, op).iter().map(|(_, values)| text(values)).collect()
    }
}

/// Adjacent results of an op that share a name, or have none.
fn result_groups(module: &Module, op: OpId) -> Vec<(Option<Arc<str>>, Vec<ValueId>)> {
    let mut groups: Vec<(Option<Arc<str>>, Vec<ValueId>)> = Vec::new();
    for result in &module.op(op).results {
        let name = &module.value(*result).name;
        match groups.last_mut() {
            Some((shared, values)) if shared == name => values.push(*result),
            _ => groups.push((name.clone(), vec![*result])),
        }
    }
    groups
}

/// A name reduced to the characters allowed in names; `None` if nothing is left.
fn legal(name: &str) -> Option<String> {
    let digits = !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-');
    let mut text: String = name.chars().map(|c| if plain(c) { c } else { '_' }).collect();
    if text.is_empty() {
        return None;
    }
    if !digits && text.starts_with(|c: char| c.is_ascii_digit()) {
        text.insert(0, '_');
    }
    Some(text)
}

impl Namer<'_> {
    /// Records the names in an op's regions and results, excluding nested functions.
    fn collect(&mut self, op: OpId) {
        let data = self.module.op(op);
        for result in &data.results {
            self.collect_name(*result);
        }
        for region in &data.regions {
            for block in &self.module.region(*region).blocks {
                let block = self.module.block(*block);
                for arg in &block.args {
                    self.collect_name(*arg);
                }
                for inner in &block.ops {
                    if !self.is_function(*inner) {
                        self.collect(*inner);
                    }
                }
            }
        }
    }

    fn collect_name(&mut self, value: ValueId) {
        if let Some(name) = self.module.value(value).name.as_deref().and_then(legal) {
            self.taken.insert(name);
        }
    }

    fn is_function(&self, op: OpId) -> bool {
        self.module.op(op).attrs.get(SYMBOL).is_some()
    }

    fn block(&mut self, block: BlockId) {
        let ops = &self.module.block(block).ops;
        for op in ops {
            if self.is_function(*op) {
                // Names start afresh, except for those visible from outside.
                let outer = (std::mem::take(&mut self.taken), std::mem::take(&mut self.next));
                self.taken = self.scopes.iter().flatten().cloned().collect();
                self.collect(*op);
                self.op(*op);
                (self.taken, self.next) = outer;
            } else {
                self.op(*op);
            }
        }
    }

    fn op(&mut self, op: OpId) {
        for region in &self.module.op(op).regions {
            self.scopes.push(BTreeSet::new());
            for block in &self.module.region(*region).blocks {
                for arg in &self.module.block(*block).args {
                    self.name_group(&[*arg], self.module.value(*arg).name.clone());
                }
                self.block(*block);
            }
            self.scopes.pop();
        }
        for (name, values) in result_groups(self.module, op) {
            self.name_group(&values, name);
        }
    }

    fn name_group(&mut self, values: &[ValueId], name: Option<Arc<str>>) {
        let name = self.choose(name.as_deref().and_then(legal));
        for (i, value) in values.iter().enumerate() {
            let text = if values.len() > 1 { format!("{name}#{i}") } else { name.clone() };
            self.names[value.index()] = Some(text.into());
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name);
        }
    }

    /// The name itself if it is not visible yet; otherwise one derived from it; a number if there is none.
    fn choose(&mut self, name: Option<String>) -> String {
        let stem = match name {
            Some(name) if !self.scopes.iter().any(|s| s.contains(&name)) => return name,
            Some(name) if !name.bytes().all(|b| b.is_ascii_digit()) => name + "_",
            _ => String::new(),
        };
        let next = self.next.entry(stem.clone()).or_default();
        loop {
            let made = format!("{stem}{next}");
            *next += 1;
            if self.taken.insert(made.clone()) {
                return made;
            }
        }
    }
}
