//! The store, open for search.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use almanac_artifact::{Artifact, Digest, Store};
use almanac_tables::{EdgeKind, EntityLevel, file_node};

use crate::build::{CONTENTS_FILE, Contents, LEXICAL_FOLDER, VECTORS_FILE};
use crate::lexical::LexicalIndex;
use crate::names::{Names, file_name, stem};
use crate::tables::INDEX;
use crate::units;
use crate::vectors::VectorIndex;
use crate::{Analyzer, Error, FieldBoosts, Result, Tables, Unit, UnitSource, WeightedTerm};

/// Distance given to a symbol whose file or class is not named in the query; one that is gets 0.
const SYMBOL_WITHOUT_CONTEXT: f32 = 0.05;
/// Most symbol candidates of one query (paper 3.2.6).
const SYMBOL_CANDIDATES: usize = 2;

/// A chunk with its squared L2 distance from the query; 0 for an exact match by name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChunkHit {
    /// Place in the chunks table.
    pub chunk: usize,
    /// Squared distance, 0 or more.
    pub distance: f32,
}

/// A unit with its BM25 score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitHit {
    /// Place in the list of units.
    pub unit: usize,
    /// Score, more than 0.
    pub score: f32,
}

/// How much of an index is read before it is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Every byte.
    Digests,
    /// What the file system says of each file. Damage that keeps a file's length may show as an
    /// error, as other results, or not at all.
    Lengths,
}

/// Rows, vectors, text index and look-ups of one store.
pub struct SearchIndex {
    tables: Tables,
    units: Vec<Unit>,
    /// Units that are files; they stand together.
    file_units: Range<usize>,
    names: Names,
    vectors: Option<VectorIndex>,
    /// Place of the chunk of each vector.
    vector_chunks: Vec<usize>,
    /// Number of the vector of each chunk that has one.
    chunk_vectors: Vec<Option<usize>>,
    lexical: LexicalIndex,
    analyzer: Analyzer,
    contents: Contents,
    /// Where it was opened, if in a store.
    home: Option<(Store, Digest)>,
}

impl SearchIndex {
    /// Opens the index files in `folder`, built from the rows of `tables`.
    ///
    /// # Errors
    /// A file that is missing, truncated, of another version or built from other rows.
    pub fn open(tables: Tables, folder: &Path) -> Result<Self> {
        let contents = Contents::read(folder)?;
        contents.check_files(folder)?;
        let units = units::list(&tables);
        check_rows(&folder.join(CONTENTS_FILE), &contents, &tables, units.len())?;
        let vectors = match contents.dimension {
            0 => None,
            dimension => {
                let path = folder.join(VECTORS_FILE);
                Some(VectorIndex::open(&path, dimension, contents.vectors)?)
            }
        };
        let missing: BTreeSet<usize> = contents.chunks_without_vector.iter().copied().collect();
        let vector_chunks: Vec<usize> = (0..tables.chunks.len()).filter(|at| !missing.contains(at)).collect();
        let mut chunk_vectors = vec![None; tables.chunks.len()];
        for (number, &chunk) in vector_chunks.iter().enumerate() {
            chunk_vectors[chunk] = Some(number);
        }
        let lexical = LexicalIndex::open(&folder.join(LEXICAL_FOLDER), units.len())?;
        let names = Names::new(&tables, &units);
        let before = |at: &Unit| matches!(at.source, UnitSource::Entity(_));
        let start = units.partition_point(before);
        let files = units[start..].partition_point(|at| matches!(at.source, UnitSource::File(_)));
        let analyzer = Analyzer::default();
        Ok(Self {
            tables,
            units,
            file_units: start..start + files,
            names,
            vectors,
            vector_chunks,
            chunk_vectors,
            lexical,
            analyzer,
            contents,
            home: None,
        })
    }

    /// Opens the index that is current for `profile`, with the rows it was built from. What is
    /// damaged is set aside where the store can be changed, so that the next build makes it anew.
    ///
    /// # Errors
    /// As [`SearchIndex::open`]; also a store without an index.
    pub fn open_store(store: &Store, profile: &str, check: Check) -> Result<Self> {
        let artifact = match store.current(profile, INDEX, INDEX) {
            Ok(artifact) => artifact,
            Err(error) => {
                let error = Error::from(error);
                return Err(match store.read_ref(profile, INDEX) {
                    Ok(Some(current)) => error.set_aside(store, INDEX, &current.key),
                    // The ref itself is what is damaged, or there is none.
                    Ok(None) | Err(_) => error,
                });
            }
        };
        let key = artifact.manifest().key;
        let opened = Self::open_artifact(store, &artifact, check);
        let mut opened = opened.map_err(|error| error.set_aside(store, INDEX, &key))?;
        opened.home = Some((store.clone(), key));
        Ok(opened)
    }

