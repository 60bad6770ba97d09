//! Comma-separated tables with a header line.

/// A table with a header.
pub(super) struct Cells<'t> {
    head: Vec<&'t str>,
    /// Rows with their line numbers, from 1.
    rows: Vec<(usize, Vec<&'t str>)>,
}

impl<'t> Cells<'t> {
    /// Parses a table; blank lines are skipped.
    pub(super) fn read(text: &'t str) -> Result<Cells<'t>, String> {
        // Some tools write a UTF-8 byte order mark.
        let text = text.trim_start_matches('\u{feff}');
        let cells = |line: &'t str| line.split(',').map(str::trim).collect::<Vec<&str>>();
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let head = lines.next().map(|(_, line)| cells(line)).ok_or("it is empty")?;
        Ok(Cells { head, rows: lines.map(|(at, line)| (at + 1, cells(line))).collect() })
    }

    /// The index of a column.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.head.iter().position(|own| *own == name)
    }

    /// The index of a required column.
    pub(super) fn needed(&self, name: &str) -> Result<usize, String> {
        self.column(name).ok_or(format!("it has no column `{name}`"))
    }

    /// The rows, which must have as many cells as the header has names. Called after the columns have been looked up: a
    /// table with other columns is not of this form.
    pub(super) fn rows(&self) -> Result<impl Iterator<Item = Row<'_, 't>>, String> {
        let head = &self.head;
        if let Some((line, row)) = self.rows.iter().find(|(_, row)| row.len() != head.len()) {
            return Err(format!("line {line}: {} cells, and the first line names {} columns", row.len(), head.len()));
        }
        Ok(self.rows.iter().map(|(line, cells)| Row { head, line: *line, cells }))
    }
}

/// A row of a table.
pub(super) struct Row<'c, 't> {
    head: &'c [&'t str],
    line: usize,
    cells: &'c [&'t str],
}

impl<'t> Row<'_, 't> {
    /// The text of a cell.
    pub(super) fn text(&self, column: usize) -> &'t str {
        self.cells[column]
    }

    /// The number in a cell, nonnegative and small enough that sums of many do not overflow.
    pub(super) fn number<N>(&self, column: usize) -> Result<N, String>
    where
        N: std::str::FromStr + PartialOrd + From<u32> + std::ops::Mul<Output = N>,
    {
        let number: Option<N> = self.cells[column].parse().ok();
        let most = N::from(1 << 25) * N::from(1 << 25);
        let fits = |number: &N| *number >= N::from(0) && *number <= most;
        let wrong = || self.wrong(&format!("`{}` is not a number of `{}`", self.cells[column], self.head[column]));
        number.filter(fits).ok_or_else(wrong)
    }

    /// An error in this row.
    pub(super) fn wrong(&self, what: &str) -> String {
        format!("line {}: {what}", self.line)
    }
}
