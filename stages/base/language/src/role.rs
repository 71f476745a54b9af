//! The part a file plays in its project: library, application, test, vendored, ...
//!
//! The first rule that speaks decides, in this order: where the file lies inside copied code, what
//! its name says (build files), the folder names from the outermost in, its name again (tests by
//! prefix), and its kind. Code in a folder that says nothing is [`PathRole::Unplaced`]: only the
//! whole tree tells a library without `src/` from a program beside it.

use almanac_tables::{ArtifactRole, SourceType};

use crate::Classification;

/// Role of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathRole {
    /// A rule decided.
    Decided(ArtifactRole),
    /// Code whose folders say nothing.
    Unplaced,
}

/// Folder names (lower case) and the role of what lies in them.
const FOLDERS: &[(&[&str], ArtifactRole)] = &[
    (
        &[
            "third_party",
            "third-party",
            "thirdparty",
            "3rdparty",
            "3rd_party",
            "external",
            "externals",
            "extern",
            "vendor",
            "vendored",
            "submodules",
            "bundled",
            "_deps",
            "tpl",
            "tpls",
            "subprojects",
        ],
        ArtifactRole::Vendored,
    ),
    (OBSOLETE, ArtifactRole::Obsolete),
    (&["generated", "autogen", "gen-cpp"], ArtifactRole::Generated),
    (
        &[
            ".github",
            ".gitlab",
            ".circleci",
            ".jenkins",
            ".ci",
            "ci",
            "jenkins",
            ".azure-pipelines",
            ".buildkite",
        ],
        ArtifactRole::Ci,
    ),
    (
        &[
            "bench",
            "benches",
            "benchmark",
            "benchmarks",
            "perf",
            "perf_test",
            "perf_tests",
            "performance",
            "performance_tests",
        ],
        ArtifactRole::Benchmark,
    ),
    (
        &[
            "test",
            "tests",
            "testing",
            "unit_test",
            "unit_tests",
            "unittest",
            "unittests",
            "unit-tests",
            "unit",
            "gtest",
            "regression",
            "regression_tests",
            "integration_tests",
            "validation_tests",
        ],
        ArtifactRole::Test,
    ),
    (
        &["example", "examples", "tutorial", "tutorials", "demo", "demos", "sample", "samples"],
        ArtifactRole::Example,
    ),
    (
        &["app", "apps", "application", "applications", "miniapp", "miniapps", "programs"],
        ArtifactRole::Application,
    ),
    (
        &["doc", "docs", "documentation", "manual", "manuals", "user_guide", "userguide"],
        ArtifactRole::Documentation,
    ),
    (&["cmake", "build_tools", "buildsystem", "config.d"], ArtifactRole::Build),
    (
        &[
            "script",
            "scripts",
            "tools",
            "tool",
            "hooks",
            ".githooks",
            "utilities",
            "bin",
            "job_scripts",
            "slurm",
        ],
        ArtifactRole::Script,
    ),
];

/// Folder names (lower case) for what is kept but no longer holds.
const OBSOLETE: &[&str] =
    &["old", "obsolete", "deprecated", "legacy", "attic", "archive", "archived", "graveyard"];

/// Folder names (lower case) that hold the product.
const PRODUCT: &[&str] = &["src", "source", "sources", "include", "lib", "libs", "inc"];

