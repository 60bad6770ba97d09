//! The host and the fetch queue.

use std::ptr::NonNull;

use super::*;

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
    // A stride that leads out of the record, and a stride of zero.
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

/// Starts the prefetch core with a custom launch message and semaphores.
fn start(base: u32, credits: u32) -> Vec<Hazard> {
    let (board, layout) = (board(), Layout::default());
    let mut machine = Machine::new(fixed().with_mode(AtError::Silicon)).expect("a machine");
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

/// The host loads the result of a command, at once or long after the device has written it. Only a completion after a
/// barrier guarantees it.
#[test]
fn loads_before_a_write_is_known_of() {
    fn load(q: &mut Q, ns: u64, addr: u64) -> Done {
        q.device().wait(ns)?;
        let window = window(q, WORKER);
        q.device().read32(window, addr).map(|_| ()).map_err(HostError::from)
    }
    let write = |q: &mut Q| q.send(&write_linear(WORKER.word(), 0x4_0000, vec![1; 64], 0));
    for ns in [0, 100_000] {
        for seed in 0..3 {
            let mut queue = open(fixed().with_seed(seed).with_mode(AtError::Silicon), acknowledge());
            write(&mut queue).expect("queued");
            load(&mut queue, ns, 0x4_0000).expect("loads");
            queue.finish().expect("runs");
            let found: Vec<Hazard> = queue.device().findings().iter().map(|finding| finding.hazard).collect();
            assert_eq!(found, [Hazard::HostBeforeWrite], "{ns} ns, seed {seed}");
        }
    }
    by_command(Hazard::HostBeforeWrite, fixed(), |q| {
        q.send(&write_linear(WORKER.word(), 0x4_0000, vec![1; 64], 0))?;
        load(q, 0, 0x4_0000)
    });
    // An event without a barrier guarantees nothing; other bytes, mailboxes and anything after a barrier may be read.
    anywhere(Hazard::HostBeforeWrite, fixed(), |q| {
        q.send(&write_linear(WORKER.word(), 0x4_0000, vec![1; 64], 0))?;
        q.finish()?;
        load(q, 0, 0x4_0020)
    });
    let clean = findings(fixed(), acknowledge, |q| {
        q.send(&write_linear(WORKER.word(), 0x4_0000, vec![1; 64], 0))?;
        load(q, 0, 0x4_0040)?;
        load(q, 0, 0x370)?;
        q.send(&wait_barrier())?;
        q.finish()?;
        load(q, 0, 0x4_0000)
    });
    assert_eq!(clean, []);
}

/// A worker that writes to its own L1 when it ends.
struct WritesL1;

impl Worker for WritesL1 {
    fn start(&mut self, _: &Job, _: &mut WorkerMemory<'_>) -> Result<u64, String> {
        Ok(20_000)
    }

    fn finish(&mut self, _: &Job, memory: &mut WorkerMemory<'_>) -> Result<(), String> {
        memory.write(0x5_0000, &[7; 64])
    }
}

#[test]
fn loads_before_a_worker_is_known_to_be_done() {
    fn launch(q: &mut Q) -> Done {
        q.send(&set_go_tiles(&[WORKER]))?;
        q.send(&send_go(q.board().go_word(), 1, 48).expect("one"))?;
        q.send(&wait_stream(48, 1))
    }
    for (ns, addr, expected) in [
        (0, 0x5_0000, vec![Hazard::HostBeforeDone]),
        (200_000, 0x5_0000, vec![Hazard::HostBeforeDone]),
        (0, 0x5_0040, vec![]),
    ] {
        let mut queue = open(fixed().with_mode(AtError::Silicon), Box::new(WritesL1));
        launch(&mut queue).expect("queued");
        queue.device().wait(ns).expect("time passes");
        let window = window(&mut queue, WORKER);
        queue.device().read32(window, addr).expect("loads");
        queue.finish().expect("runs");
        let found: Vec<Hazard> = queue.device().findings().iter().map(|finding| finding.hazard).collect();
        assert_eq!(found, expected, "{ns} ns");
        // After the event, reading is allowed.
        queue.device().read32(window, 0x5_0000).expect("loads");
        assert_eq!(queue.device().findings().len(), expected.len());
    }
}

/// Moves the queue's pinned memory to the test's own memory, and returns its first byte.
fn lend(q: &mut Q) -> NonNull<u8> {
    let sysmem = q.sysmem();
    let bytes = Box::leak(vec![0u8; sysmem.bytes as usize].into_boxed_slice());
    q.device().host_read(sysmem, 0, bytes).expect("the memory so far");
    let first = NonNull::new(bytes.as_mut_ptr()).expect("memory");
    q.device().unpin(sysmem).expect("is pinned");
    // SAFETY: the memory is never released, and the test accesses it only between calls.
    let borrowed = unsafe { q.device().pin_borrowed(first, sysmem.bytes as usize) }.expect("pins");
    assert_eq!(borrowed, sysmem);
    first
}

/// Stores bytes into the issue region without a call.
fn store(q: &mut Q, memory: NonNull<u8>, offset: u32, bytes: &[u8]) {
    let at = (q.layout().sysmem.issue + offset) as usize;
    // SAFETY: the region is inside the borrowed memory.
    unsafe { std::slice::from_raw_parts_mut(memory.as_ptr().add(at), bytes.len()) }.copy_from_slice(bytes);
}

/// Queues events in borrowed memory.
fn borrowed_events(q: &mut Q, count: u32) -> Result<NonNull<u8>, HostError> {
    let (memory, record) = (lend(q), event_record());
    for number in 0..count {
        store(q, memory, number * record.len() as u32, &record);
        slot(q, number, (record.len() / 16) as u16)?;
    }
    Ok(memory)
}

#[test]
fn borrowed_memory_that_changes() {
    let mut late = fixed();
    late.delays.pcie_read = Delay::new(100_000, 0);
    // The second record waits in its slot while the first is read.
    by_record(Hazard::IssueLapped, late.clone(), |q| {
        let memory = borrowed_events(q, 2)?;
        store(q, memory, 64 + 32, &[7]);
        Ok(q.device().wait(1_000_000)?)
    });
    by_record(Hazard::IssueInFlight, late, |q| {
        let memory = borrowed_events(q, 1)?;
        q.device().wait(1000)?;
        store(q, memory, 32, &[7]);
        Ok(q.device().wait(1_000_000)?)
    });
    // Memory that has been read may change.
    let mut queue = open(fixed(), acknowledge());
    let memory = borrowed_events(&mut queue, 2).expect("queued");
    queue.device().wait(1_000_000).expect("clean");
    store(&mut queue, memory, 32, &[7]);
    queue.device().wait(1_000_000).expect("clean");
    assert_eq!(queue.device().findings(), []);
}

fn by_record(hazard: Hazard, config: Config, act: fn(&mut Q) -> Done) {
    let found = anywhere(hazard, config, act);
    assert!(found.record.is_some(), "{found}");
}

/// A record that relays host memory that the host changes before or after it is read.
#[test]
fn borrowed_memory_that_changes_before_it_is_relayed() {
    fn relay(q: &mut Q) -> Result<NonNull<u8>, HostError> {
        let bytes = Box::leak(vec![1u8; 4096].into_boxed_slice());
        let first = NonNull::new(bytes.as_mut_ptr()).expect("memory");
        // SAFETY: the memory is never released, and the test accesses it only between calls.
        let borrowed = unsafe { q.device().pin_borrowed(first, 4096) }?;
        let addr = borrowed.noc_addr & !PCIE_NOC_BIT;
        let header = WriteLinear { noc_xy: WORKER.word(), addr: 0x4_0000, length: 4096, ..Default::default() };
        let header = DispatchCommand::bare(Dispatch::WriteLinear(header)).encode();
        let linear = RelayLinear { noc_xy: PCIE_XY, addr: PCIE_NOC_BIT | addr, length: 4096 };
        let [linear] = alone(Prefetch::RelayLinear(linear));
        q.send_together(&[noflush(header), linear], 0)?;
        Ok(first)
    }
    fn change(first: NonNull<u8>) {
        // SAFETY: no call is in progress.
        unsafe { *first.as_ptr().add(100) = 2 };
    }
    let found = by_command(Hazard::BorrowedChanged, fixed(), |q| {
        change(relay(q)?);
        Ok(())
    });
    assert!(found.message.contains("0x80000064"), "{found}");
    let mut queue = open(fixed(), acknowledge());
    let first = relay(&mut queue).expect("queued");
    queue.finish().expect("runs");
    change(first);
    queue.finish().expect("runs");
    assert_eq!(queue.device().findings(), []);
}
