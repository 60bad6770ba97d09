//! Replays a captured stream on a machine unchanged, including its errors.

use crate::capture::{ActKind, Capture};
use crate::host::{Completion, DeviceError, HostError, Kernels, Queue, Settings};
use crate::machine::{Config, Machine};
use crate::sanitize::{Finding, Hazard, Severity};
use crate::worker::Worker;

/// A replayed stream, as far as it went.
pub struct Replay {
    /// The queue with its machine, for inspecting memory.
    pub queue: Queue<Machine>,
    /// The completions, in order.
    pub completions: Vec<Completion>,
    /// The number for each queue, and the number of queues.
    queues: u8,
    came: [usize; 2],
    /// The host's loads, by index among the stream's actions.
    pub loaded: Vec<(usize, Vec<u8>)>,
    /// Number of queued records.
    pub records: usize,
    /// The machine's findings. In strict mode it stopped at the last.
    pub findings: Vec<Finding>,
    /// Whether everything was queued and has run. If not, the findings say why.
    pub complete: bool,
    /// Bytes of completions.
    taken: u64,
}

/// Maximum number of cycles after the last record.
const LONGEST: u64 = 1 << 40;
/// Maximum number of bytes that the host takes.
const MOST_BYTES: u64 = 256 << 20;

/// Queues a stream's records on a machine with this configuration, with the memory map that the stream names, and runs
/// it until nothing happens any more. Before each record and at the end, `watch` may inspect the machine: it is given
/// the number of records queued so far.
///
/// # Errors
/// If the machine is invalid, or a record cannot be queued at all.
pub fn replay(
    capture: &Capture,
    config: Config,
    worker: Box<dyn Worker>,
    mut watch: impl FnMut(&Machine, usize),
) -> Result<Replay, String> {
    let (board, layout) = (config.board.clone(), capture.layout_on(&config.layout));
    let two_queues = capture.two_queues;
    let (board, second) = match two_queues {
        false => (board, None),
        true => board.pair().map(|[first, second]| (first, Some((second, layout.second()))))?,
    };
    let machine = Machine::with_worker(Config { layout: layout.clone(), two_queues, ..config }, worker)?;
    // Whether issue memory is free is the driver's responsibility: a stream does not contain the time at which it was
    // written.
    let queue = Queue::open(machine, board, layout, Settings::CAREFUL, &Kernels::default());
    let mut queue = queue.map_err(|error| error.to_string())?;
    if let Some((board, layout)) = second {
        queue.open_second(board, layout, &Kernels::default()).map_err(|error| error.to_string())?;
    }
    let mut run = Replay {
        queue,
        completions: Vec::new(),
        queues: if two_queues { 2 } else { 1 },
        came: [0; 2],
        loaded: Vec::new(),
        records: 0,
        findings: Vec::new(),
        complete: false,
        taken: 0,
    };
    let end = run.all(capture, &mut watch);
    watch(run.queue.device(), run.records);
    let partial = run.queue.partial_bytes();
    let machine = run.queue.device();
    run.findings = machine.findings();
    match end {
        Ok(()) => {
            // The finding that stopped it explains why nothing happens any more.
            let stopped = machine.stopped_at().is_some();
            let hang = machine.hang().filter(|_| !stopped);
            run.complete = hang.is_none() && !stopped && machine.status().queued == 0;
            run.findings.extend(hang);
            if run.complete && partial > 0 {
                run.complete = false;
                let message = format!("the host has taken {partial} bytes of a record, and the rest never comes");
                run.findings.push(Finding::new(Hazard::Hang, message));
            }
        }
        Err(HostError::Device(DeviceError::Violation(_))) => {}
        // The dispatcher wrote something that is not a record, or the device is busy for longer than a host waits.
        Err(HostError::Completion { at, why }) => {
            let message =
                format!("the host finds no record at {:#x} of its completion ring: {why}", u64::from(at) << 4);
            let short = run.findings.iter().any(|finding| finding.hazard == Hazard::CompletionHeader);
            // Otherwise something has overwritten the ring or its pointer.
            let hazard = if short { Hazard::CompletionHeader } else { Hazard::QueueMemoryWritten };
            run.findings.push(Finding::new(hazard, message));
        }
        Err(HostError::Timeout { what, ns }) => {
            run.findings.push(machine.hang().unwrap_or_else(|| {
                Finding::new(Hazard::RunLimit, format!("after {} ms the host still waits for {what}", ns / 1_000_000))
            }));
        }
        Err(error) => return Err(format!("record {}: {error}", run.records)),
    }
    if !run.complete && run.findings.iter().all(|finding| finding.severity() < Severity::Error) {
        run.findings.extend(machine.diagnose());
    }
    Ok(run)
}

impl Replay {
    fn all(&mut self, capture: &Capture, watch: &mut impl FnMut(&Machine, usize)) -> Result<(), HostError> {
        let mut taken = [0; 2];
        for entry in &capture.entries {
            watch(self.queue.device(), self.records);
            self.acts(capture, &mut taken)?;
            if entry.waits {
                self.settle()?;
                taken = self.came;
            }
            self.queue.choose(entry.queue);
            self.queue.replay(&entry.bytes, entry.slot)?;
            self.records += 1;
            self.take(entry.queue)?;
        }
        self.acts(capture, &mut taken)?;
        self.settle()
    }

