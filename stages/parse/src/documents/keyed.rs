//! JSON, YAML and TOML by key path: a section for each key that holds more keys or a list, and for
//! the keys below it where it is longer than a chunk.

use almanac_language::{Grammar, Stop, Watch, parse};
use tree_sitter::{Node, Tree};

use crate::documents::Heading;
use crate::names::shortened;
use crate::script::{comment_before, walk};

/// Levels of keys that become sections; what lies deeper stays in the section around it.
const DEEPEST: usize = 12;

/// Longest key kept, in characters.
const LONGEST_KEY: usize = 200;

/// What the scanner of the YAML grammar can count: it aborts beyond 253 levels of indentation, and
/// keeps lines and columns in 16 bits.
const YAML_LEVELS: usize = 200;
const YAML_LINES: usize = 30_000;

/// The grammar of a file that is read by its keys; none where its text is beyond what the grammar's
/// scanner can count.
pub(crate) fn grammar(path: &str, text: &str) -> Option<Grammar> {
    let suffix = path.rsplit('/').next()?.rsplit_once('.')?.1;
    match suffix.to_ascii_lowercase().as_str() {
        "json" | "jsonc" => Some(Grammar::Json),
        "yaml" | "yml" => is_countable(text).then_some(Grammar::Yaml),
        "toml" => Some(Grammar::Toml),
        _ => None,
    }
}

/// Whether no line can be inside too many levels: each takes a column, or a mark on the line.
fn is_countable(text: &str) -> bool {
    let mut lines = 0;
    text.lines().all(|line| {
        lines += 1;
        let indent = line.len() - line.trim_start().len();
        let marks = ["- ", "? ", ": ", "-\t", "?\t", ":\t"].iter().map(|mark| line.matches(mark).count());
        lines < YAML_LINES && line.len() < YAML_LINES && 2 * indent + marks.sum::<usize>() < YAML_LEVELS
    })
}

/// Headings by key, and the bytes the grammar could not place. `most` is the longest chunk.
pub(super) fn headings(
    text: &str,
    grammar: Grammar,
    most: usize,
    watch: &Watch<'_>,
) -> Result<(Vec<Heading>, u64), Stop> {
    let tree = parse(grammar, text.as_bytes(), watch)?;
    let error_bytes = walk(&tree, watch, |_| true)?;
    let mut keys = Keys { text, most, watch, found: Vec::new() };
    keys.document(&tree)?;
    let mut found = keys.found;
    // A bracket alone before the first key is no text of its own.
    if let Some(first) = found.first_mut()
        && text[..first.start].chars().all(|c| c.is_whitespace() || matches!(c, '{' | '[' | '-'))
    {
        first.start = 0;
    }
    Ok((found, error_bytes))
}

struct Keys<'a, 'w> {
    text: &'a str,
    most: usize,
    watch: &'a Watch<'w>,
    found: Vec<Heading>,
}

impl<'a> Keys<'a, '_> {
    fn document(&mut self, tree: &'a Tree) -> Result<(), Stop> {
        let root = tree.root_node();
        let mut cursor = root.walk();
        let parts: Vec<Node<'a>> = root.named_children(&mut cursor).collect();
        for part in parts {
            match part.kind() {
                // `[a.b]` of TOML names its whole path.
                "table" | "table_array_element" => {
                    if let Some(key) = part.named_child(0) {
                        self.heading(self.slice(key), 1, part);
                    }
                }
                "document" => {
                    let mut cursor = part.walk();
                    let values: Vec<Node<'a>> = part.named_children(&mut cursor).collect();
                    for value in values {
                        self.below(value, 1)?;
                    }
                }
                _ => self.below(part, 1)?,
            }
        }
        Ok(())
    }

    /// Headings for the entries of a value that holds some.
    fn below(&mut self, value: Node<'a>, level: usize) -> Result<(), Stop> {
        let Some(container) = container(value).filter(|_| level <= DEEPEST) else { return Ok(()) };
        let mut cursor = container.walk();
        let entries: Vec<Node<'a>> = container.named_children(&mut cursor).collect();
        let mut follows = false;
        for (nth, entry) in entries.into_iter().filter(|entry| entry.kind() != "comment").enumerate() {
            self.watch.check()?;
            let value = entry.child_by_field_name("value").or_else(|| match entry.kind() {
                "block_sequence_item" => entry.named_child(0),
                "pair" | "block_mapping_pair" | "flow_pair" => None,
                _ => Some(entry),
            });
            let holds = value.and_then(container_of_some);
            // A plain value begins a section only where it would else end the one of another key.
            if holds.is_none() && !follows {
                continue;
            }
            let title = match entry.child_by_field_name("key") {
                Some(key) => self.slice(key).to_owned(),
                None => holds.and_then(|held| self.own_name(held)).unwrap_or_else(|| format!("[{nth}]")),
            };
            self.heading(&title, level, entry);
            follows = true;
            if let Some(held) = holds.filter(|held| held.end_byte() - held.start_byte() > self.most) {
                self.below(held, level + 1)?;
            }
        }
        Ok(())
    }

    /// What an element of a list calls itself.
    fn own_name(&self, container: Node<'a>) -> Option<String> {
        let mut cursor = container.walk();
        let names = ["name", "id"];
        let entry = container.named_children(&mut cursor).find(|entry| {
            let key = entry.child_by_field_name("key").map(|key| unquoted(self.slice(key)));
            key.is_some_and(|key| names.contains(&key))
        })?;
        let value = entry.child_by_field_name("value")?;
        let name = unquoted(self.slice(value));
        (container_of_some(value).is_none() && !name.is_empty()).then(|| name.to_owned())
    }

    fn slice(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or("")
    }

    fn heading(&mut self, title: &str, level: usize, entry: Node<'a>) {
        let title = unquoted(title).split_whitespace().collect::<Vec<_>>().join(" ");
        if title.is_empty() {
            return;
        }
        let (start, _) = comment_before(self.text, entry.start_byte());
        // Two entries on one line begin where they stand.
        let start = self.found.last().map_or(start, |last| start.max(last.end));
        let end = start.max(entry.start_byte()) + title.len().min(entry.end_byte() - entry.start_byte());
        let end = self.text.floor_char_boundary(end);
        self.found.push(Heading { title: shortened(&title, LONGEST_KEY), level, start, end });
    }
}

