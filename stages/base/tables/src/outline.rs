//! An entity told without what is told elsewhere.

use crate::Entity;

/// A piece of an outline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OutlinePiece<'a> {
    /// As written.
    Written {
        /// The text, empty between two parts that touch.
        text: &'a str,
        /// Line of its first byte.
        line: u32,
    },
    /// A part that is left out.
    LeftOut(&'a Entity),
}

impl Entity {
    /// The entity with the bodies of `inner`, in source order, left out. What lies in another of them,
    /// or not in the entity, is passed over. `text` is that of the file.
    pub fn outline<'a>(&self, inner: &[&'a Self], text: &'a str) -> Vec<OutlinePiece<'a>> {
        let between = |from: u64, to: u64| text.get(from as usize..to as usize).unwrap_or("");
        let mut pieces = Vec::with_capacity(2 * inner.len() + 1);
        let (mut at, mut line) = (self.start_byte, self.start_line);
        for &part in inner {
            if part.start_byte < at || part.end_byte > self.end_byte {
                continue;
            }
            pieces.push(OutlinePiece::Written { text: between(at, part.start_byte), line });
            pieces.push(OutlinePiece::LeftOut(part));
            (at, line) = (part.end_byte, part.end_line);
        }
        pieces.push(OutlinePiece::Written { text: between(at, self.end_byte), line });
        pieces
    }

    /// What stands for the entity where it is left out.
    pub fn without_body(&self) -> String {
        format!("{} {{ ... }}", self.signature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "class A {\n int f() {\n  return 1;\n }\n int n;\n};";

    fn spanning(from: &str, to: &str) -> Entity {
        let start = TEXT.find(from).unwrap();
        let end = start + TEXT[start..].find(to).unwrap() + to.len();
        let line = |at: usize| TEXT[..at].matches('\n').count() as u32 + 1;
        Entity {
            signature: from.into(),
            start_byte: start as u64,
            end_byte: end as u64,
            start_line: line(start),
            end_line: line(end),
            ..Entity::default()
        }
    }

    #[test]
    fn bodies_are_left_out_once_and_lines_keep_their_numbers() {
        let class = spanning("class A", "};");
        let (member, statement) = (spanning("int f()", "\n }"), spanning("return 1", ";"));
        let pieces = class.outline(&[&member, &statement], TEXT);
        let expected = [
            OutlinePiece::Written { text: "class A {\n ", line: 1 },
            OutlinePiece::LeftOut(&member),
            OutlinePiece::Written { text: "\n int n;\n};", line: 4 },
        ];
        assert_eq!(pieces, expected);
        assert_eq!(member.without_body(), "int f() { ... }");
        assert_eq!(statement.outline(&[&class], TEXT).len(), 1, "what is not inside is passed over");
    }
}
