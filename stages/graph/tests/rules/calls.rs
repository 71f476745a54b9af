//! What calls lead to.

use crate::rows::Rows;
use almanac_tables::{EdgeKind, EntityKind, ReferenceKind, ReferenceOutcome};

use EntityKind::{
    Class, Field, FunctionDeclaration, FunctionDefinition, MethodDeclaration, MethodDefinition, Namespace,
};

/// A library of one header: `pic::Base` ← `pic::Mesh`, free functions and an unrelated class.
fn library() -> Rows {
    let mut rows = Rows::default();
    rows.file("lib.h").open(Namespace, "pic");
    rows.open(Class, "pic::Base");
    rows.function(MethodDeclaration, "pic::Base::resize", "(int n, bool keep = true)");
    rows.close();
    rows.open(Class, "pic::Mesh");
    let mesh = rows.entities.len() - 1;
    rows.entities[mesh].bases = vec!["public Base".to_owned()];
    rows.function(MethodDeclaration, "pic::Mesh::Mesh", "(int n)");
    rows.function(MethodDeclaration, "pic::Mesh::volume", "()");
    rows.function(MethodDeclaration, "pic::Mesh::apply", "(double x)");
    rows.function(MethodDeclaration, "pic::Mesh::apply", "(double x, double y)");
    rows.add(Field, "pic::Mesh::origin");
    rows.with(|field| field.return_type = "Point*".to_owned());
    rows.close();
    rows.open(Class, "pic::Point");
    rows.function(MethodDeclaration, "pic::Point::norm", "()");
    rows.function(MethodDeclaration, "pic::Point::apply", "(double x)");
    rows.close();
    rows.function(FunctionDeclaration, "pic::volume", "(int n)");
    rows.function(FunctionDeclaration, "pic::make", "()");
    rows.with(|function| function.return_type = "std::shared_ptr<Mesh>".to_owned());
    rows.add(EntityKind::Alias, "pic::mesh_type");
    rows.with(|alias| alias.signature = "using mesh_type = Mesh".to_owned());
    rows.close();
    rows
}

/// Adds a caller in a file of its own that sees the library and returns where its calls lead.
fn from(caller: &str, call: impl FnOnce(&mut Rows, &str)) -> Vec<String> {
    let mut rows = library();
    rows.file("user.cpp").include("user.cpp", "\"lib.h\"");
    let is_method = caller.contains("Mesh::");
    let kind = if is_method { MethodDefinition } else { FunctionDefinition };
    let id = rows.function(kind, caller, "(Mesh& given)");
    call(&mut rows, &id);
    targets(&rows)
}

fn targets(rows: &Rows) -> Vec<String> {
    let edges = rows.edges(EdgeKind::Calls);
    edges.iter().map(|edge| edge.split_once(" -> ").expect("an arrow").1.to_owned()).collect()
}

const NONE: [&str; 0] = [];

#[test]
fn qualified_names_are_exact() {
    assert_eq!(from("run", |rows, id| _ = rows.call(id, "pic::volume", 1)), ["lib.h:pic::volume"]);
    assert_eq!(
        from("run", |rows, id| _ = rows.call(id, "pic::Mesh::volume", 0)),
        ["lib.h:pic::Mesh::volume"]
    );
    assert_eq!(
        from("run", |rows, id| _ = rows.call(id, "pic::Mesh::resize", 1)),
        ["lib.h:pic::Base::resize"]
    );
}

