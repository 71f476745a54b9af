//! The runner over a scripted model and a real ledger.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use almanac_artifact::Shard;

use super::*;
use crate::{Completion, FinishReason, ModelIdentity, PromptTemplate};

/// Answers from a script: the user message is the script, `|` parts its attempts.
struct Scripted {
    identity: ModelIdentity,
    asked: Mutex<Vec<GenerateRequest>>,
    interrupt_after: usize,
    interrupted: AtomicBool,
}

impl Scripted {
    fn new() -> Self {
        Self {
            identity: identity(),
            asked: Mutex::default(),
            interrupt_after: usize::MAX,
            interrupted: AtomicBool::new(false),
        }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().map(|request| request.user.clone()).collect()
    }
}

impl LanguageModel for &'static Scripted {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn context_length(&self) -> usize {
        1000
    }

    fn count_tokens(&self, text: &str) -> crate::Result<usize> {
        Ok(text.len())
    }

    fn generate_streaming(
        &self,
        request: &GenerateRequest,
        _on_text: &mut dyn FnMut(&str),
    ) -> crate::Result<Completion> {
        let attempt = {
            let mut asked = self.asked.lock().unwrap();
            asked.push(request.clone());
            if asked.len() >= self.interrupt_after {
                self.interrupted.store(true, Ordering::Relaxed);
            }
            asked.iter().filter(|earlier| script(earlier) == script(request)).count() - 1
        };
        let answer = script(request).split('|').nth(attempt).unwrap_or("answer number four and later");
        match answer {
            "break" => Err(model_error()),
            "overflow" => Err(overflow()),
            "signal" => {
                // As a model that looks while it generates.
                self.interrupted.store(true, Ordering::Relaxed);
                Err(crate::Error::Interrupted { name: "scripted".into() })
            }
            "invent" => Ok(completion("It calls `Invented::thing` at the end.")),
            "loop" => Ok(completion(&"again and again ".repeat(20))),
            answer => Ok(completion(answer)),
        }
    }
}

/// The script of a request, also of one that tells what was wrong with an earlier answer.
fn script(request: &GenerateRequest) -> &str {
    request.user.split("\n\nAn earlier answer").next().unwrap_or_default()
}

fn model_error() -> crate::Error {
    crate::Error::Tokenize { name: "scripted".into(), source: "broken".into() }
}

fn overflow() -> crate::Error {
    let name = "scripted".into();
    crate::Error::ContextOverflow { name, prompt: 2000, answer: 9, limit: 1000 }
}

fn completion(text: &str) -> Completion {
    Completion {
        text: text.into(),
        prompt_tokens: 10,
        completion_tokens: 5,
        seconds: 0.5,
        finish: FinishReason::Stop,
    }
}

fn identity() -> ModelIdentity {
    ModelIdentity { name: "scripted".into(), digest: "d1".into() }
}

fn sampling() -> Sampling {
    Sampling { temperature: 0.0, retry_temperature: 0.5, seed: 7, attempts: 3, minimum_grounding: 0.5 }
}

fn template() -> PromptTemplate {
    let text = "+++\nmode = \"general\"\nversion = 1\nmax_tokens = 90\nsystem = \"s\"\n+++\nx";
    PromptTemplate::parse("general", text).unwrap()
}

fn jobs(scripts: &[&str]) -> Vec<GenerationJob> {
    let template = template();
    let job = |(at, script): (usize, &&str)| {
        let subject = format!("subject {at}");
        GenerationJob::new(&subject, &template, (*script).into(), 50, &identity(), &sampling())
    };
    scripts.iter().enumerate().map(job).collect()
}

fn open(folder: &Path) -> OpenLedger<GenerationRecord> {
    let policy = FlushPolicy { records: 2, interval: Duration::from_secs(60) };
    OpenLedger::open(folder, policy).unwrap()
}

struct Setup {
    model: &'static Scripted,
    shard: Shard,
    in_flight: usize,
    retry_failed: bool,
}

impl Setup {
    fn new() -> Self {
        Self::with(Scripted::new())
    }

    fn with(model: Scripted) -> Self {
        let model = Box::leak(Box::new(model));
        Self { model, shard: Shard::WHOLE, in_flight: 1, retry_failed: false }
    }

    fn run(&self, folder: &Path, jobs: &[GenerationJob]) -> Result<GenerationCounts, GenerationError> {
        self.run_told(folder, jobs, &mut |_| {})
    }

