//! Calls of the tile library: a table of the special forms; all other calls follow the declarations of their ops.

use slipring_ir::{
    Arity, Attr, AttrKind, Dim, FuncType, OpSchema, OperandSpec, Reported, Syntax, Touch, Type, ValueId,
};
use slipring_machine::Pipe;
use slipring_mlir::func;
use slipring_op::OpDef;
use slipring_op::ring::words;
use slipring_pto as pto;

use crate::defaults::with_defaults;
use crate::tree::{Node, parts, span, template};
use crate::types::{Number, extents, flag_word, integer, member, number, tile};
use crate::value::{Read, Reader, Tile, Value};

/// A call.
pub(crate) struct Call<'n> {
    node: Node<'n>,
    /// The name without its namespace.
    name: String,
    /// Template arguments.
    words: Vec<Node<'n>>,
    args: Vec<Node<'n>>,
}

type Form = for<'t> fn(&mut Reader<'t>, &Call<'_>) -> Read<()>;

/// Calls whose form does not follow from the declaration of an op.
const FORMS: &[(&str, Form)] = &[
    ("TASSIGN", |r, call| r.assign_address(call)),
    ("TCI", |r, call| r.count(call)),
    ("TFREE", |r, call| r.pipe_end(call)),
    ("TMRGSORT", |r, call| r.merge(call)),
    ("TPOP", |r, call| r.pipe_end(call)),
    ("TPUSH", |r, call| r.pipe_end(call)),
    ("TRESHAPE", |r, call| r.reshape(call)),
    ("PTOAS__DCCI_SINGLE_CACHE_LINE", |r, call| r.clean_cache(call)),
    ("dcci", |r, call| r.clean_cache(call)),
    // In the simulator, stores of the scalar unit are always visible in program order.
    ("dsb", |_, _| Ok(())),
    ("pipe_barrier", |r, call| r.barrier(call)),
    ("ptoas_auto_sync_tail", |r, call| r.tail(call)),
    ("set_flag", |r, call| r.flag(call)),
    // Enables all lanes, which is the initial state of ops on tiles anyway.
    ("set_mask_norm", |_, _| Ok(())),
    ("set_vector_mask", |r, call| r.all_lanes(call)),
    ("wait_flag", |r, call| r.flag(call)),
];

