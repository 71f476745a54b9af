//! What generic code and macros lead to.

use crate::rows::Rows;
use almanac_tables::{EdgeKind, EntityKind, ReferenceKind};

use EntityKind::{
    Alias, Enum, Field, FunctionDefinition, Macro, MethodDeclaration, MethodDefinition, Struct,
};

/// Opens a class with template parameters and bases; `signature` tells a specialisation.
fn open(rows: &mut Rows, name: &str, parameters: &str, signature: &str, bases: &[&str]) -> String {
    let id = rows.open(Struct, name);
    let class = rows.entities.last_mut().expect("a class");
    class.template_parameters = parameters.to_owned();
    if !signature.is_empty() {
        class.signature = signature.to_owned();
    }
    class.bases = bases.iter().map(|base| (*base).to_owned()).collect();
    id
}

/// Adds a reference of a function with the arguments as expressions.
fn call(rows: &mut Rows, caller: &str, written: &str, list: &str, count: u32) {
    rows.call(caller, written, count);
    let reference = rows.references.last_mut().expect("a call");
    reference.argument_list = list.to_owned();
    if let Some(symbol) = written.strip_prefix("operator") {
        reference.written = symbol.to_owned();
    }
}

fn called(rows: &Rows, caller: &str) -> Vec<String> {
    let start = format!("{caller} -> ");
    let edges = rows.edges(EdgeKind::Calls);
    edges.iter().filter_map(|edge| edge.strip_prefix(&start)).map(str::to_owned).collect()
}

#[test]
fn a_macro_calls_what_its_body_names_where_it_is_used() {
    let mut rows = Rows::default();
    rows.file("check.h");
    // #define REPORT(code) report(code)
    // #define CHECK(c, code) if (!(c)) REPORT(code)
    // #define test ns::test
    let report = rows.add(Macro, "REPORT");
    rows.with(|one| one.parameters = "code".to_owned());
    let check = rows.add(Macro, "CHECK");
    rows.with(|one| one.parameters = "c, code".to_owned());
    let alias = rows.add(Macro, "test");
    call(&mut rows, &report, "report", "code", 1);
    call(&mut rows, &check, "REPORT", "code", 1);
    call(&mut rows, &alias, "ns::test", "...", 0);
    rows.open(EntityKind::Namespace, "ns");
    rows.function(FunctionDefinition, "ns::report", "(int code)");
    rows.function(FunctionDefinition, "ns::report", "(const char* text)");
    rows.function(FunctionDefinition, "ns::test", "(int a)");
    rows.function(FunctionDefinition, "ns::test", "(int a, int b)");
    rows.close();
    rows.file("a.cpp").include("a.cpp", "\"check.h\"");
    let run = rows.function(FunctionDefinition, "ns::run", "()");
    call(&mut rows, &run, "CHECK", "true, \"text\"", 2);
    call(&mut rows, &run, "test", "0, 0", 2);
    assert_eq!(called(&rows, &run), Vec::<String>::new());
    assert_eq!(called(&rows, &report), ["check.h:ns::report#2"], "a text is given");
    assert_eq!(called(&rows, &alias), ["check.h:ns::test#2"], "two arguments are given");
    assert_eq!(
        rows.edges(EdgeKind::Expands),
        [
            "a.cpp:ns::run -> check.h:CHECK",
            "a.cpp:ns::run -> check.h:test",
            "check.h:CHECK -> check.h:REPORT"
        ]
    );
}

#[test]
fn operators_of_classes_are_not_those_of_enumerations() {
    let mut rows = Rows::default();
    rows.file("a.h");
    rows.add(Enum, "Kind");
    rows.add(Enum, "Flag");
    rows.function(FunctionDefinition, "operator==", "(const T& a, const U& b)");
    rows.with(|one| one.template_parameters = "template <class T, class U>".to_owned());
    rows.function(FunctionDefinition, "operator|", "(Flag a, Flag b)");
    let run = rows.function(FunctionDefinition, "run", "(Kind kind, Flag flag)");
    call(&mut rows, &run, "operator==", "kind, kind", 2);
    call(&mut rows, &run, "operator|", "flag, flag", 2);
    assert_eq!(called(&rows, &run), ["a.h:operator|"]);
}

#[test]
fn an_object_is_of_a_class_that_has_all_that_is_asked_of_it() {
    let mut rows = Rows::default();
    rows.file("a.h");
    for (class, members) in [("Grid", ["extent", "spacing"]), ("Text", ["extent", "font"])] {
        rows.open(Struct, class);
        for member in members {
            rows.function(MethodDeclaration, &format!("{class}::{member}"), "()");
        }
        rows.close();
    }
    let run = rows.function(FunctionDefinition, "run", "(T& x)");
    rows.call_on(&run, "x", "T", "extent", 0).call_on(&run, "x", "T", "spacing", 0);
    assert_eq!(called(&rows, &run), ["a.h:Grid::extent (name)", "a.h:Grid::spacing (name)"]);
}

#[test]
fn a_parameter_that_stands_for_the_heir_means_members_of_heirs() {
    let mut rows = Rows::default();
    rows.file("a.h");
    // template <class D> struct Base { D& derived(); int size() { return derived().size(); } };
    open(&mut rows, "Base", "template <class D>", "", &[]);
    rows.function(MethodDeclaration, "Base::derived", "()");
    rows.with(|one| one.return_type = "D&".to_owned());
    let size = rows.function(MethodDefinition, "Base::total", "()");
    rows.close();
    for class in ["Dense", "Sparse"] {
        open(&mut rows, class, "template <class T>", "", &[&format!("Base<{class}<T>>")]);
        rows.function(MethodDeclaration, &format!("{class}::size"), "()");
        rows.close();
    }
    open(&mut rows, "Stranger", "", "", &[]);
    rows.function(MethodDeclaration, "Stranger::size", "()");
    rows.close();
    rows.call_on(&size, "derived()", "", "size", 0);
    assert_eq!(
        called(&rows, &size),
        ["a.h:Dense::size (name, 1 of 2)", "a.h:Sparse::size (name, 1 of 2)"],
        "though containers have such a member too"
    );
}

