//! What is refused, and what the error says.

use super::*;

#[test]
fn an_unknown_profile_lists_the_known_ones() {
    let config = ConfigDir::new("profiles").write("profiles/night.toml", "");
    let layers = Layers { profile: Some("nigth"), config: Some(&config), ..Layers::default() };
    let (error, hint) = refusal(load(&layers));
    assert_eq!(error, "unknown profile `nigth`");
    assert!(hint.starts_with("known profiles: default, night, quickstart;"), "{hint}");
    let outside = Layers { profile: Some("../local"), config: Some(&config), ..Layers::default() };
    assert_eq!(refusal(load(&outside)).0, "unknown profile `../local`");
}

#[test]
fn an_unknown_key_names_the_nearest_and_who_set_it() {
    let (error, hint) = refusal(set("explain.run.max_second=60"));
    assert_eq!(error, "unknown setting `explain.run.max_second` from --set");
    assert_eq!(hint, "did you mean `explain.run.max_seconds`?");

    let (error, hint) = refusal(set("explian.params={max_tokens=9}"));
    assert_eq!(error, "unknown setting `explian.params.max_tokens` from --set");
    assert_eq!(hint, "did you mean `explain.params.max_tokens`?");

    let (_, hint) = refusal(set("minimum_characters=9"));
    assert_eq!(hint, "did you mean `explain.params.minimum_characters`?");

    let (_, hint) = refusal(set("colour=red"));
    assert_eq!(hint, "`almanac config` lists every setting");

    let config = ConfigDir::new("unknown").write("local.toml", "[explain.rum]\n");
    let layers = Layers { config: Some(&config), ..Layers::default() };
    let (error, hint) = refusal(load(&layers));
    let path = config.0.join("local.toml");
    assert_eq!(error, format!("unknown setting `explain.rum` from {}", path.display()));
    assert_eq!(hint, "did you mean `explain.run`?");
}

#[test]
fn a_variable_that_is_no_setting_names_the_nearest() {
    let variables = [("ALMANAC_EXPLAIN_RUN_MAX_SECONDS", "60")];
    let (error, hint) = refusal(load(&Layers { variables: &variables, ..Layers::default() }));
    assert_eq!(error, "unknown environment variable ALMANAC_EXPLAIN_RUN_MAX_SECONDS");
    assert_eq!(hint, "did you mean `ALMANAC_EXPLAIN__RUN__MAX_SECONDS`?");

    let variables = [("ALMANAC_STROE", "/s")];
    let (_, hint) = refusal(load(&Layers { variables: &variables, ..Layers::default() }));
    assert_eq!(hint, "did you mean `ALMANAC_STORE`?");
}

#[test]
fn a_wrong_type_names_value_origin_and_what_is_expected() {
    let variables = [("ALMANAC_EXPLAIN__RUN__MAX_SECONDS", "soon")];
    let (error, _) = refusal(load(&Layers { variables: &variables, ..Layers::default() }));
    assert_eq!(
        error,
        "`explain.run.max_seconds` from ALMANAC_EXPLAIN__RUN__MAX_SECONDS is \"soon\", a string, \
         where an integer is expected"
    );
    let cases = [
        ("explain.run=3", "`explain.run` from --set is 3, an integer, where a table is expected"),
        (
            "explain.params.kinds=class",
            "`explain.params.kinds` from --set is \"class\", a string, where a list is expected",
        ),
        (
            "explain.params.kinds=[\"class\", 3]",
            "`explain.params.kinds[1]` from --set is 3, an integer, where a string is expected",
        ),
        (
            "explain.run.max_seconds=1.5",
            "`explain.run.max_seconds` from --set is 1.5, a number, where an integer is expected",
        ),
        (
            "explain.run.max_seconds.x=1",
            "`explain.run.max_seconds` from --set is { x = 1 }, a table, where an integer is \
             expected",
        ),
    ];
    for (assignment, expected) in cases {
        assert_eq!(refusal(set(assignment)).0, expected);
    }
}

#[test]
fn an_assignment_without_key_or_value_is_a_usage_error() {
    for text in ["explain.run.max_seconds", "=3", ""] {
        let error = set(text).expect_err("refused");
        assert_eq!(error.code().expect("a code").to_string(), "almanac::usage");
    }
}

#[test]
fn a_file_that_is_not_toml_names_the_line() {
    let config = ConfigDir::new("syntax").write("local.toml", "[explain.run]\nmax_seconds = \n");
    let (error, _) = refusal(load(&Layers { config: Some(&config), ..Layers::default() }));
    let place = format!("{}, line 2: ", config.0.join("local.toml").display());
    assert!(error.starts_with(&place), "{error}");
}

#[test]
fn a_configuration_folder_must_exist() {
    let missing = PathBuf::from("/nonexistent/almanac");
    let sources = Sources { config_dir: Some(missing.clone()), ..Sources::default() };
    let (error, _) = refusal(Settings::resolve(&schema(), &sources, &[], None));
    assert_eq!(error, "configuration folder /nonexistent/almanac does not exist");
    assert!(Settings::resolve(&schema(), &Sources::default(), &[], Some(missing)).is_err());
}

#[test]
fn a_value_the_reader_refuses_names_key_value_and_origin() {
    let error = |assignment: &str| {
        let settings = set(assignment).expect("the type is right");
        settings.section::<Limits>("explain.run").expect_err("refused").to_string()
    };
    assert_eq!(
        error("explain.run.max_seconds=-1"),
        "`explain.run.max_seconds` from --set is -1, where a whole number from 0 is expected"
    );
    assert_eq!(
        error("explain.run.flush_records=0"),
        "`explain.run.flush_records` from --set is 0, where a whole number from 1 to 4294967295 is \
         expected"
    );
    assert_eq!(
        error("explain.run.max_records=300"),
        "`explain.run.max_records` from --set is 300, where a whole number from 0 to 255 is \
         expected"
    );
}

#[test]
fn a_choice_the_reader_does_not_know_lists_those_it_knows() {
    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        Class,
        Struct,
    }
    let settings = set("explain.params.kinds=[\"class\", \"klass\"]").expect("the type is right");
    let error = settings.section::<Vec<Kind>>("explain.params.kinds").expect_err("refused");
    assert_eq!(
        error.to_string(),
        "`explain.params.kinds` from --set is [\"class\", \"klass\"], where one of class, struct \
         is expected"
    );
    let _ = (Kind::Class, Kind::Struct);
}

#[test]
fn a_reader_that_disagrees_with_the_defaults_is_a_bug() {
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read into")]
    struct Other {
        max_seconds: u64,
        mad_seconds: u64,
    }
    let settings = defaults();
    for error in [
        settings.section::<Other>("explain.run").expect_err("fields differ"),
        settings.section::<Other>("explain.walk").expect_err("no such table"),
        settings.params("explian").map(|_| ()).expect_err("no such stage"),
    ] {
        assert_eq!(error.code().expect("a code").to_string(), "almanac::bug", "{error}");
    }
}
