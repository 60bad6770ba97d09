//! Any request of a host to a machine, in any order and with any numbers, is executed, or rejected with a message.

use proptest::prelude::*;
use slipring_queue::board;
use slipring_queue::capture::{Capture, parse, print};
use slipring_queue::host::{DeviceError, Ordering, Session, WindowTarget, read_buffer};
use slipring_queue::machine::Config;
use slipring_queue::replay::replay;
use slipring_queue::wire::{Rect, Xy};
use slipring_queue::worker::Acknowledge;

/// Numbers at the limits of valid ranges.
fn number() -> impl Strategy<Value = u64> {
    let edges = [0, 1, 3, 4, 8, 0x1000, 0x17_ffff, 0x18_0000, 2 << 20, 4 << 30, 1 << 30, 1 << 40, 0xffb4_0000];
    let shifted = (0u32..64).prop_map(|bit| 1u64 << bit);
    prop_oneof![prop::sample::select(edges.to_vec()), shifted, Just(u64::MAX), Just(u64::MAX - 3), any::<u64>()]
}

fn place() -> impl Strategy<Value = Xy> {
    let edge = || prop_oneof![0u8..20, Just(63), Just(64), Just(99), Just(255), any::<u8>()];
    (edge(), edge()).prop_map(|(x, y)| Xy { x, y })
}

fn target() -> impl Strategy<Value = WindowTarget> {
    let ordering = prop::sample::select(vec![Ordering::Relaxed, Ordering::Strict, Ordering::Posted]);
    (place(), place(), any::<bool>(), prop_oneof![Just(0u64), number()], any::<u8>(), any::<bool>(), ordering).prop_map(
        |(low, high, same, addr, noc, multicast, ordering)| WindowTarget {
            tiles: Rect::new(low, if same { low } else { high }),
            multicast,
            addr,
            noc,
            ordering,
        },
    )
}

#[derive(Clone, Debug)]
enum Asked {
    Pin(u64),
    Unpin(u32),
    HostRead(u32, u64, usize),
    HostWrite(u32, u64, usize),
    Open(u64, WindowTarget),
    Retarget(u32, WindowTarget),
    Close(u32),
    Read(u32, u64, usize),
    Write(u32, u64, usize),
    Register(u64),
    Wait(u64),
    Peek(Xy, u64, usize),
}

fn asked() -> impl Strategy<Value = Asked> {
    let id = || prop_oneof![0u32..3, any::<u32>()];
    let size = || prop::sample::select(vec![0usize, 1, 2, 3, 4, 8, 64, 4096]);
    let window = prop_oneof![Just(2u64 << 20), Just(4 << 30), number()];
    prop_oneof![
        prop_oneof![Just(4096u64), Just(1 << 30), number()].prop_map(Asked::Pin),
        id().prop_map(Asked::Unpin),
        (id(), number(), size()).prop_map(|(id, at, size)| Asked::HostRead(id, at, size)),
        (id(), number(), size()).prop_map(|(id, at, size)| Asked::HostWrite(id, at, size)),
        (window, target()).prop_map(|(size, target)| Asked::Open(size, target)),
        (id(), target()).prop_map(|(id, target)| Asked::Retarget(id, target)),
        id().prop_map(Asked::Close),
        (id(), number(), size()).prop_map(|(id, at, size)| Asked::Read(id, at, size)),
        (id(), number(), size()).prop_map(|(id, at, size)| Asked::Write(id, at, size)),
        number().prop_map(Asked::Register),
        prop_oneof![0u64..100_000, number()].prop_map(Asked::Wait),
        (place(), number(), size()).prop_map(|(tile, at, size)| Asked::Peek(tile, at, size)),
    ]
}

fn ask(session: &mut Session, asked: &Asked) -> Result<(), DeviceError> {
    match asked {
        Asked::Pin(bytes) => session.pin(*bytes).map(drop),
        Asked::Unpin(id) => session.unpin(*id),
        Asked::HostRead(id, at, size) => session.host_read(*id, *at, &mut read_buffer(*size)?),
        Asked::HostWrite(id, at, size) => session.host_write(*id, *at, &read_buffer(*size)?),
        Asked::Open(size, target) => session.open(*size, *target).map(drop),
        Asked::Retarget(id, target) => session.retarget(*id, *target),
        Asked::Close(id) => session.close(*id),
        Asked::Read(id, at, size) => session.read(*id, *at, &mut read_buffer(*size)?),
        Asked::Write(id, at, size) => session.write(*id, *at, &read_buffer(*size)?),
        Asked::Register(at) => session.arc_read(*at).map(drop),
        Asked::Wait(ns) => session.wait(*ns),
        Asked::Peek(tile, at, size) => session.peek(*tile, *at, &mut read_buffer(*size)?),
    }
}

fn session() -> Session {
    let config = Config::new(board::built_in("p150").expect("p150"));
    Session::new(Config { record: true, ..config }).expect("a machine")
}

/// Coordinates that no chip has.
#[test]
fn tiles_outside_of_the_grid_are_refused() {
    let mut session = session();
    for tile in [Xy { x: 64, y: 0 }, Xy { x: 0, y: 64 }, Xy { x: 99, y: 99 }, Xy { x: 255, y: 255 }] {
        let refused = session.peek(tile, 0, &mut [0; 4]).expect_err("there is no such tile").to_string();
        assert!(refused.contains(&format!("({},{})", tile.x, tile.y)), "{refused}");
        for multicast in [false, true] {
            let tiles = Rect::new(tile, tile);
            let target = WindowTarget { tiles, multicast, addr: 0, noc: 0, ordering: Ordering::Strict };
            match session.open(2 << 20, target) {
                Ok(window) => drop((session.write(window, 0, &[1; 4]), session.close(window))),
                Err(error) => assert!(!multicast, "{error}"),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_call_is_done_or_refused(calls in prop::collection::vec(asked(), 1..40)) {
        let mut session = session();
        for call in &calls {
            if let Err(error) = ask(&mut session, call) {
                let message = error.to_string();
                prop_assert!(!message.is_empty());
                prop_assert_eq!(session.last_error(), Some(message.as_str()));
            }
        }
        // The actions form a stream, which runs, or is rejected with a message.
        let recorded = session.recorded().expect("it was asked for");
        prop_assert_eq!(&Capture::from_bytes(&recorded.to_bytes()).expect("a stream"), &recorded);
        let _ = parse(&print(&recorded));
        let config = Config::new(session.board().clone());
        let _ = replay(&recorded, config, Box::new(Acknowledge::default()), |_, _| {});
    }
}
