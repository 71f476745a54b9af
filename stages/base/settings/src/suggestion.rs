//! "Did you mean": the known names nearest to a misspelt one.

use strsim::damerau_levenshtein;

/// Most names worth offering.
const MOST: usize = 3;

/// The known keys nearest to a dotted key. A key given without its tables, or with wrong ones,
/// is found by its last part.
pub(crate) fn nearest_keys<'a>(key: &str, known: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    nearest(key, known.clone()).or_else(|| {
        let last = key.rsplit('.').next()?;
        let same: Vec<&str> =
            known.filter(|known| known.rsplit('.').next() == Some(last)).take(MOST).collect();
        list(&same)
    })
}

/// The known names at the least distance, if that is small for the length of the name.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut ranked: Vec<(usize, &str)> =
        known.map(|known| (damerau_levenshtein(name, known), known)).collect();
    ranked.sort_unstable();
    let least = ranked.first()?.0;
    if least > (name.chars().count() / 4).max(2) {
        return None;
    }
    let nearest: Vec<&str> =
        ranked.iter().take_while(|(distance, _)| *distance == least).map(|(_, name)| *name).collect();
    list(&nearest[..nearest.len().min(MOST)])
}

fn list(names: &[&str]) -> Option<String> {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let (last, rest) = quoted.split_last()?;
    if rest.is_empty() { Some(last.clone()) } else { Some(format!("{} or {last}", rest.join(", "))) }
}
