//! Random kernels of tiles, loops and branches: the output of the passes satisfies the independent checks, and runs
//! without findings to the bytes of its sequential semantics.

use std::fmt::Write;

use proptest::prelude::*;
use slipring_check::Schedules;
use slipring_ir::text::print;
use slipring_ir::{Diags, Module};
use slipring_machine::{Platform, built_in};
use slipring_op::Decoding;
use slipring_passes::memory::allocate;
use slipring_passes::sync::insert_sync;
use slipring_passes::{Outcome, PassContext, run_passes};

use super::kit::{read, run};

/// A step of a kernel. Numbers select tiles in scope.
#[derive(Clone, Debug)]
enum Item {
    /// A new tile of one of three sizes, loaded.
    New(usize),
    /// A new tile, computed from another of its size.
    Derive(usize),
    Load(usize),
    /// One tile computed from another of its size, perhaps in place.
    Compute(usize, usize),
    Store(usize),
    /// A part of a tile, under another name.
    View(usize),
    Loop(i64, Vec<Item>),
    /// A loop that carries two tiles and swaps them.
    Swap(usize, usize, Vec<Item>),
    Branch(Vec<Item>, Vec<Item>),
    /// A branch that selects one of two tiles.
    Choose(usize, usize),
}

fn items() -> impl Strategy<Value = Vec<Item>> {
    let n = 0usize..1000;
    let leaf = prop_oneof![
        3 => (0usize..3).prop_map(Item::New),
        4 => n.clone().prop_map(Item::Derive),
        2 => n.clone().prop_map(Item::Load),
        4 => (n.clone(), n.clone()).prop_map(|(a, b)| Item::Compute(a, b)),
        3 => n.clone().prop_map(Item::Store),
        1 => n.clone().prop_map(Item::View),
        1 => (n.clone(), n.clone()).prop_map(|(a, b)| Item::Choose(a, b)),
    ];
    let item = leaf.prop_recursive(3, 40, 8, move |inner| {
        let body = || prop::collection::vec(inner.clone(), 0..8);
        prop_oneof![
            2 => (0i64..4, body()).prop_map(|(n, body)| Item::Loop(n, body)),
            1 => (n.clone(), n.clone(), body()).prop_map(|(a, b, body)| Item::Swap(a, b, body)),
            2 => (body(), body()).prop_map(|(a, b)| Item::Branch(a, b)),
        ]
    });
    prop::collection::vec(item, 1..24)
}

const ROWS: [u32; 3] = [8, 16, 32];

fn tile(size: usize) -> String {
    format!("!pto.tile_buf<vec, {}x64xf32>", ROWS[size])
}

fn buffer(size: usize) -> String {
    format!("memref<{}x64xf32>", ROWS[size])
}

/// A tile in scope: its name and size.
type Tile = (String, usize);

#[derive(Default)]
struct Text {
    lines: String,
    names: usize,
    indent: usize,
}

impl Text {
    fn line(&mut self, line: &str) {
        writeln!(self.lines, "{:1$}{line}", "", 2 * self.indent + 2).unwrap();
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("%v{}", self.names)
    }

    fn load(&mut self, (name, size): &Tile) {
        let (t, b) = (tile(*size), buffer(*size));
        self.line(&format!("pto.tload ins(%in{size} : {b}) outs({name} : {t})"));
    }

    fn body(&mut self, items: &[Item], scope: &[Tile]) {
        let mut scope = scope.to_vec();
        for item in items {
            self.item(item, &mut scope);
        }
    }

    fn block(&mut self, items: &[Item], scope: &[Tile], end: &str) {
        self.indent += 1;
        self.body(items, scope);
        if !end.is_empty() {
            self.line(end);
        }
        self.indent -= 1;
    }

    /// Two tiles of one size, if there are any.
    fn two(scope: &[Tile], a: usize, b: usize) -> Option<(Tile, Tile)> {
        let first = scope.get(a % scope.len().max(1))?.clone();
        let same: Vec<&Tile> = scope.iter().filter(|t| t.1 == first.1).collect();
        let second = same[b % same.len()].clone();
        Some((first, second))
    }

