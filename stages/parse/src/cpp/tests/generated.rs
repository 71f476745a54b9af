//! What macros make: declarations at the place of their call.

use super::*;

#[test]
fn members_generated_by_a_macro_of_the_file_are_found_where_it_is_called() {
    let text = "\
namespace ippl {
#define DefineReduction(fun, name, op)          \\
    template <typename T>                       \\
    T BareField<T>::name(int nghost) const {    \\
        return reduce(nghost, op);              \\
    }
    DefineReduction(Sum, sum, a += b)
    DefineReduction(Max, max, std::max(a, b));
#define TRAIT(T) template <> struct is_fine<T> {};
    TRAIT(unsigned long);
#define NODE(N) template <typename E> struct N : Base<N<E>> { E e; };
    NODE(Minus)
}
";
    let read = read_header(text);
    assert_eq!(
        read.outline(),
        [
            "namespace ippl 1-13",
            "macro DefineReduction 2-6",
            "method_definition ippl::BareField::sum 7-7",
            "method_definition ippl::BareField::max 8-8",
            "macro TRAIT 9-9",
            "struct ippl::is_fine 10-10",
            "macro NODE 11-11",
            "struct ippl::Minus 12-12",
            "field ippl::Minus::e 12-12",
        ]
    );
    let sum = read.named("ippl::BareField::sum");
    assert_eq!(sum.slice(text), "DefineReduction(Sum, sum, a += b)");
    assert_eq!(sum.signature, "template <typename T> T BareField<T>::sum(int nghost) const");
    assert!(read.asked("call").contains(&"call sum: reduce(nghost, operator+=(a, b))".to_owned()));
}

#[test]
fn macros_that_call_macros_make_what_those_make() {
    let read = read_header(
        "\
#define FLOATING(FUNC, TYPE) inline TYPE FUNC(TYPE x) { return std::FUNC(x); }
#define MATH(FUNC)         \\
    FLOATING(FUNC, float)  \\
    FLOATING(FUNC, double)
namespace math {
MATH(sin)
}
",
    );
    assert_eq!(
        read.outline(),
        [
            "macro FLOATING 1-1",
            "macro MATH 2-4",
            "namespace math 5-7",
            "function_definition math::sin 6-6",
            "function_definition math::sin 6-6",
        ]
    );
    // What has the same place is in no order of its own.
    let sines: BTreeSet<&str> = read.entities[3..].iter().map(|one| one.signature.as_str()).collect();
    assert_eq!(sines, BTreeSet::from(["inline float sin(float x)", "inline double sin(double x)"]));
    assert!(read.entities[3..].iter().all(|one| one.generated_by == "MATH"));
}

#[test]
fn members_of_generated_classes_are_theirs() {
    let read = read_header(
        "\
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define CONCEPT(NAME)                                      \\
    template <typename T>                                  \\
    struct CAT(is_, NAME) {                                \\
        template <typename U> struct have {};              \\
        explicit CAT(is_, NAME)(int) {}                    \\
        constexpr operator bool() const { return true; }   \\
    };
class Outer {
    CONCEPT(space)
};
",
    );
    let made: BTreeSet<String> =
        read.outline().into_iter().filter(|line| !line.starts_with("macro")).collect();
    let expected = BTreeSet::from(
        [
            "class Outer 10-12",
            "struct Outer::is_space 11-11",
            "struct Outer::is_space::have 11-11",
            "method_definition Outer::is_space::is_space 11-11",
            "method_definition Outer::is_space::operator bool 11-11",
        ]
        .map(str::to_owned),
    );
    assert_eq!(made, expected);
}

#[test]
fn an_empty_line_ends_a_definition_that_its_last_line_continues() {
    let read =
        read_header("#define ONE(T) void f(T) {} \\\n\n#define TWO(T) void g(T) {}\nONE(int)\nTWO(int)\n");
    assert_eq!(
        read.outline(),
        ["macro ONE 1-1", "macro TWO 3-3", "function_definition f 4-4", "function_definition g 5-5"]
    );
}

#[test]
fn friends_and_operators_that_a_macro_makes_are_placed_like_written_ones() {
    let read = read_header(
        "\
#define COMPARE(NAME)                                                  \\
    friend inline bool operator<(const NAME& a, const NAME& b) { return a.n < b.n; } \\
    bool (operator==)(const NAME& b) const { return n == b.n; }        \\
private:                                                               \\
    NAME& operator=(const NAME&) { return *this; }
namespace m {
class Mass {
    COMPARE(Mass)
    double n;
};
}
",
    );
    let names: BTreeSet<String> = read
        .entities
        .iter()
        .filter(|one| one.kind.is_callable())
        .map(|one| one.qualified_name.clone())
        .collect();
    let expected = ["m::Mass::operator=", "m::Mass::operator==", "m::operator<"];
    assert_eq!(names, BTreeSet::from(expected.map(str::to_owned)));
}

#[test]
fn the_head_of_a_template_may_be_a_macro() {
    let text = "#define TPL template <class T, template <class> class A>\nTPL\nclass Box {\n  int n;\n};\n";
    let read = read_header(text);
    assert_eq!(read.outline()[1..], ["class Box 2-5", "field Box::n 4-4"]);
    assert_eq!(read.named("Box").attributes, ["TPL"]);
}

#[test]
fn of_a_macro_that_some_builds_define_as_nothing_the_rest_counts() {
    let config = "#if OLD\n#define CTOR(X) X() {}\n#else\n#define CTOR(X)\n#endif\n";
    let read = read_among(&[("config.h", config)], "a.hpp", "struct A {\n  CTOR(A)\n};\n");
    assert_eq!(read.outline(), ["struct A 1-3", "method_definition A::A 2-2"]);
}
