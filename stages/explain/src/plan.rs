//! What is explained, in which order and with which prompt.

use std::collections::{BTreeMap, BTreeSet};

use almanac_artifact::Ledger;
use almanac_inference::{
    GenerationCounts, GenerationJob, GenerationLimits, GenerationProgress, LazyModel, ModelIdentity,
    OpenLedger, PromptTemplate, Sampling, Told, generate,
};
use almanac_tables::{Answer, Edge, Entity, Explanation, GenerationRecord, Imported, Rank, Text, preferred};

use crate::facts::render;
use crate::neighbours::Neighbours;
use crate::{Params, Result};

/// The rows the stage reads.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// Entities, in table order.
    pub entities: &'a [Entity],
    /// Texts of their files.
    pub texts: &'a [Text],
    /// The graph.
    pub edges: &'a [Edge],
    /// How central its nodes are.
    pub ranks: &'a [Rank],
}

/// One symbol to explain.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// The entity.
    pub entity_id: String,
    /// Its declarations elsewhere, which get the same explanation.
    pub declarations: Vec<String>,
    /// What the model is asked.
    pub job: GenerationJob,
    /// What was imported for it: then the model is not asked.
    pub imported: Option<GenerationRecord>,
}

/// Everything that can be explained, most important first.
#[derive(Debug, Clone)]
pub struct Plan {
    work: Vec<Work>,
    model: ModelIdentity,
    sampling: Sampling,
}

impl Plan {
    /// Chooses, orders and renders; needs no model, only its identity.
    pub fn new(
        sources: &Sources<'_>,
        template: &PromptTemplate,
        model: &ModelIdentity,
        params: &Params,
        imported: &Imported,
    ) -> Result<Self> {
        let neighbours = Neighbours::new(sources.entities, sources.edges, params.minimum_confidence);
        let texts: BTreeMap<&str, &str> =
            sources.texts.iter().map(|text| (text.path.as_str(), text.text.as_str())).collect();
        let chosen = choose(sources, &texts, &neighbours, params);
        let declarations = declarations(&chosen, &neighbours);
        let files = callables_by_file(sources.entities);
        let mut work = Vec::with_capacity(chosen.len());
        for (entity, declarations) in chosen.into_iter().zip(declarations) {
            let inside = inside(entity, &files);
            let text = texts.get(entity.path.as_str()).copied().unwrap_or("");
            let user = render(entity, &inside, text, &neighbours, template, params)?;
            let (name, most) = (&entity.qualified_name, params.max_tokens);
            let job = GenerationJob::new(name, template, user, most, model, &params.sampling);
            let imported = imported.get(&entity.id, &entity.text_digest).cloned();
            work.push(Work { entity_id: entity.id.clone(), declarations, job, imported });
        }
        Ok(Self { work, model: model.clone(), sampling: params.sampling.clone() })
    }

    /// The work, most important first.
    pub fn work(&self) -> &[Work] {
        &self.work
    }

    /// Keys of all records that the plan can use.
    pub fn record_keys(&self) -> BTreeSet<String> {
        self.work.iter().map(|work| work.job.record_key.clone()).collect()
    }

