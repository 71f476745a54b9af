//! Settings, store and source tree of one invocation.

use std::path::{Path, PathBuf};

use almanac_artifact::Store;
use almanac_freshness::tree::Tree;
use almanac_freshness::{Gaps, Plan, PlanInput, plan};
use almanac_generation::ConfiguredModels;
use almanac_settings::Settings;
use almanac_stage::GlobalArguments;

/// What most verbs begin with.
pub(crate) struct Project {
    pub(crate) settings: Settings,
    pub(crate) store_folder: PathBuf,
    pub(crate) store: Option<Store>,
    pub(crate) models: ConfiguredModels,
}

impl Project {
    /// Loads the settings and opens the store if it exists.
    pub(crate) fn open(global: &GlobalArguments, extra: &[String]) -> miette::Result<Self> {
        let settings = global.settings(extra)?;
        let store_folder = global.store_folder()?;
        let store = match Store::open(&store_folder) {
            Ok(store) => Some(store),
            Err(almanac_artifact::Error::NotAStore { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let models = ConfiguredModels::load(&settings)?;
        Ok(Self { settings, store_folder, store, models })
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
