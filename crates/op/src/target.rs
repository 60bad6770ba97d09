//! What a version of another tool takes of the text: data beside the declarations of the ops.
//!
//! A target says which ops and attributes the version has, how it spells them, what it wants of operands, and what its rings
//! are. The passes that print for it ask this and know no op by name.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use slipring_ir::text::Spelling;
use slipring_ir::{Module, OpId};
use slipring_machine::Platform;
use slipring_tile::Elem;

use crate::def::{ElemTypes, OpDef};

/// A version of a tool that takes built programs.
#[derive(Debug)]
pub struct Target {
    /// The word of `--for`.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// What was compared with what: the version that the facts come from, and what could not be tried.
    pub source: &'static str,
    /// Its names of the built-in platforms: ours, and the one that its modules say.
    pub platforms: &'static [(&'static str, &'static str)],
    /// How it spells what it takes.
    pub spelling: &'static Spelling,
    /// The ops of the dialect `pto` that it has, each with all attributes that it has there, in the order in which it wants
    /// them.
    pub ops: &'static LazyLock<OpTable>,
    /// Ops of other dialects that it reads and cannot translate, each with the reason.
    pub lacks: &'static [(&'static str, &'static str)],
    /// Element types that it has.
    pub elems: &'static [Elem],
    /// Element types of operands, where it takes fewer than the declarations.
    pub types: &'static [TypeRule],
    /// Attributes of any op that say something to slipring alone and change no meaning.
    pub drops: &'static [&'static str],
    /// What ops need before they can be printed for it, in this order: rules that it has alone,
    pub own_rules: &'static [OpRule],
    /// and those that versions share.
    pub rules: &'static [OpRule],
    /// Whether it has pointers into the memories of a core.
    pub local_pointers: bool,
    /// Ops that work only in a function with another op.
    pub needs: &'static [Need],
    /// Its rings.
    pub rings: RingRules,
}

impl Target {
    /// What ops of a name need, in order.
    pub fn rules_of(&self, name: &str) -> impl Iterator<Item = &'static OpRule> {
        self.own_rules.iter().chain(self.rules).filter(move |rule| rule.is_of(name))
    }
}

/// Ops and words about each of them: facts about a tool that lie in a file.
#[derive(Debug)]
pub struct OpTable(BTreeMap<&'static str, Vec<&'static str>>);

impl OpTable {
    /// Reads a line for each op: its name and, after a tab, its words. `#` begins a comment; a line whose name begins with `@`
    /// names words, and stands for them in the lines after it.
    ///
    /// # Errors
    /// A name that no line before it has, or that two lines have.
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

    /// Reads a table that is part of the program.
    ///
    /// # Panics
    /// If it has an error: a test reads each.
    pub fn built_in(text: &'static str) -> OpTable {
        OpTable::read(text).unwrap_or_else(|error| panic!("a table of the program is wrong: {error}"))
    }

    /// The names of the ops, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    /// The words of an op, if it is there.
    pub fn words(&self, name: &str) -> Option<&[&'static str]> {
        self.0.get(name).map(Vec::as_slice)
    }
}

/// The element types of an operand that a version takes.
#[derive(Debug)]
pub struct TypeRule {
    /// The ops,
    pub ops: &'static [&'static str],
    /// and what it takes of their operand.
    pub types: ElemTypes,
}

/// What is done to ops of some names.
#[derive(Debug)]
pub struct OpRule {
    /// Their names,
    pub ops: &'static [&'static str],
    /// or the table that names them, with the word that it says of them; all of it where the word is empty.
    pub table: Option<(&'static LazyLock<OpTable>, &'static str)>,
    /// Integer operands that it wants as `index`.
    pub index: &'static [&'static str],
    /// The operand whose tile their working memory `tmp` is like, where the version wants that memory and the text leaves it
    /// out.
    pub tmp_like: Option<&'static str>,
    /// The op of two tiles that stands for these of a tile and a number, with a tile of that number: where the version does not have
    /// the element type here and has it there. The second op fills a tile.
    pub spread: Option<[&'static OpDef; 2]>,
    /// What the mask that they write is like.
    pub mask: Option<MaskRule>,
    /// The only ops that may take what they give; without any use they go.
    pub feeds: &'static [&'static str],
    /// Anything else.
    pub fix: Option<Fix>,
}

