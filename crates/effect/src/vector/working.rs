//! Working memory of an instruction.

use slipring_program::{Access, Effect, Env, Fault, Run};

use super::{Local, TileArg};

/// An effect that has tiles to work in: their valid elements are written by it and mean nothing afterwards.
#[derive(Clone, Debug)]
pub struct Working<E> {
    /// What is done.
    pub effect: E,
    /// The memory of the tiles.
    pub local: Local,
    /// The working memory.
    pub tiles: Vec<TileArg>,
}

impl<E: Effect> Effect for Working<E> {
    fn decides(&self, index: usize) -> bool {
        self.effect.decides(index)
    }

    fn plan(&self, args: &[u64], env: Env, access: &mut Access) -> Result<(), Fault> {
        self.effect.plan(args, env, access)?;
        for tile in &self.tiles {
            let (rows, cols) = tile.valid(args)?;
            tile.rect(rows, cols).extents(self.local, args, &mut access.undefined);
        }
        access.writes.extend_from_slice(&access.undefined);
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, output }: Run<'_>) -> Result<u64, Fault> {
        self.effect.run(args, Run { env, memory, scratch, output })
    }
}
