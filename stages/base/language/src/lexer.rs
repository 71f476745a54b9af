//! A C++ lexer just good enough to tell code from comments, strings and directives.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Spaces and line breaks.
    Space,
    /// `// ...` or `/* ... */`.
    Comment,
    /// String or character literal, raw strings included, prefix included.
    Literal,
    /// Number.
    Number,
    /// Identifier or keyword.
    Word,
    /// A directive with its continuation lines.
    Preprocessor,
    /// One punctuation byte.
    Punctuation,
}

/// A token as a byte range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: TokenKind,
    /// First byte.
    pub(crate) start: usize,
    /// Byte past the end.
    pub(crate) end: usize,
}

/// Splits source bytes into tokens that cover them without gaps.
pub(crate) struct Lexer<'a> {
    source: &'a [u8],
    at: usize,
    line_begins: bool,
    /// Whether `#` may begin a directive.
    directives: bool,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(source: &'a [u8]) -> Self {
        Self { source, at: 0, line_begins: true, directives: true }
    }

    /// Inside a directive: `#` is punctuation.
    pub(crate) fn inside_directive(source: &'a [u8]) -> Self {
        Self { directives: false, ..Self::new(source) }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.source.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn line_end(&self, from: usize) -> usize {
        memchr::memchr(b'\n', &self.source[from..]).map_or(self.source.len(), |i| from + i)
    }

    /// End of a line, with those that follow a backslash.
    fn continued_line_end(&self, from: usize) -> usize {
        let mut start = from;
        let mut end = self.line_end(start);
        // Only the last line counts: an empty one after a backslash ends what the backslash continued.
        while end < self.source.len() && self.source[start..end].trim_ascii_end().last() == Some(&b'\\') {
            start = end + 1;
            end = self.line_end(start);
        }
        end
    }

    fn quoted_end(&self, open: usize, quote: u8) -> usize {
        let mut at = open + 1;
        while at < self.source.len() {
            match self.source[at] {
                b'\\' => at += 2,
                b'\n' => return at,
                byte if byte == quote => return at + 1,
                _ => at += 1,
            }
        }
        self.source.len()
    }

    fn raw_string_end(&self, open: usize) -> usize {
        let rest = &self.source[open + 1..];
        let Some(paren) = rest.iter().take(17).position(|byte| *byte == b'(') else {
            return self.quoted_end(open, b'"');
        };
        let mut close = vec![b')'];
        close.extend_from_slice(&rest[..paren]);
        close.push(b'"');
        memchr::memmem::find(&rest[paren..], &close)
            .map_or(self.source.len(), |i| open + 1 + paren + i + close.len())
    }

    /// End of a directive: comments inside it may span lines.
    fn preprocessor_end(&self) -> usize {
        let end = self.continued_line_end(self.at);
        let line = &self.source[self.at..end];
        match memchr::memmem::rfind(line, b"/*") {
            Some(open)
                if memchr::memmem::find(&line[open..], b"*/").is_none()
                    && memchr::memmem::find(&line[..open], b"//").is_none() =>
            {
                // The comment is a token of its own.
                self.at + open
            }
            _ => end,
        }
    }

    fn word_end(&self) -> usize {
        let rest = &self.source[self.at..];
        let length =
            rest.iter().position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80));
        self.at + length.unwrap_or(rest.len())
    }

    fn number_end(&self) -> usize {
        let mut at = self.at + 1;
        while at < self.source.len() {
            let byte = self.source[at];
            let exponent_sign =
                matches!(byte, b'+' | b'-') && matches!(self.source[at - 1], b'e' | b'E' | b'p' | b'P');
            let separator =
                byte == b'\'' && self.source.get(at + 1).is_some_and(|next| next.is_ascii_alphanumeric());
            if !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') || exponent_sign || separator) {
                break;
            }
            at += 1;
        }
        at
    }
}

