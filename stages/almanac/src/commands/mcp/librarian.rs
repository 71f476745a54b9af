//! The thread that owns index, tree and models.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use almanac_answer::{AnswerSettings, answer, context_budget};
use almanac_catalog::INDEX;
use almanac_freshness::tree::TreeFile;
use almanac_inference::{LanguageModel, MistralModel};
use almanac_retrieval::estimate_tokens;
use almanac_stage::GlobalArguments;
use miette::Diagnostic;
use tokio::sync::oneshot;

use super::tools::{Call, What};
use crate::commands::context::Session;
use crate::commands::explain::{portrait, within_budget};
use crate::commands::status;
use crate::error::Error;
use crate::knowledge::{Knowledge, answering_model};
use crate::project::{AskedStore, Project};

/// What a tool says: its text, or what went wrong and what to do.
type Said = Result<String, String>;

struct Question {
    call: Call,
    reply: oneshot::Sender<Said>,
}

/// A hand on the thread.
#[derive(Clone)]
pub(super) struct Librarian(mpsc::Sender<Question>);

impl Librarian {
    /// Starts the thread. A store that is not there, or cannot be opened, is told by the calls that want it.
    pub(super) fn start(
        global: &GlobalArguments,
        source: Option<&Path>,
        asked: &AskedStore,
    ) -> miette::Result<Self> {
        // Wrong settings are told at once.
        global.settings(&[])?;
        let (sender, questions) = mpsc::channel::<Question>();
        let (global, source, asked) = (global.clone(), source.map(Path::to_owned), asked.clone());
        let work = move || {
            let mut desk = Desk::new(global, source, asked);
            for Question { call, reply } in questions {
                // One bad call must not end the others.
                let said = std::panic::catch_unwind(AssertUnwindSafe(|| desk.answer(&call)));
                let said = said.unwrap_or_else(|_| {
                    desk.forget();
                    Err("this call met a fault of the program; the next ones are answered".to_owned())
                });
                // A client that went does not want it any more.
                let _ = reply.send(said);
            }
        };
        std::thread::Builder::new()
            .name("librarian".to_owned())
            .spawn(work)
            .map_err(|error| Error::Mcp { error: error.to_string() })?;
        Ok(Self(sender))
    }

    /// Asks, and waits for its turn; `None` when the thread is gone.
    pub(super) async fn answer(&self, call: Call) -> Option<Said> {
        let (reply, said) = oneshot::channel();
        self.0.send(Question { call, reply }).ok()?;
        said.await.ok()
    }
}

/// What the thread has open.
struct Desk {
    global: GlobalArguments,
    source: Option<PathBuf>,
    asked: AskedStore,
    project: Option<Project>,
    /// The index with its key, for it may be built anew meanwhile.
    knowledge: Option<(String, Knowledge)>,
    session: Option<Session>,
    model: Option<(String, MistralModel)>,
}

impl Desk {
    fn new(global: GlobalArguments, source: Option<PathBuf>, asked: AskedStore) -> Self {
        Self { global, source, asked, project: None, knowledge: None, session: None, model: None }
    }

    fn forget(&mut self) {
        *self = Self::new(self.global.clone(), self.source.clone(), self.asked.clone());
    }

    fn answer(&mut self, call: &Call) -> Said {
        let budget = call.max_tokens;
        let said = match &call.what {
            What::Search(query) => self.search(query, budget),
            What::Context { task, commit } => self.context(task, commit.as_deref(), budget),
            What::Explain(name) => self.explain(name, budget),
            What::Ask(question) => self.ask(question, budget),
            What::Status => self.status(),
        };
        match said {
            Ok(text) => Ok(within_budget(text, budget)),
            Err(report) => Err(within_budget(told(&report), budget)),
        }
    }

    fn project(&mut self) -> miette::Result<&Project> {
        // A store that was not there at the last call may be there now.
        if self.project.as_ref().is_none_or(|project| project.store.is_none()) {
            self.project = Some(Project::asked(&self.global, &self.asked)?);
        }
        self.project.as_ref().ok_or_else(|| Error::NoQuery.into())
    }

    fn knowledge(&mut self) -> miette::Result<&Knowledge> {
        let project = self.project()?;
        let current = project.existing_store()?.read_ref(&project.asked_profile, INDEX.artifact)?;
        let key = current.map(|current| current.key.to_string()).unwrap_or_default();
        if self.knowledge.as_ref().is_none_or(|(known, _)| *known != key) {
            // The old one goes first: two at once may be more than fits.
            self.knowledge = None;
            let opened = Knowledge::open(self.project()?)?;
            self.knowledge = Some((key, opened));
        }
        match &self.knowledge {
            Some((_, knowledge)) => Ok(knowledge),
            None => Err(Error::NoQuery.into()),
        }
    }

