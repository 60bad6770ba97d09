//! Messages of the protocols of editors: a header with the length, then that many bytes.

use std::io::{self, BufRead, Read};

/// Maximum size of a line of the header in bytes.
const HEADER: u64 = 1 << 12;

/// An error for input that is not a message.
pub(crate) fn wrong(what: &str) -> io::Error {
    io::Error::other(format!("the editor sent something that is not a message: {what}"))
}

/// The contents of the next message; `None` at the end of the input. The memory that is taken follows what arrives, not
/// what a header claims.
///
/// # Errors
///
/// A header without a length, or with one of more than `most` bytes; a message that ends early.
pub(crate) fn next(input: &mut impl BufRead, most: usize) -> io::Result<Option<Vec<u8>>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.by_ref().take(HEADER).read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(wrong(&format!("`{}` is not a line of a header", line.escape_debug())));
        };
        if name.eq_ignore_ascii_case("Content-Length") {
            let value = value.trim();
            let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
            if !digits {
                return Err(wrong(&format!("`{}` is not a length", value.escape_debug())));
            }
            let bytes = value.parse().ok().filter(|bytes| *bytes <= most);
            let bytes = bytes.ok_or_else(|| wrong(&format!("it has {value} bytes, and at most {most} are read")))?;
            length = Some(bytes);
        }
    }
    let length = length.ok_or_else(|| wrong("its header has no length"))?;
    let mut bytes = Vec::new();
    if input.by_ref().take(length as u64).read_to_end(&mut bytes)? < length {
        return Err(wrong(&format!("it ends after {} of {length} bytes", bytes.len())));
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<String>, String> {
        let found = next(&mut text.as_bytes(), 10).map_err(|error| error.to_string())?;
        Ok(found.map(|bytes| String::from_utf8(bytes).unwrap()))
    }

    #[test]
    fn messages_have_a_header_and_a_limit() {
        assert_eq!(read(""), Ok(None));
        assert_eq!(read("Content-Length: 2\r\nContent-Type: x\r\n\r\n{}rest"), Ok(Some("{}".into())));
        assert_eq!(read("content-length:2\n\n{}"), Ok(Some("{}".into())));
        for (text, why) in [
            ("Content-Length: 11\r\n\r\n", "it has 11 bytes, and at most 10 are read"),
            ("Content-Length: 99999999999999999999999\r\n\r\n", "and at most 10 are read"),
            ("Content-Length: -1\r\n\r\n", "`-1` is not a length"),
            ("Content-Length: x\r\n\r\n", "`x` is not a length"),
            ("Content-Type: x\r\n\r\n", "its header has no length"),
            ("no header\r\n\r\n", "`no header` is not a line of a header"),
            ("Content-Length: 3\r\n\r\n{}", "it ends after 2 of 3 bytes"),
        ] {
            assert!(read(text).unwrap_err().contains(why), "{text}");
        }
    }
}
