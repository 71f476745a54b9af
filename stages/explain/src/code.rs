//! Fits an entity's code into a prompt: whole, as an outline, or its beginning and end.

use almanac_inference::{clip, estimate_tokens};
use almanac_tables::{Entity, OutlinePiece};

/// The code of `entity` in at most `tokens`. `inside` are the callables defined within it.
pub(crate) fn fit(entity: &Entity, inside: &[&Entity], text: &str, tokens: usize) -> String {
    let code = plain(entity.slice(text));
    if estimate_tokens(&code) <= tokens {
        return code;
    }
    let outline = plain(&outline(entity, inside, text));
    if estimate_tokens(&outline) <= tokens { outline } else { ends(&outline, tokens) }
}

/// Code without what says nothing: the indentation that all lines after the first share, blanks at line
/// ends, more than one empty line. Bodies that differ in no more than this have one prompt, and moving a
/// function into a namespace costs no generation.
fn plain(code: &str) -> String {
    let indentation = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let told = code.lines().skip(1).filter(|line| !line.trim().is_empty());
    let common = told.map(indentation).min().unwrap_or(0);
    let mut lines: Vec<&str> = Vec::new();
    for (at, line) in code.lines().enumerate() {
        let line = line.trim_end();
        let line = if at == 0 { line } else { line.get(common..).unwrap_or("") };
        if !(line.is_empty() && lines.last().is_some_and(|last| last.is_empty())) {
            lines.push(line);
        }
    }
    lines.join("\n")
}

/// The entity with the bodies of what is defined within it left out.
fn outline(entity: &Entity, inside: &[&Entity], text: &str) -> String {
    let pieces = entity.outline(inside, text).into_iter().map(|piece| match piece {
        OutlinePiece::Written { text, .. } => text.to_owned(),
        OutlinePiece::LeftOut(part) => part.without_body(),
    });
    pieces.collect()
}

/// Tokens the mark of a gap needs.
const GAP: usize = 12;

/// Three quarters from the beginning, where the signature is, and one from the end.
fn ends(code: &str, tokens: usize) -> String {
    let room = tokens.saturating_sub(GAP);
    let head = clip(code, room - room / 4);
    let rest = &code[head.len()..];
    let from = rest.len().saturating_sub(room / 4 * 3);
    let tail = &rest[rest.ceil_char_boundary(from)..];
    let tail = tail.split_once('\n').map_or("", |(_, whole_lines)| whole_lines);
    let left_out = rest.len() - tail.len();
    let lines = rest[..left_out].trim_matches('\n').lines().count();
    format!("{head}\n// ... {lines} lines left out ...\n{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_makes_no_other_prompt() {
        let flat = "int f() {\n    return 1;\n}";
        assert_eq!(plain(flat), flat);
        assert_eq!(plain("int f() {  \n        return 1;\n    }"), flat);
        assert_eq!(plain("int f() {\n\n\n  a();\n\n  b();\n }"), "int f() {\n\n a();\n\n b();\n}");
    }

    fn spanning(text: &str, from: &str, to: &str, signature: &str) -> Entity {
        let start = text.find(from).unwrap();
        let end = start + text[start..].find(to).unwrap() + to.len();
        Entity {
            start_byte: start as u64,
            end_byte: end as u64,
            signature: signature.into(),
            ..Entity::default()
        }
    }

    const CLASS: &str = "// before\nclass Grid {\n  int size() const {\n    return n_m; // a long way to say n\n  }\n  int n_m;\n};\n";

    #[test]
    fn a_class_loses_bodies_before_members() {
        let class = spanning(CLASS, "class Grid", "\n}", "class Grid");
        let size = spanning(CLASS, "int size", "  }", "int size() const");
        assert_eq!(fit(&class, &[&size], CLASS, 500), class.slice(CLASS));
        assert_eq!(
            fit(&class, &[&size], CLASS, 22),
            "class Grid {\n  int size() const { ... }\n  int n_m;\n}"
        );
    }

    #[test]
    fn a_long_function_keeps_its_beginning_and_end() {
        let lines: Vec<String> = (0..100).map(|i| format!("  step({i});")).collect();
        let text = format!("void run() {{\n{}\n}}", lines.join("\n"));
        let entity = Entity { end_byte: text.len() as u64, ..Entity::default() };
        let fitted = fit(&entity, &[], &text, 100);
        assert!(estimate_tokens(&fitted) <= 100, "{fitted}");
        assert!(fitted.starts_with("void run() {\n  step(0);\n"));
        assert!(fitted.ends_with("  step(99);\n}"));
        let kept = fitted.matches("step(").count();
        assert!(fitted.contains(&format!("// ... {} lines left out ...", 100 - kept)), "{fitted}");
    }
}