    fn search(&mut self, query: &str, budget: usize) -> miette::Result<String> {
        let state = self.state()?;
        let found = self.knowledge()?.search(
            query,
            Some(budget.saturating_sub(estimate_tokens(&state))),
            Some(&estimate_tokens),
        )?;
        let mut text = state;
        if !found.evidence {
            text.push_str(
                "Nothing in this codebase speaks of what was asked; these are the nearest things.\n",
            );
        }
        if !found.unknown_words.is_empty() {
            text.push_str(&format!("Not in this codebase: {}\n", found.unknown_words.join(", ")));
        }
        text.push_str(&found.context);
        Ok(text)
    }

    fn context(&mut self, task: &str, commit: Option<&str>, budget: usize) -> miette::Result<String> {
        let source = self.source.clone().ok_or(Error::NoTree)?;
        if self.session.is_none() {
            self.session = Some(Session::open(&self.global, &source, &self.asked)?);
        }
        let Some(session) = &mut self.session else { return Err(Error::NoTree.into()) };
        // The tree may have changed since the last call; what was read of it is kept by content.
        let answer = session.fresh(budget).answer(task, commit)?;
        Ok(answer.package.context)
    }

    fn explain(&mut self, name: &str, budget: usize) -> miette::Result<String> {
        let state = self.state()?;
        let text =
            portrait(&self.knowledge()?.index, name)?.text(budget.saturating_sub(estimate_tokens(&state)));
        Ok(state + &text)
    }

    fn ask(&mut self, question: &str, budget: usize) -> miette::Result<String> {
        let state = self.state()?;
        self.knowledge()?;
        let project = self.project()?;
        let settings: AnswerSettings = project.settings.section("answer")?;
        let prompt = project.settings.prompt(&settings.prompt)?;
        let name = answering_model(&project.settings)?;
        if self.model.as_ref().is_none_or(|(known, _)| *known != name) {
            let model = self.project()?.models.language_model(&name, 1)?;
            self.model = Some((name, model));
        }
        let (Some((_, knowledge)), Some((name, model))) = (&self.knowledge, &self.model) else {
            return Err(Error::NoQuery.into());
        };
        let wanted = settings.budget_here(knowledge.settings.budget_tokens).min(budget);
        let room = context_budget(model, &prompt.text, question, &settings)?.min(wanted);
        let count = |text: &str| model.count_tokens(text).unwrap_or(text.len());
        let found = knowledge.search(question, Some(room), Some(&count))?;
        let answered = answer(&knowledge.index, &found, model, &prompt.text, &settings, &mut |_| {})?;
        let mut text = format!("{state}{}\n\nSources (answered by {name}):\n", answered.text);
        for source in &answered.sources {
            let mark = if source.cited { "cited" } else { "read" };
            text.push_str(&format!("  {}:{}-{} ({mark})\n", source.path, source.start_line, source.end_line));
        }
        for unsupported in &answered.unsupported {
            text.push_str(&format!("  not in the sources: {unsupported}\n"));
        }
        Ok(text)
    }

    fn status(&mut self) -> miette::Result<String> {
        let state = self.state()?;
        let source = self.source.clone();
        let report = status::summary(self.project()?, source.as_deref())?;
        Ok(state + &report)
    }

    /// Which state of the tree the store speaks of, in a line.
    fn state(&mut self) -> miette::Result<String> {
        const NAMED: usize = 8;
        let Some(source) = self.source.clone() else { return Ok(String::new()) };
        let tree = self.project()?.scan(&source)?;
        let there: BTreeMap<&str, String> =
            tree.files.iter().map(|file| (file.path.as_str(), digest_of(file))).collect();
        let files = &self.knowledge()?.index.tables().files;
        let known: BTreeMap<&str, &str> =
            files.iter().map(|file| (file.path.as_str(), file.content_digest.as_str())).collect();
        let mut differing: Vec<String> = Vec::new();
        for (path, digest) in &there {
            match known.get(path) {
                None => differing.push(format!("{path} (new)")),
                Some(known) if known != digest => differing.push(format!("{path} (changed)")),
                Some(_) => {}
            }
        }
        differing.extend(
            known.keys().filter(|path| !there.contains_key(*path)).map(|path| format!("{path} (gone)")),
        );
        if differing.is_empty() {
            return Ok("The store is of the tree as it is.\n\n".to_owned());
        }
        let more = differing.len().saturating_sub(NAMED);
        let named = differing.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Ok(format!("The store is older than the tree: {named}{more}. `context` reads the tree itself.\n\n"))
    }
}

/// Digest as the store has it: empty for a file that was not read.
fn digest_of(file: &TreeFile) -> String {
    file.digest.as_ref().map(ToString::to_string).unwrap_or_default()
}

/// An error with its causes and what to do.
fn told(report: &miette::Report) -> String {
    let mut text = report.to_string();
    for cause in report.chain().skip(1) {
        text.push_str(&format!(": {cause}"));
    }
    let diagnostic: &dyn Diagnostic = report.as_ref();
    if let Some(help) = diagnostic.help() {
        text.push_str(&format!("\nhint: {help}"));
    }
    text
}
