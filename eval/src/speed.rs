//! What parse and graph cost against the bare grammar, in processor time over the same files.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use almanac_language::{Grammar, Limits, Watch, parse};
use almanac_terminal::Table;

use crate::syntax::{CALM, CppFile, cpp_files};

/// More than any file needs: the bare grammar reads all of it.
const LIMITS: Limits = Limits { steps: u64::MAX, nesting: usize::MAX };
/// Clock ticks of `/proc` in a second; Linux shows every process this number.
const TICKS: f64 = 100.0;

/// Seconds of one run: processor time, and on the clock.
#[derive(Debug, Clone, Copy, Default)]
struct Seconds {
    processor: f64,
    clock: f64,
}

/// What the runs over a tree took.
pub(crate) struct Costs {
    name: String,
    files: usize,
    bytes: usize,
    bare: Seconds,
    parse: Seconds,
    graph: Seconds,
    ratio: f64,
}

/// Runs the bare grammar and the two stages over a tree, in turn, and gives medians.
pub(crate) fn measure(folder: &str, runs: usize) -> miette::Result<Costs> {
    let folder = Path::new(folder);
    let files = cpp_files(folder)?;
    let own = std::env::current_exe().map_err(|error| miette::miette!("no path of this program: {error}"))?;
    let store = std::env::temp_dir().join(format!("almanac-speed-{}", std::process::id()));
    let mut taken: Vec<[Seconds; 3]> = Vec::new();
    for _ in 0..runs.max(1) {
        let bare = timed(false, || {
            files.iter().for_each(read_bare);
            Ok(())
        })?;
        let stage = |name: &str, arguments: &[&Path]| {
            timed(true, || run(Command::new(own.with_file_name(name)).arg("run").args(arguments), &store))
        };
        let parsed = stage("almanac-parse", &[Path::new("--source"), folder]);
        let graph = parsed.and_then(|parsed| Ok((parsed, stage("almanac-graph", &[])?)));
        // Each run begins without a store; what cannot be removed is in a folder for such things.
        let _ = fs_err::remove_dir_all(&store);
        let (parsed, graph) = graph?;
        taken.push([bare, parsed, graph]);
    }
    let seconds = |of: usize| Seconds {
        processor: median(taken.iter().map(|run| run[of].processor).collect()),
        clock: median(taken.iter().map(|run| run[of].clock).collect()),
    };
    let ratios = taken
        .iter()
        .map(|[bare, parse, graph]| (parse.processor + graph.processor) / bare.processor.max(1.0 / TICKS));
    Ok(Costs {
        name: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        files: files.len(),
        bytes: files.iter().map(|file| file.text.len()).sum(),
        bare: seconds(0),
        parse: seconds(1),
        graph: seconds(2),
        ratio: median(ratios.collect()),
    })
}

fn read_bare(file: &CppFile) {
    // A tree that was not made costs what it costs.
    drop(parse(Grammar::Cpp, file.text.as_bytes(), &Watch::start(LIMITS, &CALM)));
}

fn run(command: &mut Command, store: &Path) -> miette::Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.arg("--store").arg(store).args(["-q", "--no-progress"]).stdin(Stdio::null());
    let status = command.status().map_err(|error| miette::miette!("{program} does not start: {error}"))?;
    if status.success() { Ok(()) } else { Err(miette::miette!("{program} ended with {status}")) }
}

fn timed(of_children: bool, work: impl FnOnce() -> miette::Result<()>) -> miette::Result<Seconds> {
    let (processor, clock) = (spent(of_children)?, Instant::now());
    work()?;
    Ok(Seconds { processor: spent(of_children)? - processor, clock: clock.elapsed().as_secs_f64() })
}

/// Processor seconds of this process, or of those it has waited for.
fn spent(of_children: bool) -> miette::Result<f64> {
    let stat = fs_err::read_to_string("/proc/self/stat").unwrap_or_default();
    // The program's name may hold blanks and brackets; behind it come fields 3 and later.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let first = if of_children { 13 } else { 11 };
    let ticks: Option<Vec<f64>> = fields.skip(first).take(2).map(|field| field.parse().ok()).collect();
    match ticks.as_deref() {
        Some([user, system]) => Ok((user + system) / TICKS),
        _ => Err(miette::miette!("/proc/self/stat does not tell the time spent")),
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Prints the table.
pub(crate) fn print(all: &[Costs]) {
    let header =
        ["corpus", "files", "MB", "bare s", "parse s", "graph s", "ratio", "parse clock", "graph clock"];
    let mut table = Table::new(header).right(1..header.len());
    for costs in all {
        table.row(vec![
            costs.name.clone(),
            costs.files.to_string(),
            format!("{:.2}", costs.bytes as f64 / 1e6),
            format!("{:.2}", costs.bare.processor),
            format!("{:.2}", costs.parse.processor),
            format!("{:.2}", costs.graph.processor),
            format!("{:.2}", costs.ratio),
            format!("{:.2}", costs.parse.clock),
            format!("{:.2}", costs.graph.clock),
        ]);
    }
    table.print();
}
