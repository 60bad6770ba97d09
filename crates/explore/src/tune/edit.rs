//! Source edits that may make a program faster. Whether one does, and still preserves its results, is not decided here:
//! each is tried.

use std::collections::BTreeSet;
use std::ops::Range;

/// The subject of an edit, by lines from 1: forecasts select edits at their locations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum About {
    /// The iterations of a loop.
    Loop(Range<usize>),
    /// A named number in the file.
    Constant(String),
    /// The division of Vector work.
    Split,
    /// Slots of rings.
    Slots,
    /// Lines that are moved or changed.
    Lines(Range<usize>),
}

/// A source with one edit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Edit {
    /// The change, as text.
    pub what: String,
    /// Its line, from 1.
    pub line: usize,
    /// The whole edited text.
    pub text: String,
    pub about: About,
}

/// Maximum number of positions for a moved statement: each a step further up, and as far as possible.
const STEPS: usize = 6;

/// The candidate edits of a text, in the kernel language or the intermediate form. `barriers` are lines, from 0, that
/// contain only a barrier.
pub(super) fn edits(text: &str, language: bool, barriers: &[usize]) -> Vec<Edit> {
    let sheet = Sheet { lines: text.split('\n').collect() };
    let mut all = Vec::new();
    if language {
        sheet.loops(&mut all);
        sheet.constants(&mut all);
        sheet.splits(text, &mut all);
        sheet.products(&mut all);
        sheet.slots(&mut all);
        sheet.depths(&mut all);
    }
    sheet.barriers(barriers, &mut all);
    sheet.moves(&if language { sheet.statements() } else { sheet.ops() }, &mut all);
    all
}

/// Whether an edit of a text concerns a line, from 1.
pub(super) fn is_about(edit: &Edit, text: &str, line: usize) -> bool {
    match &edit.about {
        About::Loop(lines) | About::Lines(lines) => lines.contains(&line),
        About::Split => true,
        About::Slots => false,
        // It is used there, or by the innermost enclosing loop.
        About::Constant(name) => {
            let sheet = Sheet { lines: text.split('\n').collect() };
            let mut loops = (0..sheet.lines.len().min(line)).filter(|at| sheet.lines[*at].trim().starts_with("for "));
            let inner = loops.rfind(|at| (at + 1..sheet.block(*at) + 1).contains(&line));
            let around = inner.map_or(line..line + 1, |at| at + 1..sheet.block(at) + 1);
            around.filter_map(|line| sheet.lines.get(line - 1)).any(|line| names(line).any(|own| own == *name))
        }
    }
}

struct Sheet<'a> {
    lines: Vec<&'a str>,
}

/// A statement with everything that belongs to it.
#[derive(Debug)]
struct Statement {
    lines: Range<usize>,
    /// Its indentation; statements of one block have the same.
    indent: usize,
    /// Whether it can be moved: a statement without a nested block that does not leave its own.
    movable: bool,
    /// Nothing may be moved across it.
    fence: bool,
    reads: BTreeSet<String>,
    writes: BTreeSet<String>,
}

impl Statement {
    fn independent(&self, other: &Statement) -> bool {
        let meets = |a: &BTreeSet<String>, b: &BTreeSet<String>| !a.is_disjoint(b);
        !(other.fence
            || meets(&self.writes, &other.writes)
            || meets(&self.writes, &other.reads)
            || meets(&self.reads, &other.writes))
    }
}

/// First words of statements that are not work, or that end their block.
const LEAVES: [&str; 16] = [
    "return", "yield", "break", "continue", "pass", "import", "from", "assert", "global", "nonlocal", "raise", "del",
    "else", "elif", "except", "finally",
];
const OPENS: [&str; 9] = ["if", "for", "while", "with", "def", "class", "try", "async", "@"];

impl<'a> Sheet<'a> {
    /// The text with a replaced line.
    fn replaced(&self, at: usize, line: &str) -> String {
        let mut lines = self.lines.clone();
        lines[at] = line;
        lines.join("\n")
    }

