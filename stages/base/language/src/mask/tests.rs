use super::*;
use crate::defines;

/// Macros as a tree defines them.
const DEFINES: &str = "#define DefineSum(a, b) T F<T>::a() { return b; }\n#define CheckThat(x) if (!(x)) stop()\n\
#define ON_HOST(code) code\n#define LIB_TYPE(t) LIB_API t\n#define LIB_API\n#define LIB_BEGIN_NAMESPACE namespace lib {\n\
#define LIB_END_NAMESPACE }\n#define LIB_ACCESS private\n#define LIB_TRY try\n#define LIB_CATCH(x) catch (x)\n#define LIB_INT(x, v) int int_##x = v\n#define NS_TWO namespace a { inline namespace b {\n#define NS_END }\n#define NS(name) namespace name {\n\
#define LIB_RETURNS(...) noexcept { return __VA_ARGS__; }\n";

fn masked_round(source: &str, round: usize) -> Masked {
    let learned = BTreeSet::from(["LEARNED".to_owned()]);
    let macros = TreeMacros::new(defines(DEFINES));
    let scan = Scan::of(source.as_bytes());
    let branches = Branches::of(source.as_bytes(), &scan);
    mask(source.as_bytes(), &scan, &branches, round, &macros, &learned)
}

fn masked(source: &str) -> Masked {
    masked_round(source, 0)
}

/// Masks, checks that nothing moved, and compares with runs of spaces made one.
#[track_caller]
fn check(source: &str, expected: &str) {
    let masked = masked(source);
    let mut bytes = masked.bytes;
    for (start, end) in masked.hidden {
        // Of a comment only the first byte is overwritten; of a directive everything.
        if source[start - 1..].starts_with('/') {
            bytes[start - 1] = b'/';
        } else {
            assert!(bytes[start..end].iter().all(u8::is_ascii_whitespace), "{source}");
        }
    }
    let text = String::from_utf8(bytes).expect("ASCII edits");
    assert_eq!(text.len(), source.len());
    let breaks = |s: &str| s.match_indices('\n').map(|(at, _)| at).collect::<Vec<_>>();
    assert_eq!(breaks(&text), breaks(source));
    let squeezed: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(squeezed.join(" "), expected, "{source}");
}

#[test]
fn annotations_go_and_lambdas_become_lambdas() {
    check("KOKKOS_INLINE_FUNCTION void f() const;", "void f() const;");
    check("p(n, KOKKOS_LAMBDA(const int i) { g(i); });", "p(n, [=] (const int i) { g(i); });");
    check("p(n, KOKKOS_CLASS_LAMBDA (int i) {});", "p(n, [=,*this] (int i) {});");
    check("[=] AMREX_GPU_DEVICE (int i) noexcept {}", "[=] (int i) noexcept {}");
    check("__global__ void __launch_bounds__(256, 2) k(int* p) {}", "void k(int* p) {}");
    check("LEARNED(a, b) void f();", "void f();");
    check("DEAL_II_NAMESPACE_OPEN int x; DEAL_II_NAMESPACE_CLOSE", "namespace{ int x; }");
    check("{ forAll(cells, i) { f(i); } }", "{ while (cells, i) { f(i); } }");
    check("bool forAll(P p) { return x.forAll(p); }", "bool forAll(P p) { return x.forAll(p); }");
}

#[test]
fn macros_of_the_tree_mean_what_their_bodies_say() {
    check("LIB_BEGIN_NAMESPACE int x; LIB_END_NAMESPACE", "namespace{ int x; }");
    check("LIB_TYPE(int) f();", "int f();");
    check("void f() { ON_HOST((g(1); h();)) }", "void f() { g(1); h(); }");
    check("LIB_API int f();", "int f();");
    check("auto f(int a) LIB_RETURNS(g(a)); int b;", "auto f(int a) {return g(a);} int b;");
    check("enum K LIB_UNDER(unsigned char) { A };", "enum K { A };");
    check("class A { LIB_ACCESS: int a; };", "class A { private : int a; };");
    check("void f() { LIB_TRY { g(); } LIB_CATCH(...) { } }", "void f() { try { g(); } catch (...) { } }");
    check("auto f(int a) LIB_RETURNS(g(a))\n\n  int b;", "auto f(int a) {return (g(a)) ;}int b;");
}

