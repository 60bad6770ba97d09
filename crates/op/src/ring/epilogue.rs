//! What the fixpipe does to tiles on their way from the accumulator into a pipe: a layout, a conversion, ReLU.
//!
//! It belongs to the pipe, both ends say the same. The scale belongs to the pushes: each takes that of the op before it in
//! its block that gives one to its pipe.

use slipring_effect::{Finish, Payload};
use slipring_ir::{Attr, Diags, TileType, ValueId};
use slipring_machine::{Capability, Platform};
use slipring_program::Operand;
use slipring_tile::{BLayout, Elem, SLayout};

use super::plan::PlannedRing;
use super::spec::{Config, ring_tile};
use super::split::Split;
use super::words;
use crate::decode::Decoder;
use crate::def::{OpRef, Reported, RingPart};

/// How a tile is converted.
#[derive(PartialEq, Eq, Debug)]
struct Quant {
    name: &'static str,
    /// Elements of the accumulator.
    from: &'static [Elem],
    /// Elements of the popped tile; none where they are those of the accumulator.
    to: &'static [Elem],
    /// What it is scaled by.
    scale: Option<Payload>,
    /// True where only platforms with [`Capability::ColumnScaledFloats`] have it.
    newer: bool,
}

const fn quant(
    name: &'static str,
    from: &'static [Elem],
    to: &'static [Elem],
    scale: Option<Payload>,
    newer: bool,
) -> Quant {
    Quant { name, from, to, scale, newer }
}

const F32: &[Elem] = &[Elem::F32];
const I32: &[Elem] = &[Elem::I32];
const SCALAR: Option<Payload> = Some(Payload::Scalar);
const TABLE: Option<Payload> = Some(Payload::Table);

const QUANTS: [Quant; 15] = [
    quant("no_convert", &[Elem::F32, Elem::I32], &[], None, false),
    quant("f32_f16", F32, &[Elem::F16], None, false),
    quant("f32_bf16", F32, &[Elem::BF16], None, false),
    quant("req8_scalar", I32, &[Elem::I8, Elem::U8], SCALAR, false),
    quant("req8_vec", I32, &[Elem::I8], TABLE, false),
    quant("deqf16_scalar", I32, &[Elem::F16], SCALAR, false),
    quant("deqf16_vec", I32, &[Elem::F16], TABLE, false),
    quant("qf322b8_pre_scalar", F32, &[Elem::I8, Elem::U8], SCALAR, false),
    quant("qf322b8_pre_vec", F32, &[Elem::I8], TABLE, false),
    quant("qf322f16_pre_scalar", F32, &[Elem::F16], SCALAR, false),
    quant("qf322bf16_pre_scalar", F32, &[Elem::BF16], SCALAR, false),
    quant("qs322bf16_pre_scalar", I32, &[Elem::BF16], SCALAR, true),
    quant("qs322bf16_pre_vec", I32, &[Elem::BF16], TABLE, true),
    quant("qf322hif8_pre_scalar", F32, &[Elem::HiF8], SCALAR, true),
    quant("qf322fp8_pre_scalar", F32, &[Elem::F8E4M3], SCALAR, true),
];

/// Layouts: name, how the popped tile lies, in words.
const LAYOUTS: [(&str, BLayout, SLayout); 3] = [
    ("nz2nd", BLayout::RowMajor, SLayout::NoneBox),
    ("nz2dn", BLayout::ColMajor, SLayout::NoneBox),
    ("nz2nz", BLayout::ColMajor, SLayout::RowMajor),
];

const RELUS: [&str; 2] = ["no_relu", "normal_relu"];

/// What happens to the tiles of a pipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Epilogue {
    quant: &'static Quant,
    /// Index into [`LAYOUTS`].
    layout: usize,
    relu: bool,
}

impl std::fmt::Display for Epilogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (layout, relu) = (LAYOUTS[self.layout].0, RELUS[usize::from(self.relu)]);
        write!(f, "layout = {layout}, quant = {}, relu = {relu}", self.quant.name)
    }
}