    fn run_told(
        &self,
        folder: &Path,
        jobs: &[GenerationJob],
        progress: &mut dyn FnMut(GenerationProgress<'_>),
    ) -> Result<GenerationCounts, GenerationError> {
        let model = self.model;
        let mut lazy = LazyModel::new(identity(), move || Ok(Box::new(model)));
        let limits = GenerationLimits {
            shard: self.shard,
            deadline: None,
            in_flight: self.in_flight,
            retry_failed: self.retry_failed,
            interrupted: &model.interrupted,
        };
        let jobs: Vec<&GenerationJob> = jobs.iter().collect();
        let mut ledger = open(folder);
        generate(&jobs, &mut lazy, &mut ledger, &sampling(), &limits, progress)
    }
}

const GOOD: [&str; 5] =
    ["answer number one", "answer number two", "answer number three", "answer four", "answer five"];

#[test]
fn generates_in_order_and_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs(&GOOD);
    let first = Setup::new();
    let counts = first.run(folder.path(), &jobs).unwrap();
    assert_eq!(first.model.asked(), GOOD);
    assert_eq!((counts.wanted, counts.generated, counts.left), (5, 5, 0));
    assert_eq!((counts.prompt_tokens, counts.completion_tokens), (50, 25));
    let second = Setup::new();
    let counts = second.run(folder.path(), &jobs).unwrap();
    assert_eq!((counts.reused, counts.generated), (5, 0));
    assert!(second.model.asked().is_empty());
}

#[test]
fn the_model_is_loaded_only_when_something_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs(&GOOD);
    Setup::new().run(folder.path(), &jobs).unwrap();
    let mut lazy = LazyModel::new(identity(), || Err(model_error()));
    let interrupted = AtomicBool::new(false);
    let limits = GenerationLimits {
        shard: Shard::WHOLE,
        deadline: None,
        in_flight: 1,
        retry_failed: false,
        interrupted: &interrupted,
    };
    let jobs: Vec<&GenerationJob> = jobs.iter().collect();
    let mut ledger = open(folder.path());
    let counts = generate(&jobs, &mut lazy, &mut ledger, &sampling(), &limits, &mut |_| {}).unwrap();
    assert_eq!(counts.reused, 5);
    assert!(!lazy.is_loaded());
}

#[test]
fn empty_and_looping_answers_are_retried_with_other_seeds() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs(&["|loop|the third answer is good", "||"]);
    let setup = Setup::new();
    let counts = setup.run(folder.path(), &jobs).unwrap();
    assert_eq!((counts.generated, counts.failed), (1, 1));
    let asked = setup.model.asked.lock().unwrap();
    let sampled: Vec<(f64, u64)> = asked.iter().map(|r| (r.temperature, r.seed)).collect();
    assert_eq!(sampled, [(0.0, 7), (0.5, 8), (0.5, 9), (0.0, 7), (0.5, 8), (0.5, 9)]);
    let ledger = open(folder.path());
    let done = ledger.get(&jobs[0].record_key).unwrap();
    assert_eq!((done.text.as_str(), done.attempts), ("the third answer is good", 3));
    assert_eq!((done.prompt_tokens, done.seconds), (30, 1.5));
    let failed = ledger.get(&jobs[1].record_key).unwrap();
    assert_eq!(failed.status, RecordStatus::Failed);
    assert_eq!((failed.reason.as_str(), failed.attempts), ("the answer is empty", 3));
}

#[test]
fn failed_records_are_kept_until_a_retry_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs(&["||"]);
    let mut setup = Setup::new();
    setup.run(folder.path(), &jobs).unwrap();
    let counts = setup.run(folder.path(), &jobs).unwrap();
    assert_eq!((counts.failed, counts.generated, setup.model.asked().len()), (1, 0, 3));
    setup.retry_failed = true;
    let counts = setup.run(folder.path(), &jobs).unwrap();
    assert_eq!((counts.failed, counts.generated), (0, 1));
    let last = setup.model.asked.lock().unwrap().last().cloned().unwrap();
    assert_eq!((last.temperature, last.seed), (0.5, 10));
    assert_eq!(open(folder.path()).get(&jobs[0].record_key).unwrap().attempts, 4);
}

