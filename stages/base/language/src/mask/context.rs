//! What the braces around a token hold: declarations, enumerators or statements.

use crate::lexer::{Token, TokenKind};
use crate::macros::is_capitals;

/// Tokens of a template head that is looked through.
const LONGEST_HEAD: usize = 2000;

/// What stands between two braces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// Declarations of a namespace, the top of a file included.
    Namespace,
    /// Members.
    Class,
    /// Enumerators.
    Enum,
    /// Statements, and whatever else stands in braces.
    Body,
}

/// A brace that the grammar sees.
#[derive(Debug)]
struct Brace {
    context: Context,
    /// Parentheses open around it.
    parens: usize,
    /// Braces that close it: more than one where a macro opens several namespaces.
    closes: usize,
}

/// The braces open at a token.
#[derive(Debug, Default)]
pub(super) struct Contexts {
    open: Vec<Brace>,
    /// Parentheses open since the last brace.
    parens: usize,
    /// First token of the declaration or statement being read, template head left out.
    head: usize,
    /// The same, template head included.
    start: usize,
}

impl Contexts {
    /// Innermost context.
    pub(super) fn now(&self) -> Context {
        self.open.last().map_or(Context::Namespace, |brace| brace.context)
    }

    /// Whether declarations stand here, outside parentheses.
    pub(super) fn declares(&self) -> bool {
        self.parens == 0 && matches!(self.now(), Context::Namespace | Context::Class)
    }

    /// Whether declarations stand here, inside one parenthesis.
    pub(super) fn declares_in_parens(&self) -> bool {
        self.parens == 1 && matches!(self.now(), Context::Namespace | Context::Class)
    }

    /// First token of the declaration or statement being read.
    pub(super) fn head(&self) -> usize {
        self.head
    }

    /// The same, template head included.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// Whether a declaration or statement begins at this token.
    pub(super) fn begins(&self, at: usize) -> bool {
        self.head == at && self.parens == 0
    }

    /// Whether the parenthesis at this token begins a declaration.
    pub(super) fn begins_in_parens(&self, at: usize) -> bool {
        self.head == at && self.parens == 1
    }

    /// Whether parentheses are open.
    pub(super) fn in_parens(&self) -> bool {
        self.parens > 0
    }

    /// What was overwritten begins nothing: the declaration begins after it.
    pub(super) fn skip(&mut self, first: usize, last: usize) {
        if self.start == first {
            self.start = last + 1;
        }
        if self.head == first {
            self.head = last + 1;
        }
    }

    /// A declaration or statement begins at this token.
    pub(super) fn begin(&mut self, at: usize) {
        self.head = at;
        self.start = at;
    }

    /// Enters namespaces that the macro ending at this token opens with one brace for the grammar.
    pub(super) fn open_namespaces(&mut self, count: usize, at: usize) {
        self.push(Context::Namespace, at);
        if let Some(brace) = self.open.last_mut() {
            brace.closes = count;
        }
    }

    /// Leaves what a macro ending at this token closes; gives the braces the grammar must see.
    pub(super) fn close_namespaces(&mut self, count: usize, at: usize) -> usize {
        let mut seen = 0;
        for _ in 0..count {
            if !self.leave_brace(at) && !self.open.is_empty() {
                self.close(at);
                seen += 1;
            }
        }
        self.begin(at + 1);
        seen
    }

    /// Whether the brace that closes here is one of several that stand for one.
    pub(super) fn leave_brace(&mut self, at: usize) -> bool {
        let Some(brace) = self.open.last_mut().filter(|brace| brace.closes > 1) else { return false };
        brace.closes -= 1;
        self.begin(at + 1);
        true
    }

