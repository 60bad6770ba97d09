//! Random functions: every dependence is covered, whatever the nesting, and no flag is misused.

use proptest::prelude::*;
use slipring_ir::Flow;
use slipring_machine::Pipe;
use slipring_tile::Space;

use super::check::{Problem, Step, check};
use super::events::{Event, assign};
use super::order::Order;
use super::place::{Action, Placement, Side, placements};
use super::plan::plan;
use super::tree::{Access, Flag, Memory, Node, Tree, Work};

/// A tile: 64 bytes of the unified buffer.
fn tile(index: u64, write: bool) -> Access {
    Access { memory: Memory::Local(Space::Vec), bytes: (index * 64, index * 64 + 64), window: None, write }
}

fn work(pipe: Pipe, reads: &[u64], writes: &[u64]) -> Work {
    let accesses = reads.iter().map(|i| tile(*i, false)).chain(writes.iter().map(|i| tile(*i, true)));
    Work { pipe, core: None, accesses: accesses.collect() }
}

fn load(dst: u64) -> Work {
    work(Pipe::Mte2, &[], &[dst])
}

fn compute(src: u64, dst: u64) -> Work {
    work(Pipe::V, &[src], &[dst])
}

fn store(src: u64) -> Work {
    work(Pipe::Mte3, &[src], &[])
}

struct Planned {
    placed: Vec<Placement>,
    steps: Vec<Step>,
    events: Vec<Event>,
    problems: Vec<Problem>,
    barriers: usize,
}

fn run(tree: &Tree) -> Planned {
    run_with(tree, &[])
}

fn run_with(tree: &Tree, unordered: &[Pipe]) -> Planned {
    let mut order: Order<'_> = plan(tree);
    let (events, _) = assign(&mut order, 8);
    let placed = placements(&order, &events, unordered);
    let steps = steps(tree, 0, &placed);
    let problems = check(&steps, &tree.works, unordered);
    Planned { steps, problems, events, barriers: order.barriers().len(), placed }
}

fn steps(tree: &Tree, block: usize, placed: &[Placement]) -> Vec<Step> {
    let mut list = Vec::new();
    let add = |list: &mut Vec<Step>, side: Side| {
        for p in placed.iter().filter(|p| p.block == block && p.side == side) {
            list.push(match p.action {
                Action::Set(flag) => Step::Set(flag),
                Action::Wait(flag) => Step::Wait(flag),
                Action::Barrier(pipe) => Step::Barrier(pipe),
            });
        }
    };
    for (at, node) in tree.blocks[block].nodes.iter().enumerate() {
        add(&mut list, Side::Before(at));
        match node {
            Node::Work(work) => list.push(Step::Work(*work)),
            Node::Group { flow, blocks } => {
                list.push(Step::Group(*flow, blocks.iter().map(|b| steps(tree, *b, placed)).collect()));
            }
            Node::Call { blocks, .. } => {
                list.push(Step::Group(Flow::OneOf, blocks.iter().map(|b| steps(tree, *b, placed)).collect()));
            }
        }
        add(&mut list, Side::After(at));
    }
    add(&mut list, Side::Before(tree.blocks[block].nodes.len()));
    list
}

fn count(planned: &Planned, from: Pipe, to: Pipe) -> usize {
    planned.events.iter().filter(|e| e.pair.from == from && e.pair.to == to).count()
}

#[test]
fn a_chain_needs_one_signal_a_step() {
    let mut tree = Tree::default();
    tree.push_work(0, load(0));
    tree.push_work(0, compute(0, 1));
    tree.push_work(0, store(1));
    let planned = run(&tree);
    assert_eq!(planned.problems, []);
    assert_eq!(planned.events.len(), 2);
}

#[test]
fn what_a_chain_makes_certain_needs_no_signal_of_its_own() {
    let mut tree = Tree::default();
    tree.push_work(0, load(0));
    tree.push_work(0, work(Pipe::V, &[0], &[0]));
    tree.push_work(0, store(0));
    let planned = run(&tree);
    assert_eq!(planned.problems, []);
    // MTE2 → V → MTE3 orders load and store as well.
    assert_eq!(planned.events.len(), 2);
}

#[test]
fn a_loop_gets_signals_back_primed_and_drained() {
    let mut tree = Tree::default();
    let body = tree.push_group(0, Flow::Repeat, 1)[0];
    tree.push_work(body, load(0));
    tree.push_work(body, compute(0, 1));
    tree.push_work(body, store(1));
    let planned = run(&tree);
    assert_eq!(planned.problems, []);
    let carried: Vec<_> = planned.events.iter().filter(|e| e.pair.carried).map(|e| (e.pair.from, e.pair.to)).collect();
    assert_eq!(carried, [(Pipe::V, Pipe::Mte2), (Pipe::Mte3, Pipe::V)]);
    assert_eq!(planned.events.len(), 4);
    let outside = planned.placed.iter().filter(|p| p.block == 0).count();
    assert_eq!(outside, 4);
}

