//! Programs with a single op each, generated from the lines of `forms.txt`.

use std::collections::BTreeMap;
use std::fmt::Write;

/// The element types for which both sides have names.
pub const ELEMS: [&str; 13] =
    ["i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64", "f16", "bf16", "f32", "f8E4M3FN", "f8E5M2"];

/// A line of `forms.txt`.
pub struct Form {
    /// The op without `pto.`, and a suffix that identifies this use of it.
    pub name: &'static str,
    values: Vec<(&'static str, Vec<&'static str>)>,
    text: &'static str,
    /// True if the programs vary the layout, shape and memory of single tiles, with the same types in all.
    places: bool,
}

/// The types for programs with other layouts, in order of preference.
const USUAL: [&str; 6] = ["f32", "f16", "i32", "i16", "ui8", "f8E4M3FN"];

/// The types that the assembler accepts for a form.
pub(super) fn taken(form: &str, arch: &str) -> Vec<&'static str> {
    let lines = include_str!("../../../../tests/accepts/answers.tsv").lines();
    let rows = lines.map(|line| line.split('\t').collect::<Vec<_>>());
    let mut own = rows.filter(|row| row.len() == 4 && row[0] == form && row[1] == arch);
    own.next().map_or_else(Vec::new, |row| row[3].split(' ').filter(|types| !types.is_empty()).collect())
}

/// All lines.
pub fn forms() -> Vec<Form> {
    let lines = include_str!("forms.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let types = |line: &'static str| {
        let (name, rest) = line.split_once(": ")?;
        let (values, text) = rest.split_once("; ")?;
        let value = |word: &'static str| word.split_once('=').map(|(name, spec)| (name, spec.split('/').collect()));
        let values = values.split_whitespace().map(value).collect::<Option<_>>()?;
        Some(Form { name, values, text, places: false })
    };
    let forms: Vec<Form> = lines.map(|line| types(line).unwrap_or_else(|| panic!("forms.txt: {line}"))).collect();
    let places = |form: &Form| Form {
        name: format!("{} places", form.name).leak(),
        values: form.values.clone(),
        text: form.text,
        places: true,
    };
    let others: Vec<Form> = forms.iter().map(places).collect();
    forms.into_iter().chain(others).collect()
}

impl Form {
    /// Every choice of its types, with its program for a platform.
    pub fn programs(&self, arch: &str) -> Vec<(String, String)> {
        if self.places {
            return self.places(arch);
        }
        let uses = |name| self.values.iter().any(|(_, spec)| spec[0] == name);
        let choices = |name| if uses(name) { ELEMS.to_vec() } else { vec![""] };
        let pairs = choices("T").into_iter().flat_map(|t| choices("U").into_iter().map(move |u| (t, u)));
        pairs
            .map(|(t, u)| (if u.is_empty() { t.into() } else { format!("{t}>{u}") }, self.program(arch, t, u)))
            .collect()
    }

    /// The unchanged program, and programs with one tile in another memory or of another shape, with the first types
    /// that the assembler accepts.
    fn places(&self, arch: &str) -> Vec<(String, String)> {
        let taken = taken(self.name.trim_end_matches(" places"), arch);
        let rank = |elem: &str| USUAL.iter().position(|usual| *usual == elem).unwrap_or(USUAL.len());
        let pair = |types: &&'static str| types.split_once('>').unwrap_or((types, ""));
        let Some((t, u)) = taken.iter().map(pair).min_by_key(|(t, u)| (rank(t), rank(u))) else { return Vec::new() };
        let mut programs = vec![("as-it-is".to_string(), self.program(arch, t, u))];
        for (at, (name, spec)) in self.values.iter().enumerate() {
            let value = Value::read("f32", &spec[1..]);
            let [rows, cols] = if value.valid == [0, 0] { value.shape } else { value.valid };
            let mut changes = match value.space {
                "vec" => vec!["c".to_string(), "mat".into()],
                "left" | "right" | "acc" => vec!["c".into(), "n".into(), "z".into(), "mat".into()],
                "mat" => vec!["c".into(), "n".into(), "z".into(), "vec".into()],
                "bias" | "scaling" => vec!["mat".into()],
                _ => Vec::new(),
            };
            if !matches!(value.space, "#" | "gm") {
                changes.extend((rows > 1).then(|| format!("v{}x{cols}", rows / 2)));
                changes.extend((cols > 1).then(|| format!("v{rows}x{}", cols / 2)));
            }
            for change in changes {
                let mut values = self.values.clone();
                values[at].1.push(change.clone().leak());
                let other = Form { values, ..*self };
                programs.push((format!("{name}.{change}"), other.program(arch, t, u)));
            }
        }
        programs
    }

