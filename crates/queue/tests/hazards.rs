//! Every mistake has a driver that makes it, and ends in its own name: with the command, the record, and what all actors were
//! doing. The same drivers run on a device that goes on as silicon would, which may hang, but neither panics nor loops.

use slipring_queue::board::{Board, built_in};
use slipring_queue::host::{Device, DeviceError, HostError, Kernels, Queue, STALL, Settings, WindowTarget};
use slipring_queue::layout::{PCIE_NOC_BIT, SysmemLayout};
use slipring_queue::machine::{Config, Delay, Machine, Quirks};
use slipring_queue::sanitize::{Finding, Hazard, Mode};
use slipring_queue::wire::*;
use slipring_queue::worker::{Acknowledge, Job, Worker, WorkerMemory};
use slipring_queue::{Layout, wire};

type Q = Queue<Machine>;
type Done = Result<(), HostError>;

const WORKER: Xy = Xy::new(1, 2);

fn board() -> Board {
    built_in("p100").expect("a built-in board")
}

fn fixed() -> Config {
    Config::new(board())
}

/// Rings of 16 pages in blocks of 4, a small completion ring, and semaphores for everything.
fn small() -> Config {
    let mut layout = Layout { sems: 4, ..Layout::default() };
    layout.dispatch.cb_pages = 16;
    layout.sysmem = SysmemLayout::new(0x4_0000, 4 * 4096);
    fixed().with_layout(layout)
}

fn open(config: Config, worker: Box<dyn Worker>) -> Q {
    let (board, layout) = (config.board.clone(), config.layout.clone());
    let machine = Machine::with_worker(config, worker).expect("a possible configuration");
    let settings = Settings { poll_ns: 1000, completion_timeout_ns: 30_000_000, ..Settings::CAREFUL };
    Queue::open(machine, board, layout, settings, &Kernels::default()).expect("opens")
}

/// Runs a driver that makes a mistake, strictly and as silicon would; the strict device's findings.
fn findings(config: Config, worker: fn() -> Box<dyn Worker>, act: fn(&mut Q) -> Done) -> Vec<Finding> {
    let run = |mode| {
        let mut queue = open(config.clone().with_mode(mode), worker());
        if act(&mut queue).is_ok() {
            let _ = queue.finish();
        }
        queue.device().findings()
    };
    let (strict, silicon) = (run(Mode::Strict), run(Mode::Silicon));
    for finding in strict.iter().filter(|f| f.severity() == slipring_queue::sanitize::Severity::Error) {
        assert!(silicon.iter().any(|f| f.hazard == finding.hazard), "both name {finding}: {silicon:#?}");
    }
    strict
}

fn acknowledge() -> Box<dyn Worker> {
    Box::new(Acknowledge { cycles: 20_000 })
}

/// The mistake is found under its name, by a command of a record.
fn by_command(hazard: Hazard, config: Config, act: fn(&mut Q) -> Done) -> Finding {
    let found = anywhere(hazard, config, act);
    assert!(found.record.is_some() && found.command.is_some(), "{found}");
    found
}

/// The mistake is found under its name.
fn anywhere(hazard: Hazard, config: Config, act: fn(&mut Q) -> Done) -> Finding {
    let all = findings(config, acknowledge, act);
    let found = all.iter().find(|f| f.hazard == hazard);
    let found = found.unwrap_or_else(|| panic!("{hazard:?} is not among {all:#?}")).clone();
    assert!(found.notes.len() >= 5, "what all actors were doing: {found}");
    found
}

fn bare(header: Dispatch) -> DispatchCommand {
    DispatchCommand::bare(header)
}

fn write_linear(xy: u32, addr: u64, data: Vec<u8>, num_mcast_dests: u8) -> DispatchCommand {
    let header = WriteLinear { num_mcast_dests, write_offset_index: 0, noc_xy: xy, addr, length: data.len() as u64 };
    DispatchCommand { header: Dispatch::WriteLinear(header), subs: Subs::None, data }
}

fn noflush(payload: Vec<u8>) -> PrefetchCommand {
    let inline = Inline { dispatcher_type: 0, length: payload.len() as u32, stride: 64 };
    let padding = vec![0; 48 - payload.len()];
    PrefetchCommand { header: Prefetch::RelayInlineNoflush(inline), subs: RelaySubs::None, payload, padding }
}

