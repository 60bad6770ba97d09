//! The prefetcher.

use super::*;

#[test]
fn prefetch_commands_that_the_kernel_does_not_have() {
    by_command(Hazard::PrefetchIllegal, fixed(), |q| {
        q.send_together(&alone(Prefetch::RelayLinearH(RelayLinearH::default())), 0)
    });
    by_command(Hazard::PrefetchIllegal, fixed(), |q| q.push(&[99; 64]));
}

#[test]
fn relays_of_too_many_pages() {
    let found = by_command(Hazard::RelayTooManyPages, small(), |q| {
        q.send(&write_linear(WORKER.word(), 0x4_0000, vec![1; 10 * 4096 - 32], 0))
    });
    assert!(found.message.contains("10 pages"), "{found}");
    by_command(Hazard::RelayNeverFits, small(), |q| {
        q.send(&write_linear(WORKER.word(), 0x4_0000, vec![1; 13 * 4096 - 32], 0))
    });
}

#[test]
fn credits_that_nobody_can_give_back() {
    // The dispatcher has 7 pages and returns a block of 4 only once it is one block further: 9 are free, 12 are needed.
    let found = by_command(Hazard::CreditDeadlock, small(), |q| {
        for _ in 0..7 {
            q.send(&wait_barrier())?;
        }
        q.send(&write_linear(WORKER.word(), 0x4_0000, vec![1; 12 * 4096 - 32], 0))
    });
    assert!(found.message.contains("12 pages with 9 free"), "{found}");
    assert!(found.notes.iter().any(|n| n.contains("9 of 16 free") && n.contains("7 of them held back")), "{found}");
}

#[test]
fn a_page_that_is_begun_and_not_handed_over() {
    by_command(Hazard::NoflushDangling, fixed(), |q| {
        let header = write_linear(WORKER.word(), 0x4_0000, Vec::new(), 0).encode();
        q.send_together(&[noflush(header), relay_inline(host_event(1).encode()).expect("fits")], 0)
    });
}

#[test]
fn a_page_that_is_handed_over_and_was_not_taken() {
    by_command(Hazard::RelayWithoutNoflush, fixed(), |q| {
        let xy = q.board().banks[0].ports[0].word();
        q.send_together(&alone(Prefetch::RelayLinear(RelayLinear { length: 64, noc_xy: xy, addr: 0 })), 0)
    });
}

#[test]
fn a_semaphore_that_is_code() {
    by_command(Hazard::StallSemaphoreIsCode, fixed(), |q| q.send_together(&alone(Prefetch::Stall(Bare {})), 0));
    by_command(Hazard::StallSemaphoreIsCode, fixed(), |q| {
        let wait = wire::Wait { flags: wire::Wait::NOTIFY_PREFETCH, ..Default::default() };
        q.send(&bare(Dispatch::Wait(wait)))
    });
}

/// An exec_buf of one page with these bytes, after a slot with or without the stall flag.
fn exec(q: &mut Q, log_page_size: u32, page: &[u8], flags: u16) -> Done {
    let bank = q.board().banks[0].ports[0];
    q.device().poke(bank, 0x1_0000, page).expect("DRAM");
    let exec = ExecBuf { base_addr: 0x1_0000, log_page_size, pages: 1 };
    q.send_together(&alone(Prefetch::ExecBuf(exec)), flags)
}

fn nothing() -> Vec<u8> {
    PrefetchCommand::bare(Prefetch::RelayInline(Inline { dispatcher_type: 0, length: 0, stride: 64 })).encode()
}

/// A page that only contains the end of a trace.
fn end_of_trace() -> Vec<u8> {
    let inline = Inline { dispatcher_type: 0, length: 0, stride: 64 };
    let mut page = PrefetchCommand::bare(Prefetch::ExecBufEnd(inline)).encode();
    page.resize(1024, 0);
    page
}

#[test]
fn traces_that_go_wrong() {
    by_command(Hazard::ExecBufWithoutStall, fixed(), |q| exec(q, 10, &end_of_trace(), 0));
    by_command(Hazard::ExecBufPageMisfit, fixed(), |q| exec(q, 19, &end_of_trace(), STALL));
    by_command(Hazard::ExecBufRunsOut, fixed(), |q| exec(q, 10, &nothing().repeat(16), STALL));
}

#[test]
fn relays_to_a_subordinate_that_grants_nothing() {
    let found = by_command(Hazard::SubordinateNoCredits, fixed(), |q| {
        let mut record = event_record();
        record[1] = 1;
        q.push(&record)
    });
    assert!(found.notes[2].contains("idles"), "{found}");
}

pub fn append(q: &mut Q, length: u64, relay: Prefetch) -> Done {
    let header = WriteLinear { noc_xy: WORKER.word(), addr: 0x4_0000, length, ..Default::default() };
    let header = bare(Dispatch::WriteLinear(header)).encode();
    q.send_together(&[noflush(header), PrefetchCommand::bare(relay)], 0)
}

