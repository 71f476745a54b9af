//! Prompt files: front matter, a template, and the signature that goes into every record key.
//!
//! A prompt file is TOML between two `+++` lines and a minijinja template after them. The stages
//! hand in the text of the file; who finds and reads files is not known here.

use std::sync::Arc;

use almanac_artifact::Digest;
use minijinja::{Environment, UndefinedBehavior, context};
use serde::{Deserialize, Serialize};

use crate::AnswerSchema;

const FENCE: &str = "+++";
const TEMPLATE: &str = "body";
const SYSTEM: &str = "system";

/// What can be wrong with a prompt file.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum PromptError {
    /// The file does not open with front matter.
    #[error("prompt `{mode}` has no front matter between two `+++` lines")]
    #[diagnostic(
        code(almanac::config),
        help(
            "start the file with `+++`, the keys mode, version, max_tokens, system and maybe schema, and `+++`"
        )
    )]
    NoFrontMatter {
        /// Prompt mode.
        mode: String,
    },

    /// The front matter is not valid.
    #[error("front matter of prompt `{mode}` is not valid")]
    #[diagnostic(
        code(almanac::config),
        help(
            "it holds mode, version, max_tokens and system, as TOML, and for structured answers schema: \
             symbol, file, document, module or call_chain"
        )
    )]
    FrontMatter {
        /// Prompt mode.
        mode: String,
        /// Why.
        #[source]
        source: toml::de::Error,
    },

    /// The file is a prompt of another mode.
    #[error("prompt file for `{expected}` says it is `{found}`")]
    #[diagnostic(code(almanac::config), help("correct `mode` in the file or the setting that names it"))]
    WrongMode {
        /// Mode asked for.
        expected: String,
        /// Mode in the file.
        found: String,
    },

    /// The file leaves no room for an answer.
    #[error("prompt `{mode}` asks for answers of 0 tokens")]
    #[diagnostic(code(almanac::config), help("set max_tokens in its front matter to what an answer needs"))]
    NoTokens {
        /// Prompt mode.
        mode: String,
    },

    /// The template does not parse.
    #[error("template of prompt `{mode}` does not parse")]
    #[diagnostic(
        code(almanac::config),
        help("see the minijinja syntax; the line is counted after the front matter")
    )]
    Template {
        /// Prompt mode.
        mode: String,
        /// Why.
        #[source]
        source: minijinja::Error,
    },

    /// The template asks for what is not there.
    #[error("failed to render prompt `{mode}` for `{subject}`")]
    #[diagnostic(code(almanac::config), help("use only the names the shipped prompt of this mode uses"))]
    Render {
        /// Prompt mode.
        mode: String,
        /// What it was rendered for.
        subject: String,
        /// Why.
        #[source]
        source: minijinja::Error,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontMatter {
    mode: String,
    version: u32,
    max_tokens: usize,
    system: String,
    #[serde(default)]
    schema: Option<AnswerSchema>,
}

/// How answers are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerFormat {
    /// JSON of the prompt's schema, forced while it is generated; text for a prompt without one.
    #[default]
    Json,
    /// Free text.
    Text,
}

/// A prompt mode of the paper (table 5), ready to render.
#[derive(Debug, Clone)]
pub struct PromptTemplate {
    mode: String,
    version: u32,
    max_tokens: usize,
    system: Arc<str>,
    schema: Option<AnswerSchema>,
    signature: Digest,
    environment: Environment<'static>,
}

impl PromptTemplate {
    /// Reads the text of the prompt file for `mode`, for answers in its schema where it has one.
    pub fn parse(mode: &str, source: &str) -> Result<Self, PromptError> {
        Self::parse_for(AnswerFormat::Json, mode, source)
    }

    /// Reads the text of the prompt file for `mode`. The system message may ask whether `json` is wanted.
    pub fn parse_for(format: AnswerFormat, mode: &str, source: &str) -> Result<Self, PromptError> {
        let source = source.replace("\r\n", "\n");
        let no_front_matter = || PromptError::NoFrontMatter { mode: mode.to_owned() };
        let rest = source
            .strip_prefix(FENCE)
            .and_then(|rest| rest.strip_prefix('\n'))
            .ok_or_else(no_front_matter)?;
        let end = rest.find("\n+++\n").ok_or_else(no_front_matter)?;
        let (head, body) = (&rest[..end], rest[end + FENCE.len() + 2..].trim());
        let front: FrontMatter = toml::from_str(head)
            .map_err(|source| PromptError::FrontMatter { mode: mode.to_owned(), source })?;
        if front.mode != mode {
            return Err(PromptError::WrongMode { expected: mode.to_owned(), found: front.mode });
        }
        if front.max_tokens == 0 {
            return Err(PromptError::NoTokens { mode: front.mode });
        }
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_trim_blocks(true);
        environment.set_lstrip_blocks(true);
        let schema = front.schema.filter(|_| format == AnswerFormat::Json);
        let wrong = |source| PromptError::Template { mode: mode.to_owned(), source };
        environment.add_template_owned(TEMPLATE, body.to_owned()).map_err(wrong)?;
        environment.add_template_owned(SYSTEM, front.system).map_err(wrong)?;
        let system = environment
            .get_template(SYSTEM)
            .and_then(|template| template.render(context! { json => schema.is_some() }))
            .map_err(wrong)?;
        let system: Arc<str> = system.trim().into();
        let signature = Digest::of(|encoder| {
            encoder.text(mode).u32(front.version).length(front.max_tokens).text(&system).text(body);
            encoder.text(schema.map_or("", AnswerSchema::name));
        });
        Ok(Self {
            mode: front.mode,
            version: front.version,
            max_tokens: front.max_tokens,
            system,
            schema,
            signature,
            environment,
        })
    }

