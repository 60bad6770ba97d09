//! The results of the checks for random programs, compared with runs in many orders.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use slipring_ir::Span;
use slipring_tasks::{Bytes, Direction, Graph, Origin, Task, Tensor, Touched, Use, plan, touched};
use slipring_tile::Elem;

/// Size of the only tensor in bytes.
const BYTES: u64 = 12;

/// The accesses of a task: ranges that it reads and writes, and earlier tasks that it declares as dependencies.
#[derive(Clone, Debug)]
struct Touch {
    reads: (u64, u64),
    writes: (u64, u64),
    after: Vec<usize>,
    tracked: bool,
}

fn touch() -> impl Strategy<Value = Touch> {
    let range = || (0..BYTES, 0u64..5).prop_map(|(first, len)| (first, (first + len).min(BYTES)));
    (range(), range(), prop::collection::vec(0usize..8, 0..2), prop::bool::weighted(0.7))
        .prop_map(|(reads, writes, after, tracked)| Touch { reads, writes, after, tracked })
}

fn graph(touches: &[Touch]) -> Graph {
    let tensor = Tensor {
        name: "t".into(),
        elem: Elem::U8,
        shape: vec![BYTES],
        origin: Origin::Argument,
        tracked: true,
        devices: Vec::new(),
        span: Span::default(),
    };
    let mut graph = Graph { tensors: vec![tensor], ..Graph::default() };
    for (at, touch) in touches.iter().enumerate() {
        let one = |range: (u64, u64), direction| Use {
            tensor: 0,
            param: "x".into(),
            bytes: Bytes::range(range.0, range.1),
            direction,
            declared: true,
            tracked: touch.tracked,
            span: Span::default(),
        };
        graph.tasks.push(Task {
            name: format!("task{at}"),
            uses: vec![one(touch.reads, Direction::In), one(touch.writes, Direction::Out)],
            after: touch.after.iter().copied().filter(|other| *other < at).collect(),
            never: Vec::new(),
            manual: false,
            blocks: 1,
            together: false,
            defers: false,
            dummy: false,
            device: 0,
            behind: None,
            span: Span::new(at as u32 * 2, at as u32 * 2 + 1),
            iteration: String::new(),
        });
    }
    graph.connect();
    graph
}

/// A task writes a number that depends on the task and on everything that it reads.
fn step(memory: &mut [u64], at: usize, touch: &Touch) {
    let seen = memory[touch.reads.0 as usize..touch.reads.1 as usize]
        .iter()
        .fold(at as u64 + 1, |sum, byte| sum.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(*byte));
    for place in touch.writes.0..touch.writes.1 {
        memory[place as usize] = seen.wrapping_add(place);
    }
}

/// The contents of memory after every order that the edges allow.
fn all_orders(graph: &Graph, touches: &[Touch]) -> BTreeSet<Vec<u64>> {
    fn go(
        before: &[Vec<usize>],
        touches: &[Touch],
        done: u32,
        memory: &[u64],
        seen: &mut BTreeSet<(u32, Vec<u64>)>,
        ends: &mut BTreeSet<Vec<u64>>,
    ) {
        if done.count_ones() as usize == touches.len() {
            ends.insert(memory.to_vec());
            return;
        }
        if !seen.insert((done, memory.to_vec())) {
            return;
        }
        for at in (0..touches.len()).filter(|at| done >> at & 1 == 0) {
            if before[at].iter().all(|from| done >> from & 1 == 1) {
                let mut next = memory.to_vec();
                step(&mut next, at, &touches[at]);
                go(before, touches, done | 1 << at, &next, seen, ends);
            }
        }
    }
    let mut ends = BTreeSet::new();
    go(&graph.before(), touches, 0, &vec![0; BYTES as usize], &mut BTreeSet::new(), &mut ends);
    ends
}

fn footprints(touches: &[Touch]) -> Vec<BTreeMap<usize, Touched>> {
    let one = |touch: &Touch| {
        let (reads, writes) =
            (Bytes::range(touch.reads.0, touch.reads.1), Bytes::range(touch.writes.0, touch.writes.1));
        let own = Touched { reads, writes, atomics: Vec::new() };
        BTreeMap::from([(0, own)])
    };
    touches.iter().map(one).collect()
}

proptest! {
    /// No race is found exactly if all orders give the same bytes; the numbers make each order visible.
    #[test]
    fn races_are_orders_that_differ(touches in prop::collection::vec(touch(), 1..7)) {
        let graph = graph(&touches);
        let order = graph.order().expect("who waits for earlier tasks waits in no circle");
        let found = touched::judge(&graph, &order, &footprints(&touches), None, &[]);
        let races = found.iter().filter(|message| message.code == "task-race").count();
        let ends = all_orders(&graph, &touches);
        if races == 0 {
            prop_assert_eq!(ends.len(), 1);
        }
        // A later task may overwrite the results of two others: then all orders agree although the two race.
        if ends.len() > 1 {
            prop_assert!(races > 0);
        }
    }

    /// Tasks with only tracked edges never race, and a plan starts each task once its dependencies are complete.
    #[test]
    fn plans_keep_the_edges(touches in prop::collection::vec(touch(), 1..24), clusters in 1u32..5, order in 0u64..4) {
        let mut touches = touches;
        touches.iter_mut().for_each(|touch| touch.tracked = true);
        let graph = graph(&touches);
        let sorted = graph.order().expect("no circle");
        let found = touched::judge(&graph, &sorted, &footprints(&touches), None, &[]);
        prop_assert!(found.iter().all(|message| message.code != "task-race"));
        let plan = plan(&graph, clusters, order, &mut |task| Some(vec![task as u64 * 7 % 5 + 1]));
        prop_assert!(plan.complete);
        prop_assert_eq!(plan.ended.len(), touches.len());
        let ended = |task: usize| plan.ended.iter().find(|own| own.task == task).expect("it ran");
        for edge in &graph.edges {
            prop_assert!(ended(edge.from).end <= ended(edge.to).start);
        }
        // One block at a time on a cluster.
        let mut blocks: Vec<_> = plan.ended.iter().flat_map(|own| own.blocks.clone()).collect();
        blocks.sort_unstable();
        for pair in blocks.windows(2) {
            prop_assert!(pair[0].0 != pair[1].0 || pair[0].2 <= pair[1].1);
        }
        prop_assert!(plan.critical.1 <= plan.cycles);
        prop_assert_eq!(plan.busy.iter().sum::<u64>(), (0..touches.len() as u64).map(|task| task * 7 % 5 + 1).sum::<u64>());
    }
}
