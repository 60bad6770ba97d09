//! Conversions of the fixpipe on tiles of a ring: rules and expansion.

use super::words;
use slipring_effect::{Finish, Payload};
use slipring_ir::{Attr, Diags, TileType, ValueId};
use slipring_machine::{Capability, Platform};
use slipring_program::Operand;

use crate::decode::Decoder;
use crate::def::{OpRef, Reported, RingPart};
use crate::ring::epilogue::{Epilogue, LAYOUTS};
use crate::ring::planned::PlannedRing;
use crate::ring::spec::{Config, ring_tile};
use crate::ring::split::Split;

impl Epilogue {
    /// The epilogue that the op making a pipe declares.
    ///
    /// # Errors
    /// The part of it that is not understood.
    pub fn of(init: &OpRef<'_>) -> Result<Option<Epilogue>, String> {
        match init.attr(words::EPILOGUE) {
            None => Ok(None),
            Some(Attr::Opaque(text)) => Epilogue::read(text).map(Some),
            Some(other) => Err(format!("`{}` is `#pto.{}<…>`, not `{other}`", words::EPILOGUE, words::EPILOGUE)),
        }
    }

    /// The conversion that a push applies to elements, and its argument: the bits of a scale, or the address of a
    /// table.
    pub(super) fn finish(&self, push: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<(Finish, Operand), Reported> {
        let finish = Finish { relu: self.relu, scale: self.quant.scale, add: false };
        let Some(payload) = self.quant.scale else { return Ok((finish, Operand::Imm(0))) };
        let value = scale_of(push, payload).ok_or(Reported)?;
        let argument = match payload {
            Payload::Scalar => d.scalar(value)?,
            Payload::Table => d.tile(value)?.addr,
        };
        Ok((finish, argument))
    }
}

/// The op that makes the pipe with this id in the function of an op.
fn pipe_of_number<'m>(op: &OpRef<'m>) -> Option<OpRef<'m>> {
    let body = op.module.body(op.module.function_of(op.id)?, 0)?;
    let number = |op: &OpRef<'_>| op.int(words::ID).unwrap_or(0);
    let inits = op.module.walk(body).into_iter().filter_map(|id| op.other(id));
    inits.filter(|init| init.def.ring.is_some_and(RingPart::makes_end)).find(|init| number(init) == number(op))
}

/// Reports an op that sets a scale on a pipe that takes none or another kind.
pub fn verify_scale(op: &OpRef<'_>, payload: Payload, diags: &mut Diags) {
    let number = op.int(words::ID).unwrap_or(0);
    let Some(init) = pipe_of_number(op) else {
        let message = format!("expects 'id' = {number} to match a pipe that this function initialises");
        return diags.push(op.error("pipe-scale", message));
    };
    let Ok(config) = Config::of(&init) else { return };
    if config.epilogue.and_then(|epilogue| epilogue.quant.scale) != Some(payload) {
        let takes = match config.epilogue.map(|epilogue| epilogue.quant) {
            None => "has no `acc_push_epilogue`".to_string(),
            Some(quant) => format!("converts by `{}`", quant.name),
        };
        let message = format!("the pipe with 'id' = {number} takes no such scale: it {takes}");
        diags.push(op.error("pipe-scale", message).also(init.span(), "the pipe is made here"));
    }
}

/// The scale that a push uses: the one of the last op before it in its block that gives its pipe a scale of this kind.
fn scale_of(push: &OpRef<'_>, payload: Payload) -> Option<ValueId> {
    let number = |op: &OpRef<'_>| op.int(words::ID).unwrap_or(0);
    let ops = &push.module.block(push.module.op(push.id).block?).ops;
    let before = ops.iter().take_while(|id| **id != push.id).filter_map(|id| push.other(*id));
    let same = |op: &OpRef<'_>| op.def.ring.and_then(RingPart::scales) == Some(payload) && number(op) == number(push);
    before.filter(same).last()?.operand("scale")
}

/// The tile of scales that a push reads in addition to the pushed tile, if its pipe has one.
pub fn table_of(push: &OpRef<'_>) -> Option<ValueId> {
    push.def.ring.and_then(RingPart::pushes)?;
    let pipe = pipe_of_number(push)?;
    // Most pipes have no epilogue, which this cheap check finds out first.
    pipe.attr(words::EPILOGUE)?;
    let epilogue = Config::of(&pipe).ok()?.epilogue?;
    epilogue.quant.scale.filter(|payload| *payload == Payload::Table).and_then(|payload| scale_of(push, payload))
}

