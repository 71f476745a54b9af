//! Where the `#include`s of a file stand: at its top level, or inside namespaces and classes.

use crate::branches::Branches;
use crate::defines::{Define, defines_of};
use crate::lexer::{Token, TokenKind};
use crate::mask::without;
use crate::scan::{DirectiveKind, Scan};
use crate::{MacroAction, Opened, TreeMacros};

/// What the directives of a text say.
#[derive(Debug, Clone, Default)]
pub struct Directives {
    /// Macros defined, in order.
    pub defines: Vec<Define>,
    /// Paths included, in order, as written.
    pub includes: Vec<String>,
    /// Whether code stands before an include, which may be inside something then.
    pub may_enclose: bool,
}

/// A namespace or class around an include.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScopePart {
    /// Name.
    pub name: String,
    /// Whether it is a class, struct or union.
    pub is_class: bool,
}

/// An include and what it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnclosedInclude {
    /// Path as written.
    pub path: String,
    /// Namespaces and classes around it, outermost first; `None` inside anything else.
    pub scope: Option<Vec<ScopePart>>,
}

/// Reads the directives of a text.
pub fn directives(text: &str) -> Directives {
    let scan = Scan::of(text.as_bytes());
    let included = || scan.directives.iter().filter(|one| one.kind == DirectiveKind::Include);
    let includes = included().filter_map(|one| included_path(&text[one.start..one.end])).collect();
    let may_enclose = included().any(|one| one.code_before > 0);
    Directives { defines: defines_of(text, &scan), includes, may_enclose }
}

/// The includes of a text with what they stand in; those in branches that are read apart, and not
/// first, are left out.
pub fn enclosed_includes(text: &str, macros: &TreeMacros) -> Vec<EnclosedInclude> {
    let scan = Scan::of(text.as_bytes());
    let dropped = Branches::of(text.as_bytes(), &scan).dropped(0);
    let is_dropped = |at: usize| dropped.iter().any(|(start, end)| (*start..*end).contains(&at));
    let tokens = without(&scan.code, &dropped);
    let mut walk = Walk { text, tokens: &tokens, macros, open: Vec::new(), head: 0, parens: 0 };
    let mut found = Vec::new();
    let mut at = 0;
    for directive in scan.directives.iter().filter(|one| one.kind == DirectiveKind::Include) {
        if is_dropped(directive.start) {
            continue;
        }
        while at < tokens.len() && tokens[at].start < directive.start {
            at = walk.pass(at);
        }
        if let Some(path) = included_path(&text[directive.start..directive.end]) {
            found.push(EnclosedInclude { path, scope: walk.scope() });
        }
    }
    found
}

/// The path between quotes or angle brackets.
fn included_path(line: &str) -> Option<String> {
    let open = line.find(['"', '<'])?;
    let close = if line[open..].starts_with('<') { '>' } else { '"' };
    let length = line[open + 1..].find(close)?;
    let path = line[open + 1..open + 1 + length].trim();
    (!path.is_empty()).then(|| path.to_owned())
}

/// What a brace opens.
enum Brace {
    Scope(Vec<ScopePart>),
    Other,
}

struct Walk<'a> {
    text: &'a str,
    tokens: &'a [Token],
    macros: &'a TreeMacros,
    open: Vec<Brace>,
    /// First token of the declaration being read.
    head: usize,
    parens: usize,
}

impl<'a> Walk<'a> {
    fn scope(&self) -> Option<Vec<ScopePart>> {
        let mut all = Vec::new();
        for brace in &self.open {
            match brace {
                Brace::Scope(parts) => all.extend_from_slice(parts),
                Brace::Other => return None,
            }
        }
        (self.parens == 0).then_some(all)
    }