    /// Generates what the ledger lacks of the `most` most important explanations.
    ///
    /// The choice counts explanations that are there already, so the same limit gives the same
    /// explanations however many runs and shards it takes.
    pub fn generate(
        &self,
        most: usize,
        model: &mut LazyModel<'_>,
        ledger: &mut OpenLedger<GenerationRecord>,
        limits: &GenerationLimits<'_>,
        progress: &mut dyn FnMut(GenerationProgress<'_>),
    ) -> Result<GenerationCounts> {
        let chosen = self.work.iter().take(most).filter(|work| work.imported.is_none());
        let jobs: Vec<&GenerationJob> = chosen.map(|work| &work.job).collect();
        Ok(generate(&jobs, model, ledger, &self.sampling, limits, progress)?)
    }

    /// The explanations there are and those that are missing, in table order.
    pub fn project(&self, ledger: &Ledger<GenerationRecord>) -> Vec<Explanation> {
        let mut rows = Vec::new();
        for (priority, work) in (0..).zip(&self.work) {
            let record = preferred(ledger.get(&work.job.record_key), work.imported.as_ref());
            let row = self.row(work, record, priority);
            for entity_id in std::iter::once(&work.entity_id).chain(&work.declarations) {
                rows.push(Explanation { entity_id: entity_id.clone(), ..row.clone() });
            }
        }
        rows.sort_by(|a, b| a.entity_id.cmp(&b.entity_id));
        rows
    }

    /// The row of a symbol, without its id.
    fn row(&self, work: &Work, record: Option<&GenerationRecord>, priority: u32) -> Explanation {
        let said = Told::of(record, &self.sampling);
        let Answer { role, does, inputs, outputs, meaning, parallelism, effects, terms, uncertainty } =
            said.answer;
        Explanation {
            entity_id: String::new(),
            status: said.status,
            reason: said.reason,
            prompt: record.map_or(&work.job.prompt, |record| &record.prompt).clone(),
            model: record.map_or(&self.model.name, |record| &record.model).clone(),
            text: said.text,
            role,
            does,
            inputs,
            outputs,
            meaning,
            parallelism,
            effects,
            terms,
            uncertainty,
            grounding: said.grounding,
            ungrounded: said.ungrounded,
            poorly_grounded: said.poorly_grounded,
            record_key: record.map_or(&work.job.record_key, |record| &record.record_key).clone(),
            priority,
        }
    }
}

/// Entities of the wanted kinds, roles and lengths, most central first.
fn choose<'a>(
    sources: &Sources<'a>,
    texts: &BTreeMap<&str, &str>,
    neighbours: &Neighbours<'a>,
    params: &Params,
) -> Vec<&'a Entity> {
    let scores: BTreeMap<&str, f64> =
        sources.ranks.iter().map(|rank| (rank.node.as_str(), rank.score)).collect();
    let score = |node: &str| scores.get(node).copied().unwrap_or(0.0);
    // A call may be bound to the declaration of what it means.
    let importance = |entity: &Entity| {
        let declared = neighbours.declarations(&entity.id).iter().map(|edge| score(&edge.target));
        declared.fold(score(&entity.id), f64::max)
    };
    let mut chosen: Vec<(f64, &Entity)> = sources
        .entities
        .iter()
        .filter(|entity| is_wanted(entity, texts, params))
        .map(|entity| (importance(entity), entity))
        .collect();
    chosen.sort_by(|(a_score, a), (b_score, b)| {
        let place = |entity: &'a Entity| (&entity.path, entity.start_byte, &entity.id);
        b_score.total_cmp(a_score).then_with(|| place(a).cmp(&place(b)))
    });
    chosen.into_iter().map(|(_, entity)| entity).collect()
}

fn is_wanted(entity: &Entity, texts: &BTreeMap<&str, &str>, params: &Params) -> bool {
    let is_forward_declaration = entity.kind.is_record() && !entity.is_definition;
    params.kinds.contains(&entity.kind)
        && !params.skip_roles.contains(&entity.role)
        && !is_forward_declaration
        && texts
            .get(entity.path.as_str())
            .is_some_and(|text| entity.slice(text).trim().chars().count() >= params.minimum_characters)
}

/// For each chosen entity the declarations that inherit its explanation.
///
/// A declaration with several possible definitions takes the surest, then the most important.
fn declarations(chosen: &[&Entity], neighbours: &Neighbours<'_>) -> Vec<Vec<String>> {
    let mut best: BTreeMap<&str, (f32, usize)> = BTreeMap::new();
    for (at, definition) in chosen.iter().enumerate() {
        for edge in neighbours.declarations(&definition.id) {
            let kept = best.entry(edge.target.as_str()).or_insert((edge.confidence, at));
            if edge.confidence > kept.0 {
                *kept = (edge.confidence, at);
            }
        }
    }
    // What is explained for itself inherits nothing.
    chosen.iter().for_each(|entity| {
        best.remove(entity.id.as_str());
    });
    let mut declarations = vec![Vec::new(); chosen.len()];
    for (declaration, (_, at)) in best {
        declarations[at].push(declaration.to_owned());
    }
    declarations
}

type CallablesByFile<'a> = BTreeMap<&'a str, Vec<&'a Entity>>;

fn callables_by_file(entities: &[Entity]) -> CallablesByFile<'_> {
    let mut files: CallablesByFile<'_> = BTreeMap::new();
    for entity in entities.iter().filter(|entity| entity.is_definition && entity.kind.is_callable()) {
        files.entry(&entity.path).or_default().push(entity);
    }
    files.values_mut().for_each(|file| file.sort_by_key(|entity| (entity.start_byte, entity.end_byte)));
    files
}

/// Callables with a body inside a class, in source order.
fn inside<'a>(entity: &Entity, files: &CallablesByFile<'a>) -> Vec<&'a Entity> {
    if !entity.kind.is_record() {
        return Vec::new();
    }
    let file = files.get(entity.path.as_str()).map_or(&[][..], Vec::as_slice);
    let from = file.partition_point(|inner| inner.start_byte <= entity.start_byte);
    let to = file.partition_point(|inner| inner.start_byte < entity.end_byte);
    file[from..to.max(from)].to_vec()
}