#[test]
fn a_receiver_type_leads_to_its_members_and_its_bases() {
    let on = |receiver_type: &str, name: &str, arguments| {
        from("pic::run", |rows, id| {
            rows.call_on(id, "object", receiver_type, name, arguments);
        })
    };
    assert_eq!(on("const Mesh&", "volume", 0), ["lib.h:pic::Mesh::volume (receiver)"]);
    assert_eq!(on("mesh_type", "volume", 0), ["lib.h:pic::Mesh::volume (receiver)"]);
    assert_eq!(on("std::shared_ptr<Mesh>", "volume", 0), NONE, "but behind it");
    assert_eq!(on("Mesh", "resize", 2), ["lib.h:pic::Base::resize (receiver)"]);
    assert_eq!(on("Mesh", "norm", 0), NONE, "a known class without that member binds nothing");
    assert_eq!(on("std::vector<Mesh>", "volume", 0), NONE);
    assert_eq!(on("std::shared_ptr<Mesh>", "reset", 0), NONE);
}

#[test]
fn receivers_are_followed_through_fields_parameters_and_results() {
    let on = |receiver: &str, name: &str| {
        from("pic::Mesh::run", |rows, id| _ = rows.call_on(id, receiver, "", name, 0))
    };
    assert_eq!(on("origin->", "norm"), ["lib.h:pic::Point::norm (receiver)"]);
    assert_eq!(on("this->origin->", "norm"), ["lib.h:pic::Point::norm (receiver)"]);
    assert_eq!(on("this->origin", "norm"), NONE, "a pointer has no members");
    assert_eq!(on("given", "volume"), ["lib.h:pic::Mesh::volume (receiver)"]);
    assert_eq!(on("given.origin->", "norm"), ["lib.h:pic::Point::norm (receiver)"]);
    assert_eq!(on("make()->", "volume"), ["lib.h:pic::Mesh::volume (receiver)"]);
    assert_eq!(on("operator*(make())", "volume"), ["lib.h:pic::Mesh::volume (receiver)"]);
    assert_eq!(on("static_cast<Point*>(any)->", "norm"), ["lib.h:pic::Point::norm (receiver)"]);
}

#[test]
fn a_local_may_be_deduced_from_its_value() {
    let on = |value: &str, name: &str| {
        from("pic::Mesh::run", |rows, id| {
            _ = rows.local(id, "local", "", value).call_on(id, "local->", "", name, 0)
        })
    };
    assert_eq!(on("make()", "volume"), ["lib.h:pic::Mesh::volume (receiver)"]);
    assert_eq!(on("static_cast<Mesh&>(m).origin", "norm"), ["lib.h:pic::Point::norm (receiver)"]);
    assert_eq!(on("operator&(given.origin[0])", "norm"), ["lib.h:pic::Point::norm (receiver)"]);
    assert_eq!(on("local", "norm"), ["lib.h:pic::Point::norm (name)"], "not in sight of itself");
}

#[test]
fn names_of_objects_and_template_parameters_hint_at_their_class() {
    let on = |receiver: &str, receiver_type: &str| {
        from("pic::run", |rows, id| _ = rows.call_on(id, receiver, receiver_type, "apply", 1))
    };
    assert_eq!(on("startPoint", ""), ["lib.h:pic::Point::apply (name)"]);
    assert_eq!(on("x", "MeshType"), ["lib.h:pic::Mesh::apply (name)"]);
}

#[test]
fn a_function_of_the_c_library_is_not_one_of_an_unrelated_namespace() {
    let mut rows = Rows::default();
    rows.file("ops.h").open(Namespace, "pic");
    rows.function(FunctionDefinition, "pic::sin", "(Expression u)");
    let inside = rows.function(FunctionDefinition, "pic::wave", "()");
    rows.close();
    let outside = rows.function(FunctionDefinition, "main", "()");
    rows.call(&inside, "sin", 1).call(&outside, "sin", 1);
    assert_eq!(rows.edges(EdgeKind::Calls), ["ops.h:pic::wave -> ops.h:pic::sin"]);
}

