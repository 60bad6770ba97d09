//! The tool under test, as a separate process.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// The command that runs the tool: a program and the words before the verb.
#[derive(Clone, Debug)]
pub struct Tool(pub Vec<OsString>);

impl Tool {
    /// The tool that is running now: this executable, or the Python interpreter if the tool is a Python module.
    ///
    /// # Errors
    ///
    /// If the system does not report the path of this executable.
    pub fn own() -> Result<Tool, String> {
        let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
        let name = program.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
        let mut words = vec![program.into_os_string()];
        if name.starts_with("python") {
            words.extend(["-m", "slipring"].map(OsString::from));
        }
        Ok(Tool(words))
    }

    /// Runs the tool on a file, which replaces `%s` in the words.
    ///
    /// # Errors
    ///
    /// If the tool does not start.
    pub(super) fn started(&self, file: &Path, words: &[String]) -> Result<std::process::Output, String> {
        let words = on_file(file, words);
        let (program, before) = self.0.split_first().ok_or("no program")?;
        let ran = Command::new(program).args(before).args(words).output();
        ran.map_err(|error| format!("cannot start {}: {error}", program.to_string_lossy()))
    }

    /// Runs the tool on a file, which replaces `%s` in the words. Returns the exit code, then standard output and
    /// standard error.
    ///
    /// # Errors
    ///
    /// If the tool does not start, or its output is not text.
    pub fn call(&self, file: &Path, words: &[String]) -> Result<(i32, String), String> {
        let ran = self.started(file, words)?;
        let text = |bytes| String::from_utf8(bytes).map_err(|error| format!("the output is not text: {error}"));
        Ok((ran.status.code().unwrap_or(-1), text(ran.stdout)? + &text(ran.stderr)?))
    }
}

/// The words of a command line on a file, which replaces `%s`.
pub fn on_file<'a>(file: &'a Path, words: &'a [String]) -> impl Iterator<Item = OsString> + 'a {
    words.iter().map(|word| if word == "%s" { file.as_os_str().to_owned() } else { word.into() })
}

/// The words of a command line.
#[must_use]
pub fn words(command: &str) -> Vec<String> {
    command.split_whitespace().map(str::to_string).collect()
}