/// WRITE_LINEAR to bank 0, with the coordinates of the dispatcher's network.
fn write_bank(q: &mut Q, addr: u64, data: Vec<u8>) -> Done {
    let xy = q.board().banks[0].ports[1].word();
    q.send(&write_linear(xy, addr, data, 0))
}

#[test]
fn memory_that_is_read_before_it_was_written() {
    fn relay(q: &mut Q, addr: u64) -> Done {
        let xy = q.board().banks[0].ports[0].word();
        append(q, 64, Prefetch::RelayLinear(RelayLinear { length: 64, noc_xy: xy, addr }))
    }
    by_command(Hazard::RelayBeforeWrite, fixed(), |q| {
        write_bank(q, 0x2_0000, vec![1; 64])?;
        relay(q, 0x2_0000)
    });
    let mut late = fixed();
    late.delays.write = Delay::new(100_000, 0);
    // The dispatcher has sent it, but it has not arrived yet.
    by_command(Hazard::RelayBeforeWrite, late, |q| {
        write_bank(q, 0x2_0000, vec![1; 64])?;
        q.device().wait(30_000)?;
        relay(q, 0x2_0000)
    });
    by_command(Hazard::ExecBufBeforeWrite, fixed(), |q| {
        write_bank(q, 0x1_0000, vec![1; 64])?;
        exec(q, 10, &end_of_trace(), STALL)
    });
    // Other bytes, and the same ones after a barrier and a wait of the host.
    let clean = findings(fixed(), acknowledge, |q| {
        write_bank(q, 0x2_0000, vec![1; 64])?;
        relay(q, 0x2_0040)?;
        q.send(&wait_barrier())?;
        q.finish()?;
        relay(q, 0x2_0000)
    });
    assert_eq!(clean, []);
}

#[test]
fn results_that_are_read_before_the_worker_is_done() {
    fn launch(q: &mut Q, flags: u8) -> Done {
        let wait = |flags, count| {
            let wait = wire::Wait { flags, stream: 48, count, ..Default::default() };
            bare(Dispatch::Wait(wait))
        };
        q.send(&set_go_tiles(&[WORKER]))?;
        q.send(&send_go(q.board().go_word(), 1, 48).expect("one"))?;
        q.send(&wait(wire::Wait::STREAM | wire::Wait::CLEAR_STREAM | flags, 1))
    }
    fn relay(q: &mut Q, tile: Xy) -> Done {
        append(q, 64, Prefetch::RelayLinear(RelayLinear { length: 64, noc_xy: tile.word(), addr: 0x5_0000 }))
    }
    let found = by_command(Hazard::RelayBeforeDone, fixed(), |q| {
        launch(q, 0)?;
        relay(q, WORKER)
    });
    assert!(found.message.contains("SEND_GO_SIGNAL"), "{found}");
    // An event only guarantees it if the host takes the event before it queues the relay.
    by_command(Hazard::RelayBeforeDone, fixed(), |q| {
        launch(q, 0)?;
        q.event()?;
        relay(q, WORKER)
    });
    let clean = findings(fixed(), acknowledge, |q| {
        launch(q, 0)?;
        relay(q, Xy::new(3, 3))?;
        q.finish()?;
        relay(q, WORKER)
    });
    assert_eq!(clean, []);
    // The dispatcher notifies the prefetcher, which waits for that.
    let clean = findings(small(), acknowledge, |q| {
        launch(q, wire::Wait::NOTIFY_PREFETCH)?;
        q.send_together(&alone(Prefetch::Stall(Bare {})), 0)?;
        relay(q, WORKER)
    });
    assert_eq!(clean, []);
}

#[test]
fn relays_of_the_queues_own_memory() {
    for (noc_xy, addr) in [(PCIE_XY, 0x4400_0100 | PCIE_NOC_BIT), (board().dispatch.word(), 0x4_0000)] {
        let mut queue = open(fixed(), acknowledge());
        let relay = RelayLinear { length: 64, noc_xy, addr };
        let _ = append(&mut queue, 64, Prefetch::RelayLinear(relay)).and_then(|()| queue.finish());
        let found: Vec<Hazard> = queue.device().findings().iter().map(|finding| finding.hazard).collect();
        assert_eq!(found, [Hazard::RelayFromQueue]);
    }
}

#[test]
fn stalls_and_notices_that_do_not_match() {
    by_command(Hazard::StallMiscounted, small(), |q| {
        let notify = wire::Wait { flags: wire::Wait::NOTIFY_PREFETCH, ..Default::default() };
        q.send(&bare(Dispatch::Wait(notify)))?;
        q.send(&bare(Dispatch::Wait(notify)))?;
        q.send_together(&alone(Prefetch::Stall(Bare {})), 0)?;
        q.event().map(|_| ())
    });
}

/// A worker that writes to DRAM when it ends.
struct Writes;

impl Worker for Writes {
    fn start(&mut self, _: &Job, _: &mut WorkerMemory<'_>) -> Result<u64, String> {
        Ok(20_000)
    }

