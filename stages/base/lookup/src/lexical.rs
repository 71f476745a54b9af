//! BM25 over the units: one segment, one thread, the same bytes for the same rows.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use tantivy::collector::{Collector, SegmentCollector};
use tantivy::directory::{Directory, RamDirectory};
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::store::Compressor;
use tantivy::tokenizer::TokenizerManager;
use tantivy::{DocId, Index, IndexReader, IndexSettings, ReloadPolicy, TantivyDocument, Term};

use crate::analyze::{CODE_ANALYZER, PROSE_ANALYZER};
use crate::frozen::FrozenDirectory;
use crate::guard::guarded;
use crate::units::UnitText;
use crate::{Analyzer, Error, Result};

/// Name every segment gets; tantivy's own is random.
const SEGMENT: &str = "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1";
const META: &str = "meta.json";
/// Files of a segment.
const EXTENSIONS: [&str; 6] = ["fast", "fieldnorm", "idx", "pos", "store", "term"];
/// Arena of the writer. One segment holds everything, so this only sizes the first tables.
const WRITER_BYTES: usize = 64 << 20;

/// Weight of each field of the text index.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldBoosts {
    /// Path of the file.
    pub path: f32,
    /// Qualified name; headings of a section.
    pub symbol: f32,
    /// Source text.
    pub code: f32,
    /// Comment before a symbol, explanation, summary.
    pub prose: f32,
}

/// A term of a query with its weight.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedTerm {
    /// As [`Analyzer`] gives it.
    pub term: String,
    /// Factor on its score.
    pub weight: f32,
}

#[derive(Clone, Copy)]
struct Fields {
    path: Field,
    symbol: Field,
    code: Field,
    prose: Field,
}

fn schema() -> (Schema, Fields) {
    let options = |analyzer: &str| {
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(analyzer)
            .set_index_option(IndexRecordOption::WithFreqs);
        TextOptions::default().set_indexing_options(indexing)
    };
    let mut builder = Schema::builder();
    let fields = Fields {
        path: builder.add_text_field("path", options(CODE_ANALYZER)),
        symbol: builder.add_text_field("symbol", options(CODE_ANALYZER)),
        code: builder.add_text_field("code", options(CODE_ANALYZER)),
        prose: builder.add_text_field("prose", options(PROSE_ANALYZER)),
    };
    (builder.build(), fields)
}

/// Writes the index over `units` into `folder`, which must exist.
pub(crate) fn write<'a>(
    folder: &Path,
    analyzer: &Analyzer,
    units: impl Iterator<Item = UnitText<'a>>,
) -> Result<()> {
    let memory = RamDirectory::create();
    let index = fill(memory.clone(), analyzer, units).map_err(Error::text("write", folder))?;
    let segments = index.searchable_segment_metas().map_err(Error::text("read back", folder))?;
    for segment in &segments {
        let random = segment.id().uuid_string();
        for extension in EXTENSIONS {
            let name = format!("{random}.{extension}");
            let bytes = memory
                .open_read(Path::new(&name))
                .map_err(|source| Error::text("read back", folder)(source.into()))?
                .read_bytes()
                .map_err(|source| Error::text("read back", folder)(source.into()))?;
            let path = folder.join(format!("{SEGMENT}.{extension}"));
            fs_err::write(&path, bytes.as_slice()).map_err(Error::io("write", &path))?;
        }
    }
    let meta = memory
        .atomic_read(Path::new(META))
        .map_err(|source| Error::text("read back", folder)(source.into()))?;
    let path = folder.join(META);
    let meta = fixed_meta(&meta, segments.first().map(|segment| segment.id().uuid_string()))
        .map_err(|source| Error::Describe { source })?;
    fs_err::write(&path, meta).map_err(Error::io("write", &path))
}

fn fill<'a>(
    memory: RamDirectory,
    analyzer: &Analyzer,
    units: impl Iterator<Item = UnitText<'a>>,
) -> tantivy::Result<Index> {
    let (schema, fields) = schema();
    let settings = IndexSettings {
        docstore_compression: Compressor::None,
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    };
    let tokenizers = TokenizerManager::new();
    analyzer.register(&tokenizers);
    let mut writer = Index::builder()
        .schema(schema)
        .settings(settings)
        .tokenizers(tokenizers)
        .single_segment_index_writer::<TantivyDocument>(memory, WRITER_BYTES)?;
    for unit in units {
        let mut document = TantivyDocument::default();
        document.add_text(fields.path, unit.path);
        document.add_text(fields.symbol, &unit.symbol);
        document.add_text(fields.code, unit.code);
        document.add_text(fields.prose, &unit.prose);
        writer.add_document(document)?;
    }
    writer.finalize()
}

