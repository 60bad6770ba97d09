//! Calls of ops on tiles: they follow the declarations of their ops.

use slipring_ir::{Arity, Attr, AttrKind, OpSchema, OperandSpec, Reported, Syntax, Touch, Type, ValueId};
use slipring_op::OpDef;
use slipring_op::numbers::{becomes_element, element_operand};
use slipring_pto as pto;

use crate::call::Call;
use crate::defaults::with_defaults;
use crate::tree::{Node, span, template};
use crate::types::{Number, extents, flag_word, integer, number, tile};
use crate::value::{Read, Reader, Tile, Value};

/// The tile library's choices of an algorithm, and the kinds of the attributes that stand for them; none for an op that
/// has one algorithm here, which is then the library's `DEFAULT`.
const ALGORITHMS: &[(&str, Option<&str>)] = &[
    ("DivAlgorithm", Some("div_precision")),
    ("ExpAlgorithm", Some("exp_precision")),
    ("FmodAlgorithm", Some("fmod_precision")),
    ("FmodSAlgorithm", None),
    ("LogAlgorithm", Some("log_precision")),
    ("PowAlgorithm", Some("pow_precision")),
    ("RecipAlgorithm", Some("recip_precision")),
    ("RemAlgorithm", Some("rem_precision")),
    ("RemSAlgorithm", None),
    ("RsqrtAlgorithm", Some("rsqrt_precision")),
    ("SqrtAlgorithm", Some("sqrt_precision")),
];

