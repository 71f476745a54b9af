//! Overwrites what a grammar cannot read, byte for byte.
//!
//! The result has the length and the line breaks of the source, so that every offset of its tree
//! is an offset of the file. Comments and strings are left alone; directives and the branches that
//! are not read in this round are overwritten whole.

mod context;
mod declarators;
mod names;
mod namespaces;
mod syntax;

use std::collections::BTreeSet;

use crate::branches::Branches;
use crate::lexer::{Token, TokenKind};
use crate::mask::context::Contexts;
use crate::scan::Scan;
use crate::{Opened, TreeMacros};

/// Built-in types, which no macro and no name may be.
pub(crate) const BUILTINS: &[&str] = &[
    "bool", "char", "char8_t", "char16_t", "char32_t", "double", "float", "int", "long", "short", "signed",
    "unsigned", "void", "wchar_t",
];

/// A source as the grammar sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Masked {
    /// The bytes that the grammar sees, as many as in the source.
    pub bytes: Vec<u8>,
    /// The source without directives, branches not read, annotations and generating calls: what
    /// people would call its text.
    pub text: Vec<u8>,
    /// First byte of the argument list of every `kernel<<<...>>>(...)`.
    pub launches: Vec<usize>,
    /// Ranges of macro calls that stand for declarations and were overwritten.
    pub declarations: Vec<(usize, usize)>,
    /// Ranges of macros that annotate what follows or precedes them.
    pub annotations: Vec<(usize, usize)>,
    /// First byte of each block that a macro opens, in order, and what its braces open.
    pub opened: Vec<(usize, Vec<Opened>)>,
    /// First byte of each explicit instantiation, the words before its declaration left out.
    pub instantiations: Vec<usize>,
    /// Ranges without code, in order: comments, directives, branches not read.
    pub(crate) hidden: Vec<(usize, usize)>,
}

impl Masked {
    /// The source as it is.
    pub(crate) fn plain(source: &[u8]) -> Self {
        Self { bytes: source.to_vec(), text: source.to_vec(), ..Self::default() }
    }
}

/// Ranges that are hidden from the grammar; each costs it a little with every token.
const HIDDEN: usize = 300;
/// Bytes below which hiding a range is not worth it.
const SHORTEST_HIDDEN: usize = 16;

impl Masked {
    /// Hides what holds no code. A space stays in its place, so that what stands around it is not
    /// read as one word.
    fn hide(&mut self, scan: &Scan, dropped: &[(usize, usize)]) {
        let mut ranges: Vec<(usize, usize)> = scan.comments.clone();
        ranges.extend(scan.directives.iter().map(|directive| (directive.start, directive.end)));
        ranges.extend_from_slice(dropped);
        ranges.sort_unstable();
        ranges.dedup_by(|next, range| {
            let meets = next.0 <= range.1;
            if meets {
                range.1 = range.1.max(next.1);
            }
            meets
        });
        ranges.retain(|(start, end)| end - start >= SHORTEST_HIDDEN);
        if ranges.len() > HIDDEN {
            let mut lengths: Vec<usize> = ranges.iter().map(|(start, end)| end - start).collect();
            lengths.sort_unstable_by(|a, b| b.cmp(a));
            let least = lengths[HIDDEN];
            ranges.retain(|(start, end)| end - start > least);
        }
        for (start, _) in &mut ranges {
            self.bytes[*start] = b' ';
            *start += 1;
        }
        self.hidden = ranges;
    }

    fn drop_range(&mut self, start: usize, end: usize) {
        overwrite(&mut self.bytes, start, end);
        overwrite(&mut self.text, start, end);
    }
}

/// Masks `source` for one round of its branches. Names in `learned` are overwritten like annotations.
pub(crate) fn mask(
    source: &[u8],
    scan: &Scan,
    branches: &Branches,
    round: usize,
    macros: &TreeMacros,
    learned: &BTreeSet<String>,
) -> Masked {
    let mut out = Masked::plain(source);
    for directive in &scan.directives {
        out.drop_range(directive.start, directive.end);
    }
    let dropped = branches.dropped(round);
    for (start, end) in &dropped {
        out.drop_range(*start, *end);
    }
    let tokens = if dropped.is_empty() { scan.code.clone() } else { without(&scan.code, &dropped) };
    let mut masker = Masker { source, tokens, macros, learned, out, contexts: Contexts::default() };
    let mut at = 0;
    while at < masker.tokens.len() {
        at = masker.visit(at).max(at + 1);
    }
    let mut out = masker.out;
    out.hide(scan, &dropped);
    out
}

