//! Choosing evidence under the budget (paper 3.3.1, Table 2; 3.4).

use std::collections::BTreeMap;

use almanac_lookup::{SearchIndex, UnitSource};
use almanac_tables::Language;

use crate::context::{Block, Renderer, Shown};
use crate::expand::{pair_units, structural_units, supplementary_units};
use crate::fuse::{Candidate, Fused, Source, file_of};
use crate::intent::StructuralMode;
use crate::query::Signals;
use crate::search::{ContextChunk, DroppedChunk, Role, TokenCounter};
use crate::{Result, RetrievalSettings};

/// Room below which nothing more is tried.
const SMALLEST_ROOM: usize = 60;
/// Tokens for the header line of a block.
const HEADER_TOKENS: usize = 40;
/// Share of a unit's lines that must be new for it to be shown.
const SHOWN_ENOUGH: f64 = 0.7;
/// Share of a file's room that one of its symbols may take.
const ONE_SYMBOL_SHARE: f64 = 0.75;
/// Share of the budget for the other half of a header and implementation pair.
const PAIR_SHARE: f64 = 0.06;
/// Share of a file's bytes in symbols above which its symbols are shown and not the file.
const COVERED: f64 = 0.5;
/// Dropped candidates that are reported.
const REPORTED: usize = 30;

/// The evidence and the text of it.
pub(crate) struct Selected {
    pub(crate) files: Vec<String>,
    pub(crate) chunks: Vec<ContextChunk>,
    pub(crate) context: String,
    pub(crate) tokens: usize,
    pub(crate) dropped: Vec<DroppedChunk>,
}

/// What stands in the context so far.
pub(crate) struct Assembly<'a> {
    pub(crate) renderer: Renderer<'a>,
    pub(crate) shown: Shown,
    blocks: Vec<(Block, Role, f64, Vec<String>, usize)>,
    pub(crate) units: Vec<usize>,
    per_file: BTreeMap<String, usize>,
    used: usize,
    dropped: Vec<DroppedChunk>,
}

impl Assembly<'_> {
    fn room(&self) -> usize {
        self.renderer.settings.budget_tokens.saturating_sub(self.used)
    }

    fn drop(&mut self, source: UnitSource, score: f64, reason: &'static str) -> bool {
        if self.dropped.len() < REPORTED {
            let (path, symbol) = describe(self.renderer.index, source);
            self.dropped.push(DroppedChunk { path, symbol, score, reason });
        }
        false
    }

    /// Adds a unit if it is new, fits and its file has not had its share.
    pub(crate) fn add(&mut self, candidate: &Candidate, role: Role, limit: usize) -> bool {
        let index = self.renderer.index;
        let source = index.units()[candidate.unit].source;
        if self.units.contains(&candidate.unit) {
            return false;
        }
        let path = describe(index, source).0;
        let cap = self.renderer.settings.selection.file_cap;
        if !path.is_empty() && self.per_file.get(&path).copied().unwrap_or(0) >= cap {
            return self.drop(source, candidate.score, "its file has its share already");
        }
        if let UnitSource::Entity(at) = source {
            let (first, last) = self.renderer.lines_of(&index.tables().entities[at]);
            if self.shown.share(&path, first, last) >= SHOWN_ENOUGH {
                self.units.push(candidate.unit);
                return self.drop(source, candidate.score, "shown already");
            }
        }
        let room = self.room();
        if room < SMALLEST_ROOM + HEADER_TOKENS {
            return self.drop(source, candidate.score, "no room left");
        }
        let limit = limit.min(room - HEADER_TOKENS);
        let Some(block) = self.renderer.render(source, limit, &self.shown) else {
            return self.drop(source, candidate.score, "too long for the room left");
        };
        let text = block.text(self.blocks.len() + 1, role);
        // One more for the blank line between blocks.
        let tokens = (self.renderer.count)(&text) + 1;
        if tokens > room {
            return self.drop(source, candidate.score, "too long for the room left");
        }
        self.used += tokens;
        self.shown.add(&block.path, &block.kept);
        *self.per_file.entry(path).or_insert(0) += 1;
        self.units.push(candidate.unit);
        let reasons = candidate.sources.iter().map(reason).map(str::to_owned).collect();
        self.blocks.push((block, role, candidate.score, reasons, tokens));
        true
    }

    fn finish(mut self) -> Selected {
        let count = self.renderer.count;
        let budget = self.renderer.settings.budget_tokens;
        // Parts counted alone may come to less than the whole; the budget is hard.
        let (context, tokens) = loop {
            let texts: Vec<String> = self
                .blocks
                .iter()
                .enumerate()
                .map(|(at, (block, role, ..))| block.text(at + 1, *role))
                .collect();
            let context = texts.join("\n");
            let tokens = count(&context);
            if tokens <= budget || self.blocks.is_empty() {
                break (context, tokens);
            }
            if let Some((block, _, score, ..)) = self.blocks.pop()
                && self.dropped.len() < REPORTED
            {
                let (path, symbol, reason) = (block.path, block.symbol, "no room left");
                self.dropped.push(DroppedChunk { path, symbol, score, reason });
            }
        };
        let mut files: Vec<String> = Vec::new();
        let mut chunks = Vec::new();
        for (at, (block, role, score, reasons, tokens)) in self.blocks.into_iter().enumerate() {
            if !block.path.is_empty() && !files.contains(&block.path) {
                files.push(block.path.clone());
            }
            chunks.push(ContextChunk {
                rank: at + 1,
                role,
                path: block.path,
                start_line: block.first_line,
                end_line: block.last_line,
                symbol: block.symbol,
                kind: block.kind,
                level: block.level,
                score,
                tokens,
                shown: block.kept,
                cut: block.cut,
                reasons,
            });
        }
        Selected { files, chunks, context, tokens, dropped: self.dropped }
    }
}

