//! What documents name: code spans, paths, qualified names, options and cross references.
//!
//! A name is written as it stands, with its markup, so that who resolves it knows how much it says.
//! Words of plain text are left out unless their form alone shows a name: `a::b`, `src/a.h`,
//! `TwoHumps`, `WITH_UNDERSCORE`, `call()`.

use almanac_tables::{EntityKind, ReferenceKind};

use crate::documents::lines_with_bytes;
use crate::rows::{Rows, Source};

/// Longest code span that is a name or path.
const LONGEST: usize = 200;

/// Farthest end of template arguments inside a qualified name.
const FARTHEST: usize = 120;

/// Farthest end of a marked span or a path, in bytes: a line may be a whole file.
const WINDOW: usize = 400;

/// Suffixes by which a name without folder is that of a file.
const SUFFIXES: &[&str] = &[
    "h", "hh", "hpp", "hxx", "c", "cc", "cpp", "cxx", "cu", "cuh", "hip", "ipp", "tpp", "inl", "in", "cmake",
    "txt", "md", "rst", "tex", "py", "sh", "slurm", "yml", "yaml", "toml", "json", "dat", "F90", "f90",
];

/// Doxygen commands before a name.
const COMMANDS: &[&str] = &["ref", "link", "c", "see", "sa", "copydoc", "copybrief"];

/// Environments of TeX whose content is code.
const VERBATIM: &[&str] = &["verbatim", "lstlisting", "code", "smallcode", "minted"];

/// TeX commands around a name.
const TEX: &[&str] = &["texttt", "code", "class", "verb", "lstinline"];

/// How a document marks names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Markup {
    Markdown,
    Restructured,
    Tex,
    /// Markdown with Doxygen's commands.
    Page,
    Plain,
}

/// A name or path, with its markup, at a byte.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mention {
    name: String,
    written: String,
    at: usize,
}

/// Adds a reference for everything a document names, to the section it stands in.
pub(super) fn read(source: &Source<'_>, markup: Markup, rows: &mut Rows) {
    let mut owners: Vec<usize> = (0..rows.entities.len()).collect();
    owners.retain(|&at| rows.entities[at].kind != EntityKind::Macro);
    owners.sort_by_key(|&at| rows.entities[at].start_byte);
    for mention in mentions(source.text, markup) {
        let byte = mention.at as u64;
        let after = owners.partition_point(|&at| rows.entities[at].start_byte <= byte);
        let owner = after.checked_sub(1).map(|at| owners[at]).filter(|&at| byte < rows.entities[at].end_byte);
        let reference = source.reference(ReferenceKind::Mention, &mention.name, &mention.written, mention.at);
        rows.refer(owner, reference);
    }
}

/// Options that a file of presets sets: quoted names in capitals.
pub(crate) fn read_presets(source: &Source<'_>, rows: &mut Rows) {
    let mut at = 0;
    for (nth, piece) in source.text.split('"').enumerate() {
        if nth % 2 == 1 && is_constant(piece) {
            let written = format!("\"{piece}\"");
            let owner = rows
                .entities
                .iter()
                .position(|entity| (entity.start_byte..entity.end_byte).contains(&(at as u64)));
            let reference = source.reference(ReferenceKind::Mention, piece, &written, at - 1);
            rows.refer(owner, reference);
        }
        at += piece.len() + 1;
    }
}

fn mentions(text: &str, markup: Markup) -> Vec<Mention> {
    let mut scan = Scan { found: Vec::new() };
    // What ends the code that the line is in.
    let mut fence: Option<String> = None;
    for (start, line) in lines_with_bytes(text) {
        let body = line.trim_start();
        let body = if markup == Markup::Page { body.trim_start_matches(['*', '/', '!', ' ']) } else { body };
        if markup == Markup::Tex && body.starts_with('%') {
            continue;
        }
        match &fence {
            Some(end) if body.starts_with(end.as_str()) => fence = None,
            Some(_) => scan.code(line, start),
            None => {
                fence = opened(body, markup);
                scan.line(line, start, markup);
            }
        }
    }
    scan.found
}