#[test]
fn ping_and_pong_have_signals_of_their_own() {
    let mut tree = Tree::default();
    let body = tree.push_group(0, Flow::Repeat, 1)[0];
    for half in 0..2 {
        tree.push_work(body, load(2 * half));
        tree.push_work(body, compute(2 * half, 2 * half + 1));
        tree.push_work(body, store(2 * half + 1));
    }
    let planned = run(&tree);
    assert_eq!(planned.problems, []);
    for (from, to) in [(Pipe::Mte2, Pipe::V), (Pipe::V, Pipe::Mte2), (Pipe::V, Pipe::Mte3), (Pipe::Mte3, Pipe::V)] {
        assert_eq!(count(&planned, from, to), 2, "{from} → {to}");
    }
    // The load of the second half does not wait for the first half's compute.
    let second_load = planned.placed.iter().filter(|p| p.block == body && p.side == Side::Before(3)).count();
    assert_eq!(second_load, 1);
}

#[test]
fn a_signal_inside_a_loop_serves_what_came_before_it() {
    let mut tree = Tree::default();
    tree.push_work(0, load(0));
    let body = tree.push_group(0, Flow::Repeat, 1)[0];
    tree.push_work(body, load(1));
    tree.push_work(body, work(Pipe::V, &[0, 1], &[2]));
    let planned = run(&tree);
    assert_eq!(planned.problems, []);
    assert_eq!(count(&planned, Pipe::Mte2, Pipe::V), 1);
}

#[test]
fn branches_that_exclude_each_other_meet_before_the_next_iteration() {
    let mut tree = Tree::default();
    let body = tree.push_group(0, Flow::Repeat, 1)[0];
    let arms = tree.push_group(body, Flow::OneOf, 2);
    tree.push_work(arms[0], load(0));
    tree.push_work(arms[1], compute(0, 1));
    let planned = run(&tree);
    assert_eq!(planned.problems, []);
    assert!(planned.events.iter().all(|e| !e.pair.carried && e.pair.block == body));
}

#[test]
fn more_buffers_than_ids_still_need_no_barrier() {
    let mut tree = Tree::default();
    for i in 0..20 {
        tree.push_work(0, load(i));
        tree.push_work(0, compute(i, 100 + i));
    }
    let planned = run(&tree);
    assert_eq!(planned.problems, []);
    assert_eq!(planned.barriers, 0);
    assert!(planned.events.iter().all(|e| e.id < 8));
}

#[test]
fn ids_run_out_in_a_loop() {
    let mut tree = Tree::default();
    let body = tree.push_group(0, Flow::Repeat, 1)[0];
    for i in 0..20 {
        tree.push_work(body, load(i));
    }
    for i in 0..20 {
        tree.push_work(body, compute(i, 100));
    }
    let planned = run(&tree);
    assert_eq!(planned.problems, []);
    assert_eq!(planned.barriers, 0);
}

#[test]
fn loops_one_after_another_share_ids() {
    let mut tree = Tree::default();
    for i in 0..20 {
        let body = tree.push_group(0, Flow::Repeat, 1)[0];
        tree.push_work(body, load(2 * i));
        tree.push_work(body, compute(2 * i, 2 * i + 1));
        tree.push_work(body, store(2 * i + 1));
    }
    let planned = run(&tree);
    assert_eq!(planned.problems, []);
    assert_eq!(planned.barriers, 0);
}

#[test]
fn the_check_sees_a_missing_wait() {
    let works = [load(0), compute(0, 1)];
    let steps = [Step::Work(0), Step::Work(1)];
    assert_eq!(check(&steps, &works, &[]), [Problem::Race(0, 1)]);
}

#[test]
fn the_check_sees_flags_misused() {
    let works = [load(0), compute(0, 1)];
    let flag = Flag { from: Pipe::Mte2, to: Pipe::V, id: 0 };
    let iteration = vec![Step::Work(0), Step::Set(flag), Step::Wait(flag), Step::Work(1)];
    // Nothing keeps the next load from overtaking the compute, nor the next set from overtaking the wait.
    let problems = check(&[Step::Group(Flow::Repeat, vec![iteration])], &works, &[]);
    assert_eq!(problems, [Problem::Race(1, 0), Problem::SetTwice(flag)]);
    assert_eq!(check(&[Step::Wait(flag)], &works, &[]), [Problem::NeverSet(flag)]);
    assert_eq!(check(&[Step::Set(flag)], &works, &[]), [Problem::LeftSet(flag)]);
    let one_arm = Step::Group(Flow::OneOf, vec![vec![Step::Set(flag)], vec![]]);
    assert_eq!(check(&[one_arm], &works, &[]), [Problem::Unbalanced(flag)]);
}

#[test]
fn the_check_knows_pipes_that_overlap_their_own_work() {
    let works = [compute(0, 1), compute(1, 2)];
    let steps = [Step::Work(0), Step::Work(1)];
    assert_eq!(check(&steps, &works, &[Pipe::V]), [Problem::Race(0, 1)]);
    let steps = [Step::Work(0), Step::Barrier(Some(Pipe::V)), Step::Work(1)];
    assert_eq!(check(&steps, &works, &[Pipe::V]), []);
}

