//! What a structured explanation or summary says: the columns that both tables have.

use serde::{Deserialize, Serialize};

/// The columns of a structured answer. A prompt mode asks for some of them; the others stay empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Answer {
    /// What it is for, in one line.
    pub role: String,
    /// What it does.
    pub does: String,
    /// What goes in or is needed, as `name: meaning [unit]`.
    pub inputs: Vec<String>,
    /// What comes out or is provided, as `name: meaning [unit]`.
    pub outputs: Vec<String>,
    /// Numerical or physical meaning.
    pub meaning: String,
    /// MPI, Kokkos, threads and devices.
    pub parallelism: String,
    /// Side effects and preconditions.
    pub effects: String,
    /// Search terms.
    pub terms: Vec<String>,
    /// What the code does not tell.
    pub uncertainty: String,
}

impl Answer {
    /// The answer as it is shown and embedded: a line a column in this order, empty ones left out.
    pub fn text(&self) -> String {
        let list = |items: &[String], separator: &str| items.join(separator);
        let lines = [
            ("", self.role.clone()),
            ("", self.does.clone()),
            ("Inputs: ", list(&self.inputs, "; ")),
            ("Outputs: ", list(&self.outputs, "; ")),
            ("Meaning: ", self.meaning.clone()),
            ("Parallelism: ", self.parallelism.clone()),
            ("Effects: ", self.effects.clone()),
            ("Terms: ", list(&self.terms, ", ")),
            ("Unclear: ", self.uncertainty.clone()),
        ];
        let told = lines.into_iter().filter(|(_, value)| !value.is_empty());
        told.map(|(label, value)| format!("{label}{value}")).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_told_in_order_and_empty_ones_are_not() {
        let answer = Answer {
            role: "Solves the system.".into(),
            inputs: vec!["`b`: charge density [C/m^3]".into(), "`x`: first guess".into()],
            terms: vec!["Poisson".into(), "CG".into()],
            ..Answer::default()
        };
        assert_eq!(
            answer.text(),
            "Solves the system.\nInputs: `b`: charge density [C/m^3]; `x`: first guess\nTerms: Poisson, CG"
        );
        assert_eq!(Answer::default().text(), "");
    }
}
