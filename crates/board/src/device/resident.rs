//! Tasks on one board: tensors stay in its DRAM, and unordered tasks run concurrently on separate workers.

use std::collections::{BTreeMap, VecDeque};

use slipring_machine::Platform;
use slipring_queue::Layout;
use slipring_queue::capture::Capture;
use slipring_queue::host::{
    Data, DeviceError, HostError, Kernels, Program, Queue, Role, Settings, Times, lower_together,
};
use slipring_queue::layout::L1_ALIGN;
use slipring_queue::machine::{Config, Limits, Machine, Span, Status};
use slipring_queue::sanitize::Finding;
use slipring_queue::wire::{LaunchMessage, Xy};
use slipring_queue::worker::image::{Buffer, Image, TEXT};

use super::worker::{BlockRun, KernelWorker, Runs};
use super::{Order, dram};

/// Maximum number of cycles that the machine runs by itself.
const LONGEST: u64 = 1 << 40;
/// Records that may be outstanding before the host waits: fewer than there are slots.
const OUTSTANDING: usize = 1000;

/// A buffer of a task: one of the board's buffers, and the task's start in it.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// The buffer, in the order given to the board.
    pub buffer: usize,
    /// Its byte offset.
    pub offset: u64,
}

/// A launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Its number, chosen by the caller.
    pub task: usize,
    /// The program as text.
    pub text: String,
    /// The function to run; empty if the program has only one candidate.
    pub entry: String,
    /// The locations of its buffers, in the order of its parameters.
    pub buffers: Vec<Piece>,
    /// The bits of its scalars, in the order of its parameters.
    pub scalars: Vec<u64>,
    /// Number of blocks.
    pub blocks: u32,
}

/// Some blocks of a launch, on their assigned workers.
struct Share {
    task: usize,
    blocks: std::ops::Range<u32>,
    of: u32,
    image: Vec<u8>,
}

/// A board with its programs' data in DRAM.
pub struct Resident {
    queue: Queue<Machine>,
    runs: Runs,
    buffers: Vec<Buffer>,
    workers: Vec<Xy>,
    /// By worker, the tasks sent to it that have not run.
    sent: BTreeMap<Xy, VecDeque<usize>>,
    done: Vec<(usize, BlockRun)>,
    findings: Vec<Finding>,
    stamped: bool,
    outstanding: usize,
    /// Bytes written to DRAM, and read back.
    moved: [u64; 2],
}

impl Resident {
    /// A board with space for buffers of these sizes, using at most `order.blocks` workers.
    ///
    /// # Errors
    /// If they do not fit, or the queue cannot be opened.
    pub fn open(order: &Order, platform: &Platform, sizes: impl Iterator<Item = u64>) -> Result<Resident, String> {
        let buffers = dram::place(sizes, &order.board)?;
        let limits = Limits { bytes: u64::MAX, ..Limits::default() };
        let (trace, record) = (order.trace, order.record);
        let config = Config { seed: order.delays, limits, trace, record, ..Config::new(order.board.clone()) };
        let (worker, runs) = KernelWorker::new(Some(platform.clone()), order.board.clock_mhz, order.limits);
        let machine = Machine::with_worker(config, Box::new(worker.recording(trace)))?;
        let queue =
            Queue::open(machine, order.board.clone(), Layout::default(), Settings::CAREFUL, &Kernels::default());
        Ok(Resident {
            queue: queue.map_err(|error| error.to_string())?,
            runs,
            buffers,
            workers: order.board.workers().take(order.blocks.max(1) as usize).collect(),
            sent: BTreeMap::new(),
            done: Vec::new(),
            findings: Vec::new(),
            stamped: false,
            outstanding: 0,
            moved: [0; 2],
        })
    }

    /// Writes a buffer's contents to DRAM.
    ///
    /// # Errors
    /// If the queue cannot be driven. `false`: the board has stopped; [`findings`](Resident::findings) give the reason.
    pub fn upload(&mut self, buffer: usize, contents: &[u8]) -> Result<bool, String> {
        self.moved[0] += contents.len() as u64;
        let end = dram::upload(&mut self.queue, &self.buffers[buffer], contents);
        self.ended(end).map(|end| end.is_some())
    }

    /// Reads back the first bytes of a buffer, after all launches have ended.
    ///
    /// # Errors
    /// As [`upload`](Resident::upload); `None`: the board has stopped.
    pub fn download(&mut self, buffer: usize, bytes: usize) -> Result<Option<Vec<u8>>, String> {
        self.moved[1] += bytes as u64;
        let end = dram::download(&mut self.queue, &self.buffers[buffer], bytes);
        self.ended(end)
    }

    /// Launches unordered tasks: as many at a time as there are workers and streams for.
    ///
    /// # Errors
    /// If an image does not fit a worker, and as [`upload`](Resident::upload).
    pub fn launch(&mut self, launches: &[Launch]) -> Result<bool, String> {
        let streams = self.queue.layout().dispatch.streams as usize;
        let mut group: Vec<Share> = Vec::new();
        for launch in launches {
            let image = self.image(launch)?;
            let mut first = 0;
            while first < launch.blocks {
                let used: usize = group.iter().map(|share| share.blocks.len()).sum();
                let free = self.workers.len() - used;
                if free == 0 || group.len() == streams {
                    let group = std::mem::take(&mut group);
                    if !self.send(&group)? {
                        return Ok(false);
                    }
                    continue;
                }
                let last = launch.blocks.min(first + free as u32);
                let (task, of) = (launch.task, launch.blocks);
                group.push(Share { task, blocks: first..last, of, image: image.clone() });
                first = last;
            }
        }
        match group.is_empty() {
            true => Ok(true),
            false => self.send(&group),
        }
    }

