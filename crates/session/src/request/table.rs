//! The options of a run, in the order of the help.

use std::ops::RangeInclusive;

use slipring_sim::Timing;

use super::option::Way::{Board, BoardProgram, Check, Kernel, Program, Proof, Rings, Stepping, Tune};
use super::option::{ALL, OF_KERNELS, OF_PROGRAMS, ON_BOARDS, RunOption, Takes};
use crate::assume::is_empty;
use crate::facts::{TOOLS, TOOLS_HELP};
use crate::options::{MOST_DEVICES, MOST_LAUNCHES, MOST_SLACK};
use crate::{MOST_BLOCKS, tools};

/// Common values of most options.
const OPTION: RunOption = RunOption {
    name: "",
    takes: Takes::Own,
    value: "N",
    help: "",
    of: ALL,
    instead: &[],
    unless: &[],
    not_on_command_line: None,
    not_in_python: None,
    yields: false,
    whole: None,
};

const ANY: RangeInclusive<u64> = 0..=u64::MAX;

/// The options, in the order of the help.
pub static OPTIONS: &[RunOption] = &[
    RunOption {
        name: "blocks",
        takes: Takes::Number(1..=MOST_BLOCKS as u64, |request| &mut request.run.blocks),
        help: "Number of blocks in the launch; each runs on its own cluster. Defaults to the file's `// blocks:` line, else 1",
        of: OF_KERNELS,
        instead: &[(Program, "`pl.spmd(n)` sets the number of blocks of a task, `--clusters` the number of clusters")],
        ..OPTION
    },
    RunOption {
        name: "max_steps",
        takes: Takes::Number(ANY, |request| &mut request.run.limits.steps),
        help: "Stop after this many steps: one per scalar instruction, 8 per vector instruction, 1 per 4 cycles of other operations",
        ..OPTION
    },
    RunOption {
        name: "max_cycles",
        takes: Takes::Number(ANY, |request| &mut request.run.limits.cycles),
        help: "Stop after this many cycles",
        ..OPTION
    },
    RunOption {
        name: "max_memory",
        takes: Takes::Number(ANY, |request| &mut request.run.limits.memory),
        value: "BYTES",
        help: "Refuse to run a launch that needs more bytes for buffers and local memories",
        ..OPTION
    },
    RunOption {
        name: "max_output",
        takes: Takes::Number(ANY, |request| &mut request.run.limits.output),
        value: "BYTES",
        help: "Stop a program that prints more than this many bytes",
        ..OPTION
    },
    RunOption {
        name: "clusters",
        takes: Takes::Number(1..=MOST_BLOCKS as u64, |request| &mut request.clusters),
        help: "Number of clusters for the tasks of a program. Defaults to all of the platform",
        of: OF_PROGRAMS,
        ..OPTION
    },
    RunOption {
        name: "devices",
        takes: Takes::Number(1..=MOST_DEVICES as u64, |request| &mut request.devices),
        help: "Number of devices for a multi-device program (`pld.world_size()`). Defaults to 2",
        of: OF_PROGRAMS,
        ..OPTION
    },
    RunOption {
        name: "order",
        takes: Takes::Number(ANY, |request| &mut request.order),
        help: "Seed that decides which of several ready tasks starts; 0 takes the one submitted first",
        of: OF_PROGRAMS,
        ..OPTION
    },
    RunOption {
        name: "windows",
        takes: Takes::Contents(|request, contents| request.windows = Some(contents)),
        help: "What the windows that devices share hold at first",
        of: &[Program],
        instead: &[(BoardProgram, "devices of a board keep nothing between runs")],
        not_on_command_line: Some("a process has nothing of an earlier run"),
        ..OPTION
    },
    RunOption {
        name: "host",
        value: "functions by their names",
        help: "The functions of the host that a program calls",
        of: &[Program],
        instead: &[(BoardProgram, "functions of the host are not called there; run it without `--device`")],
        not_on_command_line: Some("they are functions of Python"),
        ..OPTION
    },
    RunOption {
        name: "gm_slack",
        takes: Takes::Number(0..=MOST_SLACK, |request| &mut request.run.gm_slack),
        value: "BYTES",
        help: "Zeroed bytes after each buffer in global memory, as a device allocator leaves them; accessing them is not a finding",
        of: &[Kernel, Board, Proof, Rings, Stepping],
        ..OPTION
    },
    RunOption {
        name: "timing",
        takes: Takes::Text(Some("platform"), Timing::FORMS, |request, text| {
            request.run.timing = text.parse()?;
            Ok(())
        }),
        value: "T",
        help: "Durations of operations: `platform`, `random:SEED` (each step and signal takes from 1 to 131072 cycles), `slow:AIV0` or \
               `slow:AIC.FIX` (that core or pipe is slow, everything else fast). A kernel that is clean for all schedules gives the same \
               bytes",
        of: &[Kernel, Program, Rings, Stepping],
        instead: &[(Board, "the board has `--delays`")],
        whole: Some(|request| request.run.timing != Timing::default()),
        ..OPTION
    },
    RunOption {
        name: "schedule",
        takes: Takes::Lines("delay AIV0.MTE3 work 4 by 1200", |request, lines| {
            request.run.delays = lines
                .iter()
                .map(|line| line.parse())
                .collect::<Result<_, String>>()
                .map_err(|error| format!("takes a schedule: {error}"))?;
            Ok(())
        }),
        value: "FILE",
        help: "Delayed operations, one per line: `delay AIV0.MTE3 work 4 by 1200`, as written by `slipring prove --schedule` and by the \
               debugger",
        of: &[Kernel, Stepping],
        instead: &[(Board, "the board has `--delays`")],
        yields: true,
        whole: Some(|request| !request.run.delays.is_empty()),
        ..OPTION
    },
    RunOption {
        name: "launches",
        takes: Takes::Number(1..=MOST_LAUNCHES as u64, |request| &mut request.run.launches),
        help: "Launch this many times, each time with the given arguments: a kernel on the device as the previous launch left it (local \
               memories, and signals if the platform keeps them), a whole program with the next `--order`. Reports the last launch, or the \
               first one with a finding",
        of: &[Kernel, Program],
        instead: &[(Board, "run it several times")],
        whole: Some(|request| request.run.launches > 1),
        ..OPTION
    },
    RunOption {
        name: "time_only",
        takes: Takes::Flag(|request| &mut request.run.time_only),
        help: "Only count cycles: compute nothing, and do not look for races or uninitialised bytes. For launches too large to run",
        of: &[Kernel],
        unless: &["verify", "check", "strict"],
        not_in_python: Some("a call leaves its results in the arrays, and there would be none"),
        whole: Some(|request| request.run.time_only),
        ..OPTION
    },
    RunOption {
        name: "verify",
        takes: Takes::Flag(|request| &mut request.verify),
        help: "Also run the source sequentially, op by op, and compare every buffer",
        of: &[Kernel, Program],
        whole: Some(|request| request.verify),
        ..OPTION
    },
    RunOption {
        name: "check",
        takes: Takes::Words("all", TOOLS, |request, text| {
            request.run.tools = tools(text)?;
            Ok(())
        }),
        value: "TOOLS",
        help: TOOLS_HELP,
        of: &[Kernel, Program, Rings, Stepping, Tune],
        instead: &[(Board, "all checks are made, in a run without the board")],
        ..OPTION
    },
    RunOption {
        name: "assume",
        takes: Takes::Texts("n % 8 == 0", |request, texts| {
            if let Some(empty) = texts.iter().find(|text| is_empty(text)) {
                return Err(format!("takes conditions such as `n % 8 == 0`, and there is none in `{empty}`"));
            }
            request.run.assume = texts;
            Ok(())
        }),
        value: "CONDITIONS",
        help: "Precondition on the scalar arguments, such as `n % 8 == 0, valid_row <= 32`. A launch that violates it is a finding, and \
               proofs do not cover it. May be repeated; assumptions of the kernel itself are added",
        of: &[Kernel, Proof, Stepping, Check],
        instead: &[(Program, "its tasks pass what they are given"), (Board, "prove it, or run it without `--device`")],
        ..OPTION
    },
    RunOption {
        name: "strict",
        takes: Takes::Flag(|request| &mut request.run.strict),
        help: "Treat uninitialised bytes in the results as errors, not warnings",
        of: &[Kernel, Program, Proof, Stepping],
        ..OPTION
    },
    RunOption {
        name: "events",
        takes: Takes::Number(ANY, |request| &mut request.run.events),
        help: "How many events are kept for the timeline",
        of: &[Kernel],
        instead: &[(Board, "`trace` has the timeline of the board")],
        not_on_command_line: Some("`--trace`, `--timeline` and `--lines` keep all of them"),
        ..OPTION
    },
    RunOption {
        name: "record",
        takes: Takes::Flag(|request| &mut request.run.record),
        help: "Keep everything that happens, for `trace`",
        of: &[Kernel, Program, Board, BoardProgram],
        not_on_command_line: Some("`--trace`, `--timeline`, `--lines` and `--advice` ask for it"),
        whole: Some(|request| request.run.record),
        ..OPTION
    },
    RunOption {
        name: "device",
        takes: Takes::Text(None, "a board: p100, p150, or the name of a file", |request, text| {
            request.device = Some(text.into());
            Ok(())
        }),
        value: "BOARD",
        help: "Launch through the command queue of a board (p100, p150, or a board file `my.toml`), one block per worker",
        of: ON_BOARDS,
        yields: true,
        whole: Some(|request| request.device.is_some()),
        ..OPTION
    },
    RunOption {
        name: "delays",
        takes: Takes::Number(ANY, |request| &mut request.delays),
        help: "Seed for the delays of the board, to reach other interleavings",
        of: ON_BOARDS,
        yields: true,
        whole: Some(|request| request.delays.is_some()),
        ..OPTION
    },
];
