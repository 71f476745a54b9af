//! Tokens of a text, as the model that will read it counts them.

use almanac_inference::{Error, TextTokenizer};
use almanac_settings::{Origin, Settings};

use crate::ConfiguredModels;

/// What counts where no tokenizer is on this machine.
const APPROXIMATION: &str = "approximation: a token for every four characters";

/// A tokenizer, or what stands in for it.
pub struct TokenCounting {
    name: String,
    tokenizer: Option<TextTokenizer>,
    problem: Option<String>,
}

impl TokenCounting {
    /// The tokenizer that `context.tokenizer` names, by default that of the answering model.
    ///
    /// # Errors
    /// A name that is not in the catalogue, unless it is the default one: a list of models of one's own need
    /// not have that. A tokenizer that is damaged.
    pub fn of_contexts(settings: &Settings) -> miette::Result<Self> {
        const SETTING: &str = "context.tokenizer";
        let mut name: String = settings.section(SETTING)?;
        if name.is_empty() {
            name = ConfiguredModels::name(settings, "answer.model", "models.llm")?;
        }
        match Self::by_model(&ConfiguredModels::load(settings)?, &name) {
            Err(error @ Error::UnknownModel { .. }) if settings.origin(SETTING) == Some(&Origin::Default) => {
                Ok(Self::approximating(error.to_string()))
            }
            counting => Ok(counting?),
        }
    }

    /// The tokenizer of the model `name`; where that model has none here, characters are counted.
    fn by_model(models: &ConfiguredModels, name: &str) -> almanac_inference::Result<Self> {
        match models.tokenizer(name) {
            Ok(tokenizer) => Ok(Self { name: name.to_owned(), tokenizer: Some(tokenizer), problem: None }),
            Err(error @ Error::MissingFile { .. }) => Ok(Self::approximating(error.to_string())),
            Err(error) => Err(error),
        }
    }

    /// Four characters a token, because of a problem.
    fn approximating(problem: String) -> Self {
        Self { problem: Some(problem), ..Self::by_characters() }
    }

    /// Four characters a token.
    fn by_characters() -> Self {
        Self { name: APPROXIMATION.to_owned(), tokenizer: None, problem: None }
    }

    /// What counts: a model, or how it is approximated.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Why the model's own tokenizer does not count.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Tokens of a text.
    pub fn count(&self, text: &str) -> usize {
        let counted = self.tokenizer.as_ref().and_then(|tokenizer| tokenizer.count(text));
        counted.unwrap_or_else(|| text.chars().count().div_ceil(4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_stand_in_for_a_tokenizer() {
        let counting = TokenCounting::by_characters();
        assert_eq!((counting.count(""), counting.count("vier"), counting.count("fünf5")), (0, 1, 2));
        assert!(counting.name().starts_with("approximation"), "{}", counting.name());
    }
}
