//! Instructions of the scalar unit.

use slipring_machine::Pipe;

use crate::{Kind, Miss};

/// A register of one core: 64 bits.
///
/// Integers of every width are stored sign-extended (unsigned types zero-extended), `i1` as 0 or 1, floats as their
/// bits in the low bytes, pointers and addresses as byte addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reg(pub u32);

/// A register or a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Operand {
    Reg(Reg),
    Imm(u64),
}

impl Operand {
    /// A constant address, size or index.
    pub const fn imm(value: i64) -> Operand {
        Operand::Imm(value as u64)
    }

    /// The constant, if it is one.
    pub const fn as_imm(self) -> Option<i64> {
        match self {
            Operand::Imm(v) => Some(v as i64),
            Operand::Reg(_) => None,
        }
    }

    /// The register, if it is one.
    pub const fn as_reg(self) -> Option<Reg> {
        match self {
            Operand::Reg(reg) => Some(reg),
            Operand::Imm(_) => None,
        }
    }
}

/// Why a scalar instruction stopped the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trap {
    /// Division or remainder by zero.
    DivideByZero,
    /// Signed division whose result does not fit.
    DivideOverflow,
    /// An address outside and not adjacent to any memory.
    Address,
    /// A loop whose step is 0 or negative.
    LoopStep,
    /// A tile at an address that is not a multiple of this many bytes: 512 or 32.
    TileAddress(u16),
    /// A part of a tile that leaves it: the row (or column) where it begins, and the last one where it may.
    #[allow(missing_docs)]
    PartOfTile { first: i64, last: i64, columns: bool },
}

impl Trap {
    /// The kind and the message of the resulting finding.
    pub fn says(self) -> (Kind, String) {
        match self {
            Trap::DivideByZero => (Kind::Other("divide-by-zero"), "division by zero".into()),
            Trap::DivideOverflow => {
                (Kind::Other("divide-overflow"), "the quotient of the signed division does not fit".into())
            }
            Trap::Address => (
                Kind::OutOfBounds(Miss::Nowhere),
                "this address is computed with offsets that lead out of every memory".into(),
            ),
            Trap::LoopStep => (Kind::Other("loop-step"), "the step of this loop is not positive".into()),
            Trap::TileAddress(unit) => {
                let message = format!("the computed address of this tile is not a multiple of {unit}");
                (Kind::Other("tile-align"), message)
            }
            Trap::PartOfTile { first, last, columns } => {
                let what = if columns { "column" } else { "row" };
                let message = match last {
                    0 => format!("this part of a tile begins at {what} {first}, and it must begin at {what} 0"),
                    _ => {
                        format!("this part of a tile begins at {what} {first}, and it must begin at {what} 0 to {last}")
                    }
                };
                (Kind::OutOfBounds(Miss::OutsideTile), message)
            }
        }
    }
}

/// The semantics of a scalar instruction: up to three values in, one out.
pub type ScalarFn = fn([u64; 3]) -> Result<u64, Trap>;

/// How a scalar instruction's result changes with its arguments, as far as its declaration states it; the proof over
/// all trip counts relies on it. Each law holds as long as no value overflows its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Law {
    /// No law is known.
    #[default]
    Unknown,
    /// The first argument, in another type.
    Same,
    /// The low bits of the first argument, where dropping the others or the sign is intended.
    Low {
        /// The number of bits.
        bits: u8,
        /// Whether the result has a sign. If it has none, the argument is a number with a sign of as many bits.
        signed: bool,
    },
    /// The first times two to the power of the second.
    Shifted,
    /// The sum of the first two.
    Sum,
    /// The first minus the second.
    Difference,
    /// The product of the first two.
    Product,
    /// The first divided by the second, rounded down or towards zero.
    Quotient,
    /// The first divided by the second, rounded up.
    Ceiling,
    /// The remainder of the first divided by the second.
    Remainder,
    /// Bitwise AND of the first two.
    Mask,
    /// Whether this relation holds between the first two.
    Relation(Relation),
    /// The minimum or the maximum of the first two.
    Extreme,
    /// The minimum or the maximum of the first two without their signs.
    UnsignedExtreme,
}

