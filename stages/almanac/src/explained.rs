//! What a store says of each file in one line, for the cards of `context`.

use std::collections::HashMap;

use almanac_artifact::Store;
use almanac_catalog::{ENTITIES, EXPLAIN, PARSE};
use almanac_context::Explained;
use almanac_tables::{Entity, EntityLevel, Explanation, File, RecordStatus, Summary};

/// Reads the files of a store with what they are for: by their summary, else by the explanation of their
/// most important symbol. A store that is not explained yet still tells which files have changed.
pub(crate) fn read(store: &Store, profile: &str) -> miette::Result<Explained> {
    let sources = store.current(profile, PARSE.artifact, PARSE.name)?;
    let mut lines: HashMap<String, String> = HashMap::new();
    if let Ok(summaries) = store.current(profile, ENTITIES.artifact, ENTITIES.name) {
        for summary in summaries.read::<Summary>()? {
            let is_told = summary.status == RecordStatus::Done && summary.level == EntityLevel::File;
            if let Some(line) = is_told.then(|| line(&summary.role, &summary.text)).flatten() {
                lines.insert(summary.path, line);
            }
        }
    }
    if let Ok(explanations) = store.current(profile, EXPLAIN.artifact, EXPLAIN.name) {
        let mut told = explanations.read::<Explanation>()?;
        told.retain(|explanation| explanation.status == RecordStatus::Done);
        told.sort_by_key(|explanation| explanation.priority);
        if !told.is_empty() {
            let entities = sources.read::<Entity>()?;
            let by_id: HashMap<&str, &Entity> = entities.iter().map(|one| (one.id.as_str(), one)).collect();
            for explanation in &told {
                let Some(entity) = by_id.get(explanation.entity_id.as_str()) else { continue };
                if let Some(line) = line(&explanation.role, &explanation.text) {
                    lines.entry(entity.path.clone()).or_insert_with(|| format!("{}: {line}", entity.name));
                }
            }
        }
    }
    let mut explained = Explained::default();
    for file in sources.read::<File>()? {
        let line = lines.remove(&file.path);
        explained.add(file.path, file.content_digest, line);
    }
    Ok(explained)
}

/// Most characters of a line on a card.
const LONGEST: usize = 160;

fn line(role: &str, text: &str) -> Option<String> {
    let said = if role.trim().is_empty() { text } else { role };
    let line = almanac_inference::first_sentence(said, LONGEST);
    (!line.is_empty()).then_some(line)
}
