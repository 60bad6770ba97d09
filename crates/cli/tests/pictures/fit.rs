//! All kinds of pages in a browser, 400, 800 and 1400 pixels wide, light and dark: no horizontal scrolling, and no
//! truncated text.

use slipring::{CompileRequest, Program, ProgramOptions, Run, RunOptions, Tensor, Tools};
use slipring_explore::{Tune, Vary};
use slipring_report::{RunFacts, memory_svg};

use super::page::act;
use super::{recorded, run_with, top};

/// The page in frames of three widths. `@media` rules see the width of the frame, so one browser window shows all.
const FRAMES: &str = "
    const widths = [400, 800, 1400], named = one => one.tagName.toLowerCase() + (one.id ? '#' + one.id : one.className ? '.' + one.className : '');
    // Words that a box cuts although it has no bar to reach them by, and words of pictures beyond their edges.
    function cut(doc, view) {
        const walker = doc.createTreeWalker(doc.body, NodeFilter.SHOW_TEXT), range = doc.createRange(), lines = [];
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            const own = node.parentElement, text = node.textContent.trim();
            if (!text || own.closest('script, style, option, #tip, #said')) continue;
            range.selectNodeContents(node); const box = range.getBoundingClientRect(); if (!box.width) continue;
            const picture = own.closest('svg');
            if (picture) { const edge = picture.getBoundingClientRect(); if (box.left < edge.left - 1 || box.right > edge.right + 1 || box.top < edge.top - 1 || box.bottom > edge.bottom + 1) lines.push('beyond its picture: ' + text); }
            for (let box_of = own; box_of && box_of !== doc.body; box_of = box_of.parentElement) {
                const style = view.getComputedStyle(box_of), edge = box_of.getBoundingClientRect();
                if (/auto|scroll/.test(style.overflowX)) break;
                if (/hidden|clip/.test(style.overflowX) && (box.right > edge.right + 1 || box.left < edge.left - 1)) lines.push('cut: ' + text);
            }
            if (!picture && own.matches('th, b, button') && /^[a-z]+$/i.test(text) && range.getClientRects().length > 1) lines.push('a word on two lines: ' + text);
        }
        return lines;
    }
    function look(frame) {
        const doc = frame.contentDocument, view = frame.contentWindow, at = frame.width + ' ' + (doc.documentElement.classList.contains('dark') ? 'dark' : 'light');
        view.said.splice(0).forEach(line => say(at + ': ' + line));
        if (!view.report) { say(at + ': the page has no script'); return; }
        if (doc.documentElement.scrollWidth > view.innerWidth) {
            const wide = [...doc.body.querySelectorAll('*')].filter(one => one.getBoundingClientRect().right > view.innerWidth + 1 && !one.closest('.scroll, .across, #tip'));
            say(at + ': scrolls sideways, ' + doc.documentElement.scrollWidth + ' for ' + wide.slice(0, 3).map(named).join(', '));
        }
        cut(doc, view).forEach(line => say(at + ': ' + line));
        view.report.cut().forEach(label => say(at + ': a label of the timeline is cut: ' + label));
        if (view.report.left() > view.innerWidth / 2) say(at + ': labels take more than half of the timeline');
    }
    const frames = [...document.querySelectorAll('iframe')];
    for (let scheme = 0; scheme < 2; scheme++) for (const frame of frames) {
        const doc = frame.contentDocument, view = frame.contentWindow;
        look(frame); if (doc.getElementById('fold')) { doc.getElementById('fold').click(); look(frame); doc.getElementById('fold').click(); }
        doc.getElementById('theme').click();
    }
    say('looked at ' + frames.length + ' frames');
";

/// Opens a page in each width, and panics with one line for everything that does not fit.
fn fits(name: &str, page: &str) {
    let early = "<script>window.said = []; const hear = text => window.said.push(String(text)); \
        addEventListener('error', event => hear('error: ' + event.message)); \
        console.error = (...words) => hear('error: ' + words.join(' '));</script><title>";
    let page = page.replacen("<title>", early, 1).replace('&', "&amp;");
    let page = page.replace('"', "&quot;").replace('<', "&lt;");
    let frame = |width: u32| format!("<iframe width=\"{width}\" height=\"900\" srcdoc=\"{page}\"></iframe>");
    let frames: String = [400, 800, 1400].map(frame).concat();
    let outer = format!("<!doctype html><html><head><title>frames</title></head><body>{frames}</body></html>");
    let Some(said) = act(&outer, FRAMES) else { return };
    assert_eq!(said, ["looked at 3 frames"], "{name}");
}

fn page_of(run: &Run<'_>) -> String {
    let advice = run.advice().expect("not cancelled");
    run.html(advice.as_ref()).expect("a record").expect("a page")
}

fn checked() -> RunOptions {
    let mut options = recorded();
    options.tools = Tools::default();
    options
}