    /// Executes the other host actions at this point; `taken` is the number of completions taken by the stream's own
    /// account, possibly less than the actual one.
    fn acts(&mut self, capture: &Capture, taken: &mut [usize; 2]) -> Result<(), HostError> {
        for (index, act) in capture.acts_before(self.records) {
            match &act.kind {
                ActKind::Wait => {
                    self.settle()?;
                    *taken = self.came;
                }
                ActKind::Take => {
                    let queue = usize::from(act.queue & 1);
                    self.queue.choose(act.queue);
                    taken[queue] += 1;
                    while self.came[queue] < taken[queue] {
                        let next = self.queue.completion()?;
                        self.completions.push(next);
                        self.came[queue] += 1;
                    }
                }
                &ActKind::Load { tile, addr, bytes } => {
                    let mut out = vec![0; bytes as usize];
                    let seen = self.queue.device().look(tile, addr, &mut out, index as u64);
                    self.loaded.push((index, out));
                    seen?;
                }
                ActKind::Store { tiles, addr, bytes } => self.queue.device().put(*tiles, *addr, bytes)?,
                ActKind::Poll { tile, addr, bytes } => self.queue.device().poll(*tile, *addr, bytes, LONGEST)?,
                ActKind::Pin { addr, bytes } => self.queue.device().pin_at(*addr, *bytes)?,
                ActKind::Unpin { addr } => self.queue.device().unpin_at(*addr)?,
                ActKind::Pause { cycles } => self.queue.device().pause(*cycles)?,
            }
        }
        Ok(())
    }

    /// Runs the machine until nothing happens any more, and takes the completions.
    fn settle(&mut self) -> Result<(), HostError> {
        loop {
            let settled = self.queue.device().settle(LONGEST);
            if !settled {
                // If it has stopped at another finding, that one is kept.
                self.queue.device().give_up(format!("something still happens after {LONGEST} cycles"));
                return Ok(());
            }
            // Taking a part of a record makes room for more of it.
            let before = (self.completions.len(), self.queue.partial_bytes());
            for queue in 0..self.queues {
                self.queue.choose(queue);
                self.take(queue)?;
            }
            if (self.completions.len(), self.queue.partial_bytes()) == before {
                return Ok(());
            }
        }
    }

    /// Takes the completions of the current queue.
    fn take(&mut self, queue: u8) -> Result<(), HostError> {
        while let Some(completion) = self.queue.poll_completion()? {
            self.came[usize::from(queue & 1)] += 1;
            self.taken += completion.bytes.len() as u64;
            self.completions.push(completion);
            if self.taken > MOST_BYTES {
                break;
            }
        }
        if self.taken + self.queue.partial_bytes() > MOST_BYTES {
            self.queue.device().give_up(format!("the host has been sent more than {MOST_BYTES} bytes"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::built_in;
    use crate::capture::parse;
    use crate::sanitize::AtError;
    use crate::worker::Acknowledge;

    fn run(text: &str, mode: AtError) -> Replay {
        let capture = parse(text).into_result().expect("a stream");
        let config = Config::new(built_in(&capture.board).expect("a board")).with_mode(mode);
        replay(&capture, config, Box::new(Acknowledge::default()), |_, _| {}).expect("runs")
    }

    #[test]
    fn a_launch_completes_and_its_event_comes_back() {
        let mut run = run("board p150\nwrite (1,2)..(3,3) 0x40000 0102\nlaunch (1,2)..(3,3)\nevent", AtError::Strict);
        assert!(run.complete && run.findings.is_empty(), "{:?}", run.findings);
        assert_eq!(run.completions.iter().filter_map(Completion::event).collect::<Vec<_>>(), [1]);
        let mut bytes = [0; 3];
        run.queue.device().peek(crate::wire::Xy::new(3, 3), 0x40000, &mut bytes).expect("L1");
        assert_eq!((bytes, run.queue.device().status().launches), ([1, 2, 0], 6));
    }

    /// Three read-backs that are larger than the completion ring, one after the other.
    #[test]
    fn records_that_do_not_fit_the_ring_come_back_whole() {
        let relay = "record\nRELAY_INLINE_NOFLUSH\n> WRITE_LINEAR_H_HOST length=50331664\nRELAY_LINEAR noc_xy=(17,14) addr=0 length=50331648\n";
        let run = run(&(relay.repeat(3) + "event"), AtError::Strict);
        assert!(run.complete && run.findings.is_empty(), "{:?}", run.findings);
        let lengths: Vec<usize> = run.completions.iter().map(|completion| completion.bytes.len()).collect();
        assert_eq!(lengths, [50_331_648, 50_331_648, 50_331_648, 16]);
        assert_eq!(run.queue.partial_bytes(), 0);
    }

    #[test]
    fn a_hang_says_who_waits() {
        let run = run("send WAIT flags=stream stream=48 count=3", AtError::Silicon);
        assert!(!run.complete);
        let text = run.findings.last().expect("a finding").to_string();
        assert!(text.contains("waits for stream 48 to reach 3"), "{text}");
    }
}