    /// The text with lines moved before another one.
    fn moved(&self, from: &Range<usize>, to: usize) -> String {
        let mut lines: Vec<&str> = self.lines[..to].to_vec();
        lines.extend(&self.lines[from.clone()]);
        lines.extend(&self.lines[to..from.start]);
        lines.extend(&self.lines[from.end..]);
        lines.join("\n")
    }

    /// Loops with sequential iterations: software-pipelined, or unrolled.
    fn loops(&self, all: &mut Vec<Edit>) {
        for (at, line) in self.lines.iter().enumerate() {
            let trimmed = line.trim();
            if !trimmed.starts_with("for ") || !trimmed.ends_with("):") {
                continue;
            }
            let about = About::Loop(at + 1..self.block(at) + 1);
            let mut push = |what: String, line: String| {
                all.push(Edit { what, line: at + 1, text: self.replaced(at, &line), about: about.clone() });
            };
            if line.contains(".range(") && !line.contains("init_values") {
                let cut = line.len() - "):".len();
                for stage in 2..=4 {
                    let own = format!("{}, stage={stage}):", &line[..cut]).replacen(".range(", ".pipeline(", 1);
                    push(format!("{stage} iterations of the loop overlap, each with its own buffers"), own);
                }
                push("every iteration of the loop is unrolled".into(), line.replacen(".range(", ".unroll(", 1));
            }
            for (number, own) in numbers_of(line, "stage=") {
                for stage in [number + 1, number * 2] {
                    push(format!("{stage} iterations of the loop overlap instead of {number}"), own(stage));
                }
            }
        }
    }

    /// Named numbers: doubled and halved.
    fn constants(&self, all: &mut Vec<Edit>) {
        for (at, line) in self.lines.iter().enumerate() {
            let code = line.split('#').next().unwrap_or_default();
            let Some((names, values)) = code.split_once('=') else { continue };
            if line.starts_with(char::is_whitespace) || names.contains(['.', '[', '(', ':']) {
                continue;
            }
            let names: Vec<&str> = names.split(',').map(str::trim).collect();
            let numbers: Option<Vec<u64>> = values.split(',').map(|value| value.trim().parse().ok()).collect();
            let Some(numbers) = numbers.filter(|numbers| numbers.len() == names.len()) else { continue };
            for (own, name) in names.iter().enumerate() {
                let old = numbers[own];
                let half = (old > 1 && old.is_multiple_of(2)).then_some(old / 2);
                for new in [old.checked_mul(2).filter(|_| old > 0), half].into_iter().flatten() {
                    let mut values = numbers.clone();
                    values[own] = new;
                    let values: Vec<String> = values.iter().map(u64::to_string).collect();
                    let comment = line.split_once('#').map_or(String::new(), |(_, rest)| format!("  #{rest}"));
                    let changed = format!("{} = {}{comment}", names.join(", "), values.join(", "));
                    let what = format!("`{name}` is {new} instead of {old}");
                    let about = About::Constant((*name).to_string());
                    all.push(Edit { what, line: at + 1, text: self.replaced(at, &changed), about });
                }
            }
        }
    }

    /// The line, from 0, after the block opened by a line.
    fn block(&self, head: usize) -> usize {
        let indent = |line: &str| line.len() - line.trim_start().len();
        let inside = |at: &usize| {
            let line = self.lines[*at];
            line.trim().is_empty() || indent(line) > indent(self.lines[head])
        };
        let end = (head + 1..self.lines.len()).take_while(inside).last().map_or(head + 1, |last| last + 1);
        (head + 1..end).rev().find(|at| !self.lines[*at].trim().is_empty()).map_or(head + 1, |last| last + 1)
    }

    /// The other division of Vector work, everywhere at once: both ends of a crossing must agree.
    fn splits(&self, text: &str, all: &mut Vec<Edit>) {
        for (old, new) in [("UP_DOWN", "LEFT_RIGHT"), ("LEFT_RIGHT", "UP_DOWN")] {
            let (old, new) = (format!("SplitMode.{old}"), format!("SplitMode.{new}"));
            if let Some(line) = self.lines.iter().position(|line| line.contains(&old)) {
                let what = format!("Vector work is divided by `{new}`");
                let about = About::Split;
                all.push(Edit { what, line: line + 1, text: text.replace(&old, &new), about });
            }
        }
    }

