//! Tells text from data: numbers and drawings, in which nobody looks for an answer.

use almanac_tables::{ArtifactRole, Entity, EntityKind, Language, SourceType};

use crate::Params;

/// Letters of the shortest and the longest word: `x1` and base64 are none.
const WORD: std::ops::RangeInclusive<usize> = 3..=24;

/// What of a file's blocks of text becomes chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readable {
    /// All of them.
    Whole,
    /// Those that begin before this byte.
    Head(u64),
    /// None.
    Nothing,
}

impl Readable {
    /// Judges a file by its text and by one of its entities, which know its role and kind.
    pub(crate) fn of(entity: &Entity, text: &str, params: &Params) -> Self {
        // Code in a language without a grammar is read as text, and is code.
        let may_be_data = entity.role == ArtifactRole::Data
            || matches!(entity.source_type, SourceType::Configuration | SourceType::Documentation);
        if entity.language != Language::Text || !may_be_data {
            Self::Whole
        } else if share_of_words(text) < params.minimum_words {
            Self::Nothing
        } else if entity.role == ArtifactRole::Data {
            Self::Head(params.data_bytes)
        } else {
            Self::Whole
        }
    }

    /// Whether the entity is left out. Sections and symbols never are: someone has named them.
    pub(crate) fn leaves_out(self, entity: &Entity) -> bool {
        entity.kind == EntityKind::TextBlock
            && match self {
                Self::Whole => false,
                Self::Head(bytes) => entity.start_byte >= bytes,
                Self::Nothing => true,
            }
    }
}

/// Share of the visible characters that are in words: over 0.4 in prose, settings and listings, under
/// 0.3 in tables of numbers and in drawings.
fn share_of_words(text: &str) -> f64 {
    let visible = text.chars().filter(|character| !character.is_whitespace()).count();
    let runs = text.split(|character: char| !character.is_alphanumeric());
    let words = runs.filter(|run| run.chars().all(char::is_alphabetic)).map(|word| word.chars().count());
    let in_words: usize = words.filter(|length| WORD.contains(length)).sum();
    if visible == 0 { 1.0 } else { in_words as f64 / visible as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_drawings_have_few_words() {
        let table =
            "step,energy,error\n0,1.2345e-03,0.00\n1,1.2344e-03,0.01\n2,1.2311e-03,0.02\n3,9.1e-4,0.02\n";
        let drawing =
            "%%BoundingBox: 0 0 90 90\n12.5 13.25 m 14 15 l 16.125 17 c\n4 5 6 7 8 9 c s\n".repeat(9);
        let packed = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGA".repeat(4);
        for data in [table, &drawing, &packed] {
            assert!(share_of_words(data) < 0.3, "{} {data}", share_of_words(data));
        }
        let deck = "nx = 32\nsolver: conjugate_gradient\nperiodic: [true, true, false]\nsteps = 1000\n";
        let json = "{\"name\": \"gcc\", \"cacheVariables\": {\"CMAKE_BUILD_TYPE\": \"Release\"}}";
        for text in [deck, json, "The scheme is of second order (see [1], p. 12).", ""] {
            assert!(share_of_words(text) > 0.4, "{} {text}", share_of_words(text));
        }
    }
}
