//! The key properties of the tile rings, on rings built manually from flags and copies.

use crate::kit;

use kit::*;
use slipring_machine::{Cost, Pipe, Role};
use slipring_program::*;
use slipring_sim::*;
use slipring_tile::Space;

const C: Role = Role::Aic;
const A: Role = Role::Aiv0;
const B: Role = Role::Aiv1;
const TILE: u64 = 64;

/// Fills the tile at `to` with a number that identifies tile `i`.
fn number(c: &mut Code<'_>, to: Place, at: u64, i: Operand, tag: u64) {
    let value = c.calc(|[i, tag, _]| Ok(tag + i), i, imm(tag));
    c.barrier(None);
    c.store((to, imm(at)), value);
}

/// Stores the number of a popped tile at `out[8·i]`.
fn record(c: &mut Code<'_>, from: Place, at: Operand, out: Operand, i: Operand) {
    c.barrier(None);
    let value = c.load((from, at));
    let to = c.calc(|[out, i, _]| Ok(out + 8 * i), out, i);
    c.store((GM, to), value);
}

fn numbers(result: &RunResult, buffer: usize) -> Vec<u64> {
    result.memory.gm[buffer].data.chunks(8).map(|c| u64::from_le_bytes(c.try_into().unwrap())).collect()
}

fn clean(result: &RunResult) {
    assert!(result.complete && result.findings.is_empty(), "{:#?}", result.findings);
}

/// Work that only takes time.
fn delay(c: &mut Code<'_>, pipe: Pipe, cycles: u32) {
    let effect = Copy { from: UB0, to: UB0 };
    c.work(pipe, "delay", effect, &[imm(0), imm(0), imm(0)], Cost::fixed(cycles));
}

/// Cube to Vector, `tiles` tiles, with the given cycles per tile for the producer and the consumer.
fn one_way(slots: u32, tiles: u64, make: u32, use_up: u32) -> RunResult {
    let mut b = Build::default();
    let ring = b.ring((C, Pipe::Fix), (A, Pipe::V), slots, TILE as u32, UB0, 0);
    b.core(C, |c| {
        c.repeat(imm(tiles), |c, i| {
            number(c, L1, 0, i, 1000);
            delay(c, Pipe::Fix, make);
            c.push(&ring, i, (L1, imm(0)));
        });
    });
    b.core(A, |c| {
        let out = c.special(Special::Param(0));
        c.initialize(&ring);
        c.repeat(imm(tiles), |c, i| {
            c.pop(&ring, i, (UB0, imm(8192)));
            delay(c, Pipe::V, use_up);
            c.free(&ring, i);
            record(c, UB0, imm(8192), out, i);
        });
    });
    go(&b, &a5(), vec![zeros("out", 8 * tiles as usize)])
}

#[test]
fn property_1_the_producer_fills_every_slot_before_it_blocks() {
    for slots in [1, 4, 8] {
        // The consumer pops nothing before cycle 10000; the producer fills the ring long before.
        let mut b = Build::default();
        let ring = b.ring((C, Pipe::Fix), (A, Pipe::V), slots, TILE as u32, UB0, 0);
        let tiles = imm(u64::from(slots) + 1);
        b.core(C, |c| c.repeat(tiles, |c, i| c.push(&ring, i, (L1, imm(0)))));
        b.core(A, |c| {
            c.initialize(&ring);
            delay(c, Pipe::V, 10000);
            c.repeat(tiles, |c, i| {
                c.pop(&ring, i, (UB0, imm(8192)));
                c.free(&ring, i);
            });
        });
        let result = go(&b, &a5(), vec![]);
        clean(&result);
        let stats = &result.stats.rings[0];
        assert_eq!(stats.max_filled, slots);
        assert!(stats.producer_wait > 9000, "one tile more than slots: the producer waits for the consumer");
        assert_eq!(
            (stats.pushed, stats.popped, stats.freed),
            (u64::from(slots) + 1, u64::from(slots) + 1, u64::from(slots) + 1)
        );
    }
}

