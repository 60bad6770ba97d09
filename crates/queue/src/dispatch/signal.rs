//! Waits, streams, go signals and timestamps.

use super::Dispatcher;
use crate::machine::{Port, Stop, Wait};
use crate::sanitize::{Hazard, Notices};
use crate::wire::{GoMessage, MAX_GO_WORDS, NotifySubordinate, SendGoSignal, Timestamp, Wait as WaitCommand};

impl Dispatcher {
    /// WAIT: executes its flags in order.
    pub(super) async fn wait(&mut self, c: WaitCommand) -> Result<(), Stop> {
        if c.has(WaitCommand::BARRIER) {
            self.barrier().await;
        }
        if c.has(WaitCommand::MEMORY) {
            // Fails for an invalid address; the word is read when it is waited for.
            let _: [u8; 4] = self.core.bytes(c.addr)?;
            self.core.wait(Wait::Memory { addr: c.addr, count: c.count }).await;
        }
        let stream = u32::from(c.stream);
        if c.has(WaitCommand::STREAM) {
            if c.count > 0xFFFF {
                self.core
                    .flag(Hazard::WaitCountTooLarge, || format!("WAIT for stream {stream} to reach {}", c.count))?;
            }
            self.check_stale(stream, c.count)?;
            self.core.wait(Wait::Stream { stream, count: c.count }).await;
        }
        if c.has(WaitCommand::CLEAR_STREAM) {
            // Read, then subtract: notices that arrive in between survive.
            let mut world = self.core.world();
            world.ledger.notices[stream as usize & 63] = Notices::default();
            let value = world.stream(stream);
            world.add_to_stream(stream, value.wrapping_neg());
        }
        if c.has(WaitCommand::NOTIFY_PREFETCH) {
            let layout = self.core.layout.clone();
            if layout.sem(2) >= layout.kernel_text() {
                self.core.flag(Hazard::StallSemaphoreIsCode, || {
                    format!("NOTIFY_PREFETCH adds 1 to {:#x}, which is kernel text of the prefetcher", layout.sem(2))
                })?;
            }
            let mut world = self.core.world();
            let tile = world.chip.prefetch();
            world.add(Port::Credits, tile, layout.sem(2), 1);
        }
        Ok(())
    }

    /// Checks for a wait on a stream that still contains an already awaited count.
    fn check_stale(&self, stream: u32, count: u32) -> Result<(), Stop> {
        let mut world = self.core.world();
        let notices = &mut world.ledger.notices[stream as usize & 63];
        let before = *notices;
        notices.passed = before.passed.max(count);
        match before.stale(count) {
            true => world.flag(self.core.actor, Hazard::WaitStale, || {
                format!(
                    "the wait for {count} on stream {stream} passes as one before it did: {} workers were started since it was cleared",
                    before.due
                )
            }),
            false => Ok(()),
        }
    }

    /// SET_GO_SIGNAL_NOC_DATA.
    pub(super) fn set_go_list(&mut self, words: u32, at: u32) -> Result<(), Stop> {
        let there = self.reader.ahead(&self.core, self.cmd_ptr)?;
        if words > MAX_GO_WORDS || words > there / 4 {
            self.core.flag(Hazard::GoListOverrun, || {
                format!("{words} words; the list has {MAX_GO_WORDS}, and {} have been relayed", there / 4)
            })?;
        }
        let all = words;
        let words = words.min(MAX_GO_WORDS).min(there / 4);
        for (i, word) in self.go_list[..words as usize].iter_mut().enumerate() {
            *word = self.core.word(self.cmd_ptr + 4 * i as u32);
        }
        self.go_count = words;
        self.end = self.cmd_ptr + 4 * words;
        // The pointer moves by the announced number.
        let next = u64::from(self.cmd_ptr - at) + 4 * u64::from(all);
        let next = u64::from(at) + next.next_multiple_of(16);
        self.cmd_ptr = u32::try_from(next).map_err(|_| {
            self.core.lose(Hazard::StalePage, || format!("a list of {all} words ends beyond all memory"))
        })?;
        Ok(())
    }

