//! How programs end, seen from outside: exit codes, streams, pipes nobody reads.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};

fn program(arguments: &[&str]) -> Command {
    // Cargo builds examples beside the folder of the test programs.
    let test = std::env::current_exe().expect("a test program has a path");
    let folder = test.parent().and_then(|deps| deps.parent()).expect("target folder");
    let mut command = Command::new(folder.join("examples").join("ending"));
    command.args(arguments).env_remove("RUST_BACKTRACE").env_remove("NO_COLOR");
    command
}

fn run(arguments: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = program(arguments).output().expect("the example is built");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (status.code().expect("no signal"), text(stdout), text(stderr))
}

#[test]
fn a_status_becomes_the_exit_code() {
    assert_eq!(run(&["done"]), (0, String::new(), String::new()));
    assert_eq!(run(&["stale"]), (10, String::new(), String::new()));
}

#[test]
fn an_error_is_printed_once_to_standard_error() {
    let text = "error: stage `embed` cannot start\n  \
                caused by: table `chunks` is damaged\n\n\
                hint: run `almanac verify`\n";
    assert_eq!(run(&["error"]), (65, String::new(), text.to_owned()));
}

#[test]
fn with_json_an_error_is_a_line_of_json() {
    let (code, stdout, stderr) = run(&["error", "--json"]);
    assert_eq!((code, stdout.as_str()), (65, ""));
    let value: serde_json::Value = serde_json::from_str(&stderr).expect("JSON");
    assert_eq!(value["reason"], "error");
    assert_eq!(value["error"], "stage `embed` cannot start");
    assert_eq!(value["exit"], 65);
}

#[test]
fn a_panic_is_a_bug() {
    let (code, stdout, stderr) = run(&["panic"]);
    assert_eq!((code, stdout.as_str()), (1, ""));
    assert!(stderr.starts_with("error: internal error at "), "{stderr}");
    assert!(stderr.contains("caused by: row 3 comes before row 2"), "{stderr}");
    assert!(stderr.contains("please report it"), "{stderr}");
}

#[test]
fn a_panic_that_is_made_an_error_is_not_told() {
    assert_eq!(run(&["caught-panic"]), (0, String::new(), "      Caught true\n".to_owned()));
    let (code, _, stderr) = run(&["thread-panic"]);
    assert_eq!(code, 0);
    assert!(stderr.contains("caused by: lost in a thread"), "{stderr}");
}

#[test]
fn nothing_printed_steers_the_terminal() {
    for arguments in [&["hostile"][..], &["hostile", "--json"]] {
        let (code, stdout, stderr) = run(arguments);
        assert_eq!(code, 65);
        for (stream, lines) in [(&stdout, 4), (&stderr, 6)] {
            let acts = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!stream.contains(acts), "{stream:?}");
            assert!(stream.lines().filter(|line| line.contains("owned")).count() == lines, "{stream}");
        }
        // Only texts of several lines make lines; a message's further ones are indented.
        assert!(!stderr.lines().any(|line| line.starts_with("warning: forged")), "{stderr}");
        assert!(stdout.contains("\\u{1b}]0;owned\\u{7}\\u{202e}.h\\nwarning: forged\n"), "{stdout}");
    }
    // The colours are ours.
    let (_, _, stderr) = run(&["hostile", "--color=always"]);
    let plain = console_free(&stderr);
    assert!(!plain.contains('\u{1b}'), "{stderr:?}");
}

/// `text` without the colour codes that this crate writes.
fn console_free(text: &str) -> String {
    let mut plain = text.to_owned();
    for code in ["0", "1", "31", "32", "33", "36"] {
        plain = plain.replace(&format!("\u{1b}[{code}m"), "");
    }
    plain
}

#[test]
fn a_warning_is_given_once() {
    assert_eq!(run(&["repeated"]).2, "warning: first\nwarning: second\n");
}

#[test]
fn a_reader_that_stops_reading_is_success() {
    let mut child = program(&["many-lines"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the example is built");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    assert_eq!(line, "line 0\n");
    let mut stderr = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut stderr).expect("UTF-8");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert_eq!(stderr, "     Printed everything, closed: true\n");
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let output = program(&["many-lines"]).stdout(full).output().expect("the example is built");
    assert_eq!(output.status.code(), Some(74));
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(stderr.contains("error: standard output could not be written"), "{stderr}");
}

#[test]
fn results_and_messages_take_different_streams() {
    let (code, stdout, stderr) = run(&["messages"]);
    assert_eq!(code, 0);
    assert_eq!(stdout, "result\n[\"result\",1]\n");
    assert_eq!(stderr, "     Parsing 3 files\nnote: nothing to do\nwarning: no tests found\n");
}

#[test]
fn quiet_and_verbose_choose_the_messages() {
    assert_eq!(run(&["messages", "-q"]).2, "warning: no tests found\n");
    assert_eq!(run(&["messages", "-q", "-q"]).2, "");
    let verbose = run(&["messages", "-v"]).2;
    assert!(verbose.contains("      Reused 2 files\n"), "{verbose}");
    assert!(verbose.contains("read a file"), "{verbose}");
    assert!(!verbose.contains("noise"), "{verbose}");
}

#[test]
fn color_can_be_forced() {
    let (_, _, stderr) = run(&["messages", "--color=always"]);
    assert!(stderr.contains("\u{1b}["), "{stderr:?}");
}