#[test]
fn property_2_backpressure_on_the_faster_side() {
    let fast_producer = one_way(4, 40, 1, 500);
    clean(&fast_producer);
    let ring = &fast_producer.stats.rings[0];
    assert!(ring.producer_wait > 30 * 400 && ring.consumer_wait < 1000, "{ring:?}");
    assert_eq!(ring.max_filled, 4);
    assert!(ring.mean_filled() > 3.0);

    let fast_consumer = one_way(4, 40, 500, 1);
    clean(&fast_consumer);
    let ring = &fast_consumer.stats.rings[0];
    assert!(ring.consumer_wait > 30 * 400 && ring.producer_wait < 1000, "{ring:?}");
    assert_eq!(ring.max_filled, 1);
}

#[test]
fn property_3_tiles_arrive_in_order() {
    for slots in [1, 2, 4, 8] {
        for (make, use_up) in [(1, 1), (1, 300), (300, 1)] {
            let result = one_way(slots, 37, make, use_up);
            clean(&result);
            assert_eq!(numbers(&result, 0), (1000..1037).collect::<Vec<_>>(), "{slots} slots");
        }
    }
}

#[test]
fn property_4_the_signal_follows_the_whole_transfer() {
    #[derive(Default)]
    struct Transfers {
        open: u32,
        signals: u32,
    }
    impl Observer for Transfers {
        fn start(&mut self, _: u64, run: &WorkRun<'_>) {
            self.open += u32::from(run.agent.role == C);
        }
        fn end(&mut self, _: u64, run: &WorkRun<'_>) {
            self.open -= u32::from(run.agent.role == C);
        }
        fn set(&mut self, _: u64, agent: Agent, _: u32, _: bool, _: SiteRef) {
            if agent.role == C {
                assert_eq!(self.open, 0, "signalled during a transfer");
                self.signals += 1;
            }
        }
    }
    let mut b = Build::default();
    let ring = b.ring((C, Pipe::Fix), (A, Pipe::V), 4, 16384, UB0, 0);
    b.core(C, |c| c.repeat(imm(9), |c, i| c.push(&ring, i, (L1, imm(0)))));
    b.core(A, |c| {
        c.initialize(&ring);
        c.repeat(imm(9), |c, i| {
            c.pop(&ring, i, (UB0, imm(65536)));
            c.free(&ring, i);
        });
    });
    let mut transfers = Transfers::default();
    clean(&go_with(&b, &a5(), vec![], ExecutionMode::Pipes, &mut transfers));
    assert_eq!(transfers.signals, 9);
}

#[test]
fn property_5_rings_to_both_vector_cores_are_independent() {
    let mut b = Build::default();
    let rings = [
        b.ring((C, Pipe::Fix), (A, Pipe::V), 4, TILE as u32, UB0, 0),
        b.ring((C, Pipe::Mte1), (B, Pipe::V), 4, TILE as u32, UB1, 0),
    ];
    // One pipe for each peer: a slow peer only delays its own pipe, as long as the queues have space.
    b.core(C, |c| {
        c.store((L1, imm(0)), imm(7));
        c.store((L1, imm(4096)), imm(8));
        c.repeat(imm(10), |c, i| {
            c.push(&rings[0], i, (L1, imm(0)));
            c.push(&rings[1], i, (L1, imm(4096)));
        });
    });
    for (role, ring, cycles) in [(A, rings[0], 2000), (B, rings[1], 1)] {
        let at = (Space::Vec, role);
        b.core(role, |c| {
            let out = c.special(Special::Param(role.subblock()));
            c.initialize(&ring);
            c.repeat(imm(10), |c, i| {
                c.pop(&ring, i, (at, imm(8192)));
                c.work(Pipe::V, "delay", Copy { from: at, to: at }, &[imm(0), imm(0), imm(0)], Cost::fixed(cycles));
                c.free(&ring, i);
                record(c, at, imm(8192), out, i);
            });
        });
    }
    #[derive(Default)]
    struct Ends([u64; 3]);
    impl Observer for Ends {
        fn core_end(&mut self, at: u64, agent: Agent) {
            self.0[agent.role.index()] = at;
        }
    }
    let mut ends = Ends::default();
    let result = go_with(&b, &a5(), vec![zeros("out0", 80), zeros("out1", 80)], ExecutionMode::Pipes, &mut ends);
    clean(&result);
    assert_eq!((numbers(&result, 0), numbers(&result, 1)), (vec![7; 10], vec![8; 10]));
    assert!(ends.0[1] > 20000 && ends.0[2] < 3000, "AIV1 does not wait for AIV0: {:?}", ends.0);
}

