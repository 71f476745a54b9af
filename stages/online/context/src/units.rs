//! What is searched of one content: its terms, whole and by stretches of lines, and its includes.

use serde::{Deserialize, Serialize};

use crate::bm25::counted;
use crate::words::Vocabulary;

/// Lines of a stretch, and lines from one to the next.
const LINES: usize = 60;
const STEP: usize = 40;

/// Longest text whose words are looked at, in bytes.
const LONGEST: usize = 400_000;

/// Terms of one content, path aside.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Units {
    pub(crate) whole: Vec<(u32, f32)>,
    pub(crate) stretches: Vec<Vec<(u32, f32)>>,
    /// Paths as `#include` writes them.
    pub(crate) includes: Vec<String>,
}

impl Units {
    pub(crate) fn read(text: &str, vocabulary: &mut Vocabulary) -> Self {
        let text = &text[..text.floor_char_boundary(LONGEST)];
        let mut includes = Vec::new();
        let mut lines: Vec<Vec<u32>> = Vec::new();
        for line in text.lines() {
            let mut terms = Vec::new();
            vocabulary.of(line, &mut terms);
            lines.push(terms);
            includes.extend(included(line).map(str::to_owned));
        }
        let whole = counted(lines.iter().flatten().copied().collect(), 1.0);
        let mut stretches = Vec::new();
        for start in (0..lines.len()).step_by(STEP) {
            let end = (start + LINES).min(lines.len());
            stretches.push(counted(lines[start..end].iter().flatten().copied().collect(), 1.0));
            if end == lines.len() {
                break;
            }
        }
        Self { whole, stretches, includes }
    }
}

/// The path of an `#include` line.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
    let rest = rest.strip_prefix(['"', '<'])?;
    rest.split(['"', '>']).next().filter(|path| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_give_overlapping_stretches() {
        let text = "word\n".repeat(110) + "#include <a/b.h>\n";
        let units = Units::read(&text, &mut Vocabulary::default());
        assert_eq!(units.stretches.len(), 3);
        assert_eq!(units.includes, ["a/b.h"]);
        assert_eq!(units.whole[0].1, 110.0);
    }
}
