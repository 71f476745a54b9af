//! Judging, on a tree of two files that is small enough to be read here.
//!
//! `a.h`: `namespace n {`, at line 2 `int f(int x) const;`-like functions as the records say.

use almanac_tables::{Edge, EdgeKind, Entity, EntityKind};

use crate::graph::found::Found;
use crate::graph::tally::{Comparison, Tally};
use crate::graph::truth::Truth;
use crate::graph::{calls, definitions};

/// A function of the truth: id, qualified name, line, parameters.
fn symbol(id: usize, name: &str, line: u32, parameters: &str) -> String {
    serde_json::json!({
        "record": "symbol", "id": id, "kind": "function", "name": name, "is_in_template": false,
        "is_instantiated": false,
        "places": [{
            "path": "a.h", "outer_line": line - 1, "line": line, "name_line": line, "is_definition": true,
            "is_generated": false, "in_macro": false, "tags": ["free"], "parameters": parameters,
            "qualifiers": "", "templates": [],
        }],
    })
    .to_string()
}

/// A call of the truth in function 0.
fn call(line: u32, required: &[usize], candidates: &[usize], name: &str) -> String {
    serde_json::json!({
        "record": "call", "path": "a.h", "line": line, "from_line": line, "caller": 0, "required": required,
        "optional": [], "candidates": candidates, "tags": ["free"], "name": name,
        "is_dependent": !name.is_empty(), "is_open": false,
    })
    .to_string()
}

fn truth(calls: &[String]) -> Truth {
    let mut lines = vec![
        r#"{"record": "inline_namespaces", "names": ["v1"]}"#.to_owned(),
        r#"{"record": "file", "path": "a.h", "skipped": [[90, 99]]}"#.to_owned(),
        symbol(0, "n::v1::caller", 10, "int x"),
        symbol(1, "n::v1::first", 20, "int x"),
        symbol(2, "n::v1::first", 30, "double x"),
        symbol(3, "n::other", 40, ""),
    ];
    lines.extend_from_slice(calls);
    Truth::parse(&lines.join("\n")).unwrap()
}

fn entity(id: &str, name: &str, line: u32, parameters: &str) -> Entity {
    Entity {
        id: id.to_owned(),
        path: "a.h".to_owned(),
        kind: EntityKind::FunctionDefinition,
        name: name.rsplit("::").next().unwrap().to_owned(),
        qualified_name: name.to_owned(),
        signature: format!("int {name}({parameters})"),
        parameters: parameters.to_owned(),
        start_line: line,
        end_line: line + 5,
        is_definition: true,
        ..Entity::default()
    }
}

fn entities() -> Vec<Entity> {
    vec![
        entity("caller", "n::caller", 9, "int  x"),
        entity("first", "n::first", 20, "int x"),
        entity("second", "n::first", 30, "double x"),
        entity("other", "n::other", 40, "void"),
        entity("hidden", "n::hidden", 92, ""),
    ]
}

fn edge(source: &str, target: &str, line: u32, candidates: u32) -> Edge {
    Edge {
        kind: EdgeKind::Calls,
        source: source.to_owned(),
        target: target.to_owned(),
        path: "a.h".to_owned(),
        line,
        candidates,
        ..Edge::default()
    }
}

fn tally(comparison: &Comparison, row: &str) -> Tally {
    comparison.rows.get(row).copied().unwrap_or_default()
}

fn numbers(wanted: f64, hit: f64, said: f64, right: f64) -> Tally {
    Tally { wanted, hit, said, right }
}

fn judged(calls: &[String], edges: Vec<Edge>) -> Comparison {
    calls::compare(&truth(calls), &Found::new(entities(), edges))
}

#[test]
fn definitions_agree_in_name_signature_and_line() {
    let truth = truth(&[]);
    let whole = definitions::compare(&truth, &Found::new(entities(), Vec::new()));
    assert_eq!(tally(&whole, definitions::ALL), numbers(4.0, 4.0, 4.0, 4.0));
    assert_eq!(whole.unjudged, 1, "what the preprocessor left out");

    let mut wrong = entities();
    wrong[0].start_line = 8; // before the annotations
    wrong[1].parameters = "int y".to_owned();
    wrong[3].qualified_name = "other".to_owned();
    let compared = definitions::compare(&truth, &Found::new(wrong, Vec::new()));
    assert_eq!(tally(&compared, definitions::ALL), numbers(4.0, 1.0, 4.0, 1.0));
    assert_eq!(tally(&compared, definitions::NAME_AND_LINE), numbers(4.0, 2.0, 4.0, 2.0));
    assert_eq!((compared.missing.len(), compared.wrong.len()), (3, 3));
}

