//! Bugs reported in public, one folder each below `tests/field`: `tests/field/README.md` describes the format. The
//! diagnostics of slipring for them become `docs/field-bugs.md`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libtest_mimic::{Failed, Trial};
use serde::Deserialize;

use slipring_cli::expect::directives::Run;
use slipring_cli::expect::outputs;

use crate::tool;

/// `bug.toml` of a folder.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Bug {
    /// Public issue numbers, the first of which names the bug: `PTOAS#10`.
    reports: Vec<String>,
    date: String,
    class: String,
    /// What goes wrong, and why.
    what: String,
    /// The cost of the bug to its reporters, if stated.
    #[serde(default)]
    cost: String,
    /// Why it cannot be expressed as a program for slipring.
    #[serde(default)]
    not_expressible: String,
    #[serde(default)]
    wrong: Vec<Wrong>,
    #[serde(default)]
    right: Vec<Right>,
}

/// A program with the bug.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Wrong {
    file: String,
    /// The code of the first message.
    #[serde(default)]
    finds: String,
    /// The part of the first message that states the cause.
    #[serde(default)]
    says: Vec<String>,
    /// Whether that message is a warning, because the text may be intended.
    #[serde(default)]
    warns: bool,
    /// Why nothing is reported, if so.
    #[serde(default)]
    gap: String,
    /// Who considers the text correct, if nothing is reported and the vendor of the platform says so.
    #[serde(default)]
    disputed: String,
    #[serde(default = "both")]
    on: Vec<String>,
    /// Command-line arguments such as `--blocks 64`.
    #[serde(default)]
    with: String,
}

/// A program without the bug: corrected, or the source that slipring's own passes lower.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Right {
    file: String,
    #[serde(default = "both")]
    on: Vec<String>,
    #[serde(default)]
    with: String,
    /// Why there is no proof, if so: a part of the output of `prove`.
    #[serde(default)]
    unproved: String,
    /// Contents of buffers after the run, `1: f32 …`, as in the file tests.
    #[serde(default)]
    out: Vec<String>,
}

fn both() -> Vec<String> {
    ["a5", "a2a3"].map(String::from).to_vec()
}

/// The diagnostics for a wrong program on one platform.
struct Said {
    file: String,
    on: String,
    /// The commands that report it, in the order in which a user would try them.
    by: Vec<&'static str>,
    /// The first message without its location: code and text.
    first: String,
}

/// A folder, its unmet expectations, and its part of the page.
struct Judged {
    bug: Bug,
    folder: String,
    said: Vec<Said>,
    failed: Vec<String>,
}

/// A trial for each bug, and one for the page.
pub fn trials(root: &Path) -> Vec<Trial> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root.join("tests/field"))
        .expect("tests/field")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    let cells: &'static [(PathBuf, OnceLock<Judged>)] =
        folders.into_iter().map(|folder| (folder, OnceLock::new())).collect::<Vec<_>>().leak();
    let judged = |(folder, cell): &'static (PathBuf, OnceLock<Judged>)| cell.get_or_init(|| judge(folder));
    let mut trials: Vec<Trial> = cells
        .iter()
        .map(|cell| {
            let name = format!("tests/field/{}", name_of(&cell.0));
            Trial::test(name, move || match &judged(cell).failed[..] {
                [] => Ok(()),
                failed => Err(failed.join("\n").into()),
            })
        })
        .collect();
    let page = root.join("docs/field-bugs.md");
    trials.push(Trial::test("tests/field: docs/field-bugs.md", move || {
        let all: Vec<&Judged> = cells.iter().map(judged).collect();
        compare(&page, &written(&all))
    }));
    trials
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn compare(page: &Path, text: &str) -> Result<(), Failed> {
    if std::env::var_os("SLIPRING_BLESS").is_some() {
        std::fs::write(page, text)?;
    }
    if std::fs::read_to_string(page)? == text {
        return Ok(());
    }
    Err("docs/field-bugs.md is out of date: SLIPRING_BLESS=1 regenerates it".into())
}