impl Epilogue {
    /// What the op that makes a pipe says.
    ///
    /// # Errors
    /// What of it is not understood.
    pub fn of(init: &OpRef<'_>) -> Result<Option<Epilogue>, String> {
        match init.attr(words::EPILOGUE) {
            None => Ok(None),
            Some(Attr::Opaque(text)) => Epilogue::read(text).map(Some),
            Some(other) => Err(format!("`{}` is `#pto.{}<…>`, not `{other}`", words::EPILOGUE, words::EPILOGUE)),
        }
    }

    /// True if it makes integers of 8 bits of what is pushed.
    pub fn makes_bytes(&self) -> bool {
        self.quant.to.contains(&Elem::I8)
    }

    fn read(text: &str) -> Result<Epilogue, String> {
        let name = words::EPILOGUE;
        let inside = text
            .strip_prefix("#pto")
            .and_then(|rest| rest.trim_start_matches(['.', '<', ' ']).strip_prefix(name))
            .map(|rest| rest.trim_matches(|c: char| c.is_whitespace() || matches!(c, '<' | '>')))
            .ok_or_else(|| format!("`{name}` is `#pto.{name}<…>`, not `{text}`"))?;
        let parts: Vec<_> = inside.split(',').map(str::trim).collect();
        let [layout, quant, relu] = parts[..] else {
            return Err(format!("`{name}` says `layout = …, quant = …, relu = …`, in this order"));
        };
        let member = |text: &str, what: &str, known: &[&str]| {
            let value = text.split_once('=').filter(|(key, _)| key.trim() == what).map(|(_, value)| value.trim());
            let value = value.ok_or_else(|| format!("`{name}` says `{what} = …` here, not `{text}`"))?;
            let at = known.iter().position(|known| *known == value);
            at.ok_or_else(|| format!("`{what}` is one of {}, not `{value}`", known.join(", ")))
        };
        Ok(Epilogue {
            layout: member(layout, "layout", &LAYOUTS.map(|layout| layout.0))?,
            quant: &QUANTS[member(quant, "quant", &QUANTS.each_ref().map(|quant| quant.name))?],
            relu: member(relu, "relu", &RELUS)? == 1,
        })
    }

    /// What a push does to elements, and the argument that it takes: the bits of a scale, or the address of a table.
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

/// The op that makes the pipe of this number in the function of an op.
fn pipe_of_number<'m>(op: &OpRef<'m>) -> Option<OpRef<'m>> {
    let body = op.module.body(op.module.function_of(op.id)?, 0)?;
    let number = |op: &OpRef<'_>| op.int(words::ID).unwrap_or(0);
    let inits = op.module.walk(body).into_iter().filter_map(|id| op.other(id));
    inits.filter(|init| init.def.ring.is_some_and(RingPart::makes_end)).find(|init| number(init) == number(op))
}

/// Reports an op that gives a scale to a pipe that takes none, or another one.
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

/// The scale that counts for a push: that of the last op before it in its block that gives its pipe one of this kind.
fn scale_of(push: &OpRef<'_>, payload: Payload) -> Option<ValueId> {
    let number = |op: &OpRef<'_>| op.int(words::ID).unwrap_or(0);
    let ops = &push.module.block(push.module.op(push.id).block?).ops;
    let before = ops.iter().take_while(|id| **id != push.id).filter_map(|id| push.other(*id));
    let same = |op: &OpRef<'_>| op.def.ring.and_then(RingPart::scales) == Some(payload) && number(op) == number(push);
    before.filter(same).last()?.operand("scale")
}

/// The tile of scales that a push reads beside the tile that it pushes, where its pipe has one.
pub fn table_of(push: &OpRef<'_>) -> Option<ValueId> {
    push.def.ring.and_then(RingPart::pushes)?;
    let pipe = pipe_of_number(push)?;
    // Most pipes have none, which is known without reading the rest.
    pipe.attr(words::EPILOGUE)?;
    let epilogue = Config::of(&pipe).ok()?.epilogue?;
    epilogue.quant.scale.filter(|payload| *payload == Payload::Table).and_then(|payload| scale_of(push, payload))
}

/// Reports what the op that makes such a pipe says otherwise.
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

/// Reports pushes and pops that do not go with what the pipe does to tiles.
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
