//! The paper's numbers for its corpus, as a check that the same tree was read.

use serde::Serialize;

use super::counts::Counts;

/// One number of the paper beside ours.
#[derive(Debug, Serialize)]
pub(crate) struct Comparison {
    pub(crate) what: &'static str,
    pub(crate) paper: u64,
    pub(crate) here: u64,
    pub(crate) why: &'static str,
}

/// Compares when the store is of the paper's corpus; says nothing for any other project.
pub(crate) fn compare(counts: &Counts) -> Vec<Comparison> {
    if !counts.is_papers_corpus {
        return Vec::new();
    }
    vec![
        Comparison {
            what: "source files under src/",
            paper: 172,
            here: counts.source_files_under_src,
            why: "the same files",
        },
        Comparison {
            what: "documents",
            paper: 82,
            here: counts.documents,
            why: "the paper counts document entities; .md, .rst and .txt of the whole tree here",
        },
        Comparison {
            what: "code entities",
            paper: 1776,
            here: counts.entities - counts.sections - counts.text_blocks,
            why: "here also enumerators, fields, aliases, macros, declarations and files outside src/; overloads apart",
        },
        Comparison {
            what: "modules",
            paper: 58,
            here: counts.modules,
            why: "every folder of the tree, and namespaces",
        },
        Comparison {
            what: "call chains",
            paper: 951,
            here: counts.call_chains,
            why: "one for each defined callable with a resolved caller or callee",
        },
        Comparison {
            what: "chunks",
            paper: 8013,
            here: counts.chunks,
            why: "the paper cuts at 400 characters; whole symbols here, cut at embed.params.chunk_tokens",
        },
    ]
}