#[test]
fn property_6_both_directions_at_the_same_time() {
    let mut b = Build::default();
    let down = b.ring((C, Pipe::Fix), (A, Pipe::V), 4, TILE as u32, UB0, 0);
    let up = b.ring((A, Pipe::Mte3), (C, Pipe::Mte1), 4, TILE as u32, L1, 0);
    let tiles = 23;
    b.core(C, |c| {
        let out = c.special(Special::Param(0));
        c.initialize(&up);
        c.repeat(imm(tiles), |c, i| {
            number(c, L1, 8192, i, 500);
            c.push(&down, i, (L1, imm(8192)));
            c.pop(&up, i, (L1, imm(16384)));
            record(c, L1, imm(16384), out, i);
            c.free(&up, i);
        });
    });
    b.core(A, |c| {
        c.initialize(&down);
        c.repeat(imm(tiles), |c, i| {
            c.pop(&down, i, (UB0, imm(8192)));
            c.barrier(None);
            let value = c.load((UB0, imm(8192)));
            let double = c.calc(|[a, _, _]| Ok(2 * a), value, imm(0));
            c.store((UB0, imm(16384)), double);
            c.free(&down, i);
            c.push(&up, i, (UB0, imm(16384)));
            c.barrier(None);
        });
    });
    let result = go(&b, &a5(), vec![zeros("out", 8 * tiles as usize)]);
    clean(&result);
    assert_eq!(numbers(&result, 0), (0..tiles).map(|i| 2 * (500 + i)).collect::<Vec<_>>());
    let directions: Vec<_> = result.stats.rings.iter().map(|r| (r.direction, r.popped)).collect();
    assert_eq!(directions, [(Direction::C2V, tiles), (Direction::V2C, tiles)]);
}

#[test]
fn property_7_a_slot_is_held_from_pop_to_free() {
    // The consumer holds two slots at a time and reads them in place, late; the producer would overwrite them if a pop
    // already freed them.
    let (slots, pairs) = (4u32, 9u64);
    let mut b = Build::default();
    let ring = b.ring((C, Pipe::Fix), (A, Pipe::V), slots, TILE as u32, UB0, 0);
    b.core(C, |c| {
        c.repeat(imm(2 * pairs), |c, i| {
            number(c, L1, 0, i, 300);
            c.push(&ring, i, (L1, imm(0)));
        });
    });
    b.core(A, |c| {
        let out = c.special(Special::Param(0));
        c.initialize(&ring);
        c.repeat(imm(pairs), |c, pair| {
            let first = c.calc(|[a, _, _]| Ok(2 * a), pair, imm(0));
            let second = c.plus(first, 1);
            for i in [first, second] {
                let tag = c.calc(|[a, b, _]| Ok(a % b), i, imm(slots.into()));
                c.wait(Pipe::V, nth(ring.ready, tag));
            }
            delay(c, Pipe::V, 5000);
            for i in [first, second] {
                let at = c.calc(|[a, b, _]| Ok(a % b * TILE), i, imm(slots.into()));
                record(c, UB0, at, out, i);
            }
            c.free(&ring, first);
            c.free(&ring, second);
        });
    });
    let result = go(&b, &a5(), vec![zeros("out", 16 * pairs as usize)]);
    clean(&result);
    assert_eq!(numbers(&result, 0), (300..300 + 2 * pairs).collect::<Vec<_>>());
    let stats = &result.stats.rings[0];
    assert_eq!(stats.max_filled, slots);
    assert!(stats.producer_wait > 5000 * (pairs - 3));
}
