//! Text from files, models and other programs, made harmless for a terminal.
//!
//! A terminal acts on control characters: they move the cursor over what was printed, change its
//! title, answer in the user's name. Others reorder or hide what is there. None of them belongs in a
//! result or message, so each is shown as its code, whether or not a terminal is at the other end.

use std::borrow::Cow;

/// Whether a terminal acts on `character`, or it changes or hides how the text around it reads.
/// Joiners that scripts and emoji are written with are left alone.
fn is_harmful(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Controls (C0, DEL, C1), line and paragraph separators.
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => true,
        // Marks, embeddings, overrides and isolates of text direction.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        // Invisible: zero width space, word joiner and its kind, annotation marks, tags.
        '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}' | '\u{feff}' => true,
        '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    }
}

/// `text` with what a terminal would act on shown as its code: `\u{1b}`. A line may end as it does
/// on Windows.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    replaced(text, is_harmful, |out, character, rest| {
        let ends_line = character == '\r' && rest.starts_with('\n');
        if !ends_line {
            out.extend(character.escape_default());
        }
    })
}

/// Like [`visible`], for what must stay on one line: line ends and tabs are shown too.
pub(crate) fn visible_line(text: &str) -> Cow<'_, str> {
    let acts = |character| matches!(character, '\n' | '\t') || is_harmful(character);
    replaced(text, acts, |out, character, _| out.extend(character.escape_default()))
}

/// JSON with the same characters written as JSON escapes. They can only stand inside its strings,
/// so the value stays what it was.
pub(crate) fn visible_json(json: &str) -> Cow<'_, str> {
    replaced(json, is_harmful, |out, character, _| {
        for unit in character.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    })
}

/// Indents the further lines of a message below its first, so that text in it can not pass for a
/// message of its own.
pub(crate) fn continued(message: &str) -> String {
    message.trim_end().replace('\n', "\n    ")
}

fn replaced(
    text: &str,
    acts: impl Fn(char) -> bool,
    write: impl Fn(&mut String, char, &str),
) -> Cow<'_, str> {
    let Some(first) = text.find(&acts) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for (at, character) in text[first..].char_indices() {
        if acts(character) {
            write(&mut out, character, &text[first + at + character.len_utf8()..]);
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_not_touched() {
        let text = "int größe = 3;\n\t// naïve ∇φ, 日本, 👩‍🔬\n";
        assert!(matches!(visible(text), Cow::Borrowed(same) if same == text));
    }

    #[test]
    fn what_a_terminal_acts_on_is_shown_as_its_code() {
        let cases = [
            ("\u{1b}[2J\u{1b}]0;title\u{7}", "\\u{1b}[2J\\u{1b}]0;title\\u{7}"),
            ("safe\rforged", "safe\\rforged"),
            ("one\r\ntwo", "one\ntwo"),
            ("\u{9b}31m\u{7f}\0", "\\u{9b}31m\\u{7f}\\u{0}"),
            ("user\u{202e}gnp.exe", "user\\u{202e}gnp.exe"),
            ("a\u{2066}b\u{2028}c\u{feff}d\u{e0041}", "a\\u{2066}b\\u{2028}c\\u{feff}d\\u{e0041}"),
        ];
        for (text, expected) in cases {
            assert_eq!(visible(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_line_stays_one() {
        assert_eq!(visible_line("a.h\nerror: forged\t\r\n"), "a.h\\nerror: forged\\t\\r\\n");
    }

    #[test]
    fn json_keeps_its_value() {
        let value = "\u{1b}[31m \u{9b} \u{7f} \u{202e} \u{e0041} \n \u{feff} ü";
        let written = serde_json::to_string(value).expect("a string");
        let harmless = visible_json(&written);
        assert!(!harmless.chars().any(is_harmful), "{harmless}");
        assert_eq!(serde_json::from_str::<String>(&harmless).expect("JSON"), value);
    }

    #[test]
    fn further_lines_are_indented() {
        assert_eq!(continued("a\nb\n"), "a\n    b");
    }
}