#[test]
fn what_names_too_much_at_random_is_asked_for_once_more_and_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs(&["invent|a grounded answer at last", "invent|invent|a third is not asked for"]);
    let setup = Setup::new();
    let counts = setup.run(folder.path(), &jobs).unwrap();
    assert_eq!((counts.generated, counts.failed, setup.model.asked().len()), (2, 0, 4));
    let asked = setup.model.asked.lock().unwrap();
    assert!(asked[1].user.contains("named `Invented::thing`, which"), "{}", asked[1].user);
    assert_eq!((asked[1].temperature, asked[1].seed), (0.0, 8));
    let ledger = open(folder.path());
    let better = ledger.get(&jobs[0].record_key).unwrap();
    assert_eq!((better.text.as_str(), better.grounding), ("a grounded answer at last", 1.0));
    assert_eq!((better.attempts, better.prompt_tokens), (2, 20));
    let poor = ledger.get(&jobs[1].record_key).unwrap();
    assert_eq!((poor.status, poor.grounding), (RecordStatus::Done, 0.0));
    assert_eq!(poor.ungrounded, ["Invented::thing"]);
    let told = Told::of(Some(poor), &sampling());
    assert!(told.poorly_grounded && told.status == RecordStatus::Done);
}

#[test]
fn a_poor_record_is_replaced_by_a_better_one_alone() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs(&["invent|invent||||invent|a better answer now"]);
    let mut setup = Setup::new();
    setup.run(folder.path(), &jobs).unwrap();
    let counts = setup.run(folder.path(), &jobs).unwrap();
    assert_eq!((counts.reused, setup.model.asked().len()), (1, 2), "nobody asked for another try");
    setup.retry_failed = true;
    // Three empty answers: the poor text stands, and the next try has another seed.
    let counts = setup.run(folder.path(), &jobs).unwrap();
    assert_eq!((counts.failed, counts.left, setup.model.asked().len()), (0, 0, 5));
    let record = open(folder.path()).get(&jobs[0].record_key).cloned().unwrap();
    assert_eq!((record.grounding, record.attempts), (0.0, 5));
    let counts = setup.run(folder.path(), &jobs).unwrap();
    assert_eq!((counts.generated, setup.model.asked().len()), (1, 7));
    assert_eq!(setup.model.asked.lock().unwrap()[5].seed, 7 + 5);
    let record = open(folder.path()).get(&jobs[0].record_key).cloned().unwrap();
    assert_eq!((record.text.as_str(), record.grounding), ("a better answer now", 1.0));
}

#[test]
fn a_prompt_over_the_context_fails_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs(&["overflow", "answer number two"]);
    let counts = Setup::new().run(folder.path(), &jobs).unwrap();
    assert_eq!((counts.generated, counts.failed), (1, 1));
    let ledger = open(folder.path());
    assert!(ledger.get(&jobs[0].record_key).unwrap().reason.contains("1000"));
}

#[test]
fn a_broken_model_ends_the_run_and_leaves_no_failed_record() {
    let folder = tempfile::tempdir().unwrap();
    let scripts = ["answer number one", "break", "answer number two", "break|1", "break|2", "break|3", "x"];
    let jobs = jobs(&scripts);
    let setup = Setup::new();
    let error = setup.run(folder.path(), &jobs).unwrap_err();
    assert!(matches!(error, GenerationError::Broken { .. }), "{error}");
    assert_eq!(setup.model.asked().len(), 6);
    assert_eq!(open(folder.path()).records().len(), 2);
}

#[test]
fn an_interruption_stops_taking_work_and_keeps_what_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs(&GOOD);
    let setup = Setup::with(Scripted { interrupt_after: 3, ..Scripted::new() });
    let counts = setup.run(folder.path(), &jobs).unwrap();
    assert_eq!((counts.generated, counts.left), (3, 2));
    let counts = Setup::new().run(folder.path(), &jobs).unwrap();
    assert_eq!((counts.reused, counts.generated, counts.left), (3, 2, 0));
}

#[test]
fn a_text_that_is_interrupted_half_way_leaves_no_record() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs(&["answer number one", "|signal", "answer number three"]);
    let setup = Setup::new();
    let counts = setup.run(folder.path(), &jobs).unwrap();
    assert_eq!((counts.generated, counts.failed, counts.left), (1, 0, 2));
    assert_eq!(setup.model.asked(), ["answer number one", "|signal", "|signal"]);
    let ledger = open(folder.path());
    assert_eq!(ledger.records().len(), 1);
    assert!(ledger.get(&jobs[0].record_key).is_some());
}

