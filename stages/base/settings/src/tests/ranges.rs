//! Numbers that are refused, whoever sets them; and that no number of the project is without a range.

use super::*;

#[test]
fn a_number_outside_its_range_names_key_value_origin_and_range() {
    let config = ConfigDir::new("ranges").write("local.toml", "[explain.params]\nmax_tokens = 0\n");
    let variables = [("ALMANAC_EXPLAIN__PARAMS__TEMPERATURE", "2.5")];
    let path = config.0.join("local.toml");
    let cases = [
        (
            Layers { config: Some(&config), ..Layers::default() },
            format!(
                "`explain.params.max_tokens` from {} is 0, where a whole number from 1 to 1000 is expected",
                path.display()
            ),
        ),
        (
            Layers { variables: &variables, ..Layers::default() },
            "`explain.params.temperature` from ALMANAC_EXPLAIN__PARAMS__TEMPERATURE is 2.5, where a number \
             from 0 to 2 is expected"
                .to_owned(),
        ),
        (
            Layers { set: &["explain.params.temperature=nan"], ..Layers::default() },
            "`explain.params.temperature` from --set is nan, where a number from 0 to 2 is expected"
                .to_owned(),
        ),
        (
            Layers { set: &["explain.params.max_tokens=18446744073709551615"], ..Layers::default() },
            "`explain.params.max_tokens` from --set is 18446744073709551615, where a whole number from 1 to \
             1000 is expected"
                .to_owned(),
        ),
        (
            Layers { set: &["explain.run.max_seconds=-99999999999999999999"], ..Layers::default() },
            "`explain.run.max_seconds` from --set is -99999999999999999999, where a whole number up to \
             9223372036854775807 is expected"
                .to_owned(),
        ),
    ];
    for (layers, expected) in cases {
        let error = load(&layers).expect_err("out of range");
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.code().expect("a code").to_string(), "almanac::config");
    }
    // The ends belong to the range, and a whole number is a number.
    for assignment in ["explain.params.max_tokens=1000", "explain.params.temperature=0"] {
        assert!(set(assignment).is_ok(), "{assignment}");
    }
}

#[test]
fn two_numbers_that_exclude_each_other_are_both_named() {
    let (error, hint) = refusal(set("explain.params.minimum_characters=160"));
    assert_eq!(
        error,
        "`explain.params.minimum_characters` from --set is 160, which is not less than \
         `explain.params.max_tokens` (160 from default)"
    );
    assert!(hint.contains("lower the first"), "{hint}");
    let both = ["explain.params.minimum_characters=160", "explain.params.max_tokens=161"];
    assert!(load(&Layers { set: &both, ..Layers::default() }).is_ok());
}

/// The settings of the project, with `assignments`.
fn shipped(assignments: &[String]) -> Result<Settings> {
    let schema = Schema::new(crate::files::DEFAULTS, crate::files::RANGES).expect("shipped files are valid");
    let sources = Sources { set: assignments.to_vec(), ..Sources::default() };
    Settings::resolve(&schema, &sources, &[], None)
}

#[test]
fn every_number_of_the_project_has_a_range_and_refuses_what_is_none() {
    let schema = Schema::new(crate::files::DEFAULTS, crate::files::RANGES).expect("shipped files are valid");
    let mut ranged: Vec<&str> = schema.ranges().keys().collect();
    for key in schema.keys() {
        let default = schema.default_of(key).expect("a setting has a default");
        let absurd = match default {
            toml::Value::Integer(_) => ["-1", "9223372036854775807", "18446744073709551615"],
            toml::Value::Float(_) => ["-1", "1e300", "nan"],
            _ => continue,
        };
        let range = schema.ranges().of(key).unwrap_or_else(|| panic!("{key} has no range in ranges.toml"));
        assert!(range.holds(default), "{key} is {default} by default, not {range}");
        ranged.retain(|ranged| *ranged != key);
        for value in absurd.iter().chain(&["inf", "-inf"][..if default.is_float() { 2 } else { 0 }]) {
            let error = shipped(&[format!("{key}={value}")]).expect_err("no such number").to_string();
            for part in [key, value, "--set", &range.to_string()] {
                let shown = error.contains(part) || part == "1e300" && error.contains("1000000000");
                assert!(shown, "`{part}` is not in: {error}");
            }
        }
    }
    assert!(ranged.is_empty(), "ranges.toml has settings that are not there: {ranged:?}");
    for less in &schema.ranges().less {
        for key in [&less.key, &less.than] {
            assert!(schema.ranges().of(key).is_some(), "{key} is no number");
        }
    }
}

#[test]
fn ranges_are_listed_with_the_settings() {
    let settings = set("project.name=x").expect("valid").origins();
    let allowed = |key: &str| {
        let setting = settings.iter().find(|setting| setting.key == key).expect("listed");
        setting.allowed.as_deref()
    };
    assert_eq!(allowed("explain.params.max_tokens"), Some("a whole number from 1 to 1000"));
    assert_eq!(allowed("project.name"), None);
    assert_eq!(
        range_of("explain.run.max_seconds"),
        Some(Range::Whole { least: 0, most: 3_153_600_000 }),
        "an option of the command line has the range of its setting"
    );
}