/// Judges a path.
pub fn path_role(path: &str, class: Classification) -> PathRole {
    use ArtifactRole as R;
    let lower = path.to_ascii_lowercase();
    let (folder, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let is_code = matches!(class.source_type, SourceType::Header | SourceType::Source);
    let folder_role = if folder.is_empty() { None } else { folder_role(folder) };

    if folder_role == Some(R::Vendored) {
        return PathRole::Decided(R::Vendored);
    }
    if is_ci_file(name) {
        return PathRole::Decided(R::Ci);
    }
    if class.source_type == SourceType::Build {
        let of_ci = folder_role == Some(R::Ci) && name != "cmakelists.txt";
        return PathRole::Decided(if of_ci { R::Ci } else { R::Build });
    }
    if class.source_type == SourceType::Documentation && is_prose(name, folder_role) {
        let obsolete = folder.split('/').any(|component| OBSOLETE.contains(&component));
        return PathRole::Decided(if obsolete { R::Obsolete } else { R::Documentation });
    }
    if is_code && is_test_name(path, in_product(folder)) {
        return PathRole::Decided(R::Test);
    }
    match folder_role {
        Some(role) => PathRole::Decided(role),
        None if class.source_type == SourceType::Script && !in_product(folder) => {
            PathRole::Decided(R::Script)
        }
        None if is_code && !in_product(folder) => PathRole::Unplaced,
        None if is_code || (class.source_type == SourceType::Script && name.ends_with(".py")) => {
            PathRole::Decided(R::Library)
        }
        None if class.source_type == SourceType::Script => PathRole::Decided(R::Script),
        None => PathRole::Decided(R::Data),
    }
}

/// Role of the outermost folder with a telling name. A product folder inside it changes nothing
/// (`tests/src` is a test); a telling folder inside the product does (`core/src/tests`), except a
/// script-like one (`src/tools` is product). Documentation yields to what lies in it
/// (`doc/examples`).
fn folder_role(folder: &str) -> Option<ArtifactRole> {
    use ArtifactRole as R;
    let mut product = false;
    let mut documentation = None;
    for component in folder.split('/') {
        if PRODUCT.contains(&component) {
            product = true;
            continue;
        }
        match FOLDERS.iter().find(|(names, _)| names.contains(&component)).map(|(_, role)| *role) {
            Some(R::Script | R::Build | R::Application | R::Documentation) if product => {}
            Some(R::Documentation) => documentation = Some(R::Documentation),
            Some(role) => return Some(role),
            None => {}
        }
    }
    documentation
}

fn in_product(folder: &str) -> bool {
    folder.split('/').any(|component| PRODUCT.contains(&component))
}

fn is_ci_file(name: &str) -> bool {
    matches!(
        name,
        ".gitlab-ci.yml"
            | ".travis.yml"
            | "jenkinsfile"
            | "azure-pipelines.yml"
            | "appveyor.yml"
            | ".appveyor.yml"
            | ".cirrus.yml"
            | "codecov.yml"
            | ".codecov.yml"
    )
}

/// Prose by suffix; a `.txt` only where its name or folder says so, since many are data.
fn is_prose(name: &str, folder_role: Option<ArtifactRole>) -> bool {
    let Some((stem, suffix)) = name.rsplit_once('.') else {
        return true;
    };
    if !matches!(suffix, "txt" | "text") {
        return true;
    }
    let named = [
        "readme",
        "install",
        "changelog",
        "changes",
        "news",
        "contributing",
        "authors",
        "notes",
        "todo",
        "howto",
        "guide",
        "manual",
        "faq",
        "history",
        "usage",
        "release",
    ];
    named.iter().any(|word| stem.contains(word))
        || matches!(folder_role, None | Some(ArtifactRole::Documentation))
}

/// `test_x.cpp`, `x_test.cpp`, `x_unittest.cpp`; inside the product also `TestX.cpp`, `XTest.cpp`,
/// which elsewhere may be a test problem that an application solves.
fn is_test_name(path: &str, product: bool) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let lower = stem.to_ascii_lowercase();
    if lower.starts_with("test_")
        || lower.ends_with("_test")
        || lower.ends_with("_tests")
        || lower.ends_with("unittest")
    {
        return true;
    }
    let capital_follows = stem
        .strip_prefix("Test")
        .and_then(|rest| rest.chars().next())
        .is_some_and(|c| c.is_ascii_uppercase());
    let camel_suffix = stem
        .strip_suffix("Test")
        .or_else(|| stem.strip_suffix("Tests"))
        .and_then(|rest| rest.chars().last())
        .is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let is_source = !matches!(name.rsplit('.').next(), Some("h" | "hh" | "hpp" | "hxx" | "cuh"));
    is_source && product && (capital_follows || camel_suffix)
}

/// Lines of a file's head that tell who wrote it.
const HEAD: usize = 60;