    /// SEND_GO_SIGNAL.
    pub(super) async fn send_go(&mut self, c: SendGoSignal, at: u32) -> Result<(), Stop> {
        let index = usize::from(c.noc_data_start_index) + usize::from(c.num_unicast_txns);
        if index > self.go_count as usize {
            self.core.flag(Hazard::GoIndexOutside, || {
                format!("targets {} to {index} are signalled, and {} were set", c.noc_data_start_index, self.go_count)
            })?;
        }
        send(&self.core, Port::Dispatch, c, at, &self.go_list).await
    }

    /// NOTIFY_SUBORDINATE_GO_SIGNAL.
    pub(super) async fn notify_subordinate(&mut self, c: NotifySubordinate) {
        if c.wait != 0 {
            self.barrier().await;
        }
        for bit in (0..16).filter(|bit| c.index_bitmask >> bit & 1 != 0) {
            let addr = self.core.layout.dispatch.sync_sems + 16 * bit;
            self.core.set_word(addr, self.core.word(addr).wrapping_add(1));
        }
    }

    /// TIMESTAMP.
    pub(super) async fn timestamp(&mut self, c: Timestamp, at: u32) -> Result<(), Stop> {
        {
            let mut world = self.core.world();
            let (tile, time) = (world.chip.dispatch(), world.time_bytes(world.now));
            world.memory.l1_mut(tile, at, 8).copy_from_slice(&time);
            world.dispatch_write(Port::Dispatch, at, c.noc_xy, c.addr.into(), 8)?;
        }
        self.barrier().await;
        Ok(())
    }
}

/// Sends a go word: after a wait for the stream, to a rectangle if there is one, then to listed tiles.
pub(crate) async fn send(
    core: &crate::machine::Core,
    port: Port,
    c: SendGoSignal,
    at: u32,
    list: &[u32; MAX_GO_WORDS as usize],
) -> Result<(), Stop> {
    let dispatch = core.look().chip.xy(core.look().chip.dispatch());
    let master = c.go_signal >> 8 & 0xFFFF;
    if c.go_signal >> 24 == 0x80 && master != u32::from(dispatch.y) << 8 | u32::from(dispatch.x) {
        core.flag(Hazard::GoMaster, || {
            format!(
                "the go word {:#010x} names ({},{}); the dispatch core is {dispatch}",
                c.go_signal,
                master & 0xFF,
                master >> 8
            )
        })?;
    }
    core.wait(Wait::Stream { stream: c.wait_stream, count: c.wait_count }).await;
    // The word is sent from the command's own first bytes: they have the same alignment as the target.
    core.set_word(at, c.go_signal);
    count_due(core, c);
    if c.multicast_go_offset != SendGoSignal::NO_MULTICAST {
        let addr = core.layout.worker.go + 4 * u32::from(c.multicast_go_offset);
        core.world().go_multicast(port, at, addr)?;
    }
    let mut world = core.world();
    for i in 0..c.num_unicast_txns {
        // The firmware's index has 8 bits.
        let xy = list[usize::from(c.noc_data_start_index.wrapping_add(i))];
        world.go_write(port, at, xy)?;
    }
    Ok(())
}

/// Records the workers that a go signal makes notify a stream.
fn count_due(core: &crate::machine::Core, c: SendGoSignal) {
    let [offset, _, _, signal] = c.go_signal.to_le_bytes();
    if !matches!(signal, GoMessage::GO | GoMessage::RESET_READ_PTR | GoMessage::REPLAY_TRACE) {
        return;
    }
    let mut world = core.world();
    let mut workers = u64::from(c.num_unicast_txns);
    if c.multicast_go_offset != SendGoSignal::NO_MULTICAST {
        workers += world.chip.workers().len() as u64;
    }
    let stream = world.layout.dispatch.first_stream + u32::from(offset);
    world.ledger.notices[stream as usize & 63].due += workers;
}
