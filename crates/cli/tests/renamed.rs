//! An undefined name is never silently dropped: if any call in a whole program is renamed, `check` reports the unknown
//! name.

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, Stmt};
use slipring::{CompileRequest, Program, Subject, platforms_of};
use slipring_ir::{Diagnostic, Diags, Source};

use crate::here::root;
use crate::walk::files;

/// End offsets of the names of functions called in decorated functions.
struct Called(Vec<usize>);

impl<'a> Visitor<'a> for Called {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(call) = expr
            && matches!(&*call.func, Expr::Name(_) | Expr::Attribute(_))
        {
            self.0.push(slipring_lang::syntax::at(&*call.func).end as usize);
        }
        walk_expr(self, expr);
    }
}

/// Collects the calls in the bodies of decorated functions.
fn calls(body: &[Stmt], found: &mut Called) {
    for stmt in body {
        match stmt {
            Stmt::FunctionDef(def) if def.decorator_list.is_empty() => {}
            Stmt::FunctionDef(def) => def.body.iter().for_each(|stmt| found.visit_stmt(stmt)),
            Stmt::ClassDef(class) => calls(&class.body, found),
            _ => {}
        }
    }
}

/// Messages of a check that are errors.
fn errors(name: &str, text: String) -> Option<Vec<String>> {
    let subject = Subject::new(Source::new(name, text), &CompileRequest::default());
    let checked = subject.check(platforms_of).ok()?;
    if checked.errors() + checked.findings() == 0 {
        return Some(Vec::new());
    }
    let shown = |said: &Diagnostic| {
        let labels: Vec<&str> = said.secondary.iter().map(|place| &*place.text).collect();
        format!("{} {labels:?} {:?} {:?}", said.message, said.notes, said.help)
    };
    Some(checked.diags().list.iter().map(shown).collect())
}

/// The next pseudo-random number: SplitMix64.
fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *seed;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[test]
fn a_renamed_call_of_a_program_is_an_error_that_names_it() {
    let root = root();
    let all = crate::here::everything();
    let mut seed = std::env::var("SLIPRING_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7u64);
    let (mut tried, mut lost) = (0, Vec::new());
    for file in ["examples", "tests/files/programs"].iter().flat_map(|folder| files(&root.join(folder), &["py"])) {
        let (name, text) = (file.display().to_string(), std::fs::read_to_string(&file).unwrap_or_default());
        let program = Program::from_text(name.clone(), text.clone(), &CompileRequest::default());
        // Code that depends on contents of tensors is followed only as far as assumed contents lead.
        if !matches!(program, Ok(Some(ref program)) if !program.is_open())
            || errors(&name, text.clone()).is_none_or(|errors| !errors.is_empty())
        {
            continue;
        }
        let Some(body) = slipring_lang::syntax::parse(&Source::new("file.py", text.clone()), &mut Diags::default())
        else {
            continue;
        };
        let mut called = Called(Vec::new());
        calls(&body, &mut called);
        let most = if all { called.0.len() } else { 3 };
        for _ in 0..most.min(called.0.len()) {
            let at = called.0.swap_remove((next(&mut seed) % called.0.len() as u64) as usize);
            let begin = text[..at].rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |before| before + 1);
            let other = format!("{}_renamed", &text[begin..at]);
            let said = errors(&name, format!("{}_renamed{}", &text[..at], &text[at..])).unwrap_or_default();
            tried += 1;
            if !said.iter().any(|message| message.contains(&other)) {
                let line = text[..at].lines().count();
                lost.push(format!("{}:{line}: `{other}`: {said:?}", file.display()));
            }
        }
    }
    assert!(lost.is_empty(), "{} of {tried} renamed calls are not named:\n{}", lost.len(), lost.join("\n"));
    assert!(tried >= 20, "only {tried} calls were renamed");
}
