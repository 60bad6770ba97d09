//! `slipring queue decode`: a stream as text.

use clap::Args;
use slipring_queue::capture::print;

use super::super::Exit;
use super::super::output::{fail, out, write_file};
use super::StreamArgs;

/// Arguments of `queue decode`.
#[derive(Args)]
pub(in crate::cli) struct DecodeArgs {
    #[command(flatten)]
    stream: StreamArgs,
    /// Write the stream in its binary form to a file instead
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

/// Prints a stream, or writes it in its binary form.
pub(super) fn decode(args: &DecodeArgs) -> Exit {
    let stream = match args.stream.read() {
        Ok(stream) => stream,
        Err(error) => return error.report(),
    };
    match &args.output {
        None => out(&print(&stream.capture)),
        Some(path) => {
            if let Err(message) = write_file(path, &[&stream.capture.to_bytes()]) {
                return fail(message);
            }
        }
    }
    Exit::Clean
}
