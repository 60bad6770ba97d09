//! No mistake in a stream goes unreported: correct streams are mutated in every way of a list. Each mutant is reported
//! by the linter or the run, or all memories have the contents that its commands define when executed one after
//! another, under many delays.
//!
//! `docs/soundness.md` has the table of the full study.

mod model;

use std::collections::BTreeMap;

use model::{Model, READS, RESULT, result};
use slipring_queue::Layout;
use slipring_queue::board::{Board, built_in};
use slipring_queue::capture::{Capture, Entry, parse};
use slipring_queue::host::{Data, Lowering, Program, Role, lower_programs};
use slipring_queue::lint::lint;
use slipring_queue::machine::{Config, Limits};
use slipring_queue::replay::replay;
use slipring_queue::wire::*;
use slipring_queue::worker::{Job, Worker, WorkerMemory};

/// Correct streams: commands that the fixed host sends, and commands that it never sends.
const TEXTS: [(&str, &str); 5] = [
    (
        "launches",
        "board p150\nwrite (1,2)..(2,3) 0x370 000000e0\nwrite (1,2)..(2,3) 0x70 00*96\neach (1,2)+(2,3) 0x86b0 11111111 22222222\n\
         write (1,2)..(2,3) 0x40000 01*64 02*64\nlaunch (1,2)+(2,3)\ntimestamp 0\nwrite (1,2)..(2,3) 0x40000 03*128\n\
         launch (1,2)..(2,3)\nevent\n",
    ),
    (
        "memory",
        "send WRITE_LINEAR noc_xy=(17,13) addr=0x1000\n> data 0102*2100\nsend WAIT flags=barrier\nevent\nwait\nrecord\n\
         RELAY_INLINE_NOFLUSH\n> WRITE_LINEAR noc_xy=(1,2) addr=0x40000 length=4160\nRELAY_LINEAR noc_xy=(17,14) addr=0x1000 length=4160\n\
         record\nRELAY_INLINE_NOFLUSH\n> WRITE_LINEAR_H_HOST length=8208\nRELAY_PAGED is_dram_and_length_adjust=0x8000 base_addr=0x1000 \
         page_size=4096 pages=2\nevent\n",
    ),
    (
        "pages",
        "send WRITE_PAGED is_dram=1 base_addr=0x1000 page_size=256 pages=20\n> data 03*2560 04*2560\nsend SET_WRITE_OFFSET\n\
         > words 0 0x100 0x200\nsend WRITE_PACKED write_offset_index=1 addr=0x40000\n> sub noc_xy=(1,2)\n> sub noc_xy=(2,2)\n\
         > data 07*48 08*48\nsend WRITE_PACKED flags=no_stride write_offset_index=2 addr=0x40000\n> sub noc_xy=(1,3)\n\
         > sub noc_xy=(2,3)\n> data 09*32\nsend WAIT flags=barrier\nwait\nrecord\nRELAY_INLINE_NOFLUSH\n\
         > WRITE_LINEAR_H_HOST length=2576\nRELAY_PAGED start_page=3 is_dram_and_length_adjust=0x8000 base_addr=0x1000 page_size=256 pages=10\n\
         send TERMINATE\nrecord\nTERMINATE\n",
    ),
    (
        "trace",
        "send WRITE_LINEAR noc_xy=(17,13) addr=0x2000\n\
         > data 05000000 30000000 40000000 00*4 01000000 81000000 00000400 00*4 10000000 00*12 aa*16\n\
         > data 08000000 10000000 40000000 00*4 0b000000 00*44\n> data 00*896\n\
         send WAIT flags=barrier\nwait\nrecord slot=0x8004\nEXEC_BUF base_addr=0x2000 log_page_size=10 pages=1\nevent\n",
    ),
    (
        "streams",
        "send WRITE_LINEAR noc_xy=(1,2) addr=0x40000\n> data 05*64\nsend SET_GO_SIGNAL_NOC_DATA\n> words 0x81 0xc1\n\
         send WAIT flags=barrier|stream|clear stream=48\nsend SEND_GO_SIGNAL go_signal=0x80030e00 multicast_go_offset=255 \
         num_unicast_txns=2 wait_stream=48\nsend WAIT flags=stream stream=48 count=2\nsend WRITE_LINEAR noc_xy=(1,2) addr=0x40000\n\
         > data 06*64\nsend WAIT flags=barrier\nsend SEND_GO_SIGNAL go_signal=0x80030e00 multicast_go_offset=255 \
         num_unicast_txns=1 noc_data_start_index=0 wait_count=2 wait_stream=48\nsend WAIT flags=stream|clear stream=48 count=3\nevent\n",
    ),
];

fn bases() -> Vec<(&'static str, Capture)> {
    let parsed = TEXTS.iter().map(|(name, text)| {
        let capture = parse(text).into_result().unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
        (*name, capture)
    });
    parsed.chain([("program", program())]).collect()
}

