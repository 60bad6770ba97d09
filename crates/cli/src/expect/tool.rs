//! The tool that a file names in its comments, as a process of its own.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// What runs the tool: a program and the words before the verb.
#[derive(Clone, Debug)]
pub struct Tool(pub Vec<OsString>);

impl Tool {
    /// The tool that runs this program: itself, by the interpreter where it is a module of Python.
    ///
    /// # Errors
    /// Where the system does not say which program this is.
    pub fn own() -> Result<Tool, String> {
        let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
        let name = program.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
        let mut words = vec![program.into_os_string()];
        if name.starts_with("python") {
            words.extend(["-m", "slipring"].map(OsString::from));
        }
        Ok(Tool(words))
    }

    /// Runs the tool on a file, `%s` of the words.
    ///
    /// # Errors
    /// Where it does not start.
    pub(super) fn started(&self, file: &Path, words: &[String]) -> Result<std::process::Output, String> {
        let words = words.iter().map(|word| if word == "%s" { file.as_os_str().to_owned() } else { word.into() });
        let (program, before) = self.0.split_first().ok_or("no program")?;
        let ran = Command::new(program).args(before).args(words).output();
        ran.map_err(|error| format!("cannot start {}: {error}", program.to_string_lossy()))
    }

    /// Runs the tool on a file, `%s` of the words: exit code, then standard output and standard error.
    ///
    /// # Errors
    /// Where it does not start, or prints what is not text.
    pub fn call(&self, file: &Path, words: &[String]) -> Result<(i32, String), String> {
        let ran = self.started(file, words)?;
        let text = |bytes| String::from_utf8(bytes).map_err(|error| format!("the output is not text: {error}"));
        Ok((ran.status.code().unwrap_or(-1), text(ran.stdout)? + &text(ran.stderr)?))
    }
}

/// The words of a command line.
#[must_use]
pub fn words(command: &str) -> Vec<String> {
    command.split_whitespace().map(str::to_string).collect()
}
