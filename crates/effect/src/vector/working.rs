//! Working memory of an instruction.

use slipring_program::{Access, Choice, Discover, Effect, Env, Fault, Run};

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
    /// Results are written behind the last use of it: where it is their place, they stay.
    pub before_results: bool,
}

impl<E> Working<E> {
    /// Adds the tiles to what is written.
    fn name(&self, args: &[u64], access: &mut Access) -> Result<(), Fault> {
        let known = access.undefined.len();
        for tile in &self.tiles {
            let (rows, cols) = tile.valid(args)?;
            tile.rect(rows, cols).extents(self.local, args, &mut access.undefined);
        }
        if self.before_results {
            let Access { undefined, writes, .. } = access;
            let own = undefined.split_off(known);
            undefined.extend(own.into_iter().filter(|range| !writes.contains(range)));
        }
        access.writes.extend_from_slice(&access.undefined[known..]);
        Ok(())
    }
}

impl<E: Effect> Effect for Working<E> {
    fn decides(&self, index: usize) -> bool {
        self.effect.decides(index)
    }

    fn doubts(&self, index: usize) -> bool {
        self.effect.doubts(index)
    }

    fn judges(&self) -> Option<Choice> {
        self.effect.judges()
    }

    fn answers(&self) -> bool {
        self.effect.answers()
    }

    fn plan(&self, args: &[u64], env: Env, access: &mut Access) -> Result<(), Fault> {
        self.effect.plan(args, env, access)?;
        self.name(args, access)
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, output }: Run<'_>) -> Result<u64, Fault> {
        self.effect.run(args, Run { env, memory, scratch, output })
    }
}

impl<E: Discover> Discover for Working<E> {
    fn discover(&self, args: &[u64], run: Run<'_>, access: &mut Access) -> Result<u64, Fault> {
        self.name(args, access)?;
        let missing = access.undefined.iter().find(|range| !run.memory.has(range, run.env));
        if let Some(range) = missing {
            return Err(run.memory.miss(range, "writes", run.env));
        }
        self.effect.discover(args, run, access)
    }
}
