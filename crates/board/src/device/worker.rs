//! A worker that runs kernels: one block of the program that was written to its L1, on a cluster of its own.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use slipring_ir::{Diagnostic, Severity, Source};
use slipring_machine::Platform;
use slipring_program::{Finding, ParamKind};
use slipring_queue::wire::Xy;
use slipring_queue::worker::image::{Buffer, HEADER, Image, ImageError, TEXT};
use slipring_queue::worker::{Job, Worker, WorkerMemory};
use slipring_report::{Legend, Recorder, Trace};
use slipring_sim::{ExecutionMode, Limits, RunResult};

use slipring_session::exec::{ExecuteOptions, execute_part};
use slipring_session::recorded::Names;
use slipring_session::{Bound, Prepared, check, choose_platform, load, prepare, to_diagnostics, written_platform};

/// Maximum total size in bytes of a launch's buffers.
const MOST_BYTES: u64 = 1 << 34;
/// Number of prepared programs that are kept.
const PREPARED: usize = 64;
/// Minimum page size in bytes.
const LEAST_PAGE: u32 = 64;

/// A worker's run of a launch.
#[derive(Clone, Debug)]
pub struct BlockRun {
    /// The block.
    pub block: u32,
    /// The worker.
    pub tile: Xy,
    /// When its worker started, in cycles of the board.
    pub start: u64,
    /// Cycles of the kernel's platform.
    pub cycles: u64,
    /// Whether it was run a second time at its end: see [`KernelWorker`].
    pub again: bool,
    /// Its output.
    pub printed: Vec<String>,
    /// The engine's findings.
    pub findings: Vec<Finding>,
    /// The findings as messages.
    pub messages: Vec<Diagnostic>,
    /// Whether it completed.
    pub complete: bool,
    /// The activity of its pipes, from cycle 0 of its platform, if requested ([`KernelWorker::recording`]): for a block
    /// that ran again, that of the first run, which is the one that took time.
    pub timeline: Option<Arc<Trace>>,
}

/// The runs of a machine's workers, in the order in which they completed or failed. The machine owns its worker; this
/// handle stays with the caller.
pub type Runs = Rc<RefCell<Vec<BlockRun>>>;

/// Runs kernels from images.
///
/// A block reads its buffers when it starts and writes the elements that it changed when its time is over. If others
/// have written one of these elements in between, it is run again on the current contents: blocks that add to the same
/// elements give the result of running one after the other. Blocks cannot wait for each other: each runs alone.
#[derive(Debug)]
pub struct KernelWorker {
    /// `None`: the one named by each image's program.
    platform: Option<Platform>,
    /// Clock of the board, in MHz.
    clock_mhz: u32,
    limits: Limits,
    /// Recently prepared programs, with the program and entry of the image that they came from.
    kernels: Vec<(Vec<u8>, String, Rc<Loaded>)>,
    running: BTreeMap<Xy, Running>,
    runs: Runs,
    record: bool,
}

/// A prepared program, with its platform.
type Loaded = (Prepared, Platform);

/// A launch.
#[derive(Debug)]
struct Running {
    image: Image,
    block: u32,
    blocks: u32,
    patches: Vec<Patch>,
    run: BlockRun,
}

/// Adjacent elements that a block changed.
#[derive(Debug)]
struct Patch {
    buffer: Buffer,
    offset: u64,
    old: Vec<u8>,
    new: Vec<u8>,
}

impl KernelWorker {
    /// Workers on a board with this clock (MHz), and the handle for their runs. Their clusters are those of a platform;
    /// without one, of that named by an image's program. `limits` apply to each block.
    pub fn new(platform: Option<Platform>, clock_mhz: u32, limits: Limits) -> (KernelWorker, Runs) {
        let (runs, running) = (Runs::default(), BTreeMap::new());
        let (own, kernels) = (Rc::clone(&runs), Vec::new());
        let worker = KernelWorker { platform, clock_mhz, limits, kernels, running, runs: own, record: false };
        (worker, runs)
    }

    /// Whether a timeline of each block is recorded.
    pub fn recording(self, record: bool) -> KernelWorker {
        KernelWorker { record, ..self }
    }

