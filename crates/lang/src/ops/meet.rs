//! The barrier of all blocks: `pl.system.syncall`.

use slipring_ir::{Attr, Diagnostic};
use slipring_pto as pto;
use slipring_tile::Elem;

use super::entry::Call;
use super::own::own_tensor_of;
use crate::compiled::Direction;
use crate::dtype::DType;
use crate::lower::{Lower, Lowered};
use crate::value::{Const, Value, show};

/// The elements of a counter: a cache line, which it does not share.
const LINE: u64 = 16;

pub(super) fn syncall(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    if let Some(region) = lower.open.region {
        let region = lower.open.regions[region.0 as usize].span;
        let error = Diagnostic::error("barrier", call.span, "a barrier of all blocks is inside a region")
            .also(region, "the region begins here")
            .help(
                "end the region before the barrier and open another one after it: all cores of a block must reach it",
            );
        return Err(lower.report(error));
    }
    let word = |lower: &mut Lower<'_>, name: &str, all: &[&'static str]| match call.word(lower, name)? {
        None => Ok(None),
        Some(word) => match all.iter().find(|known| **known == &*word) {
            Some(known) => Ok(Some(*known)),
            None => {
                let message = format!("`{name}` is one of {}, not \"{word}\"", all.join(", "));
                Err(lower.error("argument", call.span, message))
            }
        },
    };
    let core_type = word(lower, "core_type", &["mix", "aiv_only", "aic_only"])?.unwrap_or("mix");
    let soft = word(lower, "mode", &["hard", "soft"])? == Some("soft");
    let counter = match (soft, call.get("gm_workspace").cloned()) {
        (true, Some((Value::Tensor(counter), span))) => {
            let elements = counter.shape().iter().try_fold(1u64, |n, extent| n.checked_mul(*extent));
            if counter.elem != Elem::I32 || elements.is_some_and(|n| n < LINE) {
                let ty = DType::Elem(counter.elem);
                let message = format!(
                    "`gm_workspace` has at least {LINE} INT32, this is {} {}",
                    ty.name(),
                    show(&counter.shape())
                );
                return Err(lower.error("argument", span, message));
            }
            counter
        }
        (true, Some((other, span))) => return Err(call.wrong(lower, "gm_workspace", "a tensor", &other, span)),
        (true, None) => {
            let error =
                Diagnostic::error("argument", call.span, "a soft barrier counts in a tensor, and none is given")
                    .help("pass the kernel a tensor of 16 INT32 that are 0: `gm_workspace=ws, used_cores=n`");
            return Err(lower.report(error));
        }
        // One for each place of the text, because the arriving cores may differ.
        (false, None) if !call.has("used_cores") => {
            let zeros = (vec![1, LINE], Elem::I32, format!("zeros:i32[1x{LINE}]"));
            let Some(counter) = own_tensor_of(lower, zeros, Direction::InOut, call.span) else {
                return Ok(Value::Nothing);
            };
            counter
        }
        (false, _) => {
            let error =
                Diagnostic::error("argument", call.span, "a hard barrier takes no counter and no number of cores")
                    .help("write `mode=\"soft\"` to count in memory");
            return Err(lower.report(error));
        }
    };
    let used = match call.get("used_cores").cloned() {
        None if soft => {
            let error = Diagnostic::error("argument", call.span, "a soft barrier needs the number of cores that meet")
                .help("`used_cores=n`, counted over both kinds of core, or 0 for all of the launch");
            return Err(lower.report(error));
        }
        None | Some((Value::Const(Const::Int(0)), _)) => None,
        Some((value, span)) => Some(lower.number(&value, DType::Elem(Elem::I32), span)?),
    };
    let view = lower.window(&counter);
    let attrs =
        [("mode", Attr::member("sync_all_mode", "soft")), ("core_type", Attr::member("sync_core_type", core_type))];
    lower.e.op(&pto::SYNCALL, &[("counter", &[view]), ("used_cores", used.as_slice())], &attrs, &[]);
    Ok(Value::Nothing)
}
