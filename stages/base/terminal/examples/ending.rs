//! A program that ends in the way its first argument says; the tests of how programs end run it.

use std::process::ExitCode;

use almanac_terminal::{ExitStatus, Options, Progress};
use miette::MietteDiagnostic;

fn main() -> ExitCode {
    almanac_terminal::main(|| {
        let mut arguments = std::env::args().skip(1);
        let way = arguments.next().unwrap_or_default();
        let mut options = Options::default();
        for argument in arguments {
            match argument.as_str() {
                "--json" => options.json = true,
                "-q" => options.quiet += 1,
                "-v" => options.verbose += 1,
                "--color=always" => options.color = almanac_terminal::ColorChoice::Always,
                _ => {}
            }
        }
        almanac_terminal::init(options);
        end(&way)
    })
}

fn end(way: &str) -> miette::Result<ExitStatus> {
    match way {
        "stale" => Ok(ExitStatus::Stale),
        "error" => {
            let error = MietteDiagnostic::new("table `chunks` is damaged")
                .with_code("almanac::data")
                .with_help("run `almanac verify`");
            Err(miette::Report::new(error).wrap_err("stage `embed` cannot start"))
        }
        "panic" => panic!("row 3 comes before row 2"),
        "caught-panic" => {
            let caught = std::panic::catch_unwind(|| panic!("a damaged file"));
            almanac_terminal::status("Caught", caught.is_err());
            Ok(ExitStatus::Done)
        }
        "thread-panic" => {
            let _ = std::thread::spawn(|| panic!("lost in a thread")).join();
            Ok(ExitStatus::Done)
        }
        "hostile" => {
            let name = "a\u{1b}]0;owned\u{7}\u{202e}.h\nwarning: forged";
            almanac_terminal::data(name);
            almanac_terminal::data_line(name);
            name.split_inclusive('.').for_each(almanac_terminal::data_piece);
            almanac_terminal::data("");
            almanac_terminal::data_json(&name);
            almanac_terminal::status("Reading", name);
            almanac_terminal::note(name);
            almanac_terminal::warning(format!("{name}!"));
            almanac_terminal::usage_error(&format!("error: unknown '{}'\n", name.replace('\n', " ")));
            tracing::error!(target: "almanac_parse", "{name}");
            Err(miette::Report::new(MietteDiagnostic::new(name).with_code("almanac::data")))
        }
        "repeated" => {
            for message in ["first", "second", "first"] {
                almanac_terminal::warning(message);
                almanac_terminal::note(message);
            }
            Ok(ExitStatus::Done)
        }
        "many-lines" => {
            for line in 0..100_000 {
                almanac_terminal::data(&format!("line {line}"));
            }
            let closed = almanac_terminal::is_output_closed();
            almanac_terminal::status("Printed", format!("everything, closed: {closed}"));
            Ok(ExitStatus::Done)
        }
        "messages" => {
            almanac_terminal::data("result");
            almanac_terminal::data_json(&("result", 1));
            almanac_terminal::status("Parsing", "3 files");
            almanac_terminal::detail("Reused", "2 files");
            almanac_terminal::note("nothing to do");
            almanac_terminal::warning("no tests found");
            tracing::info!(target: "almanac_parse", "read a file");
            tracing::warn!(target: "mistralrs_core", "noise");
            Ok(ExitStatus::Done)
        }
        "progress" => {
            let progress = Progress::start("explain", 30, "records");
            for record in 0..30 {
                std::thread::sleep(std::time::Duration::from_millis(100));
                progress.set_message(&format!("record {record}"));
                progress.advance(1);
                if record == 15 {
                    almanac_terminal::warning("halfway");
                    almanac_terminal::data("half of the result");
                }
            }
            progress.finish();
            almanac_terminal::status("Explained", "30 records");
            Ok(ExitStatus::Done)
        }
        _ => Ok(ExitStatus::Done),
    }
}
