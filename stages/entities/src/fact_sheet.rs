//! Facts as labelled lines, kept while there is room.

use almanac_inference::PromptBudget;

/// Facts in the order they are told; what no longer fits is left out.
pub(crate) struct FactSheet {
    lines: Vec<String>,
    budget: PromptBudget,
}

impl FactSheet {
    /// Facts of at most `tokens`.
    pub(crate) fn new(tokens: usize) -> Self {
        Self { lines: Vec::new(), budget: PromptBudget::new(tokens) }
    }

    /// `label: value`, unless the value is empty.
    pub(crate) fn line(&mut self, label: &str, value: &str) {
        let kept = self.budget.text(value, self.budget.left());
        if !kept.is_empty() {
            self.lines.push(format!("{label}: {kept}"));
        }
    }

    /// `label: a, b, c` with the first items that fit.
    pub(crate) fn list(&mut self, label: &str, items: &[String], most: usize) {
        let kept = self.budget.list(items, most);
        if !kept.is_empty() {
            self.lines.push(format!("{label}: {}", kept.join(", ")));
        }
    }

    /// Like [`Self::list`], in at most half of the room that is left.
    pub(crate) fn half_list(&mut self, label: &str, items: &[String]) {
        let mut half = PromptBudget::new(self.budget.left() / 2);
        let most = half.list(items, items.len()).len();
        self.list(label, items, most);
    }

    /// A heading and a line for each of the first items that fit.
    pub(crate) fn bullets(&mut self, heading: &str, items: &[String]) {
        let kept = self.budget.list(items, items.len());
        if !kept.is_empty() {
            self.lines.push(format!("{heading}:"));
            self.lines.extend(kept.into_iter().map(|item| format!("- {item}")));
        }
    }

    /// The facts.
    pub(crate) fn finish(self) -> String {
        self.lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_first_things_first() {
        let mut sheet = FactSheet::new(35);
        sheet.line("File", "a.h");
        sheet.line("Comment", "");
        sheet.list("Includes", &["b.h".into(), "c.h".into(), "d.h".into()], 2);
        sheet.bullets("Parts", &["f: does it".into(), "g: ".to_owned() + &"x".repeat(90)]);
        assert_eq!(sheet.finish(), "File: a.h\nIncludes: b.h, c.h\nParts:\n- f: does it");
    }
}