#[test]
fn progress_tells_names_and_why_something_failed() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs(&["answer number one", "||", "overflow"]);
    let mut told = Vec::new();
    Setup::new()
        .run_told(folder.path(), &jobs, &mut |now| {
            told.push((now.subject.to_owned(), now.failure.map(str::to_owned)));
        })
        .unwrap();
    let failures: Vec<Option<&str>> = told.iter().map(|(_, failure)| failure.as_deref()).collect();
    assert_eq!(failures[..3], [None, None, Some("the answer is empty")]);
    assert!(failures[3].unwrap().contains("1000"));
    let subjects: Vec<&str> = told.iter().map(|(subject, _)| subject.as_str()).collect();
    assert_eq!(subjects, ["", "subject 0", "subject 1", "subject 2"]);
}

#[test]
fn shards_in_any_order_and_any_number_make_the_whole() {
    let (sharded, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let jobs = jobs(&GOOD);
    for (number, count) in [(3, 3), (1, 2), (2, 2), (1, 3)] {
        let mut setup = Setup::new();
        (setup.shard, setup.in_flight) = (Shard { number, count }, 2);
        setup.run(sharded.path(), &jobs).unwrap();
    }
    Setup::new().run(whole.path(), &jobs).unwrap();
    let records =
        |folder: &Path| -> Vec<GenerationRecord> { open(folder).records().iter().cloned().collect() };
    assert_eq!(records(sharded.path()), records(whole.path()));
}

#[test]
fn everything_that_decides_a_text_is_in_its_key() {
    let (template, identity, sampling) = (template(), identity(), sampling());
    let key = |user: &str, tokens, identity: &ModelIdentity, sampling: &Sampling| {
        GenerationJob::new("s", &template, user.into(), tokens, identity, sampling).record_key
    };
    let base = key("u", 50, &identity, &sampling);
    assert_eq!(base, key("u", 50, &identity, &sampling));
    assert_ne!(base, key("v", 50, &identity, &sampling));
    assert_ne!(base, key("u", 51, &identity, &sampling));
    // The name of a model decides nothing, and no answer is longer than its prompt says.
    let renamed = ModelIdentity { name: "other".into(), ..identity.clone() };
    assert_eq!(base, key("u", 50, &renamed, &sampling));
    assert_eq!(key("u", 90, &identity, &sampling), key("u", 900, &identity, &sampling));
    let other = ModelIdentity { digest: "d2".into(), ..identity.clone() };
    assert_ne!(base, key("u", 50, &other, &sampling));
    for changed in [
        Sampling { temperature: 0.1, ..sampling.clone() },
        Sampling { retry_temperature: 0.1, ..sampling.clone() },
        Sampling { seed: 8, ..sampling.clone() },
        Sampling { attempts: 2, ..sampling.clone() },
        Sampling { minimum_grounding: 0.6, ..sampling.clone() },
    ] {
        assert_ne!(base, key("u", 50, &identity, &changed));
    }
}

#[test]
fn the_schema_and_the_lengths_it_allows_are_in_the_key() {
    let key = |schema: &str, tokens| {
        let text =
            format!("+++\nmode = \"general\"\nversion = 1\nmax_tokens = 400\n{schema}system = \"s\"\n+++\nx");
        let template = PromptTemplate::parse("general", &text).unwrap();
        GenerationJob::new("s", &template, "u".into(), tokens, &identity(), &sampling())
    };
    let (free, symbol) = (key("", 300), key("schema = \"symbol\"\n", 300));
    let file = key("schema = \"file\"\n", 300);
    let keys = [&free, &symbol, &file].map(|job| job.record_key.as_str());
    assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
    assert_eq!((free.schema, symbol.schema), (None, Some(crate::AnswerSchema::Symbol)));
    assert_ne!(symbol.record_key, key("schema = \"symbol\"\n", 301).record_key);
}

#[test]
fn two_subjects_with_one_prompt_share_a_record_and_a_shard() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs(&["the same answer", "another answer", "the same answer"]);
    let interrupted = Setup::with(Scripted { interrupted: AtomicBool::new(true), ..Scripted::new() });
    let counts = interrupted.run(folder.path(), &jobs).unwrap();
    assert_eq!((counts.wanted, counts.generated, counts.reused, counts.left), (3, 0, 0, 3));
    let mut setup = Setup::new();
    setup.shard = Shard { number: 1, count: 2 };
    let counts = setup.run(folder.path(), &jobs).unwrap();
    assert_eq!((counts.wanted, counts.generated, counts.reused, counts.left), (2, 1, 1, 0));
    setup.shard.number = 2;
    let counts = setup.run(folder.path(), &jobs).unwrap();
    assert_eq!((counts.wanted, counts.generated, counts.reused, counts.left), (1, 1, 0, 0));
    assert_eq!(setup.model.asked(), ["the same answer", "another answer"]);
}