/// Runs all programs of a folder.
fn judge(folder: &Path) -> Judged {
    let mut failed = Vec::new();
    let bug = std::fs::read_to_string(folder.join("bug.toml")).map_err(|e| e.to_string());
    let bug: Bug = match bug.and_then(|text| toml::from_str(&text).map_err(|e| e.to_string())) {
        Ok(bug) => bug,
        Err(why) => panic!("{}: {why}", folder.display()),
    };
    let named = bug.wrong.iter().map(|w| &w.file).chain(bug.right.iter().map(|r| &r.file));
    let mut named: Vec<String> = named.cloned().chain(["bug.toml".to_string()]).collect();
    named.sort();
    named.dedup();
    let mut there: Vec<String> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| name_of(&e.path())).collect();
    there.sort();
    if named != there {
        failed.push(format!("`bug.toml` names {named:?}, in the folder are {there:?}"));
    }
    if bug.wrong.is_empty() && bug.right.is_empty() && bug.not_expressible.is_empty() {
        failed.push("neither programs nor a reason why there are none".into());
    }
    let mut said = Vec::new();
    for wrong in &bug.wrong {
        for on in &wrong.on {
            let now = commands(&folder.join(&wrong.file), on, wrong);
            failed.extend(judge_wrong(wrong, &now));
            said.push(now);
        }
    }
    for right in &bug.right {
        for on in &right.on {
            failed.extend(judge_right(folder, right, on));
        }
    }
    Judged { folder: name_of(folder), bug, said, failed }
}

/// The commands that check a file of this kind.
fn verbs(file: &Path) -> &'static [&'static str] {
    if file.extension().is_some_and(|e| e == "queue") {
        &["queue lint", "queue run"]
    } else {
        &["check", "run", "prove"]
    }
}

fn words(verb: &str, file: &Path, on: &str, with: &str) -> Vec<String> {
    let mut words: Vec<String> = verb.split(' ').map(String::from).collect();
    words.push(file.display().to_string());
    if verb.starts_with("queue") {
        words.extend(["--board".to_string(), on.to_string()]);
    } else {
        words.extend(["--arch".to_string(), on.to_string()]);
    }
    // `check` runs nothing, so it takes neither blocks nor a schedule.
    if verb != "check" {
        words.extend(with.split_whitespace().map(String::from));
    }
    words
}

fn commands(file: &Path, on: &str, wrong: &Wrong) -> Said {
    let mut said = Said { file: name_of(file), on: on.into(), by: Vec::new(), first: String::new() };
    let warning = format!("warning[{}]", wrong.finds);
    for verb in verbs(file) {
        let Ok((exit, output)) = tool().call(file, &words(verb, file, on, &wrong.with)) else { continue };
        let (message, reported) = if wrong.warns {
            let message = output.lines().position(|l| l.starts_with(&warning));
            (message, message.is_some())
        } else {
            let message = output.lines().position(|l| l.starts_with("error[") || l.starts_with("warning["));
            (message, exit != 0 && output.lines().any(|l| l.starts_with("error[")))
        };
        if !reported {
            continue;
        }
        if said.by.is_empty() {
            let lines = output.lines().skip(message.unwrap_or(0));
            let mut first: Vec<&str> = lines.clone().take(1).collect();
            let next = |l: &&str| !(l.starts_with("error") || l.starts_with("warning"));
            first.extend(lines.skip(1).take_while(next));
            said.first = first.join("\n");
        }
        said.by.push(verb);
    }
    said
}

fn judge_wrong(wrong: &Wrong, now: &Said) -> Vec<String> {
    let who = format!("{} on {}", wrong.file, now.on);
    match [&wrong.finds, &wrong.gap, &wrong.disputed].map(|key| !key.is_empty()) {
        [true, false, false] => {}
        [false, true, false] | [false, false, true] if now.by.is_empty() => return Vec::new(),
        [false, true, false] | [false, false, true] => {
            return vec![format!("{who}: pinned as not found, and now it is:\n{}", now.first)];
        }
        _ => return vec![format!("{who}: one of `finds`, `gap` and `disputed`")],
    }
    if now.by.is_empty() {
        return vec![format!("{who}: nothing reports it")];
    }
    let mut missing: Vec<String> = wrong.says.iter().filter(|part| !now.first.contains(*part)).cloned().collect();
    let code = format!("{}[{}]", if wrong.warns { "warning" } else { "error" }, wrong.finds);
    if !now.first.starts_with(&code) {
        missing.insert(0, code);
    }
    missing.iter().map(|part| format!("{who}: the first message has no `{part}`:\n{}", now.first)).collect()
}