    pub(super) fn punctuation(&mut self, source: &[u8], tokens: &[Token], at: usize) {
        match source[tokens[at].start] {
            b'(' => self.parens += 1,
            b')' => self.parens = self.parens.saturating_sub(1),
            b';' if self.parens == 0 => self.begin(at + 1),
            b':' if self.parens == 0 && at > 0 && self.is_label(source, tokens, at) => self.begin(at + 1),
            b'{' => {
                let context = self.classify(source, tokens, at);
                self.push(context, at);
            }
            b'}' => self.close(at),
            b'>' if self.ends_template_head(source, tokens, at) => self.head = at + 1,
            _ => {}
        }
    }

    fn push(&mut self, context: Context, at: usize) {
        self.open.push(Brace { context, parens: self.parens, closes: 1 });
        self.parens = 0;
        self.begin(at + 1);
    }

    fn close(&mut self, at: usize) {
        self.parens = self.open.pop().map_or(0, |brace| brace.parens);
        self.begin(at + 1);
    }

    /// `public:`, `case x:`, `label:`.
    fn is_label(&self, source: &[u8], tokens: &[Token], at: usize) -> bool {
        let text = |at: usize| tokens.get(at).map_or(&b""[..], |token| &source[token.start..token.end]);
        let is_scope = text(at + 1) == b":" || text(at - 1) == b":";
        let first = text(self.head);
        let access =
            matches!(first, b"public" | b"private" | b"protected" | b"signals" | b"default" | b"case");
        !is_scope && (access || (self.now() == Context::Body && at == self.head + 1))
    }

    /// The `>` after `template <...`: what follows begins like a declaration.
    fn ends_template_head(&self, source: &[u8], tokens: &[Token], at: usize) -> bool {
        let text = |at: usize| tokens.get(at).map_or(&b""[..], |token| &source[token.start..token.end]);
        if text(self.head) != b"template" || text(self.head + 1) != b"<" || at > self.head + LONGEST_HEAD {
            return false;
        }
        let mut depth = 0usize;
        let mut parens = 0usize;
        for index in self.head + 1..=at {
            match text(index) {
                b"(" => parens += 1,
                b")" => parens = parens.saturating_sub(1),
                b"<" if parens == 0 => depth += 1,
                b">" if parens == 0 => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        depth == 0
    }

    fn classify(&self, source: &[u8], tokens: &[Token], at: usize) -> Context {
        let text = |at: usize| &source[tokens[at].start..tokens[at].end];
        if self.parens > 0 {
            return Context::Body;
        }
        let mut depth = 0usize;
        let mut record = false;
        for index in self.head..at {
            let token = text(index);
            match token {
                b"(" | b"<" => {
                    let attribute = || {
                        let before = index.checked_sub(1).map(text).unwrap_or_default();
                        matches!(before, b"alignas" | b"__attribute__" | b"__declspec" | b"decltype")
                            || str::from_utf8(before).is_ok_and(is_capitals)
                    };
                    // A parameter list after `struct S f`: a function that gives one back.
                    if token == b"("
                        && depth == 0
                        && !attribute()
                        && !record_has_bases(source, tokens, self.head, index)
                    {
                        return Context::Body;
                    }
                    depth += 1;
                }
                b")" | b">" => depth = depth.saturating_sub(1),
                _ if depth > 0 || tokens[index].kind == TokenKind::Number => {}
                b"namespace" => return Context::Namespace,
                b"extern" if tokens.get(index + 1).is_some_and(|token| token.kind == TokenKind::Literal) => {
                    return Context::Namespace;
                }
                b"enum" => return Context::Enum,
                b"class" | b"struct" | b"union" => record = true,
                b"=" | b"operator" => return Context::Body,
                _ => {}
            }
        }
        if record { Context::Class } else { Context::Body }
    }
}

/// Whether a `:` that is no `::` stands in a head: what follows are bases, with any parentheses.
fn record_has_bases(source: &[u8], tokens: &[Token], from: usize, to: usize) -> bool {
    let is_colon = |at: usize| source.get(tokens[at].start) == Some(&b':');
    (from..to).any(|at| {
        is_colon(at) && !(at > from && is_colon(at - 1)) && !(at + 1 < tokens.len() && is_colon(at + 1))
    })
}
