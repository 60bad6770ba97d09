//! The function that a launch enters, as the user names it: `add`, or a template with its arguments, `add<float, 2>`.

use std::fmt::Write as _;

/// The most arguments of a template that is not compiled for one kind of core.
const MOST_ARGUMENTS: usize = 8;

/// The entry of a launch.
pub(crate) struct Entry {
    name: String,
    /// The arguments of the template, with their brackets.
    arguments: Option<String>,
}

impl Entry {
    /// Reads an entry; `None` if this does not name a function.
    pub fn read(text: &str) -> Option<Entry> {
        let at = text.find('<').unwrap_or(text.len());
        let (name, arguments) = (text[..at].trim(), text[at..].trim());
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let arguments = (!arguments.is_empty()).then(|| arguments.to_string());
        (is_name && arguments.as_deref().is_none_or(are_arguments)).then(|| Entry { name: name.to_string(), arguments })
    }

    /// The name of the function or template.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it has arguments of a template.
    pub fn is_instance(&self) -> bool {
        self.arguments.is_some()
    }

    /// It in C++.
    pub fn written(&self) -> String {
        format!("{}{}", self.name, self.arguments.as_deref().unwrap_or(""))
    }

    /// The name of the recorded function, which is no template.
    pub fn recorded(&self) -> String {
        let mut name = self.name.clone();
        let arguments = self.arguments.as_deref().unwrap_or("");
        let words = arguments.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        words.for_each(|word| {
            let _ = write!(name, "_{word}");
        });
        name
    }

    /// What stands for it where it is not compiled for a kind of core: a lookup finds it only if there is no other one.
    pub fn absent(&self) -> String {
        let name = &self.name;
        if !self.is_instance() {
            return format!("inline slipring::Absent {name};");
        }
        // Whether an argument is a type or a value is not known here: there is a template for each case.
        let count = self.count().min(MOST_ARGUMENTS);
        let cases = (0..1_u32 << count).map(|case| {
            let kinds: Vec<&str> = (0..count).map(|at| if case >> at & 1 == 1 { "class" } else { "auto" }).collect();
            let kinds = if kinds.is_empty() { "class...".to_string() } else { kinds.join(", ") };
            format!("template <{kinds}> void {name}(slipring::Absent) {{}} ")
        });
        cases.collect()
    }

    /// The number of its arguments.
    fn count(&self) -> usize {
        let list = self.arguments.as_deref().unwrap_or("");
        let mut open = 0_i32;
        let separators = list.chars().filter(|c| {
            open += i32::from(*c == '<') - i32::from(*c == '>');
            *c == ',' && open == 1
        });
        let separators = separators.count();
        if list.chars().any(|c| c.is_ascii_alphanumeric()) { separators + 1 } else { 0 }
    }
}

/// Whether this is a list of template arguments that is closed at its end.
fn are_arguments(text: &str) -> bool {
    let mut open = 0_i32;
    let ends: Vec<usize> = text
        .char_indices()
        .filter_map(|(at, c)| {
            open += i32::from(c == '<') - i32::from(c == '>');
            (open == 0).then_some(at)
        })
        .collect();
    let known = |c: char| c.is_ascii_alphanumeric() || "_<>,:. -+*&".contains(c);
    ends == [text.len() - 1] && text.chars().all(known)
}

#[cfg(test)]
mod tests {
    use super::Entry;

    #[test]
    fn entries_are_functions_or_templates_with_arguments() {
        for (text, written, recorded) in [
            ("add", "add", "add"),
            ("add<3>", "add<3>", "add_3"),
            ("add < float, pto::Shape<1, -1> >", "add< float, pto::Shape<1, -1> >", "add_float_pto_Shape_1_1"),
            ("add<>", "add<>", "add"),
        ] {
            let entry = Entry::read(text).unwrap();
            assert_eq!((entry.written().as_str(), entry.recorded().as_str()), (written, recorded));
            assert_eq!(entry.is_instance(), text.contains('<'));
        }
        for (text, count) in [("add<>", 0), ("add<3>", 1), ("add<float, pto::Shape<1, -1>, 2>", 3)] {
            assert_eq!(Entry::read(text).map(|entry| entry.count()), Some(count));
        }
        assert_eq!(Entry::read("f<1>").unwrap().absent().matches("template <").count(), 2);
        for text in ["", "<3>", "3", "add;", "add<3", "add<3>>", "add<3>; int x", "add<3>(1)", "add<\"a\">", "a b<1>"] {
            assert!(Entry::read(text).is_none(), "{text}");
        }
    }
}
