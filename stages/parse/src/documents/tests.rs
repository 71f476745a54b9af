use almanac_language::Classification;
use almanac_tables::{ArtifactRole, Entity};

use super::*;

fn read_document(path: &str, text: &str, most: usize) -> Vec<Entity> {
    let source = Source::new(path, text, Classification::of(path), ArtifactRole::Documentation);
    let mut rows = Rows::default();
    read(&source, most, &mut rows);
    rows.finish().0
}

/// Compares `title | path | first line-last line`.
fn check(path: &str, text: &str, most: usize, expected: &[&str]) {
    let found: Vec<String> = read_document(path, text, most)
        .iter()
        .map(|entity| {
            let above = entity.section_path.join("/");
            format!("{} | {above} | {}-{}", entity.name, entity.start_line, entity.end_line)
        })
        .collect();
    assert_eq!(found, expected, "{path}");
}

#[test]
fn markdown_is_cut_at_headings_outside_code() {
    let text = "\
intro

# Title {#anchor}
text
```bash
# not a heading
```
Under
-----
more

### `Deep` [link](http://x) ###
end
# Empty
## Child
x
";
    check(
        "a.md",
        text,
        400,
        &[
            "a.md |  | 1-1",
            "Title |  | 3-7",
            "Under | Title | 8-10",
            "Deep link | Title/Under | 12-13",
            "Empty |  | 14-14",
            "Child | Empty | 15-16",
        ],
    );
}

#[test]
fn tables_rules_and_front_matter_are_no_headings() {
    let text = "---\ntitle: x\n---\n| a | b |\n|---|---|\n\n- item\n---\n\ntext\n";
    check("a.md", text, 400, &["a.md |  | 1-10"]);
}

#[test]
fn marks_alone_and_rulers_below_lists_are_no_headings() {
    let text = "#\n## ##\n1. one\n   more\n---\n> said\n---\n-\tx\n===\n\nReal\n---\n# **\nend\n";
    check("a.md", text, 400, &["a.md |  | 1-9", "Real |  | 11-14"]);
    check("b.md", "text\n\n# Last", 400, &["b.md |  | 1-1", "Last |  | 3-3"]);
}

#[test]
fn long_sections_become_numbered_pieces_with_the_same_path() {
    let text = "# Top\n\n## Long\nAlpha beta gamma delta.\n\nEpsilon zeta eta theta.\n\nIota kappa lambda.\n";
    check(
        "a.md",
        text,
        40,
        &["Top |  | 1-1", "Long_1 | Top | 3-4", "Long_2 | Top | 6-6", "Long_3 | Top | 8-8"],
    );
    let one_line = format!("# T\n{}\n", "A sentence of words here. ".repeat(20));
    let pieces = read_document("b.md", &one_line, 100);
    assert!(pieces.len() > 4);
    assert!(pieces.iter().all(|piece| piece.slice(&one_line).chars().count() <= 100));
    assert!(pieces.iter().all(|piece| piece.slice(&one_line).ends_with('.')));
}

#[test]
fn restructured_text_orders_its_adornments() {
    let text = "\
=====
Guide
=====

intro

Install
-------
steps

Linux
~~~~~
apt

Use
---
run
";
    check(
        "a.rst",
        text,
        400,
        &["Guide |  | 1-5", "Install | Guide | 7-9", "Linux | Guide/Install | 11-13", "Use | Guide | 15-17"],
    );
}

#[test]
fn latex_sections_lose_their_commands() {
    let text = "\
\\chapter{Using the \\texttt{Field} Class}
\\label{x}
text
% \\section{commented}
\\begin{verbatim}
\\section{shown}
\\end{verbatim}
\\section*{Setup of {\\em the} \\ippl}
more
";
    check(
        "a.tex",
        text,
        400,
        &["Using the Field Class |  | 1-7", "Setup of the ippl | Using the Field Class | 8-9"],
    );
}

#[test]
fn latex_titles_may_be_spaced_and_must_be_closed() {
    let text = "  \\section* {One \\{ two}\ntext\n\\subsection [short] {Three\n four}\n\\section{open\n\n} no title\n";
    check("a.tex", text, 400, &["One two |  | 1-2", "Three four | One two | 3-7"]);
    assert!(tex::headings(&"\\section{\n".repeat(500)).is_empty());
    let late = format!("\\section{{{}}}\n", "word ".repeat(300));
    assert!(tex::headings(&late).is_empty());
}

#[test]
fn doxygen_pages_are_cut_at_commands_and_hashes() {
    let text = "/**\n@page fft Basics: FFT\nintro\n * @section Example Usage\n * text\n@code\n# no\n@endcode\n * ## Part\n * end\n */\n";
    let source = Source::new("a.hpp", text, Classification::of("a.md"), ArtifactRole::Documentation);
    let mut rows = Rows::default();
    read_page(&source, 400, &mut rows);
    let found: Vec<_> = rows
        .finish()
        .0
        .into_iter()
        .filter(|entity| entity.kind == EntityKind::Section)
        .map(|entity| (entity.name, entity.section_path.join("/"), entity.start_line))
        .collect();
    assert_eq!(
        found,
        [
            ("Basics: FFT".to_owned(), String::new(), 2),
            ("Example Usage".to_owned(), "Basics: FFT".to_owned(), 4),
            ("Part".to_owned(), "Basics: FFT/Example Usage".to_owned(), 9),
        ]
    );
}

#[test]
fn other_texts_are_blocks_named_after_the_file() {
    let text = "a: 1\nb: 2\n\nc: 3\n";
    let source = Source::new("ci/x.yml", text, Classification::of("ci/x.yml"), ArtifactRole::Ci);
    let mut rows = Rows::default();
    assert_eq!(read_blocks(&source, 12, 100, &mut rows), 2);
    let names: Vec<_> = rows.finish().0.into_iter().map(|entity| (entity.name, entity.start_line)).collect();
    assert_eq!(names, [("x.yml_1".to_owned(), 1), ("x.yml_2".to_owned(), 4)]);
}
