//! The report's page in a browser. Without an installed browser the tests are reported as skipped.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use slipring::Kernel;
use slipring_ir::Line;
use slipring_report::{Flow, Group, Page, Slice, SliceKind, Trace, Track, Value, html, perfetto};

use super::trace::{agree, arrows, read};
use super::{recorded, run_kernel, run_with, top};

/// The browser: `CHROMIUM` selects another one.
fn browser() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let names = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    named.into_iter().chain(names.map(PathBuf::from)).find(|path| path.exists())
}

/// Opens a page, runs a script in it, and returns the lines passed to `say`. Errors of the page are included.
pub(super) fn act(page: &str, script: &str) -> Option<Vec<String>> {
    let Some(browser) = browser() else {
        eprintln!("skipped: no browser is installed");
        return None;
    };
    let folder =
        std::env::temp_dir().join(format!("slipring-page-{}-{:?}", std::process::id(), std::thread::current().id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let early = "<script>window.said = []; const say = text => said.push(String(text)); \
        addEventListener('error', event => say('error: ' + event.message)); \
        console.error = (...words) => say('error: ' + words.join(' '));</script>";
    let late = format!(
        "<pre id=\"said\"></pre><script>addEventListener('load', () => {{ setTimeout(() => {{ try {{ {script} }} \
         catch (error) {{ say('error: ' + error); }} document.getElementById('said').textContent = said.join('\\n'); }}, 50); }});</script>"
    );
    let page =
        page.replacen("<title>", &format!("{early}<title>"), 1).replacen("</body>", &format!("{late}</body>"), 1);
    let file = folder.join("page.html");
    std::fs::write(&file, page).expect("a page");
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
    command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    command.args(["--window-size=1400,1000", "--virtual-time-budget=5000", "--dump-dom"]);
    command.arg(format!("--user-data-dir={}", folder.join("profile").display()));
    let output = command.arg(format!("file://{}", file.display())).output().expect("the browser starts");
    let _ = std::fs::remove_dir_all(&folder);
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = page.split_once("<pre id=\"said\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let said = said.unwrap_or_else(|| panic!("no page: {}", String::from_utf8_lossy(&output.stderr)));
    Some(said.0.replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&").lines().map(str::to_string).collect())
}

/// The actions of a reader, and their effects.
const READER: &str = "
    const canvas = document.getElementById('timeline'), press = key => canvas.dispatchEvent(new KeyboardEvent('keydown', { key }));
    const span = () => report.view()[1] - report.view()[0], whole = span();
    say('slices ' + report.slices + ' arrows ' + report.flows);
    press('+'); say('closer ' + (span() < whole)); press('0'); say('all ' + (span() === whole));
    canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: -100, cancelable: true })); say('wheel ' + (span() < whole)); press('0');
    const search = document.getElementById('search'); search.value = NEEDLE; search.oninput(); say('found ' + report.found());
    document.getElementById('next').click(); say('chosen ' + document.getElementById('chosen').textContent.split('\\n')[0]);
    say('line ' + (document.querySelector('#source tr.chosen') || { id: 'none' }).id);
    press('Escape'); search.value = ''; search.oninput();
    document.getElementById('L' + LINE).click(); say('from the source ' + report.line()); press('Escape'); say('nothing ' + report.line());
    const box = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new PointerEvent('pointermove', { clientX: box.left + 400, clientY: box.top + 55 })); say('hover ' + !document.getElementById('tip').hidden);
    const head = document.querySelector('#path thead th:nth-child(6)'), column = () => [...document.querySelectorAll('#path tbody tr')].map(row => Number(row.cells[5].textContent || -1));
    head.click(); const down = column(); head.click(); const up = column();
    say('sorted ' + (down.every((v, i) => !i || down[i - 1] >= v) && up.every((v, i) => !i || up[i - 1] <= v)));
    const light = getComputedStyle(document.body).backgroundColor; document.getElementById('theme').click();
    say('dark ' + (getComputedStyle(document.body).backgroundColor !== light));
    say('network ' + performance.getEntriesByType('resource').filter(one => !one.name.startsWith('data:')).length);
";

#[test]
fn a_reader_finds_the_way() {
    let (run, _) = run_with(&top().join("examples/lang/6_attention.py"), &recorded());
    let advice = run.advice().expect("not cancelled");
    let page = run.html(advice.as_ref()).expect("a record").expect("a page");
    let addresses = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!addresses.contains("http://") && !addresses.contains("https://"), "no address of the network");
    let again = run.html(advice.as_ref()).expect("a record").expect("a page");
    assert!(page == again, "the same run gives the same page");
    let trace = run.trace().expect("a trace");
    let slices: usize = trace.tracks.iter().map(|track| track.slices.len()).sum();
    let loads =
        trace.tracks.iter().flat_map(|track| &track.slices).filter(|slice| &*slice.name == "pto.trowmax").count();
    let script = READER.replace("NEEDLE", "'pto.trowmax'").replace("LINE", "26");
    let Some(said) = act(&page, &script) else { return };
    let expected = [
        format!("slices {slices} arrows {}", trace.flows.len()),
        "closer true".into(),
        "all true".into(),
        "wheel true".into(),
        format!("found {loads}"),
        "chosen pto.trowmax   cluster 0 AIV0 V".into(),
        "line L26".into(),
        "from the source 26".into(),
        "nothing 0".into(),
        "hover true".into(),
        "sorted true".into(),
        "dark true".into(),
        "network 0".into(),
    ];
    assert_eq!(said, expected);
}

