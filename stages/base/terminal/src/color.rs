use std::fmt;
use std::str::FromStr;

/// When to colour: `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always, `NO_COLOR` or not.
    Always,
    /// Never.
    Never,
}

impl FromStr for ColorChoice {
    type Err = UnknownColorChoice;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "always" => Ok(Self::Always),
            "never" => Ok(Self::Never),
            _ => Err(UnknownColorChoice),
        }
    }
}

impl fmt::Display for ColorChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        })
    }
}

/// A value of `--color` that is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownColorChoice;

impl fmt::Display for UnknownColorChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected auto, always or never")
    }
}

impl std::error::Error for UnknownColorChoice {}

/// Style of a word on standard error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style(console::Color);

pub(crate) const STATUS: Style = Style(console::Color::Green);
pub(crate) const NOTE: Style = Style(console::Color::Cyan);
pub(crate) const WARNING: Style = Style(console::Color::Yellow);
pub(crate) const ERROR: Style = Style(console::Color::Red);

impl Style {
    pub(crate) fn paint(self, word: &str) -> String {
        console::Style::new().for_stderr().bold().fg(self.0).apply_to(word).to_string()
    }
}

/// Decides for the whole process whether to colour.
pub(crate) fn apply(choice: ColorChoice) {
    // Empty means unset, by the convention at no-color.org.
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let colored = |is_terminal: bool| match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => !refused && is_terminal,
    };
    console::set_colors_enabled(colored(console::Term::stdout().features().is_attended()));
    console::set_colors_enabled_stderr(colored(console::Term::stderr().features().is_attended()));
}
