//! Roles that only the whole tree tells.
//!
//! Three questions have no answer in one file: whether code beside the library's folders is a
//! program that uses it, whether a header's foreign licence is not simply the project's own, and
//! whether a manual still describes the code.

use std::collections::{BTreeMap, BTreeSet};

use almanac_language::{Classification, PathRole, content_role, path_role};
use almanac_tables::{ArtifactRole, EntityKind, SourceType};

use crate::ParsedFile;
use crate::file::role_by_path;

/// Top folders that hold a library.
const LIBRARY_FOLDERS: &[&str] = &["src", "source", "include", "lib"];
/// Share of the code above which a foreign head is the project's own, in per cent.
const OWN_PER_CENT: usize = 25;
/// Names of the interface a manual must mention before it can be judged.
const NAMES_JUDGED: usize = 12;
/// Share of known names below which a manual is obsolete, in per cent.
const KNOWN_PER_CENT: usize = 50;

/// Settles the roles of all files, and of their entities, given the whole tree. Running it again
/// over settled rows, some of them replaced, gives what a first run over all would give.
pub fn settle_roles(files: &mut [ParsedFile]) {
    settle_vendored(files);
    settle_applications(files);
    settle_manuals(files);
    for parsed in files {
        let role = parsed.file.role;
        for entity in &mut parsed.entities {
            entity.role = role;
        }
    }
}

fn class_of(parsed: &ParsedFile) -> Classification {
    Classification { language: parsed.file.language, source_type: parsed.file.source_type }
}

fn is_code(parsed: &ParsedFile) -> bool {
    matches!(parsed.file.source_type, SourceType::Header | SourceType::Source)
}

/// A licence head that a quarter of the code carries is no mark of copying.
fn settle_vendored(files: &mut [ParsedFile]) {
    let foreign: Vec<usize> = (0..files.len())
        .filter(|at| {
            let parsed = &files[*at];
            let by_path = role_by_path(&parsed.file.path, class_of(parsed));
            let head = parsed.text.as_ref().and_then(|text| content_role(class_of(parsed), &text.text));
            by_path != ArtifactRole::Vendored && head == Some(ArtifactRole::Vendored)
        })
        .collect();
    let code = files.iter().filter(|parsed| is_code(parsed)).count();
    let own = foreign.len() * 100 > code * OWN_PER_CENT && foreign.len() > 3;
    for at in foreign {
        let parsed = &mut files[at];
        parsed.file.role =
            if own { role_by_path(&parsed.file.path, class_of(parsed)) } else { ArtifactRole::Vendored };
    }
}

/// Code outside `src`, `include` and the like, in a top folder with a `main`, is an application of
/// the library in those folders. Without such folders it is the library.
fn settle_applications(files: &mut [ParsedFile]) {
    let top = |path: &str| path.split_once('/').map_or("", |(top, _)| top).to_owned();
    let has_library = files.iter().any(|parsed| {
        is_code(parsed)
            && parsed.file.role == ArtifactRole::Library
            && LIBRARY_FOLDERS.contains(&top(&parsed.file.path).to_ascii_lowercase().as_str())
    });
    let with_main: BTreeSet<String> = files
        .iter()
        .filter(|parsed| {
            parsed
                .entities
                .iter()
                .any(|e| e.kind == EntityKind::FunctionDefinition && e.qualified_name == "main")
        })
        .map(|parsed| top(&parsed.file.path))
        .collect();
    for parsed in files {
        let unplaced = path_role(&parsed.file.path, class_of(parsed)) == PathRole::Unplaced;
        if unplaced && matches!(parsed.file.role, ArtifactRole::Library | ArtifactRole::Application) {
            let uses_library = has_library && with_main.contains(&top(&parsed.file.path));
            parsed.file.role = if uses_library { ArtifactRole::Application } else { ArtifactRole::Library };
        }
    }
}

/// A LaTeX manual most of whose code names no longer exist documents an earlier interface. All its
/// chapters share its fate: they are judged by folder.
fn settle_manuals(files: &mut [ParsedFile]) {
    let is_manual = |parsed: &ParsedFile| {
        parsed.file.path.ends_with(".tex")
            && matches!(parsed.file.role, ArtifactRole::Documentation | ArtifactRole::Obsolete)
            && role_by_path(&parsed.file.path, class_of(parsed)) == ArtifactRole::Documentation
    };
    let mut folders: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for parsed in files.iter().filter(|parsed| is_manual(parsed)) {
        let names = parsed.text.as_ref().map(|text| code_names(&text.text)).unwrap_or_default();
        folders.entry(parsed.file.folder.clone()).or_default().extend(names);
    }
    if folders.is_empty() {
        return;
    }
    let known: BTreeSet<&str> = files
        .iter()
        .filter(|parsed| is_code(parsed))
        .flat_map(|parsed| parsed.entities.iter().map(|entity| entity.name.as_str()))
        .collect();
    let obsolete: BTreeSet<String> = folders
        .into_iter()
        .filter(|(_, names)| {
            let found = names.iter().filter(|name| known.contains(name.as_str())).count();
            !known.is_empty() && names.len() >= NAMES_JUDGED && found * 100 < names.len() * KNOWN_PER_CENT
        })
        .map(|(folder, _)| folder)
        .collect();
    for parsed in files.iter_mut() {
        if is_manual(parsed) {
            let is_obsolete = obsolete.contains(&parsed.file.folder);
            parsed.file.role = if is_obsolete { ArtifactRole::Obsolete } else { ArtifactRole::Documentation };
        }
    }
}