/// What ends the code that a line opens, if it opens some.
fn opened(body: &str, markup: Markup) -> Option<String> {
    let is_doxygen = markup == Markup::Page;
    if matches!(markup, Markup::Markdown | Markup::Page) {
        let mark = ["```", "~~~"].into_iter().find(|mark| body.starts_with(mark));
        // Code inside a line ends in it.
        if let Some(mark) = mark.filter(|mark| !body[mark.len()..].contains(*mark)) {
            return Some(mark.to_owned());
        }
    }
    let command = body.strip_prefix(['@', '\\']).filter(|_| is_doxygen);
    if let Some(name) =
        ["code", "verbatim"].into_iter().find(|name| command.is_some_and(|c| c.starts_with(name)))
    {
        return Some(format!("{}end{name}", &body[..1]));
    }
    let environment = body.strip_prefix("\\begin{").filter(|_| markup == Markup::Tex)?.split('}').next()?;
    VERBATIM.contains(&environment).then(|| format!("\\end{{{environment}}}"))
}

struct Scan {
    found: Vec<Mention>,
}

impl Scan {
    fn add(&mut self, name: &str, written: &str, at: usize) {
        self.found.push(Mention { name: name.to_owned(), written: written.to_owned(), at });
    }

    /// A line of prose.
    fn line(&mut self, line: &str, start: usize, markup: Markup) {
        let mut at = 0;
        while at < line.len() {
            let rest = window(&line[at..]);
            let span = match markup {
                Markup::Markdown | Markup::Page => backticks(rest).or_else(|| command(rest)),
                // One backtick alone is a link or a title.
                Markup::Restructured => {
                    role(rest).or_else(|| backticks(rest).filter(|_| rest.starts_with("``")))
                }
                Markup::Tex => tex(rest),
                Markup::Plain => None,
            };
            if let Some(span) = span {
                self.span(&span, rest, start + at);
                at += span.length;
            } else {
                at += self.word(line, at, start, false);
            }
        }
    }

    /// A line of code: what shows by itself that it is a name of this tree.
    fn code(&mut self, line: &str, start: usize) {
        let mut at = 0;
        while at < line.len() {
            at += self.word(line, at, start, true);
        }
    }

    /// What is marked as code: one name or path, or code that holds some.
    fn span(&mut self, span: &Span<'_>, rest: &str, at: usize) {
        let text = span.text.trim();
        let name = text.trim_start_matches(['~', '!', '%', '#', '.']).trim_start_matches("::");
        if text.len() <= LONGEST && (is_symbol(name) || is_path(text)) {
            let written = rest.get(..span.length).unwrap_or(text);
            self.add(if is_path(text) { text } else { bare(name) }, written, at);
            return;
        }
        let offset = span.text.as_ptr() as usize - rest.as_ptr() as usize;
        self.code(span.text, at + offset);
    }

    /// What begins at a byte of a line; gives how far it goes.
    fn word(&mut self, line: &str, at: usize, start: usize, is_code: bool) -> usize {
        let rest = &line[at..];
        let Some(first) = rest.chars().next() else { return 1 };
        let before = line[..at].chars().next_back();
        let begins = !before.is_some_and(|c| is_word(c) || c == '$');
        if begins && first == '-' && rest.starts_with("-D") {
            let end = rest[2..].find(|c: char| !is_word(c)).map_or(rest.len(), |end| end + 2);
            if end > 2 {
                self.add(&rest[2..end], &rest[..end], start + at);
            }
            return end;
        }
        if !begins || !(is_word(first) || matches!(first, '.' | '/')) {
            return first.len_utf8();
        }
        if let Some((length, name)) = qualified(rest) {
            self.add(&name, &rest[..length], start + at);
            return length;
        }
        let is_part = |c: char| is_word(c) || matches!(c, '.' | '/' | '-' | '+' | ':');
        let near = window(rest);
        let run = near.find(|c: char| !is_part(c)).unwrap_or(near.len());
        if rest[..run].contains("://") {
            return rest
                .find(|c: char| c.is_whitespace() || matches!(c, ')' | '>' | '"'))
                .unwrap_or(rest.len());
        }
        let text = rest[..run].trim_end_matches(['.', ':', '-', '+']);
        if is_path(text) {
            self.add(text, text, start + at);
            return run;
        }
        let length = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len()).max(first.len_utf8());
        let name = &rest[..length];
        let is_call = rest[length..].starts_with("()");
        // What is called in code, or on an object, need not be of this tree.
        let is_call = is_call && !is_code && !matches!(before, Some('.' | '>'));
        if is_constant(name) || has_humps(name) || is_call {
            let written = if is_call { &rest[..length + 2] } else { name };
            self.add(name, written, start + at);
        }
        length
    }
}

