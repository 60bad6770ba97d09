use std::path::Path;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::View;
use slipring::{Kernel, RunOptions, Tensor};
use slipring_debug::Session;

/// A session on an example.
fn session(file: &str) -> Session {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(file);
    let kernel = Kernel::open(path).unwrap();
    let tensors: Vec<Tensor<'_>> = kernel.arguments(&[], 0).unwrap();
    let options = Session::options(RunOptions::default());
    Session::start(kernel.run_with(tensors, &options).unwrap().into_owned(), options)
}

/// The drawn screen as text.
fn drawn(view: &mut View<'_>, (width, height): (u16, u16)) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| view.draw(frame)).unwrap();
    let cells = terminal.backend().buffer().content().chunks(usize::from(width));
    cells.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_string()).collect()
}

fn press(view: &mut View<'_>, code: KeyCode) -> bool {
    view.press(KeyEvent::new(code, KeyModifiers::NONE))
}

fn say(view: &mut View<'_>, line: &str) {
    press(view, KeyCode::Char(':'));
    line.chars().for_each(|c| assert!(press(view, KeyCode::Char(c))));
    assert!(press(view, KeyCode::Enter));
}

fn has(lines: &[String], part: &str) -> bool {
    lines.iter().any(|line| line.contains(part))
}

#[test]
fn panes_show_the_moment() {
    let mut session = session("broken/one_pop_too_many.pto");
    let mut view = View::new(&mut session, "one_pop_too_many.pto");
    let lines = drawn(&mut view, (140, 40));
    assert!(lines[0].contains("one_pop_too_many.pto  event 0 of 170, cycle 0 of"), "{lines:#?}");
    assert!(has(&lines, "finding 1: error[deadlock]"), "{lines:#?}");
    // The third push: its line, its slot, and what the Vector cores wait for.
    say(&mut view, "finding 1");
    assert!(has(&drawn(&mut view, (140, 40)), "AIV0.V     waits for ring C2V slot 3 ready"), "no wait without an end");
    say(&mut view, "rop push");
    let lines = drawn(&mut view, (140, 40));
    assert!(has(&lines, "event 146 of 170, cycle 573"), "{lines:#?}");
    assert!(has(&lines, ">  49        pto.tpush_to_aiv(%acc"), "{lines:#?}");
    assert!(has(&lines, ">AIC.FIX    line 49: push ring C2V, to 574"), "{lines:#?}");
    assert!(has(&lines, "C2V.AIV0     .   .  #3   .   .   .   .   ."), "{lines:#?}");
    assert!(has(&lines, "AIV0.V     waits for a tile of ring C2V: AIC.FIX ends it at cycle 572"), "{lines:#?}");
    // Stepping back leads to the same moment.
    assert!(press(&mut view, KeyCode::Left));
    assert!(has(&drawn(&mut view, (140, 40)), "event 145 of 170"), "a key does not step back");
    assert!(press(&mut view, KeyCode::Right));
    let again = drawn(&mut view, (140, 40));
    assert_eq!(lines[0], again[0]);
    assert!(!press(&mut view, KeyCode::Char('q')), "q does not end it");
}

#[test]
fn memory_marks_what_changed() {
    let mut session = session("lang/double.py");
    let mut view = View::new(&mut session, "double.py");
    say(&mut view, "op tmatmul");
    let before = drawn(&mut view, (160, 50));
    assert!(has(&before, " product: 64x64 in acc of AIC at 0x0, 0 to 0"), "{before:#?}");
    press(&mut view, KeyCode::End);
    let after = drawn(&mut view, (160, 50));
    assert!(has(&after, "*product: 64x64 in acc of AIC at 0x0, -"), "{after:#?}");
    assert!(has(&after, "*out: 16384 bytes of f32, -19.00331 to 23.26076"), "{after:#?}");
    let again = drawn(&mut view, (160, 50));
    assert!(!has(&again, "*product"), "{again:#?}");
    // Another tile with its elements.
    let title = |lines: &[String]| lines.iter().find(|line| line.contains("memory: * changed")).unwrap().clone();
    press(&mut view, KeyCode::Char('t'));
    assert_ne!(title(&again), title(&drawn(&mut view, (160, 50))));
}

/// Every size and every moment can be drawn without a panic.
#[test]
fn every_size_is_drawn() {
    let mut session = session("broken/one_pop_too_many.pto");
    let mut view = View::new(&mut session, "k.pto");
    for word in ["start", "help", "next 60", "end", "log 500"] {
        say(&mut view, word);
        for width in [1, 20, 59, 60, 61, 100, 200] {
            for height in [1, 5, 15, 16, 17, 24, 80] {
                let lines = drawn(&mut view, (width, height));
                let small = width < 60 || height < 16;
                assert_eq!(small, !has(&lines, "who waits for whom"), "{width}x{height}: {lines:#?}");
            }
        }
    }
}

#[test]
fn what_is_typed_can_be_left() {
    let mut session = session("lang/double.py");
    let mut view = View::new(&mut session, "double.py");
    let told = view.told.clone();
    for code in [':', 'e', 'n', 'd'] {
        press(&mut view, KeyCode::Char(code));
    }
    assert!(drawn(&mut view, (100, 30))[29].starts_with(":end_"));
    assert!(press(&mut view, KeyCode::Esc));
    assert_eq!(view.told, told);
    press(&mut view, KeyCode::Char(':'));
    assert!(press(&mut view, KeyCode::Backspace) && view.typed.is_none());
    assert!(!view.press(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)));
}
