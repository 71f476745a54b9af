//! Whether the names that an answer mentions occur in what the model was shown.
//!
//! A name is what stands in backticks, what stands before the colon of an input or output, and a search
//! term that looks like an identifier. It is grounded when every identifier in it occurs, as a whole
//! word, in the prompt: the code and the facts from the graph around it.

use std::collections::BTreeSet;

use almanac_tables::Answer;

/// How well an answer keeps to its prompt.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grounding {
    /// Share of the names that occur; 1 where there are none.
    pub(super) share: f32,
    /// Names that do not occur, in the order they are mentioned.
    pub(super) offenders: Vec<String>,
}

/// Compares the names of a text and, where it has columns, of its identifier fields with `prompt`.
pub(super) fn check(text: &str, answer: &Answer, prompt: &str) -> Grounding {
    let mut names: Vec<&str> = backticked(text);
    let described = answer.inputs.iter().chain(&answer.outputs);
    names.extend(
        described.filter_map(|item| Some(item.split_once(": ")?.0.trim())).filter(|name| is_one_word(name)),
    );
    names.extend(answer.terms.iter().map(String::as_str).filter(|term| looks_like_code(term)));
    let mut seen = BTreeSet::new();
    names.retain(|name| !name.contains('`') && identifiers(name).next().is_some() && seen.insert(*name));
    let known: BTreeSet<&str> = identifiers(prompt).collect();
    let is_known =
        |name: &str| identifiers(name).all(|part| known.contains(part) || KEYWORDS.contains(&part));
    let offenders: Vec<String> =
        names.iter().filter(|name| !is_known(name)).map(|name| (*name).to_owned()).collect();
    let share = if names.is_empty() { 1.0 } else { 1.0 - offenders.len() as f32 / names.len() as f32 };
    Grounding { share, offenders }
}

/// Share of the names in a free text (those in backticks) that occur in `shown`, and the names that do not.
pub fn names_in(text: &str, shown: &str) -> (f32, Vec<String>) {
    let Grounding { share, offenders } = check(text, &Answer::default(), shown);
    (share, offenders)
}

/// What is asked for once more when too much was made up.
pub(super) fn correction(offenders: &[String]) -> String {
    let names: Vec<String> = offenders.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    format!(
        "\n\nAn earlier answer named {}, which does not occur above. Name only what occurs above.",
        names.join(", ")
    )
}

/// Most offenders that a second try is told.
const NAMED: usize = 8;

/// Words of the language, which no code need contain to be explained with.
const KEYWORDS: [&str; 24] = [
    "auto",
    "bool",
    "char",
    "class",
    "const",
    "double",
    "false",
    "float",
    "for",
    "if",
    "int",
    "long",
    "namespace",
    "operator",
    "return",
    "size_t",
    "static",
    "std",
    "struct",
    "template",
    "true",
    "typename",
    "void",
    "while",
];

/// Spans in single backticks that read like code: no prose of several words.
fn backticked(text: &str) -> Vec<&str> {
    let parts: Vec<&str> = text.split('`').collect();
    // What stands behind an unclosed tick is no span.
    let spans = parts[..parts.len() - 1].iter().skip(1).step_by(2);
    spans.map(|span| span.trim()).filter(|span| is_one_word(span) || looks_like_code(span)).collect()
}

fn is_one_word(name: &str) -> bool {
    !name.is_empty() && !name.contains(char::is_whitespace)
}

/// Whether a term is written as names in code are: `snake_case`, `camelCase`, `a::b`, `f()`.
fn looks_like_code(term: &str) -> bool {
    let camel =
        term.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let signs = ["::", "_", "(", "->", "<"].iter().any(|sign| term.contains(sign));
    signs || (camel && is_one_word(term))
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|character: char| !(character.is_alphanumeric() || character == '_'));
    words.filter(|word| word.starts_with(|first: char| first.is_alphabetic() || first == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: &str = "File: src/Solver.hpp\nmethod definition: ippl::Solver::solve\nCalls: ippl::Field::norm\n\
        ```cpp\nvoid Solver::solve(Field& rhs, double tol) { while (rhs.norm() > tol) step_m(rhs); }\n```";

    fn checked(text: &str) -> Grounding {
        check(text, &Answer::default(), PROMPT)
    }

    #[test]
    fn names_of_code_and_facts_are_grounded() {
        let text =
            "`solve` calls `ippl::Field::norm` until `tol`; `step_m(rhs)` in `Solver.hpp`, `const double`.";
        assert_eq!(checked(text), Grounding { share: 1.0, offenders: Vec::new() });
        assert_eq!(checked("Solves it.").share, 1.0);
        assert_eq!(checked("an unclosed ` tick").share, 1.0);
    }

    #[test]
    fn names_that_occur_nowhere_are_told() {
        let found =
            checked("`solve` uses `Preconditioner` and `Field::dot`, not the `conjugate gradient method`.");
        assert_eq!(found.offenders, ["Preconditioner", "Field::dot"]);
        assert!((found.share - 1.0 / 3.0).abs() < 1e-6);
        // A part of a word is no occurrence.
        assert_eq!(checked("`step`").offenders, ["step"]);
    }

    #[test]
    fn identifier_fields_are_names_and_plain_terms_are_not() {
        let answer = Answer {
            inputs: vec!["rhs: right-hand side".into(), "mesh: the mesh".into(), "some words: more".into()],
            terms: vec!["Poisson equation".into(), "MPI".into(), "ghostCells".into(), "step_m".into()],
            ..Answer::default()
        };
        let found = check(&answer.text(), &answer, PROMPT);
        assert_eq!(found.offenders, ["mesh", "ghostCells"]);
        assert_eq!(found.share, 0.5);
    }

    #[test]
    fn a_correction_names_the_offenders() {
        assert!(correction(&["a".to_owned(), "b::c".to_owned()]).contains("named `a`, `b::c`, which"));
    }
}