fn reason(source: &Source) -> &'static str {
    match source {
        Source::FileName => "the question names the file",
        Source::SymbolName => "the question names the symbol",
        Source::ModuleName => "the question names the module",
        Source::Lexical => "words of the question",
        Source::Dense => "near in meaning",
        Source::File => "its file ranks high",
        Source::Graph => "related in the graph",
        Source::Pair => "other half of a header and implementation pair",
        Source::Included => "from a file the evidence includes",
    }
}

fn describe(index: &SearchIndex, source: UnitSource) -> (String, String) {
    let tables = index.tables();
    match source {
        UnitSource::Entity(at) => {
            (tables.entities[at].path.clone(), tables.entities[at].qualified_name.clone())
        }
        UnitSource::File(at) => (tables.files[at].path.clone(), String::new()),
        UnitSource::Summary(at) => (tables.summaries[at].path.clone(), tables.summaries[at].title.clone()),
    }
}

/// Whether a file is shown itself: it was named, or most of it is in no symbol.
fn file_stands(index: &SearchIndex, candidate: &Candidate, file: usize) -> bool {
    if candidate.sources.contains(&Source::FileName) {
        return true;
    }
    let tables = index.tables();
    let path = &tables.files[file].path;
    let text = tables.text(path);
    let mut covered = 0;
    let mut end = 0;
    for at in index.entities_in(file) {
        let entity = &tables.entities[at];
        if index.unit(UnitSource::Entity(at)).is_some() && entity.end_byte > end {
            covered += entity.end_byte - end.max(entity.start_byte);
            end = entity.end_byte;
        }
    }
    let code =
        matches!(tables.files[file].language, Language::Cpp | Language::C | Language::Cuda | Language::Hip);
    (covered as f64) < COVERED * text.len() as f64 * if code { 0.5 } else { 1.0 }
}