/// The beginning of a text.
fn window(text: &str) -> &str {
    let end = (0..=WINDOW.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
    &text[..end.unwrap_or(0)]
}

/// Marked text and how much of the line it takes.
struct Span<'a> {
    text: &'a str,
    length: usize,
}

/// `` `text` `` or ``` ``text`` ```.
fn backticks(rest: &str) -> Option<Span<'_>> {
    let count = rest.bytes().take_while(|byte| *byte == b'`').count();
    if count == 0 {
        return None;
    }
    let mark = &rest[..count];
    let inner = &rest[count..];
    let end = inner.find(mark)?;
    Some(Span { text: &inner[..end], length: end + 2 * count })
}

/// ``:cpp:func:`text` `` of reStructuredText.
fn role(rest: &str) -> Option<Span<'_>> {
    let tick = rest.strip_prefix(':')?.find('`')? + 1;
    let role = &rest[..tick];
    let is_role = role.ends_with(':')
        && role.len() > 2
        && role.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ':' | '-' | '_'));
    if !is_role || ["ref:", "doc:", "math:", "cite:"].iter().any(|other| role.ends_with(other)) {
        return None;
    }
    let inner = &rest[tick + 1..];
    let end = inner.find('`')?;
    let text = match inner[..end].rfind('<') {
        Some(open) if inner[..end].ends_with('>') && inner[..open].ends_with(' ') => {
            &inner[open + 1..end - 1]
        }
        _ => &inner[..end],
    };
    Some(Span { text, length: tick + end + 2 })
}

/// `@ref name` and its kin.
fn command(rest: &str) -> Option<Span<'_>> {
    let after = rest.strip_prefix(['@', '\\'])?;
    let length = after.find(|c: char| !c.is_ascii_lowercase())?;
    if !COMMANDS.contains(&&after[..length]) || !after[length..].starts_with(' ') {
        return None;
    }
    let word = after[length..].trim_start();
    let at = rest.len() - word.len();
    let end = word.find(char::is_whitespace).unwrap_or(word.len());
    let text = word[..end].trim_end_matches(['.', ',', ';']);
    (!text.is_empty()).then_some(Span { text, length: at + text.len() })
}

/// `\texttt{name}`, `\verb+name+`. Escapes stay: the span is scanned as it is written.
fn tex(rest: &str) -> Option<Span<'_>> {
    let after = rest.strip_prefix('\\')?;
    let length = after.find(|c: char| !c.is_ascii_alphabetic())?;
    if !TEX.contains(&&after[..length]) {
        return None;
    }
    let open = after[length..].chars().next()?;
    let close = if open == '{' { '}' } else { open };
    if open.is_whitespace() {
        return None;
    }
    let inner = &after[length + open.len_utf8()..];
    let end = inner.find(close)?;
    Some(Span { text: &inner[..end], length: 1 + length + open.len_utf8() + end + close.len_utf8() })
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// A qualified name at the start of `text` (`a::b<c>::d`), with its length and without arguments.
fn qualified(text: &str) -> Option<(usize, String)> {
    let mut name = String::new();
    let mut at = 0;
    let mut parts = 0;
    loop {
        let rest = text.get(at..)?;
        let tilde = usize::from(parts > 0 && rest.starts_with('~'));
        let length = rest[tilde..].find(|c: char| !is_word(c)).unwrap_or(rest.len() - tilde) + tilde;
        if length == tilde || rest.as_bytes()[tilde].is_ascii_digit() {
            return None;
        }
        name.push_str(&rest[..length]);
        at += length;
        parts += 1;
        let after = text.get(at..)?;
        let arguments = if after.starts_with('<') { arguments(after) } else { Some(0) };
        let is_followed = |at: usize| {
            let rest = &text[at..];
            rest.starts_with("::")
                && rest[2..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '~')
        };
        match arguments.map(|length| at + length) {
            Some(next) if is_followed(next) => {
                name.push_str("::");
                at = next + 2;
            }
            _ if is_followed(at) => {
                name.push_str("::");
                at += 2;
            }
            _ => break,
        }
    }
    (parts > 1).then_some((at, name))
}

