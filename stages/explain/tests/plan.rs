//! What is explained, with which prompt, and how the ledger becomes rows.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use almanac_artifact::Shard;
use almanac_explain::{Params, Plan, Sources};
use almanac_inference::{
    AnswerFormat, Completion, FinishReason, FlushPolicy, GenerateRequest, GenerationLimits, LanguageModel,
    LazyModel, ModelIdentity, OpenLedger, PromptTemplate, estimate_tokens,
};
use almanac_tables::{
    ArtifactRole, Edge, EdgeKind, Entity, EntityKind, GenerationRecord, Imported, Rank, RecordStatus, Text,
};

const DEFAULTS: &str = include_str!("../../../config/defaults.toml");
const PROMPT: &str = include_str!("../../../config/prompts/general.md");

const HEADER: &str = "\
class Solver : public Base {
public:
  /// Solves the linear system A x = b.
  void solve(Field& x, const Field& b);
  int iterations() const { return iterations_m; }
private:
  int iterations_m; // number of iterations that the last call of solve needed to converge
};
";
const SOURCE: &str = "\
void Solver::solve(Field& x, const Field& b) {
  Field r = b - apply(x);
  while (norm(r) > tolerance_m) { iterations_m++; step(x, r); }
}
void step(Field& x, Field& r) { /* one step of the conjugate gradient method, with a long comment */ }
";

fn params() -> Params {
    let defaults: toml::Table = DEFAULTS.parse().unwrap();
    defaults["explain"]["params"].clone().try_into().unwrap()
}

fn identity() -> ModelIdentity {
    ModelIdentity { name: "tiny".into(), digest: "0123".into() }
}

fn entity(id: &str, kind: EntityKind, path: &str, from: &str, to: &str) -> Entity {
    let text = if path.ends_with(".h") { HEADER } else { SOURCE };
    let start = text.find(from).unwrap();
    let end = start + text[start..].find(to).unwrap() + to.len();
    Entity {
        id: id.into(),
        kind,
        path: path.into(),
        qualified_name: format!("ns::{id}"),
        signature: from.into(),
        start_byte: start as u64,
        end_byte: end as u64,
        is_definition: !kind.as_str().ends_with("declaration"),
        ..Entity::default()
    }
}

fn edge(kind: EdgeKind, source: &str, target: &str, confidence: f32) -> Edge {
    let (source, target) = (source.into(), target.into());
    Edge { kind, source, target, confidence, count: 1, ..Edge::default() }
}

struct Rows {
    entities: Vec<Entity>,
    texts: Vec<Text>,
    edges: Vec<Edge>,
    ranks: Vec<Rank>,
}

fn rows() -> Rows {
    use EntityKind as Kind;
    let mut class = entity("Solver", Kind::Class, "a.h", "class Solver", "};");
    class.bases = vec!["Base".into()];
    let mut declared = entity("declared", Kind::MethodDeclaration, "a.h", "void solve", ";");
    declared.leading_comment = "Solves the linear system A x = b.".into();
    let rank = |node: &str, score| Rank { node: node.into(), score, ..Rank::default() };
    let text = |path: &str, text: &str| Text { path: path.into(), text: text.into() };
    Rows {
        entities: vec![
            class,
            declared,
            entity("getter", Kind::MethodDefinition, "a.h", "int iterations()", "}"),
            entity("solve", Kind::MethodDefinition, "b.cpp", "void Solver::solve", "\n}"),
            entity("step", Kind::FunctionDefinition, "b.cpp", "void step", " }"),
        ],
        texts: vec![text("a.h", HEADER), text("b.cpp", SOURCE)],
        edges: vec![
            edge(EdgeKind::Calls, "solve", "step", 1.0),
            edge(EdgeKind::Calls, "step", "getter", 0.25),
            edge(EdgeKind::Defines, "solve", "declared", 1.0),
        ],
        // The graph binds calls of `solve` to its declaration.
        ranks: vec![rank("Solver", 0.2), rank("declared", 0.5), rank("solve", 0.1), rank("step", 0.3)],
    }
}

