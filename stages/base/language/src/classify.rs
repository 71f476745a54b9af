//! File name to language and kind of source (paper 3.2.1).

use almanac_tables::{Language, SourceType};

use crate::lexer::{Lexer, TokenKind};

/// How a file is read, judged by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Classification {
    /// Language it is read as.
    pub language: Language,
    /// Interface, implementation, documentation, ...
    pub source_type: SourceType,
}

/// Suffixes, without their dot, of what a file is read as. `.C` and `.H` are matched with their case.
const SUFFIXES: &[(&[&str], Language, SourceType)] = {
    use Language as L;
    use SourceType as S;
    &[
        (
            &["h", "hh", "hpp", "hxx", "h++", "H", "ipp", "tpp", "inl", "txx", "tcc", "icc", "ixx", "cppm"],
            L::Cpp,
            S::Header,
        ),
        (&["cc", "cpp", "cxx", "c++", "C"], L::Cpp, S::Source),
        (&["c"], L::C, S::Source),
        (&["cuh"], L::Cuda, S::Header),
        (&["cu"], L::Cuda, S::Source),
        (&["hip"], L::Hip, S::Source),
        (&["f90", "f95", "f03", "f08", "f18", "f", "for", "ftn", "fpp"], L::Fortran, S::Source),
        (&["cl", "ispc", "jl", "rs", "java", "m"], L::Text, S::Source),
        (&["cmake"], L::Cmake, S::Build),
        (
            &["mk", "mak", "ninja", "bazel", "bzl", "gradle", "pro", "pri", "am", "ac", "m4"],
            L::Text,
            S::Build,
        ),
        (&["py", "pyx", "pyi"], L::Python, S::Script),
        (
            &[
                "sh", "bash", "zsh", "csh", "ksh", "fish", "slurm", "sbatch", "pbs", "lsf", "pl", "pm", "rb",
                "awk", "sed", "tcl", "lua", "r", "R", "bat", "cmd", "ps1", "gp", "gnuplot",
            ],
            L::Text,
            S::Script,
        ),
        (&["md", "markdown", "mkd"], L::Markdown, S::Documentation),
        (&["rst"], L::Rst, S::Documentation),
        (&["txt", "text", "tex", "dox", "adoc", "org", "texi", "html", "htm"], L::Text, S::Documentation),
    ]
};

/// Whole file names, without their folder, in lower case.
const NAMES: &[(&[&str], Language, SourceType)] = {
    use Language as L;
    use SourceType as S;
    &[
        (&["cmakelists.txt"], L::Cmake, S::Build),
        (
            &[
                "cmakepresets.json",
                "cmakeuserpresets.json",
                "makefile",
                "gnumakefile",
                "meson.build",
                "meson_options.txt",
                "build.bazel",
                "workspace.bazel",
                "sconstruct",
                "sconscript",
                "configure",
                "conanfile.py",
                "conanfile.txt",
                "vcpkg.json",
                "setup.py",
                "setup.cfg",
                "pyproject.toml",
                "requirements.txt",
                "environment.yml",
                "spack.yaml",
                "dockerfile",
                "containerfile",
            ],
            L::Text,
            S::Build,
        ),
        (&["jenkinsfile"], L::Text, S::Configuration),
        (
            &[
                "readme",
                "install",
                "news",
                "changelog",
                "changes",
                "authors",
                "contributors",
                "contributing",
                "todo",
                "history",
                "faq",
            ],
            L::Text,
            S::Documentation,
        ),
    ]
};

impl Classification {
    /// Classifies by path. A template suffix (`.in`) is looked through: `Version.h.in` is a header.
    pub fn of(path: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path);
        let lower = name.to_ascii_lowercase();
        for (names, language, source_type) in NAMES {
            if names.contains(&lower.as_str()) {
                let language = if lower.ends_with(".py") { Language::Python } else { *language };
                return Self { language, source_type: *source_type };
            }
        }
        if lower.starts_with("makefile.") || lower.starts_with("dockerfile.") {
            return Self { language: Language::Text, source_type: SourceType::Build };
        }
        // `kernel.hip.cpp` is HIP whatever follows.
        if lower.contains(".hip.") {
            let header = matches!(suffix(&lower), "h" | "hh" | "hpp" | "hxx");
            let source_type = if header { SourceType::Header } else { SourceType::Source };
            return Self { language: Language::Hip, source_type };
        }
        let stem = name.strip_suffix(".in").filter(|stem| stem.contains('.')).unwrap_or(name);
        Self::by_suffix(suffix(stem))
            .unwrap_or(Self { language: Language::Text, source_type: SourceType::Configuration })
    }

    /// Refines by content: an extensionless file with an interpreter line is a script, one that
    /// begins with a directive a header, as those of the standard library and of Eigen are.
    pub fn refined(self, path: &str, text: &str) -> Self {
        let unnamed = self.may_be_code(path);
        if unnamed && begins_as_header(text) {
            return Self { language: Language::Cpp, source_type: SourceType::Header };
        }
        if !unnamed || !text.starts_with("#!") {
            return self;
        }
        let first = text.lines().next().unwrap_or_default();
        let language = if first.contains("python") { Language::Python } else { Language::Text };
        Self { language, source_type: SourceType::Script }
    }

    fn by_suffix(suffix: &str) -> Option<Self> {
        let lower = suffix.to_ascii_lowercase();
        let find = |wanted: &str| {
            SUFFIXES
                .iter()
                .find(|(suffixes, ..)| suffixes.contains(&wanted))
                .map(|(_, language, source_type)| Self { language: *language, source_type: *source_type })
        };
        find(suffix).or_else(|| find(&lower))
    }

    /// Whether only the content of a file of this name tells what it is ([`Self::refined`]).
    pub fn may_be_code(self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.source_type == SourceType::Configuration && suffix(name).is_empty()
    }

    /// Whether the file is read with a C-family grammar.
    pub fn is_c_family(self) -> bool {
        matches!(self.language, Language::Cpp | Language::C | Language::Cuda | Language::Hip)
    }
}