/// What a file's head says: copied from another project, or written by a program.
pub fn content_role(class: Classification, text: &str) -> Option<ArtifactRole> {
    if !matches!(
        class.source_type,
        SourceType::Header | SourceType::Source | SourceType::Script | SourceType::Build
    ) {
        return None;
    }
    let head: Vec<&str> = text.lines().take(HEAD).collect();
    // Only what stands in comments: code may well print such words.
    let comment = |line: &&&str| {
        let line = line.trim_start();
        ["//", "/*", "*", "#", "--", "%"].iter().any(|mark| line.starts_with(mark))
    };
    let words =
        head.iter().filter(comment).map(|line| line.to_ascii_lowercase()).collect::<Vec<_>>().join("\n");
    if GENERATED.iter().any(|mark| words.contains(mark)) {
        return Some(ArtifactRole::Generated);
    }
    FOREIGN.iter().any(|mark| words.contains(mark)).then_some(ArtifactRole::Vendored)
}

/// Words of programs that write files.
const GENERATED: &[&str] = &[
    "@generated",
    "do not edit",
    "do not modify this file",
    "automatically generated",
    "auto-generated",
    "autogenerated",
    "this file was generated",
    "this file is generated",
    "generated by the protocol buffer",
];

/// Words with which well-known projects open their files: sentences, since a name alone may be
/// that of a library that is merely used.
const FOREIGN: &[&str] = &[
    "this file is part of the gnu iso c++ library",
    "part of the llvm project",
    "this file is part of eigen, a lightweight c++ template library",
    "boost software license",
    "json for modern c++",
    "catch2 v",
    "generated by catch v",
    "the {fmt} library",
    "argument parser for modern c++",
    "this file is part of hdf5",
    "copyright 2008, google inc",
    "copyright 2005, google inc",
    "copyright (c) 2014 jarryd beck",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: ArtifactRole) {
        assert_eq!(path_role(path, Classification::of(path)), PathRole::Decided(expected), "{path}");
    }

    #[test]
    fn folders_and_names_decide() {
        use ArtifactRole as R;
        check("src/Field/BareField.h", R::Library);
        check("core/src/View.hpp", R::Library);
        check("core/src/tools/Profile.hpp", R::Library);
        check("core/unit_test/TestView.cpp", R::Test);
        check("src/tests/view.cpp", R::Test);
        check("unit_tests/TestUtils.h", R::Test);
        check("test/field/TestSum.cpp", R::Test);
        check("src/Field/FieldTest.cpp", R::Test);
        check("examples/collisions/P3M.hpp", R::Example);
        check("apps/driver/main.cpp", R::Application);
        check("benchmarks/gather.cpp", R::Benchmark);
        check("external/json/json.hpp", R::Vendored);
        check("src/third_party/a.c", R::Vendored);
        check("test/CMakeLists.txt", R::Build);
        check("cmake/Options.cmake", R::Build);
        check("CMakePresets.json", R::Build);
        check(".github/workflows/main.yml", R::Ci);
        check(".gitlab-ci.yml", R::Ci);
        check("ci/docker/Dockerfile", R::Ci);
        check("ci/README.md", R::Documentation);
        check("scripts/run.sh", R::Script);
        check("alpine/job.slurm", R::Script);
        check("README.md", R::Documentation);
        check("manual/guide.tex", R::Documentation);
        check("doc/old/guide.tex", R::Obsolete);
        check("doc/examples/Basics.hpp", R::Example);
        check("LICENSE", R::Data);
        check("test/reference.txt", R::Test);
        check("input/deck.yaml", R::Data);
    }

    #[test]
    fn code_in_folders_that_say_nothing_is_unplaced() {
        for path in ["solver/Cg.h", "main.cpp", "Eigen/src2/x.h", "alpine/UniformPlasmaTest.cpp"] {
            assert_eq!(path_role(path, Classification::of(path)), PathRole::Unplaced, "{path}");
        }
    }

    #[test]
    fn heads_tell_copied_and_generated_files() {
        let class = Classification::of("src/Variant.h");
        let gnu = "// This file is part of the GNU ISO C++ Library.  This library is free\nint x;";
        assert_eq!(content_role(class, gnu), Some(ArtifactRole::Vendored));
        let generated = "/* Automatically generated by make_tables.py: do not edit */\nint t[3];";
        assert_eq!(content_role(class, generated), Some(ArtifactRole::Generated));
        assert_eq!(content_role(class, "puts(\"do not edit\");"), None);
    }
}