fn program(file: &str, clusters: u32) -> String {
    let program = Program::open(top().join(file), &CompileRequest::default()).expect("a file").expect("a program");
    let args: Vec<Tensor<'static>> = program.arguments(&[], 0).expect("arguments");
    let mut options = ProgramOptions::default();
    (options.clusters, options.record) = (Some(clusters), true);
    program.run(args, &options).expect("runs").html().expect("tasks").expect("a page")
}

#[test]
fn a_kernel_fits() {
    let (run, facts) = run_with(&top().join("examples/lang/3_matmul_softmax.py"), &checked());
    let page = page_of(&run);
    says_estimate(&page, &facts);
    fits("a kernel", &page);
    let (run, _) = run_with(&top().join("examples/lang/6_attention_ahead.py"), &checked());
    fits("a kernel with rings", &page_of(&run));
}

/// If a figure is an estimate, every section with cycles says so.
fn says_estimate(page: &str, facts: &RunFacts) {
    assert!(facts.estimate, "a run with data moves");
    for section in page.split("<section ").skip(1) {
        let name = section.split('"').nth(1).unwrap_or_default();
        let none =
            ["checks-section", "memory-section", "buffers-section"].contains(&name) || section.contains("has no ring");
        assert!(none || section.contains("estimate"), "{name}");
    }
}

#[test]
fn several_blocks_fit() {
    let (run, facts) = run_with(&top().join("examples/two_clusters.pto"), &checked());
    assert!(facts.blocks > 1);
    fits("several blocks", &page_of(&run));
}

#[test]
fn findings_fit() {
    for file in [
        "examples/broken/missing_flag.pto",
        "examples/broken/one_pop_too_many.pto",
        "tests/files/failures/uninitialised_read.pto",
        "tests/files/failures/load_out_of_bounds.pto",
        "tests/files/failures/flag_left_set.pto",
    ] {
        let (run, facts) = run_with(&top().join(file), &checked());
        assert!(!facts.findings.is_empty(), "{file}");
        fits(file, &page_of(&run));
    }
}

#[test]
fn a_comparison_fits() {
    let before = run_with(&top().join("examples/lang/2_matmul.py"), &checked()).1;
    let (run, _) = run_with(&top().join("examples/lang/3_matmul_softmax.py"), &checked());
    let before = serde_json::to_value(&before).expect("facts");
    let page = run.html_against(None, Some(&before)).expect("a record").expect("a page");
    assert!(page.contains("Against another run"));
    fits("a comparison", &page);
}

#[test]
fn a_program_fits() {
    let page = program("examples/programs/feed_forward.py", 4);
    fits("a program", &page);
}

/// Text of pictures that extends beyond them, and marks that do.
const EDGES: &str = "
    for (const picture of document.querySelectorAll('svg')) {
        const [left, top, wide, high] = picture.getAttribute('viewBox').split(' ').map(Number);
        for (const one of picture.querySelectorAll('text, rect:not(.back), circle, polygon')) {
            if (one.closest('defs')) continue;
            const box = one.getBBox();
            if (box.x < left || box.y < top || box.x + box.width > left + wide + .5 || box.y + box.height > top + high + .5)
                say('beyond its picture: ' + one.tagName + ' ' + one.textContent);
        }
    }
    say('looked at ' + document.querySelectorAll('svg').length + ' pictures');
";

fn grid(file: &str, vary: &[&str]) -> String {
    let tune = Tune::open(top().join(file)).expect("a file");
    let vary: Vec<Vary> = vary.iter().map(|own| own.parse().expect("values")).collect();
    tune.run(&vary, None, |_| ()).expect("a grid").svg()
}

fn memories(file: &str) -> String {
    let kernel = slipring::Kernel::open(top().join(file)).expect("a file");
    memory_svg(&kernel.memory_map().expect("compiles"))
}

#[test]
fn pictures_beside_pages_fit() {
    let tuned = grid("examples/lang/6_attention.py", &["TILE=64,128,256", "slot_num=1..4"]);
    // The point as written in the file is distinguished, and the legend only lists kinds of marks that occur.
    assert!(tuned.contains("TILE=128 slot_num=2, as written") && tuned.contains("as the file is written"), "{tuned}");
    assert!(!tuned.contains("with findings") && tuned.contains("cycles (estimates)"), "{tuned}");
    let pictures = [
        tuned,
        grid("tests/files/tune/own_constant.py", &["blocks=1,2,4"]),
        memories("examples/lang/6_attention.py"),
        memories("examples/lang/1_vector_add.py"),
    ];
    let page =
        format!("<!doctype html><html><head><title>pictures</title></head><body>{}</body></html>", pictures.concat());
    let Some(said) = act(&page, EDGES) else { return };
    assert_eq!(said, ["looked at 4 pictures"]);
}