    fn finish(&mut self, _: &Job, memory: &mut WorkerMemory<'_>) -> Result<(), String> {
        memory.write_dram(0, 0x2_0000, &[7; 64])
    }
}

#[test]
fn results_in_dram_that_are_read_too_early() {
    fn launch_and_relay(q: &mut Q, addr: u64, wait: bool) -> Done {
        q.send(&set_go_tiles(&[WORKER]))?;
        q.send(&send_go(q.board().go_word(), 1, 48).expect("one"))?;
        q.send(&wait_stream(48, 1))?;
        if wait {
            q.finish()?;
        }
        let xy = q.board().banks[0].ports[0].word();
        append(q, 64, Prefetch::RelayLinear(RelayLinear { length: 64, noc_xy: xy, addr }))
    }
    // The prefetcher reads it before the worker writes it or, if the record comes late enough, afterwards: nothing
    // orders the two.
    for late in [0, 60_000] {
        let mut queue = open(fixed().with_mode(AtError::Silicon), Box::new(Writes));
        queue.send(&set_go_tiles(&[WORKER])).expect("queued");
        queue.send(&send_go(queue.board().go_word(), 1, 48).expect("one")).expect("queued");
        queue.send(&wait_stream(48, 1)).expect("queued");
        queue.device().wait(late).expect("time passes");
        let xy = queue.board().banks[0].ports[0].word();
        let relay = RelayLinear { length: 64, noc_xy: xy, addr: 0x2_0000 };
        append(&mut queue, 64, Prefetch::RelayLinear(relay)).expect("queued");
        queue.finish().expect("runs");
        let hazards: Vec<Hazard> = queue.device().findings().iter().map(|finding| finding.hazard).collect();
        assert_eq!(hazards, [Hazard::RelayBeforeDone], "{late} ns later");
    }
    assert_eq!(findings(fixed(), || Box::new(Writes), |q| launch_and_relay(q, 0x2_0000, true)), []);
    assert_eq!(findings(fixed(), || Box::new(Writes), |q| launch_and_relay(q, 0x2_0040, false)), []);
}

/// A machine reports hazards that are visible in the bytes alone, as the linter does, whoever drives it.
#[test]
fn what_the_linter_sees_is_named_by_the_machine() {
    let found = by_command(Hazard::CommandSkipped, fixed(), |q| {
        let mut payload = wait_barrier().encode();
        payload.extend(wait_barrier().encode());
        q.push(&relay_inline(payload).expect("fits").encode())
    });
    assert!(found.message.contains("look like another one"), "{found}");
    by_command(Hazard::GoBeforePayload, fixed(), |q| {
        write_bank(q, 0x2_0000, vec![1; 64])?;
        q.send(&set_go_tiles(&[WORKER]))?;
        q.send(&send_go(q.board().go_word(), 1, 48).expect("one"))
    });
}

#[test]
fn relays_of_what_was_not_fetched() {
    let found = by_command(Hazard::RelayUnfetched, fixed(), |q| {
        let mut record = event_record();
        record[4..8].copy_from_slice(&200u32.to_le_bytes());
        q.push(&record)
    });
    assert!(found.message.contains("152 of the 200 bytes"), "{found}");
    by_command(Hazard::RelayUnfetched, fixed(), |q| {
        append(q, 64, Prefetch::RelayPagedPacked(RelayPagedPacked { count: 20, total_length: 64, stride: 64 }))
    });
}

#[test]
fn relays_that_leave_nothing_to_write() {
    by_command(Hazard::LengthAdjustUnderflow, fixed(), |q| {
        let paged =
            RelayPaged { is_dram_and_length_adjust: 0x8000 | 64, page_size: 64, pages: 1, ..Default::default() };
        append(q, 64, Prefetch::RelayPaged(paged))
    });
}

#[test]
fn packed_relays_that_do_not_add_up() {
    by_command(Hazard::PackedLengthMismatch, fixed(), |q| {
        let sub = PagedPackedSub { start_page: 0, log_page_size: 10, base_addr: 0, length: 64 };
        let header = WriteLinear { noc_xy: WORKER.word(), addr: 0x4_0000, length: 128, ..Default::default() };
        let packed = PrefetchCommand {
            header: Prefetch::RelayPagedPacked(RelayPagedPacked { count: 1, total_length: 128, stride: 64 }),
            subs: RelaySubs::PagedPacked(vec![sub]),
            payload: Vec::new(),
            padding: vec![0; 36],
        };
        q.send_together(&[noflush(bare(Dispatch::WriteLinear(header)).encode()), packed], 0)
    });
}

#[test]
fn a_ring_buffer_where_there_is_none() {
    by_command(Hazard::RingBufferOverrun, fixed(), |q| {
        q.send_together(
            &alone(Prefetch::PagedToRingbuffer(PagedToRingbuffer {
                length: 64,
                log2_page_size: 10,
                ..Default::default()
            })),
            0,
        )
    });
}
