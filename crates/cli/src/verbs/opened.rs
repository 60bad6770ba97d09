//! An input file for a verb that works on the whole module.

use slipring::{Error, Loaded, Opened};
use slipring_ir::{Diags, Module};

use super::asked::ShapeArgs;
use super::input::subject;
use super::platform::PlatformArgs;

/// Opens a file for a verb that works on the whole module.
///
/// # Errors
///
/// Why there is no text or no platform.
pub(super) fn open(path: &str, platform: &PlatformArgs, shapes: &ShapeArgs) -> Result<Opened, String> {
    let asked = shapes.asked().map_err(|error| error.to_string())?;
    let Loaded { module, mut diags, kernels } =
        match subject(path, &asked).map_err(|error| error.to_string())?.executed() {
            Ok(subject) => subject.loaded().clone(),
            Err(Error::Text(report)) => {
                let diags = Diags { list: report.messages().to_vec() };
                Loaded { module: Module::new(report.source_shared()), diags, kernels: Vec::new() }
            }
            Err(other) => return Err(other.to_string()),
        };
    let platform = platform.choose(&module).map_err(|error| error.to_string())?;
    if !diags.has_errors() {
        slipring::check(&module, &platform, &mut diags);
    }
    Ok(Opened { module, platform, diags, kernels })
}
