//! No attribute is read and then ignored: for each declared attribute, some program of the examples, file tests and
//! audits lowers differently with another value, is rejected, or writes other bytes. Attributes that have no effect on
//! purpose are listed with the reason; their page says so too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use slipring::{Bound, ExecuteOptions, check, choose_platform, execute, load, load_file, prepare};
use slipring_dialects::Dialects;
use slipring_ir::{Attr, AttrKind, AttrSpec, Diags, Module, OpId, Source};
use slipring_machine::Platform;
use slipring_sim::Limits;

use crate::audit::{arguments, option, programs, runs, said, walk};
use crate::here::root;

/// Maximum number of locations at which an attribute is tried.
const PLACES: usize = 24;
/// A run tests one in this many pairs of op and attribute.
const SLICES: usize = 8;

/// Attributes that change nothing in a run: ops, their attributes, and why.
const HARMLESS: &[(&str, &str, &str)] = &[
    ("builtin.module", "sym_name", "nothing names a module"),
    ("func.func", "function_type", "the body's arguments have the types; another one is not read"),
    ("func.func", "sym_visibility", "which functions may be called from other files"),
    ("func.func", "arg_attrs res_attrs", "of other dialects"),
    ("func.func", "no_inline", "what a compiler may do with calls"),
    ("func.func", "pto.aicore", "every function is for the device"),
    ("pto.ldg pto.stg", "l1cache", "what a cache does: values are those of memory"),
    (
        "pto.ldg pto.stg pto.atomic_exch pto.atomic_add pto.atomic_sub pto.atomic_min pto.atomic_max pto.atomic_and \
         pto.atomic_or pto.atomic_xor pto.atomic_cas",
        "l2cache",
        "what a cache does: values are those of memory",
    ),
    (
        "pto.atomic_exch pto.atomic_add pto.atomic_sub pto.atomic_and pto.atomic_or pto.atomic_xor pto.atomic_cas \
         pto.redux_add",
        "signedness",
        "the result has the same bits",
    ),
    ("pto.vmi.extf", "rounding", "the wider type has every number"),
    ("pto.fence.barrier_all", "scope", "both wait until all pipes are idle, and what they stored is in memory then"),
    ("func.func", "slipring.recorded", "what a verdict says that it assumes: the launch that was recorded"),
    (
        "func.func",
        "pto.assume",
        "which numbers a verdict is for: the launch is held against it, and proofs start from it",
    ),
    ("func.func", "pto.auto_sync_tail_hint", "what happens when a program of the device is over"),
    ("arith.addi arith.subi arith.muli arith.shli", "overflowFlags", "what a compiler may assume: results wrap"),
    (
        "arith.addf arith.subf arith.mulf arith.divf arith.remf arith.maximumf arith.minimumf arith.maxnumf arith.minnumf \
         arith.negf arith.cmpf",
        "fastmath",
        "what a compiler may do: results are those of IEEE 754",
    ),
    ("memref.alloc", "alignment", "the allocator aligns to what each memory needs"),
    ("pto.tload pto.tprefetch pto.tstore", "pto.inferred_layout", "who found the layout"),
    ("pto.barrier", "pto.auto_sync_tail_barrier", "who placed it"),
    ("pto.tconcatidx", "candidates", "left by the assembler: which templates of its library fit"),
    ("pto.cmo.cacheinvalid", "space", "global memory is all that there is"),
    ("pto.tstore", "stPhase", "a hint to the hardware"),
    (
        "pto.tgemv pto.tgemv.acc pto.tgemv.bias pto.tgemv.mx pto.tgemv.mx.acc pto.tgemv.mx.bias pto.tmatmul \
         pto.tmatmul.acc pto.tmatmul.bias pto.tmatmul.mx pto.tmatmul.mx.acc pto.tmatmul.mx.bias",
        "accPhase",
        "a hint to the hardware",
    ),
    (
        "pto.tdiv pto.tdivs pto.texp pto.tlog pto.tsqrt pto.trsqrt pto.trowexpanddiv pto.tcolexpanddiv \
         pto.trem pto.tfmod",
        "precision_mode precisionType",
        "both precisions give the nearest number, and no other time of the longer sequence is published",
    ),
    (
        "pto.trowexpandadd pto.trowexpandsub pto.trowexpandmul pto.trowexpanddiv pto.trowexpandmax pto.trowexpandmin \
         pto.trowexpandexpdif",
        "src0eqdst highPrecision",
        "the shapes of the tiles say which operand is spread; results are rounded once",
    ),
    (
        "pto.mad pto.mad_acc pto.mad_bias pto.mad_mx pto.mad_mx_bias",
        "nosat",
        "what is so without it; beside `sat` it is refused",
    ),
    ("pto.pointer_cast", "config", "kept for what is printed"),
    ("pto.mad pto.mad_acc pto.mad_bias pto.mad_mx pto.mad_mx_acc pto.mad_mx_bias", "n_dir", "an order of time"),
];

