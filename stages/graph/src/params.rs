//! Settings that decide the graph: table `[graph.params]` of the defaults.

use serde::Deserialize;

use crate::Error;

/// What the graph depends on besides its rows.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphParams {
    /// Most targets kept for one ambiguous reference; with more, none is kept.
    pub max_candidates: u32,
    /// Namespaces of other libraries: what they qualify gives no edge unless the tree defines it.
    pub external_namespaces: Vec<String>,
    /// Beginnings of names that belong to other libraries (`MPI_`).
    pub external_prefixes: Vec<String>,
    /// Functions of the C library: an unqualified call in another scope than the tree's own function
    /// of that name means the library's.
    pub external_functions: Vec<String>,
    /// Member names of standard and Kokkos types, never bound when the receiver's type is unknown.
    pub external_members: Vec<String>,
    /// How centrality is computed.
    pub rank: RankParams,
}

/// PageRank over the graph.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankParams {
    /// Share of a node's score that it passes on, above 0 and below 1.
    pub damping: f64,
    /// Stops when the scores together move less than this.
    pub tolerance: f64,
    /// Stops after this many rounds at the latest.
    pub max_iterations: u32,
    /// Weight of an edge by kind.
    pub weights: RankWeights,
}

/// Weight of an edge by kind; 0 leaves the kind out.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankWeights {
    /// Caller to callee, times the edge's confidence.
    pub calls: f64,
    /// Including to included file.
    pub includes: f64,
    /// Derived to base class.
    pub inherits: f64,
    /// Definition to declaration.
    pub defines: f64,
    /// From what is owned to its owner: a used member raises its class, file and folder.
    pub owned: f64,
}

impl GraphParams {
    /// Refuses values no graph can be built with.
    pub fn check(&self) -> Result<(), Error> {
        let rank = &self.rank;
        let weights = &rank.weights;
        let refuse = |setting: &'static str, value: f64, wanted: &'static str| {
            Err(Error::Setting { setting, value, wanted })
        };
        if self.max_candidates == 0 {
            return refuse("max_candidates", 0.0, "at least 1");
        }
        if !(rank.damping > 0.0 && rank.damping < 1.0) {
            return refuse("rank.damping", rank.damping, "above 0 and below 1");
        }
        if !(rank.tolerance > 0.0 && rank.tolerance.is_finite()) {
            return refuse("rank.tolerance", rank.tolerance, "above 0");
        }
        for (setting, value) in [
            ("rank.weights.calls", weights.calls),
            ("rank.weights.includes", weights.includes),
            ("rank.weights.inherits", weights.inherits),
            ("rank.weights.defines", weights.defines),
            ("rank.weights.owned", weights.owned),
        ] {
            if !(value >= 0.0 && value.is_finite()) {
                return refuse(setting, value, "0 or more");
            }
        }
        Ok(())
    }
}
