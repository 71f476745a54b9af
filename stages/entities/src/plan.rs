//! What is summarised, in which order, and the walk over its levels.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use almanac_artifact::{Ledger, Shard};
use almanac_inference::{
    GenerationCounts, GenerationError, GenerationJob, GenerationLimits, GenerationProgress, LazyModel,
    ModelIdentity, OpenLedger, PromptTemplate, Told, generate,
};
use almanac_tables::{
    Answer, ArtifactRole, Entity, EntityLevel, File, GenerationRecord, Imported, Module, RecordStatus,
    Summary, file_node, folder_node, preferred,
};
use serde::Serialize;

use crate::call_chain::{self, Neighbourhood};
use crate::context::{Context, Sources};
use crate::params::{CallChainStrategy, FileStrategy, ModuleStrategy};
use crate::shares::allot;
use crate::{Params, Prompts, Result, file_level, module_level};

/// Generated summaries by summary id.
pub(crate) type Texts = BTreeMap<String, String>;

/// What a summary is about.
enum Subject<'a> {
    File(&'a File),
    Module(&'a Module),
    CallChain(Neighbourhood<'a>),
}

/// One summary to have.
struct Item<'a> {
    id: String,
    subject: Subject<'a>,
    importance: f64,
    /// Why no text is generated, if none is.
    unwanted: Option<&'static str>,
    /// Ids of the summaries its prompt contains.
    parts: Vec<String>,
    /// What was imported for it: then the model is not asked.
    imported: Option<GenerationRecord>,
}

impl Item<'_> {
    fn level(&self) -> EntityLevel {
        match self.subject {
            Subject::File(_) => EntityLevel::File,
            Subject::Module(_) => EntityLevel::Module,
            Subject::CallChain(_) => EntityLevel::CallChain,
        }
    }

    /// Digest of what it is about, as imported texts have it.
    fn content(&self) -> &str {
        match &self.subject {
            Subject::File(file) => Imported::file_content(file),
            Subject::Module(_) => Imported::MODULE_CONTENT,
            Subject::CallChain(chain) => &chain.callable.text_digest,
        }
    }

    /// What people call it.
    fn name(&self) -> &str {
        match &self.subject {
            Subject::File(file) => &file.path,
            Subject::Module(module) => &module.name,
            Subject::CallChain(chain) => &chain.callable.qualified_name,
        }
    }
}

/// A subject's facts and the prompt made of them, given the texts there are.
struct Draft {
    facts: String,
    members: Vec<String>,
    job: GenerationJob,
}

/// What the prompts of the paper may use.
#[derive(Serialize)]
struct PromptFacts<'a> {
    facts: &'a str,
    text: &'a str,
    cut: bool,
}

/// Every summary of a tree, in waves: what a wave's prompts contain was summarised before.
pub struct Plan<'a> {
    context: Context<'a>,
    prompts: &'a Prompts,
    model: ModelIdentity,
    modules: BTreeMap<&'a str, &'a Module>,
    waves: Vec<Vec<Item<'a>>>,
    level: Option<EntityLevel>,
}

impl<'a> Plan<'a> {
    /// Decides subjects and order; needs no model, only its identity.
    pub fn new(
        sources: &Sources<'a>,
        prompts: &'a Prompts,
        model: &ModelIdentity,
        params: &'a Params,
        imported: &Imported,
    ) -> Self {
        let context = Context::new(sources, params);
        let mut waves = vec![files(&context, sources.files)];
        waves.extend(modules(&context, sources.modules));
        waves.push(call_chains(&context, sources.entities));
        for wave in &mut waves {
            wave.sort_by(|a, b| b.importance.total_cmp(&a.importance).then_with(|| a.id.cmp(&b.id)));
            for item in wave {
                item.imported = imported.get(&item.id, item.content()).cloned();
            }
        }
        let modules = sources.modules.iter().map(|module| (module.id.as_str(), module)).collect();
        Self { context, prompts, model: model.clone(), modules, waves, level: None }
    }

    /// The same plan, generating one level alone; what it is made of must be there.
    #[must_use]
    pub fn only(mut self, level: EntityLevel) -> Self {
        self.level = Some(level);
        self
    }

