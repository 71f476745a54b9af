//! Namespaces that macros open, and those around a file's includes.

use super::*;

#[test]
fn names_of_namespaces_that_a_macro_opens_are_part_of_all_names() {
    let macros = "\
#define LIB_BEGIN namespace lib { inline namespace v9 {
#define LIB_END } }
#define DETAIL_BEGIN namespace detail {
#define DETAIL_END }
#define NS namespace tiny {
";
    let text = "\
LIB_BEGIN
DETAIL_BEGIN
int f();
DETAIL_END
class A { void g() {} };
}
int in_lib();
}
NS
int t() { return 1; }
}
int outside();
";
    let read = read_among(&[("config.h", macros)], "a.hpp", text);
    let mut outline = read.outline();
    // What has the same place is in no order of its own.
    outline[..2].sort();
    assert_eq!(
        outline,
        [
            "namespace lib 1-8",
            "namespace lib::v9 1-8",
            "namespace lib::v9::detail 2-4",
            "function_declaration lib::v9::detail::f 3-3",
            "class lib::v9::A 5-5",
            "method_definition lib::v9::A::g 5-5",
            "function_declaration lib::v9::in_lib 7-7",
            "namespace tiny 9-11",
            "function_definition tiny::t 10-10",
            "function_declaration outside 12-12",
        ]
    );
    let version = read.named("lib::v9");
    assert_eq!(version.signature, "inline namespace v9");
    assert_eq!((version.generated_by.as_str(), version.parent.as_str()), ("LIB_BEGIN", "lib"));
    assert_eq!(read.named("lib::v9::A::g").namespace, "lib::v9");
}

#[test]
fn a_call_opens_the_namespace_it_names_and_a_macro_may_be_a_name() {
    let read = read_header(
        "\
#define NS_BEGIN(name) namespace name {
#define NS_END(name) }
#define LIB_NAMESPACE lib __attribute__((visibility(\"hidden\")))
NS_BEGIN(LIB_NAMESPACE)
int f();
NS_END(LIB_NAMESPACE)
namespace LIB_NAMESPACE {
int g();
}
",
    );
    let names: Vec<&str> = read.entities.iter().skip(3).map(|one| one.qualified_name.as_str()).collect();
    assert_eq!(names, ["lib", "lib::f", "lib", "lib::g"]);
}

#[test]
fn c_linkage_may_be_a_macro() {
    let read = read_header(
        "#ifdef __cplusplus\n#define C_BEGIN extern \"C\" {\n#define C_END }\n#else\n#define C_BEGIN\n\
         #define C_END\n#endif\nC_BEGIN\nint f(void);\nC_END\nint g();\n",
    );
    assert_eq!(read.named("f").qualifiers, ["extern \"C\""]);
    assert!(read.named("g").qualifiers.is_empty());
}

#[test]
fn what_is_included_inside_a_namespace_stands_in_it() {
    let all = "#include \"bits/setup.h\"\nnamespace arma {\n#include \"bits/mat.h\"\n}\n";
    let setup = "#define HOT inline\n";
    let text = "class Mat { HOT int n() { return 1; } };\nnamespace priv { int f(); }\n";
    let read = read_among(&[("armadillo", all), ("bits/setup.h", setup)], "bits/mat.h", text);
    assert_eq!(
        read.outline(),
        [
            "class arma::Mat 1-1",
            "method_definition arma::Mat::n 1-1",
            "namespace arma::priv 2-2",
            "function_declaration arma::priv::f 2-2",
        ]
    );
}

#[test]
fn what_classes_include_is_a_member_of_each() {
    let text = "/// Doubles.\nint twice() const { return n(); }\n";
    let others = [
        ("m.h", "namespace lin { class M {\npublic:\n#include \"plugin.h\"\n}; }\n"),
        ("a.h", "namespace lin { class A {\n#include \"plugin.h\"\n}; }\n"),
    ];
    let read = read_among(&others, "plugin.h", text);
    let mut outline = read.outline();
    outline.sort();
    assert_eq!(outline, ["method_definition lin::A::twice 2-2", "method_definition lin::M::twice 2-2"]);
    assert_eq!(read.asked("call"), ["call twice: n()", "call twice: n()"]);
    assert_eq!(read.named("lin::M::twice").class_name, "M");
}
