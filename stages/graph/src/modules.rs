//! Folders and namespaces as modules.

use std::collections::{BTreeMap, BTreeSet};

use almanac_tables::{EntityKind, Module, ModuleKind, folder_node, namespace_node};

use crate::names::scopes_outward;
use crate::tree::{Family, Tree};

/// The top folder.
const TOP: &str = ".";

/// Files directly in each module, by its name.
type Contents<'a> = BTreeMap<String, BTreeSet<&'a str>>;

/// Every folder with files in or below it and every namespace, in table order.
pub(crate) fn modules(tree: &Tree<'_>) -> Vec<Module> {
    let mut rows = folder_modules(tree);
    rows.extend(namespace_modules(tree));
    rows.sort_by(|one, other| one.id.cmp(&other.id));
    rows
}

fn folder_modules(tree: &Tree<'_>) -> Vec<Module> {
    let mut contents = Contents::new();
    for file in tree.files {
        let folder = if file.folder.is_empty() { TOP } else { file.folder.as_str() };
        contents.entry(folder.to_owned()).or_default().insert(&file.path);
        let mut outer = folder;
        while let Some(parent) = parent_folder(outer) {
            contents.entry(parent.to_owned()).or_default();
            outer = parent;
        }
    }
    rows(&contents, ModuleKind::Folder, folder_node, |name| parent_folder(name).map(str::to_owned))
}

fn parent_folder(folder: &str) -> Option<&str> {
    match folder.rsplit_once('/') {
        Some((parent, _)) => Some(parent),
        None => (folder != TOP).then_some(TOP),
    }
}

fn namespace_modules(tree: &Tree<'_>) -> Vec<Module> {
    let mut contents = Contents::new();
    for at in tree.code_entities().filter(|&at| tree.facts[at].family == Family::Native) {
        let (entity, facts) = (&tree.entities[at], &tree.facts[at]);
        let namespace = match (entity.kind, facts.around) {
            (EntityKind::Namespace, _) => facts.qualified(),
            (_, Some(around)) if tree.entities[around].kind == EntityKind::Namespace => {
                tree.facts[around].qualified()
            }
            _ => continue,
        };
        let namespace = crate::names::without_anonymous(&namespace);
        for outer in scopes_outward(&namespace).filter(|outer| !outer.is_empty()) {
            contents.entry(outer.to_owned()).or_default();
        }
        if entity.kind != EntityKind::Namespace
            && let Some(files) = contents.get_mut(&namespace)
        {
            files.insert(&entity.path);
        }
    }
    rows(&contents, ModuleKind::Namespace, namespace_node, |name| {
        name.rsplit_once("::").map(|(parent, _)| parent.to_owned())
    })
}

fn rows(
    contents: &Contents<'_>,
    kind: ModuleKind,
    node: impl Fn(&str) -> String,
    parent_of: impl Fn(&str) -> Option<String>,
) -> Vec<Module> {
    let mut inside: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut below: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (name, files) in contents {
        if let Some(parent) = parent_of(name) {
            inside.entry(parent).or_default().push(node(name));
        }
        let mut outer = Some(name.clone());
        while let Some(module) = outer {
            outer = parent_of(&module);
            below.entry(module).or_default().extend(files);
        }
    }
    contents
        .iter()
        .map(|(name, files)| Module {
            id: node(name),
            kind,
            name: name.clone(),
            parent: parent_of(name).map(|parent| node(&parent)).unwrap_or_default(),
            files: files.iter().map(|path| (*path).to_owned()).collect(),
            submodules: inside.get(name).cloned().unwrap_or_default(),
            descendant_files: below.get(name).map_or(0, |files| files.len() as u32),
        })
        .collect()
}
