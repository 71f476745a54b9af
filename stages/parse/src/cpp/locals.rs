//! What the names inside a body are.

/// A parameter or local variable.
#[derive(Debug, Clone)]
struct Local {
    name: String,
    /// Type as far as the file shows it; empty if not.
    type_text: String,
    /// Byte from which it is in sight.
    start: usize,
    /// Byte past its block.
    end: usize,
    /// Number of parameters, of a lambda.
    lambda: Option<u32>,
}

/// Locals of a body, in source order.
#[derive(Debug, Default)]
pub(crate) struct Locals {
    locals: Vec<Local>,
}

impl Locals {
    pub(crate) fn declare(&mut self, name: &str, type_text: &str, start: usize, end: usize) {
        self.locals.push(Local {
            name: name.to_owned(),
            type_text: type_text.to_owned(),
            start,
            end,
            lambda: None,
        });
    }

    pub(crate) fn declare_lambda(&mut self, name: &str, parameters: u32, start: usize, end: usize) {
        self.declare(name, "", start, end);
        if let Some(local) = self.locals.last_mut() {
            local.lambda = Some(parameters);
        }
    }

    fn find(&self, name: &str, at: usize) -> Option<&Local> {
        self.locals.iter().rev().find(|local| local.name == name && local.start <= at && at < local.end)
    }

    /// Type of a name at a byte; `None` if it is no local, empty if the file does not show it.
    pub(crate) fn type_of(&self, name: &str, at: usize) -> Option<&str> {
        self.find(name, at).map(|local| local.type_text.as_str())
    }

    /// Number of parameters, if the name is a lambda.
    pub(crate) fn lambda(&self, name: &str, at: usize) -> Option<u32> {
        self.find(name, at)?.lambda
    }

    /// Names and types in sight at a byte, outermost first.
    pub(crate) fn visible(&self, at: usize) -> Vec<(String, String)> {
        let in_sight = |local: &&Local| local.start <= at && at < local.end;
        let pair = |local: &Local| (local.name.clone(), local.type_text.clone());
        self.locals.iter().filter(in_sight).map(pair).collect()
    }
}
