//! Answers from a model that says what the test tells it to.

use std::path::Path;
use std::sync::Mutex;

use almanac_answer::{AnswerSettings, Error, answer, context_budget};
use almanac_inference::{Completion, FinishReason, GenerateRequest, LanguageModel, ModelIdentity, Result};
use almanac_lookup::{SearchIndex, Tables, build};
use almanac_retrieval::{RetrievalSettings, SearchResult, estimate_tokens, search};
use almanac_tables::{Entity, EntityKind, File, Text};

const PROMPT: &str = include_str!("../../../../config/prompts/retrieval_answer_v2.md");
const OLD_PROMPT: &str = include_str!("../../../../config/prompts/retrieval_answer.md");
const SOURCE: &str = "double spacing() {\n    return length / cells;\n}\n";

struct Parrot {
    identity: ModelIdentity,
    says: &'static str,
    seen: Mutex<Vec<GenerateRequest>>,
}

impl Parrot {
    fn new(says: &'static str) -> Self {
        let identity = ModelIdentity { name: "parrot".to_owned(), digest: String::new() };
        Self { identity, says, seen: Mutex::default() }
    }
}

impl LanguageModel for Parrot {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn context_length(&self) -> usize {
        4_096
    }

    fn count_tokens(&self, text: &str) -> Result<usize> {
        Ok(estimate_tokens(text))
    }

    fn generate_streaming(
        &self,
        request: &GenerateRequest,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<Completion> {
        self.seen.lock().unwrap().push(request.clone());
        on_text(self.says);
        Ok(Completion {
            text: self.says.to_owned(),
            prompt_tokens: 100,
            completion_tokens: 10,
            seconds: 0.5,
            finish: FinishReason::Stop,
        })
    }
}

fn opened(folder: &Path) -> SearchIndex {
    let tables = Tables {
        files: vec![File { path: "src/Grid.h".to_owned(), ..File::default() }],
        texts: vec![Text { path: "src/Grid.h".to_owned(), text: SOURCE.to_owned() }],
        entities: vec![Entity {
            id: "spacing".to_owned(),
            path: "src/Grid.h".to_owned(),
            kind: EntityKind::FunctionDefinition,
            name: "spacing".to_owned(),
            qualified_name: "spacing".to_owned(),
            start_line: 1,
            end_line: 3,
            end_byte: SOURCE.len() as u64,
            is_definition: true,
            ..Entity::default()
        }],
        ..Tables::default()
    };
    build(&tables, &[], folder).unwrap();
    SearchIndex::open(tables, folder).unwrap()
}

#[derive(serde::Deserialize)]
struct Defaults {
    retrieval: RetrievalSettings,
    answer: AnswerSettings,
}

fn defaults() -> Defaults {
    toml::from_str(include_str!("../../../../config/defaults.toml")).unwrap()
}

/// The answer to `question` of a model that says `says`, and what it was asked.
fn ask(question: &str, says: &'static str) -> (almanac_answer::Answer, SearchResult, Vec<GenerateRequest>) {
    let folder = tempfile::tempdir().unwrap();
    let index = opened(folder.path());
    let defaults = defaults();
    let found = search(&index, None, question, &defaults.retrieval, &estimate_tokens).unwrap();
    let model = Parrot::new(says);
    let mut streamed = String::new();
    let answered = answer(&index, &found, &model, PROMPT, &defaults.answer, &mut |piece| {
        streamed.push_str(piece);
    })
    .unwrap();
    assert_eq!(streamed, answered.text);
    let seen = model.seen.into_inner().unwrap();
    (answered, found, seen)
}

#[test]
fn the_model_sees_the_question_and_the_evidence() {
    let (answered, found, seen) = ask("What is the spacing?", "It is length over cells.");
    assert!(seen[0].user.contains("What is the spacing?"));
    assert!(seen[0].user.contains(found.context.trim()));
    assert!(seen[0].user.contains("return length / cells;"));
    assert!(!seen[0].system.is_empty());
    assert_eq!((answered.prompt_tokens, answered.completion_tokens), (100, 10));
    assert!(answered.unsupported.is_empty());
    // Seen, not cited.
    assert_eq!(answered.sources.len(), 1);
    assert!(!answered.sources[0].cited);
}

#[test]
fn citations_are_checked_against_the_evidence() {
    let (answered, ..) = ask(
        "What is the spacing?",
        "Length over cells (src/Grid.h:2), see also Grid.h:1-3, Grid.h:90, src/Mesh.h:4 and `cells`, `Laplace()`.",
    );
    let cited: Vec<(usize, usize)> = answered
        .sources
        .iter()
        .filter(|source| source.cited)
        .map(|source| (source.start_line, source.end_line))
        .collect();
    assert_eq!(cited, [(2, 2), (1, 3)]);
    assert!(answered.sources.iter().all(|source| source.cited), "the only chunk is cited");
    assert_eq!(
        answered.unsupported,
        ["Grid.h:90: the file has 3 lines", "src/Mesh.h:4: no such file", "`Laplace()`: not in the evidence",]
    );
}

#[test]
fn what_is_not_there_is_not_asked_of_the_model() {
    let (answered, _, seen) = ask("How are neutrino oscillations simulated?", "Neutrinos!");
    assert!(seen.is_empty());
    assert!(answered.text.starts_with("This is not in this codebase"), "{}", answered.text);
    assert!(answered.text.contains("`neutrino`"), "{}", answered.text);
    assert_eq!(answered.completion_tokens, 0);
}

#[test]
fn an_answer_without_text_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let index = opened(folder.path());
    let defaults = defaults();
    let found = search(&index, None, "What is the spacing?", &defaults.retrieval, &estimate_tokens).unwrap();
    for says in ["", " \n\n"] {
        let model = Parrot::new(says);
        let error = answer(&index, &found, &model, PROMPT, &defaults.answer, &mut |_| {}).unwrap_err();
        assert!(matches!(error, Error::NoText { tokens: 10, .. }), "{error}");
        assert_eq!(miette::Diagnostic::code(&error).unwrap().to_string(), "almanac::unavailable");
    }
}

#[test]
fn the_budget_leaves_room_for_question_and_answer() {
    let defaults = defaults();
    let model = Parrot::new("");
    let budget = context_budget(&model, PROMPT, "What is the spacing?", &defaults.answer).unwrap();
    let window = model.context_length().min(defaults.answer.context_tokens);
    assert!(budget + defaults.answer.max_tokens < window && budget > window / 2, "{budget}");
    let mut settings = defaults.answer;
    settings.max_tokens = 4_000;
    let error = context_budget(&model, PROMPT, "What?", &settings).unwrap_err();
    assert!(matches!(error, Error::NoRoom { .. }), "{error}");
}

#[test]
fn both_shipped_prompts_render() {
    let folder = tempfile::tempdir().unwrap();
    let index = opened(folder.path());
    let mut defaults = defaults();
    let found = search(&index, None, "spacing", &defaults.retrieval, &estimate_tokens).unwrap();
    for (mode, text) in [("retrieval_answer", OLD_PROMPT), ("retrieval_answer_v2", PROMPT)] {
        defaults.answer.prompt = mode.to_owned();
        let model = Parrot::new("Yes.");
        answer(&index, &found, &model, text, &defaults.answer, &mut |_| {}).unwrap();
    }
}
