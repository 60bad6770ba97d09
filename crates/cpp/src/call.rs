//! Calls: a table of those that no declaration describes, and what these do with addresses, flags and pipes.

use slipring_ir::{Attr, Dim, FuncType, Type, ValueId};
use slipring_machine::Pipe;
use slipring_mlir::func;
use slipring_op::OpDef;
use slipring_op::ring::words;
use slipring_pto as pto;

use crate::tree::{Node, parts, template};
use crate::types::{Number, member};
use crate::value::{Read, Reader, Tile, Value};

/// A call.
pub(crate) struct Call<'n> {
    pub node: Node<'n>,
    /// The name without its namespace.
    pub name: String,
    /// Template arguments.
    pub words: Vec<Node<'n>>,
    pub args: Vec<Node<'n>>,
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
                    self.as_element(*node, (id, from), to)?
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
                    let index = self.number_by_value(*index)?;
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
                let (rows, cols) = (self.number_by_value(*rows)?, self.number_by_value(*cols)?);
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
                let index = self.number_by_value(*index)?;
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
    pub fn placed(&mut self, node: Node<'_>, tile: &Tile) -> Read<ValueId> {
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
        let address = self.number_by_value(address)?;
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
            Some(other) => {
                let message = format!("a tile that a pipe divides as `TileSplitAxis::{other}` says is not read");
                return Err(self.error(call.node, message));
            }
            None => return Err(self.unknown(call.node, "a call of a pipe")),
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
}
