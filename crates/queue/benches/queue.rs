//! How fast the device of the command queue is: small commands a second, and relayed bytes a second beside `memcpy`.
//!
//! `cargo bench -p slipring-queue`, with a part of a name to run only some. Figures are the best of some rounds, from one run on
//! one machine, in the thread's own time where the system tells it (Linux): others may be at work beside it. `--short` does a
//! twentieth of the work once, for tools that count instructions.

use std::hint::black_box;
use std::time::{Duration, Instant};

use slipring_queue::board::built_in;
use slipring_queue::host::{Data, Kernels, Program, Queue, Role, Settings};
use slipring_queue::machine::{Config, Machine};
use slipring_queue::wire::{
    Dispatch, DispatchCommand, LaunchMessage, Packets, Rect, Subs, WriteLinear, Xy, host_event, relay_inline,
    wait_barrier, write_packed, write_packed_large,
};

/// How often each is measured, and by what the work is divided.
fn rounds() -> (u32, u32) {
    if std::env::args().any(|arg| arg == "--short") { (1, 20) } else { (5, 1) }
}

fn open(seed: Option<u64>) -> Queue<Machine> {
    let board = built_in("p100").expect("a built-in board");
    let config = Config { seed, ..Config::new(board.clone()) };
    let layout = config.layout.clone();
    let machine = Machine::new(config).expect("a machine");
    Queue::open(machine, board, layout, Settings::CAREFUL, &Kernels::default()).expect("opens")
}

fn record(command: &DispatchCommand) -> Vec<u8> {
    relay_inline(command.encode()).expect("fits").encode()
}

fn linear(bytes: usize) -> DispatchCommand {
    let header =
        WriteLinear { noc_xy: Xy::new(1, 2).word(), addr: 0x4_0000, length: bytes as u64, ..Default::default() };
    DispatchCommand { header: Dispatch::WriteLinear(header), subs: Subs::None, data: vec![7; bytes] }
}

/// Sends a record so many times, and waits for all of them: the best time of some rounds.
fn time(queue: &mut Queue<Machine>, record: &[u8], times: u32) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..rounds().0 {
        let start = clock();
        for _ in 0..times {
            queue.push(record).expect("queued");
        }
        queue.finish().expect("runs");
        best = best.min(clock() - start);
    }
    assert!(queue.device().findings().is_empty());
    best
}

/// Time that this thread has had, or else time that has passed.
fn clock() -> Duration {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let own = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ns = own.and_then(|text| text.split(' ').next()?.parse().ok());
    ns.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// Whether a benchmark is asked for.
fn wanted(name: &str) -> bool {
    let mut asked = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).peekable();
    asked.peek().is_none() || asked.any(|part| name.contains(&part))
}

/// Small commands a second.
fn commands(name: &str, seed: Option<u64>, command: &DispatchCommand) {
    if !wanted(name) {
        return;
    }
    let times = 200_000 / rounds().1;
    let mut queue = open(seed);
    let best = time(&mut queue, &record(command), times);
    let each = best.as_secs_f64() / f64::from(times);
    println!("{name:40} {:8.2} million commands/s {:8.0} ns each", 1e-6 / each, each * 1e9);
}

/// Several small commands in one record: what the device takes, with little of the driver's work.
fn batched(name: &str, command: &DispatchCommand) {
    if !wanted(name) {
        return;
    }
    let (batch, times) = (64, 10_000 / rounds().1);
    let mut queue = open(None);
    let best = time(&mut queue, &record(command).repeat(batch), times);
    let each = best.as_secs_f64() / f64::from(times) / batch as f64;
    println!("{name:40} {:8.2} million commands/s {:8.0} ns each", 1e-6 / each, each * 1e9);
}

/// The same as a driver has them: commands that it turns into records.
fn sent_together(name: &str, command: &DispatchCommand) {
    if !wanted(name) {
        return;
    }
    let (commands, times) = (vec![command.clone(); 1000], 500 / rounds().1);
    let mut queue = open(None);
    let mut best = Duration::MAX;
    for _ in 0..rounds().0 {
        let start = clock();
        for _ in 0..times {
            queue.send_all(&commands).expect("queued");
        }
        queue.finish().expect("runs");
        best = best.min(clock() - start);
    }
    assert!(queue.device().findings().is_empty());
    let each = best.as_secs_f64() / f64::from(times) / commands.len() as f64;
    println!("{name:40} {:8.2} million commands/s {:8.0} ns each", 1e-6 / each, each * 1e9);
}