impl Reader<'_> {
    /// `TCI<tile, number, descending>(dst, start)`.
    pub fn count(&mut self, call: &Call<'_>) -> Read<()> {
        let down = match call.words.get(2).map(|word| flag_word(self.text, *word)) {
            None => false,
            Some(Some(down)) => down,
            Some(None) => return Err(self.unknown(call.node, "a call")),
        };
        let attrs = if down { vec![("descending", Attr::Bool(true))] } else { Vec::new() };
        let mut values = self.values(call)?;
        if let [Value::Tile(dst), Value::Number(id, from), ..] = values.as_slice() {
            // The parameter has the type of the elements.
            let to = Number::of(dst.ty.layout.elem);
            let id = self.converted(call.node, (*id, *from), to)?;
            values[1] = Value::Number(id, to.with_a_sign());
        }
        self.by_declaration(call, &pto::TCI, &values, attrs)
    }

    /// `TMRGSORT<…, exhausted>(dst, executed, tmp, a, b, …)` and `TMRGSORT(dst, src, elements of a block)`.
    pub fn merge(&mut self, call: &Call<'_>) -> Read<()> {
        let exhausted = match call.words.last() {
            Some(word) if tile(self.text, *word).is_none() => match flag_word(self.text, *word) {
                Some(exhausted) => exhausted,
                None => return Err(self.unknown(*word, "an argument")),
            },
            _ => false,
        };
        let attrs = if exhausted { vec![("exhausted", Attr::Bool(true))] } else { Vec::new() };
        let mut ids = Vec::new();
        let mut number = None;
        for (n, node) in call.args.iter().enumerate() {
            match self.expression(*node)? {
                Value::Tile(tile) => ids.push(self.placed(*node, &tile)?),
                Value::Number(id, from) if n == 2 => number = Some(self.by_value(*node, (id, from))?),
                Value::Executed if n == 1 => {}
                _ => return Err(self.unknown(*node, "an argument")),
            }
        }
        match (number, ids.as_slice()) {
            (Some(block), [dst, src]) => {
                let operands: [(&str, &[ValueId]); 3] =
                    [("sources", &[*src]), ("blockLen", &[block]), ("dst", &[*dst])];
                self.op(&pto::TMRGSORT, &operands, attrs, &[]);
            }
            (None, [dst, tmp, sources @ ..]) if (2..=4).contains(&sources.len()) => {
                let operands: [(&str, &[ValueId]); 3] = [("sources", sources), ("dst", &[*dst]), ("tmp", &[*tmp])];
                self.op(&pto::TMRGSORT, &operands, attrs, &[]);
            }
            _ => return Err(self.unknown(call.node, "a call")),
        }
        Ok(())
    }

    /// The op for a function of the tile library: `TMATMUL_ACC` is `tmatmul.acc` in its dialect.
    pub fn library_op(&self, name: &str) -> Option<&'static OpDef> {
        let (space, own) = match name.strip_prefix("comm::") {
            Some(own) => ("comm.", own),
            None => ("", name),
        };
        if !own.starts_with('T') && !own.starts_with('M') || own.contains("::") {
            return None;
        }
        let own = own.to_ascii_lowercase();
        let written = [own.clone(), own.replace('_', "."), own.replace('_', "")];
        written.iter().find_map(|own| self.table.def(&format!("pto.{space}{own}")))
    }

    /// The values of a call's arguments.
    fn values(&mut self, call: &Call<'_>) -> Read<Vec<Value>> {
        let mut values = Vec::new();
        for node in &call.args {
            values.push(match self.expression(*node)? {
                Value::Tile(tile) => Value::Tile(Tile { id: Some(self.placed(*node, &tile)?), ..tile }),
                Value::Unset(_) => return Err(self.number(*node).err().unwrap_or(Reported)),
                other => other,
            });
        }
        Ok(values)
    }

    pub fn tile_op(&mut self, call: &Call<'_>, def: &'static OpDef) -> Read<()> {
        let mut attrs = Vec::new();
        for word in &call.words {
            let of_value = number(self.text, *word).is_some() || tile(self.text, *word).is_some();
            let of_view = matches!(template(self.text, *word).0, "GlobalTensor" | "Shape" | "Stride")
                || extents(self.text, *word, "Shape").is_some();
            if of_value || of_view {
                continue;
            }
            match self.of(*word).trim_start_matches("pto::").rsplit_once("::") {
                Some((kind, member)) => attrs.extend(self.attribute(call, *word, def, (kind, member))?),
                // An unnamed number belongs to the op's only integer attribute.
                None => {
                    let mut numbers = def.schema.attrs.iter().filter(|spec| matches!(spec.kind, AttrKind::Int));
                    match (numbers.next(), numbers.next(), integer(self.of(*word))) {
                        (Some(spec), None, Some(n)) => attrs.push((spec.name, Attr::int(n))),
                        _ => return Err(self.unknown(*word, "an argument")),
                    }
                }
            }
        }
        let mut values = self.values(call)?;
        let mut nodes = call.args.clone();
        for n in (0..values.len()).rev() {
            if let Value::Word(kind, member) = values[n].clone() {
                attrs.extend(self.attribute(call, nodes[n], def, (&kind, &member))?);
                values.remove(n);
                nodes.remove(n);
            }
        }
        self.by_declaration(call, def, &values, attrs)
    }

    /// A member of an enumeration as an attribute of an op: `RoundMode::CAST_RINT` is `rmode = CAST_RINT`. None for what
    /// the op does in any case.
    fn attribute(
        &mut self,
        call: &Call<'_>,
        node: Node<'_>,
        def: &'static OpDef,
        (kind, member): (&str, &str),
    ) -> Read<Option<(&'static str, Attr)>> {
        let kind = kind.rsplit("::").next().unwrap_or(kind);
        if let Some(own) = pto::axis_of_library(kind, member)
            && def.schema.attrs.iter().any(|spec| spec.name == own.0)
        {
            return Ok(Some(own));
        }
        let plain = |text: &str| text.replace('_', "").to_ascii_lowercase();
        let algorithm = ALGORITHMS.iter().find(|(name, _)| *name == kind).map(|(_, own)| *own);
        let kind = match (kind, algorithm) {
            ("CmpMode", _) => "cmp".to_string(),
            (_, Some(Some(own))) => plain(own),
            (kind, _) => plain(kind),
        };
        let member = member.strip_prefix("CAST_").filter(|_| kind == "roundmode").unwrap_or(member);
        let found = def.schema.attrs.iter().find_map(|spec| match spec.kind {
            AttrKind::Enum(of) if plain(of.kind) == kind => {
                let own = of.members.iter().find(|own| plain(own) == plain(member))?;
                Some((spec.name, Attr::member(of.kind, own)))
            }
            _ => None,
        });
        match found {
            Some(found) => Ok(Some(found)),
            None if algorithm.is_some() && member == "DEFAULT" => Ok(None),
            None => {
                let message = format!("`{}` takes no `{}` that is known here", call.name, self.of(node));
                Err(self.error(node, message))
            }
        }
    }

    /// Reads a call by the declaration of its op: in C++, the written operands come first.
    fn by_declaration(
        &mut self,
        call: &Call<'_>,
        def: &'static OpDef,
        values: &[Value],
        attrs: Vec<(&'static str, Attr)>,
    ) -> Read<()> {
        let ids: Option<Vec<ValueId>> = values.iter().map(Value::id).collect();
        let specs = in_order(&def.schema);
        let found = ids.and_then(|ids| {
            let types: Vec<&Type> = ids.iter().map(|id| self.module.ty(*id)).collect();
            matched(&specs, &types).map(|places| (ids, places))
        });
        let Some((mut ids, places)) = found else {
            let message = format!("`{}` of these arguments is not read", call.name);
            let takes: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
            let error = slipring_ir::Diagnostic::error("cpp-form", span(call.node), message);
            return Err(self.refuse(error.help(format!("it is `{}`: {}", def.schema.name, takes.join(", ")))));
        };
        let tile = places.iter().position(|n| specs[*n].name == element_operand(def));
        let elem = tile.and_then(|at| self.module.ty(ids[at]).elem());
        for ((place, id), value) in places.iter().zip(&mut ids).zip(values) {
            if let Value::Number(own, from) = value {
                let number = (*own, *from);
                *id = match elem {
                    Some(elem) if becomes_element(specs[*place]) => self.as_element_of_tile(call.node, number, elem)?,
                    _ => self.by_value(call.node, number)?,
                };
            }
        }
        let ids: Vec<(&str, [ValueId; 1])> = places.iter().zip(ids).map(|(n, id)| (specs[*n].name, [id])).collect();
        let operands: Vec<(&str, &[ValueId])> = ids.iter().map(|(name, id)| (*name, id.as_slice())).collect();
        self.op(def, &operands, with_defaults(&self.module, def, &operands, attrs), &[]);
        Ok(())
    }
}