/// The commands of the host in the fixed configuration for a program, with barriers.
fn program() -> Capture {
    let (board, layout) = (built_in("p100").expect("p100"), Layout::default());
    let tiles: Vec<Xy> = board.workers().take(14).collect();
    let launch = LaunchMessage { kernel_config_base: 0x86B0, local_cb_offset: 16, enables: 1, ..Default::default() };
    let program = Program {
        args: Data::Each(tiles.iter().map(|tile| vec![tile.x; 12]).collect()),
        roles: vec![Role { tiles: tiles.clone(), launch, image: vec![7; 300] }],
        tiles,
    };
    let how = Lowering { core_timing: true, ..Lowering::CAREFUL };
    let mut commands = lower_programs(&[program.clone(), program], how, &board, &layout).expect("fits");
    commands.push(host_event(1));
    let entry = |command: &DispatchCommand| Entry::new(relay_inline(command.encode()).expect("fits").encode());
    Capture { board: "p100".into(), entries: commands.iter().map(entry).collect(), ..Capture::default() }
}

/// A worker that hashes the memory that it sees when it starts.
#[derive(Default)]
struct Hash(BTreeMap<Xy, [u8; 16]>);

impl Worker for Hash {
    fn start(&mut self, job: &Job, memory: &mut WorkerMemory<'_>) -> Result<u64, String> {
        let mut launch = Vec::new();
        job.launch.append(&mut launch);
        let mut found = Vec::new();
        for (addr, bytes) in READS {
            let mut part = vec![0; bytes];
            memory.read(addr, &mut part)?;
            found.push(part);
        }
        let mut last = [0; 16];
        memory.read(RESULT, &mut last)?;
        self.0.insert(job.tile, result(&launch, &found, &last));
        Ok(1000)
    }

    fn finish(&mut self, job: &Job, memory: &mut WorkerMemory<'_>) -> Result<(), String> {
        memory.write(RESULT, &self.0[&job.tile])
    }
}

/// A stream with one change, and its description.
struct Mutant {
    kind: &'static str,
    what: String,
    capture: Capture,
}

/// Replacement values for a field.
fn others(value: u64, bits: usize) -> Vec<u64> {
    let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    let near = [1, 16, 64, 4096].into_iter().flat_map(|d| [value.wrapping_add(d), value.wrapping_sub(d)]);
    let flags = (0..bits.min(8)).map(|bit| value ^ 1 << bit);
    let mut all: Vec<u64> = near.chain(flags).chain([0, u64::MAX, value << 1]).map(|v| v & mask).collect();
    all.sort_unstable();
    all.dedup();
    all.retain(|v| *v != value & mask);
    all
}

fn mutants(base: &Capture) -> Vec<Mutant> {
    let mut all = Vec::new();
    let mut add = |kind, what: String, change: &dyn Fn(&mut Capture)| {
        let mut capture = base.clone();
        change(&mut capture);
        all.push(Mutant { kind, what, capture });
    };
    for (i, entry) in base.entries.iter().enumerate() {
        add("record dropped", format!("record {i}"), &|c| drop(c.entries.remove(i)));
        add("record twice", format!("record {i}"), &|c| c.entries.insert(i, c.entries[i].clone()));
        if i + 1 < base.entries.len() {
            add("records swapped", format!("records {i} and {}", i + 1), &|c| c.entries.swap(i, i + 1));
        }
        if entry.waits {
            add("wait of the host dropped", format!("record {i}"), &|c| c.entries[i].waits = false);
        }
        for slot in others(entry.slot.into(), 16) {
            add("slot", format!("record {i}: {slot:#x}"), &|c| c.entries[i].slot = slot as u16);
        }
        let mut at = 0;
        while let Ok((command, stride)) = PrefetchCommand::decode(&entry.bytes[at..]) {
            let mut field = |kind, name: &str, offset: usize, bytes: usize| {
                let old = entry.bytes[offset..offset + bytes].iter().rev().fold(0, |v, b| v << 8 | u64::from(*b));
                for new in others(old, 8 * bytes) {
                    add(kind, format!("record {i}, {name} at +{offset:#x}: {old:#x} to {new:#x}"), &|c| {
                        c.entries[i].bytes[offset..offset + bytes].copy_from_slice(&new.to_le_bytes()[..bytes]);
                    });
                }
            };
            for (f, _) in command.header.fields() {
                field("field of the prefetcher", f.name, at + f.offset, f.bytes);
            }
            let inner = at + command.header.header_bytes();
            if let Ok(header) = Dispatch::decode(&command.payload) {
                for (f, _) in header.fields() {
                    let kind = match f.name {
                        "addr" | "base_addr" | "noc_xy" => "address or place",
                        "flags" | "stream" | "wait_stream" | "wait_count" => "wait or flag",
                        "count" | "length" | "size" | "pages" | "page_size" | "num_words" => "count or length",
                        _ => "other field of the dispatcher",
                    };
                    field(kind, f.name, inner + f.offset, f.bytes);
                }
                if let Ok(extent) = header.extent(&command.payload) {
                    for word in extent.subs.step_by(4).take(9) {
                        field("list", "a word of the list", inner + word, 4);
                    }
                }
            }
            at += stride;
            if at >= entry.bytes.len() {
                break;
            }
        }
    }
    all
}

