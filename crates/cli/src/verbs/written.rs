//! Output files of a run: buffers that are written back, its timeline, the stream of its board.

use slipring::args::OutFile;
use slipring::{Error, Tensor, files};
use slipring_queue::capture::Capture;
use slipring_report::{Trace, TraceForm};

use super::output::{note, write_file};

/// Splits arguments into the values to pass and the files to write them back to.
pub(super) fn divide(mut bound: Vec<Tensor<'static>>) -> (Vec<Tensor<'static>>, Vec<Option<OutFile>>) {
    let files = bound.iter_mut().map(Tensor::take_out).collect();
    (bound, files)
}

/// Rejects arguments that ask to be written back, for verbs that write none.
pub(super) fn written_by_run_only(files: &[Option<OutFile>]) -> Result<(), Error> {
    match files.iter().flatten().next() {
        Some(_) => Err(Error::Arguments("`:out` is only available in `slipring run`".into())),
        None => Ok(()),
    }
}

/// The name of an output file that cannot be standard output.
pub(super) fn a_file(name: &str) -> Result<String, String> {
    match name {
        "-" => Err("this is not written to standard output; name a file".into()),
        name => Ok(name.to_string()),
    }
}

/// Writes the stream that was sent to a board.
pub(super) fn write_stream(file: Option<&str>, stream: Option<&Capture>) -> Result<(), String> {
    match (file, stream) {
        (Some(file), Some(stream)) => write_file(file, &[&stream.to_bytes()]),
        _ => Ok(()),
    }
}

/// Writes a timeline if one was requested.
pub(super) fn write_trace(file: Option<&str>, trace: Option<&Trace>) -> Result<(), String> {
    match (file, trace) {
        (Some(file), Some(trace)) => write_file(file, &[&TraceForm::of(file).write(trace)]),
        _ => Ok(()),
    }
}

/// Rejects JSON and a trace that both go to standard output.
///
/// # Errors
///
/// If both do.
pub(super) fn one_output(as_json: bool, file: Option<&str>) -> Result<(), String> {
    match as_json && file == Some("-") {
        true => Err("--json and --trace both write to standard output; name a file for the trace".into()),
        false => Ok(()),
    }
}

/// Writes the buffers that are to be written back. An incomplete run writes nothing.
pub(super) fn write_outputs(files: &[Option<OutFile>], after: &[Option<&[u8]>], complete: bool) -> Result<(), String> {
    for (file, data) in files.iter().zip(after) {
        let (Some(file), Some(data)) = (file, data) else { continue };
        if !complete {
            note(format!("`{}` is left unchanged: the run did not complete", files::shown(&file.path)));
            continue;
        }
        let header = file.npy.as_ref().map_or(&[][..], |npy| npy.header.as_slice());
        files::write(&file.path, &[header, data])
            .map_err(|error| format!("cannot write `{}`: {error}", files::shown(&file.path)))?;
    }
    Ok(())
}
