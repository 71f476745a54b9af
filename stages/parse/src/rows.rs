//! Rows of one file while it is read: entities without ids, references to entities by position.

use std::collections::BTreeMap;

use almanac_artifact::Digest;
use almanac_language::{Classification, LineIndex};
use almanac_tables::{ArtifactRole, Entity, EntityKind, EntityLevel, Local, Reference, ReferenceKind};

/// What is known of the file every row stands in.
pub(crate) struct Source<'a> {
    pub(crate) path: &'a str,
    pub(crate) text: &'a str,
    pub(crate) lines: LineIndex,
    pub(crate) class: Classification,
    pub(crate) role: ArtifactRole,
}

impl<'a> Source<'a> {
    pub(crate) fn new(path: &'a str, text: &'a str, class: Classification, role: ArtifactRole) -> Self {
        Self { path, text, lines: LineIndex::new(text), class, role }
    }

    /// Text of a byte range; empty where the range is none.
    pub(crate) fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or("")
    }

    /// File name with extension.
    pub(crate) fn file_name(&self) -> &'a str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }

    /// An entity over a byte range, everything else empty.
    pub(crate) fn entity(&self, kind: EntityKind, name: &str, start: usize, end: usize) -> Entity {
        let level = if kind.is_document() { EntityLevel::DocumentationSection } else { EntityLevel::Symbol };
        Entity {
            path: self.path.to_owned(),
            kind,
            level,
            name: name.to_owned(),
            qualified_name: name.to_owned(),
            start_line: self.lines.line(start),
            end_line: self.lines.line(end.saturating_sub(1).max(start)),
            start_byte: start as u64,
            end_byte: end as u64,
            language: self.class.language,
            source_type: self.class.source_type,
            role: self.role,
            text_digest: Digest::of_bytes(self.slice(start, end).as_bytes()).hex(20),
            is_definition: true,
            ..Entity::default()
        }
    }

    /// A reference at a byte, without owner.
    pub(crate) fn reference(&self, kind: ReferenceKind, name: &str, written: &str, at: usize) -> Reference {
        Reference {
            path: self.path.to_owned(),
            kind,
            name: name.to_owned(),
            written: written.to_owned(),
            line: self.lines.line(at),
            start_byte: at as u64,
            ..Reference::default()
        }
    }
}

/// Position of an entity among the rows of its file.
pub(crate) type EntityAt = usize;

/// The rows of one file.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) entities: Vec<Entity>,
    pub(crate) references: Vec<(Option<EntityAt>, Reference)>,
    pub(crate) locals: Vec<Local>,
}

impl Rows {
    pub(crate) fn push(&mut self, entity: Entity) -> EntityAt {
        self.entities.push(entity);
        self.entities.len() - 1
    }

    pub(crate) fn refer(&mut self, owner: Option<EntityAt>, reference: Reference) {
        self.references.push((owner, reference));
    }

    /// Takes over all that another reading found. What belongs to nothing in the file is the same in
    /// every reading and taken once.
    pub(crate) fn append(&mut self, mut other: Self) {
        let offset = self.entities.len();
        let is_first = offset == 0 && self.references.is_empty();
        self.entities.append(&mut other.entities);
        let moved = other.references.into_iter().map(|(owner, one)| (owner.map(|at| at + offset), one));
        self.references.extend(moved.filter(|(owner, _)| is_first || owner.is_some()));
        self.locals.append(&mut other.locals);
    }

    /// Takes over what another reading of the file found in `fresh` byte ranges, and what it found
    /// for entities that begin there.
    pub(crate) fn adopt(&mut self, other: Self, fresh: &[(usize, usize)]) {
        let is_fresh = |at: u64| fresh.iter().any(|(start, end)| (*start as u64..*end as u64).contains(&at));
        let key = |entity: &Entity| (entity.kind, entity.start_byte, entity.qualified_name.clone());
        let known: BTreeMap<_, EntityAt> =
            self.entities.iter().enumerate().map(|(at, entity)| (key(entity), at)).collect();
        let mut owners = Vec::with_capacity(other.entities.len());
        for entity in other.entities {
            let is_new = is_fresh(entity.start_byte);
            let at = known.get(&key(&entity)).copied();
            owners.push((is_new, if is_new { Some(self.push(entity)) } else { at }));
        }
        for (owner, reference) in other.references {
            let (is_new, owner) = owner.map_or((false, None), |at| owners[at]);
            if is_new || is_fresh(reference.start_byte) {
                self.refer(owner, reference);
            }
        }
        self.locals.extend(other.locals.into_iter().filter(|local| is_fresh(local.start_byte)));
    }