#[test]
fn branches_of_a_conditional_are_one_target() {
    let mut rows = Rows::default();
    rows.file("check.h");
    rows.add(EntityKind::Macro, "CHECK");
    rows.add(EntityKind::Macro, "CHECK");
    rows.function(FunctionDefinition, "fail", "(int n)");
    rows.function(FunctionDefinition, "fail", "(int n)");
    let run = rows.function(FunctionDefinition, "run", "()");
    rows.call(&run, "CHECK", 1).call(&run, "fail", 1);
    assert_eq!(targets(&rows), ["check.h:fail"]);
    assert_eq!(rows.edges(EdgeKind::Expands), ["check.h:run -> check.h:CHECK"]);
}

#[test]
fn members_of_a_const_object_are_const() {
    let mut rows = Rows::default();
    rows.file("v.h").open(Class, "V");
    rows.function(MethodDeclaration, "V::data", "()");
    rows.function(MethodDeclaration, "V::data", "()");
    rows.with(|method| method.signature.push_str(" const"));
    rows.close();
    rows.open(Class, "Owner");
    rows.add(Field, "Owner::v");
    rows.with(|field| field.return_type = "V".to_owned());
    let reads = rows.function(MethodDefinition, "Owner::reads", "()");
    rows.with(|method| method.signature.push_str(" const"));
    rows.close();
    rows.call_on(&reads, "v", "", "data", 0);
    assert_eq!(targets(&rows), ["v.h:V::data#2 (receiver)"]);
}

#[test]
fn an_unknown_receiver_never_binds_a_free_function() {
    let on = |name: &str, arguments| {
        from("pic::run", |rows, id| _ = rows.call_on(id, "thing", "", name, arguments))
    };
    assert_eq!(on("make", 0), NONE);
    assert_eq!(on("norm", 0), ["lib.h:pic::Point::norm (name)"]);
    assert_eq!(
        on("apply", 1),
        ["lib.h:pic::Mesh::apply (name, 1 of 2)", "lib.h:pic::Point::apply (name, 1 of 2)"]
    );
    assert_eq!(on("push_back", 1), NONE);
}

#[test]
fn an_unknown_receiver_means_the_base_rather_than_what_overrides_it() {
    let mut rows = Rows::default();
    rows.file("solvers.h").open(Class, "Solver");
    rows.function(MethodDeclaration, "Solver::solve", "(int n)");
    rows.with(|method| method.signature = "virtual void solve(int n) = 0".to_owned());
    rows.close();
    for derived in ["Direct", "Iterative"] {
        rows.open(Class, derived);
        let at = rows.entities.len() - 1;
        rows.entities[at].bases = vec!["Solver".to_owned()];
        rows.function(MethodDefinition, &format!("{derived}::solve"), "(int n)");
        rows.close();
    }
    let run = rows.function(FunctionDefinition, "run", "(T& solver)");
    rows.call_on(&run, "solver", "T", "solve", 1);
    assert_eq!(targets(&rows), ["solvers.h:Solver::solve (name)"]);
}

#[test]
fn an_unknown_receiver_may_have_a_type_that_is_never_included() {
    let mut rows = Rows::default();
    rows.file("layout.h").open(Class, "Layout");
    rows.function(MethodDeclaration, "Layout::local", "(int rank)");
    rows.close();
    rows.file("field.h").open(Class, "Field");
    rows.function(MethodDeclaration, "Field::local", "()");
    rows.close();
    rows.file("conditions.h").include("conditions.h", "\"layout.h\"");
    let apply = rows.function(FunctionDefinition, "apply", "(T& field)");
    rows.call_on(&apply, "field", "T", "local", 0);
    assert_eq!(targets(&rows), ["field.h:Field::local (name)"]);
}

#[test]
fn inside_a_class_its_members_come_before_functions() {
    let call = |name: &str, arguments| from("pic::Mesh::run", |rows, id| _ = rows.call(id, name, arguments));
    assert_eq!(call("volume", 0), ["lib.h:pic::Mesh::volume"]);
    assert_eq!(call("resize", 1), ["lib.h:pic::Base::resize"]);
    assert_eq!(call("volume", 1), ["lib.h:pic::volume"], "the member takes no argument");
    assert_eq!(call("norm", 0), NONE, "a member of another class is not in scope");
}