    fn word(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| &self.text[token.start..token.end])
    }

    fn is_name(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Word)
    }

    /// Goes past a token, or past the call of a macro; gives the one after it.
    fn pass(&mut self, at: usize) -> usize {
        match self.word(at) {
            "(" => self.parens += 1,
            ")" => self.parens = self.parens.saturating_sub(1),
            ";" if self.parens == 0 => self.head = at + 1,
            ":" if at > 0 && matches!(self.word(at - 1), "public" | "private" | "protected") => {
                self.head = at + 1;
            }
            "{" => {
                let brace = self.opened(at);
                self.open.push(brace);
                self.head = at + 1;
            }
            "}" => {
                self.open.pop();
                self.head = at + 1;
            }
            word if self.head == at && self.is_name(at) => return self.macro_at(at, word),
            _ => {}
        }
        at + 1
    }

    fn macro_at(&mut self, at: usize, name: &str) -> usize {
        let (action, end) = match self.macros.action(name) {
            Some(MacroAction::ScopeCall) => {
                let end = self.call_end(at);
                let arguments = (end > at + 2).then(|| {
                    let (open, close) = (self.tokens[at + 1].end, self.tokens[end - 1].start);
                    &self.text[open..close]
                });
                (arguments.and_then(|arguments| self.macros.scope_of_call(name, arguments)), end)
            }
            Some(MacroAction::Blank) => (Some(MacroAction::Blank), at + 1),
            Some(action) if action.is_scope() => (Some(action.clone()), at + 1),
            _ => return at + 1,
        };
        match action {
            Some(MacroAction::Open(opened)) => {
                self.open.extend(opened.into_iter().map(|one| Brace::Scope(parts_of(one))));
            }
            Some(MacroAction::Close(count)) => self.open.truncate(self.open.len().saturating_sub(count)),
            Some(_) => {}
            None => return at + 1,
        }
        self.head = end;
        end
    }

    /// Token after a name and its arguments.
    fn call_end(&self, at: usize) -> usize {
        let mut depth = 0usize;
        for end in at + 1..self.tokens.len() {
            match self.word(end) {
                "(" => depth += 1,
                ")" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return end + 1;
                    }
                }
                _ if depth == 0 => break,
                _ => {}
            }
        }
        at + 1
    }

    /// What the brace at a token opens, told by the declaration before it.
    fn opened(&self, at: usize) -> Brace {
        if self.parens > 0 {
            return Brace::Other;
        }
        let mut angles = 0usize;
        for index in self.head..at {
            match self.word(index) {
                "<" => angles += 1,
                ">" => angles = angles.saturating_sub(1),
                _ if angles > 0 => {}
                "namespace" => return Brace::Scope(self.namespace(index, at)),
                "extern" if self.tokens.get(index + 1).is_some_and(|one| one.kind == TokenKind::Literal) => {
                    return Brace::Scope(Vec::new());
                }
                "enum" | "=" => return Brace::Other,
                "class" | "struct" | "union" => return self.class(index, at),
                _ => {}
            }
        }
        Brace::Other
    }

    fn namespace(&self, keyword: usize, brace: usize) -> Vec<ScopePart> {
        let first = self.tokens[keyword].end;
        let written = &self.text[first..self.tokens[brace].start];
        let part = |name: String| ScopePart { name, is_class: false };
        self.macros.namespace_names(written).into_iter().map(part).collect()
    }

    fn class(&self, keyword: usize, brace: usize) -> Brace {
        let is_end = |at: &usize| matches!(self.word(*at), "<" | ":" | "{");
        let Some(end) = (keyword + 1..=brace).find(is_end) else { return Brace::Other };
        let name = (keyword + 1..end).rev().find(|at| self.is_name(*at) && self.word(*at) != "final");
        // A function that gives back a `struct S`.
        let is_function = end == brace && (keyword + 1..end).any(|at| self.word(at) == "(");
        match name.filter(|_| !is_function) {
            Some(name) => Brace::Scope(vec![ScopePart { name: self.word(name).to_owned(), is_class: true }]),
            None => Brace::Other,
        }
    }
}

fn parts_of(opened: Opened) -> Vec<ScopePart> {
    match opened {
        Opened::Namespace(names) | Opened::Inline(names) => {
            names.into_iter().map(|name| ScopePart { name, is_class: false }).collect()
        }
        Opened::Linkage => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::defines;

    fn scopes(text: &str) -> Vec<String> {
        let shown = |one: EnclosedInclude| match one.scope {
            None => format!("{} in code", one.path),
            Some(parts) => {
                let names: Vec<String> = parts
                    .into_iter()
                    .map(|part| if part.is_class { format!("class {}", part.name) } else { part.name })
                    .collect();
                format!("{} in {}", one.path, names.join("::"))
            }
        };
        enclosed_includes(text, &TreeMacros::new(defines(text))).into_iter().map(shown).collect()
    }

    #[test]
    fn includes_know_the_namespaces_and_classes_around_them() {
        let text = "#include <top>\nnamespace a { extern \"C\" {\n#include \"in_a.h\"\n} void f();\n\
                    namespace b::c {\n#include \"in_c.h\"\n}\n}\n\
                    template <class T> class Box final : public Base<T> {\npublic:\n#include \"members.h\"\n};\n\
                    int table[] = {\n#include \"table.inc\"\n};\nvoid g() {\n#include \"body.inc\"\n}\n\
                    #include \"last.h\"\n";
        assert_eq!(
            scopes(text),
            [
                "top in ",
                "in_a.h in a",
                "in_c.h in a::b::c",
                "members.h in class Box",
                "table.inc in code",
                "body.inc in code",
                "last.h in "
            ]
        );
    }

    #[test]
    fn macros_open_and_close_around_includes() {
        let text = "#define BEGIN namespace lib { namespace part {\n#define END }}\nBEGIN\n#include \"x.h\"\nEND\n\
                    #include \"y.h\"\n";
        assert_eq!(scopes(text), ["x.h in lib::part", "y.h in "]);
    }
}