impl Law {
    /// The result without the limits of a type, for arguments that may have overflowed theirs; `None` for a law that
    /// determines no value, or if even this type cannot hold it.
    pub fn exact(self, [a, b, _]: [i128; 3]) -> Option<i128> {
        match self {
            Law::Same => Some(a),
            Law::Sum => a.checked_add(b),
            Law::Difference => a.checked_sub(b),
            Law::Product => a.checked_mul(b),
            Law::Shifted => {
                let times = u32::try_from(b).ok().filter(|b| *b < 64).map(|b| 1i128 << b);
                times.and_then(|times| a.checked_mul(times))
            }
            Law::Quotient => a.checked_div(b),
            Law::Ceiling => {
                let up = a.checked_rem(b)? != 0 && (a < 0) == (b < 0);
                a.checked_div(b)?.checked_add(i128::from(up))
            }
            _ => None,
        }
    }

    /// False if the result of an instruction with this law differs from the exact one because it overflowed its type.
    #[inline]
    pub fn fits(self, [a, b, _]: [u64; 3], result: u64) -> bool {
        let (a, b, result) = (a as i64, b as i64, Some(result as i64));
        match self {
            Law::Same => Some(a) == result,
            Law::Sum => a.checked_add(b) == result,
            Law::Difference => a.checked_sub(b) == result,
            Law::Product => a.checked_mul(b) == result,
            Law::Shifted => (0..63).contains(&b) && a.checked_mul(1 << b) == result || a == 0,
            _ => true,
        }
    }
}

/// The order of two integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Order {
    Equal,
    Different,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// The relation tested by a comparison: an order of two signed or unsigned integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Relation {
    pub order: Order,
    pub signed: bool,
}

impl Relation {
    /// The first is less than the second, both signed.
    pub const LESS: Relation = Relation { order: Order::Less, signed: true };
    /// Both are equal.
    pub const EQUAL: Relation = Relation { order: Order::Equal, signed: true };

    /// True if it holds where it does for signed values.
    pub const fn compares_signed(self) -> bool {
        self.signed || matches!(self.order, Order::Equal | Order::Different)
    }

    /// Whether it holds for two signed values.
    pub const fn holds(self, a: i128, b: i128) -> bool {
        match self.order {
            Order::Equal => a == b,
            Order::Different => a != b,
            Order::Less => a < b,
            Order::LessOrEqual => a <= b,
            Order::Greater => a > b,
            Order::GreaterOrEqual => a >= b,
        }
    }

    /// The relation with the operands swapped.
    pub const fn turned(self) -> Relation {
        let order = match self.order {
            Order::Less => Order::Greater,
            Order::LessOrEqual => Order::GreaterOrEqual,
            Order::Greater => Order::Less,
            Order::GreaterOrEqual => Order::LessOrEqual,
            same => same,
        };
        Relation { order, ..self }
    }

    /// The negated relation.
    pub const fn negated(self) -> Relation {
        let order = match self.order {
            Order::Equal => Order::Different,
            Order::Different => Order::Equal,
            Order::Less => Order::GreaterOrEqual,
            Order::LessOrEqual => Order::Greater,
            Order::Greater => Order::LessOrEqual,
            Order::GreaterOrEqual => Order::Less,
        };
        Relation { order, ..self }
    }
}

/// Values that the launch gives to a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Special {
    /// Index of the block (cluster of the launch), 0-based.
    BlockIdx,
    /// Blocks of the launch.
    BlockNum,
    /// 0 on AIC and AIV0, 1 on AIV1.
    SubblockIdx,
    /// Vector cores that run the program.
    SubblockNum,
    /// Kernel parameter: a scalar's value, or a buffer's address in global memory.
    Param(u32),
}

/// One object of a range of synchronisation objects: `first + index`, where `index < count`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SyncRef {
    /// Index in [`Program::syncs`](crate::Program::syncs) of the first one.
    pub first: u32,
    /// Length of the range.
    pub count: u32,
    /// The index within the range, computed when the scalar unit issues the step.
    pub index: Operand,
}

