//! What is particular to questions about building, installing and what is depended on: the words such
//! files are written in, and which of them tell most.

use std::collections::BTreeMap;

use almanac_lookup::SearchIndex;
use almanac_tables::ArtifactRole;

/// What people call things and what CMake, install guides and CI files call them. A question with a
/// word of the left side also looks for those of the right.
const VOCABULARY: &[(&[&str], &[&str])] = &[
    (
        &[
            "depend",
            "depends",
            "dependency",
            "dependencies",
            "party",
            "prerequisites",
            "libraries",
            "bundled",
        ],
        &[
            "requirements",
            "required",
            "dependencies",
            "prerequisites",
            "find_package",
            "FetchContent",
            "submodule",
        ],
    ),
    (&["standard"], &["CMAKE_CXX_STANDARD", "cxx_std", "target_compile_features"]),
    (&["gpu", "gpus", "accelerator"], &["cuda", "hip", "rocm", "CMAKE_CUDA_ARCHITECTURES"]),
    (
        &["install", "installed", "installing", "installation"],
        &["CMAKE_INSTALL_PREFIX", "prefix", "requirements"],
    ),
    (
        &["configure", "configured", "enable", "enabled", "option", "options", "switched"],
        &["option", "cmake", "preset"],
    ),
    (&["compiler", "compilers"], &["CMAKE_CXX_COMPILER", "gcc", "clang"]),
    (&["docker", "container", "containers", "image"], &["Dockerfile", "Singularity"]),
    (&["link", "linking", "downstream"], &["find_package", "target_link_libraries", "add_subdirectory"]),
    (&["ci", "integration", "pipeline"], &["workflow", "workflows", "matrix", "jobs"]),
];

/// Beginnings of the names of documents, or of their folders, that guide through building.
const GUIDES: &[&str] = &[
    "build",
    "compil",
    "configur",
    "depend",
    "getting_started",
    "gettingstarted",
    "install",
    "prerequisit",
    "quick",
    "readme",
    "require",
    "setup",
];

/// Beginnings of the names of records of past changes.
const HISTORIES: &[&str] = &["changelog", "changes", "history", "news", "release"];

/// Share of the files of a folder from which a build file in it belongs to what they are.
const MOST: f64 = 0.5;

/// Words that a question's `word` (in lower case) stands for.
pub(crate) fn also_called(word: &str) -> impl Iterator<Item = &'static str> {
    let entries = VOCABULARY.iter().filter(move |(asked, _)| asked.contains(&word));
    entries.flat_map(|(_, written)| written.iter().copied())
}

/// Whether a document guides through building, by its name or folder. A README does at the top only.
pub(crate) fn is_guide(path: &str) -> bool {
    let lower = path.to_lowercase();
    let mut parts = lower.rsplit('/');
    let name = parts.next().unwrap_or_default();
    let begins = |text: &str| GUIDES.iter().any(|guide| text.starts_with(guide));
    if name.starts_with("readme") {
        !lower.contains('/')
    } else {
        begins(name) || parts.next().is_some_and(begins)
    }
}

/// Whether a document records past changes, by its name.
pub(crate) fn is_history(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    HISTORIES.iter().any(|history| name.starts_with(history))
}

/// What a build file builds, if that is beside the library: what the files of its folder mostly are.
pub(crate) fn builds(index: &SearchIndex, file: usize) -> Option<ArtifactRole> {
    use ArtifactRole::{Application, Benchmark, Example, Script, Test};
    let files = &index.tables().files;
    let (folder, _) = files[file].path.rsplit_once('/')?;
    let prefix = format!("{folder}/");
    let start = files.partition_point(|other| other.path < prefix);
    let inside = files[start..].iter().take_while(|other| other.path.starts_with(&prefix));
    let mut roles: BTreeMap<ArtifactRole, usize> = BTreeMap::new();
    for other in inside.filter(|other| other.role != ArtifactRole::Build) {
        *roles.entry(other.role).or_default() += 1;
    }
    let all: usize = roles.values().sum();
    let most = |&(role, count): &(&ArtifactRole, &usize)| {
        matches!(role, Test | Example | Benchmark | Application | Script) && *count as f64 > MOST * all as f64
    };
    roles.iter().find(most).map(|(&role, _)| role)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guides_and_histories_are_known_by_name() {
        for guide in ["README.md", "INSTALL.md", "docs/install/spack.rst", "doc/dev/buildoptions.rst"] {
            assert!(is_guide(guide), "{guide}");
        }
        for other in ["test/README.md", "docs/design.md", "docs/installer_of_things/deep/fields.md"] {
            assert!(!is_guide(other), "{other}");
        }
        assert!(is_history("CHANGELOG.rst") && is_history("docs/NEWS.md") && !is_history("docs/newton.md"));
    }

    #[test]
    fn words_of_people_stand_for_words_of_build_files() {
        assert!(also_called("gpu").any(|word| word == "cuda"));
        assert_eq!(also_called("solver").count(), 0);
    }
}