    /// Products of whole arrays in two steps along the inner extent: the second half is loaded while the first is
    /// multiplied.
    fn products(&self, all: &mut Vec<Edit>) {
        for (at, line) in self.lines.iter().enumerate() {
            let Some((left, operands)) = line.split_once(" = pl.matmul(") else { continue };
            let Some(operands) = operands.trim_end().strip_suffix(')') else { continue };
            let plain = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
            let Some((a, b)) = operands.split_once(", ").filter(|(a, b)| plain(a) && plain(b)) else { continue };
            if !plain(left.trim()) {
                continue;
            }
            let (Some([_, inner]), Some([own, _])) = (self.extents(a, at), self.extents(b, at)) else { continue };
            if inner != own {
                continue;
            }
            let indent = &line[..line.len() - line.trim_start().len()];
            let name = left.trim();
            let two = format!(
                "{left} = pl.matmul({a}[:, : {inner} // 2], {b}[: {inner} // 2, :])\n\
                 {indent}{name} = pl.matmul_acc({name}, {a}[:, {inner} // 2 :], {b}[{inner} // 2 :, :])"
            );
            let what = format!("the product of `{name}` is added up in two steps along `{inner}`");
            let about = About::Lines(at + 1..at + 2);
            all.push(Edit { what, line: at + 1, text: self.replaced(at, &two), about });
        }
    }

    /// The extents of a two-dimensional parameter, from the text before a line.
    fn extents(&self, name: &str, before: usize) -> Option<[&'a str; 2]> {
        let head = format!("{name}: pl.Tensor[[");
        let line = self.lines[..before].iter().rev().find(|line| line.contains(&head))?;
        let from = line
            .match_indices(&head)
            .find(|(at, _)| !line[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))?;
        let (extents, _) = line[from.0 + head.len()..].split_once(']')?;
        let (rows, cols) = extents.split_once(", ")?;
        let plain = |text: &&str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
        Some([rows, cols]).filter(|both| both.iter().all(plain))
    }

    /// Rings with more slots.
    fn slots(&self, all: &mut Vec<Edit>) {
        for (at, line) in self.lines.iter().enumerate() {
            for word in ["slot_num=", "slot_num = "] {
                for (number, own) in numbers_of(line, word) {
                    for slots in [number + 1, number * 2] {
                        let what = format!("the ring has {slots} slots instead of {number}");
                        let about = About::Slots;
                        all.push(Edit { what, line: at + 1, text: self.replaced(at, &own(slots)), about });
                    }
                }
            }
        }
    }

    /// Rings of functions that do not specify the number of slots: the body is wrapped in a scope that does.
    fn depths(&self, all: &mut Vec<Edit>) {
        for (at, line) in self.lines.iter().enumerate() {
            let (indent, body) = (line.len() - line.trim_start().len(), line.trim());
            // The last line of the head is indented like its first one.
            let ends = |at: &usize| self.lines[*at].split('#').next().unwrap_or("").trim().ends_with(':');
            let Some(last) = (at..self.lines.len()).find(ends).filter(|_| body.starts_with("def ")) else { continue };
            let (first, end) = (last + 1, self.block(last));
            let own = &self.lines[first..end];
            let has = |word: &str| own.iter().any(|line| line.contains(word));
            // A multi-line string keeps its whitespace.
            if !has(".split_aiv(") || has("slot_num") || has("\"\"\"") || has("'''") {
                continue;
            }
            for slots in [3, 4] {
                let blanks = " ".repeat(indent + 4);
                let head = format!(
                    "{blanks}with pl.at(level=pl.Level.CORE_GROUP, \
                     optimizations=[pl.cross_core_slot(slot_num={slots})]):"
                );
                let inner = own.iter().map(|line| if line.is_empty() { String::new() } else { format!("    {line}") });
                let lines = self.lines[..first].iter().map(|line| (*line).to_string()).chain([head]).chain(inner);
                let lines: Vec<String> =
                    lines.chain(self.lines[end..].iter().map(|line| (*line).to_string())).collect();
                let what = format!("the rings have {slots} slots");
                all.push(Edit { what, line: at + 1, text: lines.join("\n"), about: About::Slots });
            }
        }
    }