/// Reports parameters of the op making such a pipe that contradict the epilogue.
pub(super) fn verify(init: &OpRef<'_>, config: &Config, platform: &Platform, diags: &mut Diags) {
    let Some(epilogue) = config.epilogue else { return };
    let mut wrong = |message: String| diags.push(init.error("pipe-epilogue", message));
    if config.directions != [true, false] {
        wrong(format!("expects '{}' to be 1 with '{}'", words::DIRECTIONS, words::EPILOGUE));
    }
    if init.attr(words::UNDIVIDED).and_then(Attr::as_bool) == Some(false) {
        wrong(format!("expects '{}' not to be false with '{}'", words::UNDIVIDED, words::EPILOGUE));
    }
    if epilogue.quant.newer && !platform.can(Capability::ColumnScaledFloats) {
        wrong(format!(
            "{} does not convert by `{}` on the way out of the accumulator",
            platform.name, epilogue.quant.name
        ));
    }
}

/// Reports pushes and pops that do not match the epilogue of the pipe.
pub(super) fn check(ring: &PlannedRing, init: &OpRef<'_>, pushes: &[OpRef<'_>], pops: &[OpRef<'_>], diags: &mut Diags) {
    let Some(epilogue) = ring.epilogue else { return };
    let (layout, quant) = (&LAYOUTS[epilogue.layout], epilogue.quant);
    for op in pushes.iter().chain(pops).filter(|op| Split::of(op).is_some_and(|split| split != Split::None)) {
        let error = op.error("ring-split", "expects 'split' to be 0 in a pipe with 'acc_push_epilogue'");
        diags.push(error.also(init.span(), "the pipe is made here"));
    }
    if pops.is_empty() {
        let message = "expects a pop of a pipe with 'acc_push_epilogue': its type says what tiles become";
        diags.push(init.error("pipe-epilogue", message));
    }
    let tile = |op: &OpRef<'_>| -> Option<TileType> { op.module.ty(ring_tile(op)?).as_tile().copied() };
    for op in pops {
        let Some(popped) = tile(op) else { continue };
        if (popped.layout.blayout, popped.layout.slayout) != (layout.1, layout.2) {
            let message = format!("expects the popped tile to lie as `{}` puts it", layout.0);
            diags.push(op.error("ring-layout", message).also(init.span(), "the pipe is made here").help(
                "nz2nd: blayout=row_major; nz2dn: blayout=col_major; nz2nz: blayout=col_major, slayout=row_major",
            ));
        }
        if !quant.to.is_empty() && !quant.to.contains(&popped.layout.elem) {
            let to: Vec<_> = quant.to.iter().map(|elem| elem.name()).collect();
            let message = format!("`{}` makes {}, not {}", quant.name, to.join(" or "), popped.layout.elem);
            diags.push(op.error("acc-type", message).also(init.span(), "the pipe is made here"));
        }
    }
    for op in pushes {
        let Some(pushed) = tile(op) else { continue };
        let popped = ring.popped.map(|tile| tile.layout.elem);
        let same = quant.to.is_empty() && popped.is_some_and(|elem| elem != pushed.layout.elem);
        if !quant.from.contains(&pushed.layout.elem) || same {
            let from: Vec<_> = quant.from.iter().map(|elem| elem.name()).collect();
            let message = match popped.filter(|_| same) {
                Some(popped) => format!("`{}` does not make {popped} of {}", quant.name, pushed.layout.elem),
                None => format!("`{}` takes {}, not {}", quant.name, from.join(" or "), pushed.layout.elem),
            };
            diags.push(op.error("acc-type", message).also(init.span(), "the pipe is made here"));
        }
        if let Some(payload) = quant.scale.filter(|payload| scale_of(op, *payload).is_none()) {
            let number = op.int(words::ID).unwrap_or(0);
            let what = if payload == Payload::Scalar { "a scale" } else { "scales of columns" };
            let message = format!("expects {what} for the pipe with id = {number} before it in the same block");
            diags.push(
                op.error("pipe-scale", message)
                    .also(init.span(), format!("`{}` scales", quant.name))
                    .help("a scale applies to the pushes after it in its block"),
            );
        }
    }
}