/// Length of template arguments at the start of `text`.
fn arguments(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices().take(FARTHEST) {
        match c {
            '<' => depth += 1,
            '>' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            ';' | '{' | '}' => return None,
            _ => {}
        }
    }
    None
}

/// Whether a code span is one name: `a`, `a::b`, `a<c>::b`, `a()`, `a(int)`.
fn is_symbol(text: &str) -> bool {
    let head = head(text);
    let tail = &text[head.len()..];
    let named = head.split("::").all(|part| {
        let part = part.strip_prefix('~').unwrap_or(part);
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && part.chars().all(is_word)
    });
    let closed = tail.is_empty()
        || (tail.starts_with('(') && tail.ends_with(')'))
        || (tail.starts_with('<') && arguments(tail).is_some_and(|length| is_end(&tail[length..])));
    named && closed
}

/// What may follow the template arguments of a name: nothing, a member, a call.
fn is_end(tail: &str) -> bool {
    tail.is_empty() || tail == "()" || tail.strip_prefix("::").is_some_and(is_symbol)
}

/// The part before template arguments and parentheses.
fn head(text: &str) -> &str {
    &text[..text.find(['<', '(']).unwrap_or(text.len())]
}

/// A name without its call parentheses.
fn bare(text: &str) -> &str {
    text.find('(').map_or(text, |open| &text[..open])
}

/// Whether a word is a path: one with folders, or a file name with a known suffix.
fn is_path(text: &str) -> bool {
    let is_part = |c: char| is_word(c) || matches!(c, '.' | '-' | '+' | '/');
    if text.is_empty() || !text.chars().all(is_part) || text.starts_with('-') {
        return false;
    }
    let name = text.rsplit('/').next().unwrap_or(text);
    let has_suffix = name
        .rsplit_once('.')
        .is_some_and(|(stem, suffix)| !stem.is_empty() && stem != "." && SUFFIXES.contains(&suffix));
    let folders = || text.trim_matches('/').split('/').filter(|part| !matches!(*part, "." | ".."));
    // `I/O` is none.
    has_suffix
        || (text.contains('/')
            && (folders().count() > 1 || text.ends_with('/'))
            && folders().all(|part| part.len() > 1)
            && text.contains(char::is_alphabetic))
}

/// Whether a word is a name of an option or macro: capitals around an underscore.
fn is_constant(word: &str) -> bool {
    word.len() >= 5
        && word.trim_matches('_').contains('_')
        && word.starts_with(|c: char| c.is_ascii_uppercase())
        && (word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
            || is_mixed_option(word))
}