impl Rows {
    fn plan(&self, params: &Params) -> Plan {
        let Self { entities, texts, edges, ranks } = self;
        let sources = Sources { entities, texts, edges, ranks };
        let template = PromptTemplate::parse("general", PROMPT).unwrap();
        Plan::new(&sources, &template, &identity(), params, &Imported::none()).unwrap()
    }
}

fn order(plan: &Plan) -> Vec<&str> {
    plan.work().iter().map(|work| work.entity_id.as_str()).collect()
}

fn prompt_of<'a>(plan: &'a Plan, id: &str) -> &'a str {
    &plan.work().iter().find(|work| work.entity_id == id).unwrap().job.user
}

#[test]
fn explains_allowed_kinds_most_important_first() {
    let plan = rows().plan(&params());
    assert_eq!(order(&plan), ["solve", "step", "Solver"]);
    assert_eq!(plan.work()[0].declarations, ["declared"]);
    // What people see of the work.
    assert_eq!(plan.work()[0].job.subject, "ns::solve");
}

#[test]
fn nothing_is_asked_about_copied_or_generated_code() {
    let mut rows = rows();
    rows.entities[0].role = ArtifactRole::Vendored;
    rows.entities[4].role = ArtifactRole::Generated;
    assert_eq!(order(&rows.plan(&params())), ["solve"]);
}

#[test]
fn a_prompt_tells_code_and_neighbours() {
    let plan = rows().plan(&params());
    let solve = prompt_of(&plan, "solve");
    assert!(solve.contains("method definition: ns::solve\n"), "{solve}");
    assert!(solve.contains("Calls: ns::step\n"), "{solve}");
    assert!(solve.contains("while (norm(r) > tolerance_m) { iterations_m++; step(x, r); }"));
    let step = prompt_of(&plan, "step");
    assert!(step.contains("Called by: ns::solve\n"), "{step}");
    assert!(!step.contains("getter"), "an edge of confidence 0.25 is no fact");
    assert!(prompt_of(&plan, "Solver").contains("Derives from: Base\n"));
}

#[test]
fn ranks_decide_the_order_and_never_a_prompt() {
    let (mut other, params) = (rows(), params());
    other.ranks.iter_mut().for_each(|rank| rank.score = 1.0 - rank.score);
    let (before, after) = (rows().plan(&params), other.plan(&params));
    assert_ne!(order(&before), order(&after));
    for work in before.work() {
        assert_eq!(work.job.user, prompt_of(&after, &work.entity_id));
    }
}

#[test]
fn facts_go_before_code() {
    let template = PromptTemplate::parse("general", PROMPT).unwrap();
    let mut params = params();
    let whole = rows().plan(&params);
    let code = "step(x, r); }\n}";
    let full = estimate_tokens(template.system()) + estimate_tokens(prompt_of(&whole, "solve"));
    params.context_tokens = full + params.max_tokens - 3;
    let tight = rows().plan(&params);
    assert!(!prompt_of(&tight, "solve").contains("Calls:"));
    assert!(prompt_of(&tight, "solve").contains(code));
    params.context_tokens = full + params.max_tokens - 25;
    let cut = rows().plan(&params);
    assert!(prompt_of(&cut, "solve").contains("lines left out"), "{}", prompt_of(&cut, "solve"));
}

/// Answers with the first words of the prompt, in the schema where one is asked for.
struct Echo(ModelIdentity);

impl LanguageModel for Echo {
    fn identity(&self) -> &ModelIdentity {
        &self.0
    }

    fn context_length(&self) -> usize {
        8192
    }

    fn count_tokens(&self, text: &str) -> almanac_inference::Result<usize> {
        Ok(text.split_whitespace().count())
    }

