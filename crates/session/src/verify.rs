//! `run --verify`: comparison with the sequential semantics of the source.

use std::ops::Range;

use slipring_check::Init;
use slipring_ir::{Diags, Module};
use slipring_machine::Platform;
use slipring_op::{Decoding, Kernel, decode};
use slipring_program::{Cancel, ParamKind};
use slipring_sim::ExecutionMode;
use slipring_tile::Elem;

use crate::exec::{ExecuteOptions, Execution, LaunchExtras, launch};
use crate::params::{slot_params, summed_params};
use crate::tensor::Bound;
use crate::{Prepared, to_diagnostics};

/// An element that the run and the reference disagree on.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct Difference {
    /// Kernel parameter whose buffer it is in.
    pub param: String,
    /// Position of that parameter.
    pub index: usize,
    pub element: usize,
    pub run: String,
    pub reference: String,
}

/// What came of the comparison.
#[derive(Clone, PartialEq, Debug)]
pub enum VerifyOutcome {
    /// The same bytes in every buffer; which ones were compared. Floats that atomic stores add up agree up to the order of
    /// the additions, which runs choose.
    Same(Vec<String>),
    /// Differences: how many elements, and the first of them.
    Different(usize, Vec<Difference>),
    /// The sequential semantics of a kernel for the whole cluster has an error of its own, which was reported: what.
    Faulty(String),
    /// The reference itself did not complete: why.
    NotChecked(String),
}

/// Differences that are listed.
const LISTED: usize = 8;

/// Elements that are looked at together first: nearly all of them are written, and equal.
const TOGETHER: usize = 1024;