    /// Takes the locals out, in table order.
    pub(crate) fn take_locals(&mut self) -> Vec<Local> {
        let mut locals = std::mem::take(&mut self.locals);
        locals.sort_by(|a, b| (a.start_byte, &a.name).cmp(&(b.start_byte, &b.name)));
        locals.dedup_by(|a, b| (a.start_byte, &a.name) == (b.start_byte, &b.name));
        locals
    }

    /// Gives ids and puts rows in table order.
    ///
    /// An id is taken over path, kind, qualified name, signature and the ordinal among entities
    /// that agree in all four, so an edit elsewhere in the file leaves it alone.
    pub(crate) fn finish(mut self) -> (Vec<Entity>, Vec<Reference>) {
        let mut order: Vec<usize> = (0..self.entities.len()).collect();
        order.sort_by_key(|at| {
            let entity = &self.entities[*at];
            (entity.start_byte, entity.end_byte, *at)
        });
        let mut ordinals: BTreeMap<(EntityKind, String, String), u32> = BTreeMap::new();
        for at in order {
            let entity = &mut self.entities[at];
            let key = (entity.kind, entity.qualified_name.clone(), entity.signature.clone());
            let ordinal = ordinals.entry(key).or_default();
            entity.id = Digest::of(|encoder| {
                encoder.text(&entity.path).text(entity.kind.as_str());
                encoder.text(&entity.qualified_name).text(&entity.signature).u32(*ordinal);
            })
            .hex(20);
            *ordinal += 1;
        }
        let ids: Vec<String> = self.entities.iter().map(|entity| entity.id.clone()).collect();
        self.entities
            .sort_by(|a, b| (a.start_byte, a.end_byte, &a.id).cmp(&(b.start_byte, b.end_byte, &b.id)));
        (self.entities, finish_references(self.references, &ids))
    }
}

fn finish_references(references: Vec<(Option<EntityAt>, Reference)>, ids: &[String]) -> Vec<Reference> {
    let mut references: Vec<Reference> = references
        .into_iter()
        .map(|(owner, mut reference)| {
            reference.entity_id = owner.map_or_else(String::new, |at| ids[at].clone());
            reference
        })
        .collect();
    // Stable: references at one byte keep the order in which the source was walked.
    references.sort_by_key(|reference| reference.start_byte);
    let mut previous = None;
    let mut ordinal = 0;
    for reference in &mut references {
        ordinal = if previous == Some(reference.start_byte) { ordinal + 1 } else { 0 };
        previous = Some(reference.start_byte);
        reference.ordinal = ordinal;
    }
    references
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, ranges: &[(&str, usize, usize)]) -> Vec<Entity> {
        let source = Source::new("a.h", text, Classification::of("a.h"), ArtifactRole::Library);
        let mut rows = Rows::default();
        for (name, start, end) in ranges {
            rows.push(source.entity(EntityKind::Macro, name, *start, *end));
        }
        rows.finish().0
    }

    #[test]
    fn ids_stay_when_something_else_is_inserted_before() {
        let before = rows("abcd", &[("a", 0, 1), ("b", 2, 3)]);
        let after = rows("x abcd", &[("x", 0, 1), ("a", 2, 3), ("b", 4, 5)]);
        assert_eq!(before[0].id, after[1].id);
        assert_eq!(before[1].id, after[2].id);
    }

    #[test]
    fn equal_entities_are_told_apart_in_source_order() {
        let twice = rows("abcd", &[("a", 2, 3), ("a", 0, 1)]);
        let once = rows("abcd", &[("a", 0, 1)]);
        assert_ne!(twice[0].id, twice[1].id);
        assert_eq!(twice[0].id, once[0].id);
        assert_eq!(twice[0].start_byte, 0);
    }
}