/// A value that holds entries, behind the wrappers of YAML.
fn container(value: Node<'_>) -> Option<Node<'_>> {
    match value.kind() {
        "object" | "array" | "block_mapping" | "block_sequence" | "flow_mapping" | "flow_sequence" => {
            Some(value)
        }
        "block_node" | "flow_node" => {
            let last = value.named_child_count().checked_sub(1)?;
            container(value.named_child(last as u32)?)
        }
        _ => None,
    }
}

/// A container with at least one entry that itself spans lines or holds keys.
fn container_of_some(value: Node<'_>) -> Option<Node<'_>> {
    container(value).filter(|held| held.named_child_count() > 0)
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use almanac_language::Classification;
    use almanac_tables::{ArtifactRole, Entity, EntityKind};

    use crate::rows::{Rows, Source};

    fn sections(path: &str, text: &str, most: usize) -> Vec<Entity> {
        let source = Source::new(path, text, Classification::of(path), ArtifactRole::Build);
        let mut rows = Rows::default();
        let grammar = super::grammar(path, text).expect("grammar");
        let errors = crate::documents::read_keyed(&source, grammar, most, &crate::tests::watch(), &mut rows);
        assert_eq!(errors, Ok(0), "{text}");
        rows.finish().0
    }

    fn names(entities: &[Entity]) -> Vec<(&str, u32, u32)> {
        entities.iter().map(|e| (e.qualified_name.as_str(), e.start_line, e.end_line)).collect()
    }

    #[test]
    fn yaml_by_key() {
        let text = "name: ci\n# When.\non:\n  push:\n    branches: [main]\njobs:\n  test:\n    steps:\n      - \
                    run: ctest\n  build:\n    steps: []\ntimeout: 5\n";
        let entities = sections("ci.yml", text, 2000);
        assert_eq!(names(&entities), [("ci.yml", 1, 1), ("on", 2, 5), ("jobs", 6, 11), ("timeout", 12, 12)]);
        assert_eq!(entities[1].kind, EntityKind::Section);
        let deep = sections("ci.yml", text, 40);
        assert_eq!(
            names(&deep)[2..],
            [("jobs", 6, 6), ("jobs > test", 7, 9), ("jobs > build", 10, 11), ("timeout", 12, 12)]
        );
    }

    #[test]
    fn json_by_key_and_by_the_name_of_an_element() {
        let text = "{\n  \"version\": 3,\n  \"configurePresets\": [\n    {\n      \"name\": \"gpu\",\n      \
                    \"generator\": \"Ninja\"\n    },\n    {\n      \"hidden\": true\n    }\n  ]\n}\n";
        assert_eq!(
            names(&sections("CMakePresets.json", text, 2000)),
            [("CMakePresets.json", 1, 2), ("configurePresets", 3, 12)]
        );
        assert_eq!(
            names(&sections("CMakePresets.json", text, 90)),
            [
                ("CMakePresets.json", 1, 2),
                ("configurePresets", 3, 3),
                ("configurePresets > gpu", 4, 7),
                ("configurePresets > [1]", 8, 12)
            ]
        );
        assert_eq!(names(&sections("a.json", "{\"a\": {\"b\": 1}}\n", 2000)), [("a", 1, 1)]);
    }

    #[test]
    fn toml_by_table() {
        let text = "title = \"x\"\n\n# Packages.\n[package.meta]\nname = \"y\"\n[[bin]]\nname = \"z\"\n";
        assert_eq!(
            names(&sections("a.toml", text, 2000)),
            [("a.toml", 1, 1), ("package.meta", 3, 5), ("bin", 6, 7)]
        );
    }

    #[test]
    fn broken_and_deep_files_keep_all_their_text() {
        let deep = "- ".repeat(3000) + "x\n";
        for (path, text) in
            [("a.yaml", deep.as_str()), ("a.json", "{\"a\": {\"b\": "), ("a.toml", "[a\nb = ")]
        {
            let Some(grammar) = super::grammar(path, text) else {
                assert_eq!(path, "a.yaml");
                continue;
            };
            let source = Source::new(path, text, Classification::of(path), ArtifactRole::Build);
            let mut rows = Rows::default();
            let read = crate::documents::read_keyed(&source, grammar, 100, &crate::tests::watch(), &mut rows);
            if read.is_ok() {
                assert!(!rows.entities.is_empty(), "{path}");
            }
        }
    }
}