/// Operands in the order of C++: written ones, then read ones.
fn in_order(schema: &OpSchema) -> Vec<&'static OperandSpec> {
    let ins = match schema.syntax {
        Syntax::InsOuts { ins, .. } => ins,
        _ => 0,
    };
    let outs = |(n, spec): &(usize, &OperandSpec)| match schema.syntax {
        Syntax::InsOuts { .. } => *n >= ins,
        _ => matches!(spec.touch, Touch::Write | Touch::ReadWrite),
    };
    let each = || schema.operands.iter().enumerate();
    each().filter(outs).chain(each().filter(|pair| !outs(pair))).map(|(_, spec)| spec).collect()
}

/// Matches argument types to operands: returns indices into `specs`. Prefers to leave out optional operands that are
/// written.
fn matched(specs: &[&OperandSpec], types: &[&Type]) -> Option<Vec<usize>> {
    fn from(specs: &[&OperandSpec], types: &[&Type], at: usize, chosen: &mut Vec<usize>) -> bool {
        let given = chosen.len();
        let Some(spec) = specs.get(at) else { return given == types.len() };
        let fits = types.get(given).is_some_and(|ty| (spec.ty.accepts)(ty));
        let optional = !matches!(spec.arity, Arity::One);
        let take = |chosen: &mut Vec<usize>| {
            chosen.push(at);
            let done = fits && from(specs, types, at + 1, chosen);
            if !done {
                chosen.pop();
            }
            done
        };
        match (optional, spec.touch.writes() && !spec.touch.reads()) {
            (false, _) => take(chosen),
            (true, true) => from(specs, types, at + 1, chosen) || take(chosen),
            (true, false) => take(chosen) || from(specs, types, at + 1, chosen),
        }
    }
    let mut chosen = Vec::new();
    from(specs, types, 0, &mut chosen).then_some(chosen)
}
