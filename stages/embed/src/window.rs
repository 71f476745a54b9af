//! Fits a chunk's text into the embedder's window without losing code to prose.

use almanac_inference::{Embedder, Result};
use almanac_tables::Chunk;

use crate::structured_text::{COMMENT, EXPLANATION, Sections};

/// Tokens kept free for the model's special tokens and prefix.
const RESERVED: usize = 8;

/// The text of `chunk` that is embedded: all of it where it fits into `max_tokens`.
///
/// Where it does not, the explanation is cut first, then the comment, and code only beyond half of
/// the window. The head, which names file and symbol, keeps up to a third.
pub fn embedding_text(chunk: &Chunk, embedder: &dyn Embedder, max_tokens: usize) -> Result<String> {
    let window = max_tokens.min(embedder.max_tokens()).saturating_sub(RESERVED);
    if embedder.count_tokens(&chunk.text)? <= window {
        return Ok(chunk.text.clone());
    }
    let mut sections = Sections::parse(chunk);
    cut(&mut sections.head, window / 3, embedder)?;
    let mut labels = embedder.count_tokens(sections.label)?;
    for (label, section) in [(EXPLANATION, &sections.explanation), (COMMENT, &sections.comment)] {
        if !section.is_empty() {
            labels += embedder.count_tokens(label)?;
        }
    }
    let room = window.saturating_sub(embedder.count_tokens(&sections.head)? + labels);
    let comment = embedder.count_tokens(&sections.comment)?;
    let prose = comment + embedder.count_tokens(&sections.explanation)?;
    let body_room = room.min((window / 2).max(room.saturating_sub(prose)));
    let body = cut(&mut sections.body, body_room, embedder)?;
    let prose_room = room - body;
    // A comment has at least its half of what prose has; it was written by someone who knew.
    let explanation_room = prose_room.saturating_sub(comment.min(prose_room.div_ceil(2)));
    let explanation = cut(&mut sections.explanation, explanation_room, embedder)?;
    cut(&mut sections.comment, prose_room - explanation, embedder)?;
    Ok(sections.compose())
}

/// Cuts `text` to `most` tokens and says how many it has.
fn cut(text: &mut String, most: usize, embedder: &dyn Embedder) -> Result<usize> {
    let tokens = embedder.count_tokens(text)?;
    if tokens <= most {
        return Ok(tokens);
    }
    let kept = embedder.truncate(text, most)?.trim_end().to_owned();
    *text = kept;
    Ok(most)
}