/// Runs the sequential semantics of the source on the same arguments and compares every buffer but those that only
/// hold ring slots.
pub fn verify(
    prepared: &Prepared,
    platform: &Platform,
    values: &[Bound<'_>],
    options: ExecuteOptions,
    execution: &Execution,
    diags: &mut Diags,
) -> VerifyOutcome {
    verify_with(prepared, platform, values, (options, Cancel::default()), execution, diags)
}

/// The same with a cancellation token for the run of the reference; one that was cancelled did not complete.
pub(crate) fn verify_with(
    prepared: &Prepared,
    platform: &Platform,
    values: &[Bound<'_>],
    (options, cancel): (ExecuteOptions, Cancel),
    execution: &Execution,
    diags: &mut Diags,
) -> VerifyOutcome {
    let (source, kernel) = sequential(prepared);
    let Ok(decoded) = decode(source, kernel, platform, Decoding::Reference, diags) else {
        return VerifyOutcome::NotChecked("the source as written cannot be decoded".into());
    };
    let options = ExecuteOptions { mode: ExecutionMode::Sequential, ..options };
    let how = LaunchExtras { cancel, ..LaunchExtras::default() };
    let reference = launch(&decoded, platform, values, options, how, &mut Init::new().always());
    if !reference.result.complete {
        let why = reference.result.findings.first().map_or("", |f| f.message.as_str());
        if decoded.program.whole_cluster {
            diags.list.extend(to_diagnostics(&reference.result.findings, &decoded.program));
            return VerifyOutcome::Faulty(why.to_string());
        }
        return VerifyOutcome::NotChecked(format!("the sequential run did not complete: {why}"));
    }
    let slots = slot_params(source, kernel);
    let sums = summed_params(source, kernel);
    let (mut count, mut list, mut compared) = (0, Vec::new(), Vec::new());
    for (index, param) in decoded.program.params.iter().enumerate() {
        let ParamKind::Buffer { elem, .. } = param.kind else { continue };
        let (Some(run), Some(wanted)) = (execution.buffer(values, index), reference.buffer(values, index)) else {
            continue;
        };
        if slots.contains(&index) {
            continue;
        }
        let summed = elem.is_float() && sums.contains(&index);
        let order = if summed { " (up to the order of its atomic additions)" } else { "" };
        compared.push(format!("{}{order}", param.name));
        let size = elem.bytes();
        let marks = reference.result.memory.shadow.as_ref().zip(reference.place(index));
        let any_nothing = |elements: Range<usize>| {
            marks.is_some_and(|(marks, place)| {
                let at = |element: usize| (place.offset + element * size) as u64;
                marks.any_of_buffer(place.buffer, at(elements.start), at(elements.end))
            })
        };
        let nothing = |element: usize| any_nothing(element..element + 1);
        let elements = wanted.len() / size;
        let parts = (0..elements).step_by(TOGETHER).map(|first| first..(first + TOGETHER).min(elements));
        let doubtful = parts.filter(|part| any_nothing(part.clone()));
        let left_out: usize = doubtful.map(|part| part.filter(|element| nothing(*element)).count()).sum();
        if left_out > 0
            && let Some(name) = compared.last_mut()
        {
            *name += &format!(" (without {left_out} elements that are never written)");
        }
        for (element, (a, b)) in elements_unlike(size, run, wanted) {
            if !(nothing(element) || summed && near(elem, a, b)) {
                count += 1;
                if list.len() < LISTED {
                    let difference = Difference {
                        param: param.name.clone(),
                        index,
                        element,
                        run: crate::args::show(elem, a),
                        reference: crate::args::show(elem, b),
                    };
                    list.push(difference);
                }
            }
        }
    }
    if count == 0 { VerifyOutcome::Same(compared) } else { VerifyOutcome::Different(count, list) }
}

/// What has the sequential semantics of a program.
fn sequential(prepared: &Prepared) -> (&Module, &Kernel) {
    prepared.apart.as_ref().map_or((&prepared.written, &prepared.kernel), |(module, kernel)| (module, kernel))
}

/// What two runs of a kernel left otherwise in the buffer of a parameter: the first element, and how many there are. What only holds
/// slots of rings does not count, and sums of floats that atomic stores make agree up to the order of the additions.
pub fn left_otherwise(prepared: &Prepared, index: usize, run: &[u8], other: &[u8]) -> Option<(usize, usize)> {
    if run == other {
        return None;
    }
    let (source, kernel) = sequential(prepared);
    let ParamKind::Buffer { elem, .. } = prepared.decoded.program.params.get(index)?.kind else { return None };
    if slot_params(source, kernel).contains(&index) {
        return None;
    }
    unlike(elem, elem.is_float() && summed_params(source, kernel).contains(&index), run, other)
}

/// The first element that differs, and how many do; sums may differ by the order of their additions.
pub fn unlike(elem: Elem, summed: bool, run: &[u8], other: &[u8]) -> Option<(usize, usize)> {
    let size = elem.bytes();
    let pairs = elements_unlike(size, run, other);
    let mut unlike = pairs.filter(|(_, (a, b))| !(summed && near(elem, a, b))).map(|(element, _)| element);
    let first = unlike.next()?;
    Some((first, 1 + unlike.count()))
}

/// Elements whose bytes differ, with their numbers.
fn elements_unlike<'b>(size: usize, a: &'b [u8], b: &'b [u8]) -> impl Iterator<Item = (usize, (&'b [u8], &'b [u8]))> {
    let parts = a.chunks(size * TOGETHER).zip(b.chunks(size * TOGETHER)).enumerate().filter(|(_, (a, b))| a != b);
    parts.flat_map(move |(part, (a, b))| {
        let pairs = a.chunks(size).zip(b.chunks(size)).enumerate().filter(|(_, (a, b))| a != b);
        pairs.map(move |(at, pair)| (part * TOGETHER + at, pair))
    })
}

/// Whether atomic stores of a kernel add to what is passed to it.
pub fn sums(prepared: &Prepared) -> bool {
    let (source, kernel) = sequential(prepared);
    !summed_params(source, kernel).is_empty()
}

/// Largest relative difference of two sums of the same floats in another order that passes: some roundings of the type.
fn slack(elem: Elem) -> f32 {
    match elem {
        Elem::F32 => 1e-5,
        Elem::F16 => 8e-3,
        _ => 6e-2,
    }
}

/// True for two floats that lie as near to each other as another order of additions puts them.
pub fn near(elem: Elem, a: &[u8], b: &[u8]) -> bool {
    let value = |bytes: &[u8]| {
        let mut number = [0.0];
        slipring_tile::load_f32(elem, bytes, &mut number);
        number[0]
    };
    let (a, b) = (value(a), value(b));
    // Terms may cancel: below 1 the difference itself counts.
    (a - b).abs() <= slack(elem) * a.abs().max(b.abs()).max(1.0)
}