/// `Kokkos_ENABLE_CUDA`.
fn is_mixed_option(word: &str) -> bool {
    let (first, rest) = word.split_once('_').unwrap_or((word, ""));
    first.chars().all(char::is_alphanumeric)
        && rest.starts_with("ENABLE_")
        && rest.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Whether a word is a name by its capitals inside: `PoissonSolver`, not `Poisson` and not `MPI`.
fn has_humps(word: &str) -> bool {
    let capitals = word.chars().filter(char::is_ascii_uppercase).count();
    let rises = word.as_bytes().windows(2).any(|pair| {
        (pair[0].is_ascii_lowercase() || pair[0].is_ascii_digit()) && pair[1].is_ascii_uppercase()
    });
    word.len() >= 6 && word.starts_with(|c: char| c.is_ascii_uppercase()) && capitals >= 2 && rises
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, markup: Markup, expected: &[(&str, &str)]) {
        let found = mentions(text, markup);
        let shown: Vec<(&str, &str)> =
            found.iter().map(|one| (one.name.as_str(), one.written.as_str())).collect();
        assert_eq!(shown, expected, "{text}");
        // Each stands where it says.
        for one in &found {
            assert!(text[one.at..].starts_with(one.written.as_str()), "{one:?}");
        }
    }

    #[test]
    fn code_spans_are_names_or_paths_or_hold_some() {
        check(
            "The `Layout` cuts `Field<double, 2>::fillHalo()` in `src/Field`.",
            Markup::Markdown,
            &[
                ("Layout", "`Layout`"),
                ("Field<double, 2>::fillHalo", "`Field<double, 2>::fillHalo()`"),
                ("src/Field", "`src/Field`"),
            ],
        );
        check(
            "`cmake -S . -DPICO_MPI=ON` ``x = a::b(c)``",
            Markup::Markdown,
            &[("PICO_MPI", "-DPICO_MPI"), ("a::b", "a::b")],
        );
    }

    #[test]
    fn plain_words_are_no_names() {
        check(
            "The field and its layout run on MPI. See the README, I/O and e.g. http://a.org/b/c.h!",
            Markup::Markdown,
            &[],
        );
        check(
            "A PoissonSolver, pico::Field, run() and PICO_ENABLE_MPI in Field.hpp.",
            Markup::Markdown,
            &[
                ("PoissonSolver", "PoissonSolver"),
                ("pico::Field", "pico::Field"),
                ("run", "run()"),
                ("PICO_ENABLE_MPI", "PICO_ENABLE_MPI"),
                ("Field.hpp", "Field.hpp"),
            ],
        );
    }

    #[test]
    fn fenced_code_names_what_is_qualified() {
        check(
            "```cpp\npico::Field rho; run(); PoissonSolver s;\n```\nthe `end`",
            Markup::Markdown,
            &[("pico::Field", "pico::Field"), ("PoissonSolver", "PoissonSolver"), ("end", "`end`")],
        );
    }

    #[test]
    fn a_line_of_any_length_is_read_once() {
        for piece in ["`a ", "``x ", ":a:", "\\texttt{", "a-b-", "@ref ", "a<b", "x::", "-D"] {
            let text = piece.repeat(3_000);
            for markup in [Markup::Markdown, Markup::Restructured, Markup::Tex, Markup::Page] {
                assert!(mentions(&text, markup).len() <= 9_000);
            }
        }
    }

    #[test]
    fn options_of_presets_are_the_names_in_capitals() {
        let text = "{\"cacheVariables\": {\"PICO_MPI\": \"ON\", \"CMAKE_CXX_FLAGS\": \"-O2\"}}";
        let class = almanac_language::Classification::of("CMakePresets.json");
        let source = Source::new("CMakePresets.json", text, class, almanac_tables::ArtifactRole::Build);
        let mut rows = Rows::default();
        read_presets(&source, &mut rows);
        let found: Vec<(&str, u64)> =
            rows.references.iter().map(|(_, one)| (one.name.as_str(), one.start_byte)).collect();
        assert_eq!(found, [("PICO_MPI", 20), ("CMAKE_CXX_FLAGS", 38)]);
        assert!(found.iter().all(|(name, at)| text[*at as usize + 1..].starts_with(name)));
    }

    #[test]
    fn each_markup_marks_its_own_way() {
        check(
            "Use :cpp:func:`Field::set` and ``Field``, :ref:`fields`.",
            Markup::Restructured,
            &[("Field::set", ":cpp:func:`Field::set`"), ("Field", "``Field``")],
        );
        check(
            "a \\texttt{ParticleBag} of \\verb+Bag::push+ % \\texttt{no}",
            Markup::Tex,
            &[
                ("ParticleBag", "\\texttt{ParticleBag}"),
                ("Bag::push", "\\verb+Bag::push+"),
                ("no", "\\texttt{no}"),
            ],
        );
        check(
            " * see @ref Field, \\c kick and \\ref drift.",
            Markup::Page,
            &[("Field", "@ref Field"), ("kick", "\\c kick"), ("drift", "\\ref drift")],
        );
        let page = "/**\n * @code\n * a.kick(); drift(); b::c();\n * @endcode\n * drift(), not a.kick()\n */";
        check(page, Markup::Page, &[("b::c", "b::c"), ("drift", "drift()")]);
    }
}
