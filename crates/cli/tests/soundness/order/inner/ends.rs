//! The possible results of a vector function in memory: its events executed on numbers, in every legal order.

use std::collections::BTreeSet;

use super::{Ld, Program, St, Vld, Vst, of_seed};

/// Maximum number of orders of a program that are executed.
const ORDERS: usize = 2_000;

/// The possible contents of a program's buffer: in the usual order, and in any order. `None` if it has too many orders.
/// Stores to the same bytes keep their order.
pub fn ends(seed: u64, input: &[f32]) -> Option<(Vec<f32>, BTreeSet<Vec<u32>>)> {
    let program = of_seed(seed);
    if program.events.len() > 40 {
        return None;
    }
    let usual = program.left(&(0..program.events.len()).collect::<Vec<_>>(), input);
    let mut all = BTreeSet::new();
    let bits = |left: Vec<f32>| left.into_iter().map(f32::to_bits).collect();
    let complete = program.before(true).each_order(ORDERS, &mut |order| {
        all.insert(bits(program.left(order, input)));
    });
    complete.then_some((usual, all))
}

impl Program {
    /// The result of the events in an order.
    fn left(&self, order: &[usize], input: &[f32]) -> Vec<f32> {
        let mut memory = input.to_vec();
        let mut values: Vec<Vec<f32>> = vec![Vec::new(); self.events.len()];
        for at in order {
            let event = &self.events[*at];
            let taken = |which: usize| event.from.get(which).map(|from| &values[*from]);
            let lanes = |from: u64, to: u64| from as usize / 4..to as usize / 4;
            let value = match (event.access, taken(0), taken(1)) {
                (Some((Vld | Ld, from, to)), ..) => memory[lanes(from, to)].to_vec(),
                (Some((Vst, from, to)), Some(value), _) => {
                    memory[lanes(from, to)].copy_from_slice(&value[..lanes(from, to).len()]);
                    Vec::new()
                }
                (Some((St, from, _)), value, _) => {
                    memory[from as usize / 4] = value.map_or(1.5, |value| value[0]);
                    Vec::new()
                }
                (None, Some(a), Some(b)) => a.iter().zip(b).map(|(a, b)| a + b).collect(),
                // A number in every lane.
                (None, Some(number), None) => vec![number[0]; 64],
                _ => Vec::new(),
            };
            values[*at] = value;
        }
        memory
    }
}
