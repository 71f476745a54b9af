//! `almanac mcp`: the store and the tree for coding agents, over the Model Context Protocol.
//!
//! One thread owns index, tree and models and answers one call after the other; the protocol's tasks wait
//! for it. Nothing is written but answers.

mod difference;
mod librarian;
mod server;
mod tools;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use almanac_stage::GlobalArguments;
use almanac_terminal::ExitStatus;
use clap::Args;
use miette::IntoDiagnostic;
use rmcp::ServiceExt;
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use crate::error::Error;
use crate::project::AskedStore;
use librarian::Librarian;
use server::Server;

/// Options of `mcp`.
#[derive(Debug, Args)]
pub(crate) struct McpArguments {
    /// Source tree, read as it is at every call
    #[arg(long, value_name = "TREE")]
    source: Option<PathBuf>,
    /// Serve streamable HTTP at http://127.0.0.1:PORT/mcp in place of standard input and output; 0 takes
    /// a free port and says which
    #[arg(long, value_name = "PORT")]
    http: Option<u16>,
    #[command(flatten)]
    asked: AskedStore,
}

pub(crate) fn run(global: &GlobalArguments, arguments: &McpArguments) -> miette::Result<ExitStatus> {
    let librarian = Librarian::start(global, arguments.source.as_deref(), &arguments.asked)?;
    let server = Server::new(librarian);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .into_diagnostic()?;
    runtime.block_on(async {
        match arguments.http {
            Some(port) => http(server, port).await,
            None => stdio(server).await,
        }
    })?;
    // Reading standard input cannot be called off; nothing else is under way.
    runtime.shutdown_background();
    Ok(ExitStatus::Done)
}

async fn stdio(server: Server) -> miette::Result<()> {
    let failed = |error: String| Error::Mcp { error };
    let (input, output) = rmcp::transport::io::stdio_pipes();
    match server.serve((input, output)).await {
        Ok(running) => {
            running.waiting().await.map_err(|error| failed(error.to_string()))?;
            Ok(())
        }
        // A client that goes before it has said anything wants nothing.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(failed(error.to_string()).into()),
    }
}

async fn http(server: Server, port: u16) -> miette::Result<()> {
    let failed = |error: std::io::Error| Error::Mcp { error: error.to_string() };
    // Loopback alone, and the service refuses other hosts' names and every web page's origin.
    let listener =
        tokio::net::TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default().enforce_origin_validation(),
    );
    almanac_terminal::status("Serving", format!("http://{address}/mcp"));
    let router = axum::Router::new().nest_service("/mcp", service);
    axum::serve(listener, router).await.map_err(|error| failed(error).into())
}
