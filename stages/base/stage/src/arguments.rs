//! Command line of the stage binaries.

use std::ffi::OsString;
use std::path::PathBuf;

use almanac_settings::{Range, Settings, Sources, environment, range_of};
use almanac_terminal::ExitStatus;
use clap::builder::RangedU64ValueParser;
use clap::{ArgAction, Args, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::{Error, Result, Shard};

/// Options that every Almanac binary takes.
#[derive(Debug, Clone, Args)]
pub struct GlobalArguments {
    /// Store folder [default: ALMANAC_STORE, else ./artifacts where there is such a folder]
    #[arg(long, value_name = "DIR", global = true)]
    pub store: Option<PathBuf>,
    /// Settings profile
    #[arg(long, value_name = "NAME", global = true)]
    pub profile: Option<String>,
    /// Folder with profiles/, prompts/, models.toml and local.toml of your own [default: ALMANAC_CONFIG]
    #[arg(long, value_name = "DIR", global = true)]
    pub config: Option<PathBuf>,
    /// Change one setting, such as `--set explain.run.max_seconds=60`; repeatable
    #[arg(long, value_name = "KEY=VALUE", global = true)]
    pub set: Vec<String>,
    /// Print one JSON object to stdout instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// Say less: -q only warnings and errors, -qq only errors
    #[arg(short, long, action = ArgAction::Count, global = true)]
    pub quiet: u8,
    /// Say more: -v what happens, -vv why
    #[arg(short, long, action = ArgAction::Count, global = true)]
    pub verbose: u8,
    /// Colours
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub color: Color,
    /// No progress bar
    #[arg(long, global = true)]
    pub no_progress: bool,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl GlobalArguments {
    /// Starts the printer and the log.
    pub fn start_terminal(&self) {
        almanac_terminal::init(almanac_terminal::Options {
            json: self.json,
            quiet: self.quiet,
            verbose: self.verbose,
            color: match self.color {
                Color::Auto => almanac_terminal::ColorChoice::Auto,
                Color::Always => almanac_terminal::ColorChoice::Always,
                Color::Never => almanac_terminal::ColorChoice::Never,
            },
            progress: !self.no_progress,
            log_filter: environment::log_filter(),
        });
    }

    /// Loads the settings with `extra` assignments after those of `--set`.
    pub fn settings(&self, extra: &[String]) -> almanac_settings::Result<Settings> {
        Settings::load(&Sources {
            profile: self.profile.clone(),
            config_dir: self.config.clone(),
            set: self.set.iter().chain(extra).cloned().collect(),
        })
    }

    /// The store's folder: the option, the environment, or `artifacts` when it is there.
    pub fn store_folder(&self) -> Result<PathBuf> {
        let usual = PathBuf::from("artifacts");
        self.store
            .clone()
            .or_else(environment::store_dir)
            .or_else(|| usual.is_dir().then_some(usual))
            .ok_or(Error::NoStore)
    }

    /// The same options as arguments for a child process.
    pub fn to_arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        let mut push = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
        if let Some(profile) = &self.profile {
            push("--profile", profile.clone());
        }
        if let Some(config) = &self.config {
            push("--config", config.to_string_lossy().into_owned());
        }
        for assignment in &self.set {
            push("--set", assignment.clone());
        }
        if self.color != Color::Auto {
            push("--color", if self.color == Color::Always { "always" } else { "never" }.to_owned());
        }
        arguments.extend(std::iter::repeat_n("-q".to_owned(), self.quiet.into()));
        arguments.extend(std::iter::repeat_n("-v".to_owned(), self.verbose.into()));
        if self.no_progress {
            arguments.push("--no-progress".to_owned());
        }
        arguments
    }
}

/// Options of `run`.
#[derive(Debug, Clone, Args)]
pub struct RunArguments {
    /// Source tree to read (parse only)
    #[arg(long, value_name = "TREE")]
    pub source: Option<PathBuf>,
    /// This task's share of the work, such as 3/64 (explain, entities, embed)
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Run even when everything is fresh; records in the ledger are still reused
    #[arg(long)]
    pub force: bool,
    /// Read every byte of the stage's artifact before calling it fresh; damage is set aside and rebuilt
    #[arg(long)]
    pub verify: bool,
    /// End when the process with this id, which started this one, ends; how `almanac build` starts stages
    #[arg(long, hide = true, value_name = "PROCESS")]
    pub end_with_parent: Option<u32>,
    /// Make and commit nothing; report how many records are missing (explain, entities, embed)
    #[arg(long)]
    pub count: bool,
    /// Make only the records of this level and commit nothing: files, modules or call_chains (entities)
    #[arg(long, value_name = "LEVEL")]
    pub level: Option<String>,
    /// Generate nothing; commit what the ledger holds, gaps included (explain, entities, embed)
    #[arg(long)]
    pub commit_only: bool,
    /// Stop taking new records after this many seconds; 0 is no limit (explain, entities, embed)
    #[arg(long, value_name = "SECONDS", value_parser = within("explain.run.max_seconds"))]
    pub max_seconds: Option<u64>,
    /// Make only this many records, the most important first; 0 is no limit (explain, entities, embed)
    #[arg(long, value_name = "COUNT", value_parser = within("explain.run.max_records"))]
    pub max_records: Option<u64>,
}

impl RunArguments {
    /// The limits as assignments to the stage's settings.
    pub fn assignments(&self, stage: &str) -> Vec<String> {
        let limit = |name: &str, value: Option<u64>| value.map(|value| format!("{stage}.run.{name}={value}"));
        [limit("max_seconds", self.max_seconds), limit("max_records", self.max_records)]
            .into_iter()
            .flatten()
            .collect()
    }
}

/// Options of `import`.
#[derive(Debug, Clone, Args)]
pub struct ImportArguments {
    /// JSON lines, plain or compressed with xz; `-` for the standard input. Each line has `level`
    /// (`symbol_level` or `function_level`, `file_level`, `module_level`, `call_chain_level`), `path`,
    /// `explanation`, and, for symbols, `symbol`, `parent` (its class) and `chunk_type` (its kind);
    /// `model` says what made it
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// A stage binary's command line.
#[derive(Debug, Parser)]
pub(crate) struct StageCommand {
    #[command(flatten)]
    pub(crate) global: GlobalArguments,
    #[command(subcommand)]
    pub(crate) action: Action,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Bring the stage's artifact up to date
    Run(RunArguments),
    /// Print what the stage reads, writes and depends on
    Describe,
    /// Take in texts that were generated elsewhere: they fill in for what has no text of its own
    Import(ImportArguments),
}

/// What an option may be that stands for the setting at `key`: the whole numbers of its range.
pub fn within(key: &str) -> RangedU64ValueParser<u64> {
    let parser = RangedU64ValueParser::new();
    match range_of(key) {
        Some(Range::Whole { least, most }) => {
            let bound = |value: i64| u64::try_from(value).unwrap_or(0);
            parser.range(bound(least)..=bound(most))
        }
        _ => parser,
    }
}

/// Parses this program's command line. On `--help`, `--version` or a usage error it is printed, and
/// the status to exit with is returned.
pub fn parse_arguments<T: FromArgMatches>(command: clap::Command) -> Result<T, ExitStatus> {
    command
        .version(env!("CARGO_PKG_VERSION"))
        .try_get_matches_from(assignments_first(std::env::args_os().collect()))
        .and_then(|matches| T::from_arg_matches(&matches))
        .map_err(|error| {
            if error.use_stderr() {
                almanac_terminal::usage_error(&error.render().to_string());
                return ExitStatus::Usage;
            }
            if let Err(error) = error.print() {
                almanac_terminal::output_failed(error);
            }
            ExitStatus::Done
        })
}

/// `line` with every `--set KEY=VALUE` moved in front of the verb, in order: of an option that every
/// level takes, clap keeps only the values of the innermost level that has any.
fn assignments_first(line: Vec<OsString>) -> Vec<OsString> {
    let mut words = line.into_iter();
    let mut first: Vec<OsString> = words.next().into_iter().collect();
    let mut rest = Vec::new();
    while let Some(word) = words.next() {
        let text = word.as_encoded_bytes();
        if text == b"--" {
            rest.push(word);
            rest.extend(words);
            break;
        } else if text == b"--set" {
            match words.next() {
                Some(value) => first.extend([word, value]),
                None => rest.push(word),
            }
        } else if text.starts_with(b"--set=") {
            first.push(word);
        } else {
            rest.push(word);
        }
    }
    first.append(&mut rest);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(line: &str) -> String {
        let line = assignments_first(line.split(' ').map(OsString::from).collect());
        line.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_assignment_counts_wherever_it_stands() {
        let cases = [
            ("almanac --set a=1 models list --set b=2", "almanac --set a=1 --set b=2 models list"),
            ("almanac models --set=a=1 list --set=b=2 -q", "almanac --set=a=1 --set=b=2 models list -q"),
            ("almanac search --set a=1 -- --set b=2", "almanac --set a=1 search -- --set b=2"),
            ("almanac search --set", "almanac search --set"),
        ];
        for (line, wanted) in cases {
            assert_eq!(moved(line), wanted);
        }
    }
}
