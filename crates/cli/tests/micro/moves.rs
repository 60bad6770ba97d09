//! Rearrangement of lanes.

use crate::micro::kit::*;

const F32: Ty = Ty("f32", 4);
const I32: Ty = Ty("i32", 4);
const I16: Ty = Ty("i16", 2);
const U16: Ty = Ty("ui16", 2);

fn words(found: &[u8], at: usize) -> Vec<u32> {
    found[at * 256..][..256].chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
}

#[test]
fn interleaving() {
    let v = F32.vreg();
    let text = load_reg("a", F32)
        + &load_reg("b", F32)
        + &format!("    %l, %h = pto.vintlv %va, %vb : {v}, {v} -> {v}, {v}\n")
        + &format!("    %e, %o = pto.vdintlv %va, %vb : {v}, {v} -> {v}, {v}\n")
        + &format!("    %h2 = pto.vintlvv2 %va, %vb, \"HIGHER\" : {v}, {v} -> {v}\n")
        + &["l", "h", "e", "o", "h2"].iter().enumerate().map(|(i, r)| store_reg(r, F32, i)).collect::<String>();
    let a: Vec<u32> = (0..64).collect();
    let b: Vec<u32> = (100..164).collect();
    let found = run("", &text, &[&bytes(a.clone(), u32::to_le_bytes), &bytes(b.clone(), u32::to_le_bytes)]);
    let woven: Vec<u32> = a.iter().zip(&b).flat_map(|(a, b)| [*a, *b]).collect();
    assert_eq!((words(&found, 0), words(&found, 1)), (woven[..64].to_vec(), woven[64..].to_vec()));
    let both: Vec<u32> = a.iter().chain(&b).copied().collect();
    let every = |first| both.iter().skip(first).step_by(2).copied().collect::<Vec<_>>();
    assert_eq!((words(&found, 2), words(&found, 3)), (every(0), every(1)));
    assert_eq!(words(&found, 4), words(&found, 1));
}

#[test]
fn squeezing_and_counting() {
    let v = I32.vreg();
    let a: Vec<u32> = (0..64).map(|i| i * i % 37).collect();
    let text = load_reg("a", I32)
        + "    %all = pto.pset_b32 \"PAT_ALL\" : !pto.mask<b32>\n"
        + &format!("    %p = pto.vcmps %va, %k, %all, \"lt\" : {v}, i32, !pto.mask<b32> -> !pto.mask<b32>\n")
        + &format!("    %r = pto.vsqz %va, %p : {v}, !pto.mask<b32> -> {v}\n")
        + &format!("    %s = pto.vusqz %va, %p : {v}, !pto.mask<b32> -> {v}\n")
        + &store_reg("r", I32, 0)
        + &store_reg("s", I32, 1);
    let found = run("  %k = arith.constant 12 : i32", &text, &[&bytes(a.clone(), u32::to_le_bytes)]);
    let mut kept: Vec<u32> = a.iter().copied().filter(|x| *x < 12).collect();
    kept.resize(64, 0);
    assert_eq!(words(&found, 0), kept);
    let before: Vec<u32> = (0..64).map(|i| a[..i].iter().filter(|x| **x < 12).count() as u32).collect();
    assert_eq!(words(&found, 1), before);
}

#[test]
fn packing_and_unpacking() {
    let text = load_reg("a", I32)
        + &format!("    %r = pto.vpack %va, \"HIGHER\" : {} -> {}\n", I32.vreg(), U16.vreg())
        + &format!("    %n = pto.vbitcast %r : {} -> {}\n", U16.vreg(), I16.vreg())
        + &format!("    %s = pto.vsunpack %n, %c1 : {} -> {}\n", I16.vreg(), I32.vreg())
        + &format!("    %z = pto.vzunpack %n, %c1 : {} -> {}\n", I16.vreg(), I32.vreg())
        + &format!("    %d = pto.vdup %va, %all {{position = \"HIGHEST\"}} : {0}, !pto.mask<b32> -> {0}\n", I32.vreg())
        + &format!("    %i = pto.vci %k {{order = \"DESC\"}} : i32 -> {}\n", I32.vreg())
        + &format!("    %x = pto.vselr %va, %i : {0}, {0} -> {0}\n", I32.vreg())
        + &store_reg("r", U16, 0)
        + &["s", "z", "d", "i", "x"].iter().enumerate().map(|(i, r)| store_reg(r, I32, i + 1)).collect::<String>();
    let text = "    %all = pto.pset_b32 \"PAT_ALL\" : !pto.mask<b32>\n".to_string() + &text;
    let a: Vec<u32> = noise(9, 64).into_iter().map(|x| x as u32).collect();
    let found = run("  %k = arith.constant 63 : i32", &text, &[&bytes(a.clone(), u32::to_le_bytes)]);
    assert!(found[..128].iter().all(|b| *b == 0));
    assert_eq!(found[128..256], bytes(a.iter().map(|x| *x as u16), u16::to_le_bytes));
    assert_eq!(words(&found, 1), a.iter().map(|x| *x as u16 as i16 as i32 as u32).collect::<Vec<_>>());
    assert_eq!(words(&found, 2), a.iter().map(|x| x & 0xffff).collect::<Vec<_>>());
    assert_eq!(words(&found, 3), vec![a[63]; 64]);
    assert_eq!(words(&found, 4), (0..64).rev().collect::<Vec<u32>>());
    assert_eq!(words(&found, 5), a.iter().rev().copied().collect::<Vec<_>>());
}
