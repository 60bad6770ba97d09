//! Messages in Python's syntax.

/// Converts options of the command line to Python's syntax: "`--max-steps`" becomes "`max_steps=`".
pub fn words(text: &str) -> String {
    let mut said = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("`--") {
        let Some(end) = rest[at + 3..].find('`') else { break };
        let option = &rest[at + 3..at + 3 + end];
        said.push_str(&rest[..at]);
        let own = format!("`{}`", word(option));
        // Two ways on the command line may be one in Python.
        match said.strip_suffix(" or ").filter(|before| before.ends_with(&own)).map(str::len) {
            Some(end) => said.truncate(end),
            None => said.push_str(&own),
        }
        rest = &rest[at + 4 + end..];
    }
    said + rest
}

/// The Python name of an option, without dashes.
fn word(option: &str) -> String {
    let (name, value) = option.split_once(' ').unwrap_or((option, ""));
    let name = match name {
        "arch" => "platform".into(),
        "func" => "function".into(),
        "set" => "values".into(),
        other => other.replace('-', "_"),
    };
    match (&*name, value.split_once('=')) {
        ("arg", Some((parameter, _))) => format!("{parameter}=array"),
        ("arg", None) => "arrays=".into(),
        ("values", Some((constant, value))) => format!("values={{\"{constant}\": {value}}}"),
        _ if value.is_empty() || value.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit()) => {
            format!("{name}={value}")
        }
        _ => format!("{name}=\"{value}\""),
    }
}