fn alone(header: Prefetch) -> [PrefetchCommand; 1] {
    [PrefetchCommand::bare(header)]
}

fn window(queue: &mut Q, tile: Xy) -> slipring_queue::host::Window {
    queue.device().open(2 << 20, WindowTarget::tile(tile, 0)).expect("a window")
}

/// Stores a slot, whatever the driver thinks of it.
fn slot(queue: &mut Q, number: u32, value: u16) -> Done {
    let (core, addr) = (queue.board().prefetch, queue.layout().prefetch.q_base + 2 * number);
    let window = window(queue, core);
    Ok(queue.device().write16(window, addr.into(), value)?)
}

/// Writes issue memory, whatever the driver thinks of it.
fn issue(queue: &mut Q, offset: u32, bytes: &[u8]) -> Done {
    let (sysmem, at) = (queue.sysmem(), queue.layout().sysmem.issue + offset);
    Ok(queue.device().host_write(sysmem, at.into(), bytes)?)
}

fn event_record() -> Vec<u8> {
    relay_inline(host_event(1).encode()).expect("fits").encode()
}

// The host and the fetch queue.

#[test]
fn a_slot_that_is_still_full() {
    let found = anywhere(Hazard::SlotOverwritten, fixed(), |q| {
        issue(q, 0, &[event_record(), event_record()].concat())?;
        slot(q, 0, 4)?;
        // The second waits until the first has been read.
        slot(q, 1, 4)?;
        slot(q, 1, 8)
    });
    assert!(found.message.contains("slot 1"), "{found}");
}

#[test]
fn slots_in_another_order() {
    anywhere(Hazard::SlotOutOfOrder, fixed(), |q| slot(q, 5, 4));
}

#[test]
fn half_a_slot() {
    anywhere(Hazard::SlotTorn, fixed(), |q| {
        let (core, addr) = (q.board().prefetch, q.layout().prefetch.q_base);
        let window = window(q, core);
        Ok(q.device().write(window, addr.into(), &[4])?)
    });
}

#[test]
fn a_record_of_80_bytes() {
    let found = anywhere(Hazard::RecordUnaligned, fixed(), |q| {
        issue(q, 0, &event_record())?;
        slot(q, 0, 5)?;
        q.device().wait(10_000)?;
        Ok(())
    });
    assert_eq!(found.record.map(|r| (r.index, r.offset, r.length)), Some((0, 0, 80)));
}

#[test]
fn records_without_bytes() {
    anywhere(Hazard::RecordEmpty, fixed(), |q| slot(q, 0, 0));
    anywhere(Hazard::RecordEmpty, fixed(), |q| slot(q, 0, STALL));
}

#[test]
fn a_stall_that_nothing_ends() {
    by_command(Hazard::StallWithoutExecBuf, fixed(), |q| q.push_with(&event_record(), STALL));
}

#[test]
fn a_record_larger_than_the_command_area() {
    anywhere(Hazard::RecordTooLarge, fixed(), |q| {
        slot(q, 0, (300 << 10 >> 4) as u16)?;
        q.device().wait(10_000)?;
        Ok(())
    });
}

#[test]
fn issue_memory_that_is_still_needed() {
    let found = anywhere(Hazard::IssueLapped, fixed(), |q| {
        for _ in 0..3 {
            q.push(&event_record())?;
        }
        issue(q, 128, &[0; 64])
    });
    assert!(found.message.contains("record 2"), "{found}");
    let found = anywhere(Hazard::IssueInFlight, fixed(), |q| {
        q.push(&event_record())?;
        issue(q, 32, &[0; 4])
    });
    assert!(found.message.contains("record 0"), "{found}");
}

#[test]
fn padding_taken_for_a_command() {
    let found = by_command(Hazard::RecordTrailing, fixed(), |q| q.push(&[event_record(), vec![0; 64]].concat()));
    assert_eq!(found.command.and_then(|c| c.at), Some(64));
    // A stride that leaves the record, and one that goes nowhere.
    for stride in [128u32, 0] {
        let act = if stride == 0 {
            |q: &mut Q| {
                let mut record = event_record();
                record[8..12].fill(0);
                q.push(&record)
            }
        } else {
            |q: &mut Q| {
                let mut record = event_record();
                record[8..12].copy_from_slice(&128u32.to_le_bytes());
                q.push(&record)
            }
        };
        by_command(Hazard::RecordTrailing, fixed(), act);
    }
}

