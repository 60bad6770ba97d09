//! `run --verify`: comparison with the sequential semantics of the source.

use std::ops::Range;

use slipring_check::Init;
use slipring_ir::{Diags, Module};
use slipring_machine::Platform;
use slipring_op::{Decoding, Kernel, decode};
use slipring_program::{Cancel, Kind, ParamKind};
use slipring_sim::{ExecutionMode, Limits};
use slipring_tile::Elem;

use crate::exec::{ExecuteOptions, Execution, LaunchExtras, launch};
use crate::params::{slot_params, summed_params};
use crate::tensor::Bound;
use crate::{Prepared, to_diagnostics};

/// An element that differs between the run and the reference.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct Difference {
    /// The kernel parameter of its buffer.
    pub param: String,
    /// Position of that parameter.
    pub index: usize,
    pub element: usize,
    pub run: String,
    pub reference: String,
}

/// The result of the comparison.
#[derive(Clone, PartialEq, Debug)]
pub enum VerifyOutcome {
    /// The same bytes in every compared buffer; their names. Float sums from atomic stores match up to the order of the
    /// additions, which runs choose.
    Same(Vec<String>),
    /// Differences: how many elements, and the first of them.
    Different(usize, Vec<Difference>),
    /// The sequential semantics of a kernel for the whole cluster has an error of its own, which was reported: its
    /// message.
    Faulty(String),
    /// The reference itself did not complete: why.
    NotChecked(String),
}

/// Maximum number of differences listed.
const LISTED: usize = 8;

/// Elements first compared as a whole: nearly all of them are written, and equal.
const TOGETHER: usize = 1024;

/// Runs the sequential semantics of the source on the same arguments and compares every buffer except those that only
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

/// As [`verify`], with a cancellation token for the run of the reference; a cancelled one did not complete.
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
    // One operation behind the other takes more cycles than the run, whose limit says nothing about the reference.
    let limits = Limits { cycles: Limits::default().cycles, ..options.limits };
    let options = ExecuteOptions { mode: ExecutionMode::Sequential, limits, ..options };
    let how = LaunchExtras { cancel, ..LaunchExtras::default() };
    let reference = launch(&decoded, platform, values, options, how, &mut Init::new().always());
    if !reference.result.complete {
        let first = reference.result.findings.first();
        let why = first.map_or("", |f| f.message.as_str());
        let stopped = first.is_some_and(|f| matches!(f.kind, Kind::StepLimit | Kind::MemoryLimit | Kind::Cancelled));
        if decoded.program.whole_cluster && !stopped {
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

/// The module and kernel with the sequential semantics of a program.
fn sequential(prepared: &Prepared) -> (&Module, &Kernel) {
    prepared.apart.as_ref().map_or((&prepared.written, &prepared.kernel), |(module, kernel)| (module, kernel))
}

/// The difference between two runs of a kernel in the buffer of a parameter: the first element, and the number of
/// elements. Buffers that only hold ring slots do not count, and float sums from atomic stores match up to the order of
/// the additions.
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

/// The first differing element, and the number of them; sums may differ by the order of their additions.
pub fn unlike(elem: Elem, summed: bool, run: &[u8], other: &[u8]) -> Option<(usize, usize)> {
    let size = elem.bytes();
    let pairs = elements_unlike(size, run, other);
    let mut unlike = pairs.filter(|(_, (a, b))| !(summed && near(elem, a, b))).map(|(element, _)| element);
    let first = unlike.next()?;
    Some((first, 1 + unlike.count()))
}

/// Elements whose bytes differ, with their indices.
fn elements_unlike<'b>(size: usize, a: &'b [u8], b: &'b [u8]) -> impl Iterator<Item = (usize, (&'b [u8], &'b [u8]))> {
    let parts = a.chunks(size * TOGETHER).zip(b.chunks(size * TOGETHER)).enumerate().filter(|(_, (a, b))| a != b);
    parts.flat_map(move |(part, (a, b))| {
        let pairs = a.chunks(size).zip(b.chunks(size)).enumerate().filter(|(_, (a, b))| a != b);
        pairs.map(move |(at, pair)| (part * TOGETHER + at, pair))
    })
}

/// Whether atomic stores of a kernel add to its arguments.
pub fn sums(prepared: &Prepared) -> bool {
    let (source, kernel) = sequential(prepared);
    !summed_params(source, kernel).is_empty()
}

/// Largest accepted relative difference between two sums of the same floats in another order: some roundings of the
/// type.
fn slack(elem: Elem) -> f32 {
    match elem {
        Elem::F32 => 1e-5,
        Elem::F16 => 8e-3,
        _ => 6e-2,
    }
}

/// True for two floats that differ no more than another order of additions explains.
pub fn near(elem: Elem, a: &[u8], b: &[u8]) -> bool {
    let value = |bytes: &[u8]| {
        let mut number = [0.0];
        slipring_tile::load_f32(elem, bytes, &mut number);
        number[0]
    };
    let (a, b) = (value(a), value(b));
    // Terms may cancel: below 1 the absolute difference counts.
    (a - b).abs() <= slack(elem) * a.abs().max(b.abs()).max(1.0)
}