/// Byte ranges of the comments of C-family source, in order.
pub fn comments(source: &str) -> Vec<(usize, usize)> {
    Lexer::new(source.as_bytes())
        .filter(|token| token.kind == TokenKind::Comment)
        .map(|token| (token.start, token.end))
        .collect()
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let start = self.at;
        let first = *self.source.get(start)?;
        let (kind, end) = match first {
            byte if byte.is_ascii_whitespace() || byte == 0x0B => {
                let rest = &self.source[start..];
                let length = rest.iter().position(|b| !(b.is_ascii_whitespace() || *b == 0x0B));
                (TokenKind::Space, start + length.unwrap_or(rest.len()))
            }
            b'/' if self.peek(1) == b'/' => (TokenKind::Comment, self.continued_line_end(start)),
            b'/' if self.peek(1) == b'*' => {
                let close = memchr::memmem::find(&self.source[start + 2..], b"*/");
                (TokenKind::Comment, close.map_or(self.source.len(), |i| start + i + 4))
            }
            b'#' if self.line_begins && self.directives => (TokenKind::Preprocessor, self.preprocessor_end()),
            b'"' => (TokenKind::Literal, self.quoted_end(start, b'"')),
            b'\'' => (TokenKind::Literal, self.quoted_end(start, b'\'')),
            b'0'..=b'9' => (TokenKind::Number, self.number_end()),
            byte if byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80 => {
                let end = self.word_end();
                let quote = self.source.get(end).copied().unwrap_or(0);
                match (&self.source[start..end], quote) {
                    (b"R" | b"LR" | b"uR" | b"UR" | b"u8R", b'"') => {
                        (TokenKind::Literal, self.raw_string_end(end))
                    }
                    (b"L" | b"u" | b"U" | b"u8", b'"' | b'\'') => {
                        (TokenKind::Literal, self.quoted_end(end, quote))
                    }
                    _ => (TokenKind::Word, end),
                }
            }
            _ => (TokenKind::Punctuation, start + 1),
        };
        let end = end.clamp(start + 1, self.source.len());
        self.line_begins = match kind {
            TokenKind::Space => self.line_begins || self.source[start..end].contains(&b'\n'),
            TokenKind::Comment => self.line_begins,
            _ => false,
        };
        self.at = end;
        Some(Token { kind, start, end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &[(TokenKind, &str)]) {
        let tokens: Vec<_> = Lexer::new(source.as_bytes())
            .filter(|token| token.kind != TokenKind::Space)
            .map(|token| (token.kind, &source[token.start..token.end]))
            .collect();
        assert_eq!(tokens, expected, "{source}");
    }

    #[test]
    fn comments_strings_and_directives_are_told_from_code() {
        use TokenKind::*;
        check(
            "a(\"x // y\", 'c'); // KOKKOS_LAMBDA\n",
            &[
                (Word, "a"),
                (Punctuation, "("),
                (Literal, "\"x // y\""),
                (Punctuation, ","),
                (Literal, "'c'"),
                (Punctuation, ")"),
                (Punctuation, ";"),
                (Comment, "// KOKKOS_LAMBDA"),
            ],
        );
        check("#define A(x) \\\n  x + 1\nb", &[(Preprocessor, "#define A(x) \\\n  x + 1"), (Word, "b")]);
        check("#define A x; \\\n\nb", &[(Preprocessor, "#define A x; \\\n"), (Word, "b")]);
        check(
            "R\"d(a)\" )d\"; 1'000'000u",
            &[(Literal, "R\"d(a)\" )d\""), (Punctuation, ";"), (Number, "1'000'000u")],
        );
        check(
            "#endif /* one\n two */ x",
            &[(Preprocessor, "#endif "), (Comment, "/* one\n two */"), (Word, "x")],
        );
        check("x # y", &[(Word, "x"), (Punctuation, "#"), (Word, "y")]);
    }

    #[test]
    fn tokens_cover_the_source() {
        let source = "int f(){return 'x';} /* open\n";
        let mut at = 0;
        for token in Lexer::new(source.as_bytes()) {
            assert_eq!(token.start, at);
            at = token.end;
        }
        assert_eq!(at, source.len());
    }
}
