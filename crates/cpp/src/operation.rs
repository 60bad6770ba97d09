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
    /// `TCI<tile, number, descending>(dst, start)` and `TCI<tile, tile, number, descending>(dst, start, tmp)`.
    pub fn count(&mut self, call: &Call<'_>) -> Read<()> {
        let attrs = if self.last_flag(call)? { vec![("descending", Attr::Bool(true))] } else { Vec::new() };
        let mut values = self.values(call)?;
        if let [Value::Tile(dst), Value::Number(id, from), ..] = values.as_slice() {
            // The parameter has the type of the elements.
            let to = Number::of(dst.ty.layout.elem);
            let id = self.converted(call.node, (*id, *from), to)?;
            values[1] = Value::Number(id, to.with_a_sign());
        }
        self.by_declaration(call, &pto::TCI, (&values, &call.args), attrs)
    }

    /// The flag that ends the template arguments of a call; false where they are types only, or none.
    fn last_flag(&mut self, call: &Call<'_>) -> Read<bool> {
        match call.words.last() {
            Some(word) if tile(self.text, *word).is_none() && number(self.text, *word).is_none() => {
                flag_word(self.text, *word).ok_or_else(|| self.unknown(*word, "an argument"))
            }
            _ => Ok(false),
        }
    }

    /// `TMRGSORT<…, exhausted>(dst, executed, tmp, a, b, …)` and `TMRGSORT(dst, src, elements of a block)`.
    pub fn merge(&mut self, call: &Call<'_>) -> Read<()> {
        let attrs = if self.last_flag(call)? { vec![("exhausted", Attr::Bool(true))] } else { Vec::new() };
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

    /// `x` of `&x`.
    fn pointed_at<'n>(&self, node: Node<'n>) -> Option<Node<'n>> {
        let takes = node.kind() == "pointer_expression" && self.of(node).starts_with('&');
        node.child_by_field_name("argument").filter(|_| takes)
    }

    /// The values of a call's arguments, and of what those point at that are addresses.
    fn values(&mut self, call: &Call<'_>) -> Read<Vec<Value>> {
        let mut values = Vec::new();
        for node in &call.args {
            values.push(match self.expression(self.pointed_at(*node).unwrap_or(*node))? {
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
        self.by_declaration(call, def, (&values, &nodes), attrs)
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

    /// Reads a call by the declaration of its op.
    fn by_declaration(
        &mut self,
        call: &Call<'_>,
        def: &'static OpDef,
        (values, nodes): (&[Value], &[Node<'_>]),
        mut attrs: Vec<(&'static str, Attr)>,
    ) -> Read<()> {
        let specs = in_order(&def.schema);
        let ids: Option<Vec<ValueId>> = values.iter().map(Value::id).collect();
        let Some((mut ids, places, more)) = ids.and_then(|ids| self.places(def, &specs, &ids, nodes)) else {
            let message = format!("`{}` of these arguments is not read", call.name);
            let takes = match def.library_forms {
                [] => specs.iter().map(|spec| spec.name).collect::<Vec<_>>().join(", "),
                forms => forms.iter().map(|form| form.join(", ")).collect::<Vec<_>>().join("; or "),
            };
            let error = slipring_ir::Diagnostic::error("cpp-form", span(call.node), message);
            return Err(self.refuse(error.help(format!("it is `{}`: {takes}", def.schema.name))));
        };
        attrs.extend(more);
        let tile = places.iter().position(|n| specs[*n].name == element_operand(def));
        let elem = tile.and_then(|at| self.module.ty(ids[at]).elem());
        for (place, id) in places.iter().zip(&mut ids) {
            let given = values.iter().find_map(|value| match value {
                Value::Number(own, from) if own == id => Some((*own, *from)),
                _ => None,
            });
            if let Some(number) = given {
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

/// The values of a call that are operands, the place of each in a list of operands, and the attributes that its other
/// arguments are.
type Placed = (Vec<ValueId>, Vec<usize>, Vec<(&'static str, Attr)>);

impl Reader<'_> {
    /// What the arguments of a call stand for: those of the first form of the library's function that has arguments of
    /// these kinds, else the written operands and then the others.
    fn places(
        &self,
        def: &'static OpDef,
        specs: &[&OperandSpec],
        ids: &[ValueId],
        nodes: &[Node<'_>],
    ) -> Option<Placed> {
        if def.library_forms.is_empty() {
            if nodes.iter().any(|node| self.pointed_at(*node).is_some()) {
                return None;
            }
            let types: Vec<&Type> = ids.iter().map(|id| self.module.ty(*id)).collect();
            return matched(specs, &types).map(|places| (ids.to_vec(), places, Vec::new()));
        }
        def.library_forms.iter().find_map(|form| {
            let mut placed = Placed::default();
            for (name, (id, node)) in form.iter().zip(ids.iter().zip(nodes)) {
                let own = name.trim_start_matches('&');
                if let Some(place) = specs.iter().position(|spec| spec.name == own) {
                    let by_address = self.pointed_at(*node).is_some();
                    let fits = (specs[place].ty.accepts)(self.module.ty(*id)) && by_address == (own != *name);
                    placed.0.push(Some(*id).filter(|_| fits)?);
                    placed.1.push(place);
                } else {
                    let spec = def.schema.attrs.iter().find(|spec| spec.name == own)?;
                    let attr = match spec.kind {
                        AttrKind::Bool => Attr::Bool(flag_word(self.text, *node)?),
                        AttrKind::Int => Attr::int(integer(self.of(*node))?),
                        _ => return None,
                    };
                    placed.2.push((spec.name, attr));
                }
            }
            (form.len() == ids.len()).then_some(placed)
        })
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
