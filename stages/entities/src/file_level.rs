//! File facts: what it is, what it includes, what is in it (`unified_whole_file_with_fallback_v1`).

use almanac_inference::clip;
use almanac_tables::{EdgeKind, EntityKind, EntityLevel, File, FileStatus, file_node};

use crate::context::Context;
use crate::fact_sheet::FactSheet;

/// Tokens of facts beside the text of a file without symbols.
const FALLBACK_FACTS: usize = 250;

/// The facts about a file, and its own text where it has no symbols.
pub(crate) struct FileFacts {
    pub(crate) facts: String,
    pub(crate) raw: Option<Raw>,
    pub(crate) members: Vec<String>,
}

/// Visible text of a file.
pub(crate) struct Raw {
    pub(crate) text: String,
    pub(crate) cut: bool,
}

/// Whether a file can be summarised at all.
pub(crate) fn is_readable(file: &File) -> bool {
    matches!(file.status, FileStatus::Parsed | FileStatus::Text)
}

/// Facts of at most `tokens`, its raw text included.
pub(crate) fn facts(context: &Context<'_>, file: &File, tokens: usize) -> FileFacts {
    let symbols = context.telling_symbols(&file.path);
    let is_code = symbols.iter().any(|entity| !is_build(entity.kind));
    let mut sheet = FactSheet::new(if is_code { tokens } else { tokens.min(FALLBACK_FACTS) });
    sheet.line("File", &file.path);
    let kind = [file.source_type.as_str(), file.role.as_str(), file.language.as_str()];
    sheet.line("Kind", &kind.join(", "));
    let most = context.params.names_per_fact;
    sheet.list("Namespaces", &namespaces(context, file), most);
    let names: Vec<String> = symbols.iter().map(|entity| entity.qualified_name.clone()).collect();
    sheet.half_list("Symbols", &names);
    sheet.list("Sections", &section_titles(context, file), most);
    let node = file_node(&file.path);
    let pairs: Vec<String> = context
        .targets_of(EdgeKind::Pairs, &node)
        .iter()
        .map(|edge| &edge.target)
        .chain(context.sources_of(EdgeKind::Pairs, &node).iter().map(|edge| &edge.source))
        .map(|node| path_of(node))
        .collect();
    sheet.list("Belongs with", &pairs, most);
    let includes = context.targets_of(EdgeKind::Includes, &node);
    sheet.list("Includes", &includes.iter().map(|e| path_of(&e.target)).collect::<Vec<_>>(), most);
    let users = context.sources_of(EdgeKind::Includes, &node);
    sheet.list("Included by", &users.iter().map(|e| path_of(&e.source)).collect::<Vec<_>>(), most);
    let told: Vec<String> = symbols
        .iter()
        .map(|entity| (entity, context.gist(entity)))
        .filter(|(_, gist)| !gist.is_empty())
        .map(|(entity, gist)| format!("{}: {gist}", entity.qualified_name))
        .collect();
    sheet.bullets("What they do", &told);
    let members = symbols.iter().map(|entity| entity.id.clone()).collect();
    let facts = sheet.finish();
    let raw = (!is_code).then(|| raw(context.text(&file.path), tokens.saturating_sub(FALLBACK_FACTS)));
    FileFacts { facts, raw, members }
}

fn raw(text: &str, tokens: usize) -> Raw {
    let text = text.trim();
    let kept = clip(text, tokens);
    Raw { text: kept.to_owned(), cut: kept.len() < text.len() }
}

/// Path of a `file:` node.
pub(crate) fn path_of(node: &str) -> String {
    node.strip_prefix("file:").unwrap_or(node).to_owned()
}

fn is_build(kind: EntityKind) -> bool {
    matches!(kind, EntityKind::BuildTarget | EntityKind::BuildFunction | EntityKind::BuildOption)
}

fn namespaces(context: &Context<'_>, file: &File) -> Vec<String> {
    let entities = context.entities_of(&file.path).iter();
    let mut names: Vec<String> =
        entities.map(|entity| entity.namespace.clone()).filter(|namespace| !namespace.is_empty()).collect();
    names.sort();
    names.dedup();
    names
}

fn section_titles(context: &Context<'_>, file: &File) -> Vec<String> {
    context
        .entities_of(&file.path)
        .iter()
        .filter(|entity| entity.level == EntityLevel::DocumentationSection)
        .filter(|entity| entity.kind == EntityKind::Section)
        .map(|entity| entity.name.clone())
        .collect()
}
