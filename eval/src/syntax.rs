//! How much of a C++ tree the parser can place: plain tree-sitter-cpp against what the parse stage
//! reads, over the same files.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use almanac_freshness::tree::{Tree, TreeRules};
use almanac_language::{
    Classification, Content, CppSource, CppTree, Grammar, Limits, LineIndex, Score, TreeMacros, Watch,
    decode, defines, error_places, functions, is_comment_page, parse,
};
use almanac_tables::Language;
use almanac_terminal::Table;

/// Bounds as the parse stage sets them.
const LIMITS: Limits = Limits { steps: 200_000_000, nesting: 1000 };

/// One way of reading a corpus.
#[derive(Debug, Default, Clone, Copy)]
struct Totals {
    error_bytes: u64,
    files_with_errors: usize,
    functions: usize,
    /// Files the parser gave up on.
    unread: usize,
    seconds: f64,
}

/// How one file is read.
struct Reading {
    score: Score,
    functions: usize,
    /// Where something could not be placed: line and text.
    places: Vec<(u32, String)>,
}

impl Totals {
    fn add(&mut self, reading: Option<&Reading>, bytes: usize, seconds: f64) {
        self.seconds += seconds;
        let Some(reading) = reading else {
            self.unread += 1;
            self.error_bytes += bytes as u64;
            return;
        };
        self.error_bytes += reading.score.error_bytes;
        self.files_with_errors += usize::from(reading.score.errors > 0);
        self.functions += reading.functions;
    }
}

/// A source tree under a name.
pub(crate) struct Corpus {
    name: String,
    files: usize,
    bytes: u64,
    plain: Totals,
    read: Totals,
    /// Errors left in each file, most first.
    worst: Vec<Worst>,
}

/// Bytes in errors of a file, its path, and lines that begin with one.
type Worst = (u64, String, Vec<(u32, String)>);

/// A file of C or C++.
pub(crate) struct CppFile {
    /// Path relative to the tree.
    path: String,
    /// Text.
    pub(crate) text: String,
    grammar: Grammar,
}

/// Reads `NAME=FOLDER`, or a folder that names itself.
pub(crate) fn measure(argument: &str) -> miette::Result<Corpus> {
    let (name, folder) = match argument.split_once('=') {
        Some((name, folder)) => (name.to_owned(), PathBuf::from(folder)),
        None => {
            let folder = PathBuf::from(argument);
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, folder)
        }
    };
    let files = cpp_files(&folder)?;
    let bytes = files.iter().map(|file| file.text.len() as u64).sum();
    let (plain, read, worst) = (Totals::default(), Totals::default(), Vec::new());
    let mut corpus = Corpus { name, files: files.len(), bytes, plain, read, worst };
    let macros = TreeMacros::new(files.iter().flat_map(|file| defines(&file.text)));
    for CppFile { path, text, grammar } in &files {
        let started = Instant::now();
        let plain = parse_plain(text, *grammar);
        corpus.plain.add(plain.as_ref(), text.len(), started.elapsed().as_secs_f64());
        let started = Instant::now();
        let read = parse_as_stage(text, *grammar, &macros);
        corpus.read.add(read.as_ref(), text.len(), started.elapsed().as_secs_f64());
        let errors = read.as_ref().map_or(text.len() as u64, |read| read.score.errors);
        if errors > 0 {
            corpus.worst.push((errors, path.clone(), read.map(|read| read.places).unwrap_or_default()));
        }
    }
    corpus.worst.sort_by(|a, b| b.cmp(a));
    Ok(corpus)
}

pub(crate) fn cpp_files(folder: &Path) -> miette::Result<Vec<CppFile>> {
    let rules = TreeRules { max_file_bytes: 2 << 20, ignore: Vec::new(), include_hidden: true };
    let tree = Tree::scan(folder, &rules, Path::new(""))?;
    let mut files = Vec::new();
    for file in tree.files.iter().filter(|file| file.digest.is_some()) {
        let class = Classification::of(&file.path);
        if !class.is_c_family() {
            continue;
        }
        let Ok(bytes) = fs_err::read(tree.absolute(&file.path)) else { continue };
        let Content::Text { text, .. } = decode(&bytes) else { continue };
        if !is_comment_page(&text) {
            let grammar = if class.language == Language::C { Grammar::C } else { Grammar::Cpp };
            files.push(CppFile { path: file.path.clone(), text, grammar });
        }
    }
    Ok(files)
}