/// Spaces over a range, line breaks kept.
fn overwrite(bytes: &mut [u8], start: usize, end: usize) {
    for byte in &mut bytes[start..end] {
        if *byte != b'\n' && *byte != b'\r' {
            *byte = b' ';
        }
    }
}

pub(crate) fn without(tokens: &[Token], dropped: &[(usize, usize)]) -> Vec<Token> {
    let mut next = 0;
    let mut end = 0;
    let is_kept = |token: &&Token| {
        while dropped.get(next).is_some_and(|(start, _)| *start <= token.start) {
            end = end.max(dropped[next].1);
            next += 1;
        }
        token.start >= end
    };
    tokens.iter().filter(is_kept).copied().collect()
}

struct Masker<'a> {
    source: &'a [u8],
    tokens: Vec<Token>,
    macros: &'a TreeMacros,
    learned: &'a BTreeSet<String>,
    out: Masked,
    contexts: Contexts,
}

impl<'a> Masker<'a> {
    /// Looks at one token; returns the index to go on with.
    fn visit(&mut self, at: usize) -> usize {
        match self.tokens[at].kind {
            TokenKind::Word => self.word(at),
            TokenKind::Punctuation => {
                if self.is(at, "}") && self.contexts.leave_brace(at) {
                    self.blank(at, at);
                    return at + 1;
                }
                self.contexts.punctuation(self.source, &self.tokens, at);
                self.punctuation(at)
            }
            _ => at + 1,
        }
    }

    fn bytes(&self, at: usize) -> &'a [u8] {
        self.tokens.get(at).map_or(b"", |token| &self.source[token.start..token.end])
    }

    fn text(&self, at: usize) -> &'a str {
        str::from_utf8(self.bytes(at)).unwrap_or("")
    }

    fn is(&self, at: usize, text: &str) -> bool {
        self.bytes(at) == text.as_bytes()
    }

    fn kind(&self, at: usize) -> Option<TokenKind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    fn is_word(&self, at: usize) -> bool {
        self.kind(at) == Some(TokenKind::Word)
    }

    fn previous(&self, at: usize) -> &'a [u8] {
        at.checked_sub(1).map_or(b"", |before| self.bytes(before))
    }

    /// Whether token `at` follows the one before it without space.
    fn is_adjacent(&self, at: usize) -> bool {
        at > 0 && self.tokens[at - 1].end == self.tokens[at].start
    }

    /// Whether two punctuation tokens from `at` on are this pair.
    fn is_pair(&self, at: usize, pair: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| self.source[token.start..].starts_with(pair.as_bytes()))
    }

    /// Index of the bracket that closes the one at `open`; `None` when there is none.
    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0usize;
        for at in open..self.tokens.len() {
            if self.tokens[at].kind != TokenKind::Punctuation {
                continue;
            }
            match self.source[self.tokens[at].start] {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Index of the last token of a name with its arguments, if any follow.
    fn call_end(&self, at: usize) -> usize {
        if self.is(at + 1, "(") { self.closing(at + 1).unwrap_or(at) } else { at }
    }

    fn put(&mut self, start: usize, end: usize, text: &str) {
        overwrite(&mut self.out.bytes, start, end);
        self.out.bytes[start..start + text.len()].copy_from_slice(text.as_bytes());
    }

    fn blank(&mut self, first: usize, last: usize) {
        overwrite(&mut self.out.bytes, self.tokens[first].start, self.tokens[last].end);
    }

    /// Overwrites tokens in the text, too.
    fn drop_tokens(&mut self, first: usize, last: usize) {
        self.out.drop_range(self.tokens[first].start, self.tokens[last].end);
    }

    /// Overwrites a macro that says something about the declaration beside it.
    fn annotate(&mut self, first: usize, last: usize) {
        self.drop_tokens(first, last);
        self.out.annotations.push((self.tokens[first].start, self.tokens[last].end));
        self.contexts.skip(first, last);
    }
}

#[cfg(test)]
mod tests;
