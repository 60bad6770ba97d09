//! Runs small kernels given as text.

#![allow(dead_code)]

use std::sync::Arc;

use slipring_dialects::Dialects;
use slipring_ir::{Diags, Module, Source, text};
use slipring_machine::{Platform, built_in};
use slipring_op::{Decoding, decode, select_kernel, verify};
use slipring_program::{GmBuffer, Memory};
use slipring_sim::{ArgValue, Launch, RunResult};

/// An argument of a kernel.
pub enum Arg {
    Buffer(Vec<u8>),
    Scalar(u64),
}

/// Parses a text that must have no errors.
pub fn parse(source: &str, platform: &Platform) -> Module {
    let (module, diags) = check(source, platform);
    assert!(!diags.has_errors(), "{}", diags.render(&module.source, false));
    module
}

/// Reads and verifies a text.
pub fn check(source: &str, platform: &Platform) -> (Module, Diags) {
    let source = Arc::new(Source::new("test.pto", source));
    let (module, mut diags) = text::parse(source, &Dialects::get().registry);
    verify(Dialects::get(), &module, platform, &mut diags);
    (module, diags)
}

/// Runs a kernel on one cluster of a platform.
pub fn run_on(platform: &Platform, source: &str, mode: Decoding, args: Vec<Arg>) -> RunResult {
    let module = parse(source, platform);
    let mut diags = Diags::default();
    let outcome =
        select_kernel(&module, None, &mut diags).and_then(|k| decode(&module, &k, platform, mode, &mut diags).ok());
    let decoded = outcome.unwrap_or_else(|| panic!("{}", diags.render(&module.source, false)));
    let mut memory = Memory::with_sizes(1, |space| decoded.local_bytes[space as usize] as usize);
    let mut values = Vec::new();
    for arg in args {
        values.push(match arg {
            Arg::Buffer(data) => {
                memory.gm.push(GmBuffer { name: format!("arg{}", values.len()), data });
                ArgValue::Buffer(memory.gm.len() - 1)
            }
            Arg::Scalar(bits) => ArgValue::Scalar(bits),
        });
    }
    let launch = Launch::new(&decoded.program, platform, 1, values).mode(slipring_sim::ExecutionMode::Sequential);
    slipring_sim::run(&launch, memory, &mut ())
}

/// Runs a kernel's sequential semantics on a built-in platform, expects no findings (except for disagreeing sources),
/// and returns the buffers.
pub fn run(platform: &str, source: &str, args: Vec<Arg>) -> Vec<Vec<u8>> {
    let result = run_on(&built_in(platform).unwrap(), source, Decoding::Reference, args);
    let clean = result.findings.iter().all(|finding| finding.code == "sources-disagree");
    assert!(clean && result.complete, "{:#?}", result.findings);
    result.memory.gm.into_iter().map(|buffer| buffer.data).collect()
}

/// The finding that a run of a kernel ends with.
pub fn finding(platform: &str, source: &str, args: Vec<Arg>) -> (String, String) {
    let result = run_on(&built_in(platform).unwrap(), source, Decoding::Reference, args);
    let finding = result.findings.first().expect("a finding");
    (finding.code.to_string(), finding.message.clone())
}

pub fn f32s(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

pub fn to_f32s(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

pub fn f16s(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(|x| half::f16::from_f32(x).to_le_bytes()).collect()
}

pub fn to_f16s(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks(2).map(|b| half::f16::from_le_bytes(b.try_into().unwrap()).to_f32()).collect()
}

/// A kernel with these parameters and this body. Every `%cN` in the body is the constant N of type `index`.
pub fn kernel(params: &str, body: &str) -> String {
    let mut text = format!("func.func @kernel({params}) {{\n");
    let mut known = std::collections::BTreeSet::new();
    for part in body.split("%c").skip(1) {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        let ends = part[digits.len()..].chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '_');
        if ends && !digits.is_empty() && known.insert(digits.clone()) {
            text += &format!("  %c{digits} = arith.constant {digits} : index\n");
        }
    }
    text + body + "\n  return\n}\n"
}

/// A complete row-major matrix `%<ptr>_w` at a pointer.
pub fn matrix(ptr: &str, elem: &str, rows: usize, cols: usize) -> String {
    window(ptr, elem, &[rows, cols], &[cols, 1], &[0, 0], &[rows, cols], "")
}

/// A window `%<ptr>_w` of a tensor at a pointer; `attrs` are those of the tensor.
pub fn window(
    ptr: &str,
    elem: &str,
    dims: &[usize],
    strides: &[usize],
    offsets: &[usize],
    sizes: &[usize],
    attrs: &str,
) -> String {
    let list = |numbers: &[usize]| numbers.iter().map(|n| format!("%c{n}")).collect::<Vec<_>>().join(", ");
    let open = format!("!pto.tensor_view<{}{elem}>", "?x".repeat(dims.len()));
    let shape: String = sizes.iter().map(|n| format!("{n}x")).collect();
    format!(
        "  %{ptr}_t = pto.make_tensor_view %{ptr}, shape = [{}], strides = [{}] {attrs} : {open}\n  \
         %{ptr}_w = pto.partition_view %{ptr}_t, offsets = [{}], sizes = [{}] : {open} -> !pto.partition_tensor_view<{shape}{elem}>\n",
        list(dims),
        list(strides),
        list(offsets),
        list(sizes),
    )
}

/// The type of a window.
pub fn part(elem: &str, sizes: &[usize]) -> String {
    let shape: String = sizes.iter().map(|n| format!("{n}x")).collect();
    format!("!pto.partition_tensor_view<{shape}{elem}>")
}
