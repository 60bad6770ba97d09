//! `slipring queue decode`: a stream as text.

use clap::Args;
use slipring_queue::capture::print;

use super::super::exit::Exit;
use super::super::output::{data, fail, write_file};
use super::stream::StreamArgs;

/// Arguments of `queue decode`.
#[derive(Args)]
pub(in crate::verbs) struct DecodeArgs {
    #[command(flatten)]
    pub stream: StreamArgs,
    /// Write the stream to this file in binary form instead
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,
}

/// Prints a stream, or writes it in its binary form.
pub(super) fn decode(args: &DecodeArgs) -> Exit {
    let stream = match args.stream.read() {
        Ok(stream) => stream,
        Err(error) => return error.report(),
    };
    match &args.output {
        None => data(&print(&stream.capture)),
        Some(path) => {
            if let Err(message) = write_file(path, &[&stream.capture.to_bytes()]) {
                return fail(message);
            }
        }
    }
    Exit::Clean
}
