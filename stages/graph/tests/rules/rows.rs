//! Writes rows the way a parser would, so that each rule has a tree of a few lines.

use almanac_graph::{GraphParams, GraphRows, RankParams, RankWeights, Sources, build};
use almanac_tables::{
    Edge, EdgeKind, Entity, EntityKind, File, Language, Local, Reference, ReferenceKind, SourceType,
};

/// Rows under construction; ids read `path:qualified_name`, with `#n` for the n-th repetition.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) files: Vec<File>,
    pub(crate) entities: Vec<Entity>,
    pub(crate) references: Vec<Reference>,
    pub(crate) locals: Vec<Local>,
    open: Vec<usize>,
    byte: u64,
}

impl Rows {
    /// Starts a file; what follows stands in it.
    pub(crate) fn file(&mut self, path: &str) -> &mut Self {
        assert!(self.open.is_empty(), "close what is open before {path}");
        let extension = path.rsplit('.').next().unwrap_or("");
        let (language, source_type) = match extension {
            "h" | "hpp" => (Language::Cpp, SourceType::Header),
            "cpp" => (Language::Cpp, SourceType::Source),
            "cmake" | "txt" => (Language::Cmake, SourceType::Build),
            "py" => (Language::Python, SourceType::Script),
            "in" => (Language::Text, SourceType::Configuration),
            "md" => (Language::Markdown, SourceType::Documentation),
            other => panic!("no language for .{other}"),
        };
        self.files.push(File {
            path: path.to_owned(),
            folder: path.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned(),
            language,
            source_type,
            ..File::default()
        });
        self.byte = 0;
        self
    }

    /// Adds an entity at the current place and returns its id.
    pub(crate) fn add(&mut self, kind: EntityKind, qualified: &str) -> String {
        let at = self.push(kind, qualified);
        self.entities[at].end_byte = self.byte;
        self.entities[at].id.clone()
    }

    /// Adds a function or method with its parameter list and returns its id.
    pub(crate) fn function(&mut self, kind: EntityKind, qualified: &str, parameters: &str) -> String {
        let id = self.add(kind, qualified);
        let entity = self.entities.last_mut().expect("just added");
        entity.parameters = parameters.to_owned();
        entity.signature = format!("{} {}{parameters}", entity.return_type, entity.name);
        id
    }

    /// Changes the entity added last.
    pub(crate) fn with(&mut self, change: impl FnOnce(&mut Entity)) -> &mut Self {
        change(self.entities.last_mut().expect("an entity"));
        self
    }

    /// Adds an entity that holds what follows until [`Rows::close`].
    pub(crate) fn open(&mut self, kind: EntityKind, qualified: &str) -> String {
        let at = self.push(kind, qualified);
        self.open.push(at);
        self.entities[at].id.clone()
    }

    /// Ends the innermost open entity.
    pub(crate) fn close(&mut self) -> &mut Self {
        let at = self.open.pop().expect("something open");
        self.byte += 1;
        self.entities[at].end_byte = self.byte;
        self
    }

    fn push(&mut self, kind: EntityKind, qualified: &str) -> usize {
        let file = self.files.last().expect("a file first").clone();
        let of_kind = |wanted: fn(EntityKind) -> bool| {
            let around = self.open.iter().rev().map(|&at| &self.entities[at]);
            around.into_iter().find(|entity| wanted(entity.kind)).map(|e| e.qualified_name.clone())
        };
        let namespace = of_kind(|kind| kind == EntityKind::Namespace).unwrap_or_default();
        let scope = qualified.rsplit_once("::").map_or("", |(scope, _)| scope);
        let is_method = matches!(kind, EntityKind::MethodDefinition | EntityKind::MethodDeclaration);
        let name = qualified.rsplit("::").next().unwrap_or(qualified).to_owned();
        let repetitions = self
            .entities
            .iter()
            .filter(|entity| entity.path == file.path && entity.qualified_name == qualified)
            .count();
        let suffix = if repetitions == 0 { String::new() } else { format!("#{}", repetitions + 1) };
        self.byte += 1;
        self.entities.push(Entity {
            id: format!("{}:{qualified}{suffix}", file.path),
            path: file.path,
            kind,
            qualified_name: qualified.to_owned(),
            parent: scope.to_owned(),
            class_name: if is_method { scope.to_owned() } else { String::new() },
            namespace,
            signature: if kind.is_record() { format!("class {name}") } else { String::new() },
            name,
            start_byte: self.byte,
            language: file.language,
            source_type: file.source_type,
            role: file.role,
            is_definition: !matches!(kind, EntityKind::FunctionDeclaration | EntityKind::MethodDeclaration),
            ..Entity::default()
        });
        self.byte += 1;
        self.entities.len() - 1
    }

