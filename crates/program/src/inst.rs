//! Instructions of the scalar unit.

use slipring_machine::Pipe;

use crate::{Kind, Miss};

/// A register of one core: 64 bits.
///
/// Integers of every width are kept sign-extended (unsigned types zero-extended), `i1` as 0 or 1, floats
/// as their bits in the low bytes, pointers and addresses as byte addresses.
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
}

/// Why a scalar instruction stopped the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trap {
    /// Division or remainder by zero.
    DivideByZero,
    /// Signed division whose result does not fit.
    DivideOverflow,
    /// An address that is in no memory, nor beside one.
    Address,
    /// A loop whose step is 0 or negative.
    LoopStep,
    /// A tile at an address that is no multiple of so many bytes: 512, or 32.
    TileAddress(u16),
}

impl Trap {
    /// The kind and the message of the finding that it becomes.
    pub const fn says(self) -> (Kind, &'static str) {
        match self {
            Trap::DivideByZero => (Kind::Other("divide-by-zero"), "division by zero"),
            Trap::DivideOverflow => {
                (Kind::Other("divide-overflow"), "the quotient of the signed division does not fit")
            }
            Trap::Address => (
                Kind::OutOfBounds(Miss::Nowhere),
                "this address is computed with offsets that lead out of every memory",
            ),
            Trap::LoopStep => (Kind::Other("loop-step"), "the step of this loop is not positive"),
            Trap::TileAddress(unit) => {
                let message = match unit {
                    512 => "the address of this tile is computed, and not a multiple of 512",
                    _ => "the address of this tile is computed, and not a multiple of 32",
                };
                (Kind::Other("tile-align"), message)
            }
        }
    }
}

/// The meaning of a scalar instruction: up to three values in, one out.
pub type ScalarFn = fn([u64; 3]) -> Result<u64, Trap>;

/// How a scalar instruction's result moves when its arguments do, as far as its declaration says: what an argument over all trip
/// counts may use. Each holds as long as no number leaves its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Law {
    /// Nothing is said.
    #[default]
    Unknown,
    /// The first argument, in another type.
    Same,
    /// The first argument, in another type, where to leave out bits or its sign is what is asked for.
    Cast,
    /// The first times two to the power of the second.
    Shifted,
    /// The sum of the first two.
    Sum,
    /// The first less the second.
    Difference,
    /// The product of the first two.
    Product,
    /// The first by the second, rounded in some way.
    Quotient,
    /// What is left of the first when it is divided by the second.
    Remainder,
    /// The bits that the first two have in common.
    Mask,
    /// Whether the first two are in this relation.
    Relation(Relation),
    /// The smaller or the larger of the first two.
    Extreme,
}

impl Law {
    /// The result without the limits of a type, for arguments that may have left theirs; `None` for a law that says no number, or
    /// where not even this type holds it.
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
            _ => None,
        }
    }

    /// False where the result of an instruction of this law is another number than its arguments say, as that left its type.
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

/// How two integers lie to each other.
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

/// What a comparison asks: an order of two numbers that have a sign or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Relation {
    pub order: Order,
    pub signed: bool,
}

impl Relation {
    /// The first is smaller than the second, both with a sign.
    pub const LESS: Relation = Relation { order: Order::Less, signed: true };
    /// Both are the same.
    pub const EQUAL: Relation = Relation { order: Order::Equal, signed: true };

    /// Whether it holds of two numbers with a sign.
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

    /// The relation of the second to the first.
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

    /// The relation that holds where this one does not.
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

/// One of a run of synchronisation objects: `first + index`, where `index < count`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SyncRef {
    /// Index in [`Program::syncs`](crate::Program::syncs) of the first of the run.
    pub first: u32,
    /// Length of the run.
    pub count: u32,
    /// Which of the run, computed when the scalar unit issues the step.
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
    /// A value of the launch.
    Special { d: Reg, which: Special },
    /// Go to another instruction of this core.
    Jump { to: u32 },
    /// Go there if the value is 0.
    JumpIfZero { a: Operand, to: u32 },
    /// Go there if `a >= b`, signed: the exit of a counted loop, where it stands at the head of one.
    JumpIfGe { a: Operand, b: Operand, to: u32 },
    /// The same at the head of a loop where all cores meet: it holds the core until nothing else can go on.
    Meet { a: Operand, b: Operand, to: u32 },
    /// Where the value is 0: hold the core until memory that it does not write itself may have changed, then go there. A number
    /// that others write is read again and again in this way.
    Poll { a: Operand, to: u32 },
    /// Put work on its pipe. Work of [`Pipe::S`] runs at once, on the scalar unit.
    Issue { work: WorkId },
    /// Signal, by `pipe`, once its earlier work is done.
    Set { pipe: Pipe, sync: SyncRef },
    /// Hold `pipe` until the object is signalled, and take the signal. [`Pipe::S`] holds the core.
    Wait { pipe: Pipe, sync: SyncRef },
    /// Library code of the op uses this flag itself: it must be clear, as the program issues sets and waits.
    Inside { sync: SyncRef },
    /// A product puts m × n results into the accumulator memory from address `at` on: columns of fractals of m rows, whatever tile
    /// lies there. One that goes on with what is there finds it so.
    Product { at: Operand, m: Operand, n: Operand, goes_on: bool },
    /// A way out of the accumulator memory takes columns of fractals of `rows` rows, up to the next 16, or of `pitch` if it says so.
    FromProduct { at: Operand, rows: Operand, cols: Operand, pitch: Option<u32> },
    /// Get a buffer token for `pipe`; if it `waits`, hold the pipe until all releases issued before are done. Not for [`Pipe::S`].
    Acquire { pipe: Pipe, token: SyncRef, waits: bool },
    /// Give a buffer token back, by `pipe`, once its earlier work is done; `deferred`: once the earlier releases of the
    /// token and what was issued to the other pipes that hold it are done as well. Not for [`Pipe::S`].
    Release { pipe: Pipe, token: SyncRef, deferred: bool },
    /// Hold later work of `pipe` until its earlier work is done; `None`: hold the scalar unit until all pipes are empty.
    Barrier { pipe: Option<Pipe> },
    /// Stop the whole run with a message.
    Trap { message: Box<str> },
    /// The program of this core is over.
    End,
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