fn judge_right(folder: &Path, right: &Right, on: &str) -> Vec<String> {
    let file = folder.join(&right.file);
    let mut failed = Vec::new();
    for verb in verbs(&file) {
        // Lowered or handwritten, it is equivalent to the sequential semantics of the text.
        let with = if *verb == "run" { format!("{} --verify", right.with) } else { right.with.clone() };
        let (exit, output) = match tool().call(&file, &words(verb, &file, on, &with)) {
            Ok(answer) => answer,
            Err(why) => return vec![format!("{}: {why:?}", right.file)],
        };
        let unproved = *verb == "prove" && !right.unproved.is_empty();
        let as_said = if unproved { exit == 2 && output.contains(&right.unproved) } else { exit == 0 };
        if !as_said {
            failed.push(format!("{} on {on}: `{verb}` exits with {exit}\n{output}", right.file));
        }
    }
    failed.extend(judge_outputs(&file, right, on));
    failed
}

fn judge_outputs(file: &Path, right: &Right, on: &str) -> Vec<String> {
    let outs = right.out.iter().map(|out| match out.split_once(':').map(|(at, holds)| (at.parse(), holds)) {
        Some((Ok(at), holds)) => Ok((at, holds.trim().to_string())),
        _ => Err(format!("{}: `{out}` is not `PARAMETER: TYPE NUMBERS…`", right.file)),
    });
    let outs = match outs.collect::<Result<Vec<_>, _>>() {
        Ok(outs) => outs,
        Err(why) => return vec![why],
    };
    let command = format!("run %s --arch {on} {}", right.with);
    let run = Run { written: command.clone(), command, outs, ..Run::default() };
    let text = std::fs::read_to_string(file).unwrap_or_default();
    outputs::compare(&tool(), file, &text, &run).unwrap_or_else(|why| vec![format!("{}: {why:?}", right.file)])
}

/// The page: how many are found, then every bug with its diagnostics.
fn written(all: &[&Judged]) -> String {
    let mut text = String::from(include_str!("field.md"));
    text.push_str(&score(all));
    text.push_str("\n## Bug by bug\n\n");
    text.push_str(
        "A bug that nothing reports says so in bold. `check` reads, `run` runs once, `prove` answers for every\n",
    );
    text.push_str("schedule and trip count; of streams `lint` reads and `run` carries them out.\n");
    let mut classes: BTreeMap<&str, Vec<&Judged>> = BTreeMap::new();
    all.iter().for_each(|one| classes.entry(&one.bug.class).or_default().push(one));
    for (class, bugs) in classes {
        text.push_str(&format!(
            "\n### {class}\n\n| bug | what was wrong | what slipring says of it | reported by |\n|---|---|---|---|\n"
        ));
        for one in bugs {
            text.push_str(&row(one));
        }
    }
    text
}

fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

fn row(one: &Judged) -> String {
    let bug = &one.bug;
    let mut what = cell(&bug.what);
    if !bug.cost.is_empty() {
        what.push_str(&format!(" Cost: {}", cell(&bug.cost)));
    }
    // Platforms and programs with the same diagnostics share a line.
    let mut lines: Vec<(String, String, Vec<String>)> = Vec::new();
    for said in &one.said {
        let first = said.first.lines().next().unwrap_or_default();
        let (message, by) = match first
            .split_once("]: ")
            .map(|(code, message)| (code.trim_start_matches("error[").replace("warning[", "warning: "), message))
        {
            Some((code, message)) => (format!("`{code}`: {}", cell(message)), said.by.join(", ")),
            None => {
                let same = |w: &&Wrong| w.file == said.file && w.on.contains(&said.on) && w.finds.is_empty();
                let wrong = bug.wrong.iter().find(same);
                let said = match wrong.map(|w| (&*w.gap, &*w.disputed)) {
                    Some(("", disputed)) => format!("disputed, and clean: {}", cell(disputed)),
                    Some((gap, _)) => format!("**not found**: {}", cell(gap)),
                    None => "**not found**".to_string(),
                };
                (said, "—".to_string())
            }
        };
        let on = said.on.clone();
        match lines.iter_mut().find(|line| line.0 == message && line.1 == by) {
            Some(line) if line.2.contains(&on) => {}
            Some(line) => line.2.push(on),
            None => lines.push((message, by, vec![on])),
        }
    }
    if lines.is_empty() && bug.not_expressible.is_empty() {
        lines.push(("what slipring's own passes make of the source is right".into(), "—".into(), Vec::new()));
    }
    if !bug.not_expressible.is_empty() {
        lines.push((format!("not expressible: {}", cell(&bug.not_expressible)), "—".into(), Vec::new()));
    }
    let says =
        lines.iter().map(
            |(message, _, on)| {
                if on.is_empty() { message.clone() } else { format!("{} ({})", message, on.join(", ")) }
            },
        );
    let by = lines.iter().map(|(_, by, _)| by.clone());
    format!(
        "| [{}](../tests/field/{}) | {what} | {} | {} |\n",
        bug.reports.join(", "),
        one.folder,
        says.collect::<Vec<_>>().join("<br>"),
        by.collect::<Vec<_>>().join("<br>")
    )
}

