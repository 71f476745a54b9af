//! What kind of question it is (paper 3.3.5, Table 4).

use std::fmt;

use serde::Serialize;

/// The paper's nine intents and three of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// How to use something.
    ApiUsage,
    /// Where something is.
    LocationLookup,
    /// How data moves.
    DataFlow,
    /// How two things differ.
    Comparison,
    /// What a symbol is for.
    SymbolExplanation,
    /// What a file is for.
    FilePurpose,
    /// What a folder or namespace holds.
    ModuleOverview,
    /// How something works step by step.
    WorkflowExplanation,
    /// Configuring, building, installing, depending.
    BuildAndInstall,
    /// Tests and how to run them.
    Testing,
    /// What numbers and fields mean.
    NumericalMeaning,
    /// None of these.
    Default,
}

/// How far structural expansion goes (paper, Table 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StructuralMode {
    /// `mode_1_minimal`.
    Minimal,
    /// `mode_api_usage`.
    ApiUsage,
    /// `mode_2_balanced`.
    Balanced,
    /// `mode_3_broad`.
    Broad,
}

impl Intent {
    /// Name as in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ApiUsage => "api_usage",
            Self::LocationLookup => "location_lookup",
            Self::DataFlow => "data_flow",
            Self::Comparison => "comparison",
            Self::SymbolExplanation => "symbol_explanation",
            Self::FilePurpose => "file_purpose",
            Self::ModuleOverview => "module_overview",
            Self::WorkflowExplanation => "workflow_explanation",
            Self::BuildAndInstall => "build_and_install",
            Self::Testing => "testing",
            Self::NumericalMeaning => "numerical_meaning",
            Self::Default => "default",
        }
    }

    /// How far its structural expansion goes.
    pub const fn structural_mode(self) -> StructuralMode {
        match self {
            Self::LocationLookup | Self::BuildAndInstall | Self::Testing => StructuralMode::Minimal,
            Self::ApiUsage => StructuralMode::ApiUsage,
            Self::DataFlow | Self::WorkflowExplanation => StructuralMode::Broad,
            Self::Comparison
            | Self::SymbolExplanation
            | Self::FilePurpose
            | Self::ModuleOverview
            | Self::NumericalMeaning
            | Self::Default => StructuralMode::Balanced,
        }
    }
}

impl fmt::Display for Intent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the router looks at besides the words.
pub(crate) struct Mentions {
    pub(crate) files: bool,
    pub(crate) symbols: bool,
    pub(crate) modules: bool,
}

const COMPARISON: &[&str] = &[
    "compare",
    "compared",
    "comparison",
    "differ",
    "difference",
    "differences",
    "different from",
    "versus",
    "vs",
    "trade-off between",
    "tradeoff between",
    "tradeoffs between",
    "rather than",
];
const BUILD: &[&str] = &[
    "build",
    "built",
    "building",
    "c++ standard",
    "cmake",
    "cmakelists",
    "compile",
    "compiled",
    "compiler",
    "compiling",
    "configured with",
    "continuous integration",
    "depend on",
    "dependencies",
    "dependency",
    "docker",
    "in ci",
    "install",
    "installation",
    "installed",
    "installing",
    "linker",
    "makefile",
    "prerequisites",
    "third-party",
    "toolchain",
];
const TESTING: &[&str] = &[
    "ctest",
    "gtest",
    "test",
    "test case",
    "test cases",
    "test suite",
    "tested",
    "testing",
    "tests",
    "unit test",
    "unit tests",
];
const LOCATION: &[&str] = &[
    "in which file",
    "located",
    "location of",
    "what file",
    "where",
    "which file",
    "which files",
    "which header",
];
const USAGE: &[&str] = &[
    "example of",
    "how can i",
    "how can we",
    "how do i",
    "how do we",
    "how do you",
    "how should i",
    "how to",
    "how would i",
    "usage of",
    "use it",
];
const FLOW: &[&str] = &[
    "communicated",
    "data flow",
    "data move",
    "exchange",
    "exchanged",
    "flow",
    "flows",
    "migrate",
    "migrated",
    "passed between",
    "sent to",
    "transferred",
];
const MEANING: &[&str] = &[
    "interpretation",
    "mathematically",
    "meaning of",
    "numerical meaning",
    "numerically",
    "physical",
    "physically",
    "physics",
    "represent physically",
    "units of",
];
const PURPOSE: &[&str] = &[
    "contain",
    "contains",
    "do",
    "for",
    "implement",
    "implements",
    "provide",
    "purpose",
    "responsibility",
    "responsible",
    "role",
    "what is",
];
const WORKFLOW: &[&str] = &[
    "how are",
    "how does",
    "how is",
    "lifecycle",
    "pipeline",
    "process",
    "sequence",
    "steps",
    "time step",
    "work",
    "workflow",
];
const MODULE: &[&str] = &["component", "directory", "folder", "module", "namespace", "package", "subsystem"];
const SYMBOL: &[&str] = &["class", "function", "member", "method", "struct", "template", "type"];

