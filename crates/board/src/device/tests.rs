//! Workers that run kernels: the results equal those of a direct run, and anything that cannot be run is named.

use slipring_ir::{Diags, Source};
use slipring_queue::Layout;
use slipring_queue::board::{Board, built_in};
use slipring_queue::host::{Kernels, Queue, Settings};
use slipring_queue::machine::{Config, Machine};
use slipring_queue::sanitize::Hazard;
use slipring_queue::worker::image::{Buffer, Image, TEXT};
use slipring_sim::ExecutionMode;

use super::*;
use slipring_session::args::{Defaults, bound};
use slipring_session::{Bound, ExecuteOptions, Prepared, check, execute, load, prepare};

/// y = x + 2: 16 × 16 elements for each block.
const TILES: &str = "
func.func @add(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %a: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c128 = arith.constant 128 : index
  %b = pto.get_block_idx
  %block = arith.index_cast %b : i64 to index
  %row = arith.muli %block, %c16 : index
  %xv = pto.make_tensor_view %x, shape = [%c128, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %yv = pto.make_tensor_view %y, shape = [%c128, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %xp = pto.partition_view %xv, offsets = [%row, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
  %yp = pto.partition_view %yv, offsets = [%row, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  %u = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  pto.tload ins(%xp : !pto.partition_tensor_view<16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
  pto.tadds ins(%t, %a : !pto.tile_buf<vec, 16x16xf32>, f32) outs(%u : !pto.tile_buf<vec, 16x16xf32>)
  pto.tstore ins(%u : !pto.tile_buf<vec, 16x16xf32>) outs(%yp : !pto.partition_tensor_view<16x16xf32>)
  return
}
";
/// Every block adds its number plus one to the same element.
const SUM: &str = "
func.func @sum(%out: !pto.ptr<i64>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i64
  %block = pto.get_block_idx
  %mine = arith.addi %block, %one : i64
  %old = pto.load_scalar %out[%c0] : !pto.ptr<i64> -> i64
  %new = arith.addi %old, %mine : i64
  pto.store_scalar %new, %out[%c0] : !pto.ptr<i64>, i64
  return
}
";
const BLOCKS: &str = include_str!("../../../../tests/files/run/blocks.pto");
const MATMUL: &str = include_str!("../../../../examples/matmul_to_vector.pto");
const CLUSTERS: &str = include_str!("../../../../examples/two_clusters.pto");

fn prepared(text: &str, platform: &Platform) -> Prepared {
    let (module, mut diags): (_, Diags) = load(Source::new("test", text));
    check(&module, platform, &mut diags);
    let prepared = (!diags.has_errors()).then(|| prepare(module, None, platform, &mut diags)).flatten();
    prepared.unwrap_or_else(|| panic!("{:?}", diags.list))
}

fn values(prepared: &Prepared, args: &[&str]) -> Vec<Bound<'static>> {
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_string()).collect();
    bound(&args, &prepared.decoded.program.params, &Defaults::default()).unwrap()
}

/// Runs directly and through the queue, on these blocks and under several delays.
fn same(text: &str, args: &[&str], blocks: &[u32]) {
    let platform = slipring_machine::built_in("a5").expect("a5");
    let prepared = prepared(text, &platform);
    let values = values(&prepared, args);
    for (at, &blocks) in blocks.iter().enumerate() {
        let options = ExecuteOptions { blocks, mode: ExecutionMode::Pipes, gm_slack: 0, ..ExecuteOptions::default() };
        let direct = execute(&prepared.decoded, &platform, &values, options, &mut ());
        assert!(direct.result.complete, "{:?}", direct.result.findings);
        for delays in [None, Some(1), Some(2), Some(3)] {
            let board = built_in(["p100", "p150"][at % 2]).expect("a board");
            let order = Order {
                board,
                blocks,
                delays,
                gm_slack: 0,
                limits: slipring_sim::Limits::default(),
                trace: false,
                record: false,
            };
            let run = run_on_device(text, None, &platform, &values, &order).expect("can be run");
            assert!(run.complete && run.findings.is_empty(), "{:?}", run.findings);
            assert_eq!(run.runs.iter().map(|r| r.block).collect::<Vec<_>>(), (0..blocks).collect::<Vec<_>>());
            for index in 0..values.len() {
                assert!(
                    run.buffers[index].as_deref() == direct.buffer(&values, index),
                    "{blocks} blocks, parameter {index}"
                );
            }
        }
    }
}

#[test]
fn the_queue_gives_the_bytes_of_the_direct_run() {
    let tiles = ["rand:f32[128x16],seed=4", "zeros:f32[128x16]", "2.0:f32"];
    same(TILES, &tiles, &[1, 2, 8]);
    let matmul = ["rand:f16[64x64],seed=1", "rand:f16[64x64],seed=2", "zeros:f32[64x64]", "zeros:131072"];
    same(MATMUL, &matmul, &[1, 2, 8]);
    let clusters = ["rand:f16[256x32],seed=1", "rand:f16[32x32],seed=2", "zeros:f32[256x32]", "zeros:262144"];
    same(CLUSTERS, &clusters, &[1, 2, 8]);
    // More blocks than workers: 118 and 138 of them.
    same(BLOCKS, &["zeros:i64[300]"], &[119, 300]);
}

#[test]
fn blocks_that_add_to_the_same_element_come_out_as_if_one_after_the_other() {
    let platform = slipring_machine::built_in("a5").expect("a5");
    let values = values(&prepared(SUM, &platform), &["zeros:i64[1]"]);
    for delays in [None, Some(1), Some(2)] {
        let order = Order {
            board: built_in("p150").expect("p150"),
            blocks: 8,
            delays,
            gm_slack: 0,
            limits: slipring_sim::Limits::default(),
            trace: false,
            record: false,
        };
        let run = run_on_device(SUM, None, &platform, &values, &order).expect("can be run");
        assert_eq!(run.buffers[0].as_deref(), Some(&36u64.to_le_bytes()[..]));
        assert!(run.runs.iter().any(|block| block.again));
    }
}

/// What the machine says when a worker is launched with these bytes as its image and these words as its arguments.
fn fault(image: &[u8], words: [u32; 2]) -> String {
    let board = built_in("p100").expect("p100");
    let platform = slipring_machine::built_in("a5").expect("a5");
    let (worker, _) = KernelWorker::new(Some(platform), board.clock_mhz, slipring_sim::Limits::default());
    let machine = Machine::with_worker(Config::new(board.clone()), Box::new(worker)).expect("a machine");
    let queue = Queue::open(machine, board.clone(), Layout::default(), Settings::CAREFUL, &Kernels::default());
    let mut queue = queue.expect("opens");
    let tiles = board.workers().take(1).collect();
    let program = resident::program(tiles, [words].into_iter(), image.to_vec(), queue.layout());
    queue.run(&[program]).expect_err("is stopped");
    let found = queue.device().stopped_at().expect("a finding");
    assert_eq!(found.hazard, Hazard::WorkerFault, "{found}");
    found.message
}

#[test]
fn what_is_no_image_is_a_finding() {
    let image =
        Image { kind: TEXT, entry: String::new(), buffers: Vec::new(), scalars: Vec::new(), program: SUM.into() };
    let says = |bytes: &[u8], words, text: &str| {
        let message = fault(bytes, words);
        assert!(message.contains(text), "{message}");
    };
    let good = image.encode();
    let mut other = good.clone();
    other[4] = 9;
    says(&other, [0, 1], "the image has version 9");
    other[0] = 0;
    says(&other, [0, 1], "no image starts here");
    says(&good[..good.len() / 2], [0, 1], "the image is cut or damaged");
    let mut huge = good.clone();
    huge[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    says(&huge, [0, 1], "and there are");
    says(&good, [1, 1], "block 1 of 1");
    says(&good, [0, 1], "which are not the kernel's parameters");
    says(&Image { kind: 7, ..image.clone() }.encode(), [0, 1], "kind 7");
    says(&Image { entry: "other".into(), ..image.clone() }.encode(), [0, 1], "cannot be run: ");
    says(&Image { program: b"func".to_vec(), ..image.clone() }.encode(), [0, 1], "cannot be run: ");
    let buffer = Buffer { addr: 0, skip: 0, bytes: 8, page: 4096, read: true, written: true };
    let with = |buffer| Image { buffers: vec![buffer], ..image.clone() }.encode();
    says(&with(Buffer { written: false, ..buffer }), [0, 1], "which the image says it does not");
    says(&with(Buffer { bytes: u64::MAX, ..buffer }), [0, 1], "have more than");
    says(&with(Buffer { addr: u64::MAX - 8, ..buffer }), [0, 1], "there are no 8 bytes");
    says(&with(Buffer { bytes: 4, ..buffer }), [0, 1], "did not complete");
}

#[test]
fn what_does_not_fit_a_board_is_refused() {
    let platform = slipring_machine::built_in("a5").expect("a5");
    let board = built_in("p100").expect("p100");
    let order = Order {
        board: Board { bank_bytes: 4096, ..board },
        blocks: 1,
        delays: None,
        gm_slack: 0,
        limits: slipring_sim::Limits::default(),
        trace: false,
        record: false,
    };
    let run = |text: &str, bytes| run_on_device(text, None, &platform, &[Bound::buffer(vec![0; bytes])], &order);
    assert!(run(SUM, 8 * 4096).expect_err("too large").contains("DRAM"));
    let long = SUM.to_string() + &"// and so on\n".repeat(200_000);
    assert!(run(&long, 8).expect_err("too long").contains("a worker has room for"));
}