    /// A shard's items of a wave that are to be generated.
    fn share<'b>(&'b self, wave: &'b [Item<'a>], chosen: &BTreeSet<&str>, shard: Shard) -> Vec<&'b Item<'a>> {
        // All items of a wave are of one level.
        let is_wanted = |item: &Item<'_>| self.level.is_none_or(|level| item.level() == level);
        let mut items =
            if wave.first().is_some_and(is_wanted) { taken(wave, chosen, shard) } else { Vec::new() };
        items.retain(|item| item.imported.is_none());
        items
    }

    /// Summaries there can be, whether or not a text is wanted.
    pub fn len(&self) -> usize {
        self.waves.iter().map(Vec::len).sum()
    }

    /// Whether there is nothing to summarise.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Generates what the ledger lacks of the `most` most important summaries, level by level.
    ///
    /// The choice is shared among the levels and counts summaries that are there already. A shard
    /// that reaches a level before the others have finished what it needs leaves those subjects
    /// waiting: running any shard again takes them up.
    pub fn generate(
        &self,
        most: usize,
        model: &mut LazyModel<'_>,
        ledger: &mut OpenLedger<GenerationRecord>,
        limits: &GenerationLimits<'_>,
        progress: &mut dyn FnMut(GenerationProgress<'_>),
    ) -> Result<GenerationCounts> {
        let chosen = self.choose(most);
        let whole = GenerationLimits { shard: Shard::WHOLE, ..*limits };
        let mut texts = Texts::new();
        let mut unsettled: BTreeSet<String> = BTreeSet::new();
        let mut counts = GenerationCounts::default();
        let mut ahead: usize =
            self.waves.iter().map(|wave| self.share(wave, &chosen, limits.shard).len()).sum();
        let mut done = 0;
        for wave in &self.waves {
            if limits.interrupted.load(Ordering::Relaxed) {
                // Nobody waits for the prompts of what is left.
                let left = self.share(wave, &chosen, limits.shard).len();
                counts.wanted += left;
                counts.left += left;
                continue;
            }
            // Drafts are of all items: one that is not chosen may have a text from before.
            let drafts: BTreeMap<&str, Draft> = wave
                .iter()
                .map(|item| Ok((item.id.as_str(), self.draft(item, &texts)?)))
                .collect::<Result<_>>()?;
            let (ready, waiting): (Vec<&Item<'_>>, Vec<&Item<'_>>) = self
                .share(wave, &chosen, limits.shard)
                .into_iter()
                .partition(|item| item.parts.iter().all(|part| !unsettled.contains(part)));
            counts.wanted += waiting.len();
            counts.waiting += waiting.len();
            waiting.iter().for_each(|item| counts.expect(&drafts[item.id.as_str()].job, None));
            ahead -= ready.len() + waiting.len();
            let jobs: Vec<&GenerationJob> = ready.iter().map(|item| &drafts[item.id.as_str()].job).collect();
            let (before, done_before) = (counts, done);
            let mut over_all_waves = |now: GenerationProgress<'_>| {
                let mut counts = before;
                counts += *now.counts;
                done = done_before + now.done;
                let total = done_before + now.total + ahead;
                progress(GenerationProgress { done, total, counts: &counts, ..now });
            };
            let sampling = &self.context.params.sampling;
            counts += generate(&jobs, model, ledger, sampling, &whole, &mut over_all_waves)?;
            if limits.shard.count > 1 {
                ledger.reload().map_err(GenerationError::from)?;
            }
            let is_open = |item: &&Item<'_>| {
                item.imported.is_none() && ledger.get(&drafts[item.id.as_str()].job.record_key).is_none()
            };
            let open = taken(wave, &chosen, Shard::WHOLE).into_iter().filter(is_open);
            unsettled.extend(open.map(|item| item.id.clone()));
            collect_texts(wave, &drafts, ledger.records(), &mut texts);
        }
        Ok(counts)
    }

    /// All summaries with the texts there are, in table order.
    pub fn project(&self, ledger: &Ledger<GenerationRecord>) -> Result<Vec<Summary>> {
        let mut texts = Texts::new();
        let mut rows = Vec::with_capacity(self.len());
        for wave in &self.waves {
            let mut drafts = BTreeMap::new();
            for item in wave {
                let draft = self.draft(item, &texts)?;
                let priority = u32::try_from(rows.len()).unwrap_or(u32::MAX);
                let record = preferred(ledger.get(&draft.job.record_key), item.imported.as_ref());
                rows.push(self.row(item, &draft, record, priority));
                drafts.insert(item.id.as_str(), draft);
            }
            collect_texts(wave, &drafts, ledger, &mut texts);
        }
        rows.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(rows)
    }

    fn row(
        &self,
        item: &Item<'_>,
        draft: &Draft,
        record: Option<&GenerationRecord>,
        priority: u32,
    ) -> Summary {
        let (level, title, path, module) = match &item.subject {
            Subject::File(file) => (EntityLevel::File, name(&file.path), &*file.path, &*file.folder),
            Subject::Module(module) => (EntityLevel::Module, &*module.name, "", parent(module)),
            Subject::CallChain(chain) => {
                let callable = chain.callable;
                let folder = call_chain::folder(&self.context, callable);
                (EntityLevel::CallChain, &*callable.qualified_name, &*callable.path, folder)
            }
        };
        let said = Told::of(record, &self.context.params.sampling);
        let reason = match record {
            Some(_) => said.reason,
            None => item.unwanted.unwrap_or("").to_owned(),
        };
        let status =
            if record.is_none() && item.unwanted.is_some() { RecordStatus::Unwanted } else { said.status };
        let Answer { role, does, inputs, outputs, meaning, parallelism, effects, terms, uncertainty } =
            said.answer;
        Summary {
            id: item.id.clone(),
            level,
            title: title.to_owned(),
            path: path.to_owned(),
            module: module.to_owned(),
            members: draft.members.clone(),
            facts: draft.facts.clone(),
            status,
            reason,
            prompt: record.map_or(&draft.job.prompt, |record| &record.prompt).clone(),
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
            record_key: record.map_or(&draft.job.record_key, |record| &record.record_key).clone(),
            priority,
        }
    }

    /// Ids of the `most` most important summaries that are wanted, shared among the levels.
    fn choose(&self, most: usize) -> BTreeSet<&str> {
        let mut levels: [Vec<&Item<'_>>; 3] = Default::default();
        for item in self.waves.iter().flatten().filter(|item| item.unwanted.is_none()) {
            let level = match item.subject {
                Subject::File(_) => 0,
                Subject::Module(_) => 1,
                Subject::CallChain(_) => 2,
            };
            levels[level].push(item);
        }
        // Modules come in waves by depth; their importance decides across these.
        for level in &mut levels {
            level.sort_by(|a, b| b.importance.total_cmp(&a.importance).then_with(|| a.id.cmp(&b.id)));
        }
        let available = [levels[0].len(), levels[1].len(), levels[2].len()];
        let shares = allot(most, available, self.context.params.record_shares);
        let chosen = levels.iter().zip(shares).flat_map(|(level, share)| level.iter().take(share));
        chosen.map(|item| item.id.as_str()).collect()
    }

    fn draft(&self, item: &Item<'a>, texts: &Texts) -> Result<Draft> {
        let params = self.context.params;
        let room = |template: &PromptTemplate| {
            let answer = params.max_tokens.min(template.max_tokens());
            let system = almanac_inference::estimate_tokens(template.system());
            params.context_tokens.saturating_sub(answer + system)
        };
        let mut raw = None;
        let (template, facts, members) = match &item.subject {
            Subject::File(file) => {
                let room = room(&self.prompts.file).min(room(&self.prompts.file_fallback));
                let file = file_level::facts(&self.context, file, room);
                raw = file.raw;
                let template = if raw.is_some() { &self.prompts.file_fallback } else { &self.prompts.file };
                (template, file.facts, file.members)
            }
            Subject::Module(module) => {
                let template = &self.prompts.module;
                let facts = module_level::facts(&self.context, module, &self.modules, texts, room(template));
                let members = module.files.iter().chain(&module.submodules).cloned().collect();
                (template, facts, members)
            }
            Subject::CallChain(chain) => {
                let template = &self.prompts.call_chain;
                (template, chain.facts(&self.context, texts, room(template)), chain.members())
            }
        };
        let (text, cut) = raw.as_ref().map_or(("", false), |raw| (raw.text.as_str(), raw.cut));
        let user = template.render(item.name(), &PromptFacts { facts: &facts, text, cut })?;
        let (model, sampling) = (&self.model, &params.sampling);
        let job = GenerationJob::new(item.name(), template, user, params.max_tokens, model, sampling);
        Ok(Draft { facts, members, job })
    }
}