impl<'t> Reader<'t> {
    fn call_at<'n>(&self, node: Node<'n>) -> Option<(Node<'n>, Call<'n>)> {
        let function = node.child_by_field_name("function")?;
        let args = parts(node.child_by_field_name("arguments")?);
        let (name, words) = template(self.text, function);
        Some((function, Call { node, name: name.to_string(), words, args }))
    }

    /// Reads a call that is a statement.
    pub fn call(&mut self, node: Node<'_>) -> Read<()> {
        let Some((function, call)) = self.call_at(node) else { return Err(self.unknown(node, "a call")) };
        if function.kind() == "field_expression" {
            return self.method(&call, function);
        }
        if let Some((_, form)) = FORMS.iter().find(|(name, _)| *name == call.name) {
            return form(self, &call);
        }
        match self.library_op(&call.name) {
            Some(def) => self.tile_op(&call, def),
            None => self.own_function(&call, function).map(drop),
        }
    }

    /// Reads a call of a function of this file.
    fn own_function(&mut self, call: &Call<'_>, function: Node<'_>) -> Read<Option<Value>> {
        let callee = self.module.symbol(&call.name).filter(|_| call.words.is_empty());
        let ty = callee.and_then(|op| self.module.function_type(op));
        let Some(FuncType { inputs, results }) = ty.map(|ty| (**ty).clone()) else {
            let message = format!("`{}` is not a function that is known here", call.name);
            return Err(self.error(function, message));
        };
        if inputs.len() != call.args.len() {
            let message = format!("`{}` takes {} arguments, not {}", call.name, inputs.len(), call.args.len());
            return Err(self.error(call.node, message));
        }
        let mut args = Vec::new();
        for (node, ty) in call.args.iter().zip(&inputs) {
            let id = match self.expression(*node)? {
                Value::Number(id, from) => {
                    let to = match ty {
                        Type::Int { width: 1, .. } => Number::Bool,
                        other => other.elem().map_or(from, Number::of),
                    };
                    self.converted(*node, (id, from), to)?
                }
                Value::Pointer(id, _) => id,
                other => return Err(self.error(*node, format!("{} cannot be passed on", other.described()))),
            };
            if self.module.ty(id) != ty {
                return Err(self.error(*node, "an argument of another type than the parameter"));
            }
            args.push(id);
        }
        let op = func::call(&mut self.module, &call.name, &args, &results, self.span);
        self.append(op);
        let given = self.module.op(op).results.first().copied();
        Ok(given.zip(self.given.get(&call.name).copied()).map(|(id, number)| Value::Number(id, number)))
    }

    /// Reads a call whose value is used.
    pub fn asked_of(&mut self, node: Node<'_>, function: Node<'_>, args: &[Node<'_>]) -> Read<Value> {
        let (name, _) = template(self.text, function);
        if function.kind() == "field_expression" {
            let Some((on, method)) = self.receiver(function) else { return Err(self.unknown(node, "a call")) };
            return match (method, self.expression(on)?, args) {
                ("GetValue", Value::Tile(tile), [index]) => {
                    let index = self.number(*index)?.0;
                    let src = self.placed(on, &tile)?;
                    let number = Number::of(tile.ty.layout.elem);
                    let operands: [(&str, &[ValueId]); 2] = [("src", &[src]), ("offset", &[index])];
                    let id = self.result(&pto::TGETVAL, &operands, Vec::new(), number.element_type());
                    Ok(Value::Number(self.signless(id, number), number))
                }
                ("data", Value::Tile(Tile { address: Some(address), ty, .. }), []) => {
                    Ok(Value::Local(address, ty.layout.elem))
                }
                ("data", Value::View(_, pointer, elem), []) => Ok(Value::Pointer(pointer, elem)),
                _ => Err(self.unknown(node, "a call")),
            };
        }
        let asked: Option<&'static OpDef> = match (name, args) {
            ("PTOAS__GLOBAL_TENSOR_DATA", [view]) => {
                return match self.expression(*view)? {
                    Value::View(_, pointer, elem) => Ok(Value::Pointer(pointer, elem)),
                    other => Err(self.error(*view, format!("a tensor is expected here, not {}", other.described()))),
                };
            }
            ("get_block_idx", []) => Some(&pto::GET_BLOCK_IDX),
            ("get_block_num", []) => Some(&pto::GET_BLOCK_NUM),
            ("get_subblockid", []) => Some(&pto::GET_SUBBLOCK_IDX),
            ("get_subblockdim", []) => Some(&pto::GET_SUBBLOCK_NUM),
            _ => None,
        };
        match asked {
            Some(def) => {
                self.asks_lane |= std::ptr::eq(def, &pto::GET_SUBBLOCK_IDX);
                let id = self.result(def, &[], Vec::new(), Number::I64.ty());
                Ok(Value::Number(id, Number::I64))
            }
            None if self.module.symbol(name).is_some() => {
                let Some((function, call)) = self.call_at(node) else { return Err(self.unknown(node, "a call")) };
                match self.own_function(&call, function)? {
                    Some(value) => Ok(value),
                    None => Err(self.error(node, format!("`{name}` gives no number"))),
                }
            }
            None => self.object(node),
        }
    }

    /// `x.f`: the object and the member.
    fn receiver<'n>(&self, function: Node<'n>) -> Option<(Node<'n>, &'t str)> {
        Some((function.child_by_field_name("argument")?, self.of(function.child_by_field_name("field")?)))
    }

    fn method(&mut self, call: &Call<'_>, function: Node<'_>) -> Read<()> {
        let Some((on, method)) = self.receiver(function) else { return Err(self.unknown(call.node, "a call")) };
        let Value::Tile(tile) = self.expression(on)? else { return Err(self.unknown(call.node, "a call")) };
        match (method, call.args.as_slice()) {
            ("SetValidShape", [rows, cols]) => {
                let (rows, cols) = (self.number(*rows)?.0, self.number(*cols)?.0);
                let Some(source) = tile.id else {
                    // The tile has no address yet: it is allocated later with this shape.
                    let open = |n: usize, id| (tile.ty.valid[n] == Dim::Dynamic).then_some(id);
                    let valid = [open(0, rows), open(1, cols)];
                    if tile.depth != self.depth {
                        let message = format!("`{}` has no address here, and is used after this branch", self.of(on));
                        return Err(self.error(on, format!("{message} or loop, which is not read")));
                    }
                    self.bind(on, Value::Tile(Tile { valid, ..tile }));
                    return Ok(());
                };
                let operands: [(&str, &[ValueId]); 3] =
                    [("source", &[source]), ("valid_row", &[rows]), ("valid_col", &[cols])];
                self.op(&pto::SET_VALIDSHAPE, &operands, Vec::new(), &[]);
            }
            ("SetValue", [index, value]) => {
                let index = self.number(*index)?.0;
                let from = self.number(*value)?;
                let value = self.as_element(*value, from, Number::of(tile.ty.layout.elem))?;
                let dst = self.placed(on, &tile)?;
                let operands: [(&str, &[ValueId]); 3] = [("offset", &[index]), ("value", &[value]), ("dst", &[dst])];
                self.op(&pto::TSETVAL, &operands, Vec::new(), &[]);
            }
            _ => return Err(self.unknown(call.node, "a call")),
        }
        Ok(())
    }

    /// The value of a tile, which must have an address.
    fn placed(&mut self, node: Node<'_>, tile: &Tile) -> Read<ValueId> {
        match tile.id {
            Some(id) => Ok(id),
            None => Err(self.error(node, format!("the tile `{}` has no address here", self.of(node)))),
        }
    }

    /// Binds a name to the tile that a call produces.
    fn bind_tile(&mut self, node: Node<'_>, tile: Tile, id: ValueId) -> Read<()> {
        // Code after the branch would still see the previous tile.
        if tile.id.is_some() && tile.depth != self.depth {
            let message =
                format!("`{}` becomes another tile inside of a branch or loop, which is not read", self.of(node));
            return Err(self.error(node, message));
        }
        self.bind(node, Value::Tile(Tile { id: Some(id), ..tile }));
        Ok(())
    }

    /// `TASSIGN(tile, address)`.
    fn assign_address(&mut self, call: &Call<'_>) -> Read<()> {
        let [on, address] = call.args[..] else { return Err(self.unknown(call.node, "a call")) };
        let Value::Tile(tile) = self.expression(on)? else { return Err(self.unknown(call.node, "a call")) };
        let address = self.number(address)?.0;
        let id = match tile.id {
            None => self.place_tile(&tile, address),
            Some(old) => {
                let operands: [(&str, &[ValueId]); 2] = [("tile", &[old]), ("addr", &[address])];
                self.result(&pto::TASSIGN, &operands, Vec::new(), Type::Tile(tile.ty))
            }
        };
        self.bind_tile(on, Tile { address: Some(address), ..tile }, id)
    }

    /// `TRESHAPE(dst, src)`.
    fn reshape(&mut self, call: &Call<'_>) -> Read<()> {
        let [on, src] = call.args[..] else { return Err(self.unknown(call.node, "a call")) };
        let (Value::Tile(dst), Value::Tile(source)) = (self.expression(on)?, self.expression(src)?) else {
            return Err(self.unknown(call.node, "a call"));
        };
        let address = source.address;
        let source = self.placed(src, &source)?;
        let id = self.result(&pto::TRESHAPE, &[("src", &[source])], Vec::new(), Type::Tile(dst.ty));
        self.bind_tile(on, Tile { address, ..dst }, id)
    }

    // ---- synchronisation ----

    fn pipe(&mut self, node: Node<'_>) -> Read<Option<Pipe>> {
        let word = self.of(node).rsplit("::").next().unwrap_or("");
        match (word, word.starts_with("PIPE_").then(|| Pipe::parse(word)).flatten()) {
            ("PIPE_ALL", _) => Ok(None),
            (_, Some(pipe)) => Ok(Some(pipe)),
            _ => Err(self.unknown(node, "a pipe")),
        }
    }

    /// `set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0)`.
    fn flag(&mut self, call: &Call<'_>) -> Read<()> {
        let [from, to, event] = call.args[..] else { return Err(self.unknown(call.node, "a flag")) };
        let (Some(a), Some(b)) = (self.pipe(from)?, self.pipe(to)?) else {
            return Err(self.unknown(call.node, "a flag"));
        };
        let sets = call.name == "set_flag";
        let known = self.of(event).strip_prefix("EVENT_ID").and_then(|id| id.parse::<u32>().ok());
        let op = match known {
            Some(id) if sets => pto::set_flag(&mut self.module, [a, b], id, self.span),
            Some(id) => pto::wait_flag(&mut self.module, [a, b], id, self.span),
            None => return Err(self.unknown(event, "an event")),
        };
        self.append(op);
        Ok(())
    }

    fn barrier(&mut self, call: &Call<'_>) -> Read<()> {
        let [pipe] = call.args[..] else { return Err(self.unknown(call.node, "a barrier")) };
        let pipe = self.pipe(pipe)?;
        let op = pto::barrier(&mut self.module, pipe, self.span);
        self.append(op);
        Ok(())
    }

    /// The end of a kernel, as the assembler writes it.
    fn tail(&mut self, call: &Call<'_>) -> Read<()> {
        let ops = match call.args.first().map(|word| self.of(*word).rsplit("::").next().unwrap_or("")) {
            None | Some("kBarrierAll") => vec![pto::barrier(&mut self.module, None, self.span)],
            Some("kSetWaitMte3ToSEvent0") => {
                let pipes = [Pipe::Mte3, Pipe::S];
                let set = pto::set_flag(&mut self.module, pipes, 0, self.span);
                vec![set, pto::wait_flag(&mut self.module, pipes, 0, self.span)]
            }
            Some(_) => return Err(self.unknown(call.node, "a call")),
        };
        ops.into_iter().for_each(|op| self.append(op));
        Ok(())
    }

    fn all_lanes(&mut self, call: &Call<'_>) -> Read<()> {
        match call.args.iter().all(|arg| self.of(*arg) == "-1") {
            true => Ok(()),
            false => Err(self.unknown(call.node, "a mask")),
        }
    }

    /// `dcci(address, what)`.
    fn clean_cache(&mut self, call: &Call<'_>) -> Read<()> {
        let [first, words @ ..] = call.args.as_slice() else { return Err(self.unknown(call.node, "a call")) };
        let words: Vec<&str> = words.iter().map(|word| self.of(*word).rsplit("::").next().unwrap_or("")).collect();
        let all = match words.as_slice() {
            [] | ["SINGLE_CACHE_LINE"] | ["SINGLE_CACHE_LINE", "CACHELINE_OUT" | "CACHELINE_ALL"] => false,
            ["ENTIRE_DATA_CACHE"] | ["ENTIRE_DATA_CACHE", "CACHELINE_OUT" | "CACHELINE_ALL"] => true,
            _ => return Err(self.unknown(call.node, "a call")),
        };
        // The address of a cache line may be cast to any type.
        let mut line = *first;
        while let ("cast_expression", Some(inner)) = (line.kind(), line.child_by_field_name("value")) {
            line = inner;
        }
        let line = match (all, self.of(line)) {
            (true, _) | (_, "0") => None,
            _ => match self.expression(line)? {
                Value::Pointer(id, _) | Value::View(id, ..) => Some(id),
                _ => return Err(self.unknown(call.node, "a call")),
            },
        };
        let attrs = vec![("space", Attr::member("address_space", "gm"))];
        let line: Vec<ValueId> = line.into_iter().collect();
        self.op(&pto::CACHE_INVALID, &[("addr", &line)], attrs, &[]);
        Ok(())
    }

    // ---- pipes ----

    /// `TPUSH<pipe, tile, split>(pipe, tile)`, `TPOP<…>(pipe, tile)`, `TFREE<pipe, split>(pipe)`.
    fn pipe_end(&mut self, call: &Call<'_>) -> Read<()> {
        let split = call.words.last().and_then(|word| member(self.text, *word, "TileSplitAxis"));
        let split = match split {
            Some("TILE_NO_SPLIT") => 0,
            Some("TILE_UP_DOWN") => 1,
            Some("TILE_LEFT_RIGHT") => 2,
            _ => return Err(self.unknown(call.node, "a call of a pipe")),
        };
        let attrs = vec![(words::SPLIT, Attr::int(split))];
        let Some(first) = call.args.first() else { return Err(self.unknown(call.node, "a call of a pipe")) };
        let Value::Pipe(pipe) = self.expression(*first)? else { return Err(self.unknown(*first, "a pipe")) };
        let tile = match call.args.get(1) {
            None => None,
            Some(node) => match self.expression(*node)? {
                Value::Tile(tile) => Some((*node, tile)),
                _ => return Err(self.unknown(*node, "a tile")),
            },
        };
        match (call.name.as_str(), tile) {
            ("TPUSH", Some((node, tile))) => {
                let tile = self.placed(node, &tile)?;
                self.op(&pto::TPUSH, &[("tile", &[tile]), ("pipe", &[pipe])], attrs, &[]);
            }
            ("TPOP", Some((node, tile))) => {
                let mut tile = Tile { address: None, ..tile };
                let extents = self.valid_extents(&tile);
                if extents.is_some() {
                    // The op that sets valid rows and columns always sets both.
                    tile.ty.valid = [Dim::Dynamic; 2];
                }
                let id = self.result(&pto::DECLARE_TILE, &[], Vec::new(), Type::Tile(tile.ty));
                self.op(&pto::TPOP, &[("tile", &[id]), ("pipe", &[pipe])], attrs, &[]);
                if let Some([rows, cols]) = extents {
                    let operands: [(&str, &[ValueId]); 3] =
                        [("source", &[id]), ("valid_row", &[rows]), ("valid_col", &[cols])];
                    self.op(&pto::SET_VALIDSHAPE, &operands, Vec::new(), &[]);
                }
                self.bind_tile(node, tile, id)?;
            }
            ("TFREE", _) => {
                self.op(&pto::TFREE, &[("pipe", &[pipe])], attrs, &[]);
            }
            _ => return Err(self.unknown(call.node, "a call of a pipe")),
        }
        Ok(())
    }

    /// Valid rows and columns of a tile of which at least one was given; the other is that of its type.
    fn valid_extents(&mut self, tile: &Tile) -> Option<[ValueId; 2]> {
        if tile.valid == [None, None] {
            return None;
        }
        let mut both = [tile.valid[0], tile.valid[1]];
        for (value, of_type) in both.iter_mut().zip(tile.ty.valid) {
            if let (None, Dim::Static(n)) = (*value, of_type) {
                *value = Some(self.integer(n as i64, Number::I64));
            }
        }
        both[0].zip(both[1]).map(|(rows, cols)| [rows, cols])
    }

    // ---- ops on tiles ----

    /// `TCI<tile, number, descending>(dst, start)`.
    fn count(&mut self, call: &Call<'_>) -> Read<()> {
        let down = match call.words.get(2).map(|word| flag_word(self.text, *word)) {
            None => false,
            Some(Some(down)) => down,
            Some(None) => return Err(self.unknown(call.node, "a call")),
        };
        let attrs = if down { vec![("descending", Attr::Bool(true))] } else { Vec::new() };
        let values = self.values(call)?;
        self.by_declaration(call, &pto::TCI, &values, attrs)
    }

    /// `TMRGSORT<…, exhausted>(dst, executed, tmp, a, b, …)` and `TMRGSORT(dst, src, elements of a block)`.
    fn merge(&mut self, call: &Call<'_>) -> Read<()> {
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
                Value::Number(id, _) if n == 2 => number = Some(id),
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
    fn library_op(&self, name: &str) -> Option<&'static OpDef> {
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

    fn tile_op(&mut self, call: &Call<'_>, def: &'static OpDef) -> Read<()> {
        let mut attrs = Vec::new();
        for word in &call.words {
            let of_value = number(self.text, *word).is_some() || tile(self.text, *word).is_some();
            let of_view = matches!(template(self.text, *word).0, "GlobalTensor" | "Shape" | "Stride")
                || extents(self.text, *word, "Shape").is_some();
            if of_value || of_view {
                continue;
            }
            match self.of(*word).trim_start_matches("pto::").rsplit_once("::") {
                Some((kind, member)) => attrs.push(self.attribute(call, *word, def, (kind, member))?),
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
                attrs.push(self.attribute(call, nodes[n], def, (&kind, &member))?);
                values.remove(n);
                nodes.remove(n);
            }
        }
        self.by_declaration(call, def, &values, attrs)
    }

    /// A member of an enumeration as an attribute of an op: `RoundMode::CAST_RINT` is `rmode = CAST_RINT`.
    fn attribute(
        &mut self,
        call: &Call<'_>,
        node: Node<'_>,
        def: &'static OpDef,
        (kind, member): (&str, &str),
    ) -> Read<(&'static str, Attr)> {
        if let Some(own) = pto::axis_of_library(kind.rsplit("::").next().unwrap_or(kind), member)
            && def.schema.attrs.iter().any(|spec| spec.name == own.0)
        {
            return Ok(own);
        }
        let plain = |text: &str| text.replace('_', "").to_ascii_lowercase();
        let kind = match kind.rsplit("::").next().unwrap_or(kind) {
            "CmpMode" => "cmp".to_string(),
            kind => plain(kind),
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
            Some(found) => Ok(found),
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
        let Some((ids, places)) = found else {
            let message = format!("`{}` of these arguments is not read", call.name);
            let takes: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
            let error = slipring_ir::Diagnostic::error("cpp-form", span(call.node), message);
            return Err(self.refuse(error.help(format!("it is `{}`: {}", def.schema.name, takes.join(", ")))));
        };
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