impl OpRule {
    /// Nothing is done to these.
    pub const fn of(ops: &'static [&'static str]) -> OpRule {
        OpRule { ops, table: None, index: &[], tmp_like: None, spread: None, mask: None, feeds: &[], fix: None }
    }

    /// Nothing is done to those of which a table says this word,
    pub const fn in_set(table: &'static LazyLock<OpTable>, word: &'static str) -> OpRule {
        OpRule { table: Some((table, word)), ..OpRule::of(&[]) }
    }

    /// or to all of a table.
    pub const fn in_table(table: &'static LazyLock<OpTable>) -> OpRule {
        OpRule::in_set(table, "")
    }

    /// Whether it is for ops of this name.
    pub fn is_of(&self, name: &str) -> bool {
        let says = |(table, word): (&'static LazyLock<OpTable>, &str)| {
            table.words(name).is_some_and(|words| word.is_empty() || words.contains(&word))
        };
        self.ops.contains(&name) || self.table.is_some_and(says)
    }
}

/// What a mask is like where the unit works on registers.
#[derive(Debug)]
pub struct MaskRule {
    /// The operand whose rows and columns it has.
    pub like: &'static str,
    /// Other ops that may write it.
    pub with: &'static [&'static str],
}

/// Ops that work only where a function says the address of the flags between cores.
#[derive(Debug)]
pub struct Need {
    /// These ops,
    pub ops: &'static [&'static str],
    /// on platforms for which this holds,
    pub on: fn(&Platform) -> bool,
    /// need this one in the same function, which says the address: where it is missing the launch gives one more parameter.
    pub flags: &'static str,
    /// True where that op takes a pointer to numbers of 64 bits and no memref of them.
    pub pointer: bool,
}

/// Ops of scalars that changes put in front of others. What has one operand has it as `in`, what has two as `lhs` and `rhs`.
#[derive(Debug)]
pub struct Scalars {
    /// A constant, of attribute `value`.
    pub constant: &'static OpDef,
    /// A conversion between an index and an integer.
    pub index_cast: &'static OpDef,
    /// The same of numbers without a sign.
    pub index_cast_unsigned: &'static OpDef,
    /// An integer in a wider type.
    pub widen: &'static OpDef,
    /// The same of numbers without a sign.
    pub widen_unsigned: &'static OpDef,
    /// An integer in a narrower type.
    pub narrow: &'static OpDef,
    /// An integer under a type with another sign.
    pub unsign: &'static OpDef,
    /// A sum of integers.
    pub add: &'static OpDef,
    /// A product of integers.
    pub multiply: &'static OpDef,
    /// A difference of integers.
    pub subtract: &'static OpDef,
    /// A quotient of integers without a sign, rounded down.
    pub divide_unsigned: &'static OpDef,
    /// A comparison of integers, of attribute `predicate`.
    pub compare: &'static OpDef,
    /// One of two numbers, of operands `condition`, `true_value` and `false_value`.
    pub select: &'static OpDef,
    /// A float with the other sign.
    pub negate: &'static OpDef,
    /// A difference of floats.
    pub subtract_floats: &'static OpDef,
    /// A branch of operand `condition` and two regions,
    pub branch: &'static OpDef,
    /// and the end of a region, of operands `values`.
    pub branch_end: &'static OpDef,
}

/// Changes an op so that the version takes it and it means the same.
///
/// # Errors
/// Why it cannot be said.
pub type Fix = fn(&Scalars, &mut Module, OpId, &Platform) -> Result<(), String>;

/// Makes values of pipes that are none; what it cannot say comes back with the reason.
pub type Ends = fn(&Scalars, &mut Module, &Platform) -> Vec<(OpId, String)>;

/// What rings of the version are.
#[derive(Debug)]
pub struct RingRules {
    /// Slots of a ring that is its pipe's only direction, and of each ring of a pipe with both; nothing else can be said.
    pub slots: Option<[u32; 2]>,
    /// Depths of pipes as values.
    pub values: &'static [u32],
    /// Where rings lie in global memory, popped tiles land in slots that the consumer reserves and the producer imports.
    pub landing: bool,
    /// Where another depth, or several pipes in a function, is said by pipes that are values: what makes them of those that are
    /// not, and says why it cannot.
    pub as_values: Option<Ends>,
    /// The most pipes of a function that say no number, and the most reservations and imports of slots.
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
