//! Edits that fix findings: proposed, tried, and reported only if they improve the program.

mod draft;
pub(crate) mod edits;
mod paths;
mod propose;
mod words;

use std::sync::Arc;

use slipring_ir::{Diagnostic, Diags, Kind, Severity};
use slipring_session::assume::Assumed;
use slipring_session::tensor::Bound;
use slipring_session::{Compiled, Error};

use super::{Judgement, Proof};
use crate::decide::prove;
use crate::subject::ProveOptions;
use draft::Draft;
use propose::Scene;

pub use paths::{OfText, PathFix, mend_paths};

pub use edits::Fix;

pub use words::mend_words;

/// Maximum number of edits of one text, and of texts that are tried.
const EDITS: usize = 12;
const TRIALS: usize = 400;
/// Steps of all trials: a multiple of those of the proof, with a minimum.
const TIMES: u64 = 64;
const LEAST: u64 = 1 << 26;

/// The badness of a text: whether something is found, whether that stops it, and how much is found.
type Rank = (bool, bool, usize);

/// A tried text.
struct Trial {
    compiled: Arc<Compiled>,
    draft: Draft,
    verdict: Judgement,
    /// Errors in runs, and on paths.
    errors: Vec<Diagnostic>,
    rank: Rank,
}

impl Trial {
    fn new(compiled: &Arc<Compiled>, draft: Draft, proof: &Proof, asked: &ProveOptions) -> Trial {
        let assumed = Assumed::of_kernel(&compiled.prepared, &asked.run.assume).unwrap_or_default();
        let mut errors = of_paths(compiled, &assumed);
        let stops =
            |message: &Diagnostic| matches!(message.kind, Kind::Deadlock(_) | Kind::FlagOverflow | Kind::TokenNotHeld);
        let found = proof.findings.messages().iter().filter(|message| message.severity == Severity::Error);
        errors.extend(found.cloned());
        let verdict = proof.judgement;
        let clean = matches!(verdict, Judgement::Proved | Judgement::Doubtful);
        let bad = verdict == Judgement::Violated || (!clean && !errors.is_empty());
        let rank = (bad, errors.iter().any(stops), errors.len());
        Trial { compiled: compiled.clone(), draft, verdict, errors, rank }
    }
}

/// The errors on some path of a kernel.
fn of_paths(compiled: &Compiled, assumed: &Assumed) -> Vec<Diagnostic> {
    let (prepared, mut diags) = (&compiled.prepared, Diags::default());
    if !prepared.kernel.mixed {
        let [cube, vector, _] = prepared.kernel.start;
        let given = assumed.decided(&prepared.written, [cube, vector], &prepared.decoded.program.params);
        slipring_passes::lint::check(&prepared.written, [cube, vector], &compiled.platform, &given, &mut diags);
    }
    diags.list.retain(|said| said.severity == Severity::Error);
    diags.list
}

/// Searches for edits that reduce the findings, ideally to none.
///
/// # Errors
/// If that is cancelled.
pub(super) fn mend(
    compiled: &Arc<Compiled>,
    again: &dyn Fn(String) -> Option<Arc<Compiled>>,
    (bound, blocks): (&[Bound<'_>], u32),
    asked: &ProveOptions,
    proof: &Proof,
) -> Result<Option<Fix>, Error> {
    let source = &compiled.prepared.written.source;
    if source.language || source.cpp || proof.judgement == Judgement::Proved {
        return Ok(None);
    }
    let mut quiet = ProveOptions { timings: 0, fix: false, run: asked.run.clone() };
    if let Some(fix) = fewer_blocks(compiled, bound, blocks, &quiet, proof)? {
        return Ok(Some(fix));
    }
    // All trials together take no more than a multiple of the proof itself.
    let mut left = proof.spent.saturating_mul(TIMES).max(LEAST);
    let first = Draft::new(&source.text);
    let mut best = Trial::new(compiled, first.clone(), proof, asked);
    let known = best.errors.clone();
    let (mut trials, mut edits) = (0, 0);
    let mut told = None;
    while best.rank.0 && edits < EDITS && trials < TRIALS && left > 0 {
        let mut better: Option<Trial> = None;
        let written = &best.compiled.prepared.written;
        let scene = Scene { module: written, platform: &best.compiled.platform };
        for finding in &best.errors {
            for proposal in scene.proposals(finding) {
                trials += 1;
                if trials > TRIALS || left == 0 {
                    break;
                }
                let draft = best.draft.with(&proposal);
                quiet.run.limits.steps = asked.run.limits.steps.min(left);
                quiet.run.control.tell(format!("candidate edit {trials}"));
                let Some((trial, spent)) = attempt(again(draft.text()), draft, bound, blocks, &quiet)? else {
                    continue;
                };
                left = left.saturating_sub(spent);
                let least = better.as_ref().map_or(best.rank, |better| better.rank);
                if trial.rank < least {
                    better = Some(trial);
                }
                if better.as_ref().is_some_and(|better| !better.rank.0) {
                    break;
                }
            }
            if better.is_some() {
                break;
            }
        }
        let Some(better) = better else { break };
        (best, edits) = (better, edits + 1);
        if !best.rank.0 || is_part(&best.errors, &known) {
            told = Some(Fix {
                edits: best.draft.changes(&first),
                verdict: best.verdict,
                errors: best.rank.2,
                text: best.draft.text(),
            });
        }
    }
    Ok(told)
}

/// A launch with only as many blocks as can be resident concurrently, if more of them wait for each other.
fn fewer_blocks(
    compiled: &Arc<Compiled>,
    bound: &[Bound<'_>],
    blocks: u32,
    quiet: &ProveOptions,
    proof: &Proof,
) -> Result<Option<Fix>, Error> {
    let resident = slipring_sim::places(&compiled.prepared.decoded.program, &compiled.platform);
    let stuck = proof.findings.messages().iter().any(|message| matches!(message.kind, Kind::Deadlock(_)));
    if !stuck || blocks <= resident {
        return Ok(None);
    }
    let text = &compiled.prepared.written.source.text;
    let again = prove(compiled, bound, resident, quiet)?;
    let trial = Trial::new(compiled, Draft::new(text), &again, quiet);
    let (_, stops, errors) = trial.rank;
    let edits = vec![format!("a launch of {resident} blocks in place of {blocks}")];
    Ok((!stops).then(|| Fix { edits, verdict: trial.verdict, errors, text: text.clone() }))
}

/// True if there are no new findings.
fn is_part(left: &[Diagnostic], known: &[Diagnostic]) -> bool {
    let mut known: Vec<_> = known.iter().collect();
    left.iter().all(|message| {
        let at = known.iter().position(|known| known.says_the_same(message));
        at.map(|at| known.swap_remove(at)).is_some()
    })
}

/// The verdict on a text, and the steps of its runs; `None` if it is not valid, or takes other arguments.
fn attempt(
    compiled: Option<Arc<Compiled>>,
    draft: Draft,
    bound: &[Bound<'_>],
    blocks: u32,
    asked: &ProveOptions,
) -> Result<Option<(Trial, u64)>, Error> {
    let Some(compiled) = compiled else { return Ok(None) };
    let proof = prove(&compiled, bound, blocks, asked)?;
    let trial = Trial::new(&compiled, draft, &proof, asked);
    Ok(Some((trial, proof.spent)))
}
