//! The diagnostic log: what libraries and stages say through `tracing`, to standard error.

use std::io::{self, Write};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::{Options, terminal};

/// Filter that the options ask for. Model and network libraries only get to speak of errors
/// until `-vv`: at their normal level they drown what the user should see.
pub(crate) fn filter(options: &Options) -> String {
    if let Some(filter) = &options.log_filter {
        return filter.clone();
    }
    let filter = match (options.quiet, options.verbose) {
        (1.., _) => "error",
        (0, 0) => "error,almanac=warn",
        (0, 1) => "error,almanac=info",
        (0, 2) => "warn,almanac=debug",
        (0, 3..) => "info,almanac=trace",
    };
    filter.to_owned()
}

/// Starts the log. The error is a message for a warning.
pub(crate) fn start(filter: String) -> Result<(), String> {
    let parsed = EnvFilter::try_new(&filter)
        .map_err(|error| format!("the log filter `{filter}` is ignored: {error}"))?;
    tracing_subscriber::fmt()
        .with_env_filter(parsed)
        .without_time()
        // Colour codes could not be told from those in what is logged.
        .with_ansi(false)
        .with_writer(AboveBars)
        .try_init()
        .map_err(|error| format!("the log could not be started: {error}"))
}

/// Writes each record whole, above a progress bar if one is shown.
struct AboveBars;

impl<'a> MakeWriter<'a> for AboveBars {
    type Writer = Record;

    fn make_writer(&'a self) -> Record {
        Record(Vec::new())
    }
}

struct Record(Vec<u8>);

impl Write for Record {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            let text = String::from_utf8_lossy(&self.0);
            terminal().line("", &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_of_verbosity_is_a_valid_filter() {
        for quiet in 0..3 {
            for verbose in 0..5 {
                let options = Options { quiet, verbose, ..Options::default() };
                assert!(EnvFilter::try_new(filter(&options)).is_ok(), "{quiet} {verbose}");
            }
        }
    }

    #[test]
    fn an_explicit_filter_wins() {
        let options = Options { verbose: 2, log_filter: Some("trace".to_owned()), ..Options::default() };
        assert_eq!(filter(&options), "trace");
    }
}
