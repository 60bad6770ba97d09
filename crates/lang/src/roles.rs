//! The roles of a file's functions, from their decorators.

use slipring_machine::CoreKind;

/// The role of a function of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// A kernel, possibly for one kind of core.
    Kernel(Option<CoreKind>),
    /// Inlined into the kernels that call it.
    Inline,
    /// Starts kernels: a function of type Orchestration, Spmd or Graph, or one of the host.
    Starts,
    /// Starts kernels that run together on one cluster.
    Group,
    /// Python code of the host: called with tensors between tasks, and not compiled.
    Host,
}

/// The role that a decorator gives to a function: `ty` is the type in `@pl.function(type=pl.FunctionType.…)`.
///
/// # Errors
/// The reason why it does not decorate a function.
pub(crate) fn role_of(
    path: &str,
    ty: Option<&str>,
    (level, role): (Option<&str>, Option<&str>),
) -> Result<Role, String> {
    /// Levels of a device: a function with a role there is a kernel, or starts kernels.
    const OF_DEVICE: &[&str] = &["AIV", "AIC", "CORE_GROUP", "CHIP_DIE", "L2CACHE", "CHIP", "PROCESSOR", "UMA"];
    let of_host = level.is_some_and(|level| !OF_DEVICE.contains(&level));
    Ok(match (path, ty) {
        ("pl.function", None) if role == Some("Orchestrator") => Role::Starts,
        ("pl.function", None) if role == Some("SubWorker") && of_host => Role::Host,
        ("pl.inline" | "pl.jit.inline", _) | ("pl.function", Some("Inline")) => Role::Inline,
        ("pl.jit.host", _) | ("pl.function", Some("Orchestration" | "Spmd" | "Graph")) => Role::Starts,
        ("pl.function", Some("Group")) => Role::Group,
        ("pl.function", Some("AIC")) => Role::Kernel(Some(CoreKind::Cube)),
        ("pl.function", Some("AIV")) => Role::Kernel(Some(CoreKind::Vector)),
        ("pl.incore" | "pl.jit" | "pl.jit.incore" | "pl.kernel" | "pl.jit.opaque", _) => Role::Kernel(None),
        ("pl.function", None | Some("InCore" | "Opaque")) => Role::Kernel(None),
        ("pl.function", Some(other)) => return Err(format!("there is no function type `{other}`")),
        (other, _) => return Err(format!("`{other}` is not a decorator of a function")),
    })
}
