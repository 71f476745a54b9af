use std::borrow::Cow;

use almanac_language::{Classification, Limits, TreeMacros};
use almanac_tables::{ArtifactRole, Local, Reference};

use super::*;

mod declarations;
mod generated;
mod macro_bodies;
mod namespaces;

/// Rows of a snippet.
struct Read {
    entities: Vec<Entity>,
    references: Vec<Reference>,
    locals: Vec<Local>,
}

fn read_as(path: &str, text: &str) -> Read {
    read_among(&[], path, text)
}

/// Reads a snippet as a file of a tree.
fn read_among(others: &[(&str, &str)], path: &str, text: &str) -> Read {
    let source = Source::new(path, text, Classification::of(path), ArtifactRole::Library);
    let mut rows = Rows::default();
    let mut files = others.to_vec();
    files.push((path, text));
    let surroundings = Surroundings::of(&files, |file| file.0, |file| Some(Cow::Borrowed(file.1)));
    read(&source, &surroundings, &crate::tests::watch(), &mut rows).expect("tree");
    let locals = rows.take_locals();
    let (entities, references) = rows.finish();
    Read { entities, references, locals }
}

fn read_header(text: &str) -> Read {
    read_as("a.hpp", text)
}

impl Read {
    /// `kind qualified_name first-last`.
    fn outline(&self) -> Vec<String> {
        self.entities
            .iter()
            .map(|e| format!("{} {} {}-{}", e.kind, e.qualified_name, e.start_line, e.end_line))
            .collect()
    }

    fn named(&self, qualified: &str) -> &Entity {
        let found = self.entities.iter().find(|entity| entity.qualified_name == qualified);
        found.unwrap_or_else(|| panic!("{qualified} is not in {:#?}", self.outline()))
    }

    /// `name: type` or `name = value` of variables inside functions.
    fn locals(&self) -> Vec<String> {
        let shown = |local: &Local| match local.type_text.as_str() {
            "" => format!("{} = {}", local.name, local.value),
            text => format!("{}: {text}", local.name),
        };
        self.locals.iter().map(shown).collect()
    }

    /// `kind owner: receiver.written(arguments)`.
    fn asked(&self, kinds: &str) -> Vec<String> {
        self.references
            .iter()
            .filter(|reference| kinds.split(' ').any(|kind| kind == reference.kind.as_str()))
            .map(|reference| {
                let owner = self.entities.iter().find(|entity| entity.id == reference.entity_id);
                let owner = owner.map_or("-", |entity| entity.name.as_str());
                let Reference { kind, receiver, written, argument_list, .. } = reference;
                format!("{kind} {owner}: {receiver}{written}({argument_list})")
            })
            .collect()
    }
}

#[test]
fn every_kind_of_declaration_is_found_with_its_scope() {
    let read = read_header(
        "\
#ifndef A_HPP
#define A_HPP
#define SQUARE(x) ((x) * (x))
namespace outer::inner {
    namespace {
        int hidden() { return 1; }
    }
    inline namespace v1 {
        enum class Kind : int { One, Two = 2 };
    }
    using Index = unsigned long;
    typedef void (*Handler)(int);
    template <typename T>
    concept Addable = requires(T a) { a + a; };
    constexpr int limit = 3;
    extern double scale;
    class Forward;
    struct Box final {
        int width, *next;
        static int count;
        union { int i; float f; };
        Box() = default;
        explicit Box(int w) : width(w) {}
        ~Box();
        Box& operator=(const Box&) = delete;
        operator bool() const { return true; }
        virtual void draw() const = 0;
        void (*callback)(int);
    };
    auto twice = [](int a) { return 2 * a; };
    double area(const Box& box);
}
#endif
",
    );
    assert_eq!(
        read.outline(),
        [
            "macro SQUARE 3-3",
            "namespace outer::inner 4-32",
            "namespace outer::inner::(anonymous) 5-7",
            "function_definition outer::inner::hidden 6-6",
            "namespace outer::inner::v1 8-10",
            "enum outer::inner::v1::Kind 9-9",
            "enumerator outer::inner::v1::Kind::One 9-9",
            "enumerator outer::inner::v1::Kind::Two 9-9",
            "alias outer::inner::Index 11-11",
            "alias outer::inner::Handler 12-12",
            "concept outer::inner::Addable 13-14",
            "variable outer::inner::limit 15-15",
            "variable outer::inner::scale 16-16",
            "class outer::inner::Forward 17-17",
            "struct outer::inner::Box 18-29",
            "field outer::inner::Box::width 19-19",
            "field outer::inner::Box::next 19-19",
            "field outer::inner::Box::count 20-20",
            "field outer::inner::Box::i 21-21",
            "field outer::inner::Box::f 21-21",
            "method_declaration outer::inner::Box::Box 22-22",
            "method_definition outer::inner::Box::Box 23-23",
            "method_declaration outer::inner::Box::~Box 24-24",
            "method_declaration outer::inner::Box::operator= 25-25",
            "method_definition outer::inner::Box::operator bool 26-26",
            "method_declaration outer::inner::Box::draw 27-27",
            "field outer::inner::Box::callback 28-28",
            "lambda outer::inner::twice 30-30",
            "function_declaration outer::inner::area 31-31",
        ]
        .map(str::to_owned)
        .to_vec()
    );
    let draw = read.named("outer::inner::Box::draw");
    assert_eq!((draw.class_name.as_str(), draw.namespace.as_str()), ("Box", "outer::inner"));
    assert_eq!(draw.parent, "outer::inner::Box");
    assert_eq!(draw.signature, "virtual void draw() const = 0");
    assert_eq!(read.named("outer::inner::Box::next").return_type, "int *");
    assert_eq!(read.named("outer::inner::limit").signature, "constexpr int limit = 3");
    assert!(!read.named("outer::inner::scale").is_definition);
    assert!(!read.named("outer::inner::Forward").is_definition);
    let area = read.named("outer::inner::area");
    assert_eq!((area.return_type.as_str(), area.parameters.as_str()), ("double", "const Box& box"));
}

