//! No builtin of the language accepts a keyword without effect: each optional parameter of the catalogue gets other
//! values in calls of the test kernels. The compiled module must then differ, or there must be a message.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, ExprCall, Stmt};
use slipring_ir::{Diags, Source};
use slipring_lang::{Compiled, Entry, compile};

use crate::here::root;
use crate::walk::files;

/// Parameters that are accepted without effect, and why. Each is documented as a hint for the author; all others cause
/// a note.
const WITHOUT_EFFECT: &[(&str, &str, &str)] = &[];

/// This many other values without effect show that a parameter is ignored: fewer may be its default in several
/// spellings. So do `True` and `False`, which are never both the default.
const IGNORED: usize = 3;

/// The values tried; `{}` is the first argument of the call.
const VALUES: &[&str] = &[
    "\"other\"",
    "True",
    "False",
    "0",
    "1",
    "2",
    "16",
    "1.5",
    "pl.FP16",
    "pl.INT32",
    "pl.Mem.Mat",
    "pl.Mem.Vec",
    "pl.SplitMode.UP_DOWN",
    "pl.PadValue.max",
    "[8, 8]",
    "[0, 0]",
    "{}",
];

/// A call of a word of the language in a text.
struct Found {
    entry: &'static Entry,
    positional: Vec<Range<usize>>,
    keywords: Vec<(String, Range<usize>)>,
    /// Where another argument can be inserted.
    end: usize,
}

struct Calls(Vec<Found>);

fn path(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(member) => Some(format!("{}.{}", path(&member.value)?, member.attr)),
        _ => None,
    }
}

impl<'a> Visitor<'a> for Calls {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(call) = expr {
            self.0.extend(found(call));
        }
        walk_expr(self, expr);
    }
}

fn found(call: &ExprCall) -> Option<Found> {
    let path = path(&call.func)?;
    let name = path.strip_prefix("pl.")?;
    let short = ["tile.", "tensor.", "system."].iter().find_map(|group| name.strip_prefix(group));
    let entry = slipring_lang::find(name).or_else(|| slipring_lang::find(short?))?;
    let place = |span: slipring_ir::Span| span.start as usize..span.end as usize;
    let positional = call.arguments.args.iter().map(|arg| place(slipring_lang::syntax::at(arg))).collect();
    let keywords = call.arguments.keywords.iter();
    let keywords =
        keywords.filter_map(|own| Some((own.arg.as_ref()?.to_string(), place(slipring_lang::syntax::at(&own.value)))));
    let end = slipring_lang::syntax::at(call).end as usize - 1;
    Some(Found { entry, positional, keywords: keywords.collect(), end })
}

/// Collects the calls in the kernels of a body; code that only launches kernels is not compiled.
fn kernels(body: &[Stmt], text: &str, found: &mut Calls) {
    for stmt in body {
        match stmt {
            Stmt::FunctionDef(def) => {
                let says = |word: &str| {
                    def.decorator_list.iter().any(|own| {
                        let place = slipring_lang::syntax::at(own);
                        text[place.start as usize..place.end as usize].contains(word)
                    })
                };
                if says("pl.") && !says("Orchestration") {
                    def.body.iter().for_each(|stmt| found.visit_stmt(stmt));
                }
            }
            Stmt::ClassDef(class) => kernels(&class.body, text, found),
            _ => {}
        }
    }
}

/// The optional parameters of a builtin, with their position among the positional ones.
fn optional(entry: &Entry) -> Vec<(Vec<&'static str>, Option<usize>)> {
    let mut list = Vec::new();
    for way in entry.params.split('|') {
        let mut position = Some(0);
        for part in way.split(',').map(str::trim).filter(|part| !part.is_empty() && *part != "…") {
            if part == "*" {
                position = None;
                continue;
            }
            let names: Vec<&'static str> = part.trim_end_matches('=').split('/').collect();
            if part.ends_with('=') || position.is_none() {
                list.push((names, position));
            }
            position = position.map(|at| at + 1);
        }
    }
    list
}