    /// Barriers to remove.
    fn barriers(&self, known: &[usize], all: &mut Vec<Edit>) {
        for at in known.iter().copied().filter(|at| *at < self.lines.len()) {
            let mut lines = self.lines.clone();
            let line = lines.remove(at).trim();
            let what = format!("`{}` goes", short(line));
            all.push(Edit { what, line: at + 1, text: lines.join("\n"), about: About::Lines(at + 1..at + 2) });
        }
    }

    /// Statements moved up, if their names show that nothing in between depends on them.
    fn moves(&self, statements: &[Statement], all: &mut Vec<Edit>) {
        for (at, own) in statements.iter().enumerate().filter(|(_, own)| own.movable) {
            // The statements before it in its block, nearest first.
            let outside = |other: &&Statement| other.indent >= own.indent;
            let before = statements[..at].iter().rev().take_while(outside).filter(|other| other.indent == own.indent);
            let passed: Vec<&Statement> = before.take_while(|other| own.independent(other)).collect();
            for (step, other) in passed.iter().enumerate() {
                if step >= STEPS && step + 1 < passed.len() {
                    continue;
                }
                let text = self.lines[own.lines.start].trim();
                let what = format!("`{}` is moved before line {}", short(text), other.lines.start + 1);
                let about = About::Lines(other.lines.start + 1..own.lines.end + 1);
                let text = self.moved(&own.lines, other.lines.start);
                all.push(Edit { what, line: own.lines.start + 1, text, about });
            }
        }
    }

    /// The statements of a text of the kernel language.
    fn statements(&self) -> Vec<Statement> {
        let mut heads: Vec<(Range<usize>, usize)> = Vec::new();
        let (mut depth, mut quoted, mut first) = (0usize, false, None);
        for (at, line) in self.lines.iter().enumerate() {
            let code = if quoted { "" } else { line.split('#').next().unwrap_or_default() };
            let quotes = line.matches("\"\"\"").count() + line.matches("'''").count();
            quoted ^= quotes % 2 == 1;
            if code.trim().is_empty() && first.is_none() && quotes == 0 {
                continue;
            }
            let start = *first.get_or_insert(at);
            for c in code.chars() {
                match c {
                    '(' | '[' | '{' => depth += 1,
                    ')' | ']' | '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            if depth == 0 && !quoted && !code.trim_end().ends_with('\\') {
                let indent = self.lines[start].len() - self.lines[start].trim_start().len();
                heads.push((start..at + 1, indent));
                first = None;
            }
        }
        let imported: BTreeSet<String> = heads
            .iter()
            .map(|(lines, _)| self.lines[lines.start].trim())
            .filter(|line| line.starts_with("import ") || line.starts_with("from "))
            .flat_map(names)
            .collect();
        let mut all = Vec::new();
        for (at, (lines, indent)) in heads.iter().enumerate() {
            let body = heads[at + 1..].iter().take_while(|(_, deeper)| deeper > indent);
            let parts: Vec<&Range<usize>> = std::iter::once(lines).chain(body.map(|(own, _)| own)).collect();
            let end = parts.last().map_or(lines.end, |own| own.end);
            let head = self.lines[lines.start].trim();
            let word = head.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
            let leaves = |own: &&Range<usize>| {
                let line = self.lines[own.start].trim();
                let word = line.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
                LEAVES.contains(&word) || line.contains(".yield_(")
            };
            let (mut reads, mut writes) = (BTreeSet::new(), BTreeSet::new());
            for own in &parts {
                let text = self.lines[(*own).clone()].join(" ");
                let (read, written) = of_python(&text, &imported);
                reads.extend(read);
                writes.extend(written);
            }
            let fence = parts.iter().any(leaves) || head.starts_with(['@', '"', '\'']);
            let opens = OPENS.contains(&word) || parts.len() > 1;
            let movable = *indent > 0 && !fence && !opens;
            all.push(Statement { lines: lines.start..end, indent: *indent, movable, fence, reads, writes });
        }
        all
    }

    /// The ops of a text in the intermediate form that have a line of their own.
    fn ops(&self) -> Vec<Statement> {
        let each = self.lines.iter().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let each = each.filter(|(_, line)| !line.trim().starts_with("//"));
        let statement = |(at, line): (usize, &&str)| {
            let code = line.split("//").next().unwrap_or_default();
            let used: BTreeSet<String> = values(code).collect();
            let result = code.split_once(" = ").filter(|(left, _)| left.trim().starts_with('%'));
            // An op without a result affects everything that it names.
            let writes = result.map_or_else(|| used.clone(), |(left, _)| values(left).collect());
            let block = code.contains(['{', '}', '^']) && !code.contains("} :") || code.trim().ends_with('{');
            let fence = used.is_empty() || block || code.contains("return") || code.contains("yield");
            let indent = line.len() - line.trim_start().len();
            Statement { lines: at..at + 1, indent, movable: !fence, fence, reads: used, writes }
        };
        each.map(statement).collect()
    }
}

/// A line with a different number after a word.
type Renumber<'a> = Box<dyn Fn(u64) -> String + 'a>;

/// Each number that follows a word, with a function that replaces it in the line.
fn numbers_of<'a>(line: &'a str, word: &'a str) -> Vec<(u64, Renumber<'a>)> {
    let found = line.match_indices(word).filter_map(move |(at, _)| {
        let from = at + word.len();
        let digits = line[from..].chars().take_while(char::is_ascii_digit).count();
        let number: u64 = line[from..from + digits].parse().ok().filter(|number| (1..1 << 20).contains(number))?;
        let own: Renumber<'a> = Box::new(move |new| format!("{}{new}{}", &line[..from], &line[from + digits..]));
        Some((number, own))
    });
    found.collect()
}

