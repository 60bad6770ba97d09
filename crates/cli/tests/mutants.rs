//! No broken lowering goes unnoticed: if any op is removed from a compiled kernel, the checks or the comparison with
//! the sequential semantics report it.

use slipring::{Bound, ExecuteOptions, VerifyOutcome, execute, to_diagnostics, verify};
use slipring_check::{Checker, Tools};
use slipring_dialects::Dialects;
use slipring_ir::{Attr, Diags, Module, OpId};
use slipring_machine::built_in;
use slipring_op::{Decoding, OpDef, PipeRule, decode, select_kernel};

use crate::ready::Ready;

/// Online softmax over two tiles of keys: both directions of the ring, carried tiles, three regions, a loop.
const KERNEL: &str = "
import slipring.language as pl

HALF = 16

@pl.incore
def attention(
    q: pl.Tensor[[32, 32], pl.FP16],
    k: pl.Tensor[[64, 32], pl.FP16],
    v: pl.Tensor[[64, 32], pl.FP16],
    out: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        m = pl.full([HALF, 1], pl.FP32, -1e30)
        l = pl.full([HALF, 1], pl.FP32, 0.0)
        acc = pl.full([HALF, 32], pl.FP32, 0.0)
    for t in pl.range(2):
        r = t * 32
        s = pl.matmul(q, k[r : r + 32, :], b_trans=True)
        for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            x = pl.aiv_shard(s)
            m_new = pl.maximum(m, pl.row_max(x))
            alpha = pl.exp(m - m_new)
            p = pl.exp(pl.row_expand_sub(x, m_new))
            l = l * alpha + pl.row_sum(p)
            m = m_new
            whole = pl.aic_gather(pl.cast(p, pl.FP16, mode=\"rint\"))
        o = pl.matmul(whole, v[r : r + 32, :])
        for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            acc = pl.row_expand_mul(acc, alpha) + pl.aiv_shard(o)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        out[lane * HALF : lane * HALF + HALF, :] = pl.row_expand_div(acc, l)
";

struct Bench {
    ready: Ready,
    values: Vec<Bound<'static>>,
}

fn compiled(arch: &str) -> Bench {
    let ready = Ready::of("attention.py", KERNEL, &built_in(arch).unwrap()).unwrap_or_else(|said| panic!("{said:?}"));
    let words = ["rand:f16[32x32],seed=1", "rand:f16[64x32],seed=2", "rand:f16[64x32],seed=3", "zeros:f32[32x32]"];
    let values = ready.values(&words.map(str::to_string)).unwrap();
    Bench { ready, values }
}

/// The message of the tools for a mutant of the compiled module; `None` if there is none.
fn said(bench: &Bench, module: &Module) -> Option<String> {
    let (Ready { prepared, platform }, mut diags) = (&bench.ready, Diags::default());
    let kernel = select_kernel(module, None, &mut diags)?;
    let Ok(decoded) = decode(module, &kernel, platform, Decoding::Device, &mut diags) else {
        return Some(format!("refused: {}", diags.list[0].code));
    };
    let options = ExecuteOptions::default();
    let mut checker = Checker::new(Tools::default());
    let execution = execute(&decoded, platform, &bench.values, options, &mut checker);
    let report = checker.report(&execution.result);
    let findings = to_diagnostics(&report.findings, &decoded.program);
    if let Some(first) = findings.first() {
        return Some(first.code.to_string());
    }
    match verify(prepared, platform, &bench.values, options, &execution, &mut diags) {
        VerifyOutcome::Same(_) => None,
        _ => Some("verify".into()),
    }
}

/// Ops with an effect at run time.
fn effective(module: &Module) -> Vec<OpId> {
    let ops = module.walk(module.top).into_iter();
    ops.filter(|op| {
        let data = module.op(*op);
        let Some(def) = OpDef::of(module, *op) else { return false };
        let acts = !matches!(def.pipe, PipeRule::None) || def.ring.is_some() || def.schema.results.is_empty();
        acts && data.results.is_empty() && data.regions.is_empty() && !def.schema.terminator
    })
    .collect()
}

fn nothing_can_be_left_out(arch: &str) {
    let bench = compiled(arch);
    let module = &bench.ready.prepared.module;
    assert_eq!(said(&bench, module), None, "the compiled kernel itself is clean");
    let ops = effective(module);
    assert!(ops.len() > 50, "{} ops", ops.len());
    let mut unnoticed = Vec::new();
    for op in ops {
        let mut mutant = module.clone();
        mutant.remove(op);
        if said(&bench, &mutant).is_none() {
            let (line, _) = module.source.line_column(module.op(op).span.start);
            unnoticed.push(format!("{} of line {line}", module.op(op).name));
        }
    }
    assert!(unnoticed.is_empty(), "{arch}: these ops can be left out and nobody notices: {unnoticed:#?}");
}

#[test]
fn nothing_can_be_left_out_on_a5() {
    nothing_can_be_left_out("a5");
}

#[test]
fn nothing_can_be_left_out_on_a2a3() {
    nothing_can_be_left_out("a2a3");
}

/// Both ends of a cross-core copy split along the other axis: the rings agree, but the lanes get the wrong parts.
#[test]
fn a_wrong_axis_is_noticed() {
    for arch in ["a5", "a2a3"] {
        let bench = compiled(arch);
        let mut mutant = bench.ready.prepared.module.clone();
        for op in mutant.walk(mutant.top) {
            if mutant.op(op).attrs.get("split").and_then(Attr::as_int) == Some(1) {
                mutant.op_mut(op).attrs.set("split", Attr::int(2));
            }
        }
        assert!(said(&bench, &mutant).is_some(), "{arch}");
    }
}

/// A lane that uses the other lane's index.
#[test]
fn two_lanes_of_one_number_are_noticed() {
    for arch in ["a5", "a2a3"] {
        let bench = compiled(arch);
        let mut mutant = bench.ready.prepared.module.clone();
        let lanes: Vec<OpId> = mutant.ops_named("pto.get_subblock_idx").collect();
        assert!(!lanes.is_empty());
        let registry = &Dialects::get().registry;
        for op in lanes {
            let span = mutant.op(op).span;
            let ty = mutant.ty(mutant.op(op).results[0]).clone();
            let attrs = [("value", Attr::Int(0, ty.clone()))].into_iter().collect();
            let zero = mutant.build(registry.get("arith.constant").unwrap(), &[], attrs, &[ty], span);
            mutant.insert_before(op, zero);
            let (from, to) = (mutant.op(op).results[0], mutant.op(zero).results[0]);
            mutant.replace_uses(from, to);
        }
        assert!(said(&bench, &mutant).is_some(), "{arch}");
    }
}
