//! `almanac mcp` with a real client, the Python SDK, over standard input and output and over HTTP.

#[path = "slurm/tiny_models.rs"]
mod tiny_models;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

use almanac_tests::{Bench, binary, repository_root};
use serde_json::{Value, json};

/// A store of the fixture library, built with models that the test makes.
fn bench() -> &'static Bench {
    static BENCH: OnceLock<Bench> = OnceLock::new();
    BENCH.get_or_init(|| {
        let bench = Bench::with_picolib();
        tiny_models::write(&bench.path("config"));
        let models = models(&bench);
        let arguments: Vec<&str> = models.iter().map(String::as_str).collect();
        bench.build(3, &arguments).exits(0);
        bench
    })
}

fn models(bench: &Bench) -> Vec<String> {
    let config = bench.path("config").to_string_lossy().into_owned();
    [vec!["--config".to_owned(), config], tiny_models::settings("tiny").to_vec()].concat()
}

/// Arguments of a server of the fixture library.
fn arguments(bench: &Bench, more: &[&str]) -> Vec<String> {
    let mut arguments =
        vec!["mcp".to_owned(), "--source".to_owned(), bench.tree().to_string_lossy().into_owned()];
    arguments.extend(["--store".to_owned(), bench.store().to_string_lossy().into_owned()]);
    arguments.extend(models(bench));
    arguments.extend(more.iter().map(|word| (*word).to_owned()));
    arguments
}

/// Runs the client's script and gives what it saw.
fn client(arguments: &[String]) -> Value {
    let packages = PathBuf::from(std::env::var_os("ALMANAC_TEST_PYTHON").unwrap_or_else(|| {
        // Where tests/run.sh puts it: beside the binaries' folder.
        binary("almanac").ancestors().nth(2).unwrap().join("python").into_os_string()
    }));
    let output = Command::new("python3")
        .arg(repository_root().join("tests/mcp/client.py"))
        .args(arguments)
        .env("PYTHONPATH", packages)
        .output()
        .expect("Python 3 is there");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`bash tests/run.sh` brings the client's package\n{errors}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"))
}

