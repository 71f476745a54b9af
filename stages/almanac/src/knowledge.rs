//! The index of a store with the embedder it was built with.

use almanac_artifact::Store;
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
    pub(crate) settings: RetrievalSettings,
}

impl Knowledge {
    /// Opens the current index. Without its embedder, search is lexical, and that is said.
    pub(crate) fn open(project: &Project) -> miette::Result<Self> {
        let store = project.existing_store()?;
        let profile = project.asked_profile.as_str();
        let settings: RetrievalSettings = project.settings.section("retrieval")?;
        let check = if settings.verify_index { Check::Digests } else { Check::Lengths };
        let index = SearchIndex::open_store(store, profile, check)?;
        let embedder = match (settings.dense, index.vectors()) {
            (true, Some(_)) => load_embedder(project, store, profile)?,
            _ => None,
        };
        Ok(Self { index, embedder, settings })
    }

    /// Opens the current index alone, for what needs no vectors.
    pub(crate) fn open_without_vectors(project: &Project) -> miette::Result<Self> {
        let store = project.existing_store()?;
        let settings: RetrievalSettings = project.settings.section("retrieval")?;
        let check = if settings.verify_index { Check::Digests } else { Check::Lengths };
        let index = SearchIndex::open_store(store, &project.asked_profile, check)?;
        Ok(Self { index, embedder: None, settings })
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
fn load_embedder(project: &Project, store: &Store, profile: &str) -> miette::Result<Option<CandleEmbedder>> {
    let index = store.current(profile, INDEX.artifact, INDEX.name)?;
    let Some(key) = index.manifest().read.get(EMBED.artifact) else { return Ok(None) };
    let Some(vectors) = store.artifact(EMBED.artifact, key)? else { return Ok(None) };
    let identities = &vectors.manifest().parts.identities;
    let named = identities.iter().find_map(|(name, digest)| Some((name.strip_prefix("model ")?, digest)));
    let Some((name, digest)) = named else { return Ok(None) };
    let models: &ConfiguredModels = &project.models;
    let loaded = models.identity(name).and_then(|identity| {
        if identity.digest == *digest {
            Ok(models.embedder(name, 0)?)
        } else {
            Err(miette::miette!("`{name}` here is not the model that the store's vectors come from"))
        }
    });
    match loaded {
        Ok(embedder) => Ok(Some(embedder)),
        Err(report) => {
            almanac_terminal::warning(format!("searching without vectors: {report}"));
            almanac_terminal::note(format!("`almanac models get {name}` brings the embedder"));
            Ok(None)
        }
    }
}

/// The answering model's name.
pub(crate) fn answering_model(settings: &Settings) -> miette::Result<String> {
    ConfiguredModels::name(settings, "answer.model", "models.llm")
}