/// Names a manual shows as code: in `\texttt{...}` and code environments, with an inner capital or
/// a call's parenthesis, since plain words would be found anywhere.
fn code_names(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut rest = text;
    while let Some(at) = rest.find("\\texttt{") {
        rest = &rest[at + "\\texttt{".len()..];
        let end = rest.find('}').unwrap_or(rest.len());
        collect_names(&rest[..end], &mut names);
    }
    for name in ["verbatim", "lstlisting", "code", "smallcode"] {
        let (begin, end) = (format!("\\begin{{{name}}}"), format!("\\end{{{name}}}"));
        let mut rest = text;
        while let Some(at) = rest.find(&begin) {
            rest = &rest[at + begin.len()..];
            let length = rest.find(&end).unwrap_or(rest.len());
            collect_names(&rest[..length], &mut names);
            rest = &rest[length..];
        }
    }
    names
}

fn collect_names(code: &str, names: &mut BTreeSet<String>) {
    let mut rest = code;
    while let Some(start) = rest.find(|c: char| c.is_alphabetic() || c == '_') {
        rest = &rest[start..];
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let word = &rest[..length];
        let inner_capital =
            word.chars().skip(1).any(|c| c.is_uppercase()) && word.chars().any(|c| c.is_lowercase());
        if word.len() >= 4 && inner_capital {
            names.insert(word.to_owned());
        }
        rest = &rest[length..];
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::CALM;
    use crate::{ParseInput, ReadSettings, parse_all};

    fn roles(files: &[(&str, &str)]) -> Vec<String> {
        let inputs: Vec<ParseInput> = files
            .iter()
            .map(|(path, text)| ParseInput { path: (*path).to_owned(), bytes: text.as_bytes().to_vec() })
            .collect();
        let params = crate::tests::params(400);
        parse_all(&inputs, ReadSettings { params: &params, run: crate::tests::RUN, interrupted: &CALM })
            .expect("threads")
            .into_iter()
            .map(|parsed| format!("{} {}", parsed.file.path, parsed.file.role))
            .collect()
    }

    #[test]
    fn code_beside_the_library_with_a_main_is_an_application() {
        let library = ("src/a.h", "int f();");
        let header = ("pic/manager.h", "struct Manager {};");
        let program = ("pic/run.cpp", "int main() { return 0; }");
        assert_eq!(
            roles(&[library, header, program, ("extra/tool.h", "int g();")]),
            [
                "extra/tool.h library",
                "pic/manager.h application",
                "pic/run.cpp application",
                "src/a.h library"
            ]
        );
        assert_eq!(roles(&[header, program]), ["pic/manager.h library", "pic/run.cpp library"]);
    }

    #[test]
    fn a_manual_of_names_that_are_gone_is_obsolete() {
        let names: String = (0..15).map(|at| format!("\\texttt{{oldName{at}}} ")).collect();
        let manual = format!("\\section{{Use}} {names}");
        let current: String = (0..15).map(|at| format!("int oldName{at}();\n")).collect();
        let code = "struct NewName {};";
        assert_eq!(
            roles(&[
                ("manual/use.tex", &manual),
                ("manual/more.tex", "\\section{More} text"),
                ("src/a.h", code)
            ]),
            ["manual/more.tex obsolete", "manual/use.tex obsolete", "src/a.h library"]
        );
        assert_eq!(
            roles(&[("manual/use.tex", &manual), ("src/a.h", &current)])[0],
            "manual/use.tex documentation"
        );
    }

    #[test]
    fn a_head_on_much_of_the_code_is_the_projects_own() {
        let head = "// Part of the LLVM Project, under the Apache License\nint x;";
        let own: Vec<(String, &str)> = (0..5).map(|at| (format!("src/a{at}.h"), head)).collect();
        let own: Vec<(&str, &str)> = own.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        assert!(roles(&own).iter().all(|role| role.ends_with(" library")));
        assert_eq!(
            roles(&[("src/b.h", head), ("src/c.h", "int y;")]),
            ["src/b.h vendored", "src/c.h library"]
        );
    }
}
