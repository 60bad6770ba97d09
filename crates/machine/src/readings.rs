//! Where public sources disagree on what an operation does: what is done here, and what `--reading NAME` does instead.

/// A question that sources answer in two ways.
#[derive(Debug)]
pub struct Question {
    /// The name of the other reading, for `--reading` and the platform file.
    pub name: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// What is done here, and the sources that say so.
    pub ours: [&'static str; 2],
    /// The other reading, and its sources.
    pub other: [&'static str; 2],
}

impl PartialEq for Question {
    /// A question is only itself.
    fn eq(&self, other: &Question) -> bool {
        self.name == other.name
    }
}

/// The source with a value for each row, where it has 32 bytes for each row.
pub static FIRST_COLUMN: Question = Question {
    name: "first-column",
    about: "which element of a row's block of 32 bytes stands for column j",
    ours: ["element j mod block", "device headers of the tile library, TRowExpandBinOp"],
    other: ["the first one", "tile instruction SPEC of PTO-Gym, trowexpand*; its examples"],
};

/// Bits of comparisons with a number.
pub static DENSE_COMPARE: Question = Question {
    name: "dense-compare",
    about: "where the bits of a row begin",
    ours: ["where the row of the mask tile begins", "PTO IR manual, tcmp; tile ISA, TCMP"],
    other: ["behind the bits of the row before it", "goldens of PTO-Gym, tcmps"],
};

/// Bits that choices take.
pub static DENSE_SELECT: Question = Question {
    name: "dense-select",
    about: "where the bits of a row begin",
    ours: ["where the row of the mask tile begins", "device headers of the tile library, TSel; tile ISA, TSEL"],
    other: ["behind the bits of the row before it", "tile instruction SPEC of PTO-Gym, tsel"],
};

/// Padding of floats.
pub static FINITE_PAD: Question = Question {
    name: "finite-pad",
    about: "what the padding values `max` and `min` are for floats",
    ours: ["infinities", "device headers of the tile library, GetPadValue; PTO IR manual, tfillpad"],
    other: ["the largest and the smallest finite value", "goldens of PTO-Gym, tfillpad"],
};

/// All of them.
pub static QUESTIONS: &[&Question] = &[&FIRST_COLUMN, &DENSE_COMPARE, &DENSE_SELECT, &FINITE_PAD];

/// The question whose other reading has this name.
pub fn question(name: &str) -> Option<&'static Question> {
    QUESTIONS.iter().copied().find(|question| question.name == name)
}