/// Each op of the list with each attribute of it.
fn harmless() -> impl Iterator<Item = (&'static str, &'static str)> {
    HARMLESS
        .iter()
        .flat_map(|(ops, attrs, _)| ops.split(' ').flat_map(|op| attrs.split(' ').map(move |name| (op, name))))
}

/// Programs for attributes that no file uses.
const MORE: &[&str] = &[
    "func.func @f() attributes {pto.entry} {\n  return\n}\nfunc.func @g() {\n  return\n}\n",
    "func.func @f() attributes {hacc.entry} {\n  return\n}\nfunc.func @g() {\n  return\n}\n",
    "module attributes {pto.target_arch = \"a5\", pto.kernel_kind = #pto.kernel_kind<cube>} {
func.func @f() {\n  pto.barrier #pto.pipe<PIPE_M>\n  return\n}\n}\n",
    "module attributes {\"pto.device-spec\" = \"Ascend950\"} {\nfunc.func @f() {\n  return\n}\n}\n",
];

/// Attributes that no program here covers, and why. The list may only become shorter.
const NOT_SHOWN: &[(&str, &str)] = &[
    ("pto.import_reserved_buffer base", "written by the passes"),
    ("pto.aic_initialize_pipe made", "written by the passes"),
    ("pto.aiv_initialize_pipe made", "written by the passes"),
    ("pto.tfree_from_aic placed", "written by the passes"),
    ("pto.tfree_from_aiv placed", "written by the passes"),
    ("pto.barrier placed", "written by the passes"),
];

/// Ops with attributes that no program here uses, and where they are tested. The list may only become shorter.
const NO_PROGRAM: &[(&str, &str)] = &[
    ("crates/cli/tests/pipes.rs", "pto.initialize_l2g2l_pipe"),
    ("crates/dialects/tests", "pto.barrier_sync pto.bind_tile"),
    ("tests/files/failures", "pto.wait_cross_block"),
    ("nowhere", "pto.build_async_session"),
];

/// A program in which attributes are changed.
struct Subject {
    module: Module,
    arch: Option<String>,
    function: Option<String>,
    words: Vec<String>,
    /// Contents of the parameters, if not given as text.
    inputs: Option<Vec<Vec<u8>>>,
    folder: PathBuf,
    kernels: Arc<Vec<slipring_lang::KernelInfo>>,
}

impl Subject {
    fn platform(&self, module: &Module) -> Result<Platform, String> {
        choose_platform(self.arch.as_deref(), module).map_err(|error| error.to_string())
    }

    /// The result for a program with this module: the errors that reject it, or its decoded form.
    fn meaning(&self, module: &Module) -> Result<String, String> {
        let mut diags = Diags::default();
        let platform = self.platform(module)?;
        check(module, &platform, &mut diags);
        let prepared = if diags.has_errors() {
            None
        } else {
            prepare(module.clone(), self.function.as_deref(), &platform, &mut diags)
        };
        let said = || diags.list.iter().map(|d| format!("{} {}\n", d.code, d.message)).collect::<String>();
        match &prepared {
            Some(prepared) => Ok(format!("{}{:?}", said(), prepared.decoded.program)),
            None => Err(said()),
        }
    }

    /// The resulting bytes of a run.
    fn bytes(&self, module: &Module) -> Option<Vec<Vec<u8>>> {
        let (mut diags, platform) = (Diags::default(), self.platform(module).ok()?);
        let prepared = prepare(module.clone(), self.function.as_deref(), &platform, &mut diags)?;
        let params = &prepared.kernel.params;
        let values: Vec<Bound<'static>> = match &self.inputs {
            Some(inputs) => inputs.iter().cloned().map(Bound::buffer).collect(),
            None => arguments(&self.words, &self.kernels, params, &self.folder)?,
        };
        let limits = Limits { steps: 1 << 18, ..Limits::default() };
        let options = ExecuteOptions { limits, ..ExecuteOptions::default() };
        let run = execute(&prepared.decoded, &platform, &values, options, &mut ());
        Some((0..params.len()).filter_map(|at| run.buffer(&values, at).map(<[u8]>::to_vec)).collect())
    }
}

