//! What a unit is worth before the question is looked at.

use almanac_lookup::{SearchIndex, UnitSource};
use almanac_tables::{ArtifactRole, EntityKind, file_node};

use crate::RetrievalSettings;
use crate::building::{builds, is_guide, is_history};
use crate::fuse::file_of;
use crate::intent::Intent;
use crate::query::Signals;

/// Factor for a role an intent asks about, in place of its penalty.
const ASKED_FOR: f64 = 1.15;
/// Least factor for what is beside the question's subject.
const HALF_ASKED_FOR: f64 = 0.7;
/// Factor for code when the question is about building.
const CODE_WHEN_BUILDING: f64 = 0.5;
/// Factor on documents that guide through building, when the question is about that.
const GUIDE: f64 = 1.25;
/// Factor on records of past changes: they name everything and explain the present nowhere.
const HISTORY: f64 = 0.6;

/// Role of the file a unit is in.
pub(crate) fn role(index: &SearchIndex, source: UnitSource) -> ArtifactRole {
    let tables = index.tables();
    match source {
        UnitSource::Entity(at) => tables.entities[at].role,
        UnitSource::File(at) => tables.files[at].role,
        UnitSource::Summary(at) => tables
            .file(&tables.summaries[at].path)
            .map_or(ArtifactRole::Library, |file| tables.files[file].role),
    }
}

/// Factor on a score by the part the file plays, given what is asked.
pub(crate) fn part_factor(
    index: &SearchIndex,
    source: UnitSource,
    signals: &Signals,
    settings: &RetrievalSettings,
) -> f64 {
    let role = role(index, source);
    let Some(file) = file_of(index, source) else { return role_factor(role, signals, settings) };
    let path = &index.tables().files[file].path;
    let building = signals.intent == Intent::BuildAndInstall;
    let factor = match role {
        // The build file of tests is part of the tests.
        ArtifactRole::Build if building => {
            builds(index, file).map_or(ASKED_FOR, |built| role_factor(built, signals, settings))
        }
        _ => role_factor(role, signals, settings),
    };
    if role != ArtifactRole::Documentation {
        factor
    } else if is_history(path) && !signals.asks_for_history {
        factor * HISTORY
    } else if building && is_guide(path) {
        factor * GUIDE
    } else {
        factor
    }
}

fn role_factor(role: ArtifactRole, signals: &Signals, settings: &RetrievalSettings) -> f64 {
    use ArtifactRole as R;
    let penalty = settings.role_factors.get(&role).copied().unwrap_or(1.0);
    if signals.roles.contains(&role) {
        return penalty.max(ASKED_FOR);
    }
    match (signals.intent, role) {
        (Intent::Testing, R::Test | R::Benchmark | R::Ci | R::Script | R::Documentation) => ASKED_FOR,
        (Intent::BuildAndInstall, R::Build | R::Documentation) => ASKED_FOR,
        (Intent::BuildAndInstall, R::Ci | R::Script) => penalty.max(HALF_ASKED_FOR),
        (Intent::BuildAndInstall, R::Library | R::Application) => CODE_WHEN_BUILDING,
        (Intent::ApiUsage, R::Example | R::Documentation) => penalty.max(1.0),
        _ => penalty,
    }
}

/// Factor that prefers what is central in the graph and has a body.
pub(crate) fn standing(index: &SearchIndex, source: UnitSource, settings: &RetrievalSettings) -> f64 {
    let tables = index.tables();
    let weights = &settings.weights;
    let (node, body) = match source {
        UnitSource::Entity(at) => {
            let entity = &tables.entities[at];
            let short = matches!(
                entity.kind,
                EntityKind::FunctionDeclaration
                    | EntityKind::MethodDeclaration
                    | EntityKind::Alias
                    | EntityKind::BuildOption
            );
            let bodiless = short || entity.kind.is_record() && !entity.is_definition;
            (entity.id.clone(), if bodiless { weights.declaration } else { 1.0 })
        }
        UnitSource::File(at) => (file_node(&tables.files[at].path), 1.0),
        UnitSource::Summary(at) => (tables.summaries[at].id.clone(), 1.0),
    };
    // Ranks sum to one; relative to the mean they tell how much more central than most a node is.
    let mean = 1.0 / tables.ranks.len().max(1) as f64;
    let relative = tables.rank(&node) / mean;
    let central = (1.0 + relative).log2() / (1.0 + (1.0 + relative).log2());
    body * (1.0 + weights.centrality * central)
}
