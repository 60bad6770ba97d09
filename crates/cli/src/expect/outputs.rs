//! `// out[2]: f32 1.0 2.0 …`: the expected contents of a kernel's buffers after a run.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use slipring::args::{Defaults, Npy, arg_type, named, read_arg, show};
use slipring_report::digest;
use slipring_tile::Elem;

use super::directives::{Run, comment_mark};
use super::tool::{Tool, words};

/// Runs the command with each expected buffer in a file that is written back, and compares. Returns the differences.
///
/// # Errors
///
/// Expectations that cannot be parsed, and files that cannot be written.
pub fn compare(tool: &Tool, file: &Path, text: &str, run: &Run) -> Result<Vec<String>, String> {
    if run.outs.is_empty() {
        return Ok(Vec::new());
    }
    let (mut command, mut args) = (Vec::new(), Vec::new());
    let mut rest = words(&run.command).into_iter();
    while let Some(word) = rest.next() {
        if word == "--arg" { args.extend(rest.next()) } else { command.push(word) }
    }
    if args.is_empty() {
        let args_of =
            |line: &str| Some(words(line.trim().strip_prefix(comment_mark(file))?.trim_start().strip_prefix("args:")?));
        args = text.lines().find_map(args_of).ok_or("no arguments")?;
    }
    // Files in different folders may share a name, and tests run in parallel.
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let run_number = RUNS.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("slipring-{}-{run_number}", std::process::id()));
    let at = |what: std::io::Error| format!("cannot write to {}: {what}", folder.display());
    std::fs::create_dir_all(&folder).map_err(at)?;
    let outcome = (|| {
        for (index, _) in &run.outs {
            let arg = args.get_mut(*index).ok_or_else(|| format!("there is no parameter {index}"))?;
            let (name, own) = named(arg);
            let (name, own) = (name.map(str::to_string), own.to_string());
            let beside = file.parent().unwrap_or(file).to_path_buf();
            let defaults = Defaults { folder: beside, seed: *index as u64, ..Defaults::default() };
            let Some(data) = read_arg(&own, &defaults).map_err(|e| e.to_string())?.into_contents() else {
                return Err(format!("parameter {index} is not a buffer"));
            };
            // If the argument has a shape, the file must have it as well.
            let shaped = text.contains("pl.Tensor,") || text.contains("pl.Tensor]") || text.contains("pl.dynamic");
            let npy = match arg_type(&own, &defaults.folder) {
                (Some(elem), Some(shape)) if shaped => {
                    Npy::new(elem, &shape.iter().map(|n| *n as usize).collect::<Vec<_>>())
                }
                _ => None,
            };
            let path = folder.join(index.to_string());
            std::fs::write(&path, [npy.map_or(Vec::new(), |npy| npy.header), data].concat()).map_err(at)?;
            let name = name.map_or(String::new(), |name| format!("{name}="));
            *arg = format!("{name}@{}:out", path.display());
        }
        command.extend(args.into_iter().flat_map(|arg| ["--arg".to_string(), arg]));
        let (_, output) = tool.call(file, &command)?;
        let mut wrong = Vec::new();
        for (index, expected) in &run.outs {
            let mut bytes = std::fs::read(folder.join(index.to_string())).map_err(at)?;
            if Npy::begins(&bytes) {
                bytes.drain(..Npy::read(&bytes).map_err(|error| error.to_string())?.data_at);
            }
            if let Err(message) = compare_one(expected, &bytes) {
                wrong.push(format!("`{}`, out[{index}]: {message}\n{output}", run.command));
            }
        }
        Ok(wrong)
    })();
    std::fs::remove_dir_all(&folder).map_err(at)?;
    outcome
}

fn compare_one(expected: &str, bytes: &[u8]) -> Result<(), String> {
    let (kind, rest) = expected.split_once(' ').unwrap_or((expected, ""));
    if kind == "hash" {
        let hash = digest(Elem::U8, bytes).hash;
        return if hash == rest.trim() { Ok(()) } else { Err(format!("the hash is {hash}")) };
    }
    let elem = Elem::parse(kind).ok_or_else(|| format!("`{kind}` is neither `hash` nor an element type"))?;
    let mut elements = bytes.chunks_exact(elem.bytes()).enumerate();
    for word in rest.split_whitespace() {
        if word == "…" {
            return Ok(());
        }
        let (times, number) = match word.split_once('*') {
            Some((times, number)) => (times.parse().map_err(|_| format!("`{times}` is not a count"))?, number),
            None => (1usize, word),
        };
        let wanted = match read_arg(&format!("{number}:{elem}"), &Defaults::default()).map(|arg| arg.bits()) {
            Ok(Some(bits)) => show(elem, &bits.to_le_bytes()),
            _ => return Err(format!("`{number}` is not a number of type {elem}")),
        };
        for _ in 0..times {
            let Some((at, element)) = elements.next() else { return Err("there are fewer elements".into()) };
            let found = show(elem, element);
            if found != wanted {
                return Err(format!("element {at} is {found}, not {wanted}"));
            }
        }
    }
    match elements.count() {
        0 => Ok(()),
        more => Err(format!("there are {more} more elements; end the list with `…` to ignore them")),
    }
}
