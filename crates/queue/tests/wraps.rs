//! The fixed configuration across the ends of its rings: fetch queue, issue region, dispatcher's pages, completion
//! ring, streams, event ids.

use slipring_queue::board::built_in;
use slipring_queue::host::{HostStep, Kernels, Queue, Settings, lower};
use slipring_queue::machine::{Config, Machine};
use slipring_queue::wire::{Dispatch, DispatchCommand, Subs, WriteLinear, Xy, host_event, wait_barrier};
use slipring_queue::{Board, Layout};

fn open(board: &Board, seed: u64) -> Queue<Machine> {
    let machine = Machine::new(Config::new(board.clone()).with_seed(seed)).expect("a possible configuration");
    Queue::open(machine, board.clone(), Layout::default(), Settings::CAREFUL, &Kernels::default()).expect("opens")
}

#[test]
fn events_over_the_fetch_queue_and_the_completion_ring() {
    let board = built_in("p100").expect("p100");
    let mut queue = open(&board, 1);
    // 9000 events: 5 rounds of 1534 slots, one round of 8192 completion pages.
    let mut taken = 0u32;
    for event in 1..=9000u32 {
        queue.send(&host_event(event)).expect("is queued");
        // Occasionally the host is late, so that several records are in the ring.
        while event.is_multiple_of(7)
            && let Some(completion) = queue.poll_completion().expect("a record")
        {
            taken += 1;
            assert_eq!(completion.event(), Some(taken));
        }
    }
    while taken < 9000 {
        taken += 1;
        assert_eq!(queue.completion().expect("a record").event(), Some(taken));
    }
    let status = queue.device().status();
    assert_eq!((status.announced, status.queued, status.completions), (9000, 0, 0));
    assert_eq!(queue.device().findings(), []);
}

#[test]
fn event_ids_wrap() {
    let board = built_in("p100").expect("p100");
    let mut queue = open(&board, 2);
    for event in [u32::MAX - 1, u32::MAX, 0, 1] {
        queue.send(&host_event(event)).expect("is queued");
        queue.wait_event(event).expect("comes back");
    }
}

#[test]
fn large_records_over_the_issue_region() {
    let board = built_in("p100").expect("p100");
    let mut queue = open(&board, 3);
    // 420 records of 200 KB are 84 MB: the issue region of 64 MiB wraps once, the dispatcher's pages 160 times.
    let tile = Xy::new(3, 4);
    for round in 0..420u32 {
        let data: Vec<u8> = (0..200_000u32).map(|i| (i ^ round ^ i >> 8) as u8).collect();
        let header =
            WriteLinear { noc_xy: tile.word(), addr: 0x4_0000, length: data.len() as u64, ..Default::default() };
        queue
            .send(&DispatchCommand { header: Dispatch::WriteLinear(header), subs: Subs::None, data: data.clone() })
            .expect("is queued");
        if round % 37 == 0 || round > 330 && round < 345 {
            // An event only shows that the write was issued.
            queue.send(&wait_barrier()).expect("is queued");
            queue.finish().expect("ends");
            let mut found = vec![0; data.len()];
            queue.device().peek(tile, 0x4_0000, &mut found).expect("L1");
            assert!(found == data, "round {round}");
        }
    }
    queue.finish().expect("ends");
    assert_eq!(queue.device().findings(), []);
}

#[test]
fn streams_over_their_17_bits() {
    let board = built_in("p150").expect("p150");
    let mut queue = open(&board, 4);
    let tiles: Vec<Xy> = board.workers().collect();
    let launch =
        lower(&[HostStep::Launch { tiles }], Settings::CAREFUL.lowering, &board, &Layout::default()).expect("fits");
    // 138 workers times 1000 launches: 138,000 notifications on a counter of 131,072.
    for _ in 0..1000 {
        launch.iter().for_each(|command| queue.send(command).expect("is queued"));
    }
    queue.finish().expect("ends");
    let status = queue.device().status();
    assert_eq!((status.launches, queue.device().stream(48)), (138_000, 0));
    assert_eq!(queue.device().findings(), []);
}