/// No signal comes.
pub(crate) static CALM: AtomicBool = AtomicBool::new(false);

fn parse_plain(text: &str, grammar: Grammar) -> Option<Reading> {
    let tree = parse(grammar, text.as_bytes(), &Watch::start(LIMITS, &CALM)).ok()?;
    Some(Reading {
        score: Score::of(&tree),
        functions: functions(&tree, text.as_bytes()).len(),
        places: Vec::new(),
    })
}

/// All rounds, as the parse stage reads them.
fn parse_as_stage(text: &str, grammar: Grammar, macros: &TreeMacros) -> Option<Reading> {
    let watch = Watch::start(LIMITS, &CALM);
    let source = CppSource::new(text, macros);
    let first = source.parse(grammar, 0, &watch).ok()?;
    let mut count = functions(&first.tree, &first.masked.bytes).len();
    for round in 1..source.rounds() {
        let read = source.parse(grammar, round, &watch).ok()?;
        let fresh = source.fresh(round);
        let is_fresh = |at: &usize| fresh.iter().any(|(start, end)| (*start..*end).contains(at));
        count += functions(&read.tree, &read.masked.bytes).into_iter().filter(is_fresh).count();
    }
    let places = if first.score.errors > 0 { places(text, &first) } else { Vec::new() };
    Some(Reading { score: first.score, functions: count, places })
}

fn places(text: &str, read: &CppTree) -> Vec<(u32, String)> {
    let lines = LineIndex::new(text);
    let line_at = |at: usize| {
        let line = lines.line(at);
        let start = lines.start_of(line).unwrap_or(0);
        let rest = text.get(start..).unwrap_or("");
        (line, rest.lines().next().unwrap_or("").trim().to_owned())
    };
    error_places(&read.tree).into_iter().map(line_at).collect()
}

/// What the grammar sees of one file of a tree.
pub(crate) fn show(folder: &Path, path: &str) -> miette::Result<String> {
    let files = cpp_files(folder)?;
    let macros = TreeMacros::new(files.iter().flat_map(|file| defines(&file.text)));
    let file = files.iter().find(|file| file.path == path);
    let file = file.ok_or_else(|| miette::miette!("{path} is no C or C++ file of {}", folder.display()))?;
    let source = CppSource::new(&file.text, &macros);
    let read = source.parse(file.grammar, 0, &Watch::start(LIMITS, &CALM));
    let read = read.map_err(|stop| miette::miette!("{path}: {stop}"))?;
    Ok(String::from_utf8_lossy(&read.masked.bytes).into_owned())
}

/// Prints the table, and the files with most errors.
pub(crate) fn print(corpora: &[Corpus], worst: usize, lines: usize) {
    let header = [
        "corpus",
        "files",
        "MB",
        "plain error",
        "read error",
        "plain files",
        "read files",
        "plain fn",
        "read fn",
        "time",
    ];
    let mut table = Table::new(header).right(1..header.len());
    for corpus in corpora {
        let Corpus { name, files, bytes, plain, read, .. } = corpus;
        let share = |totals: &Totals| {
            format!("{:.3} %", 100.0 * totals.error_bytes as f64 / (*bytes as f64).max(1.0))
        };
        table.row(vec![
            name.clone(),
            files.to_string(),
            format!("{:.2}", *bytes as f64 / 1e6),
            share(plain),
            share(read),
            plain.files_with_errors.to_string(),
            read.files_with_errors.to_string(),
            plain.functions.to_string(),
            read.functions.to_string(),
            format!("{:.2}", read.seconds / plain.seconds.max(1e-9)),
        ]);
    }
    table.print();
    for corpus in corpora {
        for (errors, path, places) in corpus.worst.iter().take(worst) {
            almanac_terminal::data(&format!("{}: {errors} in {path}", corpus.name));
            for (line, text) in places.iter().take(lines) {
                almanac_terminal::data(&format!("    {line}: {text}"));
            }
        }
    }
}
