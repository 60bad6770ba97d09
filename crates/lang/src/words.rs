//! The builtins of the language besides its ops: loops, scopes, decorators, types, and members of enumerations.

/// A builtin of the language that is not an op.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// Its name after `pl.`.
    pub name: &'static str,
    /// The syntax after its name: `(stop)`, `[shape, dtype]`; `|` separates alternatives, empty for a plain name.
    pub form: &'static str,
    /// A description, for lists.
    pub doc: &'static str,
}

const fn word(name: &'static str, form: &'static str, doc: &'static str) -> Word {
    Word { name, form, doc }
}

const FLOAT: &str = "An element type: a float";
const SIGNED: &str = "An element type: a signed integer";
const UNSIGNED: &str = "An element type: an unsigned integer";

/// All of them, in the order of lists.
#[rustfmt::skip]
pub(crate) const WORDS: &[Word] = &[
    word("incore", "", "Decorator: makes a kernel of a function"),
    word("jit", "", "Decorator: makes a kernel of a function, compiled for the shapes that it is called with"),
    word("kernel", "", "Decorator: makes a kernel of a function"),
    word("function", "(type=, level=, role=, attrs=)", "Decorator: a function of a program; `type` says what: InCore, Opaque, AIC, AIV, Inline, Orchestration"),
    word("inline", "", "Decorator: a part of kernels, copied to where it is called"),
    word("program", "", "Decorator of a class: its functions are one program"),
    word("Tensor", "[shape, dtype]", "A tensor in global memory; without brackets the shape and type of what is passed"),
    word("Tile", "[shape, dtype]", "A tile in a local memory"),
    word("Scalar", "[dtype]", "A number that is passed, known when the kernel runs"),
    word("Out", "[tensor]", "A tensor that the kernel writes; its contents are undefined when the kernel begins"),
    word("InOut", "[tensor]", "A tensor that is read and written"),
    word("constexpr", "", "A parameter that is a constant of the kernel: `TILE: pl.constexpr = 64`"),
    word("range", "(stop) | (start, stop, step=1, *, init_values=)", "A loop that counts; with `init_values` it binds `i, (a, b)` and its body ends in `pl.yield_`"),
    word("unroll", "(stop) | (start, stop, step=1)", "A loop that is unrolled completely: its counter is a constant"),
    word("parallel", "(stop) | (start, stop, step=1)", "A loop whose iterations do not depend on each other; they run in order"),
    word("pipeline", "(stop, *, stage=) | (start, stop, step=1, *, stage=)", "A loop whose body holds `stage` iterations, each with its own buffers, so that they overlap"),
    word("while_", "(*, init_values=)", "A loop with values: `for (i,) in pl.while_(init_values=(0,)):`; its body begins with `pl.cond` and ends in `pl.yield_`"),
    word("cond", "(condition)", "In a `pl.while_` loop: whether to run another iteration"),
    word("yield_", "(*values)", "The last line of a loop with `init_values`: the values with which the next iteration begins, and the results of the loop"),
    word("spmd", "(core_num, *, sync_start=, optimizations=)", "A loop or scope that `core_num` blocks run, each with its own `pl.get_block_idx()`"),
    word("split_aiv", "(2, *, mode=)", "A region that both Vector cores run: `for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):`"),
    word("at", "(level=, role=, *, optimizations=)", "A scope: its body runs on a cluster, `with pl.at(level=pl.Level.CORE_GROUP):`"),
    word("cluster", "()", "A scope of functions that run together on one cluster"),
    word("split", "(mode)", "In `optimizations=[…]`: the compiler divides the Vector work of the scope between both Vector cores"),
    word("optimizations", "", "`pl.optimizations.split` is `pl.split`, and so for `cross_core_slot`"),
    word("cross_core_slot", "(slot_num=)", "In `optimizations=[…]`: the number of slots in the rings between the cores; 2 by default"),
    word("SplitMode", ".UP_DOWN | .LEFT_RIGHT | .NONE", "How a tile is divided between the lanes: by rows, by columns, not at all"),
    word("Mem", ".Vec | .Mat | .Left | .Right | .Acc | .Bias", "A memory: UB, L1, L0A, L0B, L0C, and the one for biases"),
    word("MemorySpace", ".Vec | .Mat | .Left | .Right | .Acc | .Bias", "The same as `pl.Mem`"),
    word("Level", ".CORE_GROUP", "Where a scope runs: on a cluster"),
    word("Role", ".Orchestrator | .SubWorker", "What a function of the host does"),
    word("PadValue", ".zero | .min | .max", "The value that `pl.fillpad` writes outside the valid part"),
    word("FunctionType", ".InCore | .AIC | .AIV | .Inline | .Orchestration", "What a function is"),
    word("TileLayout", "", "The layout of a tile in its memory"),
    word("TensorLayout", ".ND | .DN | .NZ", "The layout of a tensor in global memory"),
    word("AtomicType", ".Add", "How a store combines with the existing contents: by addition"),
    word("MX_A_ZZ", "", "After shape and type: packed scales of a left operand"),
    word("MX_B_NN", "", "After shape and type: packed scales of a right operand"),
    word("AUTO", "", "A size that the compiler chooses"),
    word("const", "(value, dtype)", "A number of a type"),
    word("static_assert", "(condition, msg/message=)", "Must hold when the kernel is compiled; otherwise it is an error"),
    word("assume", "(*conditions)", "What the scalar arguments of each launch satisfy: `pl.assume(n % 8 == 0, 0 < n <= 256)`"),
    word("static_print", "(*values)", "Prints values when the kernel is compiled"),
    word("dynamic", "(name)", "An extent that is known when the kernel is called: `M = pl.dynamic(\"M\")`"),
    word("FP32", "", FLOAT), word("FP16", "", FLOAT), word("BF16", "", FLOAT), word("BFLOAT16", "", FLOAT),
    word("FP8E4M3FN", "", FLOAT), word("FP8E5M2", "", FLOAT), word("FP8E8M0", "", "An element type: a scale, a power of two"),
    word("HF8", "", FLOAT),
    word("INT8", "", SIGNED), word("INT16", "", SIGNED), word("INT32", "", SIGNED), word("INT64", "", SIGNED),
    word("UINT8", "", UNSIGNED), word("UINT16", "", UNSIGNED), word("UINT32", "", UNSIGNED), word("UINT64", "", UNSIGNED),
    word("INDEX", "", "The type of indices and extents"), word("BOOL", "", "An element type: bytes, 0 and 1"),
];

