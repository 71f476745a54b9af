//! Ownership, definitions and inheritance.

use crate::rows::Rows;
use almanac_tables::{EdgeKind, EntityKind};

#[test]
fn file_namespace_class_and_function_own_what_is_in_them() {
    let mut rows = Rows::default();
    rows.file("m.h").open(EntityKind::Namespace, "pic");
    rows.open(EntityKind::Class, "pic::Mesh");
    rows.function(EntityKind::MethodDeclaration, "pic::Mesh::volume", "()");
    rows.add(EntityKind::Field, "pic::Mesh::spacing");
    rows.close();
    rows.open(EntityKind::FunctionDefinition, "pic::run");
    rows.add(EntityKind::Lambda, "pic::run::step");
    rows.close().close();
    rows.file("m.hpp");
    rows.function(EntityKind::MethodDefinition, "pic::Mesh::volume", "()");
    rows.include("m.h", "\"m.hpp\"");
    assert_eq!(
        rows.edges(EdgeKind::Owns),
        [
            "file:m.h -> m.h:pic",
            "file:m.h -> m.h:pic::Mesh",
            "file:m.h -> m.h:pic::run",
            "file:m.hpp -> m.hpp:pic::Mesh::volume",
            "m.h:pic::Mesh -> m.h:pic::Mesh::spacing",
            "m.h:pic::Mesh -> m.h:pic::Mesh::volume",
            "m.h:pic::Mesh -> m.hpp:pic::Mesh::volume",
            "m.h:pic::run -> m.h:pic::run::step",
            "module:ns:pic -> m.h:pic::Mesh",
            "module:ns:pic -> m.h:pic::run",
        ]
    );
}

/// Binds the definition of `Field::f(defined)` among the declarations of `Field::f(declared…)`.
fn bound(declared: &[&str], defined: &str) -> Vec<String> {
    let mut rows = Rows::default();
    rows.file("Field.h").open(EntityKind::Class, "Field");
    rows.with(|class| class.template_parameters = "template <typename T, unsigned Dim>".to_owned());
    for parameters in declared {
        rows.function(EntityKind::MethodDeclaration, "Field::f", parameters);
    }
    rows.close();
    rows.file("Field.hpp").include("Field.h", "\"Field.hpp\"");
    rows.function(EntityKind::MethodDefinition, "Field<U, D>::f", defined);
    rows.with(|method| method.template_parameters = "template <class U, unsigned D>".to_owned());
    rows.edges(EdgeKind::Defines)
}

#[test]
fn a_definition_is_bound_through_its_parameter_types() {
    let to = |at: &str| vec![format!("Field.hpp:Field<U, D>::f -> Field.h:Field::f{at}")];
    assert_eq!(bound(&["(int)", "(double)"], "(double value)"), to("#2"));
    assert_eq!(bound(&["(const Vector<T, Dim>& x)", "(T x)"], "(Vector<U, D> const & y)"), to(""));
    assert_eq!(bound(&["(int a, bool wait = true)", "(int a)"], "(int a, bool wait)"), to(""));
    assert_eq!(bound(&["(typename T::mesh m)", "(detail::Layout<Dim>* l)"], "(Layout<D>* l)"), to("#2"));
    assert_eq!(bound(&["(unsigned int n)", "(int n)"], "(unsigned n)"), to(""));
    assert_eq!(bound(&["(const double x[3])", "(double x)"], "(const double* x)"), to(""));
}

#[test]
fn a_definition_spelt_otherwise_is_bound_with_less_certainty() {
    assert_eq!(
        bound(&["(View<T>& v)", "(Layout& l)"], "(View<value_type>& v)"),
        ["Field.hpp:Field<U, D>::f -> Field.h:Field::f"]
    );
    assert_eq!(
        bound(&["(size_type n)"], "(std::size_t n)"),
        ["Field.hpp:Field<U, D>::f -> Field.h:Field::f (name)"]
    );
    assert_eq!(bound(&["(int a)"], "(int a, int b)"), Vec::<String>::new());
}

#[test]
fn const_members_are_other_members() {
    let mut rows = Rows::default();
    rows.file("v.h").open(EntityKind::Class, "V");
    for suffix in ["", " const"] {
        rows.function(EntityKind::MethodDeclaration, "V::at", "(int i)");
        rows.with(|method| method.signature.push_str(suffix));
    }
    rows.close();
    rows.file("v.hpp").include("v.h", "\"v.hpp\"");
    rows.function(EntityKind::MethodDefinition, "V::at", "(int i)");
    rows.with(|method| method.signature.push_str(" const"));
    assert_eq!(rows.edges(EdgeKind::Defines), ["v.hpp:V::at -> v.h:V::at#2"]);
}

