use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement};

use crate::visible::visible_line;

/// A table for people: a header, columns two spaces apart, no lines.
#[derive(Debug, Clone)]
pub struct Table {
    header: Vec<String>,
    right: Vec<usize>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these column heads.
    pub fn new<H: Into<String>>(header: impl IntoIterator<Item = H>) -> Self {
        let header = header.into_iter().map(Into::into).collect();
        Self { header, right: Vec::new(), rows: Vec::new() }
    }

    /// Aligns the columns at these indices to the right, as numbers want it.
    #[must_use]
    pub fn right(mut self, columns: impl IntoIterator<Item = usize>) -> Self {
        self.right.extend(columns);
        self
    }

    /// Adds a row. A line end in a cell is shown, so that no cell makes a row of its own.
    pub fn row<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let shown = |cell: C| visible_line(&cell.into()).into_owned();
        self.rows.push(cells.into_iter().map(shown).collect());
    }

    /// Prints the table to standard output. Cells are wrapped on a terminal too narrow for them,
    /// never in a file or pipe.
    pub fn print(&self) {
        let stdout = console::Term::stdout();
        let width = stdout.features().is_attended().then(|| stdout.size().1);
        crate::data(&self.render(width));
    }

    fn render(&self, width: Option<u16>) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(NOTHING).set_header(&self.header).add_rows(&self.rows);
        match width {
            Some(width) => table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width),
            None => table.set_content_arrangement(ContentArrangement::Disabled),
        };
        let columns = table.column_count();
        for index in 0..columns {
            let Some(column) = table.column_mut(index) else {
                continue;
            };
            column.set_padding((0, 2));
            if self.right.contains(&index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.trim_fmt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages() -> Table {
        let mut table = Table::new(["stage", "rows", "note"]).right([1]);
        table.row(["parse", "9", ""]);
        table.row(["explain", "12,400", "waits for the parse stage to end"]);
        table
    }

    #[test]
    fn columns_are_aligned_without_lines_or_trailing_blanks() {
        assert_eq!(
            stages().render(None),
            "stage      rows  note\n\
             parse         9\n\
             explain  12,400  waits for the parse stage to end"
        );
    }

    #[test]
    fn a_cell_cannot_make_a_row() {
        let mut table = Table::new(["file", "state"]);
        table.row(["a.h\nb.h  fresh", "\u{1b}[1Astale"]);
        assert_eq!(table.render(None).lines().nth(1), Some("a.h\\nb.h  fresh  \\u{1b}[1Astale"));
    }

    #[test]
    fn a_narrow_terminal_wraps_cells() {
        let text = stages().render(Some(36));
        assert!(text.lines().count() > 3, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 36), "{text}");
    }
}
