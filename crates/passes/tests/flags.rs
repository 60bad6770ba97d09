//! Random functions: every dependence is covered, whatever the nesting, and no flag is misused.

use proptest::prelude::*;
use slipring_ir::Flow;
use slipring_machine::Pipe;
use slipring_tile::Space;
use smallvec::SmallVec;

use slipring_passes::analysis::touch::{Access, Memory, Work};
use slipring_passes::sync::check::{Problem, SyncStep};
use slipring_passes::sync::events::{Event, assign};
use slipring_passes::sync::index::Conflicts;
use slipring_passes::sync::order::Order;
use slipring_passes::sync::place::{Action, Placement, Side, placements};
use slipring_passes::sync::plan::plan;
use slipring_passes::sync::settle::{flags, settle, steps};
use slipring_passes::sync::tree::{Flag, Tree};

/// V overlaps its own work in UB, MTE3 in global memory.
const OVERLAP: &[(Pipe, Space)] = &[(Pipe::V, Space::Vec), (Pipe::Mte3, Space::Gm)];

/// A tile: 64 bytes of the unified buffer.
fn tile(index: u64, write: bool) -> Access {
    Access { memory: Memory::Local(Space::Vec), bytes: (index * 64, index * 64 + 64), window: None, write }
}

fn work(pipe: Pipe, reads: &[u64], writes: &[u64]) -> Work {
    let accesses = reads.iter().map(|i| tile(*i, false)).chain(writes.iter().map(|i| tile(*i, true)));
    Work { pipe, core: None, accesses: accesses.collect(), inside: SmallVec::new() }
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

fn check(steps: &[SyncStep], works: &[Work], overlapping: &[(Pipe, Space)]) -> Vec<Problem> {
    slipring_passes::sync::check::check(steps, works, &Conflicts::new(works), overlapping)
}

fn accepted(
    tree: &Tree,
    placed: Vec<Placement>,
    overlapping: &[(Pipe, Space)],
) -> Result<(Vec<Placement>, usize), Vec<Problem>> {
    slipring_passes::sync::settle::accepted(tree, &Conflicts::new(&tree.works), placed, overlapping)
}

/// What the planner alone comes to, and what the check says of it.
struct Planned {
    placed: Vec<Placement>,
    events: Vec<Event>,
    problems: Vec<Problem>,
    barriers: usize,
}

fn run(tree: &Tree) -> Planned {
    let conflicts = Conflicts::new(&tree.works);
    let mut order: Order<'_> = plan(tree, &conflicts);
    let (events, _) = assign(&mut order, 8);
    let placed = placements(&order, &conflicts, &events, &[]);
    let problems = check(&steps(tree, &placed), &tree.works, &[]);
    Planned { problems, events, barriers: order.barriers().len(), placed }
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
    let steps = [SyncStep::Work(0), SyncStep::Work(1)];
    assert_eq!(check(&steps, &works, &[]), [Problem::Race(0, 1)]);
}

#[test]
fn the_check_sees_flags_misused() {
    let works = [load(0), compute(0, 1)];
    let flag = Flag { from: Pipe::Mte2, to: Pipe::V, id: 0 };
    let iteration = vec![SyncStep::Work(0), SyncStep::Set(flag), SyncStep::Wait(flag), SyncStep::Work(1)];
    // Nothing keeps the next load from overtaking the compute, nor the next set from overtaking the wait.
    let problems = check(&[SyncStep::Group(Flow::Repeat, vec![iteration])], &works, &[]);
    assert_eq!(problems, [Problem::Race(1, 0), Problem::SetTwice(flag)]);
    assert_eq!(check(&[SyncStep::Wait(flag)], &works, &[]), [Problem::NeverSet(flag)]);
    assert_eq!(check(&[SyncStep::Set(flag)], &works, &[]), [Problem::LeftSet(flag)]);
    let one_arm = SyncStep::Group(Flow::OneOf, vec![vec![SyncStep::Set(flag)], vec![]]);
    assert_eq!(check(&[one_arm], &works, &[]), [Problem::Unbalanced(flag)]);
}

#[test]
fn the_check_knows_pipes_that_overlap_their_own_work() {
    let works = [compute(0, 1), compute(1, 2)];
    let steps = [SyncStep::Work(0), SyncStep::Work(1)];
    assert_eq!(check(&steps, &works, OVERLAP), [Problem::Race(0, 1)]);
    let steps = [SyncStep::Work(0), SyncStep::Barrier(Some(Pipe::V)), SyncStep::Work(1)];
    assert_eq!(check(&steps, &works, OVERLAP), []);
}

#[test]
fn stores_to_the_same_buffer_have_a_barrier_between_them() {
    let out = |buffer| Access { memory: Memory::Global(buffer), bytes: (0, u64::MAX), window: None, write: true };
    let store = |src, buffer| {
        let mut work = store(src);
        work.accesses.push(out(buffer));
        work
    };
    let barriers = |works: &[Work], overlapping: &[(Pipe, Space)]| {
        let mut tree = Tree::default();
        for work in works {
            tree.push_work(0, work.clone());
        }
        let settled = settle(&tree, 8, overlapping).unwrap();
        settled.placed.iter().filter(|p| p.action == Action::Barrier(Some(Pipe::Mte3))).count()
    };
    assert_eq!(barriers(&[store(0, 7), store(1, 7)], OVERLAP), 1);
    assert_eq!(barriers(&[store(0, 7), store(1, 8)], OVERLAP), 0);
    assert_eq!(barriers(&[store(0, 7), store(1, 7)], &[(Pipe::Mte3, Space::Vec)]), 0);
    assert_eq!(
        check(&[SyncStep::Work(0), SyncStep::Work(1)], &[store(0, 7), store(1, 7)], OVERLAP),
        [Problem::Race(0, 1)]
    );
}

#[test]
fn the_check_follows_loops_branches_and_calls() {
    let works = [load(0), compute(0, 1), load(1)];
    let flag = Flag { from: Pipe::Mte2, to: Pipe::V, id: 0 };
    let back = Flag { from: Pipe::V, to: Pipe::Mte2, id: 0 };
    let (set, wait) = (SyncStep::Set(flag), SyncStep::Wait(flag));
    let repeat = |body: Vec<SyncStep>| SyncStep::Group(Flow::Repeat, vec![body]);
    // A wait in a loop that may run no iteration, and in a branch that may not be taken.
    for flow in [Flow::Repeat, Flow::OneOf] {
        let steps =
            [SyncStep::Work(0), set.clone(), SyncStep::Group(flow, vec![vec![wait.clone()]]), SyncStep::Work(1)];
        let problems = check(&steps, &works, &[]);
        assert!(
            problems.contains(&Problem::Unbalanced(flag)) && problems.contains(&Problem::Race(0, 1)),
            "{problems:?}"
        );
    }
    // The last iteration's compute conflicts with work after the loop.
    let body = vec![
        SyncStep::Wait(back),
        SyncStep::Work(0),
        set.clone(),
        wait.clone(),
        SyncStep::Work(1),
        SyncStep::Set(back),
    ];
    let primed = [SyncStep::Set(back), repeat(body), SyncStep::Wait(back), SyncStep::Work(2)];
    assert_eq!(check(&primed, &works, &[]), []);
    let undrained = [&primed[..2], &primed[3..]].concat();
    assert_eq!(check(&undrained, &works, &[]), [Problem::Race(1, 2), Problem::LeftSet(back)]);
    assert!(check(&primed[1..], &works, &[]).contains(&Problem::NeverSet(back)));
    // A callee may use a flag only after whoever waited for it before is known to have done so.
    let call = SyncStep::Call(vec![2], vec![flag]);
    let before = [SyncStep::Work(0), set, wait, SyncStep::Work(1)];
    assert_eq!(
        check(&[&before[..], std::slice::from_ref(&call)].concat(), &works, &[]),
        [Problem::Race(1, 2), Problem::SetTwice(flag)]
    );
    assert_eq!(check(&[&before[..], &[SyncStep::Barrier(None), call.clone()]].concat(), &works, &[]), []);
    assert_eq!(check(&[repeat(vec![call])], &works, &[]), [Problem::SetTwice(flag)]);
}

#[test]
fn the_check_knows_buffers_and_computed_flags() {
    let works = [load(0), compute(0, 1)];
    let repeat = |body: &[SyncStep]| [SyncStep::Group(Flow::Repeat, vec![body.to_vec()])];
    let held = |pipe, work, id| [SyncStep::Get(pipe, id), SyncStep::Work(work), SyncStep::Release(pipe, id)];
    let [first, second] = [held(Pipe::Mte2, 0, 5), held(Pipe::V, 1, 5)];
    assert_eq!(check(&repeat(&[&first[..], &second].concat()), &works, &[]), []);
    // Without the get of one side, the release of the other, or with another buffer.
    let late = [&first[..], &second[1..]].concat();
    assert_eq!(check(&repeat(&late), &works, &[]), [Problem::Race(0, 1)]);
    let kept = [&first[..2], &second[..]].concat();
    assert_eq!(check(&repeat(&kept), &works, &[]), [Problem::Race(0, 1)]);
    let other = [&first[..], &held(Pipe::V, 1, 6)].concat();
    assert_eq!(check(&repeat(&other), &works, &[]), [Problem::Race(0, 1), Problem::Race(1, 0)]);
    // A release on one path only.
    let maybe = SyncStep::Group(Flow::OneOf, vec![vec![SyncStep::Release(Pipe::Mte2, 5)]]);
    let steps = [SyncStep::Get(Pipe::Mte2, 5), SyncStep::Work(0), maybe, SyncStep::Get(Pipe::V, 5), SyncStep::Work(1)];
    assert_eq!(check(&steps, &works, &[]), [Problem::Race(0, 1)]);
    let trusted = [SyncStep::Work(0), SyncStep::Trust(Pipe::Mte2, Pipe::V), SyncStep::Work(1)];
    assert_eq!(check(&trusted, &works, &[]), []);
    assert_eq!(
        check(&[SyncStep::Work(0), SyncStep::Trust(Pipe::V, Pipe::Mte2), SyncStep::Work(1)], &works, &[]),
        [Problem::Race(0, 1)]
    );
}

#[test]
fn deep_nests_are_followed_once_a_level() {
    // A walk for each walk of the loop around would be 2^60 of them.
    let mut tree = Tree::default();
    let mut block = 0;
    for i in 0..60 {
        tree.push_work(block, compute(i % 2, (i + 1) % 2));
        block = tree.push_group(block, Flow::Repeat, 1)[0];
        tree.push_work(block, load(i % 3));
    }
    assert_eq!(settle(&tree, 8, OVERLAP).map(|s| s.mended), Ok(0));
}

#[test]
fn without_any_flags_barriers_do() {
    let mut tree = Tree::default();
    let body = tree.push_group(0, Flow::Repeat, 1)[0];
    tree.push_work(body, load(0));
    tree.push_work(body, compute(0, 1));
    let (placed, mended) = accepted(&tree, Vec::new(), &[]).unwrap();
    assert_eq!(mended, 2);
    assert_eq!(check(&steps(&tree, &placed), &tree.works, &[]), []);
}

/// Work of the scalar unit and of MTE2 in branches and loops of one loop, with more signals than ids.
fn few_ids() -> Tree {
    let scalar = |reads: &[u64], writes: &[u64]| work(Pipe::S, reads, writes);
    let fetch = |reads: &[u64]| work(Pipe::Mte2, reads, &[]);
    let mut tree = Tree::default();
    let body = tree.push_group(0, Flow::Repeat, 1)[0];
    let arms = tree.push_group(body, Flow::OneOf, 2);
    let inner = tree.push_group(arms[1], Flow::OneOf, 2);
    tree.push_work(inner[0], fetch(&[0]));
    let arms = tree.push_group(body, Flow::OneOf, 2);
    let inner = tree.push_group(arms[0], Flow::Repeat, 1)[0];
    tree.push_work(inner, scalar(&[], &[0]));
    tree.push_work(inner, fetch(&[0]));
    let inner = tree.push_group(arms[1], Flow::Repeat, 1)[0];
    tree.push_work(inner, scalar(&[0], &[]));
    let arms = tree.push_group(body, Flow::OneOf, 2);
    tree.push_work(arms[0], load(0));
    tree.push_work(arms[0], load(2));
    tree.push_work(arms[1], scalar(&[], &[0]));
    let arms = tree.push_group(body, Flow::OneOf, 2);
    tree.push_work(arms[0], fetch(&[0]));
    let inner = tree.push_group(arms[1], Flow::Repeat, 1)[0];
    tree.push_work(inner, scalar(&[], &[2]));
    let once = tree.push_group(body, Flow::Once, 1)[0];
    tree.push_work(once, scalar(&[2], &[]));
    let arms = tree.push_group(once, Flow::OneOf, 2);
    let inner = tree.push_group(arms[0], Flow::Repeat, 1)[0];
    tree.push_work(inner, load(2));
    tree
}

#[test]
fn a_signal_that_is_placed_again_has_one_id() {
    // With three ids a barrier drops a signal that had one; later another pair needs the same signal.
    for ids in 1..9 {
        let tree = few_ids();
        let conflicts = Conflicts::new(&tree.works);
        let mut order = plan(&tree, &conflicts);
        let (events, pressure) = assign(&mut order, ids);
        let placed = placements(&order, &conflicts, &events, &[]);
        let problems = check(&steps(&tree, &placed), &tree.works, &[]);
        assert!(problems.is_empty(), "{ids} ids: {problems:?} {pressure:?}\n{}", text(&tree, &placed));
    }
}

/// The steps as text, for failures.
fn show(steps: &[SyncStep], tree: &Tree, depth: usize) -> String {
    let line = |step: &SyncStep| match step {
        SyncStep::Work(work) => {
            let Work { pipe, accesses, .. } = &tree.works[*work];
            let touched = accesses.iter().map(|a| format!(" {}{}", if a.write { "!" } else { "" }, a.bytes.0 / 64));
            format!("{work}: {pipe}{}", touched.collect::<String>())
        }
        SyncStep::Set(Flag { from, to, id }) => format!("set {from}→{to} {id}"),
        SyncStep::Wait(Flag { from, to, id }) => format!("wait {from}→{to} {id}"),
        SyncStep::Trust(from, to) => format!("wait {from}→{to} computed"),
        SyncStep::Get(pipe, id) => format!("get {pipe} {id}"),
        SyncStep::Release(pipe, id) => format!("release {pipe} {id}"),
        SyncStep::Barrier(pipe) => format!("barrier {pipe:?}"),
        SyncStep::Call(works, flags) => format!("call {works:?} {flags:?}"),
        SyncStep::Group(flow, regions) => {
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
    Call(Vec<Work>, Vec<Flag>, bool),
}

fn any_work(tiles: u64) -> impl Strategy<Value = Work> {
    let pipes = prop::sample::select(vec![Pipe::Mte2, Pipe::V, Pipe::Mte3, Pipe::S, Pipe::Mte1]);
    let tiles = || prop::collection::vec(0..tiles, 0..3);
    (pipes, tiles(), tiles()).prop_map(|(pipe, reads, writes)| work(pipe, &reads, &writes))
}

/// A call; one that uses flags begins when nothing is under way, which is what trees are built like.
fn any_call(tiles: u64) -> impl Strategy<Value = Shape> {
    let pipes = || prop::sample::select(vec![Pipe::Mte2, Pipe::V, Pipe::Mte3]);
    let flag = (pipes(), pipes(), 0..3u32).prop_map(|(from, to, id)| Flag { from, to, id });
    let flags = prop::collection::btree_set(flag, 0..4).prop_map(Vec::from_iter);
    let works = prop::collection::vec(any_work(tiles), 1..4);
    (works, flags, any::<bool>()).prop_map(|(w, f, a)| Shape::Call(w, f.clone(), a || !f.is_empty()))
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
            1 => any_call(tiles),
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
            Shape::Call(works, flags, alone) => tree.push_call(block, works.clone(), flags.clone(), *alone),
        }
    }
}

fn sound(shapes: &[Shape], ids: u32) -> Result<(), TestCaseError> {
    let mut tree = Tree::default();
    build(&mut tree, 0, shapes);
    for overlapping in [&[][..], OVERLAP] {
        let settled = match settle(&tree, ids, overlapping) {
            Ok(settled) => settled,
            Err(problems) => return Err(TestCaseError::fail(format!("rejected: {problems:?}\n{}", text(&tree, &[])))),
        };
        // The planner is right by itself.
        prop_assert!(settled.mended == 0, "{}", text(&tree, &settled.placed));
        let problems = check(&steps(&tree, &settled.placed), &tree.works, overlapping);
        prop_assert!(problems.is_empty(), "{:?}\n{}", problems, text(&tree, &settled.placed));
        prop_assert!(flags(&settled.placed).iter().all(|flag| flag.id < ids));
    }
    Ok(())
}

fn text(tree: &Tree, placed: &[Placement]) -> String {
    show(&steps(tree, placed), tree, 0)
}

/// As many cases as `PROPTEST_CASES` says; `usual` where it says nothing.
fn cases(usual: u32) -> ProptestConfig {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    if asked { ProptestConfig::default() } else { ProptestConfig::with_cases(usual) }
}

/// What is done to a plan that mending has to get over.
#[derive(Clone, Debug)]
enum Harm {
    Drop(prop::sample::Index),
    Repeat(prop::sample::Index),
    Swap(prop::sample::Index, prop::sample::Index),
    OtherId(prop::sample::Index),
}

fn any_harm() -> impl Strategy<Value = Harm> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        at().prop_map(Harm::Drop),
        at().prop_map(Harm::Repeat),
        (at(), at()).prop_map(|(a, b)| Harm::Swap(a, b)),
        at().prop_map(Harm::OtherId),
    ]
}