    /// The program with these element types.
    fn program(&self, arch: &str, t: &str, u: &str) -> String {
        let (mut params, mut made, mut types) = (Vec::new(), String::new(), Vec::new());
        let mut used = BTreeMap::new();
        for (name, spec) in &self.values {
            let elem = match spec[0] {
                "T" => t,
                "U" => u,
                other => other,
            };
            let value = Value::read(elem, &spec[1..]);
            let ty = match value.space {
                "#" => {
                    // Numbers are signless.
                    let ty = elem.replace("ui", "i");
                    params.push(format!("%{name}: {ty}"));
                    ty
                }
                "gm" => {
                    params.push(format!("%p{name}: !pto.ptr<{elem}>"));
                    value.window(name, &mut made)
                }
                _ => {
                    let ty = value.tile(arch);
                    let addr: &mut u32 = used.entry(value.space).or_default();
                    writeln!(made, "    %a{name} = arith.constant {addr} : i64").unwrap();
                    writeln!(made, "    %{name} = pto.alloc_tile addr = %a{name} : {ty}").unwrap();
                    *addr += if value.space == "scaling" { 2048 } else { 16384 };
                    ty
                }
            };
            types.push((*name, ty));
        }
        let op = self.name.split(['/', ' ']).next().unwrap_or_default();
        let text = with_types(self.text, &types);
        let params = params.join(", ");
        let target = if arch == "a5" { "a5" } else { "a3" };
        format!(
            "module attributes {{pto.target_arch = \"{target}\"}} {{\n  func.func @k({params}) {{\n{made}    pto.{op} {text}\n    return\n  }}\n}}\n"
        )
    }
}

/// A tile, a number (`#`) or a window of global memory (`gm`).
struct Value<'a> {
    elem: &'a str,
    space: &'a str,
    shape: [u32; 2],
    valid: [u32; 2],
    layout: Option<(&'a str, &'a str)>,
    fractal: u32,
    pad: &'a str,
}

impl<'a> Value<'a> {
    fn read(elem: &'a str, spec: &[&'a str]) -> Value<'a> {
        let mut value =
            Value { elem, space: "vec", shape: [16, 64], valid: [0, 0], layout: None, fractal: 512, pad: "0" };
        let pair = |text: &str| text.split_once('x').map(|(a, b)| [a.parse().unwrap(), b.parse().unwrap()]);
        for &word in spec {
            match word {
                "c" => value.layout = Some(("col_major", "none_box")),
                "n" => value.layout = Some(("row_major", "col_major")),
                "z" => value.layout = Some(("col_major", "row_major")),
                "#" | "gm" | "vec" | "mat" | "left" | "right" | "acc" | "bias" | "scaling" => value.space = word,
                _ if word.starts_with('s') => value.fractal = word[1..].parse().unwrap(),
                _ if word.starts_with('p') => value.pad = &word[1..],
                _ if word.starts_with('v') => value.valid = pair(&word[1..]).unwrap(),
                _ => value.shape = pair(word).unwrap_or_else(|| panic!("forms.txt: {word}")),
            }
        }
        if value.space == "acc" {
            value.fractal = 1024;
        }
        value
    }

    /// The type of a tile, in the layout of its memory unless the form specifies another one.
    fn tile(&self, arch: &str) -> String {
        let Value { elem, space, shape: [rows, cols], fractal, pad, .. } = self;
        let (blayout, slayout) = self.layout.unwrap_or(match (*space, arch) {
            ("left", "a5") | ("acc", _) => ("col_major", "row_major"),
            ("left", _) => ("row_major", "row_major"),
            ("right", _) => ("row_major", "col_major"),
            _ => ("row_major", "none_box"),
        });
        let [v_row, v_col] = if self.valid == [0, 0] { self.shape } else { self.valid };
        format!(
            "!pto.tile_buf<loc={space}, dtype={elem}, rows={rows}, cols={cols}, v_row={v_row}, v_col={v_col}, \
             blayout={blayout}, slayout={slayout}, fractal={fractal}, pad={pad}>"
        )
    }

    /// Creates a window of the parameter, and returns its type.
    fn window(&self, name: &str, made: &mut String) -> String {
        let Value { elem, shape: [rows, cols], .. } = self;
        let (view, window) =
            (format!("!pto.tensor_view<?x?x{elem}>"), format!("!pto.partition_tensor_view<{rows}x{cols}x{elem}>"));
        write!(
            made,
            "    %{name}0 = arith.constant 0 : index\n    %{name}1 = arith.constant 1 : index
    %{name}2 = arith.constant {rows} : index\n    %{name}3 = arith.constant {cols} : index
    %{name}4 = pto.make_tensor_view %p{name}, shape = [%{name}2, %{name}3], strides = [%{name}3, %{name}1] : {view}
    %{name} = pto.partition_view %{name}4, offsets = [%{name}0, %{name}0], sizes = [%{name}2, %{name}3] : {view} -> {window}\n"
        )
        .unwrap();
        window
    }
}

/// Inserts types at each ` :)`: those of the names after the last bracket.
fn with_types(text: &str, types: &[(&str, String)]) -> String {
    let mut out = String::new();
    for part in text.split_inclusive(" :)") {
        let Some(head) = part.strip_suffix(":)") else {
            out += part;
            continue;
        };
        let names = head.rsplit_once('(').map_or(head, |(_, names)| names).split('%').skip(1);
        let ty = |name: &str| {
            let name = name.trim_end_matches(|c: char| !c.is_alphanumeric());
            let name = name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            types.iter().find(|(own, _)| *own == name).map_or_else(|| panic!("forms.txt: {name}"), |(_, ty)| ty.clone())
        };
        write!(out, "{head}: {})", names.map(ty).collect::<Vec<_>>().join(", ")).unwrap();
    }
    out
}