#[test]
fn out_of_line_members_are_bound_to_their_class_across_line_breaks() {
    let read = read_header(
        "\
namespace ippl {
    /// Evaluates a shape function.
    template <typename T, unsigned Dim>
    KOKKOS_FUNCTION typename LagrangeSpace<T, Dim>::value_t
    LagrangeSpace<T, Dim>::
    evaluateRefElementShapeFunction(const size_t& localDOF,
                                    const point_t& p) const {
        return eval(localDOF);
    }
    template <typename Field>
    void FFT<CCTransform, Field>::transform(Field& f) {}
    template <typename T> Vector<T>::~Vector() {}
}
void ippl::initialize(int& argc, char* argv[], MPI_Comm comm) {}
int ippl::Comm::size_m = 0;
Timer::operator double() const { return 0; }
",
    );
    let shape = read.named("ippl::LagrangeSpace::evaluateRefElementShapeFunction");
    assert_eq!(shape.kind, EntityKind::MethodDefinition);
    assert_eq!((shape.start_line, shape.end_line), (3, 9));
    assert_eq!(shape.class_name, "LagrangeSpace");
    assert_eq!(shape.return_type, "typename LagrangeSpace<T, Dim>::value_t");
    assert_eq!(shape.template_parameters, "<typename T, unsigned Dim>");
    assert_eq!(shape.leading_comment, "Evaluates a shape function.");
    assert_eq!(
        shape.signature,
        "template <typename T, unsigned Dim> typename LagrangeSpace<T, Dim>::value_t \
         LagrangeSpace<T, Dim>::evaluateRefElementShapeFunction(const size_t& localDOF, const point_t& p) const"
    );
    assert_eq!(read.named("ippl::FFT::transform").class_name, "FFT");
    assert_eq!(read.named("ippl::Vector::~Vector").kind, EntityKind::MethodDefinition);
    // The paper's example.
    let initialize = read.named("ippl::initialize");
    assert_eq!(initialize.kind, EntityKind::FunctionDefinition);
    assert_eq!((initialize.parent.as_str(), initialize.return_type.as_str()), ("ippl", "void"));
    assert_eq!(initialize.parameters, "int& argc, char* argv[], MPI_Comm comm");
    assert_eq!(read.named("ippl::Comm::size_m").kind, EntityKind::Field);
    assert_eq!(read.named("Timer::operator double").kind, EntityKind::MethodDefinition);
}

#[test]
fn specialisations_and_overloads_differ_and_keep_their_name() {
    let read = read_header(
        "\
template <typename A, typename B> class FFT {};
template <typename B> class FFT<CC, B> : public Base<B> { void run(B& b); };
template <> class FFT<RC, int> { void run(int& b); };
void f(int);
void f(double);
template <> void g<int>(int) {}
",
    );
    let signatures: Vec<&str> = read
        .entities
        .iter()
        .filter(|entity| matches!(entity.name.as_str(), "FFT" | "run" | "f" | "g"))
        .map(|entity| entity.signature.as_str())
        .collect();
    assert_eq!(
        signatures,
        [
            "template <typename A, typename B> class FFT",
            "template <typename B> class FFT<CC, B> : public Base<B>",
            "void FFT<CC, B>::run(B& b)",
            "template <> class FFT<RC, int>",
            "void FFT<RC, int>::run(int& b)",
            "void f(int)",
            "void f(double)",
            "template <> void g<int>(int)",
        ]
    );
    let mut ids: Vec<&str> = read.entities.iter().map(|entity| entity.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), read.entities.len());
    assert!(ids.iter().all(|id| id.len() == 20));
    let specialised = &read.entities[1];
    assert_eq!(
        (specialised.bases.as_slice(), specialised.parameters.as_str()),
        (&["Base<B>".to_owned()][..], ": public Base<B>")
    );
}

