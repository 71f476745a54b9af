//! An embedder's tokenizer: counting, cutting, and the ids of a text inside the window.

use std::path::Path;

use tokenizers::{Tokenizer, TruncationParams};

use crate::error::Cause;

/// A `tokenizer.json`, freed of the padding and the window it was saved with.
pub(crate) struct Tokens {
    /// Never cuts.
    whole: Tokenizer,
    /// Cuts to the window, special tokens included.
    windowed: Tokenizer,
}

impl Tokens {
    /// Reads the tokenizer; `window` is the number of tokens a text may have, special ones included.
    pub(crate) fn load(path: &Path, window: usize) -> Result<Self, Cause> {
        let mut whole =
            Tokenizer::from_file(path).map_err(|error| format!("`tokenizer.json` is damaged: {error}"))?;
        whole.with_padding(None);
        whole.with_truncation(None)?;
        let mut windowed = whole.clone();
        windowed
            .with_truncation(Some(TruncationParams { max_length: window, ..TruncationParams::default() }))?;
        Ok(Self { whole, windowed })
    }

    /// The highest id that a text can get.
    pub(crate) fn highest_id(&self) -> Option<u32> {
        self.whole.get_vocab(true).into_values().max()
    }

    /// Tokens of `text` without special ones.
    pub(crate) fn count(&self, text: &str) -> Result<usize, Cause> {
        Ok(self.whole.encode_fast(text, false)?.len())
    }

    /// Ids of `text` with special tokens, cut to the window.
    pub(crate) fn ids(&self, text: &str) -> Result<Vec<u32>, Cause> {
        Ok(self.windowed.encode_fast(text, true)?.get_ids().to_vec())
    }

    /// `text` up to the end of its token number `limit`.
    pub(crate) fn truncate<'a>(&self, text: &'a str, limit: usize) -> Result<&'a str, Cause> {
        let encoding = self.whole.encode(text, false)?;
        let offsets = encoding.get_offsets();
        if offsets.len() <= limit {
            return Ok(text);
        }
        // Cutting inside a word can, with some tokenizers, split what remains into more tokens.
        for kept in (1..=limit).rev() {
            let mut end = offsets[kept - 1].1.min(text.len());
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            let cut = &text[..end];
            if self.count(cut)? <= limit {
                return Ok(cut);
            }
        }
        Ok("")
    }
}