    /// The program of an image; a known one is not prepared again.
    fn kernel(&mut self, image: &Image) -> Result<Rc<Loaded>, String> {
        if image.kind != TEXT {
            return Err(format!("the image's program is of kind {}; this worker runs kind {TEXT}, text", image.kind));
        }
        let known = self.kernels.iter().find(|(program, entry, _)| (program, entry) == (&image.program, &image.entry));
        if let Some((.., kernel)) = known {
            return Ok(Rc::clone(kernel));
        }
        let text = std::str::from_utf8(&image.program).map_err(|_| "the image's program is not UTF-8 text")?;
        let (module, mut diags) = load(Source::new("image", text));
        let platform = match &self.platform {
            Some(platform) => platform.clone(),
            None if written_platform(&module).is_none() => {
                return Err("the image's program names no platform, and none was chosen (`--arch`)".to_string());
            }
            None => choose_platform(None, &module).map_err(|error| error.to_string())?,
        };
        if !diags.has_errors() {
            check(&module, &platform, &mut diags);
        }
        let entry = Some(image.entry.as_str()).filter(|entry| !entry.is_empty());
        let kernel = if diags.has_errors() { None } else { prepare(module, entry, &platform, &mut diags) };
        let kernel = kernel.ok_or_else(|| {
            let first = diags.list.iter().find(|d| d.severity == Severity::Error);
            let why = first.map_or(String::new(), |d| format!(": {}: {}", d.code, d.message));
            format!("the image's program cannot be run{why}")
        })?;
        let kernel = Rc::new((kernel, platform));
        if self.kernels.len() == PREPARED {
            self.kernels.remove(0);
        }
        self.kernels.push((image.program.clone(), image.entry.clone(), Rc::clone(&kernel)));
        Ok(kernel)
    }

    /// Runs a block on the current contents of its buffers; returns its run, its changes, and the clock of its platform
    /// in MHz. Logs it if it fails.
    fn block(
        &mut self,
        image: &Image,
        (block, blocks): (u32, u32),
        job: &Job,
        memory: &WorkerMemory<'_>,
    ) -> Result<(BlockRun, Vec<Patch>, u64), String> {
        let kernel = self.kernel(image)?;
        let (kernel, platform) = &*kernel;
        let params = &kernel.decoded.program.params;
        let values = values(image, params.iter().map(|p| &p.kind), memory)?;
        let options = ExecuteOptions { blocks: 1, mode: ExecutionMode::Pipes, gm_slack: 0, limits: self.limits };
        let part = Some((block, blocks));
        let mut recorder = self.record.then(Recorder::default);
        let done = execute_part(&kernel.decoded, platform, &values, options, part, &mut recorder);
        let result = &done.result;
        let run = BlockRun {
            block,
            tile: job.tile,
            start: job.cycle,
            cycles: result.cycles,
            again: false,
            printed: result.output.lines.clone(),
            findings: result.findings.clone(),
            messages: to_diagnostics(&result.findings, &kernel.decoded.program),
            complete: result.complete,
            timeline: recorder.map(|recorder| Arc::new(timeline(recorder, kernel, platform, result))),
        };
        if !run.complete {
            let why = run.findings.first().map_or(String::new(), |f| format!(": {}: {}", f.code, f.message));
            self.runs.borrow_mut().push(run);
            return Err(format!("block {block} of {blocks} did not complete{why}"));
        }
        let (mut patches, mut buffers) = (Vec::new(), image.buffers.iter());
        for (index, param) in params.iter().enumerate() {
            let ParamKind::Buffer { elem, .. } = param.kind else { continue };
            let (Some(buffer), Some(before), Some(after)) =
                (buffers.next(), values[index].contents(), done.buffer(&values, index))
            else {
                continue;
            };
            let first = patches.len();
            changes(*buffer, elem.bytes(), before, after, &mut patches);
            if !buffer.written && patches.len() > first {
                return Err(format!("block {block} writes %{}, which the image says it does not", param.name));
            }
        }
        Ok((run, patches, platform.clock_mhz.max(1).into()))
    }
}

/// The activity of a block, as a timeline.
fn timeline(recorder: Recorder, kernel: &Prepared, platform: &Platform, result: &RunResult) -> Trace {
    let names = Names::new(kernel, platform);
    let buffers: Vec<String> = result.memory.gm.iter().map(|buffer| buffer.name.clone()).collect();
    let legend = Legend {
        program: &kernel.decoded.program,
        line: &|site| names.at(site),
        tile: &|extent, site| names.tile(extent, site),
        buffers: &buffers,
    };
    recorder.finish().trace(&legend).0
}

