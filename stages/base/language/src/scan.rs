//! C-family text split into code, comments and directives, once for all that ask.

use crate::lexer::{Lexer, Token, TokenKind};

/// What a directive does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DirectiveKind {
    /// `#if`, `#ifdef`, `#ifndef`.
    If,
    /// `#elif` and its kin, `#else`.
    Else,
    /// `#endif`.
    Endif,
    /// `#define`.
    Define,
    /// `#include`, `#import`.
    Include,
    /// Every other.
    Other,
}

/// A directive line with its continuation lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Directive {
    pub(crate) kind: DirectiveKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Number of code tokens before it.
    pub(crate) code_before: usize,
}

/// The tokens of a text by what they are.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// Words, numbers, literals and punctuation.
    pub(crate) code: Vec<Token>,
    /// Byte ranges of comments.
    pub(crate) comments: Vec<(usize, usize)>,
    pub(crate) directives: Vec<Directive>,
}

impl Scan {
    pub(crate) fn of(source: &[u8]) -> Self {
        let mut scan = Self::default();
        for token in Lexer::new(source) {
            match token.kind {
                TokenKind::Space => {}
                TokenKind::Comment => scan.comments.push((token.start, token.end)),
                TokenKind::Preprocessor => scan.directives.push(Directive {
                    kind: kind_of(&source[token.start..token.end]),
                    start: token.start,
                    end: token.end,
                    code_before: scan.code.len(),
                }),
                _ => scan.code.push(token),
            }
        }
        scan
    }
}

/// The word after `#` and what follows it.
pub(crate) fn directive_parts(line: &[u8]) -> (&[u8], &[u8]) {
    let line = line.strip_prefix(b"#").unwrap_or(line).trim_ascii_start();
    let length = line.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(line.len());
    line.split_at(length)
}

fn kind_of(line: &[u8]) -> DirectiveKind {
    match directive_parts(line).0 {
        b"if" | b"ifdef" | b"ifndef" => DirectiveKind::If,
        b"else" | b"elif" | b"elifdef" | b"elifndef" => DirectiveKind::Else,
        b"endif" => DirectiveKind::Endif,
        b"define" => DirectiveKind::Define,
        b"include" | b"import" | b"include_next" => DirectiveKind::Include,
        _ => DirectiveKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_know_where_they_stand() {
        let scan =
            Scan::of(b"#  ifdef A // why\nint x;\n#elif B\n#endif\n# define C(x) \\\n x\n#pragma once\n");
        let found: Vec<_> = scan.directives.iter().map(|one| (one.kind, one.code_before)).collect();
        use DirectiveKind::*;
        assert_eq!(found, [(If, 0), (Else, 3), (Endif, 3), (Define, 3), (Other, 3)]);
        assert_eq!(scan.code.len(), 3);
    }
}