    /// Renders the user message about `subject`; a name the facts lack is an error.
    pub fn render(&self, subject: &str, facts: &impl Serialize) -> Result<String, PromptError> {
        let failed =
            |source| PromptError::Render { mode: self.mode.clone(), subject: subject.to_owned(), source };
        let template = self.environment.get_template(TEMPLATE).map_err(failed)?;
        let text = template.render(facts).map_err(failed)?;
        Ok(text.trim().to_owned())
    }

    /// Prompt mode.
    pub fn mode(&self) -> &str {
        &self.mode
    }

    /// Version that a person gave it.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Tokens its answer may need.
    pub fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// System message.
    pub fn system(&self) -> &str {
        &self.system
    }

    /// The same, to keep with each of very many prompts.
    pub(crate) fn shared_system(&self) -> Arc<str> {
        Arc::clone(&self.system)
    }

    /// Schema of its answers; `None` for free text.
    pub fn schema(&self) -> Option<AnswerSchema> {
        self.schema
    }

    /// Digest of everything in the file that can change an answer.
    pub fn signature(&self) -> Digest {
        self.signature
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: &str = "+++\nmode = \"general\"\nversion = 2\nmax_tokens = 90\nsystem = \"\"\"\nBe brief.\n\"\"\"\n+++\n\
        {{ symbol }}\n{% if callers %}\nCalled by: {{ callers | join(\", \") }}\n{% endif %}\nCode:\n{{ code }}\n";

    #[test]
    fn renders_without_escaping_code() {
        let prompt = PromptTemplate::parse("general", PROMPT).unwrap();
        let facts = minijinja::context! { symbol => "f<T>", callers => ["g", "h"], code => "a && b" };
        assert_eq!(prompt.render("f", &facts).unwrap(), "f<T>\nCalled by: g, h\nCode:\na && b");
        assert_eq!(prompt.system(), "Be brief.");
        assert_eq!((prompt.version(), prompt.max_tokens()), (2, 90));
    }

    #[test]
    fn a_missing_fact_is_an_error() {
        let prompt = PromptTemplate::parse("general", PROMPT).unwrap();
        let error = prompt.render("f", &minijinja::context! { symbol => "f" }).unwrap_err();
        assert!(matches!(error, PromptError::Render { .. }), "{error}");
    }

    #[test]
    fn every_part_of_the_file_changes_the_signature() {
        let signature = |text: &str| PromptTemplate::parse("general", text).unwrap().signature();
        let base = signature(PROMPT);
        for (from, to) in [("= 2", "= 3"), ("= 90", "= 91"), ("brief", "terse"), ("Code", "Text")] {
            assert_ne!(base, signature(&PROMPT.replace(from, to)), "{from}");
        }
        assert_eq!(base, signature(&PROMPT.replace('\n', "\r\n")));
    }

    #[test]
    fn a_schema_and_the_wanted_format_decide_the_system_message() {
        let system = "Be brief. {% if json %}As JSON.{% else %}In lines.{% endif %}";
        let text = PROMPT.replace("Be brief.", system).replace("system =", "schema = \"symbol\"\nsystem =");
        let json = PromptTemplate::parse("general", &text).unwrap();
        assert_eq!((json.schema(), json.system()), (Some(AnswerSchema::Symbol), "Be brief. As JSON."));
        let free = PromptTemplate::parse_for(AnswerFormat::Text, "general", &text).unwrap();
        assert_eq!((free.schema(), free.system()), (None, "Be brief. In lines."));
        assert_ne!(json.signature(), free.signature());
        let other = PromptTemplate::parse("general", &text.replace("\"symbol\"", "\"file\"")).unwrap();
        assert_ne!(json.signature(), other.signature());
        let unknown = PromptTemplate::parse("general", &text.replace("\"symbol\"", "\"poem\""));
        assert!(matches!(unknown, Err(PromptError::FrontMatter { .. })));
    }

    #[test]
    fn malformed_files_are_refused() {
        let parse = |text: &str| PromptTemplate::parse("general", text).unwrap_err();
        assert!(matches!(parse("no front matter"), PromptError::NoFrontMatter { .. }));
        assert!(matches!(parse("+++\nmode = 1\n+++\nx"), PromptError::FrontMatter { .. }));
        assert!(matches!(parse(&PROMPT.replace("= 90", "= 0")), PromptError::NoTokens { .. }));
        let other = PROMPT.replace("\"general\"", "\"file_level\"");
        assert!(matches!(parse(&other), PromptError::WrongMode { .. }));
        assert!(matches!(parse(&PROMPT.replace("{% endif %}", "")), PromptError::Template { .. }));
    }
}
