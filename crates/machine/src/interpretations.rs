//! Points on which public sources disagree about an operation, or say nothing about how the machine keeps order: the
//! interpretation used here, and the alternative chosen by `--interpretation NAME`.
//!
//! Interpretations of the first kind change results; where they do, a warning names both. Those of the second kind
//! change verdicts: a launch that depends on one is also checked with the alternative, and if that verdict differs, the
//! launch is clean only on the assumption that ours is right.

/// A question that sources answer in two ways.
#[derive(Debug)]
pub struct Question {
    /// The name of the alternative interpretation, for `--interpretation` and the platform file.
    pub name: &'static str,
    /// Its subject.
    pub about: &'static str,
    /// The interpretation used here, and the sources that support it.
    pub ours: [&'static str; 2],
    /// The alternative interpretation, and its sources.
    pub other: [&'static str; 2],
}

impl Question {
    /// The message if the result of `work` depends on it.
    pub fn message(&self, work: &str) -> String {
        format!("{work}: sources disagree on {}, and here the result depends on it", self.about)
    }

    /// Both interpretations, with their sources.
    pub fn notes(&self) -> Vec<String> {
        let line = |what: &str, [says, source]: [&str; 2]| format!("{what}: {says} ({source})");
        vec![line("done here", self.ours), line("the other interpretation", self.other)]
    }

    /// How to choose the alternative.
    pub fn hint(&self) -> String {
        format!("`--interpretation {}` selects the other interpretation", self.name)
    }
}

impl PartialEq for Question {
    /// Questions are compared by identity.
    fn eq(&self, other: &Question) -> bool {
        self.name == other.name
    }
}

impl Eq for Question {}

/// The source with a value for each row, if it has 32 bytes for each row.
pub static FIRST_COLUMN: Question = Question {
    name: "first-column",
    about: "which element of a row's block of 32 bytes stands for column j",
    ours: ["element j mod block", "device headers of the tile library, TRowExpandBinOp"],
    other: ["the first one", "tile instruction SPEC of PTO-Gym, trowexpand*; its examples"],
};

/// Bits of comparisons with a scalar.
pub static DENSE_COMPARE: Question = Question {
    name: "dense-compare",
    about: "where the bits of a row begin",
    ours: ["where the row of the mask tile begins", "PTO IR manual, tcmp; tile ISA, TCMP"],
    other: ["after the bits of the row before it", "goldens of PTO-Gym, tcmps"],
};

/// Bits read by selections.
pub static DENSE_SELECT: Question = Question {
    name: "dense-select",
    about: "where the bits of a row begin",
    ours: ["where the row of the mask tile begins", "device headers of the tile library, TSel; tile ISA, TSEL"],
    other: ["after the bits of the row before it", "tile instruction SPEC of PTO-Gym, tsel"],
};

/// Padding of floats.
pub static FINITE_PAD: Question = Question {
    name: "finite-pad",
    about: "what the padding values `max` and `min` are for floats",
    ours: ["infinities", "device headers of the tile library, GetPadValue; PTO IR manual, tfillpad"],
    other: ["the largest and the smallest finite value", "goldens of PTO-Gym, tfillpad"],
};

/// Constant offsets of predicates in memory.
pub static PREDICATE_BYTES: Question = Question {
    name: "predicate-bytes",
    about: "what the constant offset of a predicate in memory counts",
    ours: ["blocks of the distribution, of 16 or 32 bytes", "micro-instruction manual of assembler 0.60, 4"],
    other: ["bytes", "goldens of PTO-Gym, psti-norm-pldi-ds"],
};

/// Comparisons of logical vectors.
pub static SIGNED_LANES: Question = Question {
    name: "signed-lanes",
    about: "whether lanes of `iN` are ordered as signed or as unsigned numbers",
    ours: ["unsigned", "manual of virtual micro-instructions of assembler 0.60, vcmp; its compiler, also for extremes"],
    other: ["signed", "SPEC of virtual micro-instructions of PTO-Gym, vcmp; it is silent on extremes"],
};

/// Buffers held by another pipe.
pub static TOKEN_LOCKS: Question = Question {
    name: "token-locks",
    about: "whether a get of a buffer token waits for a pipe that has the buffer and releases it only later in the program",
    ours: [
        "a get of a buffer waits for the releases before it in the program only",
        "seed 004, where program order resolves what depends; no source says what becomes of such a pipe",
    ],
    other: [
        "a get of a buffer also waits for a pipe that has it and releases it later",
        "seed 004, \"blocks if Vector hasn't released it\"",
    ],
};

/// Unit flags that are not in the state that a check expects.
pub static UNIT_FLAG_BLOCKS: Question = Question {
    name: "unit-flag-blocks",
    about: "whether a product waits until a published tile is cleared, and a store until a cleared one is published",
    ours: [
        "checks of unit flags wait for what comes before them in the program only",
        "public kernels that never clear a tile",
    ],
    other: ["checks of unit flags wait for what comes later, too", "no public source"],
};

/// Waits on pipes that have nothing else to do.
pub static LATE_WAITS: Question = Question {
    name: "late-waits",
    about: "whether a wait that is given to an empty pipe may come to it only after later steps of other pipes",
    ours: ["a wait takes effect on an empty pipe as soon as it is issued", "no public source"],
    other: ["a wait may come to an empty pipe late, and a signal be set again before it is taken", "no public source"],
};

/// Moves of one pipe to or from the same bytes.
pub static UNORDERED_MOVES: Question = Question {
    name: "unordered-moves",
    about: "whether moves of one pipe that touch the same bytes need a barrier between them",
    ours: [
        "moves of one pipe keep their order",
        "seed 004, barriers of one pipe, where only MTE3 overtakes itself in global memory",
    ],
    other: [
        "moves of one pipe need a barrier between them",
        "the public assembler puts one between them on each pipe but V of the A5",
    ],
};

/// Scalar accesses to global memory.
pub static SCALAR_CACHE: Question = Question {
    name: "scalar-cache",
    about: "whether DMA and other cores see what a scalar unit writes to global memory, and it what they write",
    ours: ["scalar accesses to global memory bypass the data cache", "no public source"],
    other: [
        "a data cache stands between them, which no op of the text keeps in order",
        "headers of the A2/A3's tile library; PTOAS#696, PTOAS#915; public tile manual, MGATHER and MSCATTER",
    ],
};

/// Vector operations of a register-based unit.
pub static UNORDERED_VECTORS: Question = Question {
    name: "unordered-vectors",
    about: "whether vector operations on tiles that touch the same bytes need a barrier on the A5",
    ours: [
        "vector operations on tiles keep their order",
        "the public assembler, which puts no barrier on V of the A5: its hardware keeps the order",
    ],
    other: [
        "vector operations on tiles need a barrier between them",
        "PTOAS#719, PTOAS#866, PTOAS#869: results on boards with broadcasts and reuse",
    ],
};

/// Stores of one vector function.
pub static UNORDERED_STORES: Question = Question {
    name: "unordered-stores",
    about: "whether two stores of a vector function to the same bytes need a barrier",
    ours: ["stores of one vector function keep their order", "public kernels, which have none"],
    other: ["stores of one vector function need a barrier between them", "micro-instruction manual, memory barriers"],
};

/// Undivided tiles of on-chip pipes.
pub static UNDIVIDED_TO_BOTH: Question = Question {
    name: "undivided-to-first",
    about: "which Vector cores an undivided tile of a pipe on chip is for",
    ours: [
        "both Vector cores have it, and the Cube core takes lane 0's",
        "seed 001, mode NONE; public kernel language",
    ],
    other: [
        "AIV0 alone; AIV1 waits forever",
        "device headers of the A5's tile library, TPush: SingleModeVec0, and no flag of AIV1 without a split",
    ],
};

/// Rows that a Vector core pushes into L1.
pub static ROWS_TO_L1: Question = Question {
    name: "rows-to-l1",
    about: "how a row-major tile that a Vector core pushes lies in L1",
    ours: ["as the tile that is popped there", "seed 000, where a push moves a tile"],
    other: ["as rows, whatever is popped", "device headers of the A5's tile library, TPush and TInsert"],
};

/// Elements that an indexed store sends to one place.
pub static SCATTERED_TWICE: Question = Question {
    name: "first-scattered",
    about: "which of several different elements for one place an indexed store leaves there",
    ours: [
        "the last one",
        "the loop of the micro-instruction manual, indexed stores; CPU simulator of the tile library",
    ],
    other: [
        "the first one: any may stay",
        "the text of the micro-instruction manual, indexed stores; tile library, MSCATTER with `Default`",
    ],
};

/// Conversions of tiles that the text leaves to the library.
pub static LIBRARY_SATURATION: Question = Question {
    name: "library-saturation",
    about: "what a conversion without `satmode` does with values beyond the range of its result",
    ours: ["it keeps the low bits", "PTO IR manual, tcvt: `OFF`; the C++ that the assembler writes says so"],
    other: [
        "it saturates as the library does for these types",
        "library of assembler 0.60 for its micro-instructions, tcvt; its published results",
    ],
};

/// All questions.
pub static QUESTIONS: &[&Question] = &[
    &FIRST_COLUMN,
    &DENSE_COMPARE,
    &DENSE_SELECT,
    &FINITE_PAD,
    &LIBRARY_SATURATION,
    &PREDICATE_BYTES,
    &SIGNED_LANES,
    &SCATTERED_TWICE,
    &TOKEN_LOCKS,
    &UNIT_FLAG_BLOCKS,
    &LATE_WAITS,
    &UNORDERED_MOVES,
    &SCALAR_CACHE,
    &UNORDERED_VECTORS,
    &UNORDERED_STORES,
    &UNDIVIDED_TO_BOTH,
    &ROWS_TO_L1,
];

/// The names of all questions, for messages.
pub fn names() -> String {
    QUESTIONS.iter().map(|question| question.name).collect::<Vec<_>>().join(", ")
}

/// The question whose alternative interpretation has this name.
pub fn question(name: &str) -> Option<&'static Question> {
    QUESTIONS.iter().copied().find(|question| question.name == name)
}