fn suffix(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(stem, suffix)| if stem.is_empty() { "" } else { suffix })
}

/// Whether a text has nothing but comments before `#pragma once`, an include guard or an include.
fn begins_as_header(text: &str) -> bool {
    let is_code = |kind| !matches!(kind, TokenKind::Comment | TokenKind::Space);
    let mut code = Lexer::new(text.as_bytes()).filter(|token| is_code(token.kind));
    let mut directive = || {
        let token = code.next().filter(|token| token.kind == TokenKind::Preprocessor)?;
        let words = text[token.start..token.end].trim_start().strip_prefix('#')?.trim_start();
        Some(words.split_once(char::is_whitespace).map_or((words, ""), |(word, rest)| (word, rest.trim())))
    };
    match directive() {
        Some(("pragma", "once")) => true,
        Some(("include", what)) => what.starts_with(['<', '"']) && what.ends_with(['>', '"']),
        Some(("ifndef", guard)) => directive().is_some_and(|(word, name)| word == "define" && name == guard),
        _ => false,
    }
}

/// Whether a file with a code suffix is a Doxygen page: nothing but comments, one of which opens a
/// page, group or section (`@page`, `\mainpage`, ...). Include guards and empty namespaces aside.
pub fn is_comment_page(text: &str) -> bool {
    let mut page = false;
    for token in Lexer::new(text.as_bytes()) {
        match token.kind {
            TokenKind::Comment => page |= opens_page(&text[token.start..token.end]),
            TokenKind::Preprocessor | TokenKind::Space => {}
            _ => return false,
        }
    }
    page
}

fn opens_page(comment: &str) -> bool {
    ["page", "mainpage", "section", "subsection", "defgroup", "example"]
        .iter()
        .any(|command| ['@', '\\'].iter().any(|mark| comment.contains(&format!("{mark}{command} "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, language: Language, source_type: SourceType) {
        assert_eq!(Classification::of(path), Classification { language, source_type }, "{path}");
    }

    #[test]
    fn names_and_suffixes_decide() {
        use Language as L;
        use SourceType as S;
        check("src/Field/BareField.h", L::Cpp, S::Header);
        check("src/Field/BareField.hpp", L::Cpp, S::Header);
        check("a/impl.ipp", L::Cpp, S::Header);
        check("a/detail.tpp", L::Cpp, S::Header);
        check("a/solver.C", L::Cpp, S::Source);
        check("a/solver.c", L::C, S::Source);
        check("a/k.cu", L::Cuda, S::Source);
        check("a/k.cuh", L::Cuda, S::Header);
        check("a/k.hip.cpp", L::Hip, S::Source);
        check("src/Versions.h.in", L::Cpp, S::Header);
        check("cmake/Config.cmake.in", L::Cmake, S::Build);
        check("src/CMakeLists.txt", L::Cmake, S::Build);
        check("CMakeUserPresets.json", L::Text, S::Build);
        check("doc/Makefile", L::Text, S::Build);
        check("README.md", L::Markdown, S::Documentation);
        check("manual/guide.tex", L::Text, S::Documentation);
        check("notes.txt", L::Text, S::Documentation);
        check("run/job.slurm", L::Text, S::Script);
        check("tools/plot.py", L::Python, S::Script);
        check(".clang-format", L::Text, S::Configuration);
        check("inputs/deck.in", L::Text, S::Configuration);
        check(".github/workflows/main.yml", L::Text, S::Configuration);
    }

    #[test]
    fn an_interpreter_line_makes_a_script() {
        let plain = Classification::of("hooks/pre-commit");
        assert_eq!(plain.source_type, SourceType::Configuration);
        let refined = plain.refined("hooks/pre-commit", "#!/bin/bash\nset -e\n");
        assert_eq!(refined.source_type, SourceType::Script);
        let python = plain.refined("hooks/check", "#!/usr/bin/env python3\n");
        assert_eq!(python.language, Language::Python);
    }

    #[test]
    fn a_header_may_have_no_extension() {
        let kind = |text: &str| Classification::of("Eigen/Core").refined("Eigen/Core", text).source_type;
        assert_eq!(
            kind("// licence\n\n#ifndef CORE_H\n#define CORE_H\nint x;\n#endif\n"),
            SourceType::Header
        );
        assert_eq!(kind("/* x */\n#pragma once\n"), SourceType::Header);
        assert_eq!(kind("#include <vector>\n"), SourceType::Header);
        assert_eq!(kind("# include the mesh\nmesh = a\n"), SourceType::Configuration);
        assert_eq!(kind("# define nothing\n"), SourceType::Configuration);
        assert_eq!(kind("#!/bin/sh\n#include <x>\n"), SourceType::Script);
    }

    #[test]
    fn a_page_is_comments_only() {
        assert!(is_comment_page("/**\n * @page intro Introduction\n * text\n */\n"));
        assert!(is_comment_page("#ifndef X\n#define X\n/// \\page p P\n#endif\n"));
        assert!(!is_comment_page("/** @page p P */\nint x;\n"));
        assert!(!is_comment_page("// licence only\n"));
    }
}
