//! Lowering of vector ops to work.

use slipring_ir::{OperandSpec, TileType, Touch, ValueId};
use slipring_machine::{Pipe, Price};
use slipring_program::{Discover, Effect, Operand};
use slipring_tile::lanes::PerElement;
use slipring_tile::{Binary, Elem, Space};

use super::check::{element_of, number_type};
use super::precision;
use slipring_effect::vector::{Elementwise, Input, Local, Number, Seen, TableArg, TileArg, Working, WorkingTile};
use slipring_op::FIRST_SOURCES;
use slipring_op::decode::Decoder;
use slipring_op::def::{Arithmetic, Lowered, OpRef, Reported};

/// Collects the operands of an op and the run-time arguments of its work.
pub(super) struct Operands<'a> {
    op: OpRef<'a>,
    /// The memory of its tiles.
    pub local: Local,
    args: Vec<Operand>,
    /// True if the library reduces the rows in groups of 32 bytes, at a separate cost.
    pub grouped: bool,
}

impl<'a> Operands<'a> {
    pub fn new(op: &OpRef<'a>, d: &Decoder<'_>) -> Operands<'a> {
        Operands::within(op, d, op.space("dst").unwrap_or(Space::Vec))
    }

    /// Like [`Operands::new`], for tiles in this memory.
    pub fn within(op: &OpRef<'a>, d: &Decoder<'_>, space: Space) -> Operands<'a> {
        Operands { op: *op, local: Local { space, core: d.role }, args: Vec::new(), grouped: false }
    }

    /// A window of global memory that is a table.
    pub fn table(&mut self, d: &mut Decoder<'_>, name: &'static str) -> Result<TableArg, Reported> {
        let view = d.view(self.op.operand(name).ok_or(Reported)?)?;
        let (at, rank) = (self.args.len(), view.dims.len());
        self.args.push(view.base);
        self.args.extend(view.dims.iter().chain(&view.strides));
        Ok(TableArg { name, elem: view.elem, at, rank })
    }

    /// The tile of a declared operand.
    pub fn tile(&mut self, d: &mut Decoder<'_>, name: &'static str) -> Result<TileArg, Reported> {
        let value = self.op.operand(name).ok_or(Reported)?;
        self.argument(d, name, value)
    }

    /// The argument that holds an integer operand.
    pub fn integer(&mut self, d: &mut Decoder<'_>, name: &'static str) -> Result<usize, Reported> {
        let value = self.op.operand(name).ok_or(Reported)?;
        self.args.push(d.scalar(value)?);
        Ok(self.args.len() - 1)
    }

    /// A tile of any value.
    pub fn argument(&mut self, d: &mut Decoder<'_>, name: &'static str, value: ValueId) -> Result<TileArg, Reported> {
        let tile = d.tile(value)?;
        let at = self.args.len();
        self.args.extend([tile.addr, tile.valid[0], tile.valid[1]]);
        Ok(TileArg { name, layout: tile.ty.layout, at })
    }

    /// The scalar of a declared operand.
    pub fn scalar(&mut self, d: &mut Decoder<'_>, name: &'static str) -> Result<Input, Reported> {
        let value = self.op.operand(name).ok_or(Reported)?;
        let from = number_type(self.op.module.ty(value)).ok_or(Reported)?;
        let to = element_of(&self.op).ok_or(Reported)?;
        let at = self.args.len();
        self.args.push(d.scalar(value)?);
        Ok(Input::Scalar(Number { at, from, to, usage: self.op.def.number }))
    }

    /// A declared operand, a tile or a scalar.
    pub fn input(&mut self, d: &mut Decoder<'_>, name: &'static str) -> Result<Input, Reported> {
        match self.op.ty(name) {
            Some(ty) if ty.is_scalar() => self.scalar(d, name),
            _ => self.tile(d, name).map(Input::Tile),
        }
    }

    /// Adds the work to pipe V, at the cost of the op. Operands that the declaration marks as working memory are
    /// undefined afterwards.
    pub fn issue(mut self, d: &mut Decoder<'_>, effect: impl Effect + 'static) -> Lowered {
        let (tiles, before_results) = (self.working(d)?, self.op.def.tmp_before_results);
        let (pipe, cost) = self.place(d);
        if tiles.is_empty() {
            d.issue(pipe, effect, self.args, cost);
        } else {
            d.issue(pipe, Working { effect, local: self.local, tiles, before_results }, self.args, cost);
        }
        Ok(())
    }

    /// Like [`Operands::issue`], for work whose accesses are only known once it has run.
    pub fn issue_discovering(mut self, d: &mut Decoder<'_>, effect: impl Discover + 'static) -> Lowered {
        let tiles = self.working(d)?;
        let (pipe, cost) = self.place(d);
        d.issue_discovering(pipe, Working { effect, local: self.local, tiles, before_results: false }, self.args, cost);
        Ok(())
    }

    /// Like [`Operands::issue_discovering`], without working memory, on the given pipe and at the given cost.
    pub fn issue_at(&self, d: &mut Decoder<'_>, pipe: Pipe, effect: impl Discover + 'static, cost: Price) {
        d.issue_discovering(pipe, effect, self.args.clone(), cost);
    }

    fn place(&self, d: &Decoder<'_>) -> (Pipe, Price) {
        let declared = |name: &str| self.op.def.schema.operands.iter().position(|operand| operand.name == name);
        let elem = |name| declared(name).and_then(|at| self.op.tile(at)).map(|tile| tile.layout.elem);
        let dst = elem("dst");
        let src = elem("src").or_else(|| elem("src0")).or(dst).unwrap_or(Elem::F32);
        let cost = match () {
            () if precision::on(&self.op, d.platform) => self.op.def.precise_cost(d.platform, src),
            () if self.grouped => self.op.def.grouped_cost(d.platform, src),
            () => self.op.def.vector_cost(d.platform, src, dst.unwrap_or(src)),
        };
        (self.op.pipe(d.platform).unwrap_or(Pipe::V), cost)
    }

    /// The part of the declared working memory that the platform's library writes, if any.
    fn working(&mut self, d: &mut Decoder<'_>) -> Result<Vec<WorkingTile>, Reported> {
        let op = self.op;
        let (Some(spans), Some(_)) = (op.working(d.platform), op.if_declared("tmp")) else { return Ok(Vec::new()) };
        let mut seen = |name: &'static str| -> Result<Seen, Reported> {
            let known = |tile: &TileType| tile.valid.iter().all(|dim| dim.known().is_some());
            Ok(Seen { tile: self.tile(d, name)?, fixed: op.tile(name).is_some_and(known) })
        };
        let is_tile = |name: &&&str| op.if_declared(name).is_some_and(|value| !op.module.ty(value).is_scalar());
        let src = FIRST_SOURCES.iter().find(is_tile).map(|name| seen(name)).transpose()?;
        Ok(vec![WorkingTile { tmp: seen("tmp")?, src, dst: seen("dst")?, spans }])
    }
}

