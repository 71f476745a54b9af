//! Text that grows by pieces under a hard limit of tokens, each piece counted once.

use std::collections::BTreeMap;

/// Counts tokens as the reading model does.
pub type TokenCounter<'a> = &'a dyn Fn(&str) -> usize;

/// Place of a piece in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    RepositoryHeading,
    /// A line of the view of the repository.
    Repository(usize),
    FilesHeading,
    /// Line of a ranked file.
    Card(usize),
    /// What is known of it.
    Details(usize),
    /// A symbol in it.
    Symbol(usize, usize),
    /// Ranked files of one folder, by name only.
    Names(usize),
    SourceHeading,
    SourceFile(usize),
    /// Line of a ranked file's source.
    Line(usize, u32),
    LeftOut,
}

impl Place {
    /// Section, file, place within it.
    fn order(self) -> (u8, usize, usize) {
        match self {
            Self::RepositoryHeading => (0, 0, 0),
            Self::Repository(nth) => (1, nth, 0),
            Self::FilesHeading => (2, 0, 0),
            Self::Card(file) => (3, file, 0),
            Self::Details(file) => (3, file, 1),
            Self::Symbol(file, nth) => (3, file, 2 + nth),
            Self::Names(nth) => (4, nth, 0),
            Self::SourceHeading => (5, 0, 0),
            Self::SourceFile(file) => (6, file, 0),
            Self::Line(file, line) => (6, file, line as usize),
            Self::LeftOut => (7, 0, 0),
        }
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[derive(Debug)]
struct Piece {
    text: String,
    tokens: usize,
}

/// The text so far.
pub(crate) struct Sheet<'a> {
    count: TokenCounter<'a>,
    pieces: BTreeMap<Place, Piece>,
    /// Groups of pieces in the order in which they came: each stands or falls as one.
    groups: Vec<Vec<Place>>,
    used: usize,
}

impl<'a> Sheet<'a> {
    pub(crate) fn new(count: TokenCounter<'a>) -> Self {
        Self { count, pieces: BTreeMap::new(), groups: Vec::new(), used: 0 }
    }

    pub(crate) fn used(&self) -> usize {
        self.used
    }

    pub(crate) fn has(&self, place: Place) -> bool {
        self.pieces.contains_key(&place)
    }

    /// Adds pieces that are not there yet, all or none: none where they would bring the text above `limit`.
    pub(crate) fn add(&mut self, pieces: Vec<(Place, String)>, limit: usize) -> bool {
        let mut tokens = 0;
        let mut counted = Vec::with_capacity(pieces.len());
        for (place, text) in pieces {
            if self.pieces.contains_key(&place) {
                continue;
            }
            let of_piece = (self.count)(&text);
            tokens += of_piece;
            if self.used + tokens > limit {
                return false;
            }
            counted.push((place, Piece { text, tokens: of_piece }));
        }
        self.used += tokens;
        self.groups.push(counted.iter().map(|(place, _)| *place).collect());
        self.pieces.extend(counted);
        true
    }

    /// Takes the last group away again.
    fn pop(&mut self) -> bool {
        let Some(group) = self.groups.pop() else { return false };
        for place in group {
            if let Some(piece) = self.pieces.remove(&place) {
                self.used -= piece.tokens;
            }
        }
        true
    }

    /// The text and its tokens, brought under `limit` where tokens join or split at the borders of pieces.
    pub(crate) fn finish(&mut self, limit: usize) -> (String, usize) {
        loop {
            let text = self.text();
            let tokens = (self.count)(&text);
            if tokens <= limit {
                return (text, tokens);
            }
            // Tokens of pieces and of the whole differ by some factor: the same share of both has to go.
            let goal = self.used * limit / tokens;
            loop {
                if !self.pop() || self.used <= goal {
                    break;
                }
            }
        }
    }

    fn text(&self) -> String {
        self.pieces.values().map(|piece| piece.text.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> usize {
        text.split_whitespace().count()
    }

    #[test]
    fn pieces_stand_in_the_order_of_the_text_whenever_they_came() {
        let mut sheet = Sheet::new(&words);
        let piece = |place, text: &str| vec![(place, text.to_owned())];
        assert!(sheet.add(piece(Place::SourceHeading, "# Source\n"), 100));
        assert!(sheet.add(piece(Place::Line(1, 4), "4: x\n"), 100));
        assert!(sheet.add(piece(Place::Line(0, 9), "9: z\n"), 100));
        assert!(sheet.add(piece(Place::SourceFile(1), "## [2]\n"), 100));
        assert!(sheet.add(piece(Place::Card(1), "[2] b.h\n"), 100));
        assert!(sheet.add(piece(Place::Symbol(0, 0), "  - f\n"), 100));
        assert!(sheet.add(piece(Place::Card(0), "[1] a.h\n"), 100));
        // What is there already is not counted again.
        assert!(sheet.add(piece(Place::Card(0), "[1] a.h\n"), 100));
        let counted = sheet.used();
        let (text, tokens) = sheet.finish(100);
        assert_eq!(text, "[1] a.h\n  - f\n[2] b.h\n# Source\n9: z\n## [2]\n4: x\n");
        assert_eq!((tokens, counted), (14, 14));
    }

    #[test]
    fn a_group_is_added_whole_or_not_at_all() {
        let mut sheet = Sheet::new(&words);
        let card = |at: usize| (Place::Card(at), "a b c\n".to_owned());
        assert!(sheet.add(vec![card(0)], 5));
        assert!(!sheet.add(vec![(Place::Card(1), "a\n".into()), card(2)], 5));
        assert!(!sheet.has(Place::Card(1)));
        assert_eq!((sheet.used(), sheet.finish(5)), (3, ("a b c\n".to_owned(), 3)));
    }

    #[test]
    fn a_counter_that_splits_at_borders_is_obeyed_all_the_same() {
        // Every pair of lines costs one more than its lines alone.
        let count = |text: &str| text.lines().count() * 2 - usize::from(!text.is_empty());
        let mut sheet = Sheet::new(&count);
        for at in 0..10 {
            assert!(sheet.add(vec![(Place::Card(at), "x\n".into())], 10));
        }
        let (text, tokens) = sheet.finish(10);
        assert_eq!((text.lines().count(), tokens), (5, 9));
    }
}