/// The outcome of a mutant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Outcome {
    Linted,
    Found,
    Meant,
    Wrong,
}

/// Windows of every worker's L1 that are compared.
const WINDOWS: [(u32, usize); 3] = [(0x86B0, 0x900), (0x4_0000, 0x2000), (RESULT, 16)];

fn judge(capture: &Capture, board: &Board, seeds: u64) -> Result<Outcome, String> {
    if !lint(capture, board, &Layout::default()).findings.is_empty() {
        return Ok(Outcome::Linted);
    }
    let mut model = Model::new(board);
    let meaning = model.run(capture);
    let mut outcome = Outcome::Meant;
    for seed in 0..seeds {
        let limits = Limits { steps: 200_000, ..Limits::default() };
        let config = Config { limits, ..Config::new(board.clone()).with_seed(seed) };
        let mut run = replay(capture, config, Box::new(Hash::default()), |_, _| {})?;
        if !run.findings.is_empty() {
            outcome = outcome.min(Outcome::Found);
            continue;
        }
        if let Err(why) = &meaning {
            return Err(format!("it has no meaning, and nothing is said: {why}"));
        }
        let completions: Vec<(bool, Vec<u8>)> = run.completions.iter().map(|c| (c.is_event, c.bytes.clone())).collect();
        if completions != model.host {
            return Err(format!("seed {seed}: other completions"));
        }
        let machine = run.queue.device();
        let same = |tile: Xy, addr: u64, expected: &[u8]| {
            let mut found = vec![0; expected.len()];
            machine.peek(tile, addr, &mut found).expect("memory");
            match found == expected {
                true => Ok(()),
                false => Err(format!("seed {seed}: other bytes from {addr:#x} of {tile} on")),
            }
        };
        for (tile, l1) in &model.l1 {
            for (addr, bytes) in WINDOWS {
                same(*tile, addr.into(), &l1[addr as usize..addr as usize + bytes])?;
            }
        }
        for (bank, bytes) in board.banks.iter().zip(&model.dram) {
            // After the first 64 KiB, only where something is expected.
            let more = bytes[0x1_0000..].iter().any(|byte| *byte != 0);
            same(bank.ports[0], 0, if more { bytes } else { &bytes[..0x1_0000] })?;
        }
    }
    Ok(outcome)
}

/// Tests every `step`th mutant under some seeds; returns a table, and the errors.
fn study(step: usize, seeds: u64) -> (BTreeMap<&'static str, [u64; 4]>, Vec<String>) {
    let (mut table, mut wrong) = (BTreeMap::new(), Vec::new());
    let mut number = 0;
    let only = std::env::var("ONLY").unwrap_or_default();
    for (name, base) in bases().into_iter().filter(|(name, _)| only.is_empty() || *name == only) {
        let board = built_in(&base.board).expect("a board");
        assert_eq!(judge(&base, &board, seeds), Ok(Outcome::Meant), "{name} is right");
        for mutant in mutants(&base) {
            number += 1;
            if number % step != 0 {
                continue;
            }
            let outcome = judge(&mutant.capture, &board, seeds).unwrap_or_else(|why| {
                wrong.push(format!("{name}, {}: {}: {why}", mutant.kind, mutant.what));
                Outcome::Wrong
            });
            table.entry(mutant.kind).or_insert([0; 4])[outcome as usize] += 1;
        }
    }
    (table, wrong)
}

#[test]
fn no_mutant_is_wrong_without_a_word() {
    let (table, wrong) = study(131, 2);
    assert!(wrong.is_empty(), "{wrong:#?}");
    let sum = |outcome: Outcome| table.values().map(|row| row[outcome as usize]).sum::<u64>();
    assert!(sum(Outcome::Linted) > 15 && sum(Outcome::Meant) > 5, "{table:?}");
}

/// The full study: `cargo test --release -p slipring-queue --test all mutants:: -- --ignored --nocapture`
#[test]
#[ignore = "takes minutes"]
fn every_mutant_under_twenty_seeds() {
    // `STEP=7` takes every seventh mutant, `SEEDS=5` fewer delays, `ONLY=pages` one stream.
    let number = |name, usual| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (table, wrong) = study(number("STEP", 1) as usize, number("SEEDS", 20));
    println!(
        "| what is changed | mutants | reported by `lint` | by the run | as it means | wrong without a word |\n|---|--:|--:|--:|--:|--:|"
    );
    let mut all = [0; 4];
    for (kind, row) in &table {
        all.iter_mut().zip(row).for_each(|(sum, n)| *sum += n);
        println!("| {kind} | {} | {} | {} | {} | {} |", row.iter().sum::<u64>(), row[0], row[1], row[2], row[3]);
    }
    println!("| all | {} | {} | {} | {} | {} |", all.iter().sum::<u64>(), all[0], all[1], all[2], all[3]);
    for line in &wrong {
        println!("{line}");
    }
    assert!(wrong.is_empty(), "{} mutants are wrong without a word", wrong.len());
}
