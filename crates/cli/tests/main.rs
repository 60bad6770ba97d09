//! System tests, in one binary; `files.rs` has its own harness.

use slipring_cli::expect::directives;

#[path = "files/walk.rs"]
mod walk;

mod accepts;
mod architecture;
mod assembler;
mod audit;
mod board_check;
mod branches;
mod cli;
mod contents;
mod cost;
mod dice;
mod examples;
mod glossary;
mod habits;
mod here;
mod inputs;
mod kernels;
mod launches;
mod library_facts;
mod limits;
mod lints;
mod live;
mod lowered_rings;
mod matrix;
mod meaning;
mod micro;
mod mixed;
mod mutants;
mod parts;
mod passes_page;
mod pictures;
mod pipes;
mod project;
mod proofs;
mod public;
mod ready;
mod renamed;
mod rust_page;
mod side_by_side;
mod soundness;
mod split_extents;
mod splits;
mod sync_examples;
mod threads;
mod timings;
mod trace;
mod words;
