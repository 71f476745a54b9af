//! Bytes to text, or the reason why they are none.

/// What the bytes of a file turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text as UTF-8 without byte order mark.
    Text {
        /// The text.
        text: String,
        /// Whether invalid sequences were replaced by U+FFFD.
        lossy: bool,
    },
    /// Not text.
    Binary {
        /// Why, as a lower-case fragment.
        reason: String,
    },
}

/// Bytes looked at to tell text from binary content.
const SNIFFED: usize = 8192;
/// Share of control characters above which content is binary, in per cent.
const CONTROL_PER_CENT: usize = 5;
/// Share of invalid UTF-8 sequences above which content is binary, in per cent. A text in an 8-bit
/// encoding stays far below: its accented letters are rare.
const INVALID_PER_CENT: usize = 20;

/// Decodes a file: byte order marks are honoured, otherwise UTF-8 with invalid parts replaced.
pub fn decode(bytes: &[u8]) -> Content {
    if let Some(rest) = bytes.strip_prefix(b"\xEF\xBB\xBF") {
        return decode_utf8(rest);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xFF\xFE") {
        return decode_utf16(rest, u16::from_le_bytes);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xFE\xFF") {
        return decode_utf16(rest, u16::from_be_bytes);
    }
    decode_utf8(bytes)
}

fn binary(reason: &str) -> Content {
    Content::Binary { reason: reason.to_owned() }
}

fn decode_utf8(bytes: &[u8]) -> Content {
    if bytes.starts_with(b"%PDF-") {
        return binary("PDF document");
    }
    if memchr::memchr(0, bytes).is_some() {
        return binary("contains NUL bytes");
    }
    let head = &bytes[..bytes.len().min(SNIFFED)];
    let controls = head.iter().filter(|byte| is_control(**byte)).count();
    if controls * 100 > head.len() * CONTROL_PER_CENT {
        return binary("contains many control characters");
    }
    match str::from_utf8(bytes) {
        Ok(text) => Content::Text { text: text.to_owned(), lossy: false },
        Err(_) => {
            let invalid = head.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
            if invalid * 100 > head.len() * INVALID_PER_CENT {
                return binary("mostly invalid UTF-8");
            }
            Content::Text { text: String::from_utf8_lossy(bytes).into_owned(), lossy: true }
        }
    }
}

fn is_control(byte: u8) -> bool {
    (byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0B | 0x0C | 0x1B)) || byte == 0x7F
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Content {
    let pairs = bytes.chunks_exact(2);
    let odd = !pairs.remainder().is_empty();
    let units: Vec<u16> = pairs.map(|pair| unit([pair[0], pair[1]])).collect();
    if units.contains(&0) {
        return binary("contains NUL bytes");
    }
    let mut lossy = odd;
    let text = char::decode_utf16(units)
        .map(|c| {
            c.unwrap_or_else(|_| {
                lossy = true;
                char::REPLACEMENT_CHARACTER
            })
        })
        .collect();
    Content::Text { text, lossy }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> (String, bool) {
        match decode(bytes) {
            Content::Text { text, lossy } => (text, lossy),
            Content::Binary { reason } => panic!("binary: {reason}"),
        }
    }

    #[test]
    fn byte_order_marks_are_honoured_and_removed() {
        assert_eq!(text(b"\xEF\xBB\xBFint x;"), ("int x;".to_owned(), false));
        assert_eq!(text(b"\xFF\xFEi\0\xE9\0"), ("i\u{e9}".to_owned(), false));
        assert_eq!(text(b"\xFE\xFF\0i\0\xE9"), ("i\u{e9}".to_owned(), false));
    }

    #[test]
    fn eight_bit_text_is_read_with_replacements() {
        let (read, lossy) = text(b"// written by Andr\xE9 in a Latin-1 editor\n");
        assert!(lossy);
        assert!(read.contains("Andr\u{FFFD} in"));
    }

    #[test]
    fn binary_content_says_why() {
        for bytes in [&b"\x7fELF\x02\x01\0\0"[..], b"%PDF-1.4 ...", &[0x93u8; 300], b"\x01\x02\x03\x04abc"] {
            assert!(matches!(decode(bytes), Content::Binary { .. }), "{bytes:?}");
        }
        // Bytes from a linear congruential generator, without NUL.
        let mut state = 12345u32;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 24) as u8).max(1)
        })
        .take(4000)
        .collect();
        assert!(matches!(decode(&noise), Content::Binary { .. }));
    }

    #[test]
    fn an_empty_file_is_text() {
        assert_eq!(text(b""), (String::new(), false));
    }
}
