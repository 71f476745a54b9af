//! The rows seen as a tree: positions, lexical nesting and names in comparable form.

use rustc_hash::FxHashMap;

use almanac_tables::{Entity, EntityKind, File, Language};

use crate::names::{
    Parameter, after_parameters, is_const_member, join, parameters, plain, scope_and_name, split_declarator,
    template_parameter_names, tokens, without_anonymous,
};
use crate::syntax::{Reference, TypeText};

/// Languages whose names may refer to one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Family {
    /// C, C++, CUDA, HIP.
    Native,
    /// CMake.
    Build,
    /// Python.
    Python,
    /// Fortran.
    Fortran,
    /// Documents and everything without references between names.
    Text,
}

impl Family {
    pub(crate) fn of(language: Language) -> Self {
        match language {
            Language::Cpp | Language::C | Language::Cuda | Language::Hip => Self::Native,
            Language::Cmake => Self::Build,
            Language::Python => Self::Python,
            Language::Fortran => Self::Fortran,
            Language::Markdown | Language::Rst | Language::Text => Self::Text,
        }
    }
}

/// What the graph needs of an entity besides its row.
#[derive(Debug)]
pub(crate) struct Facts<'a> {
    /// Position of its file.
    pub(crate) file: usize,
    /// Language family.
    pub(crate) family: Family,
    /// Innermost entity around it in its file.
    pub(crate) around: Option<usize>,
    /// Name without template arguments.
    pub(crate) name: String,
    /// Scope with namespaces and classes, without template arguments and anonymous parts.
    pub(crate) scope: String,
    /// Parameters of a callable or function-like macro.
    pub(crate) parameters: Vec<Parameter<'a>>,
    /// Type of a variable or field, result of a callable, target of an alias.
    pub(crate) type_text: TypeText<'a>,
    /// Whether it is a `const` member function.
    pub(crate) is_const: bool,
    /// `&` or `&&` after its parameters.
    pub(crate) reference: Reference,
    /// Names of its template parameters, of all heads.
    pub(crate) template_names: Vec<&'a str>,
}

impl Facts<'_> {
    /// Whether its file has a row.
    pub(crate) fn has_file(&self) -> bool {
        self.file != NO_FILE
    }

    /// Scope and name.
    pub(crate) fn qualified(&self) -> String {
        join(&self.scope, &self.name)
    }
}

/// The rows with positions in place of names. Entities are in table order.
pub(crate) struct Tree<'a> {
    pub(crate) files: &'a [File],
    pub(crate) entities: &'a [Entity],
    pub(crate) facts: Vec<Facts<'a>>,
    file_of_path: FxHashMap<&'a str, usize>,
    /// The entities of each path.
    of_path: FxHashMap<&'a str, (usize, usize)>,
    entity_of_id: FxHashMap<&'a str, usize>,
}

impl<'a> Tree<'a> {
    /// Reads the rows. Entities whose file has no row are kept out of every relation.
    pub(crate) fn new(files: &'a [File], entities: &'a [Entity]) -> Self {
        let file_of_path: FxHashMap<&str, usize> =
            files.iter().enumerate().map(|(at, file)| (file.path.as_str(), at)).collect();
        let entity_of_id = entities.iter().enumerate().map(|(at, entity)| (entity.id.as_str(), at)).collect();
        let around = lexical_parents(entities);
        let facts = entities
            .iter()
            .zip(around)
            .map(|(entity, around)| facts_of(entity, around, &file_of_path))
            .collect();
        let mut of_path: FxHashMap<&str, (usize, usize)> = FxHashMap::default();
        for (at, entity) in entities.iter().enumerate() {
            of_path.entry(&entity.path).or_insert((at, at)).1 = at + 1;
        }
        Self { files, entities, facts, file_of_path, of_path, entity_of_id }
    }

    pub(crate) fn file(&self, path: &str) -> Option<usize> {
        self.file_of_path.get(path).copied()
    }

    pub(crate) fn entity(&self, id: &str) -> Option<usize> {
        self.entity_of_id.get(id).copied()
    }

    /// Entities of code, with a file row, in table order.
    pub(crate) fn code_entities(&self) -> impl Iterator<Item = usize> {
        (0..self.entities.len())
            .filter(|&at| self.facts[at].family != Family::Text && self.facts[at].file != NO_FILE)
    }

    /// `entity` and the entities around it, innermost first.
    pub(crate) fn outward(&self, entity: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(entity), |&at| self.facts[at].around)
    }

    /// Whether a callable is a function of a namespace; a friend is one, though a class is around it.
    pub(crate) fn is_free(&self, at: usize) -> bool {
        let is_function = matches!(
            self.entities[at].kind,
            EntityKind::FunctionDefinition | EntityKind::FunctionDeclaration
        );
        let around = self.facts[at].around.map(|outer| self.entities[outer].kind);
        is_function && around.is_none_or(|kind| kind == EntityKind::Namespace || kind.is_record())
    }

    /// Innermost entity around a byte of a file.
    pub(crate) fn innermost(&self, path: &str, byte: u64) -> Option<usize> {
        let &(first, end) = self.of_path.get(path)?;
        let own = &self.entities[first..end];
        let last = own.partition_point(|entity| entity.start_byte <= byte).checked_sub(1)?;
        self.outward(first + last).find(|&at| byte < self.entities[at].end_byte)
    }

    /// Number of leading folders two files share.
    pub(crate) fn shared_folders(&self, one: usize, other: usize) -> usize {
        let parts = |file: usize| self.files[file].folder.split('/');
        parts(one).zip(parts(other)).take_while(|(one, other)| one == other).count()
    }
}