#[test]
fn memory_that_is_pinned_elsewhere() {
    anywhere(Hazard::SysmemMisplaced, fixed(), |q| {
        let (core, addr) = (q.board().prefetch, q.layout().prefetch.pcie_rd_ptr);
        let window = window(q, core);
        Ok(q.device().write32(window, addr.into(), 0x100)?)
    });
    let layout = Layout::default();
    let settings = Settings { staging_bytes: 0, ..Settings::CAREFUL };
    let machine = Machine::new(fixed()).expect("a machine");
    let error = Queue::open(machine, board(), layout, settings, &Kernels::default()).expect_err("is misplaced");
    assert!(matches!(error, HostError::Misplaced { .. }), "{error}");
}

/// Starts the prefetch core with a launch message and semaphores of one's own.
fn start(base: u32, credits: u32) -> Vec<Hazard> {
    let (board, layout) = (board(), Layout::default());
    let mut machine = Machine::new(fixed().with_mode(Mode::Silicon)).expect("a machine");
    let window = machine.open(2 << 20, WindowTarget::tile(board.prefetch, 0)).expect("a window");
    machine.write32(window, layout.sem(0).into(), credits).expect("a store");
    let mut launch = Vec::new();
    let message = LaunchMessage {
        kernel_config_base: base,
        sem_offset: 16,
        enables: 1,
        mode: LaunchMessage::HOST,
        ..Default::default()
    };
    message.append(&mut launch);
    machine.write(window, layout.worker.launch.into(), &launch).expect("a store");
    machine.write32(window, layout.worker.go.into(), 0x8000_0000).expect("a store");
    machine.findings().iter().map(|f| f.hazard).collect()
}

#[test]
fn kernels_that_start_with_other_semaphores() {
    assert_eq!(start(0x86B0, 128), []);
    assert_eq!(start(0x82B0, 128), [Hazard::KernelBaseMismatch]);
    assert_eq!(start(0x86B0, 0), [Hazard::CreditsNotInitialised]);
}

// The prefetcher.

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
    // 7 pages are with the dispatcher, which gives back blocks of 4 only when it is a block further: 9 are free, 12 are needed.
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

/// An exec_buf of one page that holds these bytes, behind a slot with or without the stall flag.
fn exec(q: &mut Q, log_page_size: u32, page: &[u8], flags: u16) -> Done {
    let bank = q.board().banks[0].ports[0];
    q.device().poke(bank, 0x1_0000, page).expect("DRAM");
    let exec = ExecBuf { base_addr: 0x1_0000, log_page_size, pages: 1 };
    q.send_together(&alone(Prefetch::ExecBuf(exec)), flags)
}

fn nothing() -> Vec<u8> {
    PrefetchCommand::bare(Prefetch::RelayInline(Inline { dispatcher_type: 0, length: 0, stride: 64 })).encode()
}

/// A page that holds the end of a trace and nothing else.
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

fn append(q: &mut Q, length: u64, relay: Prefetch) -> Done {
    let header = WriteLinear { noc_xy: WORKER.word(), addr: 0x4_0000, length, ..Default::default() };
    let header = bare(Dispatch::WriteLinear(header)).encode();
    q.send_together(&[noflush(header), PrefetchCommand::bare(relay)], 0)
}

/// WRITE_LINEAR to bank 0, as the dispatcher's network reaches it.
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
    // The dispatcher has sent it, and it is still on its way.
    by_command(Hazard::RelayBeforeWrite, late, |q| {
        write_bank(q, 0x2_0000, vec![1; 64])?;
        q.device().wait(30_000)?;
        relay(q, 0x2_0000)
    });
    by_command(Hazard::ExecBufBeforeWrite, fixed(), |q| {
        write_bank(q, 0x1_0000, vec![1; 64])?;
        exec(q, 10, &end_of_trace(), STALL)
    });
    // Other bytes, and the same ones behind a barrier and a wait of the host.
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

// The dispatcher.

