//! No files of a crate use each other in a circle: what a file needs, and what that needs, leads never back to it.

mod source;

use std::collections::{BTreeMap, BTreeSet};

use source::Source;

/// What a path stands for: an item of a file, by their places in the list; a module has no item.
#[derive(Clone, Debug, PartialEq)]
struct Target {
    file: usize,
    item: Option<String>,
    /// False where no definition was seen: a macro may make it.
    seen: bool,
}

/// The files of a crate, and what their names stand for.
struct Crate {
    files: Vec<Source>,
    modules: BTreeMap<Vec<String>, usize>,
}

impl Crate {
    /// From paths below `src` and texts.
    fn read(texts: &[(&str, &str)]) -> Crate {
        let all: Vec<Source> = texts.iter().map(|(path, text)| Source::read(path, text)).collect();
        let tests: BTreeSet<Vec<String>> = all.iter().flat_map(Source::test_modules).collect();
        let files: Vec<Source> = all.into_iter().filter(|file| !tests.contains(&file.module)).collect();
        let modules = files.iter().enumerate().map(|(at, file)| (file.module.clone(), at)).collect();
        Crate { files, modules }
    }

    /// The path from the root of the crate that a path of a file means; `None` for what other crates have.
    fn absolute(&self, file: &Source, path: &[String]) -> Option<Vec<String>> {
        self.absolute_through(file, path, file.imports.len())
    }