/// The kernel's arguments: buffers with their current contents.
fn values<'a>(
    image: &Image,
    params: impl Iterator<Item = &'a ParamKind>,
    memory: &WorkerMemory<'_>,
) -> Result<Vec<Bound<'static>>, String> {
    let whole = image.buffers.iter().try_fold(0u64, |sum, b| sum.checked_add(b.bytes)).filter(|sum| *sum <= MOST_BYTES);
    if whole.is_none() || image.buffers.iter().any(|b| b.page < LEAST_PAGE) {
        return Err(format!("the image's buffers have more than {MOST_BYTES} bytes or pages under {LEAST_PAGE} bytes"));
    }
    let (mut buffers, mut scalars) = (image.buffers.iter(), image.scalars.iter());
    let (mut values, mut missing) = (Vec::new(), false);
    for kind in params {
        let value = match kind {
            ParamKind::Scratch { .. } => continue,
            ParamKind::Buffer { .. } => match buffers.next() {
                Some(buffer) => Some(Bound::buffer(read(buffer, 0, buffer.bytes as usize, memory)?)),
                None => None,
            },
            ParamKind::Scalar(_) | ParamKind::Bool => scalars.next().map(|bits| Bound::scalar(*bits)),
        };
        missing |= value.is_none();
        values.extend(value);
    }
    if missing || buffers.len() + scalars.len() > 0 {
        return Err(format!(
            "the image brings {} buffers and {} scalars, which are not the kernel's parameters",
            image.buffers.len(),
            image.scalars.len()
        ));
    }
    Ok(values)
}

/// The differing elements of `size` bytes.
fn changes(buffer: Buffer, size: usize, before: &[u8], after: &[u8], patches: &mut Vec<Patch>) {
    let elements = before.chunks(size).zip(after.chunks(size)).enumerate();
    let mut end = None;
    for (at, (old, new)) in elements.filter(|(_, (old, new))| old != new) {
        match patches.last_mut().filter(|_| end == Some(at)) {
            Some(patch) => {
                patch.old.extend_from_slice(old);
                patch.new.extend_from_slice(new);
            }
            None => patches.push(Patch { buffer, offset: (at * size) as u64, old: old.to_vec(), new: new.to_vec() }),
        }
        end = Some(at + 1);
    }
}

fn read(buffer: &Buffer, offset: u64, bytes: usize, memory: &WorkerMemory<'_>) -> Result<Vec<u8>, String> {
    let (mut out, mut at) = (vec![0; bytes], 0);
    for (bank, addr, n) in buffer.range(offset, bytes as u64, memory.banks()) {
        memory.read_dram(bank, addr, &mut out[at..at + n])?;
        at += n;
    }
    Ok(out)
}

/// The image referred to by a launch message.
fn image(job: &Job, memory: &WorkerMemory<'_>) -> Result<Image, String> {
    let at = job.launch.kernel_config_base.saturating_add(u32::from(job.launch.local_cb_offset));
    let mut header = [0; HEADER];
    memory.read(at, &mut header)?;
    let needs = Image::size(&header).map_err(|error| error.to_string())?;
    let has = u64::from(memory.l1_bytes().saturating_sub(at));
    if needs > has {
        return Err(ImageError::Truncated { needs, has }.to_string());
    }
    let mut bytes = vec![0; needs as usize];
    memory.read(at, &mut bytes)?;
    Image::decode(&bytes).map_err(|error| error.to_string())
}

impl Worker for KernelWorker {
    fn start(&mut self, job: &Job, memory: &mut WorkerMemory<'_>) -> Result<u64, String> {
        let image = image(job, memory)?;
        let mut words = [0; 8];
        memory.read(job.launch.kernel_config_base, &mut words)?;
        let word = |at: usize| u32::from_le_bytes([words[at], words[at + 1], words[at + 2], words[at + 3]]);
        let (block, blocks) = (word(0), word(4));
        if block >= blocks {
            return Err(format!("its arguments say that it is block {block} of {blocks}"));
        }
        let (run, patches, own_mhz) = self.block(&image, (block, blocks), job, memory)?;
        // The cluster has its own cycles; the board counts them with its own clock.
        let cycles = u128::from(run.cycles) * u128::from(self.clock_mhz);
        let cycles = cycles.div_ceil(u128::from(own_mhz));
        self.running.insert(job.tile, Running { image, block, blocks, patches, run });
        Ok(u64::try_from(cycles).unwrap_or(u64::MAX >> 1))
    }

    fn finish(&mut self, job: &Job, memory: &mut WorkerMemory<'_>) -> Result<(), String> {
        let Some(Running { image, block, blocks, mut patches, mut run }) = self.running.remove(&job.tile) else {
            return Err("it ends what it did not start".into());
        };
        let mut overtaken = false;
        for patch in &patches {
            overtaken |= read(&patch.buffer, patch.offset, patch.old.len(), memory)? != patch.old;
        }
        if overtaken {
            let (cycles, timeline) = (run.cycles, run.timeline);
            (run, patches, _) = self.block(&image, (block, blocks), job, memory)?;
            (run.again, run.cycles, run.timeline) = (true, cycles, timeline);
        }
        for patch in &patches {
            let mut new = patch.new.as_slice();
            for (bank, addr, n) in patch.buffer.range(patch.offset, new.len() as u64, memory.banks()) {
                let (now, later) = new.split_at(n);
                memory.write_dram(bank, addr, now)?;
                new = later;
            }
        }
        self.runs.borrow_mut().push(run);
        Ok(())
    }
}
