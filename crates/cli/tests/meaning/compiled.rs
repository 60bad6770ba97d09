//! Compiles and runs a kernel, and compares it with the evaluation of its text.

use slipring::args::{Defaults, bound};
use slipring::{
    Bound, ExecuteOptions, Prepared, check, choose_platform, execute, load_file, prepare, slot_buffers, to_diagnostics,
};
use slipring_check::{Checker, Tools};
use slipring_ir::{Diags, Source};
use slipring_machine::Platform;
use slipring_program::ParamKind;

use crate::meaning::eval::{Argument, File};
use crate::meaning::number;

/// The platforms that kernels run on.
pub const PLATFORMS: [&str; 2] = ["a5", "a2a3"];

/// The outcome for a kernel.
pub enum Outcome {
    /// The bytes agree with the evaluation, and there are no findings.
    Agrees,
    /// The compiler rejected it: codes of its errors, and their text.
    Refused(Vec<&'static str>, String),
    /// An error: findings, other bytes, or an error of the evaluator.
    Wrong(String),
    /// The evaluator does not support some of it.
    Unknown(String),
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Outcome::Agrees => f.write_str("agrees"),
            Outcome::Refused(codes, text) => write!(f, "is refused ({}):\n{text}", codes.join(", ")),
            Outcome::Wrong(what) => write!(f, "is wrong:\n{what}"),
            Outcome::Unknown(what) => write!(f, "is not evaluated: {what}"),
        }
    }
}

/// A compiled kernel.
pub struct Compiled {
    prepared: Prepared,
    platform: Platform,
    pub blocks: u32,
}

/// Compiles a kernel for a platform.
pub fn compile(text: &str, function: Option<&str>, platform: &str) -> Result<Compiled, Outcome> {
    let source = Source::new("kernel.py", text);
    let refused = |diags: &Diags| {
        let errors = diags.list.iter().filter(|d| d.severity == slipring_ir::Severity::Error);
        Outcome::Refused(errors.map(|d| d.code).collect(), diags.render(&source, false))
    };
    let loaded = load_file(Source::new("kernel.py", text));
    let (module, mut diags) = (loaded.module, loaded.diags);
    if diags.has_errors() {
        return Err(refused(&diags));
    }
    let platform = choose_platform(Some(platform), &module).expect("a built-in platform");
    check(&module, &platform, &mut diags);
    if diags.has_errors() {
        return Err(refused(&diags));
    }
    let Some(prepared) = prepare(module, function, &platform, &mut diags) else { return Err(refused(&diags)) };
    let blocks = loaded.kernels.iter().map(|kernel| kernel.blocks).max().unwrap_or(1);
    Ok(Compiled { prepared, platform, blocks })
}

impl Compiled {
    /// The values of arguments in the syntax of the command line; random ones where unspecified.
    pub fn arguments(&self, texts: &[String]) -> Vec<Bound<'static>> {
        let params = &self.prepared.decoded.program.params;
        bound(texts, params, &Defaults::default()).expect("arguments that fit")
    }

    /// Rounds arguments to multiples of 1/4, so that sums of their products are exact.
    pub fn round_to_quarters(&self, values: &mut [Bound<'static>]) {
        for (param, value) in self.prepared.decoded.program.params.iter().zip(values) {
            let (ParamKind::Buffer { elem, .. }, Some(bytes)) = (&param.kind, value.contents()) else { continue };
            let mut bytes = bytes.to_vec();
            for element in bytes.chunks_exact_mut(elem.bytes()) {
                let quarters = (number::load(*elem, element) * 4.0).round() / 4.0;
                element.copy_from_slice(&number::store(*elem, quarters));
            }
            *value = Bound::buffer(bytes);
        }
    }

    /// The name of the kernel.
    pub fn kernel(&self) -> &str {
        &self.prepared.decoded.program.name
    }

    /// The names of the kernel's parameters.
    pub fn names(&self) -> Vec<&str> {
        self.prepared.decoded.program.params.iter().map(|param| param.name.as_str()).collect()
    }

    /// The contents of buffers after a launch according to the text.
    fn meaning(
        &self,
        text: &str,
        arguments: &[Argument],
        blocks: u32,
        registers: bool,
    ) -> Result<Vec<Vec<u8>>, String> {
        let file = File::parse(text)?;
        let kernels: Vec<&str> = self.kernel().split('+').map(str::trim).collect();
        match kernels.len() {
            1 => file.run(self.kernel(), arguments, blocks, registers),
            _ => file.meet(&kernels, &self.names(), arguments, blocks, registers),
        }
    }

    /// Runs the kernel with all checks, and compares it with the evaluation of its text.
    pub fn compare(&self, text: &str, values: &[Bound<'static>], blocks: u32) -> Outcome {
        let arguments: Vec<Argument> = values
            .iter()
            .map(|value| match value.contents() {
                Some(bytes) => Argument::Tensor(bytes.to_vec()),
                None => Argument::Bits(value.bits().unwrap_or_default()),
            })
            .collect();
        let registers = self.platform.vector_function.is_some();
        let meant = match self.meaning(text, &arguments, blocks, registers) {
            Ok(meant) => meant,
            Err(why) => return Outcome::Unknown(why),
        };
        let options = ExecuteOptions { blocks, ..ExecuteOptions::default() };
        let slots = slot_buffers(&self.prepared, values);
        let mut checker = Checker::new(Tools { scratch: slots.clone(), ..Tools::default() });
        let execution = execute(&self.prepared.decoded, &self.platform, values, options, &mut checker);
        let judged = checker.report(&execution.result);
        let mut found = Diags { list: to_diagnostics(&judged.findings, &self.prepared.decoded.program) };
        // Combined masks use this project's interpretation, and so does the evaluator.
        found.list.retain(|message| message.code != "sources-disagree");
        if !execution.result.complete || !found.list.is_empty() {
            return Outcome::Wrong(found.render(&Source::new("kernel.py", text), false));
        }
        let buffers = (0..values.len()).filter_map(|at| Some((at, execution.buffer(values, at)?)));
        let buffers: Vec<_> = buffers.collect();
        if buffers.len() != meant.len() {
            return Outcome::Wrong(format!("{} buffers, {} are meant", buffers.len(), meant.len()));
        }
        for (buffer, ((at, bytes), meant)) in buffers.iter().zip(&meant).enumerate() {
            // The contents of a ring's slots are not a result.
            if slots.contains(&buffer) {
                continue;
            }
            if let Some(byte) = (0..bytes.len()).find(|byte| bytes[*byte] != meant[*byte]) {
                let differ = bytes.iter().zip(meant).filter(|(a, b)| a != b).count();
                return Outcome::Wrong(format!(
                    "{differ} of {} bytes of argument {at} are not what the text means, from byte {byte} on: {:?}, not {:?}",
                    bytes.len(),
                    &bytes[byte / 4 * 4..(byte / 4 * 4 + 16).min(bytes.len())],
                    &meant[byte / 4 * 4..(byte / 4 * 4 + 16).min(bytes.len())],
                ));
            }
        }
        Outcome::Agrees
    }
}
