//! The workers' firmware: go messages in, notifications out.

use super::{Job, Worker, WorkerMemory};
use crate::layout::HOST_ADDRESS;
use crate::machine::{Flight, Port, Tile, TileId, World};
use crate::sanitize::{Finding, Hazard, LAUNCH_RING};
use crate::wire::{GoMessage, LaunchMessage, Packed, Xy};
use crate::worker::doing::Doing;
use crate::worker::times::{TIMES, Times};

const RING: u32 = LAUNCH_RING;

impl World {
    /// The firmware of a tile starts: a worker announces itself.
    pub fn worker_starts(&mut self, tile: TileId) {
        let state = &mut self.workers.states[tile as usize];
        if state.doing == Doing::Off {
            (state.doing, state.next, state.reset_unseen) = (Doing::Idle, 0, false);
        }
        let go = self.layout.worker.go;
        if self.memory.l1(tile, go + 3, 1)[0] == GoMessage::INIT {
            self.memory.l1_mut(tile, go + 3, 1)[0] = GoMessage::DONE;
        }
    }

    /// A tile is held in reset.
    pub fn worker_stops(&mut self, tile: TileId) {
        let state = &mut self.workers.states[tile as usize];
        if std::mem::replace(&mut state.doing, Doing::Off) == Doing::Running {
            self.workers.running -= 1;
        }
        state.job = None;
    }

    /// Bytes of a tile's L1 have changed. If they are in its mailboxes, it will read them.
    pub fn worker_written(&mut self, tile: TileId, addr: u32, bytes: u32) {
        let layout = &self.layout.worker;
        let end = addr.saturating_add(bytes);
        if addr > layout.go_index + 3 {
            // Beyond the mailboxes only its own code is affected.
            let state = &self.workers.states[tile as usize];
            if state.doing == Doing::Running && addr >= self.layout.kernel_config_base && !state.overtaken {
                self.overwritten(tile, addr, bytes);
            }
            return;
        }
        let message = LaunchMessage::SIZE as u32;
        let ring = layout.launch..layout.launch + message * RING;
        let (from, to) = (addr.max(ring.start), end.min(ring.end));
        if from < to {
            let entry = |at: u32| (at - ring.start) / message;
            let (first, last) = (entry(from), entry(to - 1));
            self.workers.states[tile as usize].written |= (2 << last) - (1 << first);
        }
        if end <= layout.go || self.chip.is_queue_core(tile) {
            return;
        }
        let now = self.go_signal(tile);
        let state = &mut self.workers.states[tile as usize];
        match state.doing {
            Doing::Off => return,
            Doing::Running if now == GoMessage::GO && addr <= layout.go + 3 => {
                let xy = self.chip.xy(tile);
                self.flag_worker(tile, Hazard::GoWhileRunning, || format!("{xy} is sent a go message while it runs"));
                return;
            }
            _ => {}
        }
        let unseen = std::mem::replace(&mut state.reset_unseen, now == GoMessage::RESET_READ_PTR_FROM_HOST);
        let next = state.next;
        // The linter reports whatever the commands' bytes show, in every schedule.
        if unseen && now == GoMessage::GO && !self.is_known(Hazard::GoBeforeReset) {
            let xy = self.chip.xy(tile);
            self.flag_worker(tile, Hazard::GoBeforeReset, || {
                format!("{xy} is sent a go message before it has seen the reset; it will run launch message {next}")
            });
        }
        let state = &mut self.workers.states[tile as usize];
        if !std::mem::replace(&mut state.polling, true) {
            let at = self.now + self.draw(|d| d.poll);
            self.flights.start(at, Flight::Poll { tile });
        }
    }

    fn overwritten(&mut self, tile: TileId, addr: u32, bytes: u32) {
        // The linter reports whatever the commands' bytes show, in every schedule.
        if self.is_known(Hazard::WriteWhileRunning) {
            return;
        }
        let xy = self.chip.xy(tile);
        self.flag_worker(tile, Hazard::WriteWhileRunning, || {
            format!("{bytes} bytes arrive at {addr:#x} of {xy}, which runs")
        });
    }

    fn go_signal(&self, tile: TileId) -> u8 {
        let layout = &self.layout.worker;
        let index = self.memory.word(tile, layout.go_index).min(8);
        self.memory.l1(tile, layout.go + 4 * index + 3, 1)[0]
    }