    /// The same through at most so many imports.
    fn absolute_through(&self, file: &Source, path: &[String], most: usize) -> Option<Vec<String>> {
        let (head, rest) = path.split_first()?;
        let below = |base: &[String], rest: &[String]| [base, rest].concat();
        match head.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some(below(&file.module, rest)),
            "super" => {
                let ups = path.iter().take_while(|part| *part == "super").count();
                let base = file.module.len().checked_sub(ups)?;
                Some(below(&file.module[..base], &path[ups..]))
            }
            _ if self.modules.contains_key(&below(&file.module, &path[..1])) => Some(below(&file.module, path)),
            _ => {
                // An import of the same file, by its name; one that names itself is another crate's.
                let import = file.imports.iter().find(|import| import.name == *head && import.path[0] != *head)?;
                Some(below(&self.absolute_through(file, &import.path, most.checked_sub(1)?)?, rest))
            }
        }
    }

    /// What a path from the root stands for: more than one where a module and an item share a name.
    fn resolve(&self, path: &[String], tried: &mut Vec<Vec<String>>) -> Vec<Target> {
        // Globs of an item that a macro makes lead on and on.
        if tried.len() > 100 || tried.iter().any(|before| before == path) {
            return Vec::new();
        }
        tried.push(path.to_vec());
        let mut found = Vec::new();
        if let Some(file) = self.modules.get(path) {
            found.push(Target { file: *file, item: None, seen: true });
        }
        let shorter = (0..path.len()).rev();
        let Some((file, rest)) =
            shorter.into_iter().find_map(|len| Some((*self.modules.get(&path[..len])?, &path[len..])))
        else {
            return found;
        };
        let module = &self.files[file];
        let own = |seen| Target { file, item: Some(rest[0].clone()), seen };
        if module.own.contains(&rest[0]) {
            found.push(own(true));
            return found;
        }
        for import in module.imports.iter().filter(|import| import.name == rest[0]) {
            if let Some(to) = self.absolute(module, &import.path) {
                found.extend(self.resolve(&[&to, &rest[1..]].concat(), tried));
            } else {
                return found;
            }
        }
        if found.is_empty() {
            for import in module.imports.iter().filter(|import| import.glob) {
                let to = self.absolute(module, &import.path);
                let through = to.map(|to| self.resolve(&[&to, rest].concat(), tried)).unwrap_or_default();
                found.extend(through.into_iter().filter(|target| target.seen));
            }
        }
        if found.is_empty() {
            found.push(own(false));
        }
        found
    }

    /// The items of other files that a file uses.
    fn uses(&self, at: usize) -> BTreeMap<usize, BTreeSet<String>> {
        let file = &self.files[at];
        let mut used: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        let mut note = |targets: Vec<Target>| {
            for Target { file, item, .. } in targets {
                if let Some(item) = item
                    && file != at
                {
                    used.entry(file).or_default().insert(item);
                }
            }
        };
        for import in &file.imports {
            let Some(to) = self.absolute(file, &import.path) else { continue };
            if import.glob {
                let strange = |name: &&String| {
                    !file.own.contains(*name) && !file.imports.iter().any(|import| import.name == **name)
                };
                for name in file.names.iter().filter(strange) {
                    let targets = self.resolve(&[to.as_slice(), std::slice::from_ref(name)].concat(), &mut Vec::new());
                    // A glob brings nothing that the file may not name.
                    let hidden = |target: &Target| {
                        let maker = &self.files[target.file];
                        target.item.as_ref().is_some_and(|item| maker.private.contains(item))
                            && !file.module.starts_with(&maker.module)
                    };
                    note(targets.into_iter().filter(|target| target.seen && !hidden(target)).collect());
                }
            } else if !import.public || file.names.contains(&import.name) {
                // A re-export that the file itself does not need hands on, and uses nothing.
                note(self.resolve(&to, &mut Vec::new()));
            }
        }
        for path in &file.paths {
            if let Some(to) = self.absolute(file, path) {
                note(self.resolve(&to, &mut Vec::new()));
            }
        }
        for name in file.macros.iter().filter(|name| !file.own.contains(*name)) {
            // A macro that is in scope by its place, without an import.
            let imported = file.imports.iter().any(|import| import.name == *name);
            let mut makers = (0..self.files.len()).filter(|other| self.files[*other].makes.contains(name));
            if let (false, Some(maker), None) = (imported, makers.next(), makers.next()) {
                note(vec![Target { file: maker, item: Some(format!("{name}!")), seen: true }]);
            }
        }
        used
    }

    /// Each circle: its files, and the names that tie them.
    fn circles(&self) -> Vec<(usize, String)> {
        let uses: Vec<_> = (0..self.files.len()).map(|at| self.uses(at)).collect();
        let reached: Vec<BTreeSet<usize>> = (0..uses.len())
            .map(|start| {
                let mut open = vec![start];
                let mut reached = BTreeSet::new();
                while let Some(at) = open.pop() {
                    open.extend(uses[at].keys().copied().filter(|next| reached.insert(*next)));
                }
                reached
            })
            .collect();
        let with = |at: usize| {
            let back = reached[at].iter().filter(|other| reached[**other].contains(&at));
            back.copied().collect::<Vec<usize>>()
        };
        let circles: BTreeSet<Vec<usize>> = (0..uses.len()).map(with).collect();
        let tell = |circle: Vec<usize>| {
            let mut text = format!("{} files in a circle", circle.len());
            for (from, to) in circle.iter().flat_map(|from| circle.iter().map(move |to| (from, to))) {
                if let Some(items) = uses[*from].get(to) {
                    let items: Vec<&str> = items.iter().map(String::as_str).collect();
                    let (from, to) = (&self.files[*from].path, &self.files[*to].path);
                    text.push_str(&format!("\n    {from} uses {} of {to}", items.join(", ")));
                }
            }
            (circle.len(), text)
        };
        circles.into_iter().filter(|circle| !circle.is_empty()).map(tell).collect()
    }
}

/// The circles of each crate, from sources by their path below `crates`.
pub(crate) fn of_crates(sources: &[(String, String)]) -> BTreeMap<String, Vec<(usize, String)>> {
    let mut crates: BTreeMap<String, Vec<(&str, &str)>> = BTreeMap::new();
    for (path, text) in sources {
        let (name, below) = path.split_once("/src/").expect("a source");
        crates.entry(name.to_string()).or_default().push((below, text));
    }
    crates.into_iter().map(|(name, texts)| (name, Crate::read(&texts).circles())).collect()
}