#[test]
fn dispatch_commands_that_the_kernel_does_not_have() {
    by_command(Hazard::DispatchIllegal, fixed(), |q| q.send(&bare(Dispatch::Sink(BareDispatch {}))));
    by_command(Hazard::DispatchIllegal, fixed(), |q| q.push(&relay_inline(vec![77; 16]).expect("fits").encode()));
}

#[test]
fn bytes_that_nobody_wrote() {
    let found = by_command(Hazard::StalePage, fixed(), |q| {
        let whole = write_linear(WORKER.word(), 0x4_0000, vec![1; 128], 0).encode();
        q.push(&relay_inline(whole[..100].to_vec()).expect("fits").encode())
    });
    assert!(found.message.contains("160 bytes") && found.message.contains("100 were written"), "{found}");
}

fn packed(q: &mut Q, count: usize, size: usize, shared: bool) -> Done {
    let tiles: Vec<Xy> = std::iter::repeat_n(WORKER, count).collect();
    let each = vec![vec![1; size]; count];
    let packets = if shared { Packets::Shared(&each[0]) } else { Packets::Each(&each) };
    q.send(&wire::write_packed(&tiles, 0x4_0000, packets).expect("fits the wire"))
}

#[test]
fn packed_writes_that_do_not_fit() {
    by_command(Hazard::PackedTooMany, fixed(), |q| packed(q, 119, 16, false));
    by_command(Hazard::PackedTooLarge, fixed(), |q| packed(q, 2, 5000, false));
    by_command(Hazard::NoStrideCrossesPage, fixed(), |q| packed(q, 2, 4090, true));
}

#[test]
fn multicasts_that_go_wrong() {
    fn to(q: &mut Q, rect: Rect, dests: u8) -> Done {
        q.send(&write_linear(rect.word(), 0x4_0000, vec![1; 64], dests))
    }
    let found = by_command(Hazard::MulticastCount, fixed(), |q| to(q, Rect::new(Xy::new(1, 2), Xy::new(2, 3)), 5));
    assert!(found.message.contains("4 tiles that acknowledge; 5 were announced"), "{found}");
    by_command(Hazard::MulticastTargets, fixed(), |q| to(q, Rect::new(Xy::new(7, 2), Xy::new(10, 3)), 4));
    by_command(Hazard::MulticastTargets, fixed(), |q| to(q, Rect::new(Xy::new(13, 2), Xy::new(14, 4)), 6));
    by_command(Hazard::MulticastCorners, fixed(), |q| to(q, Rect::new(Xy::new(3, 3), Xy::new(1, 2)), 6));
    by_command(Hazard::MulticastBackToBack, fixed(), |q| {
        to(q, Rect::new(Xy::new(1, 2), Xy::new(2, 3)), 4)?;
        to(q, Rect::new(Xy::new(1, 2), Xy::new(2, 3)), 4)
    });
    by_command(Hazard::MulticastLinked, fixed(), |q| {
        let mut command = wire::write_packed_large(&[Rect::new(WORKER, WORKER)], 0x4_0000, &[1; 16]).expect("fits");
        if let Subs::Large(subs) = &mut command.subs {
            subs[0].flags = 0;
        }
        q.send(&command)
    });
}

/// A barrier behind a multicast with too many announced destinations: on silicon it hangs, and the report says why.
#[test]
fn acknowledgements_that_nobody_sends() {
    let mut queue = open(fixed().with_mode(Mode::Silicon), acknowledge());
    let rect = Rect::new(Xy::new(1, 2), Xy::new(2, 3));
    queue.send(&write_linear(rect.word(), 0x4_0000, vec![1; 64], 6)).expect("queued");
    queue.send(&wait_barrier()).expect("queued");
    let Err(HostError::Device(DeviceError::Violation(hang))) = queue.finish() else { panic!("it hangs") };
    assert_eq!(hang.hazard, Hazard::MulticastCount);
    assert!(hang.message.contains("2 acknowledgements"), "{hang}");
    assert_eq!(hang.command.map(|c| (c.index, c.name)), Some((1, "WAIT")));
}

fn launch(q: &mut Q, go: u32, wait: u32) -> Done {
    q.send(&wait_barrier())?;
    q.send(&set_go_tiles(&[WORKER]))?;
    q.send(&wait_stream(48, 0))?;
    q.send(&send_go(go, 1, 48).expect("one"))?;
    q.send(&wait_stream(48, wait))
}

