//! Servers that others wrote: the reference servers from npm and PyPI, in the versions that `servers/package.json` and
//! `servers/requirements.txt` name, over both ways of talking. `./check servers` installs them and says where.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod support;

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use contract::server_tool::ServerTool;
use mcp::{Launch, McpError};
use serde_json::{Value, json};
use support::{Stand, named, stand};

/// Where they are installed.
fn installed() -> PathBuf {
    PathBuf::from(std::env::var_os("TEPA_MCP_SERVERS").expect("run it with ./check servers"))
}

fn npm(name: &str) -> Vec<String> {
    let script = installed()
        .join("node_modules/@modelcontextprotocol")
        .join(name)
        .join("dist/index.js");
    vec!["node".to_owned(), script.display().to_string()]
}

fn pypi(name: &str) -> Vec<String> {
    vec![installed().join("python/bin").join(name).display().to_string()]
}

/// A stand with one server that is started by these words.
fn with(mut words: Vec<String>, more: &[&str]) -> Stand {
    let stand = stand();
    words.extend(more.iter().map(|word| (*word).to_owned()));
    let command = words.remove(0);
    let launch = Launch::Program {
        command,
        args: words,
        variables: Vec::new(),
        folder: None,
        hidden: Vec::new(),
    };
    stand.add("it", launch, &[]);
    stand
}

fn names(tools: &[ServerTool]) -> Vec<&str> {
    tools.iter().map(|tool| tool.tool.as_str()).collect()
}

fn text(said: &Value) -> &str {
    said["text"].as_str().unwrap()
}

#[tokio::test]
async fn the_filesystem_server_reads_and_writes_in_its_folder_only() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    std::fs::write(real.join("a.txt"), "one\ntwo\n").unwrap();
    let stand = with(npm("server-filesystem"), &[&real.display().to_string()]);
    let tools = stand.approve("it").await;
    let read = named(&tools, "read_text_file");
    let said = stand.call(read, json!({ "path": real.join("a.txt") })).await.unwrap();
    assert!(text(&said).contains("one\ntwo"), "{said}");
    let write = named(&tools, "write_file");
    stand
        .call(write, json!({ "path": real.join("b.txt"), "content": "new" }))
        .await
        .unwrap();
    assert_eq!(std::fs::read_to_string(real.join("b.txt")).unwrap(), "new");
    let refused = stand.call(read, json!({ "path": "/etc/passwd" })).await.unwrap_err();
    assert!(
        matches!(&refused, McpError::Failed(why) if why.contains("denied")),
        "{refused}"
    );
}

#[tokio::test]
async fn the_memory_server_remembers() {
    let folder = tempfile::tempdir().unwrap();
    let stand = stand();
    let mut words = npm("server-memory");
    let launch = Launch::Program {
        command: words.remove(0),
        args: words,
        variables: vec!["MEMORY_FILE_PATH".to_owned()],
        folder: None,
        hidden: Vec::new(),
    };
    let file = folder.path().join("memory.json").display().to_string();
    stand.add("it", launch, &[("MEMORY_FILE_PATH", &file)]);
    let tools = stand.approve("it").await;
    let entity = json!({ "name": "Ada", "entityType": "person", "observations": ["likes tables"] });
    let create = named(&tools, "create_entities");
    stand.call(create, json!({ "entities": [entity] })).await.unwrap();
    stand.servers.end_all();
    let said = stand.call(named(&tools, "read_graph"), json!({})).await.unwrap();
    assert!(said.to_string().contains("likes tables"), "{said}");
}

#[tokio::test]
async fn the_time_server_knows_the_time_and_says_what_it_does_not_know() {
    let stand = with(pypi("mcp-server-time"), &["--local-timezone=Europe/Vienna"]);
    let tools = stand.approve("it").await;
    assert_eq!(names(&tools), ["get_current_time", "convert_time"]);
    let convert = named(&tools, "convert_time");
    let args = json!({ "source_timezone": "Europe/Vienna", "time": "12:00", "target_timezone": "Asia/Tokyo" });
    let said = stand.call(convert, args).await.unwrap();
    assert!(text(&said).contains("Asia/Tokyo"), "{said}");
    let args = json!({ "source_timezone": "Nowhere/Land", "time": "12:00", "target_timezone": "Asia/Tokyo" });
    let refused = stand.call(convert, args).await.unwrap_err();
    assert!(refused.to_string().to_lowercase().contains("timezone"), "{refused}");
}

#[tokio::test]
async fn the_fetch_server_offers_what_it_offers() {
    let stand = with(pypi("mcp-server-fetch"), &[]);
    let tools = stand.approve("it").await;
    assert_eq!(names(&tools), ["fetch"]);
    // There is nothing at this address, which is a failure of the tool and not of the server.
    let args = json!({ "url": "http://127.0.0.1:9/" });
    assert!(matches!(stand.call(&tools[0], args).await, Err(McpError::Failed(_))));
    assert!(stand.servers.standing("it").running);
}

#[tokio::test]
async fn the_everything_server_is_understood_in_all_that_it_returns() {
    let stand = with(npm("server-everything"), &["stdio"]);
    let tools = stand.approve("it").await;
    let said = stand
        .call(named(&tools, "echo"), json!({ "message": "hello" }))
        .await
        .unwrap();
    assert!(text(&said).contains("hello"), "{said}");
    let image = stand.call(named(&tools, "get-tiny-image"), json!({})).await.unwrap();
    assert_eq!(image["others"][0]["kind"], "image", "{image}");
    let structured = stand
        .call(
            named(&tools, "get-structured-content"),
            json!({ "location": "New York" }),
        )
        .await
        .unwrap();
    assert!(structured["structured"].is_object(), "{structured}");
    println!("stdio speaks {}", stand.servers.look("it").await.unwrap().protocol);
}

/// A server at an address of this computer; ended when it is dropped.
struct Serving(Child, u16);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn serving() -> Serving {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let mut words = npm("server-everything");
    let child = Command::new(words.remove(0))
        .args(words)
        .arg("streamableHttp")
        .env("PORT", port.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let serving = Serving(child, port);
    while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        tokio::task::yield_now().await;
    }
    serving
}

#[tokio::test]
async fn a_server_at_an_address_is_asked_over_http() {
    let serving = serving().await;
    let stand = stand();
    let url = format!("http://127.0.0.1:{}/mcp", serving.1);
    let launch = Launch::Address {
        url,
        headers: vec!["X-Token".to_owned()],
        hidden: Vec::new(),
    };
    stand.add("it", launch, &[("X-Token", "sk-canary")]);
    let tools = stand.approve("it").await;
    let echo = named(&tools, "echo");
    let calls = (0..4).map(|n| stand.call(echo, json!({ "message": format!("hello {n}") })));
    for (n, said) in futures::future::join_all(calls).await.into_iter().enumerate() {
        let said = said.unwrap();
        assert!(text(&said).contains(&format!("hello {n}")), "{said}");
    }
    println!("http speaks {}", stand.servers.look("it").await.unwrap().protocol);
    drop(serving);
    let gone = stand.call(echo, json!({ "message": "x" })).await;
    assert!(gone.is_err(), "{gone:?}");
}

#[tokio::test]
async fn what_is_no_server_says_so() {
    // An address where nobody listens any more.
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let stand = stand();
    let launch = Launch::Address {
        url: format!("http://{nobody}/mcp"),
        headers: Vec::new(),
        hidden: Vec::new(),
    };
    stand.add("it", launch, &[]);
    let error = stand.servers.look("it").await.unwrap_err();
    assert!(matches!(&error, McpError::NotStarted { .. }), "{error}");
}
