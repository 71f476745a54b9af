//! What is said about declarations: qualifiers, access, attributes, parameters, comments.

use almanac_tables::{Access, ReferenceKind};

use super::*;

impl Read {
    /// Entities of a name, by signature.
    fn all(&self, name: &str) -> Vec<&Entity> {
        self.entities.iter().filter(|entity| entity.name == name).collect()
    }

    #[track_caller]
    fn check_qualifiers(&self, qualified: &str, expected: &[&str]) {
        assert_eq!(self.named(qualified).qualifiers, expected, "{qualified}");
    }
}

#[test]
fn qualifiers_are_told_in_the_order_of_the_source() {
    let read = read_header(
        "\
class Shape {
public:
    explicit constexpr Shape(int n) noexcept;
    virtual double area(double scale = 1.0) const noexcept(sizeof(int) > 2) = 0;
    double area(int) const && override final;
    static inline int count() { return 1; }
    Shape(const Shape&) = delete;
    Shape& operator=(Shape&&) & = default;
    explicit operator bool() const volatile;
    auto name() const -> const char* override;
    virtual ~Shape() = default;
    mutable int cache;
    static constexpr int limit = 3;
};
void free_one(int) = delete;
thread_local static int counter = 0;
extern \"C\" void from_c(int);
extern \"C\" {
    int also_c(void);
}
inline namespace v1 { enum class Kind : int; enum Old { A }; }
struct Last final { };
",
    );
    let area = read.all("area");
    assert_eq!(area[0].qualifiers, ["virtual", "const", "noexcept(sizeof(int) > 2)", "pure"]);
    assert_eq!(area[1].qualifiers, ["const", "&&", "override", "final"]);
    let constructors: Vec<&Entity> = read.all("Shape").into_iter().filter(|e| e.kind.is_callable()).collect();
    assert_eq!(constructors[0].qualifiers, ["explicit", "constexpr", "noexcept"]);
    assert_eq!(constructors[1].qualifiers, ["delete"]);
    read.check_qualifiers("Shape::count", &["static", "inline"]);
    read.check_qualifiers("Shape::operator=", &["&", "default"]);
    read.check_qualifiers("Shape::operator bool", &["explicit", "const", "volatile"]);
    read.check_qualifiers("Shape::name", &["const", "override"]);
    read.check_qualifiers("Shape::~Shape", &["virtual", "default"]);
    read.check_qualifiers("Shape::cache", &["mutable"]);
    read.check_qualifiers("Shape::limit", &["static", "constexpr"]);
    read.check_qualifiers("free_one", &["delete"]);
    read.check_qualifiers("counter", &["thread_local", "static"]);
    read.check_qualifiers("from_c", &["extern \"C\""]);
    read.check_qualifiers("also_c", &["extern \"C\""]);
    read.check_qualifiers("v1", &["inline"]);
    read.check_qualifiers("v1::Kind", &["class"]);
    read.check_qualifiers("v1::Old", &[]);
    read.check_qualifiers("Last", &["final"]);
    assert!(!read.named("v1::Kind").is_definition);
    assert!(read.named("v1::Old").is_definition);
    assert_eq!(read.named("Shape::name").return_type, "const char*");
}

#[test]
fn access_follows_the_sections_of_a_class() {
    let read = read_header(
        "\
class A {
    int hidden;
public:
    void open();
    struct Inner { int in_struct; };
protected:
    using T = int;
    template <class U> void kept(U u) { }
private:
    enum E { X };
    friend void helper(A&);
};
int global;
void A::open() {}
",
    );
    let access: Vec<(&str, Access)> =
        read.entities.iter().map(|entity| (entity.name.as_str(), entity.access)).collect();
    assert_eq!(
        access,
        [
            ("A", Access::None),
            ("hidden", Access::Private),
            ("open", Access::Public),
            ("Inner", Access::Public),
            ("in_struct", Access::Public),
            ("T", Access::Protected),
            ("kept", Access::Protected),
            ("E", Access::Private),
            ("X", Access::Public),
            ("helper", Access::None),
            ("global", Access::None),
            ("open", Access::None),
        ]
    );
}