#[test]
fn names_in_parentheses_are_names() {
    check("static T (max)(const T& a) { return a; }", "static T max (const T& a) { return a; }");
    check("struct S { B<T> (operator*)(int a) const; };", "struct S { B<T> operator* (int a) const; };");
    check("void (*callback)(int);", "void (*callback)(int);");
    check("FIELD(name)(int a);", "FIELD(name)(int a);");
    check("void f() { g (x)(y); }", "void f() { g (x)(y); }");
}

#[test]
fn what_stands_in_a_class_elsewhere_is_read() {
    check(
        "protected: int f(); friend bool operator<(A a, A b) { return a.b; }",
        "int f(); bool operator<(A a, A b) { return a.b; }",
    );
    check(
        "struct S { protected: int f(); friend class T; };",
        "struct S { protected: int f(); friend class T; };",
    );
}

#[test]
fn built_in_types_are_names_among_arguments() {
    check(
        "void f() { LIB_MAKE(x, unsigned long, 3); const LIB_MAKE(y, 1); }",
        "void f() { LIB_MAKE(x, t , 3); LIB_MAKE(y, 1); }",
    );
    check("void f() { const LIB_INT(y, 1); }", "void f() { LIB_INT(y, 1); }");
    check("void f() { x = typeid(unsigned long); }", "void f() { x = type_ (t ); }");
}

#[test]
fn macros_open_and_close_as_many_braces_as_they_have() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let two = [Opened::Namespace(names(&["a"])), Opened::Inline(names(&["b"]))].to_vec();
    // One block for both namespaces; the brace that closes the inner one is not seen.
    check("NS_TWO int x; NS_END } int y;", "{ int x; } int y;");
    check("NS_TWO int x; } NS_END int y;", "{ int x; } int y;");
    check("NS(lib_core) struct S { NS_TWO; }; NS_END", "namespace{ struct S { NS_TWO; }; }");
    assert_eq!(masked("int y; NS_TWO").opened, [(7, two)]);
    assert_eq!(masked("NS(lib)").opened, [(0, vec![Opened::Namespace(names(&["lib"]))])]);
    // Nothing is open: nothing is closed.
    check("NS_END int y;", "int y;");
}

#[test]
fn names_nobody_defines_are_annotations_where_only_such_may_stand() {
    check("MYLIB_INLINE void f() MYLIB_NOEXCEPT;", "void f() ;");
    check(
        "struct S { bool f() const MYLIB_FINAL { return A; } };",
        "struct S { bool f() const { return A; } };",
    );
    check("template <class T> MYLIB_FN static T f();", "template <class T> static T f();");
    check("MYTYPE f(MYTYPE const& a);", "MYTYPE f(MYTYPE const& a);");
    check("p(\"%\" PRId64 \" of\");", "p(\"%\" \" of\");");
    check("x = \"a\" NAME;", "x = \"a\" NAME;");
}

#[test]
fn comments_and_strings_stay_and_directives_go() {
    for source in ["// KOKKOS_FUNCTION", "f(\"KOKKOS_FUNCTION\");", "int KOKKOS_FUNCTION_COUNT;"] {
        check(source, source);
    }
    check(
        "#define X KOKKOS_FUNCTION \\\n  y\nint a;\n#include <b>\n#pragma omp parallel\nint c;",
        "int a; int c;",
    );
}

#[test]
fn branches_are_read_in_rounds_where_they_cut_something() {
    let source = "#ifdef A\nvoid f(int a) {\n#else\nvoid f(double a) {\n#endif\n}\n#ifdef B\nint b;\n#else\nint c;\n#endif\n";
    check(source, "void f(int a) { } int b; int c;");
    let second = String::from_utf8(masked_round(source, 1).bytes).expect("ASCII edits");
    assert!(second.contains("double") && !second.contains("int a"));
}

#[test]
fn export_macros_go_and_types_stay() {
    check("class CORE_EXPORT Solver : public Base {", "class Solver : public Base {");
    check("struct ALIGNED(16) V final {", "struct V final {");
    check("enum class LIB_DLL Kind { A };", "enum class Kind { A };");
    check("struct FFT final {", "struct FFT final {");
    check("struct FFT X;", "struct FFT X;");
    check("class CG {", "class CG {");
    check("class CORE_API Forward;", "class Forward;");
    check("CORE_API void f();", "void f();");
}

#[test]
fn digraphs_are_rewritten_but_not_scopes() {
    check("x(v<:i:>);", "x(v[ i ]);");
    check("struct S<::ns::T> : B<% %>;", "struct S<::ns::T> : B{ };");
    check("f<::A::B>(a::b);", "f<::A::B>(a::b);");
}

