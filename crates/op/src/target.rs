//! The text that a version of another tool accepts: data kept outside the op declarations.
//!
//! A target defines the ops and attributes of the version, their spelling, its requirements on operands, and its rings.
//! The passes that print for it read this data and do not refer to ops by name.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use slipring_ir::text::Spelling;
use slipring_ir::{Module, OpId};
use slipring_machine::Platform;
use slipring_tile::Elem;

use crate::def::{ElemTypes, OpDef};

/// A version of a tool that accepts built programs.
#[derive(Debug)]
pub struct Target {
    /// The word of `--for`.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// The evidence for the facts: the version that they come from, and what could not be tested.
    pub source: &'static str,
    /// Platform names: that of a built-in platform here, and that in modules for the tool.
    pub platforms: &'static [(&'static str, &'static str)],
    /// Its spelling of the text.
    pub spelling: &'static Spelling,
    /// The ops of the dialect `pto` that it has, each with all attributes that it accepts there, in the required order.
    pub ops: &'static LazyLock<OpTable>,
    /// Ops of other dialects that it parses but cannot translate, each with the reason.
    pub lacks: &'static [(&'static str, &'static str)],
    /// Element types that it has.
    pub elems: &'static [Elem],
    /// Element types of operands, where it accepts fewer than the declarations.
    pub types: &'static [TypeRule],
    /// Attributes of any op that only matter to slipring and do not affect the semantics.
    pub drops: &'static [&'static str],
    /// Preparation of ops before they can be printed for it, in this order: the rules of this version only.
    pub own_rules: &'static [OpRule],
    /// The rules that versions share.
    pub rules: &'static [OpRule],
    /// True if it has pointers into local memories.
    pub local_pointers: bool,
    /// Ops that work only in a function with another op.
    pub needs: &'static [Need],
    /// Its rings.
    pub rings: RingRules,
}

impl Target {
    /// The rules for ops of a name, in order.
    pub fn rules_of(&self, name: &str) -> impl Iterator<Item = &'static OpRule> {
        self.own_rules.iter().chain(self.rules).filter(move |rule| rule.is_of(name))
    }
}

/// Ops with words for each of them: facts about a tool, kept in a file.
#[derive(Debug)]
pub struct OpTable(BTreeMap<&'static str, Vec<&'static str>>);

impl OpTable {
    /// Reads one line for each op: its name and, after a tab, its words. `#` begins a comment; a line whose name begins
    /// with `@` defines an abbreviation for its words in later lines.
    ///
    /// # Errors
    /// An abbreviation that is not defined before its use, or a name that two lines define.
    pub fn read(text: &'static str) -> Result<OpTable, String> {
        let mut rows: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (name, text) = line.split_once('\t').unwrap_or((line, ""));
            let mut words = Vec::new();
            for word in text.split(' ').filter(|word| !word.is_empty()) {
                match (word.starts_with('@'), rows.get(word)) {
                    (false, _) => words.push(word),
                    (true, Some(named)) => words.extend_from_slice(named),
                    (true, None) => return Err(format!("`{name}`: no line before it names `{word}`")),
                }
            }
            if rows.insert(name, words).is_some() {
                return Err(format!("`{name}` has two lines"));
            }
        }
        rows.retain(|name, _| !name.starts_with('@'));
        Ok(OpTable(rows))
    }

    /// Parses a table that is part of the program.
    ///
    /// # Panics
    /// If it has an error: a test parses each table.
    pub fn built_in(text: &'static str) -> OpTable {
        OpTable::read(text).unwrap_or_else(|error| panic!("a table of the program is wrong: {error}"))
    }

    /// The names of the ops, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    /// The words of an op, if it is in the table.
    pub fn words(&self, name: &str) -> Option<&[&'static str]> {
        self.0.get(name).map(Vec::as_slice)
    }
}

/// The element types that a version accepts for an operand.
#[derive(Debug)]
pub struct TypeRule {
    /// The ops that the rule applies to.
    pub ops: &'static [&'static str],
    /// The operand, and the types that it accepts.
    pub types: ElemTypes,
}

/// The preparation of ops of some names.
#[derive(Debug)]
pub struct OpRule {
    /// The names of the ops.
    pub ops: &'static [&'static str],
    /// A table of further names, and the word that selects them; an empty word selects the whole table.
    pub table: Option<(&'static LazyLock<OpTable>, &'static str)>,
    /// Integer operands that it requires as `index`.
    pub index: &'static [&'static str],
    /// The operand whose tile type the working memory `tmp` gets, if the version requires that memory and the text
    /// omits it.
    pub tmp_like: Option<&'static str>,
    /// The replacement of an op on a tile and a scalar by an op on two tiles, if the version lacks the element type for
    /// the former but has it for the latter. The second op fills a tile with the scalar.
    pub spread: Option<[&'static OpDef; 2]>,
    /// The required form of the mask that they write.
    pub mask: Option<MaskRule>,
    /// The only ops that may use their results; if a result has no use, the op is removed.
    pub feeds: &'static [&'static str],
    /// Any other change.
    pub fix: Option<Fix>,
}