    /// Adds a call from an entity; `written` may be qualified.
    pub(crate) fn call(&mut self, caller: &str, written: &str, arguments: u32) -> &mut Self {
        let path = self.path_of(caller);
        self.reference(&path, caller, ReferenceKind::Call, written, arguments)
    }

    /// Adds a call through an object: a local of a type, if one is given.
    pub(crate) fn call_on(
        &mut self,
        caller: &str,
        receiver: &str,
        type_text: &str,
        name: &str,
        arguments: u32,
    ) -> &mut Self {
        self.call(caller, name, arguments);
        let reference = self.references.last_mut().expect("just added");
        let is_arrow = receiver.ends_with("->");
        reference.receiver = if is_arrow { receiver.to_owned() } else { format!("{receiver}.") };
        if !type_text.is_empty() {
            self.local(caller, receiver, type_text, "");
        }
        self
    }

    /// Adds a local variable of a type, or deduced from a value.
    pub(crate) fn local(&mut self, function: &str, name: &str, type_text: &str, value: &str) -> &mut Self {
        let start_byte = self.entity(function).start_byte;
        self.locals.push(Local {
            path: self.path_of(function),
            name: name.to_owned(),
            type_text: type_text.to_owned(),
            value: value.to_owned(),
            start_byte,
            end_byte: start_byte + 1,
        });
        self
    }

    /// Adds an include as written, with its quotes or brackets.
    pub(crate) fn include(&mut self, path: &str, written: &str) -> &mut Self {
        self.reference(path, "", ReferenceKind::Include, written, 0);
        let name = written.trim_matches(['<', '>', '"']).to_owned();
        self.references.last_mut().expect("just added").name = name;
        self
    }

    fn entity(&self, id: &str) -> &Entity {
        let entity = self.entities.iter().find(|entity| entity.id == id);
        entity.unwrap_or_else(|| panic!("no entity {id}"))
    }

    fn path_of(&self, id: &str) -> String {
        self.entity(id).path.clone()
    }

    fn reference(
        &mut self,
        path: &str,
        entity_id: &str,
        kind: ReferenceKind,
        written: &str,
        arguments: u32,
    ) -> &mut Self {
        let owner = self.entities.iter().find(|entity| entity.id == entity_id);
        let start_byte = owner.map_or(0, |entity| entity.start_byte);
        self.references.push(Reference {
            path: path.to_owned(),
            start_byte,
            line: self.references.len() as u32 + 1,
            entity_id: entity_id.to_owned(),
            kind,
            name: written.rsplit("::").next().unwrap_or(written).to_owned(),
            written: written.to_owned(),
            arguments,
            ordinal: self.references.len() as u32,
            ..Reference::default()
        });
        self
    }

    /// Builds the graph with the settings of [`params`].
    pub(crate) fn build(&self) -> GraphRows {
        build(self.sources(), &params())
    }

    /// The rows as the stage reads them.
    pub(crate) fn sources(&self) -> Sources<'_> {
        let Self { files, entities, references, locals, .. } = self;
        Sources { files, entities, references, locals }
    }

    /// Edges of one kind as `source -> target`, with resolution unless it is exact.
    pub(crate) fn edges(&self, kind: EdgeKind) -> Vec<String> {
        self.build().edges.iter().filter(|edge| edge.kind == kind).map(show).collect()
    }
}

/// An edge in one line.
pub(crate) fn show(edge: &Edge) -> String {
    let resolution = match (edge.resolution.as_str(), edge.candidates) {
        ("exact", 1) => String::new(),
        (name, 1) => format!(" ({name})"),
        (name, several) => format!(" ({name}, 1 of {several})"),
    };
    format!("{} -> {}{resolution}", edge.source, edge.target)
}

/// Settings like the defaults, with short lists.
pub(crate) fn params() -> GraphParams {
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    GraphParams {
        max_candidates: 4,
        external_namespaces: texts(&["std", "Kokkos"]),
        external_prefixes: texts(&["MPI_"]),
        external_functions: texts(&["sin"]),
        external_members: texts(&["size", "push_back"]),
        rank: RankParams {
            damping: 0.85,
            tolerance: 1e-14,
            max_iterations: 500,
            weights: RankWeights { calls: 1.0, includes: 1.0, inherits: 1.0, defines: 0.5, owned: 0.25 },
        },
    }
}