#[test]
fn launches_that_go_wrong() {
    by_command(Hazard::GoMaster, fixed(), |q| launch(q, 0x8000_0000, 1));
    by_command(Hazard::WaitCountTooLarge, fixed(), |q| q.send(&wait_stream(48, 70_000)));
    let found = by_command(Hazard::WaitUnreachable, fixed(), |q| launch(q, q.board().go_word(), 3));
    assert!(found.message.contains("stays at 1") && found.message.contains("1 workers were launched"), "{found}");
    by_command(Hazard::GoListOverrun, fixed(), |q| q.send(&set_go_tiles(&[WORKER; 300])));
    by_command(Hazard::GoIndexOutside, fixed(), |q| {
        q.send(&set_go_tiles(&[WORKER; 2]))?;
        q.send(&send_go(q.board().go_word(), 3, 48).expect("three"))
    });
    by_command(Hazard::GoBeforePayload, fixed(), |q| {
        q.send(&set_go_tiles(&[WORKER]))?;
        q.send(&wire::write_packed_large(&[Rect::new(WORKER, WORKER)], 0x8700, &[1; 16]).expect("fits"))?;
        q.send(&send_go(q.board().go_word(), 1, 48).expect("one"))
    });
    by_command(Hazard::GoWhileRunning, fixed(), |q| {
        q.send(&set_go_tiles(&[WORKER]))?;
        q.send(&send_go(q.board().go_word(), 1, 48).expect("one"))?;
        q.send(&wait_barrier())?;
        q.send(&timestamp(PCIE_XY, q.layout().sysmem.noc(q.layout().sysmem.timestamps) as u32))?;
        q.send(&send_go(q.board().go_word(), 1, 48).expect("one"))
    });
    by_command(Hazard::WriteWhileRunning, fixed(), |q| {
        q.send(&set_go_tiles(&[WORKER]))?;
        q.send(&send_go(q.board().go_word(), 1, 48).expect("one"))?;
        q.send(&timestamp(PCIE_XY, q.layout().sysmem.noc(q.layout().sysmem.timestamps) as u32))?;
        q.send(&write_linear(WORKER.word(), 0x8700, vec![1; 16], 0))
    });
    by_command(Hazard::WaitStale, fixed(), |q| {
        for _ in 0..2 {
            q.send(&set_go_tiles(&[WORKER]))?;
            q.send(&send_go(q.board().go_word(), 1, 48).expect("one"))?;
            let wait = wire::Wait { flags: wire::Wait::STREAM, stream: 48, count: 1, ..Default::default() };
            q.send(&bare(Dispatch::Wait(wait)))?;
        }
        Ok(())
    });
    let mut slow = fixed();
    slow.delays.poll = Delay::new(5000, 0);
    by_command(Hazard::GoBeforeReset, slow, |q| {
        q.send(&set_go_tiles(&[WORKER]))?;
        q.send(&write_linear(WORKER.word(), 0x370, vec![0, 0, 0, 0xE0], 0))?;
        q.send(&wait_barrier())?;
        q.send(&send_go(q.board().go_word(), 1, 48).expect("one"))
    });
}

#[test]
fn launch_messages_that_are_elsewhere() {
    by_command(Hazard::LaunchOutsideRing, fixed(), |q| q.send(&write_linear(WORKER.word(), 0x80, vec![0; 96], 0)));
    by_command(Hazard::LaunchPastRing, fixed(), |q| q.send(&write_linear(WORKER.word(), 0x310, vec![0; 192], 0)));
    // Message 1 is written, and message 0 is the next.
    let found = by_command(Hazard::LaunchOutsideRing, fixed(), |q| {
        q.send(&write_linear(WORKER.word(), 0xD0, vec![0; 96], 0))?;
        launch(q, q.board().go_word(), 1)
    });
    assert!(found.message.contains("runs launch message 0"), "{found}");
    // Messages in advance are read one after the other.
    let clean = findings(fixed(), acknowledge, |q| {
        q.send(&write_linear(WORKER.word(), 0x70, vec![0; 192], 0))?;
        launch(q, q.board().go_word(), 1)?;
        launch(q, q.board().go_word(), 1)
    });
    assert_eq!(clean, []);
}

