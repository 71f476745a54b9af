//! Which entities of a file have a chunk of their own.

use std::collections::BTreeSet;

use almanac_tables::{Entity, EntityKind};

use crate::Params;

/// Where an entity's code is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a chunk of its own.
    Own,
    /// In a chunk with its small neighbours.
    Grouped,
    /// In the chunk of what encloses it.
    Enclosed,
}

/// The place of each entity of one file, in source order. `explained` are the ids with an explanation.
///
/// Fields and enumerators mean little without their class or enumeration and are found there. So
/// are undocumented declarations, aliases and one-line members, whose text is in the class anyway;
/// outside a class they share a chunk with their neighbours.
pub(crate) fn places(
    entities: &[&Entity],
    text: &str,
    explained: &BTreeSet<&str>,
    params: &Params,
) -> Vec<Place> {
    let mut enclosing: Vec<(&Entity, Place)> = Vec::new();
    let mut places = Vec::with_capacity(entities.len());
    for entity in entities {
        enclosing.retain(|(outer, _)| entity.start_byte < outer.end_byte);
        // What stands inside something grouped or enclosed is found with it.
        let outer = enclosing.iter().rev().find(|(outer, _)| encloses(outer));
        let weight = Weight {
            is_documented: entity.leading_comment.chars().count() >= params.minimum_comment,
            is_explained: explained.contains(entity.id.as_str()),
            is_long: entity.slice(text).trim().chars().count() >= params.minimum_characters,
        };
        let place = match outer {
            Some((outer, Place::Own)) => inside(entity, outer, weight),
            Some(_) => Place::Enclosed,
            None => outside(entity, weight),
        };
        enclosing.push((entity, place));
        places.push(place);
    }
    places
}

#[derive(Clone, Copy)]
struct Weight {
    is_documented: bool,
    is_explained: bool,
    is_long: bool,
}

impl Weight {
    fn tells(self) -> bool {
        self.is_documented || self.is_explained
    }
}

fn encloses(entity: &Entity) -> bool {
    entity.kind.is_record()
        || entity.kind == EntityKind::Enum
        || (entity.kind.is_callable() && entity.is_definition)
}

fn inside(entity: &Entity, outer: &Entity, weight: Weight) -> Place {
    let own = match entity.kind {
        _ if !outer.kind.is_record() => false,
        EntityKind::Field | EntityKind::Enumerator | EntityKind::Namespace => false,
        kind if kind.is_record() => entity.is_definition && (weight.tells() || weight.is_long),
        kind if kind.is_callable() && entity.is_definition => weight.tells() || weight.is_long,
        EntityKind::Enum => weight.tells() || weight.is_long,
        _ => weight.tells(),
    };
    if own { Place::Own } else { Place::Enclosed }
}

fn outside(entity: &Entity, weight: Weight) -> Place {
    match entity.kind {
        // A namespace block is the sum of its entities.
        EntityKind::Namespace => Place::Enclosed,
        EntityKind::BuildTarget | EntityKind::BuildFunction | EntityKind::TestCase => Place::Own,
        kind if kind.is_record() && !entity.is_definition && !weight.is_documented => Place::Grouped,
        kind if kind.is_callable() && !entity.is_definition && !weight.tells() => Place::Grouped,
        _ if weight.tells() || weight.is_long => Place::Own,
        _ => Place::Grouped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(kind: EntityKind, range: std::ops::Range<u64>, comment: &str) -> Entity {
        Entity {
            id: format!("{kind}-{}", range.start),
            kind,
            start_byte: range.start,
            end_byte: range.end,
            leading_comment: comment.into(),
            is_definition: !kind.as_str().ends_with("declaration"),
            ..Entity::default()
        }
    }

    #[test]
    fn small_things_are_found_with_what_encloses_them() {
        use EntityKind as Kind;
        let documented = "Exchanges the ghost cells of all faces.";
        let text = "x".repeat(2000);
        let cases = [
            (entity(Kind::Namespace, 0..1900, ""), Place::Enclosed),
            (entity(Kind::Class, 10..600, ""), Place::Own),
            (entity(Kind::Field, 20..40, documented), Place::Enclosed),
            (entity(Kind::MethodDeclaration, 50..90, documented), Place::Own),
            (entity(Kind::MethodDeclaration, 100..190, ""), Place::Enclosed),
            (entity(Kind::MethodDefinition, 200..230, ""), Place::Enclosed),
            (entity(Kind::MethodDefinition, 240..400, ""), Place::Own),
            (entity(Kind::Lambda, 250..390, ""), Place::Enclosed),
            (entity(Kind::Enum, 410..430, ""), Place::Enclosed),
            (entity(Kind::Enumerator, 412..420, documented), Place::Enclosed),
            (entity(Kind::Variable, 700..720, ""), Place::Grouped),
            (entity(Kind::FunctionDeclaration, 730..900, ""), Place::Grouped),
            (entity(Kind::Struct, 910..920, ""), Place::Grouped),
            (entity(Kind::Field, 912..918, ""), Place::Enclosed),
            (entity(Kind::Macro, 930..940, documented), Place::Own),
        ];
        let entities: Vec<&Entity> = cases.iter().map(|(entity, _)| entity).collect();
        let params = Params {
            model: String::new(),
            max_chunk_tokens: 0,
            chunk_tokens: 225,
            minimum_characters: 80,
            minimum_comment: 30,
            data_bytes: 0,
            minimum_words: 0.0,
        };
        let places = places(&entities, &text, &BTreeSet::new(), &params);
        for ((entity, expected), place) in cases.iter().zip(places) {
            assert_eq!(place, *expected, "{}", entity.id);
        }
    }
}