    fn generate_streaming(
        &self,
        request: &GenerateRequest,
        _on_text: &mut dyn FnMut(&str),
    ) -> almanac_inference::Result<Completion> {
        let role = request.user.split_whitespace().take(6).collect::<Vec<_>>().join(" ");
        let text = match &request.schema {
            Some(_) => serde_json::json!({"role": role, "terms": ["step", "made_up"]}).to_string(),
            None => role,
        };
        let finish = FinishReason::Stop;
        Ok(Completion { text, prompt_tokens: 9, completion_tokens: 6, seconds: 0.0, finish })
    }
}

fn ledger(folder: &Path) -> OpenLedger<GenerationRecord> {
    let policy = FlushPolicy { records: 1, interval: Duration::from_secs(9) };
    OpenLedger::open(folder, policy).unwrap()
}

fn generate(plan: &Plan, folder: &Path, most: usize, shard: Shard) -> usize {
    let interrupted = AtomicBool::new(false);
    let limits = GenerationLimits {
        shard,
        deadline: None,
        in_flight: 1,
        retry_failed: false,
        interrupted: &interrupted,
    };
    let mut model = LazyModel::new(identity(), || Ok(Box::new(Echo(identity()))));
    let mut ledger = ledger(folder);
    plan.generate(most, &mut model, &mut ledger, &limits, &mut |_| {}).unwrap().generated
}

#[test]
fn a_limit_names_the_most_important_and_counts_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let plan = rows().plan(&params());
    assert_eq!(generate(&plan, folder.path(), 2, Shard::WHOLE), 2);
    assert_eq!(generate(&plan, folder.path(), 2, Shard::WHOLE), 0);
    let rows = plan.project(ledger(folder.path()).records());
    let told: Vec<(&str, RecordStatus, u32)> =
        rows.iter().map(|row| (row.entity_id.as_str(), row.status, row.priority)).collect();
    let (done, missing) = (RecordStatus::Done, RecordStatus::Missing);
    let expected = [("Solver", missing, 2), ("declared", done, 0), ("solve", done, 0), ("step", done, 1)];
    assert_eq!(told, expected);
    assert_eq!(rows[1].text, rows[2].text);
    assert!(rows[2].role.contains("b.cpp"));
    assert_eq!(rows[2].text, format!("{}\nTerms: step, made_up", rows[2].role));
    // Of the terms one looks like a name of the code, and it is none.
    assert_eq!((rows[2].grounding, rows[2].poorly_grounded), (Some(0.0), true));
    assert_eq!(rows[2].ungrounded, ["made_up"]);
    assert_eq!((rows[0].grounding, rows[0].poorly_grounded), (None, false));
}

#[test]
fn free_text_stays_possible() {
    let template = PromptTemplate::parse_for(AnswerFormat::Text, "general", PROMPT).unwrap();
    assert!(template.system().contains("Write a line for each"), "{}", template.system());
    let rows = rows();
    let Rows { entities, texts, edges, ranks } = &rows;
    let sources = Sources { entities, texts, edges, ranks };
    let plan = Plan::new(&sources, &template, &identity(), &params(), &Imported::none()).unwrap();
    assert_ne!(plan.record_keys(), rows.plan(&params()).record_keys());
    let folder = tempfile::tempdir().unwrap();
    generate(&plan, folder.path(), 1, Shard::WHOLE);
    let rows = plan.project(ledger(folder.path()).records());
    assert_eq!((rows[2].role.as_str(), rows[2].status), ("", RecordStatus::Done));
    assert!(rows[2].text.contains("b.cpp"));
}

#[test]
fn shards_give_the_rows_of_one_run() {
    let (whole, sharded) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let plan = rows().plan(&params());
    generate(&plan, whole.path(), usize::MAX, Shard::WHOLE);
    for number in [2, 3, 1] {
        assert_eq!(generate(&plan, sharded.path(), usize::MAX, Shard { number, count: 3 }), 1);
    }
    let rows = |folder: &Path| plan.project(ledger(folder).records());
    assert_eq!(rows(whole.path()), rows(sharded.path()));
}