#[track_caller]
fn is_right(seen: &Value) {
    let names: Vec<&str> =
        seen["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["context", "search", "explain", "ask", "status"]);
    for tool in seen["tools"].as_array().unwrap() {
        assert_eq!(tool["schema"]["additionalProperties"], false, "{tool}");
        assert!(tool["schema"]["properties"]["max_tokens"].is_object(), "{tool}");
    }
    let said = |tool: &str| {
        let said = &seen["said"][tool];
        assert_eq!(said["is_error"], false, "{tool}: {said}");
        said["text"].as_str().unwrap()
    };
    // Four characters a token, as the answers are counted.
    for (tool, most) in
        [("context", 1500), ("search", 800), ("explain", 2000), ("ask", 300), ("status", 4000)]
    {
        assert!(
            said(tool).chars().count() <= most * 4 + 4,
            "{tool}: {} characters",
            said(tool).chars().count()
        );
    }
    assert!(said("context").contains("src/Field/Field.hpp"), "{}", said("context"));
    assert!(said("search").contains("src/Field/HaloExchange"), "{}", said("search"));
    // From Field.hpp: what fillHalo calls, in its body.
    let explained = said("explain");
    for words in ["pico::Field::fillHalo", "callees:", "HaloExchange::exchange", "halo_m.exchange(*this,"] {
        assert!(explained.contains(words), "no `{words}` in {explained}");
    }
    assert!(said("status").contains("The store is of the tree as it is."), "{}", said("status"));

    let bad = |case: &str| {
        let bad = &seen["bad"][case];
        (bad["protocol"] == true, bad["text"].as_str().unwrap().to_owned())
    };
    for (case, words) in [
        ("no such tool", "no tool `delete`"),
        ("no argument", "`query` is missing"),
        ("empty", "`query` is empty"),
        ("unknown argument", "takes no `path`"),
        ("budget", "max_tokens is from 200 to 100000"),
        ("oversized", "at most 100000"),
        ("option", "does not begin with `-`"),
    ] {
        let (protocol, text) = bad(case);
        assert!(protocol && text.contains(words), "{case}: {text}");
        assert_eq!(seen["bad"][case]["code"], -32602, "{case}");
    }
    for (case, words) in
        [("outside", "not inside the tree"), ("absolute", "not inside the tree"), ("not there", "fillHalo")]
    {
        let (protocol, text) = bad(case);
        assert!(!protocol && text.contains(words), "{case}: {text}");
        assert_eq!(seen["bad"][case]["is_error"], true, "{case}");
    }
    assert_eq!(seen["failures"], 0, "the same call gives the same answer");
    let memory: Vec<u64> =
        seen["memory_kib"].as_array().unwrap().iter().map(|kib| kib.as_u64().unwrap()).collect();
    let (first, last) = (memory[0], memory[memory.len() - 1]);
    assert!(last < first + first / 10 + 20_000, "memory grows: {memory:?} KiB");
}

#[test]
fn an_agent_calls_every_tool_over_standard_input_and_output() {
    let bench = bench();
    let server = binary("almanac").to_string_lossy().into_owned();
    // A thousand calls, sixteen at once.
    let seen = client(&[vec!["stdio".to_owned(), server], arguments(bench, &[])].concat());
    is_right(&seen);
    assert_eq!(seen["memory_kib"].as_array().unwrap().len(), 5);
}

/// Ends a server with the test.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_agent_calls_every_tool_over_http_and_nobody_else_does() {
    let bench = bench();
    let mut command = Command::new(binary("almanac"));
    command.args(arguments(bench, &["--http", "0"])).stdin(Stdio::null()).stdout(Stdio::null());
    let mut served = Served(command.stderr(Stdio::piped()).spawn().unwrap());
    let mut said = BufReader::new(served.0.stderr.take().unwrap());
    let mut url = String::new();
    while !url.contains("/mcp") {
        url.clear();
        assert!(said.read_line(&mut url).unwrap() > 0, "the server ended");
    }
    let url = url.trim().rsplit(' ').next().unwrap().to_owned();
    let words = ["http", &url, &served.0.id().to_string(), "1"].map(str::to_owned);
    is_right(&client(&words));

    let address = url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let status = |host: &str, more: &str| {
        let mut stream = std::net::TcpStream::connect(&address).unwrap();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{more}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        line
    };
    // A page elsewhere whose name was made to lead here, and a page that calls here.
    assert!(status("evil.example", "").contains(" 403 "), "{}", status("evil.example", ""));
    let origin = "Origin: http://evil.example\r\n";
    assert!(status("127.0.0.1", origin).contains(" 403 "), "{}", status("127.0.0.1", origin));
}

/// A server that is spoken to line by line.
struct Spoken {
    server: Served,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Spoken {
    /// Starts a server and greets it.
    fn start(arguments: &[String], cache: &Path) -> Self {
        let mut command = Command::new(binary("almanac"));
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.env("XDG_CACHE_HOME", cache);
        let mut server = Served(command.spawn().unwrap());
        let input = server.0.stdin.take().unwrap();
        let output = BufReader::new(server.0.stdout.take().unwrap());
        let mut spoken = Self { server, input, output };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "0"}});
        spoken.say(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}).to_string());
        assert_eq!(spoken.heard()["result"]["serverInfo"]["name"], "almanac");
        spoken.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        spoken
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    fn heard(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.output.read_line(&mut line).unwrap() > 0, "the server ended");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Calls a tool and gives whether it failed, and its text.
    fn call(&mut self, tool: &str, arguments: &Value) -> (bool, String) {
        let params = json!({"name": tool, "arguments": arguments});
        self.say(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string());
        let result = self.heard()["result"].clone();
        (result["isError"] == true, result["content"][0]["text"].as_str().unwrap().to_owned())
    }
}