#[test]
fn the_queues_own_memory() {
    by_command(Hazard::QueueMemoryWritten, fixed(), |q| q.send(&timestamp(PCIE_XY, 0x4000_0080)));
    by_command(Hazard::QueueMemoryWritten, fixed(), |q| {
        q.send(&write_linear(PCIE_XY, 0x4000_1000 | PCIE_NOC_BIT, vec![1; 16], 0))
    });
    anywhere(Hazard::IssueOverrun, fixed(), |q| {
        let last = q.layout().sysmem.issue_bytes - 64;
        issue(q, last, &[0; 128])
    });
}

/// What the bytes announce and never bring: the dispatcher waits in the command, and no machine says that everything ran.
#[test]
fn commands_that_are_not_whole() {
    fn announced(q: &mut Q, header: Dispatch, relayed: usize, behind: bool) -> Done {
        let mut payload = bare(header).encode();
        payload.resize(relayed, 7);
        q.push(&relay_inline(payload).expect("fits").encode())?;
        q.device().settle(1 << 40);
        match q.device().hang() {
            Some(hang) => assert!(hang.hazard == Hazard::CommandUnfinished, "{hang}"),
            None => panic!("{:#?}", q.device().status()),
        }
        if behind { q.event().map(|_| ()) } else { Ok(()) }
    }
    by_command(Hazard::StalePage, fixed(), |q| {
        let header = WriteLinear { noc_xy: WORKER.word(), addr: 0x4_0000, length: 100_000, ..Default::default() };
        let mut payload = bare(Dispatch::WriteLinear(header)).encode();
        payload.resize(736, 7);
        q.push(&relay_inline(payload).expect("fits").encode())
    });
    for length in [5000, 100_000, 1 << 32, 1 << 63, u64::MAX] {
        let linear = WriteLinear { noc_xy: WORKER.word(), addr: 0x4_0000, length, ..Default::default() };
        let paged = WritePaged { is_dram: 1, page_size: 4096, pages: length.min(1000) as u32, ..Default::default() };
        let host = WriteHost { is_event: 0, length };
        for header in [Dispatch::WriteLinear(linear), Dispatch::WritePaged(paged), Dispatch::WriteHost(host)] {
            // Whole pages, so that nothing stale is taken before the wait.
            let mut queue = open(fixed(), acknowledge());
            let _ = announced(&mut queue, header, 4096, false);
        }
    }
    by_command(Hazard::CommandUnfinished, small(), |q| {
        let header = WriteLinear { noc_xy: WORKER.word(), addr: 0x4_0000, length: 100_000, ..Default::default() };
        announced(q, Dispatch::WriteLinear(header), 4096, false)?;
        q.completion().map(|_| ())
    });
    by_command(Hazard::CompletionHeader, fixed(), |q| {
        q.send(&bare(Dispatch::WriteHost(WriteHost { is_event: 1, length: 0 })))
    });
    by_command(Hazard::CompletionHeader, fixed(), |q| {
        q.send(&bare(Dispatch::WriteHost(WriteHost { is_event: 1, length: 15 })))
    });
}

#[test]
fn what_is_sent_behind_terminate() {
    anywhere(Hazard::AfterTerminate, fixed(), |q| {
        q.send(&bare(Dispatch::Terminate(BareDispatch {})))?;
        q.event()?;
        q.completion().map(|_| ())
    });
    anywhere(Hazard::AfterTerminate, fixed(), |q| {
        q.send_together(&alone(Prefetch::Terminate(Bare {})), 0)?;
        q.event()?;
        q.completion().map(|_| ())
    });
    // The normal way to end.
    let mut queue = open(fixed(), acknowledge());
    queue.send(&bare(Dispatch::Terminate(BareDispatch {}))).expect("queued");
    queue.send_together(&alone(Prefetch::Terminate(Bare {})), 0).expect("queued");
    assert!(queue.device().settle(1 << 40));
    assert_eq!((queue.device().hang(), queue.device().findings()), (None, Vec::new()));
}

