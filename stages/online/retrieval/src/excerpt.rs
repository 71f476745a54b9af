//! Cutting a long text so that what answers the question stays.
//!
//! First bodies that matter least are left out, so a class keeps its interface; if that is not
//! enough, windows of whole statements around the lines that matter most are kept. Every gap says
//! which lines it left out.

/// Lines kept around one that matters.
const BEFORE: usize = 3;
const AFTER: usize = 6;
/// Lines looked at for the end of a statement.
const STATEMENT_LINES: usize = 4;
/// Lines of a signature that are always kept.
const SIGNATURE_LINES: usize = 8;
/// Smallest gap worth its marker.
const SMALLEST_GAP: usize = 3;

/// Lines that may be left out together, such as the body of a member; line numbers of the file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Region {
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// Already shown elsewhere: left out whatever the room.
    pub(crate) shown: bool,
}

/// A text with gaps.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Excerpt {
    pub(crate) text: String,
    /// Kept lines, as ranges of line numbers.
    pub(crate) kept: Vec<(usize, usize)>,
    /// Whether anything was left out.
    pub(crate) cut: bool,
}

/// What to cut and how much room there is.
pub(crate) struct Source<'a> {
    /// The lines.
    pub(crate) lines: &'a [&'a str],
    /// Line number of the first.
    pub(crate) first_line: usize,
    /// How much each line matters to the question, 0 or more.
    pub(crate) weights: &'a [f32],
    /// What may be left out together.
    pub(crate) regions: &'a [Region],
    /// Most tokens.
    pub(crate) limit: usize,
}

/// Cuts `source` to its limit; `None` when not even the signature fits.
pub(crate) fn excerpt(source: &Source<'_>, count: &dyn Fn(&str) -> usize) -> Option<Excerpt> {
    let mut room = source.limit;
    // Tokens are estimated from characters while choosing and counted at the end.
    for _ in 0..6 {
        let kept = choose(source, room, count);
        let excerpt = render(source, &kept);
        if excerpt.kept.is_empty() {
            return None;
        }
        if count(&excerpt.text) <= source.limit {
            return Some(excerpt);
        }
        room = room * 85 / 100;
    }
    None
}

fn choose(source: &Source<'_>, room: usize, count: &dyn Fn(&str) -> usize) -> Vec<bool> {
    let mut keep = vec![true; source.lines.len()];
    for region in source.regions.iter().filter(|region| region.shown) {
        drop_region(source, region, &mut keep);
    }
    let whole = source.lines.join("\n");
    let per_character = count(&whole) as f64 / whole.len().max(1) as f64;
    let cost: Vec<f64> = source.lines.iter().map(|line| (line.len() + 1) as f64 * per_character).collect();
    let total = |keep: &[bool]| -> f64 {
        keep.iter().zip(&cost).filter(|(kept, _)| **kept).map(|(_, cost)| cost).sum()
    };
    let room = room as f64;
    if total(&keep) <= room {
        return keep;
    }
    let mut regions: Vec<(f32, &Region)> = source
        .regions
        .iter()
        .filter(|region| !region.shown)
        .map(|region| (density(source, region), region))
        .collect();
    regions.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.first.cmp(&a.1.first)));
    for (_, region) in regions {
        drop_region(source, region, &mut keep);
        if total(&keep) <= room {
            return keep;
        }
    }
    windows(source, &keep, &cost, room)
}

/// Line numbers of a region as places in the lines.
fn places(source: &Source<'_>, region: &Region) -> std::ops::Range<usize> {
    let start = region.first.saturating_sub(source.first_line);
    let end = (region.last + 1).saturating_sub(source.first_line).min(source.lines.len());
    start.min(end)..end
}

fn drop_region(source: &Source<'_>, region: &Region, keep: &mut [bool]) {
    let places = places(source, region);
    if places.len() >= SMALLEST_GAP {
        keep[places].fill(false);
    }
}

/// Mean of the best lines: a long body with one good line is still worth something.
fn density(source: &Source<'_>, region: &Region) -> f32 {
    let mut weights: Vec<f32> = source.weights[places(source, region)].to_vec();
    weights.sort_by(|a, b| b.total_cmp(a));
    weights.iter().take(4).sum::<f32>()
}

/// Signature and windows of statements around the best of the lines that are left.
fn windows(source: &Source<'_>, left: &[bool], cost: &[f64], room: f64) -> Vec<bool> {
    let mut keep = vec![false; source.lines.len()];
    let mut used = 0.0;
    let mut take = |places: std::ops::Range<usize>, keep: &mut Vec<bool>| {
        let wanted: Vec<usize> = places.filter(|&at| left[at] && !keep[at]).collect();
        let price: f64 = wanted.iter().map(|&at| cost[at]).sum();
        if used + price > room {
            return false;
        }
        used += price;
        wanted.into_iter().for_each(|at| keep[at] = true);
        true
    };
    take(0..signature_end(source.lines), &mut keep);
    let mut order: Vec<usize> =
        (0..source.lines.len()).filter(|&at| left[at] && source.weights[at] > 0.0).collect();
    order.sort_by(|&a, &b| source.weights[b].total_cmp(&source.weights[a]).then(a.cmp(&b)));
    for at in order {
        if !keep[at] && !take(statement_window(source.lines, at), &mut keep) {
            // A smaller piece may still fit.
            take(at..at + 1, &mut keep);
        }
    }
    // Room that is left goes to the lines that follow the signature.
    for at in 0..source.lines.len() {
        if left[at] && !keep[at] && !take(at..at + 1, &mut keep) {
            break;
        }
    }
    keep
}

