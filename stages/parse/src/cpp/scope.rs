//! Where a declaration stands: namespaces, classes and, for local classes, functions.

use crate::names::join;
use crate::rows::EntityAt;

/// The scopes around a declaration.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    namespaces: Vec<String>,
    /// Enclosing function of a local class, qualified below the namespaces.
    function: String,
    classes: Vec<ClassScope>,
    /// Innermost entity around.
    pub(crate) owner: Option<EntityAt>,
    /// Names of template parameters in sight.
    pub(crate) template_names: Vec<String>,
}

#[derive(Debug, Clone)]
struct ClassScope {
    name: String,
    /// Name with template arguments, of a specialisation.
    specialisation: Option<String>,
}

impl Scope {
    /// Inside a namespace; `None` for an anonymous one.
    pub(crate) fn in_namespace(&self, names: &[String], owner: EntityAt) -> Self {
        let mut scope = self.clone();
        scope.namespaces.extend_from_slice(names);
        scope.owner = Some(owner);
        scope
    }

    /// Inside a class, `specialisation` being its name with template arguments if it has any.
    pub(crate) fn in_class(&self, name: &str, specialisation: Option<String>, owner: EntityAt) -> Self {
        let mut scope = self.clone();
        scope.classes.push(ClassScope { name: name.to_owned(), specialisation });
        scope.owner = Some(owner);
        scope
    }

    /// Inside classes named by a qualifier: `A::B::f`.
    pub(crate) fn in_qualifier(&self, namespaces: &[String], classes: &[String]) -> Self {
        let mut scope = self.clone();
        scope.namespaces.extend_from_slice(namespaces);
        let class = |name: &String| ClassScope { name: name.clone(), specialisation: None };
        scope.classes.extend(classes.iter().map(class));
        scope
    }

    /// Inside a function.
    pub(crate) fn in_function(&self, name: &str, owner: EntityAt) -> Self {
        let classes = self.classes.iter().map(|class| class.name.as_str());
        Self {
            namespaces: self.namespaces.clone(),
            function: join([self.function.as_str()].into_iter().chain(classes).chain([name])),
            classes: Vec::new(),
            owner: Some(owner),
            template_names: self.template_names.clone(),
        }
    }

    /// The namespace around the classes, for a friend.
    pub(crate) fn around_classes(&self) -> Self {
        Self { classes: Vec::new(), ..self.clone() }
    }

    /// With more template parameters in sight.
    pub(crate) fn with_templates(&self, names: Vec<String>) -> Self {
        let mut scope = self.clone();
        scope.template_names.extend(names);
        scope
    }

    /// Whether members of a class are being declared.
    pub(crate) fn is_class(&self) -> bool {
        !self.classes.is_empty()
    }

    /// Innermost class with its template arguments, when it or one around it is a specialisation.
    pub(crate) fn specialisation(&self) -> Option<String> {
        self.classes.iter().any(|class| class.specialisation.is_some()).then(|| {
            join(self.classes.iter().map(|class| class.specialisation.as_deref().unwrap_or(&class.name)))
        })
    }

    /// `a::b`.
    pub(crate) fn namespace(&self) -> String {
        self.namespaces.join("::")
    }

    /// `Outer::Inner`.
    pub(crate) fn class_name(&self) -> String {
        join(self.classes.iter().map(|class| class.name.as_str()))
    }

    /// Qualified name of the scope.
    pub(crate) fn qualified(&self) -> String {
        self.qualify("")
    }

    /// Qualified name of something in the scope.
    pub(crate) fn qualify(&self, name: &str) -> String {
        let namespaces = self.namespaces.iter().map(String::as_str);
        let classes = self.classes.iter().map(|class| class.name.as_str());
        join(namespaces.chain([self.function.as_str()]).chain(classes).chain([name]))
    }
}