/// Launches, each of a program of its own with arguments, launch message and an image of 1 KiB: of one worker, and what each
/// further one takes.
fn launches() {
    if !wanted("launches") {
        return;
    }
    let mut queue = open(None);
    let workers: Vec<Xy> = queue.board().workers().collect();
    let base = queue.layout().kernel_config_base;
    let program = |count: usize| {
        let tiles = workers[..count].to_vec();
        let launch =
            LaunchMessage { kernel_config_base: base, local_cb_offset: 0x40, enables: 1, ..Default::default() };
        let args = Data::Each(vec![vec![7; 16]; count]);
        Program { roles: vec![Role { tiles: tiles.clone(), launch, image: vec![5; 1024] }], tiles, args }
    };
    let mut each = |count: usize, times: usize| {
        let programs = vec![program(count); times];
        let mut best = Duration::MAX;
        for _ in 0..rounds().0 {
            let start = clock();
            queue.run(&programs).expect("runs");
            best = best.min(clock() - start);
        }
        best.as_secs_f64() / times as f64
    };
    let (one, all) = (each(1, 1000 / rounds().1 as usize), each(workers.len(), 100 / rounds().1 as usize));
    assert!(queue.device().findings().is_empty());
    let further = (all - one) / (workers.len() - 1) as f64;
    println!("{:40} {:8.2} us, {:.2} us each further one", "launches of one worker", one * 1e6, further * 1e6);
}

/// Events, which come back to the host.
fn events() {
    if !wanted("host events") {
        return;
    }
    let times = 100_000 / rounds().1;
    let mut queue = open(None);
    let record = record(&host_event(1));
    let start = clock();
    let mut open = 0;
    for _ in 0..times {
        queue.push(&record).expect("queued");
        open += 1;
        while open > 1000 && queue.poll_completion().expect("reads").is_some() {
            open -= 1;
        }
    }
    while open > 0 {
        queue.completion().expect("comes");
        open -= 1;
    }
    let each = (clock() - start).as_secs_f64() / f64::from(times);
    println!("{:40} {:8.2} million commands/s {:8.0} ns each", "host events, there and back", 1e-6 / each, each * 1e9);
}

fn relayed(name: &str, command: &DispatchCommand, payload: usize, memcpy: f64) {
    if !wanted(name) {
        return;
    }
    let record = record(command);
    let times = ((1usize << 30) / payload).max(1) as u32 / rounds().1;
    let mut queue = open(None);
    let best = time(&mut queue, &record, times);
    let rate = payload as f64 * f64::from(times) / best.as_secs_f64();
    println!("{name:40} {:8.2} GB/s {:8.0} % of memcpy", rate * 1e-9, 100.0 * rate / memcpy);
}

/// Bytes a second of copying 64 MiB, as large as the issue region.
fn memcpy() -> f64 {
    let (from, mut to) = (vec![1u8; 64 << 20], vec![0u8; 64 << 20]);
    let (mut best, times) = (Duration::MAX, 16);
    for _ in 0..rounds().0 {
        let start = clock();
        for _ in 0..times {
            to.copy_from_slice(black_box(&from));
            black_box(&mut to);
        }
        best = best.min(clock() - start);
    }
    f64::from(times) * from.len() as f64 / best.as_secs_f64()
}

fn main() {
    let one = write_packed(&[Xy::new(1, 2)], 0x4_0000, Packets::Shared(&[1; 16])).expect("fits");
    let multicast = write_packed_large(&[Rect::new(Xy::new(1, 2), Xy::new(7, 11))], 0x4_0000, &[1; 16]).expect("fits");
    commands("WRITE_PACKED of 16 bytes to one worker", None, &one);
    commands("the same under random delays", Some(1), &one);
    commands("WAIT with a barrier", None, &wait_barrier());
    commands("multicast of 16 bytes to 70 workers", None, &multicast);
    batched("WRITE_PACKED, 64 in a record", &one);
    sent_together("WRITE_PACKED, sent by the driver", &one);
    launches();
    events();
    let memcpy = memcpy();
    println!("{:40} {:8.2} GB/s", "memcpy of 64 MiB", memcpy * 1e-9);
    relayed("WRITE_LINEAR of 64 KiB", &linear(64 << 10), 64 << 10, memcpy);
    relayed("WRITE_LINEAR of 192 KiB", &linear(192 << 10), 192 << 10, memcpy);
}
