//! Types supported by a target.

use slipring_ir::{Attr, FuncType, Module, Type, ValueId};
use slipring_op::target::Target;
use slipring_tile::{Elem, Space};

/// Writes pointers to global memory as in the assembler's text: without a memory space.
pub(super) fn plain_pointers(module: &mut Module) {
    let mut values: Vec<ValueId> = Vec::new();
    for id in module.walk(module.top) {
        values.extend(module.op(id).results.iter().copied());
        for region in &module.op(id).regions {
            for block in &module.region(*region).blocks {
                values.extend(module.block(*block).args.iter().copied());
            }
        }
    }
    for value in values {
        if let Some(ty) = plain(module.ty(value)) {
            module.value_mut(value).ty = ty;
        }
    }
    for id in module.walk(module.top) {
        let types = module.op(id).attrs.iter().filter_map(|(name, attr)| match attr {
            Attr::Type(ty) => Some((name.to_string(), plain(ty)?)),
            _ => None,
        });
        for (name, ty) in types.collect::<Vec<_>>() {
            module.op_mut(id).attrs.set(name, Attr::Type(ty));
        }
    }
}

/// A type without the memory space of its pointers to global memory; `None` if nothing changes.
fn plain(ty: &Type) -> Option<Type> {
    match ty {
        Type::Ptr(elem, Some(Space::Gm)) => Some(Type::Ptr(*elem, None)),
        Type::Function(function) => {
            let each = |types: &[Type]| types.iter().map(|ty| plain(ty).unwrap_or_else(|| ty.clone())).collect();
            let new = FuncType { inputs: each(&function.inputs), results: each(&function.results) };
            (new != **function).then(|| Type::Function(new.into()))
        }
        _ => None,
    }
}

/// A part of a type that the target does not support.
pub(super) fn unknown(ty: &Type, target: &Target) -> Option<String> {
    let missing = |elem: &Elem| (!target.elems.contains(elem)).then(|| format!("elements of type {elem}"));
    match ty {
        Type::Ptr(_, Some(space)) if !target.local_pointers => Some(format!("pointers into `{space}`")),
        Type::Ptr(elem, _) | Type::VReg(_, elem) => missing(elem),
        Type::TensorView(view) | Type::PartitionView(view) | Type::TileView(view) => missing(&view.elem),
        Type::Tile(tile) => missing(&tile.layout.elem),
        Type::MemRef(memref) => memref.elem.elem().and_then(|elem| missing(&elem)),
        _ => None,
    }
}