#[test]
fn annotated_and_exported_code_keeps_classes_methods_and_ranges() {
    let text = "\
class CORE_EXPORT Solver : public Base {
public:
    KOKKOS_INLINE_FUNCTION
    double at(int i) const { return v_<:i:>; }
    AMREX_GPU_HOST_DEVICE AMREX_FORCE_INLINE Solver() {}
};
__global__ void __launch_bounds__(128) kernel(double* x) {}
";
    let read = read_header(text);
    assert_eq!(
        read.outline(),
        [
            "class Solver 1-6",
            "method_definition Solver::at 3-4",
            "method_definition Solver::Solver 5-5",
            "function_definition kernel 7-7",
        ]
    );
    let at = read.named("Solver::at");
    assert_eq!((at.return_type.as_str(), at.signature.as_str()), ("double", "double at(int i) const"));
    assert_eq!(at.slice(text), "KOKKOS_INLINE_FUNCTION\n    double at(int i) const { return v_<:i:>; }");
    assert_eq!(read.named("Solver::Solver").return_type, "");
}

#[test]
fn calls_belong_to_the_function_that_makes_or_launches_them() {
    let read = read_as(
        "a.cu",
        "\
struct Mesh { double spacing() const; };
class Field {
    Mesh* mesh_m;
    std::shared_ptr<Layout> layout_m;
    void update(const Mesh& other, int n) {
        mesh_m->spacing();
        this->layout_m->exchange(n);
        other.spacing();
        Kokkos::parallel_for(\"update\", n, KOKKOS_LAMBDA(const int i) { apply(i); });
        Solver<double> solver(n, 1);
        solver.solve<3>();
        auto boundary = [&](int i) { fix(i, other.spacing()); };
        run(boundary);
        kernel<<<n, 128>>>(n, 2);
        auto copy = std::make_unique<Copier>(n);
        copy->start();
        static_cast<Derived&>(*this).finish();
        sum = a.b().c();
    }
};
",
    );
    assert_eq!(
        read.asked("call construct launch"),
        [
            "call update: mesh_m->spacing()",
            "call update: this->layout_m->exchange(n)",
            "call update: other.spacing()",
            "launch update: Kokkos::parallel_for(\"update\", n, [])",
            "call update: apply(i)",
            "construct update: Solver<double>(n, 0)",
            "call update: solver.solve<3>()",
            "call boundary: fix(i, other.spacing())",
            "call boundary: other.spacing()",
            "call update: run(boundary)",
            "call update: boundary()",
            "launch update: kernel(n, 0)",
            "call update: std::make_unique<Copier>(n)",
            "call update: copy->start()",
            "call update: static_cast<Derived&>(operator*(this)).finish()",
            "call update: =(sum, a.b().c())",
            "call update: a.b()",
            "call update: a.b().c()",
        ]
    );
    assert_eq!(
        read.locals(),
        ["i: const int", "solver: Solver<double>", "copy = std::make_unique<Copier>(n)"],
        "parameters of functions are in their entities"
    );
    assert_eq!(read.named("Field::update::boundary").kind, EntityKind::Lambda);
}

#[test]
fn a_launch_names_what_it_is_handed() {
    let read =
        read_header("void f(int n) { Functor g(n); parallel_for(n, g); parallel_for(n, Other<int>{n}); }");
    assert_eq!(
        read.asked("call construct launch"),
        [
            "construct f: Functor(n)",
            "launch f: parallel_for(n, g)",
            "launch f: parallel_for(n, Other<int>{n})",
            "construct f: Other<int>(n)",
        ]
    );
}

#[test]
fn includes_bases_and_types_are_referred_to() {
    let read = read_header(
        "\
#include \"Field/Field.h\"
#include <vector>
#define BASE(T) detail::Holder<T>
template <typename T>
struct Cell : private mesh::Node, public BASE(T) {
    Layout<T>* layout;
    std::vector<Point> points;
};
template <typename T> Mesh::Ptr make(const Grid<T>& grid, T value);
",
    );
    let include = &read.references[0];
    assert_eq!((include.name.as_str(), include.written.as_str()), ("Field/Field.h", "\"Field/Field.h\""));
    let asked: Vec<String> = read.references.iter().map(|r| format!("{} {}", r.kind, r.name)).collect();
    assert_eq!(
        asked,
        [
            "include Field/Field.h",
            "include vector",
            "base Node",
            "base Holder",
            "type Layout",
            "type Point",
            "type Ptr",
            "type Grid"
        ]
    );
    assert_eq!(read.named("Cell").bases, ["mesh::Node", "detail::Holder<T>"]);
}

#[test]
fn tests_are_entities_with_their_suite() {
    let read = read_as(
        "t.cpp",
        "TEST_F(FieldTest, Sum) { check(); }\nTYPED_TEST(Halo, Fill) {}\nTEST_CASE(\"adds up\", \"[sum]\") { add(); }\n",
    );
    assert_eq!(
        read.outline(),
        ["test_case FieldTest.Sum 1-1", "test_case Halo.Fill 2-2", "test_case adds up 3-3"]
    );
    assert_eq!(read.entities[0].class_name, "FieldTest");
    assert_eq!(read.asked("call"), ["call FieldTest.Sum: check()", "call adds up: add()"]);
}

#[test]
fn friends_local_classes_and_c_types_have_their_place() {
    let read = read_header(
        "\
namespace n {
    class A {
        friend std::ostream& operator<<(std::ostream& out, const A& a) { return out; }
        friend class B;
    };
    void f() {
        struct Local { void go() { h(); } };
        Local().go();
    }
}
typedef struct { int a; } Pair;
extern \"C\" void plain(int);
",
    );
    assert_eq!(
        read.outline(),
        [
            "namespace n 1-10",
            "class n::A 2-5",
            "function_definition n::operator<< 3-3",
            "function_definition n::f 6-9",
            "struct n::f::Local 7-7",
            "method_definition n::f::Local::go 7-7",
            "struct Pair 11-11",
            "field Pair::a 11-11",
            "function_declaration plain 12-12",
        ]
    );
    assert!(read.asked("call").contains(&"call go: h()".to_owned()));
}

