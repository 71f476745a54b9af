//! Values as the shell and sbatch read them back.

use crate::{Error, Result};

/// A value as one word of bash.
pub(crate) fn shell(value: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/_-.,:=+@%".contains(c);
    if !value.is_empty() && value.chars().all(is_plain) {
        value.to_owned()
    } else {
        format!("'{}'", value.replace('\'', "'\\''"))
    }
}

/// Words as a command line that a shell reads back.
pub fn command_line(words: &[String]) -> String {
    words.iter().map(|word| shell(word)).collect::<Vec<_>>().join(" ")
}

/// An option as one word of an `#SBATCH` line. Only double quotes will do: there a backslash takes the
/// next character as it is, and outside them `#` begins a comment. (Seen with Slurm 22.05.)
pub(crate) fn directive(option: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/_-.,:=+@%".contains(c);
    if option.chars().all(is_plain) {
        return option.to_owned();
    }
    format!("\"{}\"", option.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A path as the pattern of a log file: `%` begins a replacement.
pub(crate) fn pattern(path: &str) -> Result<String> {
    // A backslash switches the replacements off for the whole pattern.
    if path.contains('\\') {
        return Err(Error::Unquotable { what: "the store's path", value: path.to_owned() });
    }
    Ok(path.replace('%', "%%"))
}

/// Refuses what no quoting carries through a job script in one line.
pub(crate) fn check(what: &'static str, value: &str) -> Result<()> {
    if value.contains(|c: char| c.is_control()) {
        return Err(Error::Unquotable { what, value: value.escape_debug().to_string() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bash_reads_back_what_was_quoted() {
        for value in
            ["plain/path-1.0", "two words", "it's", "$HOME `id` \"x\"", "", "a\\b", "#!*?[]{}~", "ü €"]
        {
            let script = format!("printf '%s' {}", shell(value));
            let output = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), value);
        }
    }

    #[test]
    fn directives_are_quoted_for_sbatch() {
        assert_eq!(directive("--time=02:00:00"), "--time=02:00:00");
        assert_eq!(directive("--comment=a b#c'd"), "\"--comment=a b#c'd\"");
        assert_eq!(directive(r#"--comment=a\b"c"#), r#""--comment=a\\b\"c""#);
        assert_eq!(pattern("/a%b/c").unwrap(), "/a%%b/c");
        assert!(pattern("/a\\b").is_err());
    }

    #[test]
    fn lines_and_control_characters_are_refused() {
        assert!(check("path", "two\nlines").is_err());
        assert!(check("path", "bell\u{7}").is_err());
        assert!(check("path", "it's a \"path\"").is_ok());
    }
}