#[test]
fn files_use_each_other_in_no_circle() {
    let crates = of_crates(&super::scan::sources());
    assert!(crates.len() > 25, "only {} crates are read", crates.len());
    let mut found = Vec::new();
    for (name, circles) in &crates {
        found.extend(circles.iter().map(|(_, text)| format!("`{name}`: {text}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The circles of a crate of these files, as told.
fn told(texts: &[(&str, &str)]) -> Vec<String> {
    Crate::read(texts).circles().into_iter().map(|(_, text)| text).collect()
}

#[test]
fn circles_are_found() {
    let circle = "2 files in a circle\n    a.rs uses B of b.rs\n    b.rs uses A of a.rs";
    let a = "pub struct A(B);\nuse crate::b::B;\n";
    for b in [
        "use super::a::A;\npub struct B;\n",
        "use crate::{a::{self, A as Other}};\npub struct B(Other);\n",
        "pub struct B;\nfn f() -> crate::a::A {}\n",
        "use crate::a;\npub struct B;\nfn f() -> a::A {}\n",
        // Handed on by another file.
        "pub struct B;\nfn f() { use crate::*; let _: Option<A> = None; }\n",
        "use crate::A;\npub struct B;\n",
        "use crate::Renamed;\npub struct B;\n",
    ] {
        let root = "mod a;\nmod b;\npub use a::A;\npub(crate) use a::A as Renamed;\n";
        assert_eq!(told(&[("lib.rs", root), ("a.rs", a), ("b.rs", b)]), [circle], "{b}");
    }
    let three =
        [("a.rs", "use crate::b::B;\npub struct A;"), ("b.rs", "use crate::c::C;\npub struct B;"), ("lib.rs", "")];
    let told = told(&[&three[..], &[("c/mod.rs", "pub struct C(crate::a::A);")]].concat());
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("3 files in a circle"), "{told:?}");
}

#[test]
fn a_module_and_what_its_parent_defines_are_a_circle() {
    let child = "use super::Shape;\npub fn draw(_: Shape) {}\n";
    let parent = "mod draw;\npub struct Shape;\nfn f() { draw::draw(Shape) }\n";
    let circle = "2 files in a circle\n    lib.rs uses draw of draw.rs\n    draw.rs uses Shape of lib.rs";
    assert_eq!(told(&[("lib.rs", parent), ("draw.rs", child)]), [circle]);
    let by_macro = "macro_rules! shape { () => {} }\nmod draw;\nfn f() { draw::draw() }\n";
    let circle = "2 files in a circle\n    lib.rs uses draw of draw.rs\n    draw.rs uses shape! of lib.rs";
    assert_eq!(told(&[("lib.rs", by_macro), ("draw.rs", "pub fn draw() { shape!() }")]), [circle]);
}

#[test]
fn a_row_of_a_table_is_an_item_of_its_file() {
    let table = "use crate::b;\nops! {\n    OPS;\n    /// Text.\n    pub ADD \"add\" \"Sum\": BASE, lower: b::add;\n    SUB \"sub\" \"\": BASE;\n}\n";
    let user = |names: &str| format!("{names}\npub fn add() {{}}\n");
    for names in ["use crate::a::OPS;", "use crate::a::ADD;", "fn f() { crate::a::ADD; }"] {
        assert_eq!(
            told(&[("lib.rs", "mod a;\nmod b;\n"), ("a.rs", table), ("b.rs", &user(names))]).len(),
            1,
            "{names}"
        );
    }
    assert!(told(&[("lib.rs", "mod a;\nmod b;\n"), ("a.rs", table), ("b.rs", &user(""))]).is_empty());
}

#[test]
fn what_ties_nothing_is_no_circle() {
    let a = "use crate::b::B;\npub struct A(B);\nconst fn own() {}\n";
    for b in [
        "pub struct B;\n",
        // Comments, literals and tests.
        "pub struct B;\n// crate::a::A\n/* crate::a::A */ fn f() { \"crate::a::A\"; r#\"a\"crate::a::A\"#; 'a'; }\n",
        "pub struct B;\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n    fn f() {}\n}\n",
        "pub struct B;\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\nuse crate::a::A;\n",
        // Handed on, and not used.
        "pub struct B;\npub use crate::a::A;\n",
        // The file itself, named in a module of it.
        "pub struct B;\nmod inner {\n    use super::B as A;\n    fn f() -> super::B { A }\n}\n",
        // A glob brings nothing that is private.
        "pub struct B;\nuse crate::a::*;\nfn f() { let own = 1; own }\n",
        // Another `A`.
        "use other::A;\npub struct B(A);\nuse crate::*;\n",
    ] {
        let tests = ("b/tests.rs", "use crate::a::A;\nuse crate::b::B;");
        let root = ("lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::B;\n");
        assert_eq!(told(&[root, ("a.rs", a), ("b.rs", b), tests]), [""; 0], "{b}");
    }
}