fn subjects() -> Vec<Subject> {
    let root = root();
    let mut files = walk::files(&root.join("tests/files"), &["pto", "py"]);
    files.extend(walk::files(&root.join("examples"), &["pto", "py"]));
    files.sort_by_cached_key(|file| std::fs::metadata(file).map_or(0, |data| data.len()));
    let mut list = Vec::new();
    for program in programs::all() {
        let (module, diags) = load(Source::new(program.op, program.text.clone()));
        assert!(!diags.has_errors(), "{}", program.op);
        list.push(Subject {
            arch: Some(program.arch.to_string()),
            module,
            function: None,
            words: Vec::new(),
            inputs: Some(program.inputs),
            folder: root.clone(),
            kernels: Arc::default(),
        });
    }
    for text in MORE {
        let (module, diags) = load(Source::new("more", *text));
        assert!(!diags.has_errors(), "{text}");
        let (words, kernels) = (Vec::new(), Arc::default());
        list.push(Subject { module, arch: None, function: None, words, inputs: None, folder: root.clone(), kernels });
    }
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let loaded = load_file(Source::new(file.display().to_string(), text.clone()));
        if loaded.diags.has_errors() {
            continue;
        }
        let kernels = Arc::new(loaded.kernels);
        let mut seen = BTreeSet::new();
        for line in runs(&file, &text) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (arch, function) = (option(&words, "--arch"), option(&words, "--func"));
            if !seen.insert((arch.clone(), function.clone())) {
                continue;
            }
            list.push(Subject {
                module: loaded.module.clone(),
                arch: arch.into_iter().next(),
                function: function.into_iter().next(),
                words: said(&text, &words),
                inputs: None,
                folder: file.parent().unwrap().to_path_buf(),
                kernels: kernels.clone(),
            });
        }
    }
    list
}

/// Other values of an attribute; `None` removes it.
fn others(
    spec: &AttrSpec,
    now: Option<&Attr>,
    seen: &BTreeSet<String>,
    pool: &BTreeMap<String, Attr>,
) -> Vec<Option<Attr>> {
    let mut values: Vec<Option<Attr>> = match spec.kind {
        AttrKind::Bool => [true, false].map(|b| Some(Attr::Bool(b))).to_vec(),
        AttrKind::Unit => vec![Some(Attr::Unit)],
        AttrKind::Enum(of) => of.members.iter().map(|member| Some(Attr::member(of.kind, member))).collect(),
        AttrKind::Int => {
            let number = now.and_then(Attr::as_int).unwrap_or(0);
            let near = [number + 1, number * 2, 0, 1, 2, 3, 16, -1, 1 << 20];
            near.map(|number| Some(Attr::int(number))).to_vec()
        }
        _ => Vec::new(),
    };
    values.extend(seen.iter().filter_map(|text| pool.get(text)).map(|attr| Some(attr.clone())));
    if matches!(spec.kind, AttrKind::Str | AttrKind::Symbol) {
        values.push(Some(if matches!(spec.kind, AttrKind::Str) {
            Attr::Str("other".into())
        } else {
            Attr::Symbol("other".into())
        }));
    }
    if !spec.required {
        values.push(None);
    }
    values.retain(|value| value.as_ref() != now);
    values
}