#[test]
fn a_specialisation_binds_to_its_own_class_body() {
    let mut rows = Rows::default();
    rows.file("FFT.h");
    for class in ["class FFT", "class FFT<CC, Field>", "class FFT<RC, Field>"] {
        rows.open(EntityKind::Class, "FFT");
        let at = rows.entities.len() - 1;
        rows.entities[at].signature = format!("template <typename Field> {class} : public Base<Field>");
        rows.entities[at].template_parameters = "template <typename Field>".to_owned();
        rows.function(EntityKind::MethodDeclaration, "FFT::transform", "(Field& f)");
        rows.close();
    }
    rows.file("FFT.hpp").include("FFT.h", "\"FFT.hpp\"");
    rows.function(EntityKind::MethodDefinition, "FFT<RC, F>::transform", "(F& f)");
    rows.with(|method| method.template_parameters = "template <typename F>".to_owned());
    rows.function(EntityKind::MethodDefinition, "FFT<CC, F>::transform", "(F& f)");
    rows.with(|method| method.template_parameters = "template <typename F>".to_owned());
    assert_eq!(
        rows.edges(EdgeKind::Defines),
        [
            "FFT.hpp:FFT<CC, F>::transform -> FFT.h:FFT::transform#2",
            "FFT.hpp:FFT<RC, F>::transform -> FFT.h:FFT::transform#3",
        ]
    );
}

#[test]
fn a_function_is_never_bound_to_one_of_another_class_or_unrelated_file() {
    let mut rows = Rows::default();
    rows.file("a.h").open(EntityKind::Class, "A");
    rows.function(EntityKind::MethodDeclaration, "A::update", "(int n)");
    rows.close();
    rows.open(EntityKind::Class, "B");
    rows.close();
    rows.file("b.cpp").include("b.cpp", "\"a.h\"");
    rows.function(EntityKind::MethodDefinition, "B::update", "(int n)");
    rows.file("one.h").function(EntityKind::FunctionDeclaration, "pack", "(int n)");
    rows.file("two.cpp").function(EntityKind::FunctionDefinition, "pack", "(int n)");
    rows.file("three.cpp").include("three.cpp", "\"one.h\"");
    rows.function(EntityKind::FunctionDefinition, "pack", "(int n)");
    assert_eq!(rows.edges(EdgeKind::Defines), ["three.cpp:pack -> one.h:pack"]);
}

#[test]
fn static_members_and_extern_variables_are_bound() {
    let mut rows = Rows::default();
    rows.file("t.h").open(EntityKind::Class, "Timer");
    rows.add(EntityKind::Field, "Timer::instance");
    rows.close();
    rows.add(EntityKind::Variable, "Comm");
    rows.with(|variable| variable.is_definition = false);
    rows.file("t.cpp").include("t.cpp", "\"t.h\"");
    rows.add(EntityKind::Variable, "Timer::instance");
    rows.add(EntityKind::Variable, "Comm");
    assert_eq!(
        rows.edges(EdgeKind::Defines),
        ["t.cpp:Comm -> t.h:Comm", "t.cpp:Timer::instance -> t.h:Timer::instance"]
    );
}

fn inherits(derived: &str, base: &str) -> Vec<String> {
    let mut rows = Rows::default();
    rows.file("bases.h");
    rows.add(EntityKind::Class, "Layout");
    rows.open(EntityKind::Namespace, "pic");
    rows.add(EntityKind::Class, "pic::Layout");
    rows.open(EntityKind::Namespace, "pic::detail");
    rows.add(EntityKind::Class, "pic::detail::Layout");
    rows.close().close();
    rows.open(EntityKind::Namespace, "far");
    rows.add(EntityKind::Class, "far::Solver");
    rows.close();
    rows.file("derived.h").include("derived.h", "\"bases.h\"");
    rows.add(EntityKind::Class, derived);
    rows.with(|class| {
        class.bases = vec![base.to_owned()];
        class.template_parameters = "template <typename T, class Mixin>".to_owned();
    });
    rows.edges(EdgeKind::Inherits)
}

#[test]
fn bases_are_found_from_the_scope_of_the_derived_class_outward() {
    let to = |derived: &str, base: &str| vec![format!("derived.h:{derived} -> bases.h:{base}")];
    assert_eq!(inherits("X", "Layout"), to("X", "Layout"));
    assert_eq!(inherits("pic::X", "public Layout<T, 3>"), to("pic::X", "pic::Layout"));
    assert_eq!(inherits("pic::X", "detail::Layout<T>"), to("pic::X", "pic::detail::Layout"));
    assert_eq!(inherits("pic::detail::X", "Layout"), to("pic::detail::X", "pic::detail::Layout"));
    assert_eq!(inherits("pic::X", "::Layout"), to("pic::X", "Layout"));
    assert_eq!(inherits("X", "virtual Solver"), to("X", "far::Solver (name)"));
    assert_eq!(inherits("X", "Mixin"), Vec::<String>::new());
    assert_eq!(inherits("X", "std::vector<Layout>"), Vec::<String>::new());
}

#[test]
fn programs_with_classes_of_one_name_keep_them_apart() {
    let mut rows = Rows::default();
    for program in ["a", "b"] {
        let path = format!("{program}/main.cpp");
        rows.file(&path);
        rows.open(EntityKind::Class, "Manager");
        rows.function(EntityKind::MethodDefinition, "Manager::step", "()");
        rows.close();
        let run = rows.function(EntityKind::FunctionDefinition, "run", "()");
        rows.call_on(&run, "manager", "Manager", "step", 0);
    }
    assert_eq!(
        rows.edges(EdgeKind::Calls),
        [
            "a/main.cpp:run -> a/main.cpp:Manager::step (receiver)",
            "b/main.cpp:run -> b/main.cpp:Manager::step (receiver)",
        ]
    );
}