/// Decides the intent by words and mentions; the first rule that fits wins.
pub(crate) fn route(question: &str, mentions: &Mentions) -> Intent {
    let text = format!(" {} ", normalised(question));
    let any = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(&format!(" {phrase} ")));
    let asks_what = text.starts_with(" what ") || text.contains(" purpose ") || text.contains(" role ");
    let rules = [
        (any(COMPARISON), Intent::Comparison),
        (mentions.files && asks_what && any(PURPOSE), Intent::FilePurpose),
        (any(BUILD), Intent::BuildAndInstall),
        (any(TESTING), Intent::Testing),
        (any(LOCATION), Intent::LocationLookup),
        (any(USAGE), Intent::ApiUsage),
        (any(MEANING), Intent::NumericalMeaning),
        (any(FLOW), Intent::DataFlow),
        (asks_what && (any(SYMBOL) || mentions.symbols), Intent::SymbolExplanation),
        (mentions.modules && any(MODULE), Intent::ModuleOverview),
        (any(WORKFLOW), Intent::WorkflowExplanation),
        (mentions.symbols, Intent::SymbolExplanation),
    ];
    rules.iter().find(|(fits, _)| *fits).map_or(Intent::Default, |&(_, intent)| intent)
}

/// Lower case, punctuation as blanks but for `+`, `-` and `.` inside words.
fn normalised(question: &str) -> String {
    let lower = question.to_lowercase();
    let words = lower.split(|c: char| !(c.is_alphanumeric() || matches!(c, '+' | '-' | '.' | '_')));
    let words = words.map(|word| word.trim_matches(['.', '-'])).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, mentions: (bool, bool, bool), expected: Intent) {
        let (files, symbols, modules) = mentions;
        assert_eq!(route(question, &Mentions { files, symbols, modules }), expected, "{question}");
    }

    #[test]
    fn every_intent_has_a_question() {
        let none = (false, false, false);
        check("How do I create a mesh?", none, Intent::ApiUsage);
        check("Where is the solver implemented?", none, Intent::LocationLookup);
        check("How does charge flow to the grid?", none, Intent::DataFlow);
        check("What is the difference between A and B?", none, Intent::Comparison);
        check("What does the Grid class do?", (false, true, false), Intent::SymbolExplanation);
        check("What does grid.hpp do?", (true, false, false), Intent::FilePurpose);
        check("Describe the mesh module", (false, false, true), Intent::ModuleOverview);
        check("How does one time step work?", none, Intent::WorkflowExplanation);
        check("Which C++ standard is needed?", none, Intent::BuildAndInstall);
        check("Which unit tests cover halos?", none, Intent::Testing);
        check("What does rho mean physically?", none, Intent::NumericalMeaning);
        check("Halo cells", none, Intent::Default);
    }
}