/// Stands for the file of an entity whose file has no row.
pub(crate) const NO_FILE: usize = usize::MAX;

fn facts_of<'a>(entity: &'a Entity, around: Option<usize>, files: &FxHashMap<&str, usize>) -> Facts<'a> {
    let family = Family::of(entity.language);
    let is_code = family != Family::Text;
    let qualified = if is_code { plain(&entity.qualified_name) } else { String::new() };
    let name = if is_code { plain(&entity.name) } else { String::new() };
    let name = if name.is_empty() { scope_and_name(&qualified).1.to_owned() } else { name };
    let has_parameters = entity.kind.is_callable() || entity.kind == EntityKind::Macro;
    Facts {
        file: files.get(entity.path.as_str()).copied().unwrap_or(NO_FILE),
        family,
        around,
        scope: if is_code { scope_of(entity, &qualified) } else { String::new() },
        name,
        parameters: if has_parameters { parameters(&entity.parameters) } else { Vec::new() },
        is_const: has_parameters && is_const_member(&entity.signature, &entity.parameters),
        reference: if has_parameters { reference_of_member(entity) } else { Reference::None },
        template_names: template_parameter_names(&entity.template_parameters),
        type_text: if is_code { type_text(entity) } else { TypeText::DEDUCED },
    }
}

/// `&` or `&&` that a member function ends with.
fn reference_of_member(entity: &Entity) -> Reference {
    let tail = after_parameters(&entity.signature, &entity.parameters);
    let words = tokens(tail.split(['=', '{', ';']).next().unwrap_or(""));
    let qualifiers = words.into_iter().take_while(|word| !matches!(*word, "-" | ":" | "("));
    qualifiers.fold(Reference::None, |found, word| match word {
        "&" => Reference::Left,
        "&&" => Reference::Right,
        _ => found,
    })
}

/// The type an entity has or stands for, as the parser gives it, else as its signature shows.
fn type_text(entity: &Entity) -> TypeText<'_> {
    let signature = entity.signature.as_str();
    let written = entity.return_type.trim();
    match entity.kind {
        EntityKind::Alias if !written.is_empty() => TypeText::read(written),
        EntityKind::Alias => TypeText::read(alias_text(signature)),
        EntityKind::Field | EntityKind::Variable => {
            let head = signature.split(['=', '{', ';', '[']).next().unwrap_or("");
            let written = if written.is_empty() { split_declarator(head).0 } else { written };
            let mut text = TypeText::read(written);
            let after = head.len();
            if signature[after..].starts_with('[') && head.trim_end().ends_with(entity.name.as_str()) {
                text.pointers = text.pointers.saturating_add(1);
            }
            text
        }
        kind if kind.is_callable() => {
            let is_deduced = matches!(written, "" | "auto");
            let trailing = signature.rsplit_once("->").filter(|_| is_deduced);
            TypeText::read(trailing.map_or(written, |(_, text)| text))
        }
        _ => TypeText::DEDUCED,
    }
}

/// The type on the right of `using X = …` or on the left of a typedef's name.
fn alias_text(signature: &str) -> &str {
    let text = signature.trim().trim_end_matches(';').trim_end();
    let using = text.rfind("using ").map(|at| &text[at..]);
    if let Some((_, target)) = using.and_then(|text| text.split_once('=')) {
        return target.trim();
    }
    let typedef = text.rfind("typedef").map_or(text, |at| &text[at + "typedef".len()..]);
    split_declarator(typedef).0
}

/// Scope of an entity: its qualified name's, or namespace and class where that says more.
fn scope_of(entity: &Entity, qualified: &str) -> String {
    let scope = without_anonymous(scope_and_name(qualified).0);
    let namespace = without_anonymous(&plain(&entity.namespace));
    let class = without_anonymous(&plain(&entity.class_name));
    let class = match class.strip_prefix(namespace.as_str()) {
        Some(rest) if rest.starts_with("::") => class.clone(),
        _ if class.is_empty() => namespace,
        _ => join(&namespace, &class),
    };
    if class.len() > scope.len() && class.ends_with(&scope) { class } else { scope }
}

/// Innermost entity around each one, by byte ranges within its file.
fn lexical_parents(entities: &[Entity]) -> Vec<Option<usize>> {
    let mut order: Vec<usize> = (0..entities.len()).collect();
    order.sort_by(|&one, &other| {
        let key = |at: usize| {
            let entity = &entities[at];
            (entity.path.as_str(), entity.start_byte, std::cmp::Reverse(entity.end_byte), at)
        };
        key(one).cmp(&key(other))
    });
    let mut parents = vec![None; entities.len()];
    let mut open: Vec<usize> = Vec::new();
    for at in order {
        let entity = &entities[at];
        while open.last().is_some_and(|&outer| {
            entities[outer].path != entity.path || entities[outer].end_byte < entity.end_byte
        }) {
            open.pop();
        }
        parents[at] = open.last().copied();
        open.push(at);
    }
    parents
}
