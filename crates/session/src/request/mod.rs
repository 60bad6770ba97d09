//! The options of a run: their list, the values they take and the interfaces that accept them. The command line, the
//! editors' debugger and the Python package all read this table; a request collects the values given to one of them.
//!
//! The C library drives a command queue and runs no kernel, so it has none of these options. Its settings are those of
//! the queue's host.

mod option;
mod table;

use crate::{Error, RunOptions};
use option::Way::{Board, BoardProgram, Kernel, Program};
use option::dashed;

pub use option::{Given, OptionError, RunOption, RunRequest, Takes, Way, option_of_kernels};
pub use table::OPTIONS;

impl RunRequest {
    /// Sets an option.
    ///
    /// # Errors
    /// If there is none with that name, or it does not accept the value.
    pub fn set(&mut self, name: &str, given: Given) -> Result<(), OptionError> {
        let Some(option) = RunOption::named(name) else {
            return Err(OptionError {
                name: name.into(),
                reason: "is not an option of a run".into(),
                is_of_type: false,
            });
        };
        if given == Given::Nothing && option.default().is_none() {
            return Ok(());
        }
        option.put(self, given)?;
        self.asked.push(option);
        Ok(())
    }

    /// True if an option was set.
    pub fn has(&self, name: &str) -> bool {
        self.asked.iter().any(|option| option.name == name)
    }

    /// The first option that requires a launch to be run in one piece.
    pub fn in_one_piece(&self) -> Option<&'static RunOption> {
        self.asked.iter().copied().find(|option| option.whole.is_some_and(|asks| asks(self)))
    }

    /// The way of running that this request selects: on a board if one is named.
    pub fn way(&self, of_program: bool) -> Way {
        match (of_program, self.device.is_some()) {
            (false, false) => Kernel,
            (true, false) => Program,
            (false, true) => Board,
            (true, true) => BoardProgram,
        }
    }

    /// This request, if every option that was set has an effect on this way of running.
    ///
    /// # Errors
    /// The first option that has none.
    pub fn on(&self, way: Way) -> Result<&RunRequest, Error> {
        for option in &self.asked {
            if !option.of.contains(&way) {
                return Err(Error::Arguments(option.refused(way)));
            }
            if let Some(other) = option.unless.iter().find(|other| self.has(other)) {
                let (own, other) = (dashed(option.name), dashed(other));
                return Err(Error::Arguments(format!(
                    "`--{other}` has no effect together with `--{own}`: give only one of them"
                )));
            }
        }
        Ok(self)
    }

    /// Checks that all numbers are within the bounds of their options.
    ///
    /// # Errors
    /// The first one that is not.
    pub fn within_bounds(mut self) -> Result<(), Error> {
        for option in OPTIONS {
            if let Takes::Number(bounds, slot) = &option.takes
                && let Some(number) = slot(&mut self).get().filter(|number| !bounds.contains(number))
            {
                return Err(option.wrong(&Given::Whole(number.into()), true).into());
            }
        }
        Ok(())
    }
}

impl From<RunOptions> for RunRequest {
    /// The request for a kernel's run.
    fn from(run: RunOptions) -> RunRequest {
        RunRequest { run, ..RunRequest::default() }
    }
}

impl RunOptions {
    /// Checks that a run accepts all numbers.
    ///
    /// # Errors
    /// The first option that is not accepted.
    #[doc(hidden)]
    pub fn within_bounds(&self) -> Result<(), Error> {
        RunRequest::from(self.clone()).within_bounds()
    }
}

