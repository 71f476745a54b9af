//! How code and prose become terms, the same way when indexing and when asking.
//!
//! An identifier gives itself in lower case, its parts by case, underscore and digits, and, when
//! qualified, the name joined by `::` with its nearest scope. Words are stemmed as English.

use std::ops::Range;

use tantivy::tokenizer::{
    Language, Stemmer, StopWordFilter, TextAnalyzer, Token, TokenStream, Tokenizer, TokenizerManager,
};

/// Longest term kept; longer ones are data, not names.
const MAX_TERM_BYTES: usize = 80;

/// Extensions that make `name.ext` one term of its own.
const FILE_EXTENSIONS: &[&str] = &[
    "c", "cc", "cmake", "cpp", "cu", "cuh", "cxx", "h", "hh", "hip", "hpp", "hxx", "inl", "ipp", "json",
    "md", "py", "rst", "sh", "tex", "toml", "tpp", "txt", "yaml", "yml",
];

/// Words that say nothing about what a text is about.
const STOP_WORDS: &[&str] = &[
    "a", "about", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "did", "do",
    "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "me",
    "my", "of", "on", "or", "our", "should", "so", "some", "such", "than", "that", "the", "their", "them",
    "then", "there", "these", "they", "this", "those", "to", "was", "we", "were", "what", "when", "where",
    "which", "who", "why", "will", "with", "would", "you", "your",
];

/// Whether a lower-case word is left out of prose and questions.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Words of `text` as written: identifiers with their place. `::` separates them.
pub fn words(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, character) in text.char_indices() {
        let inside = character.is_alphanumeric() || character == '_';
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    if let Some(from) = start {
        found.push(from..text.len());
    }
    found
}

/// Parts of an identifier: `FFTPeriodicSolver_2d` gives `FFT`, `Periodic`, `Solver`, `2`, `d`.
pub fn identifier_parts(identifier: &str) -> Vec<&str> {
    let characters: Vec<(usize, char)> = identifier.char_indices().collect();
    let mut parts = Vec::new();
    let mut start = 0;
    for (index, &(at, character)) in characters.iter().enumerate() {
        let previous = index.checked_sub(1).map(|before| characters[before].1);
        let next = characters.get(index + 1).map(|&(_, next)| next);
        let Some(previous) = previous else { continue };
        let boundary = (character == '_') != (previous == '_')
            || previous.is_lowercase() && character.is_uppercase()
            || previous.is_alphabetic() && character.is_numeric()
            || previous.is_numeric() && character.is_alphabetic()
            || previous.is_uppercase() && character.is_uppercase() && next.is_some_and(char::is_lowercase);
        if boundary {
            parts.push(&identifier[start..at]);
            start = at;
        }
    }
    parts.push(&identifier[start..]);
    parts.retain(|part| !part.is_empty() && !part.starts_with('_'));
    parts
}

/// Splits text into terms, before stemming.
#[derive(Clone, Default)]
pub(crate) struct CodeTokenizer;

/// Terms of one text.
pub(crate) struct CodeTokens {
    tokens: std::vec::IntoIter<Token>,
    current: Token,
}

impl Tokenizer for CodeTokenizer {
    type TokenStream<'a> = CodeTokens;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> CodeTokens {
        CodeTokens { tokens: split(text).into_iter(), current: Token::default() }
    }
}

impl TokenStream for CodeTokens {
    fn advance(&mut self) -> bool {
        match self.tokens.next() {
            Some(token) => {
                self.current = token;
                true
            }
            None => false,
        }
    }

    fn token(&self) -> &Token {
        &self.current
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.current
    }
}

fn split(text: &str) -> Vec<Token> {
    let words = words(text);
    let mut tokens = Vec::with_capacity(words.len() * 2);
    let mut push = |position: usize, range: Range<usize>, term: String| {
        // One letter is an index or a template parameter; it tells nothing.
        if term.chars().nth(1).is_some() && term.len() <= MAX_TERM_BYTES {
            tokens.push(Token {
                offset_from: range.start,
                offset_to: range.end,
                position,
                text: term,
                position_length: 1,
            });
        }
    };
    for (position, word) in words.iter().enumerate() {
        let written = &text[word.clone()];
        if let Some(standard) = language_standard(text, word, written) {
            let range = word.start..word.end + standard.len() - 1;
            push(position, word.clone(), "c++".to_owned());
            push(position, range, standard);
            continue;
        }
        push(position, word.clone(), written.trim_matches('_').to_lowercase());
        let parts = identifier_parts(written);
        if parts.len() > 1 {
            for part in parts {
                let part = part.to_lowercase();
                // `CMAKE_CXX_STANDARD` is about C++.
                let part = if part == "cxx" { "c++".to_owned() } else { part };
                push(position, word.clone(), part);
            }
        }
        if let Some(next) = words.get(position + 1) {
            let between = &text[word.end..next.start];
            let following = &text[next.clone()];
            if between == "::" {
                let joined = format!("{written}::{following}").to_lowercase();
                push(position, word.start..next.end, joined);
            } else if between == "." && FILE_EXTENSIONS.contains(&following) {
                let joined = format!("{written}.{following}").to_lowercase();
                push(position, word.start..next.end, joined);
            }
        }
    }
    tokens
}

