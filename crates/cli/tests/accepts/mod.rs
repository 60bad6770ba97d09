//! The element types that each tile op accepts on each platform, compared with the public assembler.
//!
//! The assembler does not run here: `SLIPRING_PROGRAMS=FOLDER` writes the programs of `forms.txt` into a folder, and
//! `scripts/assembler --accepts FOLDER` writes its answers to `tests/accepts/answers.tsv`.
//! `tests/accepts/differences.tsv` lists the intended differences with reasons; any other difference is an error.

mod empty;
mod forms;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use forms::{Form, forms};
use slipring::{BuildOptions, Opened, build, find_target, judge, load};
use slipring_ir::Source;
use slipring_machine::{Platform, built_in};

use crate::here::root;
use crate::ready::Ready;

const ARCHS: [&str; 2] = ["a5", "a2a3"];

fn folder() -> PathBuf {
    root().join("tests/accepts")
}

/// The columns of a table, without its comments.
fn table<const N: usize>(name: &str) -> Vec<[String; N]> {
    let text = fs::read_to_string(folder().join(name)).unwrap_or_default();
    let row = |line: &str| line.split('\t').map(str::to_string).collect::<Vec<_>>().try_into();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(|line| row(line).unwrap_or_else(|_| panic!("{name}: {line}"))).collect()
}

/// The first error of a program, if slipring rejects it.
fn refused(text: &str, platform: &Platform) -> Option<String> {
    let said = Ready::of("form", text, platform).err()?;
    Some(said.into_iter().next().unwrap_or_else(|| "nothing to run".to_string()))
}

/// A digest of the programs of a form: 64-bit FNV-1a of all their texts.
fn digest(programs: &[(String, String)]) -> String {
    let bytes = programs.iter().flat_map(|(_, text)| text.bytes());
    let fnv =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("{fnv:016x}")
}

/// Writes the programs of a form, each to a file `form@platform@types.pto`, and returns its line of the list of
/// digests.
fn write(out: &Path, form: &Form, arch: &str) -> String {
    let programs = form.programs(arch);
    for (types, text) in &programs {
        let name = format!("{}@{arch}@{types}.pto", form.name.replace('/', "+"));
        fs::write(out.join(name), text).unwrap();
    }
    format!("{}\t{arch}\t{}\n", form.name, digest(&programs))
}

#[test]
fn types_are_those_of_the_public_assembler() {
    if let Some(out) = std::env::var_os("SLIPRING_PROGRAMS") {
        let out = Path::new(&out);
        let digests: String = forms().iter().flat_map(|form| ARCHS.map(|arch| write(out, form, arch))).collect();
        return fs::write(out.join("digests.tsv"), digests).unwrap();
    }
    let answers: BTreeMap<[String; 2], [String; 2]> = table::<4>("answers.tsv")
        .into_iter()
        .map(|[form, arch, digest, accepted]| ([form, arch], [digest, accepted]))
        .collect();
    let mut listed: Vec<_> = table::<5>("differences.tsv").into_iter().map(|row| (row, BTreeSet::new())).collect();
    let mut wrong = Vec::new();
    for (form, arch) in forms().iter().flat_map(|form| ARCHS.map(|arch| (form, arch))) {
        let programs = form.programs(arch);
        let Some([asked, accepted]) = answers.get(&[form.name.to_string(), arch.to_string()]) else {
            wrong.push(format!("{} on {arch}: nobody has asked the assembler", form.name));
            continue;
        };
        if *asked != digest(&programs) {
            wrong.push(format!("{} on {arch}: the assembler was asked of another form", form.name));
        }
        let platform = built_in(arch).unwrap();
        let accepted: Vec<&str> = accepted.split(' ').collect();
        for (types, text) in &programs {
            let ours = refused(text, &platform);
            if ours.is_none() == accepted.contains(&types.as_str()) {
                continue;
            }
            let who = if ours.is_none() { "slipring" } else { "assembler" };
            let row = listed.iter_mut().find(|(row, _)| {
                let [name, on, by, of, _] = row;
                let known = (name.as_str(), on.as_str(), by.as_str()) == (form.name, arch, who);
                known && (of == "*" || of.split(' ').any(|one| one == types))
            });
            match row {
                Some((_, found)) => _ = found.insert(types.clone()),
                None => wrong.push(format!("{}\t{arch}\t{who}\t{types}\t{}", form.name, ours.unwrap_or_default())),
            }
        }
    }
    let all = |row: &[String; 5], found: &BTreeSet<String>| match row[3].as_str() {
        "*" => !found.is_empty(),
        types => types.split(' ').all(|one| found.contains(one)),
    };
    let gone = listed.iter().filter(|(row, found)| !all(row, found));
    wrong.extend(gone.map(|(row, _)| format!("{}: no difference any more", row.join(" "))));
    assert!(wrong.is_empty(), "{} differences that are not listed:\n{}", wrong.len(), wrong.join("\n"));
}

/// A program that the assembler is known to reject is rejected when building for it, and one that it accepts is built.
#[test]
fn what_is_built_for_the_assembler_is_what_it_takes() {
    let target = find_target("ptoas-0.27").unwrap();
    let mut wrong = Vec::new();
    let forms = forms();
    for [name, arch, _, accepted] in table::<4>("answers.tsv") {
        // There are rules about layouts for these ops; any other mismatch is a difference of the first test.
        let places = ["tadd", "tmax", "tshl", "texp", "trelu", "tor", "tsel", "tsels"];
        if name.strip_suffix(" places").is_some_and(|form| !places.contains(&form)) {
            continue;
        }
        let (form, platform) = (forms.iter().find(|form| form.name == name).unwrap(), built_in(&arch).unwrap());
        let accepted: Vec<&str> = accepted.split(' ').collect();
        for (types, text) in form.programs(&arch) {
            if refused(&text, &platform).is_some() {
                continue;
            }
            let (module, diags) = load(Source::new("form", &text));
            let judged = judge(&module, std::slice::from_ref(&platform), &[]);
            let loose = judged.iter().flat_map(|judged| &judged.diags.list).any(|said| said.code == "tile-lines");
            let opened = Opened { module, platform: platform.clone(), diags, kernels: Vec::new() };
            let options = BuildOptions { target: Some(target), ..BuildOptions::default() };
            let refuses = build(opened, options, |_, _, _| {}).diags.has_errors();
            // The assembler accepts tiles with incomplete lines; the headers with which its C++ is compiled do not.
            if loose {
                if !refuses {
                    wrong.push(format!("{name} on {arch}: {types}: built with lines that are not whole"));
                }
                continue;
            }
            // Printed as other ops, or with other element types, that it accepts.
            if !refuses && ["tmaxs", "tmins", "tci"].contains(&&*name) {
                continue;
            }
            // Printed as two operations, which round a narrow float twice.
            let sums = ["taddc", "tsubc", "taddsc", "tsubsc"];
            if refuses && sums.contains(&&*name) && ["f16", "bf16"].contains(&&*types) {
                continue;
            }
            // An operand that the unit does not need is omitted in print.
            if refuses == accepted.contains(&types.as_str()) && name != "trowexpandexpdif/memory" {
                wrong.push(format!("{name} on {arch}: {types}: refused {refuses}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
