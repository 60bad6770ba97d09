//! `docs/passes.md`: one section per pass, from the list of passes and the module comments of their files.

use std::path::PathBuf;

use slipring_passes::{by_name, pipeline};

use crate::here::{pinned, root};
use crate::walk;

/// The module comment of a pass's file, without links into the code.
fn said(sources: &[(PathBuf, String)], name: &str) -> String {
    let own = sources.iter().filter(|(_, text)| text.contains(&format!("name: \"{name}\""))).collect::<Vec<_>>();
    let [(_, text)] = own[..] else { panic!("{} files declare the pass `{name}`", own.len()) };
    let lines =
        text.lines().map_while(|line| line.strip_prefix("//!")).map(|line| line.strip_prefix(' ').unwrap_or(line));
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    assert!(!text.trim().is_empty(), "the file of the pass `{name}` says nothing of it");
    let mut plain = text.replace("[`crate::", "`").replace("[`", "`");
    while let Some(at) = plain.find("`](") {
        let end = plain[at..].find(')').map_or(plain.len(), |end| at + end + 1);
        plain.replace_range(at + 1..end, "");
    }
    wrapped(&plain.replace("`]", "`"))
}

/// Paragraphs wrapped at 120 characters; code, tables and lists are unchanged.
fn wrapped(text: &str) -> String {
    let (mut out, mut line, mut code) = (String::new(), String::new(), false);
    let flush = |out: &mut String, line: &mut String| {
        if !line.is_empty() {
            *out += line;
            out.push('\n');
            line.clear();
        }
    };
    for own in text.lines() {
        let fence = own.trim_start().starts_with("```");
        if code || fence || own.trim().is_empty() || own.starts_with(['|', '*', '-', ' ', '#']) {
            flush(&mut out, &mut line);
            // A heading in the file's comment goes below that of the pass.
            let title = if own.starts_with('#') && !code { "##" } else { "" };
            out += &format!("{title}{own}\n");
            code ^= fence;
            continue;
        }
        for word in own.split_whitespace() {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > 118 {
                flush(&mut out, &mut line);
            }
            line += if line.is_empty() { "" } else { " " };
            line += word;
        }
    }
    flush(&mut out, &mut line);
    out
}

fn page() -> String {
    let folder = root().join("crates/passes/src");
    let files = walk::files(&folder, &["rs"]).into_iter();
    let sources: Vec<(PathBuf, String)> =
        files.map(|file| (file.clone(), std::fs::read_to_string(&file).unwrap())).collect();
    let mut page = String::from(
        "# The passes\n\n\
         The passes that turn a text into a program, in this order. `slipring build` runs all but the last; `slipring opt\n\
         FILE --passes=a,b` runs these, `--stop-after` ends with one, `--print-before`, `--print-after` and\n\
         `--print-changed` show the program on its way. Names of other compilers for a pass that does the same are taken\n\
         as well. The sections are what the files of\n\
         the passes say of themselves (`crates/cli/tests/passes_page.rs`).\n",
    );
    for (at, pass) in pipeline().iter().chain(by_name()).enumerate() {
        let others: Vec<String> = pass.other_names().map(|name| format!("`{name}`")).collect();
        page += &format!("\n## {}. `{}`\n\n{}", at + 1, pass.name, said(&sources, pass.name));
        if !others.is_empty() {
            page += &format!("\nOther compilers call it {}.\n", others.join(" and "));
        }
    }
    page
}

#[test]
fn the_page_of_the_passes_is_what_they_say() {
    pinned("docs/passes.md", &page());
}
