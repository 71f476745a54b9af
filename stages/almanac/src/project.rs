//! Settings, store and source tree of one invocation.

use std::path::{Path, PathBuf};

use almanac_artifact::Store;
use almanac_bundle::{Limits, Opened};
use almanac_freshness::tree::{KnownDigests, Tree};
use almanac_freshness::{Gaps, Plan, PlanInput, plan};
use almanac_generation::ConfiguredModels;
use almanac_settings::{Settings, environment};
use almanac_stage::GlobalArguments;
use clap::Args;

use crate::error::Error;

/// The store that a question is put to.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AskedStore {
    /// Bundle to ask, in place of a store
    #[arg(long, value_name = "FILE", conflicts_with = "store")]
    bundle: Option<PathBuf>,
}

impl AskedStore {
    /// Whether a bundle was named.
    pub(crate) fn is_bundle(&self) -> bool {
        self.bundle.is_some()
    }
}

/// Opens a bundle below the user's cache folder.
pub(crate) fn open_bundle(bundle: &Path) -> miette::Result<Opened> {
    let cache = environment::cache_dir().ok_or(Error::NoCache)?;
    Ok(almanac_bundle::open(bundle, &cache.join("almanac/bundles"), &Limits::default())?)
}

/// What most verbs begin with.
pub(crate) struct Project {
    pub(crate) settings: Settings,
    pub(crate) store_folder: PathBuf,
    pub(crate) store: Option<Store>,
    pub(crate) models: ConfiguredModels,
    /// Profile whose artifacts are asked: a bundle has its own.
    pub(crate) asked_profile: String,
}

impl Project {
    /// Loads the settings and opens the store if it exists.
    pub(crate) fn open(global: &GlobalArguments, extra: &[String]) -> miette::Result<Self> {
        let settings = global.settings(extra)?;
        let profile = settings.profile().to_owned();
        Self::with(settings, global.store_folder()?, profile)
    }

    /// The same for a question, which may be put to a bundle.
    pub(crate) fn asked(global: &GlobalArguments, asked: &AskedStore) -> miette::Result<Self> {
        let Some(bundle) = &asked.bundle else { return Self::open(global, &[]) };
        let opened = open_bundle(bundle)?;
        Self::with(global.settings(&[])?, opened.store, opened.manifest.profile)
    }

    fn with(settings: Settings, store_folder: PathBuf, asked_profile: String) -> miette::Result<Self> {
        let store = match Store::open(&store_folder) {
            Ok(store) => Some(store),
            Err(almanac_artifact::Error::NotAStore { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let models = ConfiguredModels::load(&settings)?;
        Ok(Self { settings, store_folder, store, models, asked_profile })
    }

    /// The store, or an error that says how to make one.
    pub(crate) fn existing_store(&self) -> miette::Result<&Store> {
        let missing = || almanac_artifact::Error::NotAStore { path: self.store_folder.clone() };
        Ok(self.store.as_ref().ok_or_else(missing)?)
    }

    /// Lists and hashes the source tree.
    pub(crate) fn scan(&self, source: &Path) -> miette::Result<Tree> {
        let rules = self.settings.section("parse.params.tree")?;
        Ok(Tree::scan(source, &rules, &self.store_folder)?)
    }

    /// The same, without reading files that look as they did when `known` was made.
    pub(crate) fn scan_again(
        &self,
        source: &Path,
        known: &KnownDigests,
    ) -> miette::Result<(Tree, KnownDigests)> {
        let rules = self.settings.section("parse.params.tree")?;
        Ok(Tree::scan_again(source, &rules, &self.store_folder, known)?)
    }

    /// State of every stage; the artifacts of `verified` ones are read byte by byte.
    pub(crate) fn plan(
        &self,
        tree: Option<&Tree>,
        forced: &[String],
        verified: &[&str],
        gaps: Gaps,
    ) -> miette::Result<Plan> {
        let model = |name: &str| Ok(self.models.identity(name)?.digest);
        let input = PlanInput {
            store: self.store.as_ref(),
            settings: &self.settings,
            tree,
            model: &model,
            forced,
            verified,
            gaps,
        };
        plan(&input)
    }
}
