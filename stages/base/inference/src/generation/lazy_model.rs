//! A model that costs nothing until it is needed.

use super::GenerationError;
use crate::{LanguageModel, ModelIdentity};

/// A model that is loaded when the first text is missing, and once.
pub struct LazyModel<'a> {
    identity: ModelIdentity,
    load: Box<dyn FnMut() -> crate::Result<Box<dyn LanguageModel>> + 'a>,
    model: Option<Box<dyn LanguageModel>>,
}

impl<'a> LazyModel<'a> {
    /// A model known by `identity`, for keys, that `load` brings into memory.
    pub fn new(
        identity: ModelIdentity,
        load: impl FnMut() -> crate::Result<Box<dyn LanguageModel>> + 'a,
    ) -> Self {
        Self { identity, load: Box::new(load), model: None }
    }

    /// Name and digest.
    pub fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    /// Whether it was needed.
    pub fn is_loaded(&self) -> bool {
        self.model.is_some()
    }

    /// The model, loaded if it is not.
    pub fn get(&mut self) -> Result<&dyn LanguageModel, GenerationError> {
        if self.model.is_none() {
            let model = (self.load)()?;
            if *model.identity() != self.identity {
                let text = |identity: &ModelIdentity| format!("{} {}", identity.name, identity.digest);
                return Err(GenerationError::OtherModel {
                    expected: text(&self.identity),
                    found: text(model.identity()),
                });
            }
            self.model = Some(model);
        }
        Ok(self.model.as_deref().expect("was set above when it was not"))
    }
}
