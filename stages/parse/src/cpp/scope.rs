//! Where a declaration stands: namespaces, classes and, for local classes, functions.

use std::rc::Rc;

use almanac_tables::Access;

use crate::names::join;
use crate::rows::EntityAt;
use crate::surroundings::Around;

/// The scopes around a declaration; cheap to copy.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    path: Rc<Path>,
    /// Innermost entity around.
    pub(crate) owner: Option<EntityAt>,
    /// Names of template parameters in sight.
    template_names: Rc<Vec<String>>,
    /// Access of the members being declared.
    pub(crate) access: Access,
    /// Whether it stands in an `extern "C"` block.
    pub(crate) is_c: bool,
}

#[derive(Debug, Clone, Default)]
struct Path {
    namespaces: Vec<String>,
    /// Enclosing function of a local class, qualified below the namespaces.
    function: String,
    classes: Vec<ClassScope>,
    /// All of it, joined.
    qualified: String,
}

#[derive(Debug, Clone)]
struct ClassScope {
    name: String,
    /// Name with template arguments, of a specialisation.
    specialisation: Option<String>,
}

/// Names inside names beyond which a path grows no further: nobody's code has so many, and every
/// prefix of a path is kept.
const DEEPEST: usize = 256;

impl Path {
    fn new(mut namespaces: Vec<String>, function: String, mut classes: Vec<ClassScope>) -> Rc<Self> {
        namespaces.truncate(DEEPEST);
        classes.truncate(DEEPEST - namespaces.len());
        let parts = namespaces.iter().map(String::as_str).chain([function.as_str()]);
        let qualified = join(parts.chain(classes.iter().map(|class| class.name.as_str())));
        Rc::new(Self { namespaces, function, classes, qualified })
    }

    fn classes_joined(&self) -> String {
        join(self.classes.iter().map(|class| class.name.as_str()))
    }
}

impl Scope {
    /// The scopes in which a file is read: those it is included in, or top level.
    pub(crate) fn all_around(around: &[Around]) -> Vec<Self> {
        if around.is_empty() {
            return vec![Self::default()];
        }
        let names = |scope: &Around, is_class: bool| -> Vec<String> {
            scope.iter().filter(|part| part.is_class == is_class).map(|part| part.name.clone()).collect()
        };
        let inside = |scope: &Around| {
            let classes = names(scope, true);
            let access = if classes.is_empty() { Access::None } else { Access::Public };
            Self::default().in_qualifier(&names(scope, false), &classes).with_access(access)
        };
        around.iter().map(inside).collect()
    }

    /// Inside a namespace; no names for an anonymous one.
    pub(crate) fn in_namespace(&self, names: &[String], owner: EntityAt) -> Self {
        let mut namespaces = self.path.namespaces.clone();
        namespaces.extend_from_slice(names);
        let path = Path::new(namespaces, self.path.function.clone(), self.path.classes.clone());
        Self { path, owner: Some(owner), ..self.clone() }
    }

    /// Inside a class, `specialisation` being its name with template arguments if it has any.
    pub(crate) fn in_class(&self, name: &str, specialisation: Option<String>, owner: EntityAt) -> Self {
        let mut classes = self.path.classes.clone();
        classes.push(ClassScope { name: name.to_owned(), specialisation });
        let path = Path::new(self.path.namespaces.clone(), self.path.function.clone(), classes);
        Self { path, owner: Some(owner), access: Access::Public, ..self.clone() }
    }

    /// Inside classes named by a qualifier: `A::B::f`.
    pub(crate) fn in_qualifier(&self, namespaces: &[String], classes: &[String]) -> Self {
        let mut all_namespaces = self.path.namespaces.clone();
        all_namespaces.extend_from_slice(namespaces);
        let mut all_classes = self.path.classes.clone();
        let class = |name: &String| ClassScope { name: name.clone(), specialisation: None };
        all_classes.extend(classes.iter().map(class));
        let path = Path::new(all_namespaces, self.path.function.clone(), all_classes);
        Self { path, access: Access::None, ..self.clone() }
    }

    /// Inside a function.
    pub(crate) fn in_function(&self, name: &str, owner: EntityAt) -> Self {
        let classes = self.path.classes_joined();
        let function = join([self.path.function.as_str(), &classes, name]);
        let path = Path::new(self.path.namespaces.clone(), function, Vec::new());
        Self { path, owner: Some(owner), access: Access::None, is_c: false, ..self.clone() }
    }

    /// The namespace around the classes, for a friend.
    pub(crate) fn around_classes(&self) -> Self {
        let path = Path::new(self.path.namespaces.clone(), self.path.function.clone(), Vec::new());
        Self { path, access: Access::None, ..self.clone() }
    }

    /// With more template parameters in sight.
    pub(crate) fn with_templates(&self, names: Vec<String>) -> Self {
        if names.is_empty() {
            return self.clone();
        }
        let mut all = self.template_names.as_ref().clone();
        all.extend(names);
        Self { template_names: Rc::new(all), ..self.clone() }
    }

    /// For members of this access.
    pub(crate) fn with_access(&self, access: Access) -> Self {
        Self { access, ..self.clone() }
    }

    /// In an `extern "C"` block.
    pub(crate) fn with_c_linkage(&self) -> Self {
        Self { is_c: true, ..self.clone() }
    }

    /// Whether a name is that of a template parameter in sight.
    pub(crate) fn is_template_parameter(&self, name: &str) -> bool {
        self.template_names.iter().any(|parameter| parameter == name)
    }

    /// Name of the innermost class.
    pub(crate) fn innermost_class(&self) -> &str {
        self.path.classes.last().map_or("", |class| class.name.as_str())
    }

    /// Whether members of a class are being declared.
    pub(crate) fn is_class(&self) -> bool {
        !self.path.classes.is_empty()
    }

    /// Innermost class with its template arguments, when it or one around it is a specialisation.
    pub(crate) fn specialisation(&self) -> Option<String> {
        let classes = &self.path.classes;
        classes
            .iter()
            .any(|class| class.specialisation.is_some())
            .then(|| join(classes.iter().map(|class| class.specialisation.as_deref().unwrap_or(&class.name))))
    }

    /// `a::b`.
    pub(crate) fn namespace(&self) -> String {
        self.path.namespaces.join("::")
    }

    /// `Outer::Inner`.
    pub(crate) fn class_name(&self) -> String {
        self.path.classes_joined()
    }

    /// Qualified name of the scope.
    pub(crate) fn qualified(&self) -> String {
        self.path.qualified.clone()
    }

    /// Qualified name of something in the scope.
    pub(crate) fn qualify(&self, name: &str) -> String {
        join([self.path.qualified.as_str(), name])
    }
}