#[test]
fn attributes_and_annotation_macros_are_kept_as_written() {
    let read = read_header(
        "\
#define LIB_API __attribute__((visibility(\"default\")))
class LIB_API Solver {
public:
    [[nodiscard]] KOKKOS_INLINE_FUNCTION int steps() const;
    alignas(16) double data[4];
    __attribute__((noinline)) void slow();
    [[deprecated(\"use steps\")]] int old;
};
LIB_API
void run(int n) LIB_NOEXCEPT;
__global__ void __launch_bounds__(128) kernel(double* x) {}
",
    );
    for (name, expected) in [
        ("Solver", &["LIB_API"][..]),
        ("Solver::steps", &["[[nodiscard]]", "KOKKOS_INLINE_FUNCTION"]),
        ("Solver::data", &["alignas(16)"]),
        ("Solver::slow", &["__attribute__((noinline))"]),
        ("Solver::old", &["[[deprecated(\"use steps\")]]"]),
        ("run", &["LIB_API", "LIB_NOEXCEPT"]),
        ("kernel", &["__global__", "__launch_bounds__(128)"]),
    ] {
        assert_eq!(read.named(name).attributes, expected, "{name}");
    }
    assert_eq!(read.named("run").signature, "void run(int n)");
    assert_eq!((read.named("run").start_line, read.named("run").end_line), (9, 10));
}

#[test]
fn parameters_have_names_and_types() {
    let read = read_header(
        "\
template <typename T, typename... Args>
void f(const Field<T, 3>& field, int n = 3, double x[], void (*call)(int, char), Args&&... args);
int g(void);
void h(int, const char* = 0, ...);
auto k = [](auto& a, std::pair<int, int> b) { return a + b; };
",
    );
    let f = read.named("f");
    assert_eq!(f.parameter_names, ["field", "n", "x", "call", "args"]);
    assert_eq!(
        f.parameter_types,
        ["const Field<T, 3>&", "int", "double []", "void (*)(int, char)", "Args&&..."]
    );
    assert_eq!(f.template_parameters, "<typename T, typename... Args>");
    assert!(read.named("g").parameter_types.is_empty());
    let h = read.named("h");
    assert_eq!(h.parameter_types, ["int", "const char*", "..."]);
    assert_eq!(h.parameter_names, ["", "", ""]);
    assert_eq!(h.signature, "void h(int, const char* = 0, ...)");
    assert_eq!(read.named("k").parameter_names, ["a", "b"]);
}

#[test]
fn friends_guides_instantiations_and_enumerations_ahead_are_told_apart() {
    let read = read_header(
        "\
namespace n {
template <class T> struct Box {
    Box(T);
    friend class Opener;
    template <class U> friend bool operator==(const Box<U>&, const Box<U>&);
    Box<T> friend half(Box<T> b) { return b; }
    NOT_A_METHOD(T);
};
template <class T> Box(T) -> Box<T>;
template struct Box<int>;
extern template class Other<double>;
template <> struct Box<bool> { Box(bool); };
}
",
    );
    assert_eq!(
        read.outline(),
        [
            "namespace n 1-13",
            "struct n::Box 2-8",
            "method_declaration n::Box::Box 3-3",
            "function_declaration n::operator== 5-5",
            "function_definition n::half 6-6",
            "deduction_guide n::Box 9-9",
            "struct n::Box 12-12",
            "method_declaration n::Box::Box 12-12",
        ]
    );
    read.check_qualifiers("n::operator==", &["friend"]);
    read.check_qualifiers("n::half", &["friend"]);
    let named: Vec<&str> = read
        .references
        .iter()
        .filter(|reference| reference.kind == ReferenceKind::Type)
        .map(|reference| reference.written.as_str())
        .collect();
    for name in ["Opener", "Box<int>", "Other<double>"] {
        assert!(named.contains(&name), "{name} is not in {named:?}");
    }
}

#[test]
fn declarations_across_line_breaks_keep_name_and_lines() {
    let read = read_header(
        "\
template <
    typename T,
    unsigned Dim
>
inline
typename Mesh<T, Dim>::Point
Mesh<T, Dim>
    ::operator
    ()(
        int i
    ) const
{
    return at(i);
}
template <> template <typename U>
Mesh<double, 3>::Mesh(const U& u) : Base<U>(u), n_(3) {}
template <typename T> template <typename U> struct Outer<T>::Inner<U, 3> { };
",
    );
    let call = read.named("Mesh::operator()");
    assert_eq!((call.start_line, call.end_line), (1, 14));
    assert_eq!(
        (call.class_name.as_str(), call.qualifiers.as_slice()),
        ("Mesh", &["inline".to_owned(), "const".to_owned()][..])
    );
    assert_eq!(call.parameters, "int i");
    assert_eq!(read.named("Mesh::Mesh").template_parameters, "<> <typename U>");
    assert_eq!(
        read.named("Outer::Inner").signature,
        "template <typename T> template <typename U> struct Outer<T>::Inner<U, 3>"
    );
}

#[test]
fn comments_before_and_after_are_both_kept() {
    let read = read_header(
        "\
struct S {
    /// Number of cells.
    int n;  ///< at least one
    int m;  //!< may be zero
    int k;
};
enum E {
    A,  /**< first */
    B = 2  // second
};
",
    );
    for (name, leading, trailing) in [
        ("S::n", "Number of cells.", "at least one"),
        ("S::m", "may be zero", "may be zero"),
        ("S::k", "", ""),
        ("E::A", "first", "first"),
        ("E::B", "second", "second"),
    ] {
        let entity = read.named(name);
        assert_eq!(
            (entity.leading_comment.as_str(), entity.trailing_comment.as_str()),
            (leading, trailing),
            "{name}"
        );
    }
}

#[test]
fn every_branch_of_a_conditional_is_read() {
    let text = "\
#ifdef GPU
void start(int device) {
#elif defined(MPI)
void start(Comm comm) {
#else
void start() {
#endif
    prepare();
}
struct S {
#if A
    int one();
#else
    int two();
#endif
};
#if 0
void never() {}
#endif
int sum(
#ifdef LONG
    long a
#else
    int a
#endif
) { return inner(a); }
";
    let read = read_header(text);
    assert_eq!(
        read.outline(),
        [
            "function_definition start 2-9",
            "function_definition start 4-9",
            "function_definition start 6-9",
            "struct S 10-16",
            "method_declaration S::one 12-12",
            "method_declaration S::two 14-14",
            "function_definition sum 20-26",
        ]
    );
    let signatures: Vec<&str> = read.all("start").iter().map(|entity| entity.signature.as_str()).collect();
    assert_eq!(signatures, ["void start(int device)", "void start(Comm comm)", "void start()"]);
    assert_eq!(read.named("sum").parameters, "long a");
}

#[test]
fn what_macros_make_says_which_macro() {
    let read = read_header(
        "\
#define GETTER(type, name) type get_##name() const { return name##_; }
#define IN_PLACE_BASE(T) detail::Buffer<T>
class A : public IN_PLACE_BASE(double) {
    GETTER(int, size)
    int size_;
};
",
    );
    let getter = read.named("A::get_size");
    assert_eq!((getter.generated_by.as_str(), getter.start_line, getter.end_line), ("GETTER", 4, 4));
    assert_eq!((getter.class_name.as_str(), getter.return_type.as_str()), ("A", "int"));
    assert_eq!(read.named("A").bases, ["detail::Buffer<double>"]);
    assert!(read.named("A::size_").generated_by.is_empty());
}

#[test]
fn conversions_outside_their_class_keep_their_name() {
    let read = read_header(
        "\
template <class T> struct All { template <class S, typename> operator All<S>() const; operator bool() const; };
template <class T>
template <class S, typename>
inline All<T>::operator All<S>() const noexcept { return {}; }
template <class T> All<T>::operator bool() const { return true; }
",
    );
    let defined: Vec<&Entity> = read.entities.iter().filter(|one| one.is_definition).skip(1).collect();
    let names: Vec<&str> = defined.iter().map(|one| one.qualified_name.as_str()).collect();
    assert_eq!(names, ["All::operator All<S>", "All::operator bool"]);
    assert_eq!(
        defined[0].signature,
        "template <class T> template <class S, typename> inline All<T>::operator All<S>() const noexcept"
    );
    assert_eq!((defined[0].return_type.as_str(), defined[0].class_name.as_str()), ("All<S>", "All"));
}

#[test]
fn macros_in_a_parameter_list_stay_in_the_signature() {
    let read = read_header(
        "#define SINK(x) x\nstruct V { template <class... A> int at(A... SINK(a)) const { return 1; } };\n",
    );
    let at = read.named("V::at");
    assert_eq!(at.parameters, "A... SINK(a)");
    assert_eq!(at.signature, "template <class... A> int at(A... SINK(a)) const");
}

#[test]
fn comments_may_stand_between_annotations_and_what_they_annotate() {
    let read = read_header(
        "struct S {\n  KOKKOS_INLINE_FUNCTION\n  /* constexpr */\n  // some day\n  int f() { return 1; }\n  int n;\n};\n",
    );
    let f = read.named("S::f");
    assert_eq!((f.start_line, f.end_line), (2, 5));
    assert_eq!(f.attributes, ["KOKKOS_INLINE_FUNCTION"]);
    assert_eq!(read.named("S::n").start_line, 6);
}

#[test]
fn an_empty_body_before_a_semicolon_is_a_body() {
    let text = "struct S {\n  virtual void dump(){/* nothing */};\n  int n{};\n  void f();\n};\n";
    let read = read_header(text);
    let dump = read.named("S::dump");
    assert_eq!((dump.kind, dump.is_definition), (EntityKind::MethodDefinition, true));
    assert_eq!(dump.signature, "virtual void dump()");
    assert_eq!(dump.slice(text), "virtual void dump(){/* nothing */}");
    assert_eq!(read.named("S::n").kind, EntityKind::Field);
    assert!(!read.named("S::f").is_definition);
}
