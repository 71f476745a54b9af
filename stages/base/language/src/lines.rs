//! Byte offsets to line numbers.

/// Start of every line of a text.
#[derive(Debug, Clone)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    /// Indexes `text`; lines end at `\n`.
    pub fn new(text: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        if starts.len() > 1 && starts.last() == Some(&text.len()) {
            starts.pop();
        }
        Self { starts }
    }

    /// Number of lines; a final line without line break counts, an empty text has none.
    pub fn count(&self, text: &str) -> u32 {
        if text.is_empty() { 0 } else { self.starts.len() as u32 }
    }

    /// Line of a byte, from 1; a byte past the end is on the last line.
    pub fn line(&self, byte: usize) -> u32 {
        self.starts.partition_point(|start| *start <= byte).max(1) as u32
    }

    /// First byte of a line counted from 1.
    pub fn start_of(&self, line: u32) -> Option<usize> {
        self.starts.get((line as usize).checked_sub(1)?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_count_from_one_and_ignore_a_final_break() {
        let text = "a\nbc\n\nd\n";
        let index = LineIndex::new(text);
        assert_eq!(index.count(text), 4);
        assert_eq!([0, 1, 2, 4, 5, 6, 7, 99].map(|b| index.line(b)), [1, 1, 2, 2, 3, 4, 4, 4]);
        assert_eq!(index.start_of(3), Some(5));
        assert_eq!(LineIndex::new("").count(""), 0);
        assert_eq!(LineIndex::new("x").count("x"), 1);
    }
}