    fn item(&mut self, item: &Item, scope: &mut Vec<Tile>) {
        let one = |n: usize| scope.get(n % scope.len().max(1)).cloned();
        match item {
            Item::New(size) => {
                let new = (self.name(), *size);
                self.line(&format!("{} = pto.alloc_tile : {}", new.0, tile(*size)));
                self.load(&new);
                scope.push(new);
            }
            Item::Derive(n) => {
                let Some((from, size)) = one(*n) else { return };
                let (new, t) = (self.name(), tile(size));
                self.line(&format!("{new} = pto.alloc_tile : {t}"));
                self.line(&format!("pto.trelu ins({from} : {t}) outs({new} : {t})"));
                scope.push((new, size));
            }
            Item::Load(n) => one(*n).iter().for_each(|t| self.load(t)),
            Item::Store(n) => {
                if let Some((name, size)) = one(*n) {
                    self.line(&format!("pto.tstore ins({name} : {}) outs(%out{size} : {})", tile(size), buffer(size)));
                }
            }
            Item::View(n) => {
                if let Some((name, size)) = one(*n) {
                    let view = self.name();
                    self.line(&format!("{view} = pto.treshape {name} : {0} -> {0}", tile(size)));
                    scope.push((view, size));
                }
            }
            Item::Compute(a, b) => {
                if let Some(((from, size), (to, _))) = Text::two(scope, *a, *b) {
                    self.line(&format!("pto.trelu ins({from} : {0}) outs({to} : {0})", tile(size)));
                }
            }
            Item::Loop(trips, body) => {
                let (end, i) = (self.name(), self.name());
                self.line(&format!("{end} = arith.constant {trips} : index"));
                self.line(&format!("scf.for {i} = %c0 to {end} step %c1 {{"));
                self.block(body, scope, "");
                self.line("}");
            }
            Item::Swap(a, b, body) => {
                let Some(((a, size), (b, _))) = Text::two(scope, *a, *b) else { return };
                let (i, x, y, r) = (self.name(), self.name(), self.name(), self.name());
                let t = tile(size);
                self.line(&format!(
                    "{r}:2 = scf.for {i} = %c0 to %c3 step %c1 iter_args({x} = {a}, {y} = {b}) -> ({t}, {t}) {{"
                ));
                let mut inner = scope.clone();
                inner.extend([(x.clone(), size), (y.clone(), size)]);
                self.block(body, &inner, &format!("scf.yield {y}, {x} : {t}, {t}"));
                self.line("}");
                scope.extend([(format!("{r}#0"), size), (format!("{r}#1"), size)]);
            }
            Item::Branch(then, other) => {
                self.line("scf.if %flag {");
                self.block(then, scope, "");
                self.line("} else {");
                self.block(other, scope, "");
                self.line("}");
            }
            Item::Choose(a, b) => {
                let Some(((a, size), (b, _))) = Text::two(scope, *a, *b) else { return };
                let (r, t) = (self.name(), tile(size));
                self.line(&format!("{r} = scf.if %flag -> ({t}) {{"));
                self.line(&format!("  scf.yield {a} : {t}"));
                self.line("} else {");
                self.line(&format!("  scf.yield {b} : {t}"));
                self.line("}");
                scope.push((r, size));
            }
        }
    }
}

fn kernel(items: &[Item]) -> String {
    let mut text = Text::default();
    text.line("%c0 = arith.constant 0 : index");
    text.line("%c1 = arith.constant 1 : index");
    text.line("%c3 = arith.constant 3 : index");
    text.body(items, &[]);
    let args: Vec<String> =
        (0..3).flat_map(|s| [format!("%in{s}: {}", buffer(s)), format!("%out{s}: {}", buffer(s))]).collect();
    format!("func.func @random({}, %flag: i1) {{\n{}  return\n}}\n", args.join(", "), text.lines)
}