/// The semantics of a builtin in a followed program, outside its kernels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InProgram {
    /// Its parameters there, if they differ from those in a kernel.
    pub takes: Option<&'static str>,
    pub means: Means,
}

/// The semantics of a builtin in a followed program, implemented in `host::tasks::meaning`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Means {
    /// None, or an id that no task has.
    Nothing,
    /// A tensor of the program.
    CreateTensor,
    /// A list of ids or numbers.
    Array,
    /// An element of such a list.
    Element,
    /// The results of an iteration or branch.
    Yields,
    /// A number of a given type.
    Constant,
    /// A number converted to another type.
    Cast,
    /// A part of a tensor.
    Slice,
    /// A part of a tensor, or all of it in another shape or layout.
    View,
    /// A tensor in another shape.
    Reshape,
    /// A tensor with two dimensions exchanged.
    Transpose,
    /// An extent of a tensor.
    Dim,
    /// No effect: names a tensor for dumps.
    Tagged,
    /// A tensor whose uses impose no order.
    NoDep,
    /// The attributes of a function.
    Attributes,
    /// A message with values.
    Print,
    /// The condition of a loop.
    Condition,
    /// An error unless a condition holds.
    StaticAssert,
    /// An element of a tensor.
    Read,
    /// A write to an element of a tensor.
    Write,
    /// A write to a part of a tensor.
    Assemble,
    /// The number of clusters.
    Clusters,
    /// The number of Vector cores.
    VectorCores,
}

/// The semantics of a builtin with the same parameters as in a kernel.
pub(crate) const fn followed_as(means: Means) -> Option<InProgram> {
    Some(InProgram { takes: None, means })
}

/// The semantics of a builtin with these parameters.
pub(crate) const fn followed_with(takes: &'static str, means: Means) -> Option<InProgram> {
    Some(InProgram { takes: Some(takes), means })
}

/// Builtins that bind their arguments like functions, in kernels and in programs, and those with any number of
/// arguments.
const FUNCTIONS: [(&str, InProgram); 4] = [
    ("const", InProgram { takes: None, means: Means::Constant }),
    ("static_assert", InProgram { takes: None, means: Means::StaticAssert }),
    ("cond", InProgram { takes: None, means: Means::Condition }),
    ("yield_", InProgram { takes: None, means: Means::Yields }),
];

/// The semantics of a builtin in a followed program.
pub(crate) fn followed(name: &str) -> Option<InProgram> {
    FUNCTIONS.iter().find(|(own, _)| *own == name).map(|(_, followed)| *followed)
}

/// The parameters of such a builtin; `None` for one with any number of arguments.
pub(crate) fn takes(name: &str) -> Option<&'static str> {
    let word = WORDS.iter().find(|word| word.name == name && followed(name).is_some())?;
    word.form.strip_prefix('(')?.strip_suffix(')').filter(|takes| !takes.starts_with('*'))
}

/// Names of the language besides its ops.
pub fn words() -> impl Iterator<Item = &'static Word> {
    WORDS.iter()
}

/// The language's own name for a module that is a part of it.
pub(crate) fn language(module: &str) -> Option<&'static str> {
    match module.split_once(".language") {
        Some(("slipring" | "pypto", "")) => Some("pl"),
        Some(("slipring" | "pypto", ".distributed")) => Some("pld"),
        _ => None,
    }
}

/// Names that kernels use without `pl.` in front.
pub(crate) const BARE: [&str; 5] = ["TPUSH", "TPOP", "TFREE", "aic_initialize_pipe", "aiv_initialize_pipe"];

/// Builtins that pop a tile: those of the catalogue whose ops do, and their common alias.
pub const POPS: [&str; 3] = ["TPOP", "tpop_from_aic", "tpop_from_aiv"];

/// Functions of Python that are only supported in the head of a loop.
pub(crate) const IN_HEADS: [&str; 3] = ["enumerate", "zip", "reversed"];
