//! Names in a text mean what they mean in Python.

use slipring_ir::Source;
use slipring_lang::scopes::{NameUse, NameUses, identifier, is_builtin, places};

/// The occurrences of the name at the n-th occurrence in a text, with their lines.
fn same(text: &str, name: &str, nth: usize) -> Vec<usize> {
    let places = places(&Source::new("k.py", text)).names;
    let all: Vec<&NameUse> = places.iter().filter(|place| &text[place.range.clone()] == name).collect();
    let own = all.iter().filter(|place| place.symbol == all[nth].symbol);
    own.map(|place| text[..place.range.start].matches('\n').count() + 1).collect()
}

#[test]
fn names_mean_what_python_means() {
    let text = "import slipring.language as pl\nN = 4\n\ndef f(x, y):\n    N = x\n    def g(z=y):\n        return N + z\n    \
                return [x for x in y if x] + g(z=N)\n\nclass A:\n    N = 3\n    def h(self, x):\n        return N + x\n\nf(x=N, y=f)\n";
    assert_eq!(same(text, "N", 0), [2, 13, 15]);
    assert_eq!(same(text, "N", 1), [5, 7, 8]);
    assert_eq!(same(text, "x", 0), [4, 5, 15]);
    assert_eq!(same(text, "z", 0), [6, 7, 8]);
    assert_eq!(same(text, "f", 0), [4, 15, 15]);
    assert_eq!(same(text, "y", 0), [4, 6, 8, 15]);
}

#[test]
fn the_first_iterable_of_a_comprehension_is_outside_of_it() {
    let text = "N = [1]\na = [N\n  for N\n  in N]\n";
    assert_eq!(same(text, "N", 0), [1, 4]);
}

#[test]
fn a_text_that_is_being_typed_has_names() {
    let text = "def f(x):\n    y = x\n    z = y +\n    return z\n";
    assert_eq!(same(text, "y", 0), [2, 3]);
    assert_eq!(places(&Source::new("k.py", "((((".repeat(10_000))), NameUses::default());
    let members = places(&Source::new("k.py", "pl.tile.load(a)\n")).members;
    let paths: Vec<&str> = members.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["pl.tile.load", "pl.tile"]);
}

#[test]
fn attributes_of_self_and_of_a_class_belong_to_it() {
    let text = "class A:\n    N = 3\n    def f(self, x):\n        self.m = x\n        return self.N\n\
                \nclass B(A):\n    def f(self, x):\n        return self.m + super().f(x=x)\n\
                \n    def g(me):\n        return me.f(x=B.N) + me.other\n\
                \n    @staticmethod\n    def h(self):\n        return self.f\n\nA.f(1, x=2).f\n";
    let uses = places(&Source::new("k.py", text));
    assert_eq!(same(text, "N", 0), [2, 5, 12]);
    assert_eq!(same(text, "m", 0), [4, 9]);
    assert_eq!(same(text, "f", 0), [3, 8, 9, 12, 18]);
    // A keyword names a parameter of the method that is called.
    assert_eq!(same(text, "x", 0), [3, 4, 9, 18]);
    assert_eq!(same(text, "x", 2), [8, 9, 12]);
    let loose: Vec<(&str, usize)> =
        uses.loose.iter().map(|(name, range)| (name.as_str(), text[..range.start].matches('\n').count() + 1)).collect();
    assert_eq!(loose, [("other", 12), ("f", 16), ("f", 18)]);
    assert!(uses.names.iter().filter(|own| &text[own.range.clone()] == "f").all(|own| own.member));
    let head = |name: &str| {
        let at = text.find(name).unwrap();
        &text[at..uses.heads[&at]]
    };
    assert_eq!((head("B(A)"), head("f(self"), head("N = 3")), ("B(A)", "f(self, x)", "N = 3"));
    // Another object may be assigned to the parameter, and a class may be its own base.
    assert_eq!(same("class A:\n  def f(self):\n    self = g()\n    self.f\n", "f", 0), [2]);
    assert_eq!(same("class A(A):\n  def f(self):\n    self.f\n", "f", 0), [2, 3]);
}

#[test]
fn keywords_of_a_class_are_of_its_constructor_or_its_attributes() {
    let text = "@dataclass\nclass A:\n    n: int\n\nclass B:\n    n = 1\n    def __init__(self, n): self.m = n\n\nA(n=1)\nB(n=2)\n";
    assert_eq!(same(text, "n", 0), [3, 9]);
    assert_eq!(same(text, "n", 1), [6]);
    assert_eq!(same(text, "n", 2), [7, 7, 10]);
}

#[test]
fn comprehensions_keep_their_counters_and_nothing_else() {
    let text = "def f(n):\n  a = {n: k for n, k in n}\n  b = [\n    (w := i)\n    for i in n]\n  return w\n";
    assert_eq!(same(text, "n", 0), [1, 2, 5]);
    assert_eq!(same(text, "w", 0), [4, 6]);
    let text = "N = 1\ndef f(N):\n  def g():\n    global N\n    N = 2\n  return N\n";
    assert_eq!(same(text, "N", 0), [1, 4, 5]);
    let text = "match a:\n  case {1: b, **c}:\n    c\n";
    assert_eq!(same(text, "c", 1), [2, 3]);
}

#[test]
fn the_body_of_a_class_sees_what_it_has_bound_so_far() {
    let text = "N = 1\nclass A:\n    N = N\n    def f(self, n=N):\n        return N\n    M = N\n";
    assert_eq!(same(text, "N", 0), [1, 3, 5]);
    assert_eq!(same(text, "N", 1), [3, 4, 6]);
}

#[test]
fn identifiers_are_those_of_python() {
    for name in ["x", "_", "ö", "名", "x1", "match", "a\u{0301}", "ℼ"] {
        assert!(identifier(name).is_some(), "{name}");
    }
    assert_eq!(identifier("ﬁx"), Some("fix".into()));
    for name in ["", "x²", "1x", "a b", "x.y", "lambda", "None", "x\n", "€", "not x", "((", "x#"] {
        assert_eq!(identifier(name), None, "{name}");
    }
    assert!(is_builtin("range") && is_builtin("ValueError") && !is_builtin("match"));
}