/// The text with another value for a parameter of a call.
fn changed(text: &str, call: &Found, (names, position): &(Vec<&str>, Option<usize>), value: &str) -> String {
    let first = call.positional.first().map_or("0", |place| &text[place.clone()]);
    let value = value.replace("{}", first);
    let named = call.keywords.iter().find(|(name, _)| names.contains(&name.as_str())).map(|own| own.1.clone());
    let in_order = position.and_then(|at| call.positional.get(at).cloned());
    match named.or(in_order) {
        Some(place) => format!("{}{value}{}", &text[..place.start], &text[place.end..]),
        None => {
            let comma = if text[..call.end].trim_end().ends_with([',', '(']) { "" } else { ", " };
            format!("{}{comma}{}={value}{}", &text[..call.end], names[0], &text[call.end..])
        }
    }
}

/// Whether an argument can be written twice without being computed twice.
fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn compiled(text: &str) -> (String, Diags, bool) {
    let (Compiled { module, kernels, .. }, diags) = compile(Arc::new(Source::new("words.py", text)));
    let errors = diags.has_errors();
    // The launch facts outside the module count as well: blocks, initial values of tensors.
    (format!("{}{kernels:?}", slipring_ir::text::print(&module)), diags, errors)
}

#[test]
fn no_keyword_is_without_effect() {
    let root = root();
    let mut texts: Vec<String> = ["tests/files/lang", "examples/lang"]
        .iter()
        .flat_map(|folder| files(&root.join(folder), &["py"]))
        .filter_map(|file| std::fs::read_to_string(file).ok())
        .collect();
    texts.sort_by_key(|text| (text.len(), text.clone()));
    let mut done: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut silent: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for text in &texts {
        let Some(body) = slipring_lang::syntax::parse(&Source::new("words.py", text.clone()), &mut Diags::default())
        else {
            continue;
        };
        let mut calls = Calls(Vec::new());
        kernels(&body, text, &mut calls);
        let mut base = None;
        for call in &calls.0 {
            for parameter in optional(call.entry) {
                let key = (call.entry.names[0], parameter.0[0]);
                if done.contains(&key) {
                    continue;
                }
                let (before, said, wrong) = base.get_or_insert_with(|| compiled(text));
                if *wrong {
                    break;
                }
                let mut taken = Vec::new();
                let mut differs = false;
                let plain = call.positional.first().is_some_and(|place| is_name(&text[place.clone()]));
                for value in VALUES.iter().filter(|value| plain || **value != "{}") {
                    let other = changed(text, call, &parameter, value);
                    let (after, new, errors) = compiled(&other);
                    if errors {
                        continue;
                    }
                    let messages = |diags: &Diags| diags.list.iter().map(|own| own.message.clone()).collect::<Vec<_>>();
                    if after != *before || messages(&new) != messages(said) {
                        differs = true;
                        break;
                    }
                    taken.push(*value);
                }
                if differs {
                    done.insert(key);
                    silent.remove(&key);
                } else if taken.len() >= IGNORED || ["True", "False"].iter().all(|own| taken.contains(own)) {
                    silent.entry(key).or_insert(taken);
                }
            }
        }
    }
    let listed = |key: &(&str, &str)| WITHOUT_EFFECT.iter().any(|(word, parameter, _)| (*word, *parameter) == *key);
    let lost: Vec<String> = silent
        .iter()
        .filter(|(key, _)| !listed(key))
        .map(|((word, parameter), values)| format!("pl.{word}(…, {parameter}={})", values.join(" or ")))
        .collect();
    assert!(lost.is_empty(), "taken without effect and without a word:\n{}", lost.join("\n"));
    assert!(WITHOUT_EFFECT.iter().all(|(.., why)| !why.is_empty()));
    assert!(done.len() > 40, "only {} parameters were seen to change something", done.len());
}