/// The steps as text, for failures.
fn show(steps: &[Step], tree: &Tree, depth: usize) -> String {
    let line = |step: &Step| match step {
        Step::Work(work) => {
            let Work { pipe, accesses, .. } = &tree.works[*work];
            let touched = accesses.iter().map(|a| format!(" {}{}", if a.write { "!" } else { "" }, a.bytes.0 / 64));
            format!("{work}: {pipe}{}", touched.collect::<String>())
        }
        Step::Set(Flag { from, to, id }) => format!("set {from}→{to} {id}"),
        Step::Wait(Flag { from, to, id }) => format!("wait {from}→{to} {id}"),
        Step::Barrier(pipe) => format!("barrier {pipe:?}"),
        Step::Group(flow, regions) => {
            format!(
                "{flow:?} {}",
                regions.iter().map(|r| format!("{{\n{}}}", show(r, tree, depth + 1))).collect::<String>()
            )
        }
    };
    steps.iter().map(|step| format!("{:1$}{2}\n", "", 2 * depth, line(step))).collect()
}

#[derive(Clone, Debug)]
enum Shape {
    Work(Work),
    Group(Flow, Vec<Vec<Shape>>),
    Call(Vec<Work>, bool),
}

fn any_work(tiles: u64) -> impl Strategy<Value = Work> {
    let pipes = prop::sample::select(vec![Pipe::Mte2, Pipe::V, Pipe::Mte3, Pipe::S, Pipe::Mte1]);
    let tiles = || prop::collection::vec(0..tiles, 0..3);
    (pipes, tiles(), tiles()).prop_map(|(pipe, reads, writes)| work(pipe, &reads, &writes))
}

fn any_shapes(tiles: u64) -> impl Strategy<Value = Vec<Shape>> {
    let leaf = any_work(tiles).prop_map(Shape::Work);
    let element = leaf.prop_recursive(3, 40, 6, move |inner| {
        let region = || prop::collection::vec(inner.clone(), 0..6);
        prop_oneof![
            3 => region().prop_map(|r| Shape::Group(Flow::Repeat, vec![r])),
            2 => (region(), region()).prop_map(|(a, b)| Shape::Group(Flow::OneOf, vec![a, b])),
            1 => region().prop_map(|r| Shape::Group(Flow::OneOf, vec![r, vec![]])),
            1 => (region(), region()).prop_map(|(a, b)| Shape::Group(Flow::Repeat, vec![a, b])),
            1 => region().prop_map(|r| Shape::Group(Flow::Once, vec![r])),
            1 => (prop::collection::vec(any_work(tiles), 1..4), any::<bool>()).prop_map(|(w, a)| Shape::Call(w, a)),
        ]
    });
    prop::collection::vec(element, 0..12)
}

fn build(tree: &mut Tree, block: usize, shapes: &[Shape]) {
    for shape in shapes {
        match shape {
            Shape::Work(work) => {
                tree.push_work(block, work.clone());
            }
            Shape::Group(flow, regions) => {
                let blocks = tree.push_group(block, *flow, regions.len());
                for (inner, region) in blocks.into_iter().zip(regions) {
                    build(tree, inner, region);
                }
            }
            Shape::Call(works, alone) => tree.push_call(block, works.clone(), Vec::new(), *alone),
        }
    }
}

fn sound(shapes: &[Shape]) -> Result<(), TestCaseError> {
    sound_on(shapes, &[])?;
    sound_on(shapes, &[Pipe::V])
}

fn sound_on(shapes: &[Shape], unordered: &[Pipe]) -> Result<(), TestCaseError> {
    let mut tree = Tree::default();
    build(&mut tree, 0, shapes);
    let planned = run_with(&tree, unordered);
    prop_assert!(planned.problems.is_empty(), "{:?}\n{}", planned.problems, show(&planned.steps, &tree, 0));
    prop_assert!(planned.events.iter().all(|e| e.id < 8));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn random_functions_are_synchronised(shapes in any_shapes(6)) {
        sound(&shapes)?;
    }

    #[test]
    fn random_functions_with_many_buffers_are_synchronised(shapes in any_shapes(40)) {
        sound(&shapes)?;
    }

    #[test]
    fn many_loops_are_synchronised(loops in prop::collection::vec((any_shapes(4), 0..3usize), 0..16)) {
        let nest = |(body, depth): (Vec<Shape>, usize)| {
            (0..depth).fold(body, |body, _| vec![Shape::Group(Flow::Repeat, vec![body])])
        };
        sound(&loops.into_iter().flat_map(nest).collect::<Vec<_>>())?;
    }

    #[test]
    fn long_blocks_are_synchronised(works in prop::collection::vec(any_work(30), 0..80), repeat in any::<bool>()) {
        let body: Vec<Shape> = works.into_iter().map(Shape::Work).collect();
        sound(&if repeat { vec![Shape::Group(Flow::Repeat, vec![body])] } else { body })?;
    }
}
