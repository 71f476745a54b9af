//! Functions that make nothing and set nothing outside, such as those that print: a call of one need
//! not be followed, and in a large build most calls are.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::{Follower, Step};

/// Commands after which a build is another.
const MAKING: &[&str] = &[
    "add_compile_definitions",
    "add_custom_target",
    "add_definitions",
    "add_dependencies",
    "add_executable",
    "add_library",
    "add_subdirectory",
    "add_test",
    "catch_discover_tests",
    "configure_file",
    "cuda_add_executable",
    "cuda_add_library",
    "doctest_discover_tests",
    "gtest_add_tests",
    "gtest_discover_tests",
    "hip_add_executable",
    "hip_add_library",
    "include",
    "pybind11_add_module",
    "subdirs",
    "target_compile_definitions",
    "target_link_libraries",
    "target_sources",
];

/// What following a function changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Effect {
    /// Variables of whoever calls it.
    Caller,
    /// The build.
    Build,
}

impl Follower<'_, '_> {
    /// Leaves out the functions that have no effect, directly or through what they call.
    pub(super) fn drop_idle_functions(&mut self) {
        let mut callers: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        let mut effects: BTreeMap<usize, Effect> = BTreeMap::new();
        let mut open: Vec<usize> = Vec::new();
        for (&function, steps) in &self.bodies {
            if let Some(effect) = steps.iter().filter_map(|step| self.effect(function, step)).max() {
                effects.insert(function, effect);
                open.push(function);
            }
            for step in steps.iter().filter(|step| self.functions.contains_key(&step.name)) {
                callers.entry(step.name.as_str()).or_default().push(function);
            }
        }
        while let Some(function) = open.pop() {
            let effect = effects.get(&function).copied();
            let name = self.tree.entities[function].name.to_ascii_lowercase();
            for &caller in callers.get(name.as_str()).into_iter().flatten() {
                // Variables of a function are no one else's; those of a macro are its caller's.
                let is_seen = effect == Some(Effect::Build) || self.is_macro(caller);
                if is_seen && effects.get(&caller).copied() < effect {
                    effects.extend(effect.map(|effect| (caller, effect)));
                    open.push(caller);
                }
            }
        }
        self.bodies.retain(|function, _| effects.contains_key(function));
    }

    fn effect(&self, function: usize, step: &Step<'_>) -> Option<Effect> {
        let is_setting = matches!(
            step.name.as_str(),
            "set" | "unset" | "list" | "string" | "file" | "get_filename_component" | "cmake_parse_arguments"
        );
        let has = |word: &str| step.list.contains(word);
        match step.name.as_str() {
            name if MAKING.contains(&name) => Some(Effect::Build),
            "set" if has("CACHE") => Some(Effect::Build),
            _ if is_setting && (has("PARENT_SCOPE") || self.is_macro(function)) => Some(Effect::Caller),
            _ => None,
        }
    }

    /// Whether it sets variables where it is called.
    pub(super) fn is_macro(&self, function: usize) -> bool {
        self.tree.entities[function].signature.to_ascii_lowercase().starts_with("macro")
    }
}
