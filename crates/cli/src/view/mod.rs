//! `slipring debug --view`: the session as a full-screen view, with keys that step both ways.

mod draw;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use slipring_debug::Session;

/// The keys, as listed in the last line.
const KEYS: &str =
    "→← event  ↓↑ line  n p signal  f F follow  PgDn PgUp 100 events  Home End  x finding  t tile  : word  q quit";

/// Number of events that a page key skips.
const PAGE: u64 = 100;

/// A session on a terminal.
struct View<'a> {
    session: &'a mut Session,
    /// The file, as it was named.
    name: String,
    /// Output of the last command.
    told: String,
    /// The command being typed after the colon.
    typed: Option<String>,
    /// The tile whose elements are shown: its index among the tiles of the current moment.
    tile: usize,
    /// The finding that was visited last.
    finding: usize,
    /// Contents of tiles and buffers when each was last shown, by cluster, core and name, to mark changes.
    held: BTreeMap<String, String>,
}

impl<'a> View<'a> {
    fn new(session: &'a mut Session, name: &str) -> View<'a> {
        let told = session.title();
        View { session, name: name.into(), told, typed: None, tile: 0, finding: 0, held: BTreeMap::new() }
    }

    /// Executes a command of `slipring debug`. Returns false if it ends the view.
    fn say(&mut self, line: &str) -> bool {
        let Some(told) = self.session.said(line) else { return false };
        self.told = told;
        true
    }

    /// Handles a key. Returns false if it ends the view.
    fn press(&mut self, key: KeyEvent) -> bool {
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return !matches!(key.code, KeyCode::Char('c' | 'd'));
        }
        if let Some(mut line) = self.typed.take() {
            match key.code {
                KeyCode::Enter => return self.say(&line),
                KeyCode::Esc => return true,
                KeyCode::Backspace if line.pop().is_none() => return true,
                KeyCode::Char(c) => line.push(c),
                _ => {}
            }
            self.typed = Some(line);
            return true;
        }
        let (on, back) = (format!("next {PAGE}"), format!("back {PAGE}"));
        let word = match key.code {
            KeyCode::Right | KeyCode::Char('l' | ' ') => "next",
            KeyCode::Left | KeyCode::Char('h') => "back",
            KeyCode::Down | KeyCode::Char('j') => "step",
            KeyCode::Up | KeyCode::Char('k') => "rstep",
            KeyCode::Char('n') => "signal",
            KeyCode::Char('p') => "rsignal",
            KeyCode::Char('f') => "follow",
            KeyCode::Char('F') => "rfollow",
            KeyCode::PageDown => &on,
            KeyCode::PageUp => &back,
            KeyCode::Home => "start",
            KeyCode::End => "end",
            KeyCode::Char('?') => "help",
            KeyCode::Char('q') => "quit",
            KeyCode::Char('x') => {
                let count = self.session.findings().len();
                self.finding = if self.finding >= count { 1 } else { self.finding + 1 };
                return self.say(&format!("finding {}", self.finding));
            }
            KeyCode::Char('t') => {
                self.tile += 1;
                return true;
            }
            KeyCode::Char(':') => {
                self.typed = Some(String::new());
                return true;
            }
            _ => return true,
        };
        self.say(word)
    }
}

/// Runs the full-screen view of a session, after executing these commands.
///
/// # Errors
///
/// If there is no terminal.
pub(crate) fn view(session: &mut Session, name: &str, words: &[String]) -> Result<(), String> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err("`--view` needs a terminal: omit it to read commands from standard input".into());
    }
    let mut view = View::new(session, name);
    if !words.iter().all(|word| view.say(word)) {
        return Ok(());
    }
    let mut terminal = ratatui::try_init().map_err(|error| format!("the terminal cannot be drawn on: {error}"))?;
    let ended = event_loop(&mut view, &mut terminal);
    ratatui::restore();
    ended.map_err(|error| format!("the terminal: {error}"))
}

fn event_loop(view: &mut View<'_>, terminal: &mut ratatui::DefaultTerminal) -> io::Result<()> {
    loop {
        terminal.draw(|frame| view.draw(frame))?;
        match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release && !view.press(key) => return Ok(()),
            _ => {}
        }
    }
}
