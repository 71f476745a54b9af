use super::*;

fn shown(text: &str) -> String {
    let read = TypeText::read(text);
    let base = match &read.base {
        Written::Deduced => "auto".to_owned(),
        Written::Builtin(kind) => format!("{kind:?}"),
        Written::Named(path) => path.plain(),
        Written::Of(text) => format!("decltype {text}"),
        Written::Value(text) => (*text).to_owned(),
        Written::Other => "other".to_owned(),
    };
    let marks = match read.reference {
        Reference::None => "",
        Reference::Left => "&",
        Reference::Right => "&&",
    };
    let constant = if read.is_const { "const " } else { "" };
    format!("{constant}{base}{}{marks}", "*".repeat(read.pointers as usize))
}

#[test]
fn types_are_read_with_their_marks() {
    for (text, expected) in [
        ("const std::vector<Foo<T, 3>, Alloc<T>>&", "const std::vector&"),
        ("typename A<T>::template B<C>::type *const", "A::B::type*"),
        ("unsigned long long", "UnsignedLong"),
        ("std::size_t", "UnsignedLong"),
        ("T const *", "const T*"),
        ("double (&)[3]", "Double*"),
        ("void (*)(int)", "other"),
        ("std::function<void(int, double)>", "std::function"),
        ("auto&&", "auto&&"),
        ("decltype(a.b(c, d))&", "decltype a.b(c, d)&"),
        ("::Kokkos::View<double**>", "Kokkos::View"),
        ("int[3]", "Int*"),
        ("3", "other"),
        ("", "auto"),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn template_arguments_are_types_or_values() {
    let read = TypeText::read("Foo<Bar<int>, N + 1, 3, const Baz*, void(int), sizeof(T) > 2>::type");
    let Written::Named(path) = &read.base else { panic!("a name") };
    let arguments = path.parts[0].arguments.as_ref().expect("arguments");
    let kinds: Vec<bool> = arguments
        .iter()
        .map(|argument| !matches!(argument.base, Written::Other | Written::Value(_)))
        .collect();
    assert_eq!(&kinds[..5], [true, false, false, true, false]);
    assert_eq!(arguments[3].pointers, 1);
}

#[test]
fn expressions_are_read_in_the_form_of_the_parser() {
    let debug = |text: &str| format!("{:?}", Expression::read(text));
    let name = |text: &'static str| Expression::read(text);
    assert_eq!(
        Expression::read("a.b<int>(c, 0.)[i]->d"),
        Expression::Member {
            object: Box::new(Expression::Index {
                object: Box::new(Expression::Call {
                    callee: Box::new(name("a.b<int>")),
                    arguments: vec![name("c"), Expression::Literal(Builtin::Double, false)],
                }),
                arguments: vec![name("i")],
            }),
            path: PathText { is_global: false, parts: vec![PartText { name: "d", arguments: None }] },
            is_arrow: true,
        }
    );
    assert_eq!(
        Expression::read("operator+(a, operator*(this))"),
        Expression::Operator {
            symbol: "+",
            arguments: vec![
                name("a"),
                Expression::Operator { symbol: "*", arguments: vec![Expression::This] },
            ],
        }
    );
    assert!(debug("static_cast<Foo<T>*>(0)->x").contains("Made"));
    assert!(debug("Foo<T>{a, b}").contains("Made"));
    assert_eq!(name("\"a, b\""), Expression::Literal(Builtin::Char, true));
    assert_eq!(Expression::read_list("[], ?, {}, f(a, b), operator<(a, b)").len(), 5);
    assert_eq!(Expression::read_list("").len(), 0);
    // Damaged text ends.
    for text in ["a(((", "f<", "operator", "x.", "->", ">>", "\"open", "ü.é(", "a{b", "~"] {
        let _ = Expression::read_list(text);
        let _ = TypeText::read(text);
    }
}
