//! Buffers: allocation, and access to their elements.

use slipring_ir::{AttrKind, Infer, Syntax, Touch, Type, TypeRule};
use slipring_machine::Pipe;
use slipring_op::address::ADDRESS;
use slipring_op::decode::{Binding, Decoder, Decoding, Inside, access, element_address, no_address, view_of};
use slipring_op::def::{AddressRule, CoreRule, Lowered, OpRef, PipeRule, Reported};
use slipring_op::rules::{INTEGER, PLAIN, SCALAR, defaulted, operand, result, scalar_of, variadic};
use slipring_op::{ops, positional};
use slipring_program::Operand;
use slipring_tile::Space;

pub(crate) const MEMREF: TypeRule = TypeRule { describe: "a memref", accepts: |t| matches!(t, Type::MemRef(_)) };

ops! {
    OPS;

    /// A buffer of known shape in the local memory that its type names. As a tile its last dimension is the columns and
    /// all others are the rows.
    pub ALLOC "memref.alloc" "Declare a buffer in a local memory": PLAIN, source: "MLIR, memref dialect",
        address: AddressRule::Attr(ADDRESS), lower: lower_alloc
        => {
            syntax: Syntax::Format("`(` $sizes `)` attr-dict `:` type($memref)"),
            operands: &[variadic("sizes", INTEGER, Touch::Nothing, "extents that the type leaves open")],
            results: &[result("memref", MEMREF, Infer::Written, "the memory")],
            attrs: &[
                defaulted(ADDRESS, AttrKind::Int, "byte offset in its memory: written by the allocator"),
                defaulted("alignment", AttrKind::Int, "read and kept"),
            ],
        };

    /// Does nothing: the allocator finds out itself how long a buffer is used.
    pub DEALLOC "memref.dealloc" "Say that a buffer is no longer used": PLAIN, source: "MLIR, memref dialect"
        => {
            syntax: positional!("memref"),
            operands: &[operand("memref", MEMREF, Touch::Nothing, "a buffer that is no longer used")],
        };

    /// The element at the indices, as a scalar. The scalar unit waits for it.
    pub LOAD "memref.load" "Read one element": PLAIN, source: "MLIR, memref dialect", core: CoreRule::ByTile,
        pipe: PipeRule::Fixed(Pipe::S), lower: |op, d| lower_access(op, d, None)
        => {
            syntax: Syntax::Format("$memref `[` $indices `]` attr-dict `:` type($memref)"),
            operands: &[
                operand("memref", MEMREF, Touch::Read, "memory"),
                variadic("indices", INTEGER, Touch::Nothing, "one index for each dimension"),
            ],
            results: &[result("value", SCALAR, Infer::From(|types| types.first().and_then(scalar_of)), "the element")],
        };

    /// Writes a scalar to the element at the indices.
    pub STORE "memref.store" "Write one element": PLAIN, source: "MLIR, memref dialect", core: CoreRule::ByTile,
        pipe: PipeRule::Fixed(Pipe::S), lower: |op, d| lower_access(op, d, Some("value"))
        => {
            syntax: Syntax::Format("$value `,` $memref `[` $indices `]` attr-dict `:` type($memref)"),
            operands: &[
                operand("value", SCALAR, Touch::Nothing, "what to write"),
                operand("memref", MEMREF, Touch::Write, "memory"),
                variadic("indices", INTEGER, Touch::Nothing, "one index for each dimension"),
            ],
        };
}

fn lower_alloc(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let Type::MemRef(memref) = op.module.ty(op.result(0)) else { return Err(Reported) };
    let Some(mut view) = view_of(memref, Operand::Imm(0), d).filter(|view| view.space != Space::Gm) else {
        return Err(d.unsupported("a buffer of open shape, or in global memory,"));
    };
    view.base = match (op.int(ADDRESS), d.mode) {
        (Some(addr), _) => Operand::imm(addr),
        (None, Decoding::Device) => return Err(no_address(op, d)),
        (None, Decoding::Reference) => {
            let count = memref.dims.iter().map(|dim| dim.known().unwrap_or(0)).fold(1, u64::saturating_mul);
            let bytes = count.saturating_mul(view.elem.bytes() as u64);
            if d.platform.space(view.space).is_none_or(|space| bytes > space.bytes) {
                return Err(d.error("tile-capacity", format!("{bytes} bytes do not fit into `{}`", view.space)));
            }
            d.private(view.space, bytes)
        }
    };
    d.bind(op.result(0), Binding::View(view));
    Ok(())
}

/// Reads an element, or writes the operand `value`.
fn lower_access(op: &OpRef<'_>, d: &mut Decoder<'_>, value: Option<&str>) -> Lowered {
    let view = d.view(op.operand("memref").ok_or(Reported)?)?;
    let indices = op.operands("indices");
    if indices.len() != view.strides.len() {
        let (given, rank) = (indices.len(), view.strides.len());
        return Err(d.error("memref-rank", format!("expects an index for each dimension: {given} for {rank}")));
    }
    let Type::MemRef(memref) = op.module.ty(op.operand("memref").ok_or(Reported)?) else { return Err(Reported) };
    let extents = memref.dims.iter().map(|dim| dim.known()).chain(std::iter::repeat(None));
    let (mut at, mut places) = (Operand::Imm(0), Vec::new());
    for ((index, stride), extent) in indices.iter().zip(&view.strides).zip(extents) {
        let index = d.scalar(*index)?;
        places.push((index, extent));
        let part = d.distance(index, *stride);
        at = d.further(at, part);
    }
    let address = element_address(d, view.base, at, view.elem);
    let value = value.and_then(|name| op.operand(name)).map(|value| d.scalar(value)).transpose()?;
    access(op, d, (view.space, view.core, view.elem), (address, &Inside::Dimensions(&places)), value);
    Ok(())
}
