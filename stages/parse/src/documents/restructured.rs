//! reStructuredText titles: a line with an adornment under it, and maybe one over it.

use crate::documents::{Heading, lines_with_bytes};

pub(crate) fn headings(text: &str) -> Vec<Heading> {
    let lines = lines_with_bytes(text);
    let mut styles: Vec<(char, bool)> = Vec::new();
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Some((title_at, overlined)) = title(&lines, at) else {
            at += 1;
            continue;
        };
        let under = lines[title_at + 1];
        let mark = under.1.chars().next().unwrap_or(' ');
        // The depth of a style is the order in which styles appear.
        let style = (mark, overlined);
        let level = styles.iter().position(|known| *known == style).unwrap_or_else(|| {
            styles.push(style);
            styles.len() - 1
        });
        found.push(Heading {
            title: lines[title_at].1.trim().replace("``", ""),
            level: level + 1,
            start: lines[at].0,
            end: under.0 + under.1.len(),
        });
        at = title_at + 2;
    }
    found
}

/// Whether a title begins at line `at`: its line and whether it is overlined.
fn title(lines: &[(usize, &str)], at: usize) -> Option<(usize, bool)> {
    let line = |at: usize| lines.get(at).map_or("", |(_, line)| *line);
    let first = line(at);
    if is_adornment(first) {
        let fits = line(at + 2) == first && !line(at + 1).trim().is_empty() && !is_adornment(line(at + 1));
        return fits.then_some((at + 1, true));
    }
    let above_is_blank = at == 0 || line(at - 1).trim().is_empty() || line(at - 1).starts_with("..");
    let is_title = !first.trim().is_empty() && !first.starts_with([' ', '\t']) && above_is_blank;
    let under = line(at + 1);
    (is_title && is_adornment(under) && under.chars().count() >= first.trim_end().chars().count())
        .then_some((at, false))
}

fn is_adornment(line: &str) -> bool {
    let line = line.trim_end();
    let Some(first) = line.chars().next() else { return false };
    line.len() >= 3 && first.is_ascii_punctuation() && line.chars().all(|c| c == first)
}