fn harm(placed: &mut Vec<Placement>, harm: &Harm) {
    let length = placed.len();
    if length == 0 {
        return;
    }
    match harm {
        Harm::Drop(at) => drop(placed.remove(at.index(length))),
        Harm::Repeat(at) => placed.push(placed[at.index(length)]),
        Harm::Swap(a, b) => {
            let (a, b) = (a.index(length), b.index(length));
            (placed[a].action, placed[b].action) = (placed[b].action, placed[a].action);
        }
        Harm::OtherId(at) => {
            if let Action::Set(flag) | Action::Wait(flag) = &mut placed[at.index(length)].action {
                flag.id = 0;
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn random_functions_are_synchronised(shapes in any_shapes(6), ids in 1..9u32) {
        sound(&shapes, ids)?;
    }

    #[test]
    fn random_functions_with_many_buffers_are_synchronised(shapes in any_shapes(40), ids in 1..9u32) {
        sound(&shapes, ids)?;
    }

    #[test]
    fn many_loops_are_synchronised(
        loops in prop::collection::vec((any_shapes(4), 0..3usize), 0..17),
        ids in 1..9u32,
    ) {
        let nest = |(body, depth): (Vec<Shape>, usize)| {
            (0..depth).fold(body, |body, _| vec![Shape::Group(Flow::Repeat, vec![body])])
        };
        sound(&loops.into_iter().flat_map(nest).collect::<Vec<_>>(), ids)?;
    }

    #[test]
    fn long_blocks_are_synchronised(
        works in prop::collection::vec(any_work(30), 0..80),
        repeat in any::<bool>(),
        ids in 1..9u32,
    ) {
        let body: Vec<Shape> = works.into_iter().map(Shape::Work).collect();
        sound(&if repeat { vec![Shape::Group(Flow::Repeat, vec![body])] } else { body }, ids)?;
    }

    #[test]
    fn harmed_plans_are_mended(
        shapes in any_shapes(8),
        harms in prop::collection::vec(any_harm(), 1..6),
        ids in 1..9u32,
    ) {
        let mut tree = Tree::default();
        build(&mut tree, 0, &shapes);
        let mut placed = settle(&tree, ids, OVERLAP).unwrap().placed;
        harms.iter().for_each(|h| harm(&mut placed, h));
        let Ok((placed, _)) = accepted(&tree, placed, OVERLAP) else {
            return Err(TestCaseError::fail(text(&tree, &[])));
        };
        prop_assert_eq!(check(&steps(&tree, &placed), &tree.works, OVERLAP), []);
    }
}