/// Chosen items of a wave that are a shard's. Places are given before anything is known to be ready,
/// so that shards agree on them whatever each has seen, and overloads that may get the same prompt
/// have one place, so that no two shards generate it.
fn taken<'b, 'a>(wave: &'b [Item<'a>], chosen: &BTreeSet<&str>, shard: Shard) -> Vec<&'b Item<'a>> {
    let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut taken = Vec::new();
    for item in wave.iter().filter(|item| chosen.contains(item.id.as_str())) {
        let prompt = match &item.subject {
            Subject::CallChain(chain) => {
                let callable = chain.callable;
                (&*callable.path, &*callable.qualified_name)
            }
            Subject::File(_) | Subject::Module(_) => (item.id.as_str(), ""),
        };
        let next = places.len();
        if shard.owns(*places.entry(prompt).or_insert(next)) {
            taken.push(item);
        }
    }
    taken
}

fn collect_texts(
    wave: &[Item<'_>],
    drafts: &BTreeMap<&str, Draft>,
    ledger: &Ledger<GenerationRecord>,
    texts: &mut Texts,
) {
    for item in wave {
        let own = ledger.get(&drafts[item.id.as_str()].job.record_key);
        if let Some(said) = preferred(own, item.imported.as_ref()).and_then(GenerationRecord::saying) {
            texts.insert(item.id.clone(), said.text);
        }
    }
}

fn files<'a>(context: &Context<'a>, files: &'a [File]) -> Vec<Item<'a>> {
    if context.params.file_level_entity_strategy == FileStrategy::None {
        return Vec::new();
    }
    let readable = files.iter().filter(|file| file_level::is_readable(file));
    readable
        .map(|file| {
            let id = file_node(&file.path);
            Item {
                importance: context.score(&id),
                unwanted: unwanted(context, file.role),
                parts: Vec::new(),
                imported: None,
                subject: Subject::File(file),
                id,
            }
        })
        .collect()
}

/// One wave a depth, deepest first.
fn modules<'a>(context: &Context<'a>, modules: &'a [Module]) -> Vec<Vec<Item<'a>>> {
    let mut depths: BTreeMap<usize, Vec<Item<'a>>> = BTreeMap::new();
    if context.params.module_level_entity_strategy == ModuleStrategy::None {
        return Vec::new();
    }
    let mut summarised: Vec<&Module> =
        modules.iter().filter(|module| module_level::is_summarised(module)).collect();
    summarised.sort_by_key(|module| std::cmp::Reverse(module_level::depth(module)));
    let mut unwanted_modules: BTreeSet<&str> = BTreeSet::new();
    for module in summarised {
        let of_files = module.files.iter().map(|path| file_node(path));
        let inside: f64 = of_files.clone().map(|node| context.score(&node)).sum();
        let skipped = module.submodules.iter().all(|inner| unwanted_modules.contains(inner.as_str()))
            && module.files.iter().all(|path| {
                let file = context.files.get(path.as_str());
                file.is_some_and(|file| unwanted(context, file.role).is_some())
            });
        if skipped {
            unwanted_modules.insert(&module.id);
        }
        depths.entry(module_level::depth(module)).or_default().push(Item {
            id: module.id.clone(),
            importance: context.score(&module.id).max(inside),
            unwanted: skipped.then_some(SKIPPED),
            parts: of_files.chain(module.submodules.iter().cloned()).collect(),
            subject: Subject::Module(module),
            imported: None,
        });
    }
    depths.into_values().rev().collect()
}

fn call_chains<'a>(context: &Context<'a>, entities: &'a [Entity]) -> Vec<Item<'a>> {
    if context.params.call_chain_entity_strategy == CallChainStrategy::None {
        return Vec::new();
    }
    let neighbourhoods = entities.iter().filter_map(|entity| Neighbourhood::of(context, entity));
    neighbourhoods
        .map(|chain| {
            let callable = chain.callable;
            let folder = folder_node(call_chain::folder(context, callable));
            Item {
                id: format!("chain:{}", callable.id),
                importance: context.score(&callable.id),
                unwanted: unwanted(context, callable.role),
                parts: vec![file_node(&callable.path), folder],
                subject: Subject::CallChain(chain),
                imported: None,
            }
        })
        .collect()
}

const SKIPPED: &str = "files of this role are not summarised";

fn unwanted(context: &Context<'_>, role: ArtifactRole) -> Option<&'static str> {
    context.params.skip_roles.contains(&role).then_some(SKIPPED)
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn parent(module: &Module) -> &str {
    module.parent.strip_prefix("module:").unwrap_or(&module.parent)
}
