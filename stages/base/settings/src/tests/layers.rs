//! Which layer wins, and what the settings are then.

use super::*;

#[test]
fn each_layer_overrides_the_one_below_and_is_named() {
    let config = ConfigDir::new("layers")
        .write("profiles/night.toml", "[explain.run]\nmax_seconds = 1\n")
        .write("local.toml", "[explain.run]\nmax_seconds = 2\n");
    let variables = [("ALMANAC_EXPLAIN__RUN__MAX_SECONDS", "3")];
    let night = Some("night");
    let path = config.0.join("profiles/night.toml");
    let local = config.0.join("local.toml");
    let variable = variables[0].0.to_owned();
    fs_err::create_dir_all(config.0.join("bare/profiles")).expect("temporary folder");
    fs_err::copy(&path, config.0.join("bare/profiles/night.toml")).expect("temporary file");
    let bare = ConfigDir(config.0.join("bare"));
    let bare_path = bare.0.join("profiles/night.toml");

    let cases = [
        (Layers::default(), 0, Origin::Default),
        (
            Layers { profile: night, config: Some(&bare), ..Layers::default() },
            1,
            Origin::Profile { name: "night".to_owned(), path: Some(bare_path) },
        ),
        (
            Layers { profile: night, config: Some(&config), ..Layers::default() },
            2,
            Origin::Local { path: local },
        ),
        (
            Layers { config: Some(&config), variables: &variables, ..Layers::default() },
            3,
            Origin::Environment { variable },
        ),
        (
            Layers {
                profile: night,
                config: Some(&config),
                variables: &variables,
                set: &["explain.run.max_seconds=9", "explain.run.max_seconds=4"],
            },
            4,
            Origin::Flag,
        ),
    ];
    for (layers, expected, origin) in cases {
        let settings = load(&layers).expect("valid");
        assert_eq!(settings.section::<u64>(MAX_SECONDS).expect("a number"), expected);
        assert_eq!(settings.origin(MAX_SECONDS), Some(&origin));
        // The rest of the table is as it was.
        assert_eq!(settings.section::<u64>("explain.run.flush_records").expect("a number"), 8);
        assert_eq!(settings.origin("explain.run.flush_records"), Some(&Origin::Default));
    }
}

#[test]
fn no_profile_is_called_default() {
    assert_eq!(defaults().profile(), DEFAULT_PROFILE);
    let named = load(&Layers { profile: Some("default"), ..Layers::default() });
    assert_eq!(named.expect("valid").profile(), DEFAULT_PROFILE);
}

#[test]
fn values_on_the_command_line_are_toml_or_bare_words() {
    let text =
        |assignment: &str, key: &str| set(assignment).expect("valid").value(key).map(ToString::to_string);
    let name = "project.name";
    assert_eq!(text("project.name=ippl", name).as_deref(), Some("\"ippl\""));
    assert_eq!(text("project.name = \"ippl\"", name).as_deref(), Some("\"ippl\""));
    assert_eq!(text("project.name=2024", name).as_deref(), Some("\"2024\""));
    assert_eq!(text("project.name=a=b", name).as_deref(), Some("\"a=b\""));
    assert_eq!(text("project.name=", name).as_deref(), Some("\"\""));
    assert_eq!(
        text("parse.params.include_hidden=true", "parse.params.include_hidden").as_deref(),
        Some("true")
    );
    assert_eq!(
        text("explain.params.kinds=[\"class\"]", "explain.params.kinds").as_deref(),
        Some("[\"class\"]")
    );
    assert_eq!(text("explain.run.max_seconds=1_000", MAX_SECONDS).as_deref(), Some("1000"));
    assert_eq!(text("explain.run={max_seconds=5}", MAX_SECONDS).as_deref(), Some("5"));
}

#[test]
fn a_whole_number_where_a_number_is_wanted_is_the_same_setting() {
    // Otherwise `1` and `1.0` would give two stage keys.
    let whole = set("explain.params.temperature=1").expect("valid");
    let number = set("explain.params.temperature=1.0").expect("valid");
    assert_eq!(whole.params("explain").expect("there"), number.params("explain").expect("there"));
}

#[test]
fn a_table_is_read_into_its_type() {
    let limits: Limits = defaults().section("explain.run").expect("valid");
    assert_eq!((limits.max_seconds, limits.flush_records.get()), (0, 8));
}

#[test]
fn params_are_complete_and_hold_no_run_settings() {
    let params = set("explain.params.max_tokens=99").expect("valid").params("explain");
    let params = params.expect("there");
    assert_eq!(params["max_tokens"].as_integer(), Some(99));
    assert_eq!(params["prompt"].as_str(), Some("general"));
    assert!(!params.contains_key("max_seconds"));
}

#[test]
fn origins_list_every_setting_once_in_order() {
    let settings = set("project.name=ippl").expect("valid").origins();
    assert!(settings.is_sorted_by(|a, b| a.key < b.key));
    let name = settings.iter().find(|setting| setting.key == "project.name").expect("listed");
    assert_eq!((name.value.as_str(), &name.origin), ("\"ippl\"", &Origin::Flag));
    let defaults = settings.iter().filter(|setting| setting.origin == Origin::Default).count();
    assert_eq!(defaults, settings.len() - 1);
}
