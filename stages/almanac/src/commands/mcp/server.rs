//! The protocol's side of the server.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};

use super::librarian::Librarian;
use super::tools::{Call, tools};

const INSTRUCTIONS: &str = "Almanac knows one C++ codebase. Before a change call `context` with the task; for \
    a question call `search`; for one symbol or file `explain`. Paths are relative to the source tree.";

/// Answers the protocol's requests.
#[derive(Clone)]
pub(super) struct Server {
    librarian: Librarian,
}

impl Server {
    pub(super) fn new(librarian: Librarian) -> Self {
        Self { librarian }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("almanac", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools().into_iter().find(|tool| tool.name == name)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = match Call::read(&request.name, request.arguments) {
            None => {
                return Err(ErrorData::invalid_params(format!("there is no tool `{}`", request.name), None));
            }
            Some(Err(wrong)) => return Err(ErrorData::invalid_params(wrong, None)),
            Some(Ok(call)) => call,
        };
        let answer = self.librarian.answer(call).await;
        let answer = answer.ok_or_else(|| ErrorData::internal_error("the server is stopping", None))?;
        Ok(match answer {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(text) => CallToolResult::error(vec![ContentBlock::text(text)]),
        }
        .into())
    }
}
