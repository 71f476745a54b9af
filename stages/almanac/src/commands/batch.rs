//! Many questions in one process: a line of JSON in, a line of JSON out.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use almanac_terminal::ExitStatus;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Error;

/// A line.
#[derive(Debug, Deserialize)]
pub(super) struct Query {
    /// Whatever its sender knows it by.
    id: Value,
    /// The question or task.
    pub(super) query: String,
    /// Commit that a task is asked of.
    pub(super) commit: Option<String>,
}

/// An answer with the id of its line.
#[derive(Serialize)]
struct Answered<'a, T> {
    id: &'a Value,
    #[serde(flatten)]
    answer: &'a T,
}

/// A line that could not be answered.
#[derive(Serialize)]
struct Refused<'a> {
    /// The line's id, where it has one that can be read.
    id: &'a Value,
    /// Line of the file, from 1.
    line: usize,
    error: String,
}

/// Why a line was refused, with its id.
struct Reason {
    id: Value,
    error: String,
}

/// What came of a line: its answer, or why it alone cannot be answered.
pub(super) enum Outcome<T> {
    Answer(T),
    Refusal(String),
}

impl<T> Outcome<T> {
    /// Refuses the line with an error and its causes.
    pub(super) fn refusal(error: &dyn std::error::Error) -> Self {
        let causes = std::iter::successors(Some(error), |error| error.source());
        Self::Refusal(causes.map(ToString::to_string).collect::<Vec<_>>().join(": "))
    }
}

/// Answers the lines as they come. One that cannot be answered is said in its place, and the others
/// are answered all the same. `path` is opened first, then `start` makes what answers.
pub(super) fn run<T: Serialize, A>(
    path: &Path,
    start: impl FnOnce() -> miette::Result<A>,
) -> miette::Result<ExitStatus>
where
    A: FnMut(&Query) -> miette::Result<Outcome<T>>,
{
    let mut reader = open(path)?;
    let mut answer = start()?;
    let (mut lines, mut refused) = (0, 0);
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        if reader.read_until(b'\n', &mut bytes).map_err(failed(path))? == 0
            || almanac_terminal::is_output_closed()
        {
            break;
        }
        let text = if line == 1 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes) } else { &bytes };
        if text.trim_ascii().is_empty() {
            continue;
        }
        lines += 1;
        let reason = match read(text) {
            Ok(query) => match answer(&query)? {
                Outcome::Answer(answer) => {
                    almanac_terminal::data_json(&Answered { id: &query.id, answer: &answer });
                    continue;
                }
                Outcome::Refusal(error) => Reason { id: query.id, error },
            },
            Err(reason) => reason,
        };
        refused += 1;
        refuse(line, &reason);
    }
    if refused > 0 {
        return Err(Error::BatchLines { path: path.to_owned(), refused, lines }.into());
    }
    Ok(ExitStatus::Done)
}

fn open(path: &Path) -> Result<Box<dyn BufRead>, Error> {
    if path == Path::new("-") {
        return Ok(Box::new(std::io::stdin().lock()));
    }
    let file = fs_err::File::open(path).map_err(failed(path))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(failed(path)(std::io::ErrorKind::IsADirectory.into()));
    }
    Ok(Box::new(BufReader::new(file)))
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> Error {
    let path: PathBuf = path.to_owned();
    move |source| match source.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::IsADirectory => {
            Error::NoBatchFile { path: path.clone(), source }
        }
        _ => Error::BatchFile { path: path.clone(), source },
    }
}

fn read(line: &[u8]) -> Result<Query, Reason> {
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => {
            let error = format!("not UTF-8: byte {} of the line", error.valid_up_to());
            return Err(Reason { id: id_of(&String::from_utf8_lossy(line)), error });
        }
    };
    let query: Query = serde_json::from_str(text).map_err(|error| Reason {
        id: id_of(text),
        error: format!("not {{\"id\": …, \"query\": …}}: {error}"),
    })?;
    Ok(query)
}

/// Id of a line that is no query but an object, so that its sender knows which one.
fn id_of(text: &str) -> Value {
    let value = serde_json::from_str::<Value>(text).unwrap_or_default();
    value.get("id").cloned().unwrap_or_default()
}

fn refuse(line: usize, Reason { id, error }: &Reason) {
    almanac_terminal::data_json(&Refused { id, line, error: error.clone() });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_line_gives_its_id_where_it_can_be_read() {
        let cases: [(&[u8], Value, &str); 7] = [
            (b"{\"id\": 3}\n", 3.into(), "missing field `query`"),
            (b"{\"id\": \"a\", \"query\": 4}\n", "a".into(), "invalid type"),
            (b"{\"query\": \"x\"}\n", Value::Null, "missing field `id`"),
            (b"{\"id\": 3, \"query\": \"x\"\n", Value::Null, "EOF"),
            (b"[1, 2]\n", Value::Null, "not {"),
            (b"{\"id\": 3, \"query\": \"caf\xe9\"}\n", 3.into(), "not UTF-8: byte 23 of the line"),
            (b"\xff\xfe\n", Value::Null, "not UTF-8: byte 0 of the line"),
        ];
        for (line, id, words) in cases {
            let reason = read(line).expect_err("no query");
            assert_eq!(reason.id, id, "{}", reason.error);
            assert!(reason.error.contains(words), "{}", reason.error);
        }
    }
}