#[test]
fn arguments_choose_among_overloads() {
    let apply =
        |arguments| from("pic::run", |rows, id| _ = rows.call_on(id, "m", "Mesh", "apply", arguments));
    assert_eq!(apply(1), ["lib.h:pic::Mesh::apply (receiver)"]);
    assert_eq!(apply(2), ["lib.h:pic::Mesh::apply#2 (receiver)"]);
    assert_eq!(apply(3), NONE);
}

#[test]
fn scopes_are_searched_outward_and_then_the_tree() {
    let call = |caller: &str| from(caller, |rows, id| _ = rows.call(id, "make", 0));
    assert_eq!(call("pic::inner::run"), ["lib.h:pic::make"]);
    assert_eq!(call("run"), ["lib.h:pic::make (name)"]);
}

#[test]
fn other_libraries_give_no_edge_unless_the_tree_defines_them() {
    let call = |written: &str| from("pic::run", |rows, id| _ = rows.call(id, written, 1));
    assert_eq!(call("std::volume"), NONE);
    assert_eq!(call("Kokkos::Experimental::volume"), NONE);
    assert_eq!(call("MPI_volume"), NONE);
    let mut rows = library();
    rows.file("kokkos.h");
    let of_tree = rows.function(FunctionDefinition, "Kokkos::parallel_for", "(int n)");
    let caller = rows.function(FunctionDefinition, "Kokkos::run", "()");
    rows.call(&caller, "Kokkos::parallel_for", 1);
    assert_eq!(targets(&rows), [of_tree]);
}

#[test]
fn a_class_name_makes_an_object_by_a_constructor_if_one_is_declared() {
    let call = |written: &str, arguments| from("pic::run", |rows, id| _ = rows.call(id, written, arguments));
    assert_eq!(call("Mesh", 1), ["lib.h:pic::Mesh::Mesh"]);
    assert_eq!(call("mesh_type", 1), ["lib.h:pic::Mesh::Mesh"]);
    assert_eq!(call("pic::Mesh", 1), ["lib.h:pic::Mesh::Mesh"]);
    assert_eq!(call("Point", 0), NONE);
    let mut rows = library();
    let run = rows.function(FunctionDefinition, "run", "()");
    rows.call(&run, "pic::Point", 0).call(&run, "pic::Mesh", 1);
    assert_eq!(
        rows.edges(EdgeKind::Instantiates),
        ["lib.h:run -> lib.h:pic::Mesh", "lib.h:run -> lib.h:pic::Point"]
    );
}

#[test]
fn the_definition_stands_for_its_declaration() {
    let mut rows = library();
    rows.file("lib.cpp").include("lib.cpp", "\"lib.h\"");
    rows.function(MethodDefinition, "pic::Mesh::volume", "()");
    let run = rows.function(FunctionDefinition, "pic::run", "()");
    rows.call_on(&run, "m", "Mesh", "volume", 0).call_on(&run, "n", "Mesh", "volume", 0);
    assert_eq!(targets(&rows), ["lib.cpp:pic::Mesh::volume (receiver)"]);
    let edges = rows.build().edges;
    let call = edges.iter().find(|edge| edge.kind == EdgeKind::Calls).expect("a call");
    assert_eq!(call.count, 2);
}

#[test]
fn a_private_function_of_another_source_file_is_not_meant() {
    let mut rows = Rows::default();
    rows.file("a.cpp").function(FunctionDefinition, "report", "(int n)");
    rows.file("b.cpp");
    let run = rows.function(FunctionDefinition, "run", "()");
    rows.call(&run, "report", 1);
    assert_eq!(targets(&rows), NONE);
}

