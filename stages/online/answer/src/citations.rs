//! Checking what an answer cites and names against what the model saw.

use std::sync::LazyLock;

use almanac_lookup::SearchIndex;
use almanac_retrieval::SearchResult;
use regex::Regex;

use crate::Source;

static CITATION: LazyLock<Regex> = LazyLock::new(|| {
    // A name with an ending, or one of those that are files without one.
    Regex::new(concat!(
        r"((?:[\p{L}\p{N}_.][\p{L}\p{N}_./+-]*/)?",
        r"(?:[\p{L}\p{N}_.+-]*[\p{L}\p{N}_+-]\.[A-Za-z0-9]+",
        r"|\p{Lu}\p{L}*file|LICENSE|README|COPYING|INSTALL|VERSION|CHANGELOG|AUTHORS)",
        r"):(\d+)(?:\s*[-–]\s*(\d+))?"
    ))
    .expect("the pattern is a constant")
});
static BACKTICKED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"`([^`\n]+)`").expect("the pattern is a constant"));

/// Outcome of the checks.
pub(crate) struct Checked {
    pub(crate) sources: Vec<Source>,
    pub(crate) unsupported: Vec<String>,
}

/// Checks every citation and every name in backticks of `text`.
pub(crate) fn check(index: &SearchIndex, found: &SearchResult, text: &str) -> Checked {
    let mut sources: Vec<Source> = Vec::new();
    let mut unsupported: Vec<String> = Vec::new();
    for citation in CITATION.captures_iter(text) {
        match place(index, found, &citation) {
            Ok(source) if !sources.contains(&source) => sources.push(source),
            Ok(_) => {}
            Err(reason) => push_new(&mut unsupported, reason),
        }
    }
    for name in BACKTICKED.captures_iter(text).map(|captures| captures[1].trim().to_owned()) {
        if let Some(reason) = unknown_name(found, &name) {
            push_new(&mut unsupported, reason);
        }
    }
    for chunk in found.chunks.iter().filter(|chunk| !chunk.path.is_empty()) {
        let cited = sources.iter().any(|source| {
            source.path == chunk.path
                && source.start_line <= chunk.end_line
                && source.end_line >= chunk.start_line
        });
        if !cited {
            sources.push(Source {
                path: chunk.path.clone(),
                start_line: chunk.start_line,
                end_line: chunk.end_line,
                cited: false,
            });
        }
    }
    Checked { sources, unsupported }
}

fn push_new(list: &mut Vec<String>, item: String) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// The place a citation names, or why there is none.
fn place(
    index: &SearchIndex,
    found: &SearchResult,
    citation: &regex::Captures<'_>,
) -> Result<Source, String> {
    let written = &citation[0];
    let number = |group: usize| citation.get(group).and_then(|text| text.as_str().parse::<usize>().ok());
    let start = number(2).unwrap_or(0);
    let end = number(3).unwrap_or(start).max(start);
    let tables = index.tables();
    let files = index.files_named(&citation[1]);
    // A short name counts when it means one file, or one file of the evidence.
    let seen = |path: &str| found.chunks.iter().any(|chunk| chunk.path == path);
    let path = match files.as_slice() {
        [] => return Err(format!("{written}: no such file")),
        [one] => &tables.files[*one].path,
        several => several
            .iter()
            .map(|&at| &tables.files[at].path)
            .find(|path| seen(path))
            .ok_or_else(|| format!("{written}: the name means {} files", several.len()))?,
    };
    let lines = tables.text(path).lines().count();
    if start == 0 || end > lines {
        return Err(format!("{written}: the file has {lines} lines"));
    }
    let shown = found.chunks.iter().filter(|chunk| chunk.path == *path);
    let shown = shown.flat_map(|chunk| &chunk.shown).any(|&(first, last)| start <= last && end >= first);
    if !shown {
        return Err(format!("{written}: not in the evidence"));
    }
    Ok(Source { path: path.clone(), start_line: start, end_line: end, cited: true })
}

/// Why a name in backticks is not supported; `None` when it is, or is no name.
fn unknown_name(found: &SearchResult, name: &str) -> Option<String> {
    let core = name.trim_end_matches("()").trim_end_matches(';');
    let is_name = core.len() > 2
        && core.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '~' | '.' | '/'))
        && core.chars().any(char::is_alphabetic);
    if !is_name || CITATION.is_match(core) {
        return None;
    }
    let last = core.rsplit("::").next().unwrap_or(core);
    let there = found.context.contains(last) || found.query.contains(last);
    (!there).then(|| format!("`{name}`: not in the evidence"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_in_prose() {
        let cases = [
            ("see (src/Field/Halo.hpp:12-40).", Some(("src/Field/Halo.hpp", "12"))),
            ("in `CMakeLists.txt:7`", Some(("CMakeLists.txt", "7"))),
            ("docker/Dockerfile:3 sets it", Some(("docker/Dockerfile", "3"))),
            ("README:1", Some(("README", "1"))),
            ("the Makefile:12", Some(("Makefile", "12"))),
            ("lib/größe/Maß.hpp:5", Some(("lib/größe/Maß.hpp", "5"))),
            (".github/workflows/ci.yml:9", Some((".github/workflows/ci.yml", "9"))),
            ("at 10:30 in profile:3 of std::max:2", None),
        ];
        for (text, wanted) in cases {
            let found = CITATION.captures(text);
            let found = found.as_ref().map(|captures| (&captures[1], &captures[2]));
            assert_eq!(found, wanted, "{text}");
        }
    }
}