/// The identifiers in a piece of Python, excluding those after a dot.
fn names(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
    let words = words.map(|word| word.split('.').next().unwrap_or_default());
    words.filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_')).map(str::to_string)
}

/// The values of the intermediate form named in a line.
fn values(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split('%').skip(1).map(|rest| {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$' || c == '.')).unwrap_or(rest.len());
        rest[..end].to_string()
    })
}

/// The names that a statement without a nested block reads and writes. A statement that assigns nothing may write
/// everything it names.
fn of_python(text: &str, imported: &BTreeSet<String>) -> (BTreeSet<String>, BTreeSet<String>) {
    let reads: BTreeSet<String> = names(text).filter(|name| !imported.contains(name)).collect();
    let written = match assigned(text) {
        Some(left) => names(left).filter(|name| !imported.contains(name)).collect(),
        None => reads.clone(),
    };
    (reads, written)
}

/// The left side of the `=` of an assignment, or the part between `for` and `in`: names, or a window of one.
fn assigned(text: &str) -> Option<&str> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix("for ") {
        return rest.split_once(" in ").map(|(left, _)| left);
    }
    if ["if ", "elif ", "while ", "with "].iter().any(|word| text.starts_with(word)) {
        return Some("");
    }
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '=' if depth == 0 => {
                let (left, right) = (&text[..at], &text[at + 1..]);
                let compares = right.starts_with('=') || left.ends_with(['=', '!', '<', '>']);
                return (!compares).then_some(left);
            }
            _ => {}
        }
    }
    None
}

