use super::*;

#[test]
fn a_macro_owns_the_calls_in_its_body() {
    let read = read_header(
        "#define ASSERT(c, ...) ((c) ? (void)0 : ns::fail(__FILE__, #c, __VA_ARGS__))\n\
         #define check ns::check\n\
         #define print true ? (void)0 : out.write(1), show\n\
         #define TRY(f) f(0)\n\
         #define LIMIT 3\n\
         #define EMPTY(x)\n\
         void run() { check(1); }\n",
    );
    let expected = [
        "call ASSERT: ns::fail(__FILE__, \"c\", __VA_ARGS__)",
        "call check: ns::check(...)",
        "call print: show(...)",
        "call print: out.write(0)",
        "call TRY: f(0)",
        "call run: check(0)",
    ];
    assert_eq!(read.asked("call construct"), expected);
}
