//! `ring --sweep`: every depth applies to the rings that the compiler creates.

use super::Folder;

/// Eight tiles for a slow consumer: the deeper the ring, the shorter the producer's waits.
const SLOW_CONSUMER: &str = "\
# args: rand:f16[128x16],seed=1 rand:f16[16x16],seed=2 zeros:f32[128x16]
import slipring.language as pl


@pl.incore
def f(a: pl.Tensor[[128, 16], pl.FP16], b: pl.Tensor[[16, 16], pl.FP16], y: pl.Out[pl.Tensor[[128, 16], pl.FP32]]):
    for i in pl.range(8):
        s = pl.matmul(a[i * 16 : i * 16 + 16, :], b)
        for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            h = pl.aiv_shard(s)
            for _ in pl.unroll(12):
                h = pl.exp(h)
            y[i * 16 + lane * 8 : i * 16 + lane * 8 + 8, :] = h
";

#[test]
fn depths_reach_rings_of_the_language() {
    let folder = Folder::new("sweep");
    folder.write("slow.py", SLOW_CONSUMER);
    for arch in ["a5", "a2a3"] {
        let facts = folder.call(&["ring", "slow.py", "--arch", arch, "--sweep", "1..8", "--json"]).exits(0).json();
        let rows = facts["sweep"].as_array().unwrap();
        let of = |fact: &str| rows.iter().map(|row| row[fact].as_u64().unwrap()).collect::<Vec<_>>();
        assert_eq!(of("slots"), (1..9).collect::<Vec<_>>());
        let (memory, waits) = (of("memory"), of("producer_wait"));
        assert!(memory.iter().zip(1..).all(|(bytes, slots)| *bytes == memory[0] * slots), "{memory:?}");
        // A slot for each tile: there are no waits.
        assert!(waits.windows(2).all(|w| w[0] > w[1] || w[0] == 0) && waits[0] > 0 && waits[7] == 0, "{waits:?}");
    }
}