#[test]
fn what_is_no_protocol_does_not_end_the_server() {
    let bench = bench();
    let mut spoken = Spoken::start(&arguments(bench, &[]), &bench.path("cache"));
    for line in ["this is not JSON", "{\"jsonrpc\": \"2.0\"", "[]", "{}", "\u{0}\u{1}"] {
        spoken.say(line);
    }
    spoken.input.write_all(b"\xff\xfe\n").unwrap();
    spoken.say(&json!({"jsonrpc": "2.0", "id": 8, "method": "no/such"}).to_string());
    spoken.say(&json!({"jsonrpc": "2.0", "id": 9, "method": "tools/list"}).to_string());
    // Answers come in any order.
    let (mut unknown, mut listed) = (false, false);
    while !(unknown && listed) {
        let said = spoken.heard();
        if said["id"] == 9 {
            assert_eq!(said["result"]["tools"].as_array().unwrap().len(), 5);
            listed = true;
        } else {
            assert!(said["error"]["code"].as_i64().unwrap() < 0, "{said}");
            unknown |= said["id"] == 8 && said["error"]["code"] == -32601;
        }
    }
    let Spoken { mut server, input, .. } = spoken;
    drop(input);
    assert!(server.0.wait().unwrap().success());
}

#[test]
fn without_a_store_the_tree_is_enough_for_a_context() {
    let bench = Bench::with_picolib();
    let nowhere = bench.path("nowhere").to_string_lossy().into_owned();
    let tree = bench.tree().to_string_lossy().into_owned();
    let arguments = ["mcp", "--source", &tree, "--store", &nowhere].map(str::to_owned);
    let mut spoken = Spoken::start(&arguments, &bench.path("cache"));
    let task = json!({"task": "Fill ghost cells of a Field in corners"});
    let (failed, found) = spoken.call("context", &task);
    assert!(!failed && found.contains("src/Field/"), "{found}");
    // The fixture lies in no repository here.
    assert!(found.contains("Note: no history takes part"), "{found}");
    let (failed, refused) = spoken.call("search", &json!({"query": "ghost cells"}));
    assert!(failed && refused.contains("almanac build"), "{refused}");
    // The tree is read as it is at each call.
    let new = bench.tree().join("src/Field/GhostCornersOfField.hpp");
    fs_err::write(new, "// fill ghost cells in corners\n").unwrap();
    let (_, again) = spoken.call("context", &task);
    assert!(again.contains("GhostCornersOfField.hpp"), "{again}");
}

#[test]
fn what_the_store_shows_of_files_that_have_changed_is_marked() {
    let bench = Bench::copy_of(bench());
    // Its own models, of which one goes at the end.
    tiny_models::write(&bench.path("config"));
    let mut spoken = Spoken::start(&arguments(&bench, &[]), &bench.path("cache"));
    let name = json!({"name": "Field::fillHalo"});
    let question = json!({"query": "Where does fillHalo exchange the ghost cells of a Field?"});
    let (_, same) = spoken.call("explain", &name);
    assert!(same.starts_with("The store is of the tree as it is."), "{same}");
    bench.edit("src/Field/Field.hpp", "//", "// one line more\n//");
    fs_err::remove_file(bench.tree().join("src/Field/HaloExchange.hpp")).unwrap();
    fs_err::write(bench.tree().join("src/Field/New.hpp"), "int added();\n").unwrap();
    let (_, explained) = spoken.call("explain", &name);
    assert!(explained.starts_with("The store is older than the tree, 3 files differ: "), "{explained}");
    assert!(explained.contains("src/Field/New.hpp (new)"), "{explained}");
    let marked = "Shown as they were, so lines may be elsewhere now: src/Field/Field.hpp (changed).";
    assert!(explained.contains(marked), "{explained}");
    let (_, found) = spoken.call("search", &question);
    let marks = found.lines().find(|line| line.starts_with("Shown as they were")).unwrap_or("");
    assert!(marks.contains("src/Field/HaloExchange.hpp (gone)"), "{found}");
    // Built anew meanwhile, it is of the tree again, without a new server.
    let models = models(&bench);
    let options: Vec<&str> = models.iter().map(String::as_str).collect();
    bench.build(3, &options).exits(0);
    let (_, again) = spoken.call("explain", &name);
    assert!(again.starts_with("The store is of the tree as it is."), "{again}");
    // Where the embedder is not here, the agent is told, not only the log.
    fs_err::remove_dir_all(bench.path("config/tiny-embedder")).unwrap();
    let mut blind = Spoken::start(&arguments(&bench, &[]), &bench.path("cache"));
    let (failed, lexical) = blind.call("search", &question);
    assert!(!failed && lexical.contains("Note: searching without vectors"), "{lexical}");
}
