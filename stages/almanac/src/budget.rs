//! Text cut to a number of tokens, four characters each.

use almanac_retrieval::estimate_tokens;

/// The beginning of a text, as many whole lines as fit, and how much was left out.
pub(crate) fn within_budget(text: String, budget: usize) -> String {
    const NOTICE: usize = 20;
    if estimate_tokens(&text) <= budget {
        return text;
    }
    let mut kept = String::new();
    let mut left_out = 0_usize;
    for line in text.split_inclusive('\n') {
        if left_out == 0 && estimate_tokens(&kept) + estimate_tokens(line) + NOTICE <= budget {
            kept.push_str(line);
        } else {
            left_out += 1;
        }
    }
    kept.push_str(&format!("[{left_out} more lines did not fit in {budget} tokens]\n"));
    kept
}
