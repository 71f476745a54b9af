//! The tools: names, what they are for, what they take.

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Value, json};

/// Tokens of an answer where the caller does not say.
const DEFAULT_TOKENS: usize = 4000;
/// Least and most tokens that a caller may ask for.
pub(super) const TOKENS: std::ops::RangeInclusive<usize> = 200..=100_000;
/// Longest text of an argument, in bytes.
const LONGEST: usize = 100_000;

/// One call.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) what: What,
    pub(super) max_tokens: usize,
}

/// What is asked.
#[derive(Debug, Clone)]
pub(super) enum What {
    Search(String),
    Context { task: String, commit: Option<String> },
    Explain(String),
    Ask(String),
    Status,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[serde(default)]
    query: Option<String>,
    #[serde(default)]
    task: Option<String>,
    #[serde(default)]
    commit: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    question: Option<String>,
    #[serde(default)]
    max_tokens: Option<usize>,
}

impl Call {
    /// Reads the arguments of a tool; an error says what is wrong with them.
    ///
    /// `None`: there is no such tool.
    pub(super) fn read(tool: &str, arguments: Option<JsonObject>) -> Option<Result<Self, String>> {
        let schema = tools().into_iter().find(|known| known.name == tool)?.input_schema;
        Some(Self::checked(tool, &schema, arguments.unwrap_or_default()))
    }

    fn checked(tool: &str, schema: &JsonObject, arguments: JsonObject) -> Result<Self, String> {
        let known = schema.get("properties").and_then(Value::as_object);
        if let Some(name) =
            arguments.keys().find(|name| known.is_some_and(|known| !known.contains_key(*name)))
        {
            return Err(format!("`{tool}` takes no `{name}`"));
        }
        let given: Arguments =
            serde_json::from_value(Value::Object(arguments)).map_err(|error| error.to_string())?;
        let max_tokens = given.max_tokens.unwrap_or(DEFAULT_TOKENS);
        if !TOKENS.contains(&max_tokens) {
            return Err(format!("max_tokens is from {} to {}", TOKENS.start(), TOKENS.end()));
        }
        let text = |name: &str, value: Option<String>| -> Result<String, String> {
            let value = value.ok_or_else(|| format!("`{name}` is missing"))?;
            if value.trim().is_empty() {
                Err(format!("`{name}` is empty"))
            } else if value.len() > LONGEST {
                Err(format!("`{name}` has {} bytes, at most {LONGEST} are taken", value.len()))
            } else {
                Ok(value)
            }
        };
        let what = match tool {
            "search" => What::Search(text("query", given.query)?),
            "context" => {
                let commit = given.commit.map(|commit| text("commit", Some(commit))).transpose()?;
                if commit.as_ref().is_some_and(|commit| commit.starts_with('-')) {
                    return Err("a commit does not begin with `-`".to_owned());
                }
                What::Context { task: text("task", given.task)?, commit }
            }
            "explain" => What::Explain(text("name", given.name)?),
            "ask" => What::Ask(text("question", given.question)?),
            _ => What::Status,
        };
        Ok(Self { what, max_tokens })
    }
}

/// All tools, in the order in which they are listed.
pub(super) fn tools() -> Vec<Tool> {
    let text = |description: &str| json!({"type": "string", "minLength": 1, "maxLength": LONGEST, "description": description});
    vec![
        tool(
            "context",
            "Before changing code: the files a task is likely to touch, with the reasons, their symbols, related \
             files and source with line numbers, from the working tree as it is now.",
            json!({"task": text("The change, in words: an issue or a request"),
                   "commit": text("Read this commit in place of the working tree")}),
            &["task"],
        ),
        tool(
            "search",
            "Source that answers a question about the codebase (where, how, which), with paths and line numbers.",
            json!({"query": text("The question, in words; names of symbols and files help")}),
            &["query"],
        ),
        tool(
            "explain",
            "One symbol or file: its explanation, source, callers, callees, base classes, includes, tests.",
            json!({"name": text("`Class::member`, `function`, or a file's name or path in the tree")}),
            &["name"],
        ),
        tool(
            "ask",
            "A written answer with checked `path:line` citations, by a small local model; slow on a processor. \
             `search` is faster and leaves the reading to you.",
            json!({"question": text("The question")}),
            &["question"],
        ),
        tool(
            "status",
            "What the store holds, how fresh it is against the tree, and what is missing.",
            json!({}),
            &[],
        ),
    ]
}

fn tool(name: &'static str, description: &'static str, mut properties: Value, required: &[&str]) -> Tool {
    properties["max_tokens"] = json!({
        "type": "integer", "minimum": TOKENS.start(), "maximum": TOKENS.end(), "default": DEFAULT_TOKENS,
        "description": "Most tokens of the answer"
    });
    let schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false
    });
    let schema = schema.as_object().cloned().unwrap_or_default();
    let mut tool = Tool::new(name, description, schema);
    tool.annotations = Some(ToolAnnotations::new().read_only(true).open_world(false));
    tool
}