#[test]
fn comments_after_fields_and_enumerators_are_theirs() {
    let read = read_header(
        "enum E {\n  A,  ///< first\n  /// second\n  B\n};\nstruct S {\n  int n;  //!< count\n  int m;\n};\n",
    );
    for (name, comment) in [("E::A", "first"), ("E::B", "second"), ("S::n", "count"), ("S::m", "")] {
        assert_eq!(read.named(name).leading_comment, comment, "{name}");
    }
}

#[test]
fn ids_and_rows_are_the_same_when_code_elsewhere_changes() {
    let before = read_header("void a() {}\nvoid b() { a(); }\n");
    let after = read_header("// note\nint x;\nvoid a() {}\nvoid b() { a(); x = 1; }\n");
    assert_eq!(before.named("b").id, after.named("b").id);
    assert_ne!(before.named("b").text_digest, after.named("b").text_digest);
    assert_eq!(before.named("a").text_digest, after.named("a").text_digest);
}

#[test]
fn long_expressions_and_broken_code_do_no_harm() {
    let sum = format!("int f() {{ return {} g(); }}", "1 + ".repeat(20_000));
    let read = read_as("long.cpp", &sum);
    assert_eq!(read.asked("call").last().map(String::as_str), Some("call f: g()"));
    assert!(read.references.len() <= 2, "a sum of numbers calls no operators");
    let chain = format!("void f() {{ x{}; }}", ".step(1)".repeat(20_000));
    let read = read_as("chain.cpp", &chain);
    assert_eq!(read.references.len(), 20_000);
    assert!(read.references.iter().all(|call| call.receiver.len() <= 202));
    let broken = read_as("broken.cpp", "void ok() {}\n}}}} class ( template < ;;\nvoid also() { ok(); }\n");
    assert!(broken.outline().contains(&"function_definition ok 1-1".to_owned()));
}

#[test]
fn a_walk_ends_with_its_time() {
    let text = "void f() { g(); }\n".repeat(300);
    let source = Source::new("a.hpp", &text, Classification::of("a.hpp"), ArtifactRole::Library);
    let macros = TreeMacros::default();
    let code = CppSource::new(&text, &macros);
    let tree = code.parse(Grammar::Cpp, 0, &crate::tests::watch()).expect("tree");
    let late = Watch::start(Limits { steps: 0, nesting: 1000 }, &crate::tests::CALM);
    let mut extractor = Extractor::new(&source, &code, &tree, &[], &late);
    extractor.run(Scope::default());
    assert!(extractor.rows.entities.is_empty());
    assert_eq!(late.check(), Err(Stop::Steps(0)));
}
