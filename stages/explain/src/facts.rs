//! The facts of a prompt, trimmed to the room there is: code first, then what tells most.

use almanac_inference::{PromptBudget, PromptTemplate};
use almanac_tables::Entity;
use serde::Serialize;

use crate::code::fit;
use crate::neighbours::Neighbours;
use crate::{Params, Result};

/// Tokens of a comment that go into a prompt.
const COMMENT: usize = 150;

/// What the prompt `general` may use.
#[derive(Serialize, Default)]
struct Facts<'a> {
    path: &'a str,
    kind: String,
    symbol: &'a str,
    signature: &'a str,
    class: &'a str,
    namespace: &'a str,
    language: &'a str,
    comment: String,
    bases: Vec<String>,
    callees: Vec<String>,
    callers: Vec<String>,
    derived: Vec<String>,
    tests: Vec<String>,
    includes: Vec<String>,
    code: String,
}

/// The user message about `entity`. `inside` are the callables defined within it.
pub(crate) fn render(
    entity: &Entity,
    inside: &[&Entity],
    text: &str,
    neighbours: &Neighbours<'_>,
    template: &PromptTemplate,
    params: &Params,
) -> Result<String> {
    let mut facts = Facts {
        path: &entity.path,
        kind: entity.kind.as_str().replace('_', " "),
        symbol: &entity.qualified_name,
        signature: &entity.signature,
        class: &entity.class_name,
        namespace: &entity.namespace,
        language: entity.language.as_str(),
        ..Facts::default()
    };
    let answer = params.max_tokens.min(template.max_tokens());
    let mut budget = PromptBudget::new(params.context_tokens.saturating_sub(answer));
    budget.spend(template.system());
    budget.spend(&template.render(&entity.qualified_name, &facts)?);

    facts.code = fit(entity, inside, text, budget.left());
    budget.spend(&facts.code);
    let most = params.names_per_fact;
    let (callers, tests) = neighbours.callers(entity);
    facts.comment = budget.text(&entity.leading_comment, COMMENT);
    facts.bases = budget.list(&entity.bases, most);
    facts.callees = budget.list(&neighbours.callees(entity), most);
    facts.callers = budget.list(&callers, most);
    facts.derived = budget.list(&neighbours.derived(entity), most);
    facts.tests = budget.list(&tests, most);
    facts.includes = budget.list(&neighbours.includes(entity), most);
    Ok(template.render(&entity.qualified_name, &facts)?)
}
