//! Launches, completions, addresses, and termination.

use super::*;

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
    // Messages written in advance are read one after another.
    let clean = findings(fixed(), acknowledge, |q| {
        q.send(&write_linear(WORKER.word(), 0x70, vec![0; 192], 0))?;
        launch(q, q.board().go_word(), 1)?;
        launch(q, q.board().go_word(), 1)
    });
    assert_eq!(clean, []);
}

/// Messages that are written completely are checked when they are sent; partial ones when the worker reads them.
#[test]
fn launch_messages_that_name_another_place() {
    fn message(base: u32, text: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        let message = LaunchMessage {
            kernel_config_base: base,
            text_brisc: text,
            sem_offset: 16,
            enables: 1,
            ..Default::default()
        };
        message.append(&mut bytes);
        bytes
    }
    by_command(Hazard::KernelBaseMismatch, fixed(), |q| {
        q.send(&write_linear(WORKER.word(), 0x70, message(0x82B0, 0x30), 0))?;
        launch(q, q.board().go_word(), 1)
    });
    by_command(Hazard::KernelOutside, fixed(), |q| {
        q.send(&write_linear(WORKER.word(), 0x70, message(0x86B0, 0x18_0000), 0))?;
        launch(q, q.board().go_word(), 1)
    });
    let found = by_command(Hazard::KernelOutside, fixed(), |q| {
        for (at, part) in message(0x86B0, 0x18_0000).chunks(48).enumerate() {
            q.send(&write_linear(WORKER.word(), 0x70 + 48 * at as u64, part.to_vec(), 0))?;
        }
        launch(q, q.board().go_word(), 1)
    });
    assert!(found.message.contains("the text of BRISC") && found.message.contains("(1,2)"), "{found}");
    let clean = findings(fixed(), acknowledge, |q| {
        q.send(&write_linear(WORKER.word(), 0x70, message(0x86B0, 0x30), 0))?;
        launch(q, q.board().go_word(), 1)
    });
    assert_eq!(clean, []);
}

#[test]
fn what_no_wait_orders() {
    by_command(Hazard::MailboxOverwritten, fixed(), |q| q.send(&timestamp(WORKER.word(), 0x370)));
    by_command(Hazard::WaitForeignStream, fixed(), |q| q.send(&wait_stream(47, 0)));
    by_command(Hazard::WriteOvertakesWrite, fixed(), |q| {
        let rect = Rect::new(WORKER, Xy::new(2, 3));
        q.send(&write_linear(rect.word(), 0x4_0000, vec![1; 64], 4))?;
        q.send(&write_linear(WORKER.word(), 0x4_0000, vec![2; 64], 0))
    });
    // For any delays.
    for seed in 0..8 {
        let mut queue = open(fixed().with_seed(seed).with_mode(AtError::Silicon), acknowledge());
        queue.send(&set_go_tiles(&[WORKER])).expect("queued");
        queue.send(&write_linear(WORKER.word(), 0x370, vec![0, 0, 0, 0xE0], 0)).expect("queued");
        queue.send(&send_go(queue.board().go_word(), 1, 48).expect("one")).expect("queued");
        queue.send(&wait_stream(48, 1)).expect("queued");
        queue.finish().expect("runs");
        let hazards: Vec<Hazard> = queue.device().findings().iter().map(|finding| finding.hazard).collect();
        assert_eq!(hazards, [Hazard::GoBeforeReset], "seed {seed}");
    }
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

/// Bytes that are announced but never arrive: the dispatcher waits in the command, and no machine reports that
/// everything ran.
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
            // Complete pages, so that nothing stale is read before the wait.
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

/// As silicon would continue: forever, unless stopped.
#[test]
fn runs_that_do_not_end() {
    let mut config = fixed().with_mode(AtError::Silicon);
    config.limits.steps = 20_000;
    let mut queue = open(config, acknowledge());
    // 2^40 bytes for a bank of 4 GiB.
    let xy = queue.board().banks[0].ports[0].word();
    let relay = RelayLinear { length: 1 << 40, noc_xy: xy, addr: 0 };
    crate::hazards::prefetcher::append(&mut queue, 1 << 40, Prefetch::RelayLinear(relay)).expect("queued");
    assert!(!queue.device().settle(1 << 40));
    let stopped = queue.device().stopped_at().expect("a finding");
    assert!(stopped.hazard == Hazard::RunLimit && stopped.message.contains("20000 steps"), "{stopped}");
    assert_eq!(stopped.hazard, Hazard::RunLimit);
}

/// An accepted hazard hides nothing: later hazards are found, and it is counted.
#[test]
fn hazards_that_are_allowed() {
    let config = Config { allowed: vec![Hazard::PackedTooMany], ..fixed() };
    let mut queue = open(config, acknowledge());
    crate::hazards::dispatcher::packed(&mut queue, 119, 16, false).expect("queued");
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
        // It polls, but never takes anything.
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
        // The correct page, but with the toggle of the next round.
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
    // Coordinates of network 1 without translation.
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