fn signature_end(lines: &[&str]) -> usize {
    let opening = lines.iter().take(SIGNATURE_LINES).position(|line| line.contains('{'));
    opening.map_or(1, |at| at + 1).min(lines.len())
}

/// Lines around `at`, from after the end of one statement to the end of another.
fn statement_window(lines: &[&str], at: usize) -> std::ops::Range<usize> {
    let ends = |line: &str| {
        let line = line.trim_end();
        line.is_empty() || line.ends_with([';', '{', '}', ':'])
    };
    let mut start = at.saturating_sub(BEFORE);
    let earliest = start.saturating_sub(STATEMENT_LINES);
    while start > earliest && !ends(lines[start - 1]) {
        start -= 1;
    }
    let mut end = (at + AFTER + 1).min(lines.len());
    let latest = (end + STATEMENT_LINES).min(lines.len());
    while end < latest && !ends(lines[end - 1]) {
        end += 1;
    }
    start..end
}

/// `lines` without the blanks that all of them begin with.
pub(crate) fn dedent<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let written = lines.iter().filter(|line| !line.trim().is_empty());
    let blanks = written.map(|line| line.len() - line.trim_start_matches(' ').len()).min();
    lines.iter().map(|line| line.get(blanks.unwrap_or(0)..).unwrap_or("")).collect()
}

fn render(source: &Source<'_>, keep: &[bool]) -> Excerpt {
    let mut text = String::new();
    let mut kept = Vec::new();
    let mut cut = false;
    let mut at = 0;
    while at < keep.len() {
        let mut end = at;
        while end < keep.len() && keep[end] == keep[at] {
            end += 1;
        }
        let (first, last) = (source.first_line + at, source.first_line + end - 1);
        let blank = source.lines[at..end].iter().all(|line| line.trim().is_empty());
        if keep[at] {
            for line in &source.lines[at..end] {
                text.push_str(line.trim_end());
                text.push('\n');
            }
            kept.push((first, last));
        } else if !blank {
            cut = true;
            if first == last {
                text.push_str(&format!("[line {first} left out]\n"));
            } else {
                text.push_str(&format!("[lines {first}-{last} left out]\n"));
            }
        }
        at = end;
    }
    Excerpt { text, kept, cut }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> usize {
        text.len().div_ceil(4)
    }

    fn lines(count: usize) -> Vec<String> {
        (1..=count).map(|number| format!("    statement_number({number});")).collect()
    }

    fn cut(lines: &[String], weights: &[f32], regions: &[Region], limit: usize) -> Excerpt {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let source = Source { lines: &lines, first_line: 1, weights, regions, limit };
        excerpt(&source, &count).unwrap()
    }

    #[test]
    fn a_text_that_fits_is_whole() {
        let text = lines(10);
        let whole = cut(&text, &[0.0; 10], &[], 1_000);
        assert!(!whole.cut);
        assert_eq!(whole.kept, [(1, 10)]);
    }

    #[test]
    fn the_body_that_matters_least_goes_first() {
        let mut text = lines(30);
        text[0] = "class Grid {".to_owned();
        let mut weights = [0.0; 30];
        weights[20] = 5.0;
        let region = |first, last| Region { first, last, shown: false };
        let excerpt = cut(&text, &weights, &[region(3, 12), region(18, 27)], 170);
        assert!(excerpt.cut && count(&excerpt.text) <= 170);
        assert!(excerpt.text.contains("[lines 3-12 left out]"), "{}", excerpt.text);
        assert!(excerpt.text.contains("statement_number(21)"), "{}", excerpt.text);
    }

    #[test]
    fn a_long_body_keeps_its_signature_and_the_lines_that_matter() {
        let mut text = lines(400);
        text[0] = "void solve() {".to_owned();
        let mut weights = vec![0.0; 400];
        weights[299] = 3.0;
        let excerpt = cut(&text, &weights, &[], 120);
        assert!(count(&excerpt.text) <= 120);
        assert!(excerpt.text.starts_with("void solve() {\n"));
        assert!(excerpt.text.contains("statement_number(300)"), "{}", excerpt.text);
        assert!(excerpt.text.contains("left out"));
    }

    #[test]
    fn what_was_shown_before_is_left_out_even_with_room() {
        let text = lines(12);
        let region = Region { first: 4, last: 9, shown: true };
        let excerpt = cut(&text, &[0.0; 12], &[region], 1_000);
        assert_eq!(excerpt.kept, [(1, 3), (10, 12)]);
    }
}