#[test]
fn a_macro_is_meant_where_it_is_seen_and_only_there() {
    let mut rows = Rows::default();
    rows.file("check.h").add(EntityKind::Macro, "CHECK");
    rows.file("other.h").function(FunctionDefinition, "CHECK", "(int n)");
    rows.file("a.cpp").include("a.cpp", "\"check.h\"");
    let sees = rows.function(FunctionDefinition, "sees", "()");
    rows.call(&sees, "CHECK", 1);
    rows.file("b.cpp").include("b.cpp", "\"other.h\"");
    let does_not = rows.function(FunctionDefinition, "does_not", "()");
    rows.call(&does_not, "CHECK", 1);
    assert_eq!(targets(&rows), ["other.h:CHECK"]);
    assert_eq!(rows.edges(EdgeKind::Expands), ["a.cpp:sees -> check.h:CHECK"]);
}

#[test]
fn named_lambdas_and_parameters_hide_functions() {
    let mut rows = library();
    rows.file("user.cpp").include("user.cpp", "\"lib.h\"");
    let run = rows.open(FunctionDefinition, "pic::run");
    let at = rows.entities.len() - 1;
    rows.entities[at].parameters = "(Callback make)".to_owned();
    rows.add(EntityKind::Lambda, "pic::run::volume");
    rows.close();
    rows.call(&run, "volume", 1).call(&run, "make", 0);
    assert_eq!(targets(&rows), ["user.cpp:pic::run::volume"]);
}

#[test]
fn too_many_candidates_are_counted_and_none_is_kept() {
    let mut rows = Rows::default();
    rows.file("many.h");
    for class in ["A", "B", "C", "D", "E"] {
        rows.open(Class, class);
        rows.function(MethodDeclaration, &format!("{class}::update"), "()");
        rows.close();
    }
    let run = rows.function(FunctionDefinition, "run", "()");
    rows.call_on(&run, "x", "", "update", 0);
    let outcomes = rows.build().outcomes;
    assert_eq!(outcomes.get(ReferenceKind::Call, ReferenceOutcome::TooMany), 1);
    assert_eq!(outcomes.rows().len(), 1);
    assert_eq!(targets(&rows), NONE);
}

#[test]
fn constness_of_the_object_chooses_the_overload() {
    let mut rows = Rows::default();
    rows.file("v.h").open(Class, "V");
    rows.function(MethodDeclaration, "V::data", "()");
    rows.function(MethodDeclaration, "V::data", "()");
    rows.with(|method| method.signature.push_str(" const"));
    rows.close();
    let run = rows.function(FunctionDefinition, "run", "(const V& fixed, V& open)");
    rows.call_on(&run, "fixed", "", "data", 0);
    assert_eq!(targets(&rows), ["v.h:V::data#2 (receiver)"]);
    rows.call_on(&run, "open", "", "data", 0);
    assert_eq!(targets(&rows), ["v.h:V::data (receiver)", "v.h:V::data#2 (receiver)"]);
}

#[test]
fn cmake_calls_ignore_case_and_stay_in_cmake() {
    let mut rows = Rows::default();
    rows.file("cmake/Tests.cmake").function(EntityKind::BuildFunction, "add_pic_test", "(name)");
    rows.file("lib.h").function(FunctionDefinition, "add_pic_test", "(int n)");
    rows.file("CMakeLists.txt").include("CMakeLists.txt", "Tests");
    let target = rows.add(EntityKind::BuildTarget, "pic");
    rows.call(&target, "ADD_PIC_TEST", 1);
    assert_eq!(targets(&rows), ["cmake/Tests.cmake:add_pic_test"]);
}

#[test]
fn a_call_at_file_level_starts_from_the_file() {
    let mut rows = library();
    rows.file("user.cpp").include("user.cpp", "\"lib.h\"");
    let anchor = rows.function(FunctionDefinition, "run", "()");
    rows.call(&anchor, "pic::make", 0);
    rows.references.last_mut().expect("a call").entity_id.clear();
    assert_eq!(rows.edges(EdgeKind::Calls), ["file:user.cpp -> lib.h:pic::make"]);
}