    fn open_artifact(store: &Store, artifact: &Artifact, check: Check) -> Result<Self> {
        if check == Check::Digests {
            artifact.verify_files()?;
        }
        let tables = Tables::read(store, artifact)?;
        let contents: PathBuf = artifact.file_path(CONTENTS_FILE)?;
        Self::open(tables, contents.parent().unwrap_or(artifact.folder()))
    }

    /// An error of a search, with what became of the damaged index.
    fn told(&self, error: Error) -> Error {
        match &self.home {
            Some((store, key)) => error.set_aside(store, INDEX, key),
            None => error,
        }
    }

    /// The rows.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// What the text index ranks.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// How text becomes terms.
    pub fn analyzer(&self) -> &Analyzer {
        &self.analyzer
    }

    /// Number of vectors and their length; `None` when the store has none.
    pub fn vectors(&self) -> Option<(usize, usize)> {
        self.vectors.as_ref().map(|_| (self.contents.vectors, self.contents.dimension))
    }

    /// The `k` chunks nearest to a query vector, nearest first.
    ///
    /// # Errors
    /// No vectors in the store, or a query vector of another length.
    pub fn nearest(&self, vector: &[f32], k: usize) -> Result<Vec<ChunkHit>> {
        let vectors = self.checked(vector)?;
        let hits = vectors.nearest(vector, k).map_err(|error| self.told(error))?;
        let hit = |(number, distance)| ChunkHit { chunk: self.vector_chunks[number], distance };
        Ok(hits.into_iter().map(hit).collect())
    }

