//! Launches by host functions, `kernel<<<blocks, memory, stream>>>(…)`, which only the device compiler supports.

/// The replacement of `<<<`, and that of its `>>>`: a product with a value built from the arguments in between.
const BEFORE: &str = " * ::slipring::HostLaunch(";
const BEHIND: &str = ")";

/// A text without comments, as after preprocessing, with its launches in plain C++; `None` if it has none.
pub(super) fn in_plain_cpp(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut plain = String::new();
    // The text copied so far, and for each open `<<<` the number of brackets that are open since.
    let (mut copied, mut open, mut at) = (0, Vec::<i32>::new(), 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        if let Some(length) = literal(text, at) {
            at += length;
            continue;
        }
        let replaced = match open.last_mut() {
            _ if rest.starts_with(b"<<<") => {
                open.push(0);
                Some(BEFORE)
            }
            Some(0) if rest.starts_with(b">>>") => {
                open.pop();
                Some(BEHIND)
            }
            Some(brackets) => {
                *brackets += i32::from(matches!(rest[0], b'(' | b'[' | b'{'));
                *brackets -= i32::from(matches!(rest[0], b')' | b']' | b'}'));
                None
            }
            None => None,
        };
        match replaced {
            Some(words) => {
                plain += &text[copied..at];
                plain += words;
                at += 3;
                copied = at;
            }
            None => at += 1,
        }
    }
    (copied > 0).then(|| plain + &text[copied..])
}

/// The length of the string or character literal that begins here.
fn literal(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    if !matches!(bytes[at], b'"' | b'\'') {
        return None;
    }
    // A quote is an ASCII character, so the text can be cut here. Letters directly before it are its prefix, or it
    // separates the digits of a number.
    let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let word = &text[at - bytes[..at].iter().rev().take_while(is_word).count()..at];
    match bytes[at] {
        b'"' if matches!(word, "R" | "LR" | "uR" | "UR" | "u8R") => {
            let (mark, _) = text[at + 1..].split_once('(')?;
            let end = format!("){mark}\"");
            text[at..].find(&end).map(|length| length + end.len())
        }
        // Inside a number it is a digit separator.
        b'\'' if word.starts_with(|c: char| c.is_ascii_digit()) => None,
        quote => {
            let mut end = at + 1;
            while end < bytes.len() && bytes[end] != quote && bytes[end] != b'\n' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            Some((end + 1).min(bytes.len()) - at)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::in_plain_cpp;

    #[test]
    fn launches_are_values_of_plain_cpp() {
        for (text, plain) in [
            ("add<<<n, nullptr, s>>>(x);", "add * ::slipring::HostLaunch(n, nullptr, s)(x);"),
            ("add<T, 2><<<f(n), 0, s>>>  (x);", "add<T, 2> * ::slipring::HostLaunch(f(n), 0, s)  (x);"),
            ("A<B<C<1>>>(x); k<<<1>>>();", "A<B<C<1>>>(x); k * ::slipring::HostLaunch(1)();"),
            ("k<<<A<B<int>>(), (b >>> 1)>>>();", "k * ::slipring::HostLaunch(A<B<int>>(), (b >>> 1))();"),
            ("s = \"<<<\"; k<<<1'000>>>();", "s = \"<<<\"; k * ::slipring::HostLaunch(1'000)();"),
            ("c = '\"'; k<<<1>>>();", "c = '\"'; k * ::slipring::HostLaunch(1)();"),
            ("auto é = 1; s = \"\\é\"; k<<<1>>>();", "auto é = 1; s = \"\\é\"; k * ::slipring::HostLaunch(1)();"),
            ("R\"x(\" <<<)x\"; k<<<1>>>();", "R\"x(\" <<<)x\"; k * ::slipring::HostLaunch(1)();"),
        ] {
            assert_eq!(in_plain_cpp(text).as_deref(), Some(plain));
        }
        for text in ["", "a << b", "s = \"a<<<1>>>(x)\";", "s = R\"(<<<)\";", "c = '<';", "A<B<C<1>>>(x);", "\"\\\"<<<"]
        {
            assert_eq!(in_plain_cpp(text), None, "{text}");
        }
    }
}