fn with(module: &Module, op: OpId, name: &'static str, value: Option<Attr>) -> Module {
    let mut module = module.clone();
    match value {
        Some(value) => module.op_mut(op).attrs.set(name, value),
        None => drop(module.op_mut(op).attrs.remove(name)),
    }
    module
}

#[test]
fn every_attribute_is_used_or_refused() {
    let subjects = subjects();
    let mut places: BTreeMap<&str, Vec<(usize, OpId)>> = BTreeMap::new();
    let mut values: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut pool: BTreeMap<String, Attr> = BTreeMap::new();
    for (at, subject) in subjects.iter().enumerate() {
        for id in subject.module.walk(subject.module.top) {
            let op = subject.module.op(id);
            let Some(schema) = op.schema() else { continue };
            let list = places.entry(schema.name).or_default();
            if list.iter().filter(|(of, _)| *of == at).count() < 8 {
                list.push((at, id));
            }
            for (name, attr) in op.attrs.iter() {
                let Some(spec) = schema.attrs.iter().find(|spec| spec.name == name) else { continue };
                let text = format!("{attr:?}");
                values.entry(spec.name).or_default().insert(text.clone());
                pool.insert(text, attr.clone());
            }
        }
    }
    let number = crate::here::slice();
    let pairs =
        Dialects::get().all().iter().flat_map(|def| def.schema.attrs.iter().map(move |spec| (def.schema.name, spec)));
    let (mut ignored, mut shown) = (Vec::new(), BTreeSet::new());
    let mut meanings: BTreeMap<usize, Result<String, String>> = BTreeMap::new();
    for (_, (op, spec)) in pairs.enumerate().filter(|(at, _)| number.is_none_or(|n| at % SLICES == n % SLICES)) {
        let label = format!("{op} {}", spec.name);
        if harmless().any(|listed| listed == (op, spec.name)) {
            continue;
        }
        let seen = values.get(spec.name).cloned().unwrap_or_default();
        let mut list = places.get(op).cloned().unwrap_or_default();
        // First where it is written explicitly, and where the text determines the platform.
        list.sort_by_key(|(at, id)| {
            let subject = &subjects[*at];
            (subject.module.op(*id).attrs.get(spec.name).is_none(), subject.arch.is_some())
        });
        let mut tried = 0;
        let found = list.iter().any(|(at, id)| {
            let subject = &subjects[*at];
            let before = meanings.entry(*at).or_insert_with(|| subject.meaning(&subject.module)).clone();
            if before.is_err() || tried == PLACES {
                return false;
            }
            tried += 1;
            let now = subject.module.op(*id).attrs.get(spec.name).cloned();
            let changed = || {
                others(spec, now.as_ref(), &seen, &pool)
                    .into_iter()
                    .map(|value| with(&subject.module, *id, spec.name, value))
            };
            if changed().any(|module| subject.meaning(&module) != before) {
                return true;
            }
            let bytes = subject.bytes(&subject.module);
            bytes.is_some() && changed().any(|module| subject.bytes(&module) != bytes)
        });
        let def = Dialects::get().all().iter().find(|def| def.schema.name == op).expect("one of these");
        let no_program = NO_PROGRAM.iter().any(|(_, ops)| ops.split_whitespace().any(|listed| listed == op));
        if tried == 0 && (no_program || !crate::audit::runs_at_all(def)) {
            continue;
        }
        if no_program {
            ignored.push(format!("{op} has a program now: it need not be listed"));
        }
        if found {
            shown.insert(label);
        } else if !NOT_SHOWN.iter().any(|(listed, _)| *listed == label) {
            ignored.push(format!("{label} ({tried} places)"));
        }
    }
    let since: Vec<_> = NOT_SHOWN.iter().filter(|(label, _)| shown.contains(*label)).collect();
    assert!(since.is_empty(), "no longer to be listed: {since:?}");
    assert!(ignored.is_empty(), "nothing changes with these attributes:\n{}", ignored.join("\n"));
    for (op, name) in harmless() {
        let known = Dialects::get().all().iter().find(|def| def.schema.name == op);
        assert!(
            known.is_some_and(|def| def.schema.attrs.iter().any(|spec| spec.name == name)),
            "no attribute {op} {name}"
        );
    }
}