/// Candidates of the best files, file by file.
fn by_file<'a>(
    index: &SearchIndex,
    signals: &Signals,
    fused: &'a Fused,
    settings: &RetrievalSettings,
) -> Vec<Vec<&'a Candidate>> {
    let mut groups: BTreeMap<Option<usize>, Vec<&Candidate>> = BTreeMap::new();
    for candidate in &fused.candidates {
        let source = index.units()[candidate.unit].source;
        if let UnitSource::File(file) = source
            && !file_stands(index, candidate, file)
        {
            continue;
        }
        groups.entry(file_of(index, source)).or_default().push(candidate);
    }
    let worth = |file: &Option<usize>| match file {
        Some(file) if signals.files.contains(file) => f64::MAX,
        Some(file) => fused.files.get(file).copied().unwrap_or(0.0),
        None => 0.0,
    };
    let mut groups: Vec<(Option<usize>, Vec<&Candidate>)> = groups.into_iter().collect();
    groups.sort_by(|(a, _), (b, _)| worth(b).total_cmp(&worth(a)).then(a.cmp(b)));
    let best = fused.files.values().copied().fold(0.0, f64::max);
    groups.retain(|(file, _)| worth(file) >= best * settings.selection.file_floor);
    groups.truncate(settings.selection.files);
    groups.into_iter().map(|(_, group)| group).collect()
}

pub(crate) fn select(
    index: &SearchIndex,
    signals: &Signals,
    fused: &Fused,
    settings: &RetrievalSettings,
    count: TokenCounter<'_>,
) -> Result<Selected> {
    let renderer = Renderer::new(index, settings, count, signals);
    let mut assembly = Assembly {
        renderer,
        shown: Shown::default(),
        blocks: Vec::new(),
        units: Vec::new(),
        per_file: BTreeMap::new(),
        used: 0,
        dropped: Vec::new(),
    };
    let share = |share: f64| (settings.budget_tokens as f64 * share) as usize;
    let limit = share(settings.selection.chunk_share);
    let mut primary: Vec<usize> = Vec::new();
    let groups = by_file(index, signals, fused, settings);
    let found_share = share(settings.selection.primary_share);
    let total: f64 = (0..groups.len()).map(|at| settings.selection.decay.powi(at as i32)).sum();
    let mut carry = 0;
    for (at, group) in groups.iter().enumerate() {
        let own = settings.selection.decay.powi(at as i32) / total;
        let allotted = (found_share as f64 * own) as usize + carry;
        let before = assembly.used;
        let best = group.first().map_or(0.0, |candidate| candidate.score);
        for candidate in group {
            let left = allotted.saturating_sub(assembly.used - before);
            if left < SMALLEST_ROOM + HEADER_TOKENS
                || candidate.score < best * settings.selection.relative_floor
            {
                break;
            }
            // The rest of the file gets some of the room, however long its best symbol is.
            let most = (allotted as f64 * ONE_SYMBOL_SHARE) as usize;
            let limit = (left - HEADER_TOKENS).min(most.max(SMALLEST_ROOM));
            if assembly.add(candidate, Role::Primary, limit) {
                primary.push(candidate.unit);
            }
        }
        carry = allotted.saturating_sub(assembly.used - before);
    }
    if settings.pairs {
        for candidate in pair_units(index, fused, &primary, &assembly.shown) {
            assembly.add(&candidate, Role::Structural, share(PAIR_SHARE));
        }
    }
    if settings.structural {
        let wanted = structural_count(signals.intent.structural_mode(), settings);
        let mut added = 0;
        for candidate in structural_units(index, fused, &primary) {
            if added < wanted && assembly.add(&candidate, Role::Structural, limit) {
                added += 1;
            }
        }
    }
    if settings.supplementary {
        let mut added = 0;
        for candidate in supplementary_units(index, fused, &primary) {
            if added < settings.selection.supplementary
                && assembly.add(&candidate, Role::Supplementary, limit)
            {
                added += 1;
            }
        }
    }
    // Room that is left goes to the next best.
    for candidate in groups.into_iter().flatten() {
        assembly.add(candidate, Role::Primary, limit);
    }
    Ok(assembly.finish())
}

fn structural_count(mode: StructuralMode, settings: &RetrievalSettings) -> usize {
    let selection = &settings.selection;
    match mode {
        StructuralMode::Minimal => selection.structural_minimal,
        StructuralMode::ApiUsage => selection.structural_api_usage,
        StructuralMode::Balanced => selection.structural_balanced,
        StructuralMode::Broad => selection.structural_broad,
    }
}

/// File of a unit by place in the units.
pub(crate) fn file_of_unit(index: &SearchIndex, unit: usize) -> Option<usize> {
    file_of(index, index.units()[unit].source)
}