    /// The image sent to each worker of a launch.
    ///
    /// # Errors
    /// If it does not fit a worker.
    pub fn image(&self, launch: &Launch) -> Result<Vec<u8>, String> {
        let piece = |piece: &Piece| {
            let whole = self.buffers[piece.buffer];
            Buffer { skip: whole.skip + piece.offset, bytes: whole.bytes - piece.offset, ..whole }
        };
        let image = Image {
            kind: TEXT,
            entry: launch.entry.clone(),
            buffers: launch.buffers.iter().map(piece).collect(),
            scalars: launch.scalars.clone(),
            program: launch.text.as_bytes().to_vec(),
        };
        let (bytes, capacity) = (image.encode(), capacity(self.queue.layout()));
        match bytes.len() > capacity {
            true => {
                Err(format!("the image of the program has {} bytes, and a worker has room for {capacity}", bytes.len()))
            }
            false => Ok(bytes),
        }
    }

    /// Sends launches that run concurrently, and waits on the device until all of them have ended.
    fn send(&mut self, group: &[Share]) -> Result<bool, String> {
        let mut workers = self.workers.iter().copied();
        let mut programs = Vec::new();
        for share in group {
            let tiles: Vec<Xy> = workers.by_ref().take(share.blocks.len()).collect();
            tiles.iter().for_each(|tile| self.sent.entry(*tile).or_default().push_back(share.task));
            let words = share.blocks.clone().map(|block| [block, share.of]);
            programs.push(program(tiles, words, share.image.clone(), self.queue.layout()));
        }
        let first = !std::mem::replace(&mut self.stamped, true);
        let commands =
            lower_together(&programs, first, Settings::CAREFUL.lowering, self.queue.board(), self.queue.layout());
        let commands = commands.map_err(|error| error.to_string())?;
        self.outstanding += commands.len();
        let end = self.queue.send_all(&commands);
        if self.ended(end)?.is_none() {
            return Ok(false);
        }
        if self.outstanding < OUTSTANDING { Ok(true) } else { self.wait() }
    }

    /// Waits until all launches have ended.
    ///
    /// # Errors
    /// As [`upload`](Resident::upload).
    pub fn wait(&mut self) -> Result<bool, String> {
        self.outstanding = 0;
        let end = self.queue.event();
        let Some(event) = self.ended(end)? else { return Ok(false) };
        // Kernels may take longer than a driver's timeout for a completion.
        self.queue.device().settle(LONGEST);
        let end = self.queue.wait_event(event);
        Ok(self.ended(end)?.is_some())
    }

    /// Converts the result of a call: `None` if the board has stopped.
    fn ended<T>(&mut self, end: Result<T, HostError>) -> Result<Option<T>, String> {
        let machine = self.queue.device();
        match end {
            Ok(value) => Ok(Some(value)),
            Err(HostError::Device(DeviceError::Violation(_))) => Ok(None),
            Err(error) => match machine.diagnose() {
                Some(hang) => {
                    self.findings.push(hang);
                    Ok(None)
                }
                None => Err(error.to_string()),
            },
        }
    }

    /// Bytes of buffers written to DRAM, and read back.
    pub fn moved(&self) -> [u64; 2] {
        self.moved
    }

    /// Findings of the queue.
    pub fn findings(&mut self) -> Vec<Finding> {
        let mut all = self.queue.device().findings();
        all.extend(self.findings.iter().cloned());
        all
    }

    /// The workers' runs, with the task of each.
    pub fn runs(&mut self) -> &[(usize, BlockRun)] {
        for run in self.runs.borrow_mut().drain(..) {
            let task = self.sent.get_mut(&run.tile).and_then(VecDeque::pop_front);
            self.done.extend(task.map(|task| (task, run)));
        }
        &self.done
    }

    /// From before the first launch to after the last, on the dispatcher's clock.
    pub fn times(&mut self) -> Times {
        self.queue.times(0).unwrap_or_default()
    }

    /// The machine.
    pub fn status(&mut self) -> Status {
        self.queue.device().status()
    }

    /// Spans of activity, if requested.
    pub fn spans(&mut self) -> Vec<Span> {
        self.queue.device().spans()
    }

    /// The stream queued by the host, if requested: images and buffers are included in its bytes.
    pub fn recorded(&mut self) -> Option<Capture> {
        let board = self.queue.board().name.clone();
        self.queue.device().recorded(&board)
    }
}

/// The commands that send an image to workers, and to each the words with its block and the number of blocks.
pub(super) fn program(
    tiles: Vec<Xy>,
    words: impl Iterator<Item = [u32; 2]>,
    image: Vec<u8>,
    layout: &Layout,
) -> Program {
    let launch = LaunchMessage {
        kernel_config_base: layout.kernel_config_base,
        local_cb_offset: L1_ALIGN as u16,
        enables: 1,
        ..LaunchMessage::default()
    };
    let role = Role { tiles: tiles.clone(), launch, image };
    let args = words.map(|words| words.map(u32::to_le_bytes).concat()).collect();
    Program { tiles, args: Data::Each(args), roles: vec![role] }
}

/// Bytes available to a worker for an image.
fn capacity(layout: &Layout) -> usize {
    (layout.l1_bytes - layout.kernel_config_base - L1_ALIGN) as usize
}