#[test]
fn a_second_entity_in_the_same_place_is_wrong() {
    let mut twice = entities();
    twice.push(entity("again", "n::first", 20, "int x"));
    let compared = definitions::compare(&truth(&[]), &Found::new(twice, Vec::new()));
    assert_eq!(tally(&compared, definitions::ALL), numbers(4.0, 4.0, 5.0, 4.0));
}

#[test]
fn an_edge_is_right_on_its_line_alone() {
    let calls = [call(11, &[1], &[], "")];
    assert_eq!(
        tally(&judged(&calls, vec![edge("caller", "first", 11, 1)]), calls::ALL),
        numbers(1.0, 1.0, 1.0, 1.0)
    );
    // The pair is joined, the evidence is not.
    assert_eq!(
        tally(&judged(&calls, vec![edge("caller", "first", 12, 1)]), calls::ALL),
        numbers(1.0, 1.0, 1.0, 0.0)
    );
    assert_eq!(
        tally(&judged(&calls, vec![edge("caller", "second", 11, 1)]), calls::ALL),
        numbers(1.0, 0.0, 1.0, 0.0)
    );
}

#[test]
fn an_edge_from_the_file_is_wrong_where_a_function_encloses_the_call() {
    let compared = judged(&[call(11, &[1], &[], "")], vec![edge("file:a.h", "first", 11, 1)]);
    assert_eq!(tally(&compared, calls::ALL), numbers(1.0, 0.0, 1.0, 0.0));
}

#[test]
fn an_overload_set_counts_its_share() {
    let edges = vec![edge("caller", "first", 11, 2), edge("caller", "second", 11, 2)];
    let compared = judged(&[call(11, &[1], &[], "")], edges);
    assert_eq!(tally(&compared, calls::ALL), numbers(1.0, 1.0, 1.0, 0.5));
    assert_eq!(tally(&compared, calls::UNAMBIGUOUS), numbers(1.0, 0.0, 0.0, 0.0));
}

#[test]
fn overloads_in_sight_are_right_until_an_instantiation_chose() {
    let dependent = [call(11, &[], &[1, 2], "first")];
    let compared = judged(&dependent, vec![edge("caller", "second", 11, 1)]);
    assert_eq!(tally(&compared, calls::ALL), numbers(1.0, 1.0, 1.0, 1.0));

    let settled = [call(11, &[1], &[1, 2], "first")];
    let compared = judged(&settled, vec![edge("caller", "second", 11, 1)]);
    assert_eq!(tally(&compared, calls::ALL), numbers(1.0, 0.0, 1.0, 0.0));
    assert_eq!(tally(&compared, calls::IN_SIGHT), numbers(1.0, 0.0, 1.0, 1.0));
}

#[test]
fn what_nothing_settles_is_not_judged() {
    let compared = judged(&[call(11, &[], &[], "first")], vec![edge("caller", "first", 11, 1)]);
    assert_eq!(tally(&compared, calls::ALL), Tally::default());
    assert_eq!(compared.unjudged, 1);
    // Another name on that line is.
    let compared = judged(&[call(11, &[], &[], "first")], vec![edge("caller", "other", 11, 1)]);
    assert_eq!(tally(&compared, calls::ALL), numbers(0.0, 0.0, 1.0, 0.0));
}

#[test]
fn code_that_the_compiler_did_not_read_is_not_judged() {
    let compared = judged(&[], vec![edge("hidden", "first", 93, 1)]);
    assert_eq!((tally(&compared, calls::ALL), compared.unjudged), (Tally::default(), 1));
}

#[test]
fn a_malformed_line_is_named() {
    assert_eq!(Truth::parse("{\"record\": \"unnamed\", \"path\": \"a\", \"line\": 1}\nx").unwrap_err().0, 2);
}