impl RunOption {
    /// The option with that name.
    pub fn named(name: &str) -> Option<&'static RunOption> {
        OPTIONS.iter().find(|option| option.name == name)
    }

    /// Checks a text from the command line.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn judge(&self, text: &str) -> Result<(), OptionError> {
        match self.takes {
            // The file is read when the run begins.
            Takes::Lines(..) => Ok(()),
            _ => RunRequest::default().set(self.name, self.read(Some(text))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::option::ALL;
    use super::*;

    /// Something of another type.
    fn other() -> Given {
        Given::Other("a Junk".into())
    }

    #[test]
    fn every_option_is_declared_once_and_whole() {
        for (at, option) in OPTIONS.iter().enumerate() {
            let name = option.name;
            assert!(OPTIONS[..at].iter().all(|earlier| earlier.name != name), "{name} twice");
            assert!(!option.help.is_empty() && !option.of.is_empty(), "{name}");
            assert!(option.instead.iter().all(|(way, _)| !option.of.contains(way)), "{name}: taken, and refused");
            assert!(option.unless.iter().all(|other| RunOption::named(other).is_some()), "{name}");
            assert!(option.not_on_command_line.is_none() || option.not_in_python.is_none(), "{name}: on no surface");
        }
    }

    #[test]
    fn what_stands_as_a_default_is_the_default() {
        for option in OPTIONS.iter().filter(|option| !matches!(option.takes, Takes::Flag(_))) {
            let Some(text) = option.default().filter(|text| !text.is_empty()) else { continue };
            let mut request = RunRequest::default();
            request.set(option.name, option.read(Some(&text))).expect("it takes its default");
            request.asked.clear();
            assert_eq!(format!("{request:?}"), format!("{:?}", RunRequest::default()), "{}", option.name);
        }
    }

    #[test]
    fn a_wrong_value_names_its_option() {
        for option in OPTIONS.iter().filter(|option| !matches!(option.takes, Takes::Own)) {
            let error = RunRequest::default().set(option.name, other()).expect_err(option.name);
            let text = error.to_string();
            assert!(text.starts_with(&format!("`--{}` takes ", option.dashed())), "{text}");
            assert!(text.ends_with(", not a Junk") && !error.is_of_type, "{text}");
            if let Takes::Number(..) = option.takes {
                let error = RunRequest::default().set(option.name, Given::Whole(-1)).expect_err(option.name);
                assert!(error.to_string().ends_with(", not -1") && error.is_of_type, "{error}");
            }
        }
        let error = |name: &str, text: &str| RunOption::named(name).unwrap().judge(text).expect_err(name).to_string();
        assert_eq!(error("blocks", "0"), "`--blocks` takes a number from 1 to 4096, not 0");
        assert_eq!(error("blocks", "x"), "`--blocks` takes a number from 1 to 4096, not `x`");
        assert!(error("timing", "fast").contains("not `fast`"));
        assert!(error("check", "rase").contains("`rase`"));
        assert!(error("assume", " ").contains("there is none in ` `"));
    }

    #[test]
    fn every_way_takes_an_option_or_says_why_not() {
        for option in OPTIONS {
            let mut request = RunRequest::default();
            request.asked.push(option);
            for way in ALL {
                match request.on(*way) {
                    Ok(_) => assert!(option.of.contains(way)),
                    Err(error) => {
                        let text = error.to_string();
                        assert!(text.starts_with(&format!("`--{}` ", option.dashed())), "{text}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_launch_is_run_in_parts_unless_something_asks_for_it_whole() {
        let whole = |name: &str, given: Given| {
            let mut request = RunRequest::default();
            request.set(name, given).expect(name);
            request.in_one_piece().map(|option| option.name)
        };
        assert_eq!(whole("launches", Given::Whole(2)), Some("launches"));
        assert_eq!(whole("record", Given::Flag(true)), Some("record"));
        assert_eq!(whole("timing", Given::Text("random:1".into())), Some("timing"));
        assert_eq!(whole("schedule", Given::Texts(vec!["delay AIV0.MTE3 work 4 by 1200".into()])), Some("schedule"));
        for (name, given) in [
            ("timing", Given::Text("platform".into())),
            ("schedule", Given::Texts(Vec::new())),
            ("launches", Given::Whole(1)),
            ("record", Given::Flag(false)),
            ("strict", Given::Flag(true)),
            ("max_steps", Given::Whole(9)),
        ] {
            assert_eq!(whole(name, given), None, "{name}");
        }
    }

    #[test]
    fn nothing_is_a_value_only_where_it_is_the_default() {
        let mut request = RunRequest::default();
        assert_eq!(request.set("blocks", Given::Nothing), Ok(()));
        assert!(!request.has("blocks"));
        assert!(request.set("max_steps", Given::Nothing).is_err());
    }
}