fn passed(text: &str, platform: &Platform) -> Result<Option<Module>, TestCaseError> {
    let (mut module, mut diags) = (read(text, platform)?, Diags::default());
    let outcome = run_passes(&mut module, &PassContext::of(platform), None, &mut diags, |_, _| {});
    let full = diags.list.iter().all(|d| d.code == "memory-full" || d.severity < slipring_ir::Severity::Error);
    prop_assert!(full, "{}\n{text}", diags.render(&module.source, false));
    Ok((outcome == Outcome::Done).then_some(module))
}

fn stands(items: &[Item], a5: bool, kilobytes: u64, ids: u32) -> Result<(), TestCaseError> {
    let mut platform = built_in(if a5 { "a5" } else { "a2a3" }).unwrap();
    let vec = platform.space.get_mut("vec").unwrap();
    (vec.bytes, vec.reserved) = (kilobytes * 1024, 0);
    platform.sync.event_ids = ids;
    let text = kernel(items);
    let Some(module) = passed(&text, &platform)? else { return Ok(()) };
    let clashes = allocate::check::clashes(&module, &platform);
    prop_assert!(clashes.is_empty(), "{clashes:?}\n{}", print(&module));
    let problems = insert_sync::problems(&module, &platform);
    prop_assert!(problems.is_empty(), "{problems:?}\n{}", print(&module));
    let again = passed(&print(&module), &platform)?.map(|m| print(&m));
    prop_assert_eq!(again, Some(print(&module)));
    for flag in [0, 1] {
        let expected = contents(&read(&text, &platform)?, &platform, Decoding::Reference, flag)?;
        prop_assert!(contents(&module, &platform, Decoding::Device, flag)? == expected, "{}", print(&module));
    }
    Ok(())
}

/// Runs a module and returns the contents of its buffers. On the device there must be no findings in any schedule.
fn contents(module: &Module, platform: &Platform, mode: Decoding, flag: u64) -> Result<Vec<Vec<u8>>, TestCaseError> {
    let buffers = (0..6u32).map(|at| {
        let numbers = (0..ROWS[at as usize / 2] * 64).flat_map(|i| ((i + 1000 * at) as f32 - 3000.0).to_le_bytes());
        numbers.collect()
    });
    let (contents, report) = run(module, platform, mode, buffers, &[flag])?;
    if mode == Decoding::Device {
        prop_assert_eq!(report.scope.schedules, Schedules::All);
    }
    Ok(contents)
}

/// Up to 16 consecutive loops, some of them nested in a loop: more signals than there are event ids.
fn loops() -> impl Strategy<Value = Vec<Item>> {
    let body = || items().prop_map(|items| items.into_iter().take(8).collect::<Vec<_>>());
    let one = prop_oneof![
        4 => (0i64..4, body()).prop_map(|(n, body)| Item::Loop(n, body)),
        1 => (1i64..3, 0i64..3, body()).prop_map(|(n, m, body)| Item::Loop(n, vec![Item::Loop(m, body)])),
        1 => (0usize..3).prop_map(Item::New),
    ];
    prop::collection::vec(one, 1..17).prop_map(|loops| {
        // Tiles outside the loops, so that each loop conflicts with the next.
        let outside = [Item::New(0), Item::New(0), Item::Derive(0)];
        outside.into_iter().chain(loops).collect()
    })
}

/// The number of cases in `PROPTEST_CASES`, or `usual` by default.
fn cases(usual: u32) -> ProptestConfig {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    if asked { ProptestConfig::default() } else { ProptestConfig::with_cases(usual) }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn roomy(items in items(), a5 in any::<bool>()) {
        stands(&items, a5, 192, 8)?;
    }

    #[test]
    fn tight(items in items(), a5 in any::<bool>(), kilobytes in 6u64..48, ids in 1u32..9) {
        stands(&items, a5, kilobytes, ids)?;
    }
}

proptest! {
    // Large kernels, so fewer of them.
    #![proptest_config(cases(50))]

    #[test]
    fn many_loops(loops in loops(), a5 in any::<bool>(), kilobytes in 16u64..192, ids in 1u32..9) {
        stands(&loops, a5, kilobytes, ids)?;
    }
}
