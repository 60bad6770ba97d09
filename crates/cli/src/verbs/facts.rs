//! The facts of a run.

use serde_json::Value;
use slipring::{CompileRequest, Error, RunOptions, Subject};

use super::input::{read_bytes, shown};
use super::output::{SCHEMA, report_all};
use super::platform::PlatformArgs;
use super::written::divide;

/// The facts of a run: read from a file, or of a kernel that is run now.
pub(super) fn facts(file: &str, platform: &PlatformArgs, asked: &CompileRequest) -> Result<Value, Error> {
    let bytes = read_bytes(file).map_err(Error::File)?;
    let no_facts =
        |error| Error::File(format!("`{}` is not the output of `slipring run --json`: {error}", shown(file)));
    if file.ends_with(".json") {
        let facts: Value = serde_json::from_slice(&bytes).map_err(no_facts)?;
        let wrong = |why: String| Error::File(format!("`{}` {why}", shown(file)));
        return match &facts["schema"] {
            Value::Number(own) if own.as_u64() == Some(SCHEMA.into()) => Ok(facts),
            Value::Null => Err(wrong("has no field `schema`: it is not the output of `slipring run --json`".into())),
            own => Err(wrong(format!("has `schema` {own}, and this version reads {SCHEMA}: generate it again"))),
        };
    }
    let kernel = platform.apply(Subject::read(file, bytes, asked)?.executed()?.kernel()?)?;
    report_all(&kernel.compile()?);
    let (tensors, _) = divide(kernel.arguments(&[], 0)?);
    let run = kernel.run_with(tensors, &RunOptions::new().record(true))?;
    report_all(run.findings());
    if !run.is_complete() {
        return Err(Error::Incomplete(run.findings().clone()));
    }
    serde_json::to_value(run.facts()).map_err(no_facts)
}