/// `meta.json` with the fixed segment name in place of the random one.
fn fixed_meta(meta: &[u8], random: Option<String>) -> serde_json::Result<Vec<u8>> {
    let text = String::from_utf8_lossy(meta);
    let text = match random {
        // The id is written with hyphens in the JSON and without in file names.
        Some(random) => text.replace(&hyphened(&random), &hyphened(SEGMENT)),
        None => text.into_owned(),
    };
    let value: serde_json::Value = serde_json::from_str(&text)?;
    let mut bytes = serde_json::to_vec_pretty(&value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn hyphened(uuid: &str) -> String {
    let cut = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| &uuid[range]);
    cut.join("-")
}

/// The open text index.
pub(crate) struct LexicalIndex {
    folder: PathBuf,
    reader: IndexReader,
    fields: Fields,
    count: usize,
}

impl LexicalIndex {
    /// Opens `folder`, which must hold `count` documents.
    pub(crate) fn open(folder: &Path, count: usize) -> Result<Self> {
        guarded(folder, || Self::open_files(folder, count))
    }

    fn open_files(folder: &Path, count: usize) -> Result<Self> {
        let (expected, fields) = schema();
        let directory = FrozenDirectory::open(folder).map_err(Error::text("open", folder))?;
        let index = Index::open(directory).map_err(Error::text("open", folder))?;
        if index.schema() != expected {
            let detail = "its fields are those of another version".to_owned();
            return Err(Error::Damaged { path: folder.join(META), detail });
        }
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()
            .map_err(Error::text("open", folder))?;
        let found = reader.searcher().num_docs() as usize;
        if found != count {
            let detail = format!("{found} documents, expected {count}");
            return Err(Error::Damaged { path: folder.to_owned(), detail });
        }
        Ok(Self { folder: folder.to_owned(), reader, fields, count })
    }

    /// Score of every document that holds one of `terms`, by document.
    pub(crate) fn scores(&self, terms: &[WeightedTerm], boosts: &FieldBoosts) -> Result<Vec<(u32, f32)>> {
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        for WeightedTerm { term, weight } in terms {
            let fields = [
                (self.fields.path, boosts.path),
                (self.fields.symbol, boosts.symbol),
                (self.fields.code, boosts.code),
                (self.fields.prose, boosts.prose),
            ];
            for (field, boost) in fields {
                if boost * weight > 0.0 {
                    let query =
                        TermQuery::new(Term::from_field_text(field, term), IndexRecordOption::WithFreqs);
                    clauses.push((Occur::Should, Box::new(BoostQuery::new(Box::new(query), boost * weight))));
                }
            }
        }
        let found = guarded(&self.folder, || {
            let searcher = self.reader.searcher();
            let found = searcher.search(&BooleanQuery::new(clauses), &EveryScore);
            found.map_err(Error::text("search", &self.folder))
        })?;
        match found.last() {
            Some(&(document, _)) if document as usize >= self.count => Err(Error::Damaged {
                path: self.folder.clone(),
                detail: format!("it names document {document}, the last is {}", self.count - 1),
            }),
            _ => Ok(found),
        }
    }

    /// Documents whose source text holds `term`, in order.
    pub(crate) fn documents_with(&self, term: &str) -> Result<Vec<u32>> {
        let term = WeightedTerm { term: term.to_owned(), weight: 1.0 };
        let code = FieldBoosts { path: 0.0, symbol: 0.0, code: 1.0, prose: 0.0 };
        let scores = self.scores(&[term], &code)?;
        Ok(scores.into_iter().map(|(document, _)| document).collect())
    }
}

/// Collects every match with its score; stores have at most some hundred thousand units.
struct EveryScore;

struct EveryScoreOfSegment(Vec<(DocId, f32)>);

impl Collector for EveryScore {
    type Fruit = Vec<(u32, f32)>;
    type Child = EveryScoreOfSegment;

    fn for_segment(
        &self,
        _ordinal: tantivy::SegmentOrdinal,
        _segment: &tantivy::SegmentReader,
    ) -> tantivy::Result<EveryScoreOfSegment> {
        Ok(EveryScoreOfSegment(Vec::new()))
    }

    fn requires_scoring(&self) -> bool {
        true
    }

    fn merge_fruits(&self, fruits: Vec<Vec<(u32, f32)>>) -> tantivy::Result<Vec<(u32, f32)>> {
        let mut scores: Vec<(u32, f32)> = fruits.into_iter().flatten().collect();
        scores.sort_by_key(|&(document, _)| document);
        Ok(scores)
    }
}

impl SegmentCollector for EveryScoreOfSegment {
    type Fruit = Vec<(u32, f32)>;

    fn collect(&mut self, document: DocId, score: f32) {
        self.0.push((document, score));
    }

    fn harvest(self) -> Vec<(u32, f32)> {
        self.0
    }
}