#[test]
fn lists_after_using_are_cut_and_aliases_kept() {
    check("using A::x, B::y;", "using A::x ;");
    check("using typename B::t, typename B::u;", "using B::t ;");
    check("using V = T<int, 3>;", "using V = T<int, 3>;");
    check("using B<T, Dim>::x;", "using B<T, Dim>::x;");
    check("using Ts::operator()...;", "using Ts::operator() ;");
}

#[test]
fn launches_are_calls_that_are_remembered() {
    let source = "void h() { k<<<dim3(a, b), 256, 0, s>>>(x); std::cout << a << b; }";
    check(source, "void h() { k (x); std::cout << a << b; }");
    assert_eq!(masked(source).launches, [source.find("(x)").expect("arguments")]);
    assert!(masked("int a = b <<<<<<< c;").launches.is_empty());
}

#[test]
fn generating_calls_go_only_where_they_stand_alone() {
    let source = "int a;\nDefineSum(Sum, sum)\nint b;";
    check(source, "int a; int b;");
    assert_eq!(masked(source).declarations, [(7, 26)]);
    check("int a = DefineSum(x, y);", "int a = DefineSum(x, y);");
    check("int a; DefineSum(x, y);", "int a; ;");
    check(
        "struct S { ANY_MEMBERS(x) int a; FFT() : a(1) {} FFT(int) noexcept; };",
        "struct S { int a; FFT() : a(1) {} FFT(int) noexcept; };",
    );
}

#[test]
fn macro_statements_without_semicolon_keep_their_arguments() {
    check("void f() { CheckThat(g(x), y) int a; }", "void f() { g(x), y; int a; }");
    check("void f() { CHECK_IT(int) a = 1; }", "void f() { a = 1; }");
    check("void f() { LOOP(i, n) { g(i); } }", "void f() { LOOP(i, n) { g(i); } }");
}

#[test]
fn explicit_instantiations_are_declarations_that_are_remembered() {
    let source = "extern template class A<int>; template void f<int>(int); template <> void g<int>();";
    check(source, "class A<int>; void f<int>(int); template <> void g<int>();");
    let starts = ["class A", "void f"].map(|text| source.find(text).expect("declaration"));
    assert_eq!(masked(source).instantiations, starts);
    check("x.template get<1>();", "x.template get<1>();");
}

#[test]
fn what_the_grammar_lacks_is_rewritten() {
    check("a->operator+=(b); c.operator()(d);", "a->operator__(b); c.operator__(d);");
    check("T& T::operator+=(int b);", "T& T::operator+=(int b);");
    check("{typeid(unsigned long), X}", "{type_ (t ), X}");
    check("void f(V v = {}, W w = {1, 2});", "void f(V v , W w );");
    check("V v = {};", "V v = {};");
    check("enum E { A [[deprecated(\"x\")]] = 1 };", "enum E { A = 1 };");
    check("enum : unsigned int { A };", "enum { A };");
    check("void f(const char* = 0, T* p = 0);", "void f(const char* , T* p = 0);");
    check("bool f(A&, B&) = delete;", "bool f(A&, B&) ;");
    check("using F = void (ns::A<T>::*)(int);", "using F = void ( *)(int);");
    check("R<M C::*> f(M C::* p);", "R<M *> f(M * p);");
    check("<unspecified> f();", "unspecified f();");
    check(
        "void f() { x = (long(a) + unsigned(b)); y = a * (b); }",
        "void f() { x = (int (a) + int (b)); y = a * (b); }",
    );
    check(
        "void f() { x.~A<int>(); p->A::~A(); operator++(); e.operator bool(); }",
        "void f() { x.~A (); p-> ~A(); operator__(); e.operator_bool(); }",
    );
    check("void f() { return operator=<B>(o); }", "void f() { return operator_<B>(o); }");
    check("using X = C<(a) >= 4, B>;", "using X = C<(a) != 4, B>;");
    check("auto f() -> decltype(a(b, c), true);", "auto f() -> decltype(a(b, c)+ true);");
    check("return typename T::x(0);", "return T::x(0);");
    check(
        "void f(typename T::x a, typename T::y (&b)[2]);",
        "void f(typename T::x a, typename T::y (&b)[2]);",
    );
}

#[test]
fn string_tests_and_macro_bases() {
    check("TEST_CASE(\"adds up\", \"[math]\") { f(); }", "void t() { f(); }");
    check("class A : public BASE(X, y) {", "class A : public BASE {");
}
