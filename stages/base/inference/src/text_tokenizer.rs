//! A model's tokenizer alone, for who only counts: no weights are read.

use std::path::Path;

use tokenizers::Tokenizer;

use crate::error::{Cause, Error, Result};
use crate::models::{self, ModelCatalog};

/// The `tokenizer.json` of a model.
pub struct TextTokenizer {
    tokenizer: Tokenizer,
}

impl TextTokenizer {
    /// Reads the tokenizer of the model `name`.
    ///
    /// # Errors
    /// [`Error::MissingFile`] where the model has no `tokenizer.json` here, [`Error::Load`] where that is
    /// damaged.
    pub fn load(catalog: &ModelCatalog, name: &str, models_dir: &Path) -> Result<Self> {
        let entry = catalog.get(name)?;
        let path = entry.folder(models_dir).join("tokenizer.json");
        if !path.is_file() {
            return Err(models::missing(entry, &path));
        }
        let failed = |source: Cause| Error::Load { name: name.to_owned(), source };
        let mut tokenizer = Tokenizer::from_file(&path)
            .map_err(|error| failed(format!("`tokenizer.json` is damaged: {error}").into()))?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(failed)?;
        Ok(Self { tokenizer })
    }

    /// Tokens of `text`, special ones aside; `None` where the tokenizer cannot take it.
    pub fn count(&self, text: &str) -> Option<usize> {
        Some(self.tokenizer.encode_fast(text, false).ok()?.len())
    }
}