/// How a tile is broadcast over `dst`.
type By = fn(TileArg) -> Input;

/// `dst = kernel(sources…)` with the kernel and the sources of the declaration, in order.
pub(super) fn elementwise(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    match op.def.kernel {
        Arithmetic::None => Err(Reported),
        Arithmetic::One(kernel) => of_sources(op, d, kernel, sources(op)),
        Arithmetic::Two(kernel) => of_sources(op, d, kernel, sources(op)),
        Arithmetic::Three(kernel) => of_sources(op, d, kernel, sources(op)),
    }
}

/// The first declared operands that are read, excluding outputs and working memory.
fn sources<const N: usize>(op: &OpRef<'_>) -> [&'static str; N] {
    let read = |spec: &&OperandSpec| !matches!(spec.touch, Touch::Write | Touch::Scratch);
    let mut read = op.def.schema.operands.iter().filter(read);
    std::array::from_fn(|_| read.next().map_or("", |spec| spec.name))
}

/// The binary kernel of an op.
pub(super) fn of_two(op: &OpRef<'_>) -> Result<&'static Binary, Reported> {
    match op.def.kernel {
        Arithmetic::Two(kernel) => Ok(kernel),
        _ => Err(Reported),
    }
}

/// `dst = kernel(inputs…)` for these declared operands; working memory and `dst` are named `tmp` and `dst`.
pub(super) fn of_sources<const N: usize>(
    op: &OpRef<'_>,
    d: &mut Decoder<'_>,
    kernel: &'static PerElement<N>,
    names: [&'static str; N],
) -> Lowered {
    spread(op, d, kernel, names.map(|name| (name, Input::Tile as By)))
}

/// Like [`of_sources`], with the broadcast of each tile over `dst`.
pub(super) fn spread<const N: usize>(
    op: &OpRef<'_>,
    d: &mut Decoder<'_>,
    kernel: &'static PerElement<N>,
    sources: [(&'static str, By); N],
) -> Lowered {
    let mut operands = Operands::new(op, d);
    let dst = operands.tile(d, "dst")?;
    let mut inputs = [Input::Tile(dst); N];
    for (input, (name, spread)) in inputs.iter_mut().zip(sources) {
        *input = match operands.input(d, name)? {
            Input::Tile(tile) => spread(tile),
            scalar => scalar,
        };
    }
    if !kernel.supports(dst.layout.elem) {
        return Err(d.unsupported("this element type"));
    }
    let effect = Elementwise { local: operands.local, op: kernel, dst, inputs };
    operands.issue(d, effect)
}
