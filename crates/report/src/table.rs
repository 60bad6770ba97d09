//! Text tables with aligned columns.

/// A table: a header and rows. The first `left` columns are left-aligned, the others right-aligned.
#[derive(Clone, Debug, Default)]
pub struct Table {
    left: usize,
    also: Vec<usize>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with this header.
    pub fn new(left: usize, head: &[&str]) -> Table {
        Table { left, also: Vec::new(), rows: vec![head.iter().map(|s| (*s).to_string()).collect()] }
    }

    /// Also left-aligns these columns.
    pub fn left(mut self, columns: &[usize]) -> Table {
        self.also = columns.to_vec();
        self
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The table, each line indented by two spaces.
    pub fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width =
            |at: usize| self.rows.iter().filter_map(|r| r.get(at)).map(|c| c.chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (at, cell) in row.iter().enumerate() {
                let pad = " ".repeat(widths[at].saturating_sub(cell.chars().count()));
                line += "  ";
                line += &if at < self.left || self.also.contains(&at) {
                    format!("{cell}{pad}")
                } else {
                    format!("{pad}{cell}")
                };
            }
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}