/// As silicon would go on: for ever, if nobody stopped it.
#[test]
fn runs_that_do_not_end() {
    let mut config = fixed().with_mode(Mode::Silicon);
    config.limits.steps = 20_000;
    let mut queue = open(config, acknowledge());
    // 2^40 bytes of a bank that has 4 GiB.
    let xy = queue.board().banks[0].ports[0].word();
    let relay = RelayLinear { length: 1 << 40, noc_xy: xy, addr: 0 };
    append(&mut queue, 1 << 40, Prefetch::RelayLinear(relay)).expect("queued");
    assert!(!queue.device().settle(1 << 40));
    let stopped = queue.device().stopped_at().expect("a finding");
    assert!(stopped.hazard == Hazard::RunLimit && stopped.message.contains("20000 steps"), "{stopped}");
    assert_eq!(stopped.hazard, Hazard::RunLimit);
}

/// An accepted hazard hides nothing: what comes behind it is found, and it is counted.
#[test]
fn hazards_that_are_allowed() {
    let config = Config { allowed: vec![Hazard::PackedTooMany], ..fixed() };
    let mut queue = open(config, acknowledge());
    packed(&mut queue, 119, 16, false).expect("queued");
    queue.send(&write_linear(0, 0x4_0000, vec![1; 16], 0)).expect("queued");
    queue.finish().expect_err("the second stops it");
    let hazards: Vec<Hazard> = queue.device().findings().iter().map(|f| f.hazard).collect();
    assert_eq!((hazards, queue.device().allowed()), (vec![Hazard::NocUnmapped], vec![(Hazard::PackedTooMany, 1)]));
}

/// A worker that cannot run anything.
struct Broken;

impl Worker for Broken {
    fn start(&mut self, _: &Job, _: &mut WorkerMemory<'_>) -> Result<u64, String> {
        Err("there is no image".into())
    }

