//! Work of a program that represents several cores.

use slipring_machine::Role;
use slipring_program::{Access, Choice, Discover, Effect, Env, Fault, Run, SiteRef, arguments};
use slipring_tile::{Layout, Space};

use super::region::rect_extents;
use super::valid_shape;

/// An effect on a core other than the one whose program contains it.
#[derive(Clone, Debug)]
pub struct OnCore<E> {
    /// The core on which it runs.
    pub core: Role,
    /// The effect.
    pub effect: E,
}

impl<E> OnCore<E> {
    fn env(&self, env: Env) -> Env {
        Env { core: self.core, ..env }
    }

    fn run_there<'a>(&self, run: Run<'a>) -> Run<'a> {
        Run { env: self.env(run.env), ..run }
    }
}

impl<E: Effect> Effect for OnCore<E> {
    fn plan(&self, args: &[u64], env: Env, access: &mut Access) -> Result<(), Fault> {
        self.effect.plan(args, self.env(env), access)
    }

    fn run(&self, args: &[u64], run: Run<'_>) -> Result<u64, Fault> {
        self.effect.run(args, self.run_there(run))
    }

    slipring_program::effect_of_field!(effect);
}

impl<E: Discover> Discover for OnCore<E> {
    fn discover(&self, args: &[u64], run: Run<'_>, access: &mut Access) -> Result<u64, Fault> {
        self.effect.discover(args, self.run_there(run), access)
    }

    slipring_program::discovery_of_field!(effect);
}

arguments! {
    /// Addresses of lane 0's tile and of lane 1's; their valid shape.
    pub struct SameArgs { first, second, rows, cols }
}

/// Compares the tiles that lane 0 and lane 1 gathered of an undivided tile.
///
/// Arguments: [`SameArgs`].
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct SameTiles {
    pub space: Space,
    pub core: Role,
    pub layout: Layout,
    /// The region run by both lanes, in which the tile is gathered; `None` if it comes from a ring.
    pub region: Option<SiteRef>,
}

impl SameTiles {
    fn unequal(&self, row: u32, col: u32) -> Fault {
        let help = "with split 0 both Vector cores must hold the same tile: divide it (split 1 or 2), or compute the same on both";
        let Some(region) = self.region else {
            let message = format!(
                "the tile that AIV1 pushed is lost: with split 0 only AIV0's arrives, and the two differ at row {row}, column {col}"
            );
            let own = "; pipes to one Vector core each have `lane = 0` and `lane = 1`";
            return Fault::new("tile-lost", message).help(format!("{help}{own}"));
        };
        let message = format!("the lanes differ at row {row}, column {col} of a tile that is gathered whole");
        Fault::new("gather-unequal", message).also(region, "both Vector cores run this region").help(help)
    }
}

impl Effect for SameTiles {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let given = SameArgs::of(args);
        let (rows, cols) = valid_shape("tile", &self.layout, given.rows, given.cols)?;
        for address in [given.first, given.second] {
            rect_extents(self.space, self.core, &self.layout, address, (0, 0), rows, cols, &mut access.reads);
        }
        Ok(())
    }

    fn judges(&self) -> Option<Choice> {
        Some(Choice::Fault)
    }

    fn compares(&self) -> bool {
        true
    }

    fn run(&self, args: &[u64], Run { env, memory, .. }: Run<'_>) -> Result<u64, Fault> {
        let given = SameArgs::of(args);
        let (rows, cols) = valid_shape("tile", &self.layout, given.rows, given.cols)?;
        let size = self.layout.elem.bytes();
        for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
            let at = self.layout.offset(row, col) as u64;
            let element = |address: u64| memory.bytes(env, self.core, self.space, address.saturating_add(at), size);
            if element(given.first) != element(given.second) {
                return Err(self.unequal(row, col));
            }
        }
        Ok(0)
    }
}
