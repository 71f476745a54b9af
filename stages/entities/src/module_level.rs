//! Module facts: its files and folders and what they are for, and the folders it works with
//! (`module_entities_from_descendant_files_v1`).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use almanac_tables::{EdgeKind, File, Module, ModuleKind, SourceType, file_node};

use crate::context::{Context, gist};
use crate::fact_sheet::FactSheet;
use crate::file_level::path_of;
use crate::plan::Texts;

/// Symbols that stand in for the summary of a file.
const SYMBOLS_OF_A_FILE: usize = 4;

/// Whether a module is summarised: a folder with something in it.
pub(crate) fn is_summarised(module: &Module) -> bool {
    module.kind == ModuleKind::Folder && !(module.files.is_empty() && module.submodules.is_empty())
}

/// Folders above a folder, so that deeper ones are summarised before.
pub(crate) fn depth(module: &Module) -> usize {
    if module.name == "." { 0 } else { module.name.split('/').count() }
}

/// Facts of at most `tokens` from the summaries there are.
pub(crate) fn facts(
    context: &Context<'_>,
    module: &Module,
    modules: &BTreeMap<&str, &Module>,
    texts: &Texts,
    tokens: usize,
) -> String {
    let mut sheet = FactSheet::new(tokens);
    let most = context.params.names_per_fact;
    sheet.line("Folder", &module.name);
    let folders: Vec<String> = module
        .submodules
        .iter()
        .filter_map(|id| modules.get(id.as_str()))
        .map(|module| folder_line(module, texts))
        .collect();
    let files: Vec<String> =
        ordered_files(context, module).iter().map(|file| file_line(context, file, texts)).collect();
    let (needs, users) = neighbours(context, module);
    sheet.list("Depends on", &needs, most);
    sheet.list("Used by", &users, most);
    sheet.bullets("Folders in it", &folders);
    sheet.bullets("Files in it", &files);
    sheet.finish()
}

fn folder_line(module: &Module, texts: &Texts) -> String {
    match texts.get(&module.id) {
        Some(text) => format!("{}: {}", module.name, gist(text)),
        None => format!("{}: {} files", module.name, module.descendant_files),
    }
}

fn file_line(context: &Context<'_>, file: &File, texts: &Texts) -> String {
    let name = file.path.rsplit('/').next().unwrap_or(&file.path);
    if let Some(text) = texts.get(&file_node(&file.path)) {
        return format!("{name}: {}", gist(text));
    }
    let mut names: Vec<&str> = Vec::new();
    for entity in context.telling_symbols(&file.path) {
        // Special members say nothing that the name of their class does not.
        let is_special = entity.name.starts_with('~') || entity.name.starts_with("operator");
        if !is_special && !names.contains(&entity.name.as_str()) {
            names.push(&entity.name);
        }
    }
    names.truncate(SYMBOLS_OF_A_FILE);
    if names.is_empty() {
        format!("{name}: {}", file.source_type)
    } else {
        format!("{name}: defines {}", names.join(", "))
    }
}

/// Files directly inside, interfaces first.
fn ordered_files<'a>(context: &Context<'a>, module: &Module) -> Vec<&'a File> {
    let mut files: Vec<&File> =
        module.files.iter().filter_map(|path| context.files.get(path.as_str()).copied()).collect();
    files.sort_by_key(|file| (type_order(file.source_type), &file.path));
    files
}

fn type_order(source_type: SourceType) -> u8 {
    match source_type {
        SourceType::Header => 0,
        SourceType::Source => 1,
        SourceType::Documentation => 2,
        SourceType::Build | SourceType::Script | SourceType::Configuration => 3,
    }
}

/// Other folders whose files are included, and those that include from here, most often first.
fn neighbours(context: &Context<'_>, module: &Module) -> (Vec<String>, Vec<String>) {
    let mut needs: BTreeMap<String, usize> = BTreeMap::new();
    let mut users: BTreeMap<String, usize> = BTreeMap::new();
    for path in &module.files {
        let node = file_node(path);
        for edge in context.targets_of(EdgeKind::Includes, &node) {
            *needs.entry(folder_of(context, &edge.target)).or_default() += 1;
        }
        for edge in context.sources_of(EdgeKind::Includes, &node) {
            *users.entry(folder_of(context, &edge.source)).or_default() += 1;
        }
    }
    (by_count(needs, &module.name), by_count(users, &module.name))
}

fn folder_of(context: &Context<'_>, node: &str) -> String {
    let path = path_of(node);
    context.files.get(path.as_str()).map_or_else(String::new, |file| file.folder.clone())
}

fn by_count(folders: BTreeMap<String, usize>, own: &str) -> Vec<String> {
    let mut folders: Vec<(String, usize)> =
        folders.into_iter().filter(|(folder, _)| !folder.is_empty() && folder != own).collect();
    folders.sort_by(|(a, a_count), (b, b_count)| (Reverse(a_count), a).cmp(&(Reverse(b_count), b)));
    folders.into_iter().map(|(folder, _)| folder).collect()
}
