//! The page of limits: everything that it lists as rejected has a test for that, and its lists of builtins match the
//! catalogue.

use std::collections::BTreeSet;

use crate::directives::{comment_mark, read};
use crate::here::root;

fn page() -> String {
    let root = root();
    std::fs::read_to_string(root.join("docs/decisions/limits.md")).unwrap()
}

/// The part of a page below a heading, up to the next one.
fn below<'a>(page: &'a str, heading: &str) -> &'a str {
    let (_, rest) = page.split_once(heading).expect(heading);
    rest.split("\n## ").next().unwrap_or(rest)
}

#[test]
fn what_is_refused_is_seen_refused() {
    let page = page();
    let rows = below(&page, "## Refused").lines().filter(|line| line.starts_with("| ")).skip(1);
    let mut seen = 0;
    for row in rows {
        let links: Vec<&str> = row.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
        assert!(!links.is_empty(), "no test stands beside: {row}");
        for link in links {
            let file = root().join("docs/decisions").join(link);
            let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{link}: {error}"));
            let said = read(&text, comment_mark(&file)).unwrap();
            let refused = said.runs.iter().any(|run| run.exit != 0) && !said.errors.is_empty();
            let shown =
                said.runs.iter().any(|run| run.exit != 0 && run.checks.iter().any(|line| line.contains("error[")));
            assert!(refused || shown, "{link} sees nothing refused");
            seen += 1;
        }
    }
    assert!(seen > 8, "only {seen} tests stand on the page");
}

#[test]
fn refused_words_are_those_of_the_catalogue() {
    let page = page();
    let (_, list) = page.split_once("known and refused as statements or values of a kernel:").expect("a list of words");
    let list = list.split('.').next().unwrap_or(list);
    let told: BTreeSet<&str> = list.split('`').skip(1).step_by(2).collect();
    let refused = slipring_lang::catalogue().filter(|entry| entry.refused);
    let declared: BTreeSet<&str> = refused.flat_map(|entry| entry.names).copied().collect();
    assert_eq!(told, declared);
}
