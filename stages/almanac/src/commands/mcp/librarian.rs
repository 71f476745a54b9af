//! The thread that owns index, tree and models.

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use almanac_answer::{Answer, AnswerSettings, answer, context_budget};
use almanac_catalog::{ENTITIES, EXPLAIN, INDEX, PARSE};
use almanac_freshness::tree::KnownDigests;
use almanac_inference::{LanguageModel, MistralModel};
use almanac_retrieval::estimate_tokens;
use almanac_stage::GlobalArguments;
use miette::Diagnostic;
use tokio::sync::oneshot;

use super::difference::Difference;
use super::tools::{Call, What};
use crate::budget::within_budget;
use crate::commands::context::Session;
use crate::commands::explain::portrait;
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
    /// The tree with the keys of what the store said of it.
    session: Option<(String, Session)>,
    model: Option<(String, MistralModel)>,
    digests: KnownDigests,
}

impl Desk {
    fn new(global: GlobalArguments, source: Option<PathBuf>, asked: AskedStore) -> Self {
        let digests = KnownDigests::default();
        Self { global, source, asked, project: None, knowledge: None, session: None, model: None, digests }
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
        let project = match self.project.take().filter(|project| project.store.is_some()) {
            Some(project) => project,
            None => Project::asked(&self.global, &self.asked)?,
        };
        Ok(self.project.insert(project))
    }

    fn knowledge(&mut self) -> miette::Result<&Knowledge> {
        let key = keys(self.project()?, &[INDEX.artifact])?;
        // An old one goes before the new one comes: two at once may be more than fits.
        let knowledge = match self.knowledge.take().filter(|(known, _)| *known == key) {
            Some((_, knowledge)) => knowledge,
            None => Knowledge::open(self.project()?)?,
        };
        Ok(&self.knowledge.insert((key, knowledge)).1)
    }

    fn search(&mut self, query: &str, budget: usize) -> miette::Result<String> {
        let state = self.state()?;
        let knowledge = self.knowledge()?;
        let mut text = state.said(knowledge);
        let room = budget.saturating_sub(estimate_tokens(&text));
        let found = knowledge.search(query, Some(room), Some(&estimate_tokens))?;
        text.push_str(&state.of(found.files.iter().map(String::as_str)));
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
        let told = [PARSE.artifact, EXPLAIN.artifact, ENTITIES.artifact];
        // Without a store the tree is enough; what is wrong with one, the tools that need it tell.
        let key = self.project().and_then(|project| keys(project, &told)).unwrap_or_default();
        let mut session = match self.session.take().filter(|(known, _)| *known == key) {
            Some((_, session)) => session,
            None => {
                let store = self.project.as_ref().filter(|_| !key.is_empty());
                Session::open(&self.global, &source, store)?
            }
        };
        // The tree may have changed since the last call; what was read of it is kept by content.
        let answer = session.fresh(budget).answer(task, commit);
        session.keep();
        self.session = Some((key, session));
        let package = answer?.package;
        let notes = package.state.diagnostics.iter().map(|note| format!("Note: {note}\n"));
        Ok(notes.collect::<String>() + &package.context)
    }

    fn explain(&mut self, name: &str, budget: usize) -> miette::Result<String> {
        let state = self.state()?;
        let found = portrait(&self.knowledge()?.index, name)?;
        let text = state.line.clone() + &state.of(std::iter::once(found.path()));
        let room = budget.saturating_sub(estimate_tokens(&text));
        Ok(text + &found.text(room))
    }

    fn ask(&mut self, question: &str, budget: usize) -> miette::Result<String> {
        let state = self.state()?;
        let project = self.project()?;
        let settings: AnswerSettings = project.settings.section("answer")?;
        let prompt = project.settings.prompt(&settings.prompt)?;
        let name = answering_model(&project.settings)?;
        let model = match self.model.take().filter(|(known, _)| *known == name) {
            Some((_, model)) => model,
            None => self.project()?.models.language_model(&name, 1)?,
        };
        let answered = self.answered(question, budget, &settings, &prompt.text, &model);
        self.model = Some((name.clone(), model));
        let (answered, files) = answered?;
        let mut text = state.said(self.knowledge()?) + &state.of(files.iter().map(String::as_str));
        text.push_str(&format!("{}\n\nSources (answered by {name}):\n", answered.text));
        for source in &answered.sources {
            let mark = if source.cited { "cited" } else { "read" };
            text.push_str(&format!("  {}:{}-{} ({mark})\n", source.path, source.start_line, source.end_line));
        }
        for unsupported in &answered.unsupported {
            text.push_str(&format!("  not in the sources: {unsupported}\n"));
        }
        Ok(text)
    }

    /// An answer, and the files it was made from.
    fn answered(
        &mut self,
        question: &str,
        budget: usize,
        settings: &AnswerSettings,
        prompt: &str,
        model: &MistralModel,
    ) -> miette::Result<(Answer, Vec<String>)> {
        let knowledge = self.knowledge()?;
        let wanted = settings.budget_here(knowledge.settings.budget_tokens).min(budget);
        let room = context_budget(model, prompt, question, settings)?.min(wanted);
        let count = |text: &str| model.count_tokens(text).unwrap_or(text.len());
        let found = knowledge.search(question, Some(room), Some(&count))?;
        let answered = answer(&knowledge.index, &found, model, prompt, settings, &mut |_| {})?;
        Ok((answered, found.files))
    }

    fn status(&mut self) -> miette::Result<String> {
        let state = self.state()?;
        let source = self.source.clone();
        let said = state.said(self.knowledge()?);
        Ok(said + &status::summary(self.project()?, source.as_deref())?)
    }

    /// How the tree differs from what the store was built from.
    fn state(&mut self) -> miette::Result<Difference> {
        let Some(source) = self.source.clone() else { return Ok(Difference::default()) };
        let digests = std::mem::take(&mut self.digests);
        let (tree, digests) = self.project()?.scan_again(&source, &digests)?;
        self.digests = digests;
        Ok(Difference::between(&self.knowledge()?.index.tables().files, &tree))
    }
}

/// Keys of the current artifacts with these names, one after the other; empty without a store.
fn keys(project: &Project, artifacts: &[&str]) -> miette::Result<String> {
    let Some(store) = &project.store else { return Ok(String::new()) };
    let mut keys = String::new();
    for artifact in artifacts {
        if let Some(current) = store.read_ref(&project.asked_profile, artifact)? {
            keys.push_str(&current.key.to_string());
        }
    }
    Ok(keys)
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
