//! Lists of builtins that modules below the catalogue need agree with it.

use std::collections::BTreeSet;

use slipring_lang::{Entry, OF_ORCHESTRATIONS, POPS, catalogue};

/// The analysis of bound names uses the text alone.
#[test]
fn words_that_pop_are_those_of_the_catalogue() {
    let pops = |entry: &&Entry| entry.ring().map_or(entry.names == ["TPOP"], |part| part.pops().is_some());
    let own: BTreeSet<&str> = catalogue().filter(pops).flat_map(|entry| entry.names.iter().copied()).collect();
    assert_eq!(own, BTreeSet::from(POPS));
}

/// The lowering, on which the catalogue depends, asks for the starts of kernels.
#[test]
fn what_is_followed_in_a_program_may_stand_in_an_orchestration() {
    for entry in catalogue().filter(|entry| entry.is_followed()) {
        for name in entry.names {
            let word = name.rsplit('.').next().unwrap_or(name);
            // Builtins that are as common in kernels indicate nothing about a function.
            assert!(OF_ORCHESTRATIONS.contains(&word) || ["print", "get_element"].contains(&word), "{name}");
        }
    }
}