/// `c++20` for the `C` of `C++20`, `c++` without a number.
fn language_standard(text: &str, word: &Range<usize>, written: &str) -> Option<String> {
    if !written.eq_ignore_ascii_case("c") {
        return None;
    }
    let rest = text[word.end..].strip_prefix("++")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).take(2).collect();
    Some(format!("c++{digits}"))
}

/// Name under which the analyzer of code is registered with tantivy.
pub(crate) const CODE_ANALYZER: &str = "almanac_code";
/// Name under which the analyzer of prose is registered with tantivy.
pub(crate) const PROSE_ANALYZER: &str = "almanac_prose";

/// Turns text into terms.
#[derive(Clone)]
pub struct Analyzer {
    code: TextAnalyzer,
    prose: TextAnalyzer,
}

impl Default for Analyzer {
    fn default() -> Self {
        let stop_words = StopWordFilter::remove(STOP_WORDS.iter().map(|&word| word.to_owned()));
        let stemmer = || Stemmer::new(Language::English);
        Self {
            code: TextAnalyzer::builder(CodeTokenizer).filter(stemmer()).build(),
            prose: TextAnalyzer::builder(CodeTokenizer).filter(stop_words).filter(stemmer()).build(),
        }
    }
}

impl Analyzer {
    pub(crate) fn register(&self, tokenizers: &TokenizerManager) {
        tokenizers.register(CODE_ANALYZER, self.code.clone());
        tokenizers.register(PROSE_ANALYZER, self.prose.clone());
    }

    /// Terms of `text` as indexed for code, in order, stop words kept.
    pub fn code_terms(&self, text: &str) -> Vec<String> {
        terms(&self.code, text)
    }

    /// Terms of `text` as indexed for prose: without stop words.
    pub fn prose_terms(&self, text: &str) -> Vec<String> {
        terms(&self.prose, text)
    }

    /// Terms of each line, as [`Analyzer::prose_terms`] gives them.
    pub fn prose_terms_of_lines(&self, lines: &[&str]) -> Vec<Vec<String>> {
        let mut analyzer = self.prose.clone();
        lines.iter().map(|line| take(&mut analyzer, line)).collect()
    }
}

fn terms(analyzer: &TextAnalyzer, text: &str) -> Vec<String> {
    take(&mut analyzer.clone(), text)
}

fn take(analyzer: &mut TextAnalyzer, text: &str) -> Vec<String> {
    let mut stream = analyzer.token_stream(text);
    let mut terms = Vec::new();
    while stream.advance() {
        terms.push(stream.token().text.clone());
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted_for_binary_search() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("the") && is_stop_word("where") && !is_stop_word("solver"));
    }

    #[test]
    fn identifiers_split_by_case_underscore_and_digits() {
        assert_eq!(identifier_parts("FFTPeriodicPoissonSolver"), ["FFT", "Periodic", "Poisson", "Solver"]);
        assert_eq!(identifier_parts("second_order_abc"), ["second", "order", "abc"]);
        assert_eq!(identifier_parts("__float32_t_"), ["float", "32", "t"]);
        assert_eq!(identifier_parts("x"), ["x"]);
        assert_eq!(identifier_parts("___"), Vec::<&str>::new());
    }

    #[test]
    fn code_keeps_the_whole_identifier_its_parts_and_its_scope() {
        let terms = Analyzer::default().code_terms("Kokkos::parallel_for(\"HaloCells\", x)");
        for expected in ["kokko", "kokkos::parallel_for", "parallel_for", "parallel", "halocel"] {
            let stemmed = terms.iter().any(|term| term.starts_with(expected));
            assert!(stemmed, "{expected} not in {terms:?}");
        }
        assert!(!terms.contains(&"x".to_owned()));
    }

    #[test]
    fn standards_and_file_names_are_terms() {
        let analyzer = Analyzer::default();
        let terms = analyzer.code_terms("needs C++20, see PCG.h");
        assert!(terms.contains(&"c++20".to_owned()), "{terms:?}");
        assert!(terms.contains(&"pcg.h".to_owned()), "{terms:?}");
    }

    #[test]
    fn words_of_a_question_meet_words_of_code() {
        let analyzer = Analyzer::default();
        let code = analyzer.code_terms("void applyBoundaryConditions(Particle& particle);");
        for term in analyzer.prose_terms("Where are the boundary conditions of particles applied?") {
            assert!(code.contains(&term), "{term} not in {code:?}");
        }
    }

    #[test]
    fn text_beyond_ascii_does_not_break_the_split() {
        let terms = Analyzer::default().code_terms("Überlagerung → naïve größe_m ∇φ");
        assert!(terms.iter().any(|term| term.starts_with("überlager")), "{terms:?}");
    }
}