#[test]
fn arguments_that_are_not_known_may_mean_any_record_of_a_template() {
    let mut rows = Rows::default();
    rows.file("a.h");
    open(&mut rows, "Proxy", "template <class T>", "", &[]);
    rows.function(MethodDeclaration, "Proxy::get", "(int i)");
    rows.close();
    open(&mut rows, "Proxy", "template <class T>", "struct Proxy<Mat<T>>", &[]);
    rows.function(MethodDeclaration, "Proxy::get", "(int i)");
    rows.close();
    open(&mut rows, "Proxy", "template <>", "struct Proxy<int>", &[]);
    rows.function(MethodDeclaration, "Proxy::get", "(int i)");
    rows.close();
    rows.open(Struct, "Mat");
    rows.close();
    let run = rows.function(FunctionDefinition, "run", "(const Proxy<E>& p, const Proxy<int>& q)");
    rows.with(|one| one.template_parameters = "template <class E>".to_owned());
    rows.call_on(&run, "p", "", "get", 1);
    let any = ["a.h:Proxy::get (overload_set, 1 of 2)", "a.h:Proxy::get#2 (overload_set, 1 of 2)"];
    assert_eq!(called(&rows, &run), any, "not the one of int");
    let other = rows.function(FunctionDefinition, "other", "(const Proxy<int>& q)");
    rows.call_on(&other, "q", "", "get", 1);
    assert_eq!(called(&rows, &other), ["a.h:Proxy::get#3 (receiver)"]);
}

#[test]
fn a_using_declaration_adds_the_overloads_of_the_base() {
    let mut rows = Rows::default();
    rows.file("a.h");
    rows.open(Struct, "Base");
    rows.function(MethodDeclaration, "Base::set", "(int a)");
    rows.close();
    let derived = open(&mut rows, "Derived", "", "", &["Base"]);
    rows.function(MethodDeclaration, "Derived::set", "(int a, int b)");
    rows.close();
    let run = rows.function(FunctionDefinition, "run", "(Derived& d)");
    rows.call_on(&run, "d", "", "set", 1);
    assert_eq!(called(&rows, &run), Vec::<String>::new(), "hidden");
    rows.call(&derived, "Base::set", 0);
    rows.references.last_mut().expect("a using").kind = ReferenceKind::Using;
    assert_eq!(called(&rows, &run), ["a.h:Base::set (receiver)"]);
}

#[test]
fn written_template_arguments_choose_the_specialisation_of_a_function() {
    let mut rows = Rows::default();
    rows.file("a.h");
    rows.function(FunctionDefinition, "zero", "()");
    rows.with(|one| one.template_parameters = "template <class T>".to_owned());
    for ty in ["float", "double"] {
        rows.function(FunctionDefinition, "zero", "()");
        rows.with(|one| one.template_parameters = "<>".to_owned());
        rows.with(|one| one.signature = format!("template<> {ty} zero<{ty}>()"));
    }
    let run = rows.function(FunctionDefinition, "run", "()");
    rows.call(&run, "zero<double>", 0);
    assert_eq!(called(&rows, &run), ["a.h:zero#3"]);
    let other = rows.function(FunctionDefinition, "other", "()");
    rows.call(&other, "zero<int>", 0);
    assert_eq!(called(&rows, &other), ["a.h:zero"]);
}

#[test]
fn a_reference_that_is_initialised_makes_no_object() {
    let mut rows = Rows::default();
    rows.file("a.h");
    rows.open(Struct, "Mat");
    rows.function(MethodDeclaration, "Mat::Mat", "(int n)");
    rows.close();
    rows.open(Struct, "View");
    rows.add(Field, "View::m");
    rows.with(|field| field.return_type = "const Mat&".to_owned());
    rows.add(Field, "View::own");
    rows.with(|field| field.return_type = "Mat".to_owned());
    let make = rows.function(MethodDefinition, "View::View", "(T n)");
    rows.close();
    for field in ["m", "own"] {
        call(&mut rows, &make, field, "n", 1);
        let reference = rows.references.last_mut().expect("an initialiser");
        reference.kind = ReferenceKind::Construct;
        reference.receiver = "this->".to_owned();
        if field == "m" {
            assert_eq!(called(&rows, &make), Vec::<String>::new());
        }
    }
    assert_eq!(called(&rows, &make), ["a.h:Mat::Mat"]);
}

#[test]
fn an_alias_of_the_file_comes_before_a_class_of_another_configuration() {
    let mut rows = Rows::default();
    rows.file("cuda.h").open(Struct, "half");
    rows.function(MethodDeclaration, "half::half", "(float x)");
    rows.close();
    rows.file("half.h").include("half.h", "\"cuda.h\"");
    rows.add(Alias, "half");
    rows.with(|alias| alias.signature = "using half = float".to_owned());
    let cast = rows.function(FunctionDefinition, "cast", "(float x)");
    call(&mut rows, &cast, "half", "x", 1);
    assert_eq!(called(&rows, &cast), Vec::<String>::new());
}
