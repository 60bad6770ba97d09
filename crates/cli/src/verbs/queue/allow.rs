//! Accepted hazards.

use serde::Serialize;
use slipring_queue::sanitize::Hazard;

/// Which hazards are accepted.
#[derive(clap::Args)]
pub(super) struct AllowArgs {
    /// Accept a hazard, by its code, such as go-before-payload. It is still counted and hides nothing else. May be
    /// repeated
    #[arg(long = "allow", value_name = "CODE")]
    pub codes: Vec<String>,
}

/// An accepted hazard, and how often it occurred.
#[derive(Serialize)]
pub(super) struct Allowed {
    pub code: &'static str,
    pub times: u64,
}

impl AllowArgs {
    /// The hazards.
    ///
    /// # Errors
    ///
    /// If a code is not that of a hazard.
    pub fn hazards(&self) -> Result<Vec<Hazard>, String> {
        let named = |code: &String| {
            Hazard::named(code).ok_or_else(|| {
                let codes: Vec<&str> = Hazard::ALL.iter().map(|hazard| hazard.def().code).collect();
                format!("there is no hazard `{code}`; the hazards are: {}", codes.join(", "))
            })
        };
        self.codes.iter().map(named).collect()
    }
}

/// A line about the accepted hazards, if any occurred.
pub(super) fn allowed_line(allowed: &[Allowed]) -> String {
    let times = |allowed: &Allowed| format!("{} ({} times)", allowed.code, allowed.times);
    match allowed.is_empty() {
        true => String::new(),
        false => format!("allowed: {}\n", allowed.iter().map(times).collect::<Vec<_>>().join(", ")),
    }
}

/// Accepted hazards and their counts, as facts.
pub(super) fn allowed_facts(met: Vec<(Hazard, u64)>) -> Vec<Allowed> {
    met.into_iter().map(|(hazard, times)| Allowed { code: hazard.def().code, times }).collect()
}