    fn finish(&mut self, _: &Job, _: &mut WorkerMemory<'_>) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn a_worker_that_cannot_run_its_launch() {
    let found = findings(fixed(), || Box::new(Broken), |q| launch(q, q.board().go_word(), 1));
    assert_eq!(found[0].hazard, Hazard::WorkerFault);
    assert!(found[0].message.contains("(1,2): there is no image"), "{}", found[0]);
}

#[test]
fn a_launch_in_host_mode_that_is_waited_for() {
    let found = by_command(Hazard::WaitUnreachable, fixed(), |q| {
        let mut message = Vec::new();
        LaunchMessage { mode: LaunchMessage::HOST, enables: 1, ..Default::default() }.append(&mut message);
        q.send(&write_linear(WORKER.word(), 0x70, message, 0))?;
        launch(q, q.board().go_word(), 1)
    });
    assert!(found.message.contains("host mode"), "{found}");
}

#[test]
fn write_offsets_that_do_not_exist() {
    by_command(Hazard::WriteOffsetOverrun, fixed(), |q| q.send(&set_write_offsets(&[0; 5]).expect("fits the wire")));
    by_command(Hazard::WriteOffsetOverrun, fixed(), |q| {
        let mut command = write_linear(WORKER.word(), 0x4_0000, vec![1; 16], 0);
        if let Dispatch::WriteLinear(header) = &mut command.header {
            header.write_offset_index = 4;
        }
        q.send(&command)
    });
}

#[test]
fn completions_that_are_not_taken() {
    let found = by_command(Hazard::CompletionNotDrained, small(), |q| {
        for _ in 0..6 {
            q.event()?;
        }
        // It looks, and never takes.
        loop {
            let (sysmem, at) = (q.sysmem(), q.layout().sysmem.completion_wr);
            q.device().host_read(sysmem, at.into(), &mut [0; 4])?;
            q.device().wait(1000)?;
        }
    });
    assert!(found.message.contains("has taken 0 of 4 pages"), "{found}");
}

#[test]
fn a_read_pointer_that_cannot_be() {
    anywhere(Hazard::CompletionPointer, fixed(), |q| {
        q.event()?;
        q.device().wait(100_000)?;
        let (core, at) = (q.board().dispatch, q.layout().dispatch.completion_rd);
        let (window, word) = (window(q, core), q.layout().sysmem.completion_first() + 256);
        // The right page, but with the toggle of the next round.
        Ok(q.device().write32(window, at.into(), word | 1 << 31)?)
    });
}

#[test]
fn a_page_of_a_record_taken_for_an_event() {
    anywhere(Hazard::CompletionInsideRecord, fixed(), |q| {
        let header = WriteHost { is_event: 0, length: 16 + 5000 };
        q.send(&DispatchCommand { header: Dispatch::WriteHost(header), subs: Subs::None, data: vec![1; 5000] })?;
        q.device().wait(100_000)?;
        let (core, at) = (q.board().dispatch, q.layout().dispatch.completion_rd);
        let (window, word) = (window(q, core), q.layout().sysmem.completion_first() + 256);
        q.device().write32(window, at.into(), word)?;
        let (sysmem, event) = (q.sysmem(), q.layout().sysmem.completion + 4096 + 16);
        Ok(q.device().host_read(sysmem, event.into(), &mut [0; 4])?)
    });
}

#[test]
fn places_where_nothing_is() {
    by_command(Hazard::NocUnmapped, fixed(), |q| q.send(&write_linear(0, 0x4_0000, vec![1; 16], 0)));
    by_command(Hazard::PcieAddress, fixed(), |q| q.send(&write_linear(0x613, 0x4600_0100, vec![1; 16], 0)));
    // As network 1 would count without translation.
    by_command(Hazard::PcieAddress, fixed(), |q| {
        q.send(&write_linear(0x0100_0000 | Xy::new(17, 12).word(), 0x4600_0100 | PCIE_NOC_BIT, vec![1; 16], 0))
    });
    by_command(Hazard::PcieOutside, fixed(), |q| {
        q.send(&write_linear(PCIE_XY, 0x4700_0000 | PCIE_NOC_BIT, vec![1; 16], 0))
    });
    by_command(Hazard::L1Outside, fixed(), |q| q.send(&write_linear(WORKER.word(), 0x17_FFF0, vec![1; 64], 0)));
    by_command(Hazard::NocAlignment, fixed(), |q| q.send(&write_linear(WORKER.word(), 0x4_0004, vec![1; 16], 0)));
    by_command(Hazard::QueueCoreWritten, fixed(), |q| {
        q.send(&write_linear(q.board().dispatch.word(), 0x10_0000, vec![1; 16], 0))
    });
    by_command(Hazard::FirmwareOverwritten, fixed(), |q| q.send(&write_linear(WORKER.word(), 0x4000, vec![1; 16], 0)));
}

#[test]
fn firmware_that_is_careless_on_the_network() {
    let inline = Config { quirks: Quirks { inline_go: true, ..Default::default() }, ..fixed() };
    by_command(Hazard::InlineWriteHazard, inline, |q| {
        q.send(&set_go_tiles(&[WORKER]))?;
        q.send(&write_linear(WORKER.word(), 0x4_0000, vec![1; 64], 0))?;
        q.send(&send_go(q.board().go_word(), 1, 48).expect("one"))
    });
    let residue = Config { quirks: Quirks { keeps_upper_address: true, ..Default::default() }, ..fixed() };
    by_command(Hazard::MidResidue, residue, |q| {
        q.send(&timestamp(PCIE_XY, q.layout().sysmem.noc(q.layout().sysmem.timestamps) as u32))?;
        q.send(&write_linear(WORKER.word(), 0x4_0000, vec![1; 16], 0))
    });
}

#[test]
fn waits_for_what_never_comes() {
    let found = anywhere(Hazard::Hang, fixed(), |q| {
        q.completion()?;
        Ok(())
    });
    assert!(found.message.contains("never sent"), "{found}");
    by_command(Hazard::Hang, fixed(), |q| {
        let wait = wire::Wait { flags: wire::Wait::MEMORY, addr: 0x12_0000, count: 1, ..Default::default() };
        q.send(&bare(Dispatch::Wait(wait)))
    });
}

/// No two hazards of the table are without a driver above: this list says which are the linter's own.
#[test]
fn every_hazard_of_the_device_has_a_test() {
    let source = include_str!("hazards.rs");
    let of_the_linter = ["trailing-bytes", "command-skipped", "reserved-bytes", "wait-too-early", "after-terminate"];
    for hazard in Hazard::ALL {
        let named =
            source.contains(&format!("(Hazard::{hazard:?},")) || source.contains(&format!("[Hazard::{hazard:?}]"));
        let compared = source.contains(&format!("hazard, Hazard::{hazard:?})"));
        assert!(named || compared || of_the_linter.contains(&hazard.def().code), "{hazard:?} has no test");
    }
}
