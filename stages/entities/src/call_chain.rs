//! Call-chain facts: a callable with its direct callers and callees (`direct_call_neighborhood_v1`).

use std::collections::BTreeSet;

use almanac_tables::{Edge, EdgeKind, Entity, file_node, folder_node};

use crate::context::{Context, gist};
use crate::fact_sheet::FactSheet;
use crate::plan::Texts;

/// A callable definition and the callables it is directly related to.
pub(crate) struct Neighbourhood<'a> {
    pub(crate) callable: &'a Entity,
    pub(crate) callers: Vec<&'a Entity>,
    pub(crate) callees: Vec<&'a Entity>,
}

impl<'a> Neighbourhood<'a> {
    /// The neighbourhood of `callable`; `None` when nothing calls it and it calls nothing.
    pub(crate) fn of(context: &Context<'a>, callable: &'a Entity) -> Option<Self> {
        if !callable.kind.is_callable() || !callable.is_definition {
            return None;
        }
        // Calls may be bound to the declaration.
        let mut calls_here = context.sources_of(EdgeKind::Calls, &callable.id);
        for edge in context.targets_of(EdgeKind::Defines, &callable.id) {
            calls_here.extend(context.sources_of(EdgeKind::Calls, &edge.target));
        }
        let calls = context.targets_of(EdgeKind::Calls, &callable.id);
        let callers = others(context, callable, &calls_here, |edge| &edge.source);
        let callees = others(context, callable, &calls, |edge| &edge.target);
        let is_alone = callers.is_empty() && callees.is_empty();
        (!is_alone).then_some(Self { callable, callers, callees })
    }

    /// Ids of what the summary is made from, the callable's own first.
    pub(crate) fn members(&self) -> Vec<String> {
        let all = std::iter::once(&self.callable).chain(&self.callers).chain(&self.callees);
        let mut seen = BTreeSet::new();
        all.map(|entity| entity.id.clone()).filter(|id| seen.insert(id.clone())).collect()
    }

    /// Facts of at most `tokens`.
    pub(crate) fn facts(&self, context: &Context<'a>, texts: &Texts, tokens: usize) -> String {
        let callable = self.callable;
        let mut sheet = FactSheet::new(tokens);
        sheet.line("Function", &callable.qualified_name);
        sheet.line("Signature", &callable.signature);
        sheet.line("File", &callable.path);
        sheet.line("What it does", &context.gist(callable));
        // Callers may be very many; callees must not lose their room to them.
        let most = context.params.names_per_fact;
        let lines = |entities: &[&Entity]| -> Vec<String> {
            entities.iter().take(most).map(|entity| line(context, entity)).collect()
        };
        sheet.bullets("It calls", &lines(&self.callees));
        sheet.bullets("Called by", &lines(&self.callers));
        let summary = |id: &str| texts.get(id).map(|text| gist(text)).unwrap_or_default();
        sheet.line("Its file", &summary(&file_node(&callable.path)));
        sheet.line("Its folder", &summary(&folder_node(folder(context, callable))));
        sheet.finish()
    }
}

/// Folder of the callable's file.
pub(crate) fn folder<'a>(context: &Context<'a>, callable: &Entity) -> &'a str {
    context.files.get(callable.path.as_str()).map_or("", |file| file.folder.as_str())
}

fn line(context: &Context<'_>, entity: &Entity) -> String {
    let gist = context.gist(entity);
    let name = &entity.qualified_name;
    if gist.is_empty() { format!("{name} ({})", entity.path) } else { format!("{name}: {gist}") }
}

/// Entities at the far ends, each once and never the callable itself.
fn others<'a>(
    context: &Context<'a>,
    callable: &Entity,
    edges: &[&'a Edge],
    end: impl Fn(&'a Edge) -> &'a String,
) -> Vec<&'a Entity> {
    let mut seen = BTreeSet::from([callable.qualified_name.as_str()]);
    edges
        .iter()
        .filter_map(|edge| context.entity(end(edge)))
        .filter(|entity| seen.insert(entity.qualified_name.as_str()))
        .collect()
}