impl OpRule {
    /// A rule for these ops that changes nothing yet.
    pub const fn of(ops: &'static [&'static str]) -> OpRule {
        OpRule { ops, table: None, index: &[], tmp_like: None, spread: None, mask: None, feeds: &[], fix: None }
    }

    /// A rule that changes nothing yet, for the ops that a table has with this word.
    pub const fn in_set(table: &'static LazyLock<OpTable>, word: &'static str) -> OpRule {
        OpRule { table: Some((table, word)), ..OpRule::of(&[]) }
    }

    /// A rule that changes nothing yet, for all ops of a table.
    pub const fn in_table(table: &'static LazyLock<OpTable>) -> OpRule {
        OpRule::in_set(table, "")
    }

    /// True if it applies to ops of this name.
    pub fn is_of(&self, name: &str) -> bool {
        let says = |(table, word): (&'static LazyLock<OpTable>, &str)| {
            table.words(name).is_some_and(|words| word.is_empty() || words.contains(&word))
        };
        self.ops.contains(&name) || self.table.is_some_and(says)
    }
}

/// The required form of a mask on a unit that works on registers.
#[derive(Debug)]
pub struct MaskRule {
    /// The operand whose rows and columns the mask has.
    pub like: &'static str,
    /// Other ops that may write it.
    pub with: &'static [&'static str],
}

/// Ops that only work in a function that specifies the address of the cross-core flags.
#[derive(Debug)]
pub struct Need {
    /// The ops with this requirement.
    pub ops: &'static [&'static str],
    /// The platforms on which it applies.
    pub on: fn(&Platform) -> bool,
    /// The op that must be in the same function, which specifies the address: if it is missing, the launch passes one
    /// more parameter.
    pub flags: &'static str,
    /// True if that op takes a pointer to 64-bit integers instead of a memref of them.
    pub pointer: bool,
}

/// Scalar ops that fixes insert before other ops. The operand of a unary op is `in`, those of a binary op are `lhs` and
/// `rhs`.
#[derive(Debug)]
pub struct Scalars {
    /// A constant, in attribute `value`.
    pub constant: &'static OpDef,
    /// A conversion between an index and an integer.
    pub index_cast: &'static OpDef,
    /// A conversion between an index and an unsigned integer.
    pub index_cast_unsigned: &'static OpDef,
    /// A conversion of an integer to a wider type.
    pub widen: &'static OpDef,
    /// A conversion of an unsigned integer to a wider type.
    pub widen_unsigned: &'static OpDef,
    /// A conversion of an integer to a narrower type.
    pub narrow: &'static OpDef,
    /// A conversion of an integer to the same width with another signedness.
    pub unsign: &'static OpDef,
    /// Addition of integers.
    pub add: &'static OpDef,
    /// Multiplication of integers.
    pub multiply: &'static OpDef,
    /// Subtraction of integers.
    pub subtract: &'static OpDef,
    /// Division of unsigned integers, rounded down.
    pub divide_unsigned: &'static OpDef,
    /// Comparison of integers, with attribute `predicate`.
    pub compare: &'static OpDef,
    /// Selection of one of two values, with operands `condition`, `true_value` and `false_value`.
    pub select: &'static OpDef,
    /// Negation of a float.
    pub negate: &'static OpDef,
    /// Subtraction of floats.
    pub subtract_floats: &'static OpDef,
    /// A branch with operand `condition` and two regions.
    pub branch: &'static OpDef,
    /// The terminator of a region, with operands `values`.
    pub branch_end: &'static OpDef,
}

/// Rewrites an op so that the version accepts it, without changing its semantics.
///
/// # Errors
/// Why it cannot be expressed.
pub type Fix = fn(&Scalars, &mut Module, OpId, &Platform) -> Result<(), String>;

/// Converts pipes to pipe values; returns the ops that cannot be expressed, with the reason.
pub type Ends = fn(&Scalars, &mut Module, &Platform) -> Vec<(OpId, String)>;

/// Restrictions of the version on rings.
#[derive(Debug)]
pub struct RingRules {
    /// Slots of a ring that is its pipe's only direction, and of each ring of a pipe with both; no other depth can be
    /// expressed.
    pub slots: Option<[u32; 2]>,
    /// Possible depths of pipe values.
    pub values: &'static [u32],
    /// True if tiles popped from rings in global memory land in slots that the consumer reserves and the producer
    /// imports.
    pub landing: bool,
    /// Set if another depth, or several pipes in a function, requires pipe values: the conversion to them, which
    /// reports what it cannot express.
    pub as_values: Option<Ends>,
    /// The maximum number of pipes of a function that have no id, and of reservations and imports of slots.
    pub pipes: usize,
}

#[cfg(test)]
mod tests {
    use super::OpTable;

    #[test]
    fn a_table_has_its_rows_and_names_words_once() {
        let table = OpTable::read("# facts\n@both\ta b\nx.one\tc @both d\n\nx.two\n").expect("a table");
        assert_eq!(table.names().collect::<Vec<_>>(), ["x.one", "x.two"]);
        assert_eq!(table.words("x.one"), Some(&["c", "a", "b", "d"][..]));
        assert_eq!(table.words("x.two"), Some(&[][..]));
        assert_eq!(table.words("@both"), None);
        let error = |text| OpTable::read(text).expect_err(text);
        assert_eq!(error("x.one\ta @bath\n"), "`x.one`: no line before it names `@bath`");
        assert_eq!(error("x.one\ta\nx.two\nx.one\tb\n"), "`x.one` has two lines");
    }
}
