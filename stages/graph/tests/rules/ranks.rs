//! Centrality, and that the graph is a function of the rows.

use std::collections::BTreeMap;

use crate::rows::{Rows, params};
use almanac_graph::{GraphRows, build};
use almanac_tables::EntityKind::{Class, FunctionDefinition, MethodDefinition};

fn star() -> Rows {
    let mut rows = Rows::default();
    rows.file("hub.h").open(Class, "Hub");
    let used = rows.function(MethodDefinition, "Hub::used", "()");
    rows.function(MethodDefinition, "Hub::unused", "()");
    rows.close();
    rows.file("leaves.h").include("leaves.h", "\"hub.h\"");
    for name in ["a", "b", "c"] {
        let id = rows.function(FunctionDefinition, name, "()");
        rows.call(&id, "Hub::used", 0);
    }
    assert_eq!(used, "hub.h:Hub::used");
    rows
}

fn scores(graph: &GraphRows) -> BTreeMap<&str, f64> {
    graph.ranks.iter().map(|rank| (rank.node.as_str(), rank.score)).collect()
}

#[test]
fn scores_sum_to_one_and_use_raises_a_node_and_its_owners() {
    let graph = star().build();
    let scores = scores(&graph);
    assert!((scores.values().sum::<f64>() - 1.0).abs() < 1e-12);
    assert!(scores["hub.h:Hub::used"] > 1.5 * scores["hub.h:Hub::unused"]);
    assert!(scores["hub.h:Hub"] > scores["hub.h:Hub::unused"]);
    assert!(scores["file:hub.h"] > scores["leaves.h:a"]);
    let used = graph.ranks.iter().find(|rank| rank.node == "hub.h:Hub::used").expect("ranked");
    assert_eq!((used.incoming, used.outgoing), (3, 0));
}

/// Two nodes that point at each other and one dead end, solved by hand.
#[test]
fn page_rank_agrees_with_the_closed_form() {
    let mut rows = Rows::default();
    rows.file("x.h");
    let a = rows.function(FunctionDefinition, "a", "()");
    let b = rows.function(FunctionDefinition, "b", "()");
    rows.function(FunctionDefinition, "c", "()");
    rows.call(&a, "b", 0).call(&b, "a", 0).call(&a, "c", 0);
    let mut params = params();
    params.rank.weights.owned = 0.0;
    let graph = build(rows.sources(), &params);
    let scores = scores(&graph);
    // Nodes: a, b, c, the file and the top folder; c, file and folder are dead ends, all edges
    // from `a` have one weight. With d = 0.85 and base t = (0.15 + 0.85 (c + file + folder)) / 5:
    // b = t + d a/2, c = t + d a/2, a = t + d b, file = folder = t.
    let d = 0.85;
    let a_over_t = (1.0 + d) / (1.0 - d * d / 2.0);
    let b_over_t = 1.0 + d * a_over_t / 2.0;
    let t = 1.0 / (a_over_t + 2.0 * b_over_t + 2.0);
    assert!((scores["x.h:a"] - a_over_t * t).abs() < 1e-10);
    assert!((scores["x.h:b"] - b_over_t * t).abs() < 1e-10);
    assert!((scores["x.h:c"] - b_over_t * t).abs() < 1e-10);
    assert!((scores["file:x.h"] - t).abs() < 1e-10);
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let rows = star();
    let turned = |list: &mut Rows| {
        list.files.reverse();
        list.entities.reverse();
        list.references.reverse();
    };
    let mut other = star();
    turned(&mut other);
    let (one, other) = (rows.build(), other.build());
    assert_eq!(one.edges, other.edges);
    assert_eq!(one.modules, other.modules);
    assert_eq!(one.ranks, other.ranks);
    assert_eq!(one.outcomes, other.outcomes);
}

#[test]
fn rows_without_a_file_or_target_are_harmless() {
    let mut rows = star();
    rows.references[0].path = "gone.h".to_owned();
    rows.entities[0].path = "gone.h".to_owned();
    let graph = rows.build();
    assert!((scores(&graph).values().sum::<f64>() - 1.0).abs() < 1e-12);
    assert_eq!(build(Rows::default().sources(), &params()), GraphRows::default());
}

#[test]
fn settings_out_of_range_are_refused() {
    let mut params = params();
    assert!(params.check().is_ok());
    params.rank.damping = 1.0;
    let message = params.check().expect_err("damping 1 never settles").to_string();
    assert_eq!(message, "setting `graph.params.rank.damping` is 1, it must be above 0 and below 1");
}
