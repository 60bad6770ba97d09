//! Declarations of tiles, views of global memory, and pipes.

use slipring_ir::{Attr, Dim, Type, ValueId, ViewType};
use slipring_op::ring::words;
use slipring_pto as pto;

use crate::tree::{Node, name, parts, template};
use crate::types::{Number, elem, extents, flag_word, integer, member, tile};
use crate::value::{Read, Reader, Tile, Value};

/// The type of pipes, as written in texts.
const PIPE: &str = "!pto.pipe";

impl<'t> Reader<'t> {
    /// `T x = value`, for what is not a number.
    pub fn declared_object(&mut self, ty: Node<'_>, value: Node<'_>) -> Read<Value> {
        let made = self.expression(value)?;
        let fits = match &made {
            Value::Tile(own) => tile(self.text, ty) == Some(own.ty),
            Value::Word(kind, _) => name(self.text, ty).rsplit("::").next() == Some(kind.as_str()),
            Value::Extents(..) | Value::View(..) | Value::Executed => {
                let made = self.of(value).split(['(', '{']).next().unwrap_or("");
                squeezed(self.of(ty)) == squeezed(made)
            }
            Value::Pipe(_) => true,
            _ => false,
        };
        match (fits, made) {
            (true, Value::Tile(own)) => Ok(Value::Tile(self.copy(own))),
            (true, made) => Ok(made),
            (false, _) => Err(self.unknown(ty, "a declaration")),
        }
    }

    /// A copy of a tile: it has the same address, if any, and its own valid shape.
    fn copy(&mut self, own: Tile) -> Tile {
        Tile { depth: self.depth, ..own }
    }

    /// `T x;`
    pub fn bare_object(&mut self, ty: Node<'_>) -> Read<Value> {
        match tile(self.text, ty) {
            Some(tile) => {
                Ok(Value::Tile(Tile { ty: tile, valid: [None, None], id: None, address: None, depth: self.depth }))
            }
            None => Err(self.unknown(ty, "a declaration")),
        }
    }

    /// `T(…)` or `T{…}`.
    pub fn object(&mut self, node: Node<'_>) -> Read<Value> {
        let field = |name| node.child_by_field_name(name);
        let ty = field("function").or(field("type"));
        let list = field("arguments").or(field("value"));
        let (Some(ty), Some(list)) = (ty, list) else { return Err(self.unknown(node, "an expression")) };
        let args = parts(list);
        match template(self.text, ty).0 {
            "Tile" => self.new_tile(ty, &args),
            "Shape" => self.new_extents(ty, "Shape", &args),
            "Stride" => self.new_extents(ty, "Stride", &args),
            "GlobalTensor" => self.new_view(node, ty, &args),
            "TPipe" => self.new_pipe(node, ty, &args),
            "MrgSortExecutedNumList" => Ok(Value::Executed),
            _ => Err(self.unknown(node, "a call")),
        }
    }