/// Counts of the bugs of a group.
#[derive(Default)]
struct Count {
    bugs: usize,
    wrong: usize,
    found: usize,
    warned: usize,
    disputed: usize,
    own: usize,
    not: usize,
}

impl Count {
    fn add(&mut self, one: &Judged) {
        self.bugs += 1;
        let disputed = |wrong: &Wrong| !wrong.disputed.is_empty();
        match (one.bug.wrong.is_empty(), one.bug.right.is_empty()) {
            (false, _) if one.bug.wrong.iter().all(disputed) => self.disputed += 1,
            (false, _) => {
                self.wrong += 1;
                // A bug counts as found if every wrong program is reported on every platform that has the bug.
                let told = one.bug.wrong.iter().flat_map(|wrong| wrong.on.iter().map(move |_| wrong)).zip(&one.said);
                let found = told.filter(|(wrong, _)| !disputed(wrong)).all(|(_, said)| !said.by.is_empty());
                let warns = one.bug.wrong.iter().any(|wrong| wrong.warns);
                self.found += usize::from(found && !warns);
                self.warned += usize::from(found && warns);
            }
            (true, false) => self.own += 1,
            (true, true) => self.not += 1,
        }
    }

    fn row(&self, name: &str) -> String {
        let Count { bugs, wrong, found, warned, disputed, own, not } = self;
        format!("| {name} | {bugs} | {wrong} | {found} | {warned} | {disputed} | {own} | {not} |\n")
    }
}

fn score(all: &[&Judged]) -> String {
    let mut total = Count::default();
    let (mut classes, mut places): (BTreeMap<String, Count>, BTreeMap<String, Count>) = Default::default();
    for one in all {
        total.add(one);
        classes.entry(one.bug.class.clone()).or_default().add(one);
        let place = one.bug.reports[0].split(['#', ' ']).next().unwrap_or_default().to_string();
        places.entry(place).or_default().add(one);
    }
    let head = "| | bugs | written as wrong programs | reported as errors | as warnings | disputed | own compiler right | not expressible |\n";
    let mut text = format!("{head}|---|--:|--:|--:|--:|--:|--:|--:|\n");
    text.push_str(&total.row("**all**"));
    places.iter().for_each(|(place, count)| text.push_str(&count.row(place)));
    text.push_str(&format!("\n{}|---|--:|--:|--:|--:|--:|--:|--:|\n", head.replacen("| |", "| class |", 1)));
    classes.iter().for_each(|(class, count)| text.push_str(&count.row(class)));
    let dated = all.iter().map(|one| one.bug.date.as_str());
    let (first, last) = (dated.clone().min().unwrap_or(""), dated.max().unwrap_or(""));
    let Count { wrong, found, .. } = total;
    let share = 100.0 * found as f64 / wrong.max(1) as f64;
    text.push_str(&format!(
        "\n{found} of {wrong} bugs that can be written as wrong programs are reported: {share:.0} %. "
    ));
    text.push_str(&format!("The reports are of\n{first} to {last}.\n"));
    text
}
