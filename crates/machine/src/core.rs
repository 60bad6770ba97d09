//! Cores of a cluster and their pipes.

use std::fmt;

/// The two kinds of cores.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum CoreKind {
    Cube,
    Vector,
}

impl CoreKind {
    /// `cube` or `vector`, as in `#pto.kernel_kind<…>`.
    pub const fn name(self) -> &'static str {
        match self {
            CoreKind::Cube => "cube",
            CoreKind::Vector => "vector",
        }
    }
}

/// One core of a cluster: one Cube core and two Vector cores (the lanes of a split).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Role {
    Aic,
    Aiv0,
    Aiv1,
}

impl Role {
    /// The cores of a cluster in order.
    pub const ALL: [Role; 3] = [Role::Aic, Role::Aiv0, Role::Aiv1];

    /// Position in the cluster, 0 to 2.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The kind of this core.
    pub const fn kind(self) -> CoreKind {
        match self {
            Role::Aic => CoreKind::Cube,
            Role::Aiv0 | Role::Aiv1 => CoreKind::Vector,
        }
    }

    /// The Vector core of lane 0 or 1.
    pub const fn lane(lane: usize) -> Role {
        if lane == 0 { Role::Aiv0 } else { Role::Aiv1 }
    }

    /// Subblock index: 0 for AIC and AIV0, 1 for AIV1.
    pub const fn subblock(self) -> u32 {
        match self {
            Role::Aic | Role::Aiv0 => 0,
            Role::Aiv1 => 1,
        }
    }

    /// `AIC`, `AIV0` or `AIV1`.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Aic => "AIC",
            Role::Aiv0 => "AIV0",
            Role::Aiv1 => "AIV1",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A pipe of a core. `S` is the scalar unit, which runs the program and issues work to the others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Pipe {
    /// Scalar unit.
    S,
    /// Vector unit.
    V,
    /// Matrix unit.
    M,
    /// L1 to L0A, L0B, bias table.
    Mte1,
    /// Global memory to local memory.
    Mte2,
    /// Local memory out (to global memory, or to the peer's L1).
    Mte3,
    /// Fixpipe: out of the accumulator.
    Fix,
}

impl Pipe {
    /// Every pipe, in declaration order.
    pub const ALL: [Pipe; 7] = [Pipe::S, Pipe::V, Pipe::M, Pipe::Mte1, Pipe::Mte2, Pipe::Mte3, Pipe::Fix];
    /// Number of pipes.
    pub const COUNT: usize = Pipe::ALL.len();

    /// Position in [`Pipe::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The name without the `PIPE_` prefix of the text.
    pub const fn name(self) -> &'static str {
        match self {
            Pipe::S => "S",
            Pipe::V => "V",
            Pipe::M => "M",
            Pipe::Mte1 => "MTE1",
            Pipe::Mte2 => "MTE2",
            Pipe::Mte3 => "MTE3",
            Pipe::Fix => "FIX",
        }
    }

    /// True if the pipe only moves data and computes nothing.
    pub const fn moves(self) -> bool {
        matches!(self, Pipe::Mte1 | Pipe::Mte2 | Pipe::Mte3 | Pipe::Fix)
    }

    /// Reads `V` or `PIPE_V`.
    pub fn parse(text: &str) -> Option<Pipe> {
        let short = text.strip_prefix("PIPE_").unwrap_or(text);
        Pipe::ALL.into_iter().find(|p| p.name() == short)
    }
}

impl fmt::Display for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
