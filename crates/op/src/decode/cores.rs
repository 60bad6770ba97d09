//! The functions of a kernel: where each core starts.

use slipring_ir::OpId;
use slipring_machine::{CoreKind, Role};
use slipring_program::{Param, Special};

/// The functions of a kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Name of the kernel.
    pub name: String,
    /// The function that each core starts in; `None` for a core that takes no part.
    pub start: [Option<OpId>; 3],
    /// Parameters in order.
    pub params: Vec<Param>,
    /// For each core, what each argument of its function is bound to: a parameter, or a value that the launch supplies.
    pub args: [Vec<Special>; 3],
    /// True for a Cube and a Vector function that nothing connects: they form a kernel because there are no others.
    pub guessed: bool,
    /// True for a function of the whole cluster, with ops of both kinds of core: passes split it into programs. All
    /// cores that take part start in it.
    pub mixed: bool,
}

impl Kernel {
    /// Cores that take part, in order.
    pub fn roles(&self) -> impl Iterator<Item = Role> + '_ {
        Role::ALL.into_iter().filter(|role| self.start[role.index()].is_some())
    }

    /// The number of cores of a kind in a block: a Cube core comes with two Vector cores, even if one of them runs
    /// nothing.
    pub fn cores(&self, kind: CoreKind) -> u32 {
        let cube = self.start[Role::Aic.index()].is_some();
        match kind {
            CoreKind::Cube => cube.into(),
            CoreKind::Vector if cube && self.lanes() > 0 => 2,
            CoreKind::Vector => self.lanes() as u32,
        }
    }

    /// Vector cores that take part.
    pub fn lanes(&self) -> usize {
        self.start[1..].iter().flatten().count()
    }
}