    fn flag_worker(&mut self, tile: TileId, hazard: Hazard, message: impl FnOnce() -> String) {
        // The sender of arrived data is unknown: the dispatcher's last commands are the best clue.
        let go = self.workers.states[tile as usize].go.filter(|_| hazard != Hazard::WriteWhileRunning);
        let at = go.unwrap_or(self.ledger.at[crate::machine::Actor::Dispatch as usize]);
        let which = if go.is_some() { "sent its go signal" } else { "is the dispatcher's present one" };
        self.judge_yields(hazard, at.record);
        if self.ledger.wants(hazard) {
            let mut finding =
                Finding { cycle: self.now, record: at.record, command: at.command, ..Finding::new(hazard, message()) };
            finding.notes = self.actor_lines();
            finding.notes.push(format!("found at worker {}; the command {which}", self.chip.xy(tile)));
            self.ledger.add(finding);
        }
    }

    fn clear_signal(&mut self, tile: TileId) {
        let layout = &self.layout.worker;
        let index = self.memory.word(tile, layout.go_index).min(8);
        self.memory.l1_mut(tile, layout.go + 4 * index + 3, 1)[0] = GoMessage::DONE;
    }

    /// A worker reads its go message.
    pub fn worker_polls(&mut self, tile: TileId) {
        let state = &mut self.workers.states[tile as usize];
        state.polling = false;
        if state.doing != Doing::Idle {
            return;
        }
        state.reset_unseen = false;
        match self.go_signal(tile) {
            GoMessage::RESET_READ_PTR_FROM_HOST => self.workers.states[tile as usize].next = 0,
            GoMessage::RESET_READ_PTR | GoMessage::REPLAY_TRACE => {
                self.workers.states[tile as usize].next = 0;
                self.clear_signal(tile);
                self.notify(tile);
            }
            GoMessage::INIT => self.clear_signal(tile),
            GoMessage::GO => self.launch(tile),
            _ => {}
        }
    }