    /// The `k` symbol-level chunks of `paths` nearest to a query vector (paper 3.2.6,
    /// `search_in_filenames`).
    ///
    /// # Errors
    /// As [`SearchIndex::nearest`].
    pub fn nearest_in_files(&self, paths: &[&str], vector: &[f32], k: usize) -> Result<Vec<ChunkHit>> {
        self.checked(vector)?;
        let mut hits: Vec<ChunkHit> = (0..self.tables.chunks.len())
            .filter(|&at| {
                let chunk = &self.tables.chunks[at];
                chunk.level == EntityLevel::Symbol && paths.contains(&chunk.path.as_str())
            })
            .filter_map(|chunk| Some(ChunkHit { chunk, distance: self.distance(chunk, vector)? }))
            .collect();
        hits.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.chunk.cmp(&b.chunk)));
        hits.truncate(k);
        Ok(hits)
    }

    fn checked(&self, vector: &[f32]) -> Result<&VectorIndex> {
        let vectors = self.vectors.as_ref().ok_or(Error::NoVectors)?;
        if vector.len() != self.contents.dimension {
            return Err(Error::Dimension {
                what: "the query".to_owned(),
                found: vector.len(),
                expected: self.contents.dimension,
            });
        }
        Ok(vectors)
    }

    /// Squared distance of a chunk from a query vector of the right length.
    fn distance(&self, chunk: usize, vector: &[f32]) -> Option<f32> {
        Some(self.vectors.as_ref()?.distance(self.chunk_vectors[chunk]?, vector))
    }

    /// Every unit that holds one of `terms`, with its BM25 score, best first; ties in unit order.
    ///
    /// # Errors
    /// A text index that turns out damaged.
    pub fn lexical(&self, terms: &[WeightedTerm], boosts: &FieldBoosts) -> Result<Vec<UnitHit>> {
        let scores = self.lexical.scores(terms, boosts).map_err(|error| self.told(error))?;
        let mut hits: Vec<UnitHit> =
            scores.into_iter().map(|(unit, score)| UnitHit { unit: unit as usize, score }).collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.unit.cmp(&b.unit)));
        Ok(hits)
    }

    /// Files whose text holds `term` (as the analyzer gives it), in order.
    ///
    /// # Errors
    /// A text index that turns out damaged.
    pub fn files_with(&self, term: &str) -> Result<Vec<usize>> {
        let found = self.lexical.documents_with(term).map_err(|error| self.told(error))?;
        let file = |&unit: &u32| match self.units[unit as usize].source {
            UnitSource::File(file) => Some(file),
            _ => None,
        };
        Ok(found.iter().filter_map(file).collect())
    }

    /// The comment that opens a file, markers removed; empty when there is none or it is a licence.
    pub fn head_comment(&self, path: &str) -> String {
        let comment = units::head_comment(self.tables.text(path));
        let lower = comment.to_lowercase();
        if lower.contains("copyright") || lower.contains("licen") {
            return String::new();
        }
        let bare = |line: &str| {
            line.trim_start_matches(['/', '*', '!', '<', '#']).trim_end_matches(['/', '*']).trim().to_owned()
        };
        let lines: Vec<String> =
            comment.lines().map(bare).filter(|line| line.contains(char::is_alphanumeric)).collect();
        lines.join("\n")
    }

    /// Number of files that the text index holds.
    pub fn file_count(&self) -> usize {
        self.file_units.len()
    }

    /// Namespaces, in lower case, that hold so much of the code that their name tells nothing.
    pub fn root_scopes(&self) -> &BTreeSet<String> {
        &self.names.root_scopes
    }

    /// Files with this name, with or without extension, or this path or end of a path; case
    /// does not matter.
    pub fn files_named(&self, name: &str) -> Vec<usize> {
        let name = name.to_lowercase();
        let last = file_name(&name);
        let by_name = self.names.files_by_name.get(last);
        let candidates = by_name.or_else(|| self.names.files_by_stem.get(last));
        let fits = |&&at: &&usize| {
            let path = self.tables.files[at].path.to_lowercase();
            let path = if by_name.is_some() { path.as_str() } else { stem(&path) };
            path == name || path.ends_with(&format!("/{name}"))
        };
        candidates.into_iter().flatten().filter(fits).copied().collect()
    }

    /// File-level chunks of the named files (paper 3.2.6): a full name gives its file at distance
    /// 0 and the files of the same stem at their own distance from `vector`; a name without
    /// extension gives every file of that stem at distance 0.
    pub fn chunks_by_file_names(&self, names: &[&str], vector: Option<&[f32]>) -> Vec<ChunkHit> {
        let mut hits: Vec<ChunkHit> = Vec::new();
        let mut add = |file: usize, distance: f32| {
            for &chunk in self.names.file_chunks.get(&file).into_iter().flatten() {
                if hits.iter().all(|hit| hit.chunk != chunk) {
                    hits.push(ChunkHit { chunk, distance });
                }
            }
        };
        for name in names {
            self.files_named(name).into_iter().for_each(|file| add(file, 0.0));
        }
        for file in names.iter().flat_map(|name| self.files_named(name)) {
            for sibling in self.siblings(file) {
                let chunk = self.names.file_chunks.get(&sibling).and_then(|chunks| chunks.first());
                let distance = chunk
                    .zip(vector.filter(|vector| vector.len() == self.contents.dimension))
                    .and_then(|(&chunk, vector)| self.distance(chunk, vector));
                if let Some(distance) = distance {
                    add(sibling, distance);
                }
            }
        }
        hits
    }

    /// Other files of the same folder and stem, such as the `.cpp` of a `.h`.
    pub fn siblings(&self, file: usize) -> Vec<usize> {
        let path = &self.tables.files[file].path;
        let stem_path = stem(path);
        let name = file_name(path).to_lowercase();
        let same = self.names.files_by_stem.get(stem(&name)).into_iter().flatten().copied();
        same.filter(|&other| other != file && stem(&self.tables.files[other].path) == stem_path).collect()
    }

    /// Symbol-level chunks of the named symbols (paper 3.2.6): those whose file or class is named
    /// too at distance 0, the rest after them; two at most, one a symbol.
    pub fn chunks_by_symbols(&self, symbols: &[&str]) -> Vec<ChunkHit> {
        let mut hits: Vec<ChunkHit> = Vec::new();
        for symbol in symbols {
            for entity in self.entities_named(symbol) {
                let row = &self.tables.entities[entity];
                let Some(&chunk) = self.chunks_of(&row.id).first() else { continue };
                let name = file_name(&row.path);
                let context = [name, stem(name), row.class_name.as_str()];
                let in_context = symbols.iter().any(|other| other != symbol && context.contains(other));
                let distance = if in_context { 0.0 } else { SYMBOL_WITHOUT_CONTEXT };
                if hits.iter().all(|hit| hit.chunk != chunk) {
                    hits.push(ChunkHit { chunk, distance });
                }
            }
        }
        let definition = |hit: &ChunkHit| {
            let subject = &self.tables.chunks[hit.chunk].subject;
            self.entity(subject).is_some_and(|at| self.tables.entities[at].is_definition)
        };
        hits.sort_by(|a, b| {
            a.distance
                .total_cmp(&b.distance)
                .then(definition(b).cmp(&definition(a)))
                .then(a.chunk.cmp(&b.chunk))
        });
        hits.truncate(SYMBOL_CANDIDATES);
        hits
    }

    /// Module-level chunks of the named folders or namespaces, at distance 0 (paper 3.2.6).
    pub fn chunks_by_module_names(&self, names: &[&str]) -> Vec<ChunkHit> {
        let modules = names.iter().flat_map(|name| self.modules_named(name));
        let chunks = modules.flat_map(|at| self.chunks_of(&self.tables.modules[at].id));
        let mut chunks: Vec<usize> = chunks.copied().collect();
        chunks.dedup();
        chunks.into_iter().map(|chunk| ChunkHit { chunk, distance: 0.0 }).collect()
    }

    /// Entities with this name. A qualified name must end the entity's qualified name; template
    /// arguments and call parentheses are ignored.
    pub fn entities_named(&self, written: &str) -> Vec<usize> {
        let written = written.split(['<', '(']).next().unwrap_or(written).trim_matches(':');
        let last = written.rsplit("::").next().unwrap_or(written);
        let fits = |&&at: &&usize| {
            let qualified = &self.tables.entities[at].qualified_name;
            last == written || qualified == written || qualified.ends_with(&format!("::{written}"))
        };
        let named = self.names.entities_by_name.get(last);
        named.into_iter().flatten().filter(fits).copied().collect()
    }

    /// Folders and namespaces with this name or last component; case does not matter.
    pub fn modules_named(&self, name: &str) -> Vec<usize> {
        self.names.modules_by_name.get(&name.to_lowercase()).cloned().unwrap_or_default()
    }

    /// Entity with this id.
    pub fn entity(&self, id: &str) -> Option<usize> {
        self.names.entities_by_id.get(id).copied()
    }

    /// Entities of a file, in order of their first byte.
    pub fn entities_in(&self, file: usize) -> Range<usize> {
        self.names.entities_of_file[file].clone()
    }

    /// Innermost class, function or section around an entity; namespaces do not count.
    pub fn enclosing(&self, entity: usize) -> Option<usize> {
        self.names.enclosing[entity]
    }

    /// Chunks of an entity or summary, in part order.
    pub fn chunks_of(&self, subject: &str) -> &[usize] {
        self.names.chunks_by_subject.get(subject).map_or(&[], Vec::as_slice)
    }

    /// Unit of a row, if it is one.
    pub fn unit(&self, source: UnitSource) -> Option<usize> {
        self.names.units.get(&source).copied()
    }

    /// Unit a chunk belongs to: its entity, its file, or its module's or call chain's summary.
    pub fn unit_of_chunk(&self, chunk: usize) -> Option<usize> {
        let row = &self.tables.chunks[chunk];
        let source = match row.level {
            EntityLevel::File => UnitSource::File(self.tables.file(&row.path)?),
            EntityLevel::Module | EntityLevel::CallChain => {
                let summaries = &self.tables.summaries;
                let place = summaries.binary_search_by(|summary| summary.id.cmp(&row.subject));
                UnitSource::Summary(place.ok()?)
            }
            EntityLevel::Symbol | EntityLevel::DocumentationSection => {
                UnitSource::Entity(self.entity(&row.subject)?)
            }
        };
        self.unit(source)
    }

    /// Nodes that edges of `kind` lead to from `node`, in order, with the edge's confidence.
    pub fn targets(&self, node: &str, kind: EdgeKind) -> Vec<(&str, f32)> {
        let edges = self.names.edges_from.get(node).into_iter().flatten();
        let edges = edges.map(|&at| &self.tables.edges[at]).filter(|edge| edge.kind == kind);
        edges.map(|edge| (edge.target.as_str(), edge.confidence)).collect()
    }

    /// Nodes that edges of `kind` start from to reach `node`, in order, with the confidence.
    pub fn sources(&self, node: &str, kind: EdgeKind) -> Vec<(&str, f32)> {
        let edges = self.names.edges_to.get(node).into_iter().flatten();
        let edges = edges.map(|&at| &self.tables.edges[at]).filter(|edge| edge.kind == kind);
        edges.map(|edge| (edge.source.as_str(), edge.confidence)).collect()
    }

    /// Files that include `path`, in order.
    pub fn includers(&self, path: &str) -> Vec<&str> {
        let sources = self.sources(&file_node(path), EdgeKind::Includes);
        sources.into_iter().filter_map(|(node, _)| node.strip_prefix("file:")).collect()
    }
}

fn check_rows(path: &Path, contents: &Contents, tables: &Tables, units: usize) -> Result<()> {
    for (what, found, expected) in
        [("chunks", tables.chunks.len(), contents.chunks), ("units", units, contents.units)]
    {
        if found != expected {
            let detail = format!("{found} {what} in the tables, {expected} in the index");
            return Err(Error::OtherRows { path: path.to_owned(), detail });
        }
    }
    let missing = &contents.chunks_without_vector;
    let rising = missing.windows(2).all(|pair| pair[0] < pair[1]);
    let inside = missing.last().is_none_or(|&last| last < contents.chunks);
    if !rising || !inside || contents.vectors.checked_add(missing.len()) != Some(contents.chunks) {
        let detail = format!(
            "{} vectors and {} chunks without one, expected {} together",
            contents.vectors,
            missing.len(),
            contents.chunks
        );
        return Err(Error::Damaged { path: path.to_owned(), detail });
    }
    Ok(())
}