fn short(text: &str) -> String {
    const MOST: usize = 48;
    match text.chars().count() {
        n if n > MOST => text.chars().take(MOST).chain("…".chars()).collect(),
        _ => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "\
import slipring.language as pl

N, TILE = 64, 16  # of each


@pl.jit
def f(a, b, out):
    for at in pl.range(0, N, TILE):
        x = pl.load(a, [at, 0], [TILE, N])
        y = pl.exp(x)
        z = pl.load(
            b, [at, 0], [TILE, N]
        )
        out[at : at + TILE, :] = y + z
        w = pl.load(out, [at, 0], [TILE, N])
";

    fn told(text: &str, language: bool) -> Vec<(String, usize)> {
        edits(text, language, &[3]).into_iter().map(|edit| (edit.what, edit.line)).collect()
    }

    #[test]
    fn loops_and_constants() {
        let told = told(KERNEL, true);
        assert!(told.contains(&("2 iterations of the loop overlap, each with its own buffers".into(), 8)));
        assert!(told.contains(&("every iteration of the loop is unrolled".into(), 8)));
        assert!(told.contains(&("`TILE` is 8 instead of 16".into(), 3)));
        let all = edits(KERNEL, true, &[]);
        let half = all.iter().find(|edit| edit.what.contains("`TILE` is 8")).unwrap();
        assert!(half.text.contains("N, TILE = 64, 8  # of each\n"), "{}", half.text);
        let two = all.iter().find(|edit| edit.what.starts_with("2 iterations")).unwrap();
        assert!(two.text.contains("for at in pl.pipeline(0, N, TILE, stage=2):\n"), "{}", two.text);
    }

    /// A load goes before work that it has nothing to do with, in one piece, and not before a store of what it reads.
    #[test]
    fn loads_move_ahead() {
        let all = edits(KERNEL, true, &[]);
        let moves: Vec<&Edit> = all.iter().filter(|edit| edit.what.contains("is moved before")).collect();
        let lines: Vec<(usize, &str)> = moves.iter().map(|edit| (edit.line, edit.what.as_str())).collect();
        assert_eq!(lines.iter().map(|own| own.0).collect::<Vec<_>>(), [11, 11], "{lines:?}");
        assert!(
            moves[0]
                .text
                .contains("N])\n        z = pl.load(\n            b, [at, 0], [TILE, N]\n        )\n        y =")
        );
    }

    #[test]
    fn ops_move_and_barriers_go() {
        let text = "\
func.func @f(%a: index) {
  %x = op.a %a : index
  %y = op.b %a : index
  pto.barrier <PIPE_V>
  %z = op.c %x, %y : index
  return
}";
        let told = told(text, false);
        assert!(told.contains(&("`pto.barrier <PIPE_V>` goes".into(), 4)), "{told:?}");
        assert!(told.contains(&("`%y = op.b %a : index` is moved before line 2".into(), 3)), "{told:?}");
        assert!(!told.iter().any(|(what, _)| what.contains("op.c")), "{told:?}");
    }

    #[test]
    fn products_come_in_two_steps() {
        let text = "\
def f(a: pl.Tensor[[M, K], pl.FP16], b: pl.Tensor[[K, N], pl.FP16], aa: pl.Tensor[[4, 8], pl.FP16]):
    x = pl.matmul(a, b)
    y = pl.matmul(a, x)
    z = pl.matmul(aa, b)
    w = pl.matmul(a, b, b_trans=True)";
        let all = edits(text, true, &[]);
        let made: Vec<&Edit> = all.iter().filter(|edit| edit.what.contains("two steps")).collect();
        assert_eq!(made.len(), 1, "{made:?}");
        let two = "    x = pl.matmul(a[:, : K // 2], b[: K // 2, :])\n    x = pl.matmul_acc(x, a[:, K // 2 :], b[K // 2 :, :])\n";
        assert!(made[0].text.contains(two) && made[0].line == 2, "{}", made[0].text);
    }

    #[test]
    fn rings_and_stages_grow() {
        let told = told("x = pl.pipe(slot_num=2)\nfor i in pl.pipeline(4, stage=2):", true);
        assert!(told.contains(&("the ring has 4 slots instead of 2".into(), 1)), "{told:?}");
        assert!(told.contains(&("3 iterations of the loop overlap instead of 2".into(), 2)), "{told:?}");
    }

    #[test]
    fn functions_get_a_depth() {
        let text = "\
def f(
    a: pl.Tensor[[M, K], pl.FP16],
):
    # a comment
    for lane in pl.split_aiv(2):

        x = pl.aiv_shard(a)


def g(a): pass";
        let all = edits(text, true, &[]);
        let made: Vec<&Edit> = all.iter().filter(|edit| edit.about == About::Slots).collect();
        assert_eq!(made.len(), 2, "{made:?}");
        let three = "\
def f(
    a: pl.Tensor[[M, K], pl.FP16],
):
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.cross_core_slot(slot_num=3)]):
        # a comment
        for lane in pl.split_aiv(2):

            x = pl.aiv_shard(a)


def g(a): pass";
        assert_eq!(made[0].text, three);
    }
}