/// One step of the scalar unit.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Inst {
    /// `d = f(args)`.
    Scalar { f: ScalarFn, law: Law, d: Reg, args: [Operand; 3] },
    /// `d = a`.
    Move { d: Reg, a: Operand },
    /// `d = a + b`, wrapping 64-bit.
    Add { d: Reg, a: Operand, b: Operand },
    /// A launch value.
    Special { d: Reg, which: Special },
    /// Go to another instruction of this core.
    Jump { to: u32 },
    /// Jumps if the value is 0.
    JumpIfZero { a: Operand, to: u32 },
    /// Jumps if `a >= b`, signed: at the head of a counted loop, its exit.
    JumpIfGe { a: Operand, b: Operand, to: u32 },
    /// As `JumpIfGe`, at the head of a loop where all cores meet: it holds the core until nothing else can proceed.
    Meet { a: Operand, b: Operand, to: u32 },
    /// If the value is 0: holds the core until memory that it does not write itself may have changed, then jumps. A
    /// value written by others is polled in this way.
    Poll { a: Operand, to: u32 },
    /// Issues work to its pipe. Work of [`Pipe::S`] runs immediately, on the scalar unit.
    Issue { work: WorkId },
    /// Signals, by `pipe`, once its earlier work is complete.
    Set { pipe: Pipe, sync: SyncRef },
    /// Holds `pipe` until the object is signalled, and consumes the signal. [`Pipe::S`] holds the core.
    Wait { pipe: Pipe, sync: SyncRef },
    /// Library code of the op uses this flag itself: it must be clear according to the sets and waits issued so far.
    Inside { sync: SyncRef },
    /// A product writes m × n results into the accumulator memory from address `at`: columns of fractals of m rows,
    /// whatever the tile there. With `goes_on` it adds to existing results, which must have the same arrangement.
    Product { at: Operand, m: Operand, n: Operand, goes_on: bool },
    /// A move out of the accumulator memory reads columns of fractals of `rows` rows, rounded up to a multiple of 16,
    /// or of `pitch` rows if given.
    FromProduct { at: Operand, rows: Operand, cols: Operand, pitch: Option<u32> },
    /// Acquires a buffer token for `pipe`; if it `waits`, holds the pipe until all releases issued before are complete.
    /// Not for [`Pipe::S`].
    Acquire { pipe: Pipe, token: SyncRef, waits: bool },
    /// Releases a buffer token, by `pipe`, once its earlier work is complete; `deferred`: once the earlier releases of
    /// the token and the work issued to the other pipes that hold it are complete as well. Not for [`Pipe::S`].
    Release { pipe: Pipe, token: SyncRef, deferred: bool },
    /// Holds later work of `pipe` until its earlier work is complete; `None`: holds the scalar unit until all pipes are
    /// empty.
    Barrier { pipe: Option<Pipe> },
    /// Stops the whole run with a message.
    Trap { message: Box<str> },
    /// The program of this core ends.
    End,
}

impl Inst {
    /// The registers of scalar arithmetic, moves and branches, read and written; none for all others.
    pub fn scalar_registers(&self) -> Vec<Reg> {
        let read = |operands: &[Operand]| operands.iter().filter_map(|operand| operand.as_reg()).collect::<Vec<_>>();
        match self {
            Inst::Scalar { d, args, .. } => [read(args), vec![*d]].concat(),
            Inst::Move { d, a } => [read(&[*a]), vec![*d]].concat(),
            Inst::Add { d, a, b } => [read(&[*a, *b]), vec![*d]].concat(),
            Inst::JumpIfZero { a, .. } => read(&[*a]),
            Inst::JumpIfGe { a, b, .. } => read(&[*a, *b]),
            _ => Vec::new(),
        }
    }
}

impl Inst {
    /// Whether it touches nothing but the registers of its core.
    pub const fn is_own(&self) -> bool {
        matches!(
            self,
            Inst::Scalar { .. }
                | Inst::Move { .. }
                | Inst::Add { .. }
                | Inst::Special { .. }
                | Inst::Jump { .. }
                | Inst::JumpIfZero { .. }
                | Inst::JumpIfGe { .. }
        )
    }
}

/// Index of a [`Work`](crate::Work) in its core's list.
pub type WorkId = u32;