#[test]
fn findings_lead_to_the_source() {
    let mut options = recorded();
    options.tools = slipring::Tools::default();
    let (run, facts) = run_with(&top().join("examples/broken/missing_flag.pto"), &options);
    assert!(!facts.findings.is_empty());
    let page = run.html(None).expect("a record").expect("a page");
    assert!(page.contains("error[race]") && page.contains("class=\"verdict findings\""));
    // Both pipes, the action and location of each, and the missing edge.
    assert!(page.contains(
        "aria-label=\"pipe V of AIV0 writes, line 20; pipe MTE3 of AIV0 reads, line 28; nothing orders the two\""
    ));
    let script = "document.querySelector('.finding a').click(); say(document.querySelectorAll('.finding').length); say(report.line());";
    let Some(said) = act(&page, script) else { return };
    assert_eq!(said, [facts.findings.len().to_string(), facts.findings[0].line.expect("a line").to_string()]);
}

#[test]
fn deadlocks_show_who_waits_for_whom() {
    let (run, facts) = run_with(&top().join("examples/broken/one_pop_too_many.pto"), &recorded());
    assert_eq!(facts.findings[0].code, "deadlock");
    let page = run.html(None).expect("a record").expect("a page");
    let picture =
        page.split("<svg class=\"why\"").nth(1).and_then(|rest| rest.split("</svg>").next()).expect("a picture");
    // Four pipes are stalled.
    assert_eq!(picture.matches("waits for</text>").count(), 4);
    for words in ["pipe V of AIV0<", "pipe MTE3 of AIV1<", "AIC would signal it, but its program has ended<"] {
        assert!(picture.contains(words), "{words}: {picture}");
    }
}

/// A page for a synthetic timeline: all slices are present and can be found.
fn page_of(slices: usize) -> String {
    let (_, facts) = run_with(Path::new(&top().join("examples/lang/1_vector_add.py")), &recorded());
    let tracks = 10.min(slices);
    let track = |row: usize| Track {
        name: format!("P{row}"),
        group: 0,
        slices: (0..slices / tracks)
            .map(|at| Slice {
                name: format!("op{} </script>", at % 7).as_str().into(),
                kind: [SliceKind::Work, SliceKind::Stall, SliceKind::Sync][at % 3],
                start: 10 * at as u64,
                end: 10 * at as u64 + 9,
                args: vec![("line", Value::Number(1 + at as u64 % 5)), ("n", Value::Number(at as u64))],
            })
            .collect(),
    };
    let trace = Trace {
        clock_mhz: 1000,
        groups: vec![Group { name: "cluster 0".into(), parent: None }],
        tracks: (0..tracks).map(track).collect(),
        counters: Vec::new(),
        flows: (1..slices / tracks).map(|at| Flow { what: "flag", from: (0, at - 1), to: (0, at) }).collect(),
    };
    let page = Page {
        against: "",
        against_estimate: false,
        facts: &facts,
        trace: &trace,
        on_path: &BTreeSet::from([(0, 0)]),
        source: ("made up", "one\ntwo\nthree\nfour\nfive"),
        shown: &|line| Line { file: None, number: line as u32 },
        memory: &[],
        roofline: None,
        advice: &[],
        what_if: &[],
        edits: &[],
        launch: None,
    };
    html(&page).expect("a page")
}

#[test]
fn pages_hold_every_slice_from_ten_to_a_hundred_thousand() {
    for slices in [10, 1000, 100_000] {
        let script = "const before = performance.now(); document.getElementById('all').click(); say(report.slices);
            const search = document.getElementById('search'); search.value = 'line:5'; search.oninput(); say(report.found());";
        let Some(said) = act(&page_of(slices), script) else { return };
        let per_track = slices / 10.min(slices);
        let fifth = (0..per_track).filter(|at| at % 5 == 4).count() * 10.min(slices);
        assert_eq!(said, [slices.to_string(), fifth.to_string()]);
    }
}

/// Attention over so many keys that its timeline has 100,000 slices.
#[test]
fn a_run_of_a_hundred_thousand_events_is_whole_in_its_trace_and_on_its_page() {
    let text = std::fs::read_to_string(top().join("examples/lang/6_attention.py")).expect("an example");
    let longer = text.replace("KEYS, TILE = 64, 128, 512, 128", "KEYS, TILE = 64, 128, 40960, 64");
    let (run, facts) = run_kernel(&Kernel::from_text("attention.py", longer).expect("a kernel"), &recorded());
    let trace = run.trace().expect("a trace");
    let count: usize = trace.tracks.iter().map(|track| track.slices.len()).sum();
    assert!(count >= 100_000, "{count}");
    let slices = read(&perfetto(&trace));
    assert_eq!(slices.len(), count);
    agree(&slices, &facts);
    // An arrow for each tile that passed through a ring.
    assert_eq!(
        trace.flows.iter().filter(|flow| flow.what == "tile").count() as u64,
        facts.rings.iter().map(|ring| ring.popped).sum::<u64>()
    );
    assert_eq!(arrows(&slices), trace.flows.len());
    let page = run.html(None).expect("a record").expect("a page");
    let Some(said) = act(&page, "say(report.slices);") else { return };
    assert_eq!(said, [count.to_string()]);
}
