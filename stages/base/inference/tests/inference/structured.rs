//! Structured answers of a model that knows nothing: the grammar alone makes them JSON of the schema.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use almanac_artifact::Shard;
use almanac_inference::{
    AnswerSchema, ChatOptions, FinishReason, FlushPolicy, GenerateRequest, GenerationJob, GenerationLimits,
    LanguageModel, LazyModel, MistralModel, ModelIdentity, OpenLedger, PromptTemplate, Sampling, generate,
};
use almanac_tables::{GenerationRecord, RecordStatus};
use serde_json::Value;
use tempfile::TempDir;

use crate::tiny;

const SCHEMAS: [AnswerSchema; 5] = [
    AnswerSchema::Symbol,
    AnswerSchema::File,
    AnswerSchema::Document,
    AnswerSchema::Module,
    AnswerSchema::CallChain,
];

/// A model of random weights, and the folder of its files.
fn model() -> (TempDir, MistralModel) {
    let folder = tempfile::tempdir().unwrap();
    tiny::llama_of_bytes(folder.path());
    let model = load(folder.path());
    (folder, model)
}

fn load(folder: &Path) -> MistralModel {
    let catalog = tiny::catalog_with(folder, "llama", 4096, "");
    let options = ChatOptions { sequences: NonZeroUsize::MIN };
    MistralModel::load(&catalog, "tiny", folder, &options).unwrap()
}

/// What JSON Schema would say, for the few words of it that are used.
fn assert_valid(schema: &Value, text: &str) {
    let answer: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let answer = answer.as_object().unwrap();
    let properties = schema["properties"].as_object().unwrap();
    assert_eq!(answer.keys().collect::<Vec<_>>(), properties.keys().collect::<Vec<_>>(), "{text}");
    let check_text = |value: &Value, schema: &Value| {
        let length = value.as_str().unwrap().chars().count() as u64;
        let (least, most) = (schema["minLength"].as_u64().unwrap(), schema["maxLength"].as_u64().unwrap());
        assert!((least..=most).contains(&length), "{length} is not from {least} to {most}: {text}");
    };
    for (name, value) in answer {
        let property = &properties[name];
        if property["type"] == "array" {
            let items = value.as_array().unwrap();
            assert!(items.len() as u64 <= property["maxItems"].as_u64().unwrap(), "{text}");
            items.iter().for_each(|item| check_text(item, &property["items"]));
        } else {
            check_text(value, property);
        }
    }
}

#[test]
fn random_weights_give_json_of_every_schema() {
    let (_folder, model) = model();
    for schema in SCHEMAS {
        let schema = Arc::new(schema.json_schema(100));
        for seed in 0..4 {
            let request = GenerateRequest {
                system: String::new(),
                user: format!("Explain number {seed}."),
                max_tokens: 3000,
                temperature: if seed == 0 { 0.0 } else { 1.0 },
                seed,
                schema: Some(Arc::clone(&schema)),
            };
            let completion = model.generate(&request).unwrap();
            assert_eq!(completion.finish, FinishReason::Stop);
            assert_valid(&schema, &completion.text);
            // The same request has the same answer, byte for byte.
            assert_eq!(model.generate(&request).unwrap().text, completion.text);
        }
    }
}

fn sampling() -> Sampling {
    Sampling { temperature: 1.0, retry_temperature: 1.0, seed: 3, attempts: 2, minimum_grounding: 0.5 }
}

fn jobs(identity: &ModelIdentity, order: impl Iterator<Item = usize>) -> Vec<GenerationJob> {
    let text =
        "+++\nmode = \"general\"\nversion = 1\nmax_tokens = 400\nschema = \"symbol\"\nsystem = \"\"\n+++\nx";
    let template = PromptTemplate::parse("general", text).unwrap();
    let job = |number: usize| {
        let user = format!("void f{number}(int x) {{ g(x + {number}); }}");
        // Half of them are cut by the limit.
        let tokens = if number % 2 == 0 { 400 } else { 60 };
        GenerationJob::new(&format!("f{number}"), &template, user, tokens, identity, &sampling())
    };
    order.map(job).collect()
}

fn run(model: &Path, identity: &ModelIdentity, jobs: &[GenerationJob], store: &Path, shard: Shard) {
    let interrupted = AtomicBool::new(false);
    let limits = GenerationLimits {
        shard,
        deadline: None,
        in_flight: 1,
        retry_failed: false,
        interrupted: &interrupted,
    };
    let mut lazy = LazyModel::new(identity.clone(), || Ok(Box::new(load(model)) as Box<dyn LanguageModel>));
    let jobs: Vec<&GenerationJob> = jobs.iter().collect();
    let policy = FlushPolicy { records: 2, interval: Duration::from_secs(9) };
    let mut ledger = OpenLedger::open(store, policy).unwrap();
    generate(&jobs, &mut lazy, &mut ledger, &sampling(), &limits, &mut |_| {}).unwrap();
    ledger.finish(false).unwrap();
}

/// The records without the time they took.
fn records(store: &Path) -> Vec<GenerationRecord> {
    let policy = FlushPolicy { records: 2, interval: Duration::from_secs(9) };
    let ledger = OpenLedger::<GenerationRecord>::open(store, policy).unwrap();
    ledger.records().iter().map(|record| GenerationRecord { seconds: 0.0, ..record.clone() }).collect()
}

#[test]
fn records_are_whole_and_the_same_whatever_the_shards_and_their_order() {
    let (folder, model) = model();
    let identity = model.identity().clone();
    drop(model);
    let (whole, sharded) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(folder.path(), &identity, &jobs(&identity, 0..6), whole.path(), Shard::WHOLE);
    for number in [3, 1, 2] {
        let jobs = jobs(&identity, (0..6).rev());
        run(folder.path(), &identity, &jobs, sharded.path(), Shard { number, count: 3 });
    }
    let made = records(whole.path());
    assert_eq!(made, records(sharded.path()));
    assert_eq!(made.len(), 6);
    for record in &made {
        match record.status {
            RecordStatus::Done => {
                let said = record.saying().expect("what is kept can be read");
                assert!(!said.answer.role.is_empty());
                assert!((0.0..=1.0).contains(&record.grounding));
            }
            _ => assert!(!record.reason.is_empty(), "{record:?}"),
        }
    }
}