    fn new_tile(&mut self, node: Node<'_>, args: &[Node<'_>]) -> Read<Value> {
        let Some(ty) = tile(self.text, node) else { return Err(self.unknown(node, "a tile")) };
        let open: Vec<usize> = (0..2).filter(|n| ty.valid[*n] == Dim::Dynamic).collect();
        let mut valid = [None, None];
        if !args.is_empty() && args.len() != open.len() {
            let message = format!("a tile with {} open extents gets {} numbers", open.len(), args.len());
            return Err(self.error(node, message));
        }
        for (which, node) in open.into_iter().zip(args) {
            valid[which] = Some(self.number_as(*node, Number::I64)?);
        }
        Ok(Value::Tile(Tile { ty, valid, id: None, address: None, depth: self.depth }))
    }

    fn new_extents(&mut self, node: Node<'_>, of: &str, args: &[Node<'_>]) -> Read<Value> {
        let Some(dims) = extents(self.text, node, of) else { return Err(self.unknown(node, "a shape")) };
        // The constructor takes a number for each dimension, or only for the dynamic ones.
        let open = dims.iter().filter(|dim| **dim == Dim::Dynamic).count();
        let all = args.len() == dims.len();
        if !all && args.len() != open {
            let message = format!("of {} extents {open} are open, and {} numbers are given", dims.len(), args.len());
            return Err(self.error(node, message));
        }
        let mut given = args.iter();
        let mut values = Vec::new();
        for dim in &dims {
            let own = if all || *dim == Dim::Dynamic { given.next() } else { None };
            let value = match (dim, own) {
                (Dim::Static(n), _) => self.integer(*n as i64, Number::I64),
                (Dim::Dynamic, Some(node)) => self.number_as(*node, Number::I64)?,
                (Dim::Dynamic, None) => return Err(self.error(node, "an open extent gets no number")),
            };
            values.push(value);
        }
        Ok(Value::Extents(values, dims))
    }

    /// `GlobalTensor<float, Shape<…>, Stride<…>, Layout::ND>(pointer, shape, strides)`.
    fn new_view(&mut self, node: Node<'_>, ty: Node<'_>, args: &[Node<'_>]) -> Read<Value> {
        let (_, words) = template(self.text, ty);
        let (Some(first), Some(shape), Some(strides)) = (args.first(), words.get(1), words.get(2)) else {
            return Err(self.unknown(node, "a tensor"));
        };
        let of = elem(self.text, words[0]);
        let layout = match words.get(3) {
            None => Some("ND"),
            Some(word) => member(self.text, *word, "Layout"),
        };
        let layout = layout.filter(|word| ["ND", "DN", "NZ"].contains(word)).map(str::to_ascii_lowercase);
        let (Some(of), Some(layout)) = (of, layout) else { return Err(self.unknown(ty, "a tensor")) };
        let Value::Pointer(pointer, from) = self.expression(*first)? else {
            return Err(self.error(*first, "a pointer to global memory is expected here"));
        };
        if from != of {
            return Err(self.error(*first, format!("a tensor of {of} begins at a pointer to {from}")));
        }
        let (sizes, dims) = self.given_extents(node, "Shape", *shape, args.get(1))?;
        let (distances, steps) = self.given_extents(node, "Stride", *strides, args.get(2))?;
        if dims.len() != steps.len() {
            return Err(self.error(ty, "a tensor has a stride for each extent"));
        }
        let view = Type::TensorView(ViewType { elem: of, dims: dims.into_iter().collect() });
        let operands: [(&str, &[ValueId]); 3] = [("ptr", &[pointer]), ("shape", &sizes), ("strides", &distances)];
        let attrs = vec![("layout", Attr::member("layout", &layout))];
        let view = self.result(&pto::MAKE_TENSOR_VIEW, &operands, attrs, view);
        Ok(Value::View(view, pointer, of))
    }

    fn given_extents(
        &mut self,
        node: Node<'_>,
        of: &str,
        ty: Node<'_>,
        given: Option<&Node<'_>>,
    ) -> Read<(Vec<ValueId>, Vec<Dim>)> {
        let value = match given {
            Some(given) => self.expression(*given)?,
            None => self.new_extents(ty, of, &[])?,
        };
        let declared = extents(self.text, ty, of);
        match value {
            Value::Extents(values, dims) if declared.as_ref() == Some(&dims) => Ok((values, dims)),
            _ => Err(self.unknown(given.copied().unwrap_or(node), "a shape")),
        }
    }

    /// `TPipe<flag, direction, bytes of a slot, slots, slots of the landing area, undivided>(slots in global memory, c2v, v2c)`.
    fn new_pipe(&mut self, node: Node<'_>, ty: Node<'_>, args: &[Node<'_>]) -> Read<Value> {
        let (_, given) = template(self.text, ty);
        let number = |n: usize| given.get(n).and_then(|node| integer(self.of(*node)));
        let directions = match given.get(1).and_then(|node| member(self.text, *node, "Direction")) {
            // Slots in global memory are also indicated by the first argument.
            Some("DIR_C2V" | "DIR_C2V_GM") => Some(1),
            Some("DIR_V2C" | "DIR_V2C_GM") => Some(2),
            Some("DIR_BOTH") => Some(3),
            _ => None,
        };
        let numbers = (number(0), directions, number(2), number(3));
        let (Some(flag), Some(directions), Some(bytes), Some(slots)) = numbers else {
            return Err(self.unknown(ty, "a pipe"));
        };
        let mut attrs = vec![
            (words::DIRECTIONS, Attr::int(directions)),
            (words::SLOT_SIZE, Attr::int(bytes)),
            (words::SLOTS, Attr::int(slots)),
            (words::FLAG_BASE, Attr::int(flag)),
            (words::FREED_BY_USER, Attr::Bool(true)),
        ];
        if given.len() > 4 {
            let Some(local) = number(4) else { return Err(self.unknown(ty, "a pipe")) };
            attrs.push((words::LOCAL_SLOTS, Attr::int(local)));
        }
        match given.get(5).map(|node| flag_word(self.text, *node)) {
            None => {}
            Some(Some(undivided)) => attrs.push((words::UNDIVIDED, Attr::Bool(undivided))),
            Some(None) => return Err(self.unknown(ty, "a pipe")),
        }
        let [first, c2v, v2c] = args else { return Err(self.unknown(node, "a pipe")) };
        let slots = self.expression(*first)?;
        let (c2v, v2c) = (self.number_by_value(*c2v)?, self.number_by_value(*v2c)?);
        let local = if directions == 2 { v2c } else { c2v };
        let mut operands: Vec<(&str, Vec<ValueId>)> = vec![("local", vec![local])];
        if directions == 3 {
            operands.push(("peer", vec![v2c]));
        }
        let def = match slots {
            Value::Pointer(gm, _) => {
                operands.push(("gm", vec![gm]));
                &pto::INITIALIZE_L2G2L
            }
            Value::Nowhere => &pto::INITIALIZE_L2L,
            _ => return Err(self.unknown(*first, "a pipe")),
        };
        let operands: Vec<(&str, &[ValueId])> = operands.iter().map(|(name, ids)| (*name, ids.as_slice())).collect();
        let pipe = self.result(def, &operands, attrs, Type::named(PIPE.trim_start_matches('!')));
        Ok(Value::Pipe(pipe))
    }

    /// Allocates a tile at `address` in its memory.
    pub fn place_tile(&mut self, tile: &Tile, address: ValueId) -> ValueId {
        let valid = tile.valid;
        let rows: Vec<ValueId> = valid[0].into_iter().collect();
        let cols: Vec<ValueId> = valid[1].into_iter().collect();
        let operands: [(&str, &[ValueId]); 3] = [("addr", &[address]), ("valid_row", &rows), ("valid_col", &cols)];
        self.result(&pto::ALLOC_TILE, &operands, Vec::new(), Type::Tile(tile.ty))
    }
}

/// A text without whitespace.
fn squeezed(text: &str) -> String {
    let text = text.trim().trim_start_matches("pto::");
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
