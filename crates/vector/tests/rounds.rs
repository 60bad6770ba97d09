//! Loops whose iterations may be executed many at a time are equivalent to the same loops executed one iteration at a
//! time.

use proptest::prelude::*;
use slipring_machine::{Role, VectorOp, VectorPort, built_in};
use slipring_program::{Access, Discover, Env, Inst, Memory, Operand, Output, Reg, Run, Scratch};
use slipring_tile::Space;
use slipring_vector::{Arg, Function, Kind, Machine, Parts, Slot, Step, Whole};

/// Bytes of the unified buffer.
const BYTES: usize = 16384;

/// A loop: iterations of two loads, a sum, and a store; followed by one more load.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// First addresses.
    from: [u64; 3],
    /// Bytes per element for each address.
    bytes: [u64; 3],
    count: u64,
    step: u64,
    /// Increment of the store's pointer.
    moves: u64,
    /// The step limit, if it is small.
    limit: Option<u64>,
}

fn function(shape: &Shape, at_once: bool) -> Function {
    let [i, to] = [Reg(0), Reg(1)];
    let (reg, imm) = (Operand::Reg, Operand::Imm);
    let code = vec![
        Inst::Move { d: to, a: imm(shape.from[2]) },
        Inst::Move { d: i, a: imm(0) },
        Inst::JumpIfGe { a: reg(i), b: imm(shape.count), to: 10 },
        Inst::Issue { work: 0 },
        Inst::Issue { work: 1 },
        Inst::Issue { work: 2 },
        Inst::Issue { work: 3 },
        Inst::Add { d: to, a: reg(to), b: imm(shape.moves) },
        Inst::Add { d: i, a: imm(shape.step), b: reg(i) },
        Inst::Jump { to: 2 },
        Inst::Issue { work: 4 },
        Inst::End,
    ];
    let sites = (0..code.len() as u32).collect();
    let cost = VectorOp { port: VectorPort::Alu, latency: 5, busy: 1 };
    let [a, b, sum, last] = [0, 1, 2, 3].map(Slot);
    let element = |base, offset, bytes| [Arg::Element { base, offset, bytes }].into_iter().collect();
    let load = |slot: Slot, args| Step {
        args,
        writes: [slot].into_iter().collect(),
        memory: Some(Kind::VectorLoad),
        whole: Some(Whole::Load(slot)),
        ..Step::new("load", cost, move |m: &mut Machine<'_>, args| m.load_register(slot, args[0]).map(|()| 0))
    };
    let add = Step {
        reads: [a, b].into_iter().collect(),
        writes: [sum].into_iter().collect(),
        on_registers: at_once,
        ..Step::new("add", cost, move |m, _| {
            m.produce(sum, |m, out| {
                for (lane, out) in out.0.iter_mut().enumerate() {
                    *out = m.reg(a).0[lane].wrapping_add(m.reg(b).0[lane]);
                }
            });
            Ok(0)
        })
    };
    let store = Step {
        args: element(reg(to), reg(i), shape.bytes[2]),
        reads: [sum].into_iter().collect(),
        data: [sum].into_iter().collect(),
        memory: Some(Kind::VectorStore),
        whole: Some(Whole::Store(sum, None)),
        ..Step::new("store", cost, move |m, args| m.store_register(sum, args[0]).map(|()| 0))
    };
    let steps = vec![
        load(a, element(imm(shape.from[0]), reg(i), shape.bytes[0])),
        load(b, element(imm(shape.from[1]), reg(i), shape.bytes[1])),
        add,
        store,
        load(last, element(imm(0), imm(0), 1)),
    ];
    let spec = built_in("a5").ok().and_then(|platform| platform.vector_function).expect("the A5 has one");
    Function::new(Parts { code, sites, steps, slots: 4, inputs: Vec::new(), spec })
}

/// The complete outcome of an execution, and the bytes; executed twice, because of data kept between executions.
fn outcome(shape: &Shape, at_once: bool) -> [(String, Vec<u8>); 2] {
    let function = function(shape, at_once);
    let mut memory = Memory::with_sizes(1, |_| BYTES);
    let env = Env { block: 0, core: Role::Aiv0 };
    let mut ub = memory.take(env, env.core, Space::Vec, 0);
    for (at, byte) in ub.iter_mut().enumerate() {
        *byte = (at * 7 + at / 256 * 13) as u8;
    }
    memory.put_back(env, env.core, Space::Vec, 0, ub);
    let mut scratch = Scratch::default();
    [(); 2].map(|()| {
        let (mut access, mut output) = (Access::default(), Output::default());
        scratch.steps = shape.limit.unwrap_or(1 << 20);
        let run = Run { env, memory: &mut memory, scratch: &mut scratch, output: &mut output };
        let outcome = function.discover(&[], run, &mut access);
        let ub = memory.take(env, env.core, Space::Vec, 0);
        let bytes = ub.clone();
        memory.put_back(env, env.core, Space::Vec, 0, ub);
        (format!("{outcome:?} {} {access:?}", scratch.steps), bytes)
    })
}

fn shapes() -> impl Strategy<Value = Shape> {
    let from = || prop_oneof![(0u64..64).prop_map(|n| n * 256), (0u64..512).prop_map(|n| n * 32), 0..BYTES as u64];
    let bytes = || prop_oneof![Just(4u64), Just(4), Just(8), Just(2), Just(0)];
    let limit = prop_oneof![3 => Just(None), 1 => (0u64..1500).prop_map(Some)];
    let moves = prop_oneof![Just(0u64), Just(0), Just(256), Just(32), Just(0u64.wrapping_sub(256))];
    let counted = (0u64..2600, prop_oneof![Just(64u64), Just(64), Just(128), Just(8), Just(1)]);
    ([from(), from(), from()], [bytes(), bytes(), bytes()], counted, moves, limit)
        .prop_map(|(from, bytes, (count, step), moves, limit)| Shape { from, bytes, count, step, moves, limit })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// The same bytes, accesses, conflicts, cycles, steps of the limit and faults.
    #[test]
    fn at_once_and_one_by_one_are_the_same(shape in shapes()) {
        let (at_once, one_by_one) = (outcome(&shape, true), outcome(&shape, false));
        for (at_once, one_by_one) in at_once.iter().zip(&one_by_one) {
            prop_assert_eq!(&at_once.0, &one_by_one.0);
            prop_assert!(at_once.1 == one_by_one.1);
        }
    }
}
