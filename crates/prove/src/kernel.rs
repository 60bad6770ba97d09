//! The proof of a kernel, with the interpretations that it depends on and the edits that fix it.

use std::sync::Arc;

use slipring_session::Error;
use slipring_session::answers::{clean_if, first_error};
use slipring_session::compiled::Compiled;
use slipring_session::places::Places;
use slipring_session::tensor::Bound;

use crate::decide::prove;
use crate::fix;
use crate::judgement::Judgement;
use crate::proof::Proof;
use crate::subject::ProveOptions;

/// Proves as much as possible about a compiled kernel with these arguments. `again` compiles the same kernel from
/// another text; it returns nothing if that has errors.
///
/// # Errors
/// If the run is cancelled, or the arguments violate the assumptions. Errors of the kernel are a judgement.
pub fn prove_kernel(
    compiled: &Arc<Compiled>,
    bound: &[Bound<'_>],
    blocks: u32,
    options: &ProveOptions,
    again: &dyn Fn(String) -> Option<Arc<Compiled>>,
) -> Result<Proof, Error> {
    let mut proof = prove_with_answers(compiled, bound, blocks, options)?;
    if options.fix {
        proof.fix = fix::mend(compiled, again, (bound, blocks), options, &proof)?;
        proof.name_fix();
    }
    Ok(proof)
}

/// Proves it with the platform's answers to undecided questions and, if it depends on them, with the alternatives as
/// well.
fn prove_with_answers(
    compiled: &Arc<Compiled>,
    bound: &[Bound<'_>],
    blocks: u32,
    asked: &ProveOptions,
) -> Result<Proof, Error> {
    let mut proof = prove(compiled, bound, blocks, asked)?;
    (proof.scope.assumes, proof.scope.clean_if) = (proof.given.assumes.clone(), proof.given.clean_if.clone());
    let quick = ProveOptions { timings: 0, fix: false, ..asked.clone() };
    for question in proof.given.questions.clone() {
        let other = prove(&Arc::new(compiled.with_reading(question)), bound, blocks, &quick)?;
        let clean = [&proof, &other].map(|proof| matches!(proof.judgement, Judgement::Proved | Judgement::Doubtful));
        let instead = first_error(&other.findings).or_else(|| other.reasons.first().cloned());
        proof.scope.clean_if.extend(clean_if(question, clean, instead));
    }
    if matches!(proof.judgement, Judgement::Proved | Judgement::Doubtful) {
        proof.scope.assumes.extend(of_memory(compiled, bound));
    }
    Ok(proof)
}

/// The memory layout of a proof's arguments: launches with another layout are not covered.
fn of_memory(compiled: &Compiled, bound: &[Bound<'_>]) -> Option<String> {
    let places = Places::new(bound);
    let params = &compiled.prepared.decoded.program.params;
    let names = |buffer: usize| {
        let own = (0..bound.len()).filter(|at| places.get(*at).is_some_and(|place| place.buffer == buffer));
        own.map(|at| format!("`{}`", params[at].name)).collect::<Vec<_>>().join(" and ")
    };
    let shared: Vec<String> = (0..places.sizes.len()).filter(|buffer| places.is_shared(*buffer)).map(names).collect();
    match (&shared[..], places.sizes.len()) {
        ([], 0 | 1) => None,
        ([], _) => Some("arguments do not overlap in memory".into()),
        (shared, _) => {
            Some(format!("of the arguments only {} overlap in memory, as they were passed", shared.join(", ")))
        }
    }
}
