//! The index of a store with the embedder it was built with.

use almanac_catalog::{EMBED, INDEX};
use almanac_generation::ConfiguredModels;
use almanac_inference::{CandleEmbedder, Embedder};
use almanac_lookup::{Check, SearchIndex};
use almanac_retrieval::{RetrievalSettings, SearchResult, TokenCounter, search};
use almanac_settings::Settings;

use crate::project::Project;

/// Everything a question needs.
pub(crate) struct Knowledge {
    pub(crate) index: SearchIndex,
    embedder: Option<CandleEmbedder>,
    /// Why the vectors that there are take no part.
    pub(crate) problem: Option<String>,
    pub(crate) settings: RetrievalSettings,
}

impl Knowledge {
    /// Opens the current index. Without its embedder, search is lexical, and that is said.
    pub(crate) fn open(project: &Project) -> miette::Result<Self> {
        let mut knowledge = Self::open_without_vectors(project)?;
        if !knowledge.settings.dense || knowledge.index.vectors().is_none() {
            return Ok(knowledge);
        }
        let Some((model, digest)) = embedder_of_vectors(project)? else { return Ok(knowledge) };
        match load_embedder(project, &model, &digest) {
            Ok(embedder) => knowledge.embedder = Some(embedder),
            Err(why) => {
                let problem = format!("searching without vectors: {why}");
                let help = format!("`almanac models get {model}` brings the embedder");
                almanac_terminal::warning(&problem);
                almanac_terminal::note(&help);
                knowledge.problem = Some(format!("{problem}; {help}"));
            }
        }
        Ok(knowledge)
    }

    /// Opens the current index alone, for what needs no vectors.
    pub(crate) fn open_without_vectors(project: &Project) -> miette::Result<Self> {
        let store = project.existing_store()?;
        let settings: RetrievalSettings = project.settings.section("retrieval")?;
        let check = if settings.verify_index { Check::Digests } else { Check::Lengths };
        let index = SearchIndex::open_store(store, &project.asked_profile, check)?;
        Ok(Self { index, embedder: None, problem: None, settings })
    }

    /// Finds the evidence for a question within `budget` tokens.
    pub(crate) fn search(
        &self,
        query: &str,
        budget: Option<usize>,
        counter: Option<TokenCounter<'_>>,
    ) -> almanac_retrieval::Result<SearchResult> {
        let mut settings = self.settings.clone();
        if let Some(budget) = budget {
            settings.budget_tokens = budget;
        }
        let embedder = self.embedder.as_ref().map(|embedder| embedder as &dyn Embedder);
        let fallback = |text: &str| match embedder.map(|embedder| embedder.count_tokens(text)) {
            Some(Ok(tokens)) => tokens,
            _ => almanac_retrieval::estimate_tokens(text),
        };
        let found = search(&self.index, embedder, query, &settings, counter.unwrap_or(&fallback))?;
        if found.words_left_out > 0 {
            almanac_terminal::warning(format!(
                "the last {} words of the question were left out; retrieval.max_query_words is {}",
                found.words_left_out, settings.max_query_words
            ));
        }
        Ok(found)
    }
}

/// The embedder that the index's vectors come from, whatever the settings or refs name now.
fn load_embedder(project: &Project, name: &str, digest: &str) -> miette::Result<CandleEmbedder> {
    let models: &ConfiguredModels = &project.models;
    if models.identity(name)?.digest != digest {
        return Err(miette::miette!("`{name}` here is not the model that the store's vectors come from"));
    }
    Ok(models.embedder(name, 0)?)
}

/// Name and digest of the model that made the vectors of the index.
fn embedder_of_vectors(project: &Project) -> miette::Result<Option<(String, String)>> {
    let store = project.existing_store()?;
    let index = store.current(&project.asked_profile, INDEX.artifact, INDEX.name)?;
    let Some(key) = index.manifest().read.get(EMBED.artifact) else { return Ok(None) };
    let Some(vectors) = store.artifact(EMBED.artifact, key)? else { return Ok(None) };
    let identities = &vectors.manifest().parts.identities;
    let named =
        identities.iter().find_map(|(name, digest)| Some((name.strip_prefix("model ")?, digest.as_str())));
    Ok(named.map(|(name, digest)| (name.to_owned(), digest.to_owned())))
}

/// The answering model's name.
pub(crate) fn answering_model(settings: &Settings) -> miette::Result<String> {
    ConfiguredModels::name(settings, "answer.model", "models.llm")
}
