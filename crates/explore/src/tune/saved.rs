//! Points in a file, one JSON object per line, to resume from.

use std::path::PathBuf;
use std::sync::Mutex;

use super::Point;
use slipring::Error;
use slipring_session::files::{self, Lines};

/// A file of points.
pub(super) struct Saved {
    path: PathBuf,
    points: Vec<Point>,
    lines: Mutex<Lines>,
}

impl Saved {
    /// Opens or creates a file. An incomplete last entry, from a process that ended, is dropped.
    ///
    /// # Errors
    /// If it cannot be read or written, or has other contents.
    pub fn open(path: PathBuf) -> Result<Saved, Error> {
        let name = files::shown(&path);
        let wrong = |error| Error::File(format!("cannot write `{name}`: {error}"));
        let read = files::read_own(&path, files::MOST_TEXT);
        let text = match read.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Error::File(format!("cannot read `{name}`: {error}"))),
        };
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut points = Vec::new();
        for (at, line) in text[..whole].lines().enumerate() {
            let point = serde_json::from_str(line).map_err(|error| {
                Error::File(format!("`{name}` was not written by `tune --resume`: line {}: {error}", at + 1))
            })?;
            points.push(point);
        }
        if whole == 0 && !text.is_empty() && !text.starts_with("{\"values\":") {
            return Err(Error::File(format!("`{name}` was not written by `tune --resume`")));
        }
        let lines = Mutex::new(Lines::open(&path, whole as u64).map_err(wrong)?);
        Ok(Saved { path, points, lines })
    }

    /// Its initial points.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Adds a completed point.
    ///
    /// # Errors
    /// The system's error.
    pub fn add(&self, point: &Point) -> Result<(), Error> {
        let mut lines = self.lines.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        lines.add(&line(point)).map_err(|error| self.wrong(error))
    }

    /// Sorts the points of the grid, in whatever order they completed, after those of other grids.
    ///
    /// # Errors
    /// The system's error.
    pub fn finish<'p>(self, points: impl Iterator<Item = &'p Point>) -> Result<(), Error> {
        let points: Vec<&Point> = points.collect();
        let same = |old: &Point| points.iter().any(|new| new.values == old.values);
        let others = self.points.iter().filter(|old| !same(old));
        let text: String = others.chain(points.iter().copied()).map(line).collect();
        files::write(&self.path, &[text.as_bytes()]).map_err(|error| self.wrong(error))
    }

    fn wrong(&self, error: std::io::Error) -> Error {
        Error::File(format!("cannot write `{}`: {error}", files::shown(&self.path)))
    }
}

fn line(point: &Point) -> String {
    // A point can always be serialised: it contains names, strings and finite numbers.
    serde_json::to_string(point).unwrap_or_default() + "\n"
}
