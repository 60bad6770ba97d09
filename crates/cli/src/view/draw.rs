//! The panes: source, cores and pipes, rings, waits, memory, and the output of the last command.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};
use slipring::TileContents;
use slipring_debug::{SIGNS, buffer_contents, decoded, row, tile_contents};
use slipring_report::SliceKind;

use super::{KEYS, View};

/// The minimum size of the terminal.
const LEAST: (u16, u16) = (60, 16);
/// Width of the elements shown next to the list of tiles.
const ELEMENTS: u16 = 44;

impl View<'_> {
    /// Draws the current moment.
    pub(super) fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        if area.width < LEAST.0 || area.height < LEAST.1 {
            let text = format!(
                "the terminal has {}x{} characters; the view needs {}x{}",
                area.width, area.height, LEAST.0, LEAST.1
            );
            frame.render_widget(Paragraph::new(text), area);
            return;
        }
        let told = self.told.lines().count() as u16;
        let said = told.clamp(1, (area.height / 3).max(3)) + 2;
        let memory = (area.height / 4).max(4);
        let [head, upper, below, answer, foot] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Fill(1),
            Constraint::Length(memory),
            Constraint::Length(said.min(area.height - memory - 8)),
            Constraint::Length(1),
        ])
        .areas(area);
        let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).areas(upper);
        let (rings, waits) = (self.rings(), self.waits());
        let [pipes_at, rings_at, waits_at] = Layout::vertical([
            Constraint::Fill(3),
            Constraint::Length(if rings.is_empty() { 0 } else { (rings.len() as u16 + 1).min(upper.height / 3) }),
            Constraint::Fill(2),
        ])
        .areas(right);
        frame.render_widget(Line::from(self.head()).reversed(), head);
        pane(frame, left, "source", self.source(left.height.saturating_sub(1) as usize));
        pane(frame, pipes_at, "cores and pipes", self.pipes());
        pane(frame, rings_at, &format!("rings: {SIGNS}"), rings);
        pane(frame, waits_at, "who waits for whom", waits);
        self.memory(frame, below);
        pane(frame, answer, "answer", self.told.lines().map(|line| Line::from(line.to_string())).collect());
        let foot_text = self.typed.as_ref().map_or(KEYS.to_string(), |line| format!(":{line}_"));
        frame.render_widget(Line::from(foot_text), foot);
    }

    fn head(&self) -> String {
        let (begun, cycle) = self.session.place_in_time();
        let history = self.session.history();
        let now = self.session.event_now();
        let name =
            now.map_or(String::new(), |event| format!("  {}  {}", history.who(event), history.slice(event).name));
        let found = match self.session.findings().len() {
            0 => String::new(),
            1 => ", 1 finding".into(),
            count => format!(", {count} findings"),
        };
        let (count, end) = (history.count(), history.end());
        format!(" {}  event {begun} of {count}, cycle {cycle} of {end}{found}{name} ", self.name)
    }

    /// The text around the current line; other lines that are being executed are marked with `+`.
    fn source(&self, height: usize) -> Vec<Line<'static>> {
        let history = self.session.history();
        let (_, cycle) = self.session.place_in_time();
        let here = self.session.event_now().and_then(|event| history.row(event));
        let others: Vec<_> = history.doing(cycle).iter().filter_map(|(_, slice, _)| slice.line()).collect();
        let lines = self.session.source().text.lines().enumerate().map(|(at, text)| (at + 1, text));
        let first = here.unwrap_or(1).saturating_sub(height / 2);
        let shown = lines.skip(first.saturating_sub(1)).take(height).map(|(at, text)| {
            let own = self.session.source().shown_line(at);
            let other = others.contains(&own);
            let line = format!(
                "{}{:>4}  {text}",
                if here == Some(at) {
                    '>'
                } else if other {
                    '+'
                } else {
                    ' '
                },
                own.to_string()
            );
            let style = if here == Some(at) { Style::new().reversed() } else { Style::new() };
            Line::styled(line, style)
        });
        shown.collect()
    }

    /// The activity of every core and pipe, and the length of its queue.
    fn pipes(&self) -> Vec<Line<'static>> {
        let history = self.session.history();
        let (_, cycle) = self.session.place_in_time();
        let queues = history.queues(cycle);
        let now = self.session.event_now().map(|event| history.who(event));
        let mut lines = Vec::new();
        let doing = history.doing(cycle);
        for (_, who) in history.rows() {
            let own = doing.iter().find(|(name, ..)| *name == who).map(|(_, slice, _)| slice);
            let queued = queues.iter().find(|(name, _)| *name == who).map_or(0, |(_, count)| *count);
            let text = match own {
                Some(slice) => {
                    let line = slice.line().map_or(String::new(), |line| format!("line {line}: "));
                    format!("{line}{}, to {}", slice.name, slice.end)
                }
                None => "idle".into(),
            };
            let more = if queued > 0 { format!("; {queued} after it") } else { String::new() };
            let quiet = own.is_none_or(|slice| slice.kind == SliceKind::Stall);
            let style = if quiet { Style::new().dim() } else { Style::new().bold() };
            let sign = if now.as_ref() == Some(&who) { '>' } else { ' ' };
            lines.push(Line::from(vec![Span::raw(format!("{sign}{who:10} ")), Span::styled(text + &more, style)]));
        }
        lines
    }

    fn rings(&self) -> Vec<Line<'static>> {
        let lines = self.session.slots().into_iter().map(|(name, slots)| {
            let slots: Vec<String> = slots.iter().map(|slot| format!("{:>4}", slot.to_string())).collect();
            Line::from(format!(" {name:10}{}", slots.join("")))
        });
        lines.collect()
    }

    /// Waits, with who ends them or when they end; at the end of the run, those that never end.
    fn waits(&self) -> Vec<Line<'static>> {
        let (_, cycle) = self.session.place_in_time();
        let doing = self.session.history().doing(cycle);
        let stalls = doing.into_iter().filter(|(_, slice, _)| slice.kind == SliceKind::Stall);
        let mut lines: Vec<Line<'static>> = stalls
            .map(|(who, slice, ended)| {
                let ended = ended.unwrap_or_else(|| format!("to {}", slice.end));
                Line::from(format!(" {who:10} {}: {ended}", slice.name))
            })
            .collect();
        for (who, what, why) in self.session.forever_now() {
            lines.push(Line::from(format!(" {who:10} waits for {what} forever: {why}")).bold());
        }
        lines
    }

    /// Tiles and buffers, and the elements of one of them.
    fn memory(&mut self, frame: &mut Frame<'_>, area: Rect) {
        let tiles = self.session.all_tiles();
        // Each cluster has its own tiles with these names.
        let cluster = self.session.cluster();
        let mut lines: Vec<(String, String)> = Vec::new();
        for tile in &tiles {
            let own = format!("{cluster} {} {}", tile.core, tile.name);
            lines.push((own, format!("{}: {}", tile.name, tile_contents(tile))));
        }
        for (name, elem, at) in self.session.buffers() {
            if let Some(bytes) = self.session.buffer(at) {
                lines.push((name.clone(), format!("{name}: {}", buffer_contents(elem, &bytes))));
            }
        }
        let [list, elements] = Layout::horizontal([Constraint::Fill(1), Constraint::Length(ELEMENTS)]).areas(area);
        let chosen = if tiles.is_empty() { 0 } else { self.tile % tiles.len() };
        let first = (chosen + 1).saturating_sub(list.height.saturating_sub(1) as usize);
        let changes: Vec<bool> = lines
            .iter()
            .map(|(own, line)| self.held.insert(own.clone(), line.clone()).is_some_and(|was| was != *line))
            .collect();
        let shown = lines.iter().zip(changes).enumerate().skip(first).map(|(at, ((_, line), changed))| {
            let text = format!("{}{line}", if changed { '*' } else { ' ' });
            if at == chosen && !tiles.is_empty() { Line::from(text).bold() } else { Line::from(text) }
        });
        pane(frame, list, "memory: * changed", shown.collect());
        if let Some(tile) = tiles.get(chosen) {
            let title = format!("{} of {}", tile.name, tile.core);
            pane(frame, elements, &title, rows(tile, elements));
        }
    }
}

/// The elements of a tile, as many as fit.
fn rows(tile: &TileContents, area: Rect) -> Vec<Line<'static>> {
    let shown = (0..tile.shape[0].min(u32::from(area.height.saturating_sub(1)))).map(|at| {
        let all = decoded(tile.elem, tile.row(at).get(..tile.elem.bytes() * 8).unwrap_or(tile.row(at)));
        Line::from(format!(" {}", row(&all)))
    });
    shown.collect()
}

/// A pane with its title in the rule above it.
fn pane(frame: &mut Frame<'_>, area: Rect, title: &str, lines: Vec<Line<'static>>) {
    if area.height == 0 {
        return;
    }
    let capacity = area.height.saturating_sub(1) as usize;
    let left = lines.len().saturating_sub(capacity);
    let more = if left > 0 { format!("{title}; {left} more") } else { title.to_string() };
    let block = Block::new().borders(Borders::TOP).title(format!(" {more} "));
    frame.render_widget(Paragraph::new(lines).block(block), area);
}