    fn with_worker<T>(
        &mut self,
        tile: TileId,
        act: impl FnOnce(&mut dyn Worker, &mut WorkerMemory<'_>) -> T,
    ) -> Option<T> {
        let worker = self.workers.worker.as_mut()?;
        let mut memory = WorkerMemory {
            memory: &mut self.memory,
            chip: &self.chip,
            tile,
            l1_bytes: self.layout.l1_bytes,
            wrote: &mut self.workers.wrote,
            asked: &mut self.workers.asked,
        };
        let done = act(worker.as_mut(), &mut memory);
        let record = self.workers.states[tile as usize].go.and_then(|go| go.record).map(|record| record.index);
        for (place, bytes) in std::mem::take(&mut self.workers.asked) {
            self.borrowed_is_read(place, bytes, record);
        }
        Some(done)
    }

    fn launch(&mut self, tile: TileId) {
        let next = self.workers.states[tile as usize].next;
        let at = self.layout.worker.launch + LaunchMessage::SIZE as u32 * next;
        let Ok(launch) = LaunchMessage::read(self.memory.l1(tile, at, LaunchMessage::SIZE)) else { return };
        let job =
            Job { tile: self.chip.xy(tile), worker: self.workers.numbers[tile as usize], launch, cycle: self.now };
        match job.launch.mode {
            LaunchMessage::DEVICE => self.workers.launched += 1,
            _ => self.workers.launched_by_host += 1,
        }
        self.workers.running += 1;
        self.follows_go(tile);
        let state = &mut self.workers.states[tile as usize];
        let written = std::mem::take(&mut state.written);
        (state.doing, state.job) = (Doing::Running, Some(job));
        if written != 0 && written >> next & 1 == 0 {
            let entry = written.trailing_zeros();
            self.flag_worker(tile, Hazard::LaunchOutsideRing, || {
                format!(
                    "{} runs launch message {next}; what was written since its last launch is message {entry}",
                    job.tile
                )
            });
        }
        // Whole messages were checked when they were written.
        if let Some((hazard, message)) =
            job.launch.misplaced(&self.layout).filter(|(hazard, _)| !self.is_known(*hazard))
        {
            self.flag_worker(tile, hazard, || format!("{}: {message}", job.tile));
        }
        match self.with_worker(tile, |worker, memory| worker.start(&job, memory)) {
            Some(Ok(cycles)) => {
                let late = self.draw(|d| d.run);
                self.flights.start(self.now.saturating_add(cycles).saturating_add(late), Flight::Done { tile });
            }
            Some(Err(why)) => self.fault(tile, why),
            None => {}
        }
    }

    fn fault(&mut self, tile: TileId, why: String) {
        let xy = self.chip.xy(tile);
        self.flag_worker(tile, Hazard::WorkerFault, || format!("worker {xy}: {why}"));
    }

    /// A worker's run ends.
    pub fn worker_done(&mut self, tile: TileId) {
        let Some(job) = self.workers.states[tile as usize].job.take() else { return };
        if let Some(Err(why)) = self.with_worker(tile, |worker, memory| worker.finish(&job, memory)) {
            return self.fault(tile, why);
        }
        self.workers.running -= 1;
        self.worker_span(tile, job.launch.host_assigned_id.into(), job.cycle);
        self.write_times(tile, job.cycle);
        let wrote = std::mem::take(&mut self.workers.wrote);
        self.judge_results(tile, &wrote);
        self.workers.wrote = wrote;
        self.workers.wrote.clear();
        // The master is read when the run is over, and the signal is cleared before the notice leaves.
        let state = &mut self.workers.states[tile as usize];
        (state.doing, state.overtaken, state.go) = (Doing::Idle, false, None);
        if job.launch.mode == LaunchMessage::DEVICE {
            state.next = (state.next + 1) % RING;
            let at = self.layout.worker.launch + LaunchMessage::SIZE as u32 * ((state.next + RING - 1) % RING);
            self.memory.set_word(tile, at + 76, 0);
            self.memory.l1_mut(tile, at + 95, 1)[0] = 0;
            self.notify(tile);
        }
        self.clear_signal(tile);
    }

    /// If core timing is armed, the firmware writes the start and end times of the run.
    fn write_times(&mut self, tile: TileId, start: u64) {
        let block = self.layout.worker.timing + Times::DECIDES.start;
        let words = std::array::from_fn(|at| self.memory.word(tile, block + 4 * at as u32));
        let Some(times) = Times::read(words) else { return };
        let (id, tile, addr) = (tile, self.chip.xy(tile), times.addr);
        let mistake = times.mistake(tile, &self.layout);
        if let Some((hazard, message)) = mistake {
            return self.flag_worker(id, hazard, || message);
        }
        match self.memory.host_at(addr & HOST_ADDRESS, TIMES) {
            Some(place) => {
                let times = [self.time_bytes(start), self.time_bytes(self.now)].concat();
                self.memory.write(place, &times);
                self.workers.wrote.push((place, TIMES));
            }
            None => self.flag_worker(id, Hazard::PcieOutside, || {
                format!("{tile} writes its times to {addr:#x} of host memory, which is not pinned")
            }),
        }
    }

    fn notify(&mut self, tile: TileId) {
        let layout = &self.layout.worker;
        let index = self.memory.word(tile, layout.go_index).min(8);
        let go = self.memory.l1(tile, layout.go + 4 * index, 4);
        let (offset, master) = (u32::from(go[0]), Xy::new(go[1] & 63, go[2] & 63));
        self.workers.notified += 1;
        if self.chip.at(master) != Tile::Tensix(self.chip.dispatch()) {
            self.workers.astray += 1;
            return;
        }
        let arrival = self.now + self.draw(|d| d.notice);
        let stream = self.layout.dispatch.first_stream + offset;
        self.flights.start(arrival, Flight::Notice { stream, value: 1 });
    }

    /// A go word leaves through a port: earlier writes to its worker must be known to have arrived, or travel in the
    /// same class of the same port. Otherwise returns what may arrive late.
    pub fn check_go(&mut self, port: Port, tile: TileId, multicast: bool) -> Option<String> {
        let epoch = self.nius[Port::Dispatch as usize].epoch;
        let payload = self.payloads[tile as usize];
        let elsewhere = port != Port::Dispatch;
        let how = if payload.multicast == epoch && (elsewhere || !multicast) {
            "multicast"
        } else if payload.unicast == epoch && (elsewhere || multicast) {
            "unicast"
        } else {
            return None;
        };
        Some(format!("a {how} write to {} may arrive after its go signal", self.chip.xy(tile)))
    }
}
