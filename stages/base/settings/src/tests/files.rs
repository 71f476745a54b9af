//! The files of `config/`: shipped ones, and the user's in their place.

use super::*;

fn shipped(profile: Option<&str>, config_dir: Option<&ConfigDir>) -> Settings {
    let sources = Sources {
        profile: profile.map(ToOwned::to_owned),
        config_dir: config_dir.map(|dir| dir.0.clone()),
        set: Vec::new(),
    };
    let schema = Schema::new(crate::files::DEFAULTS, crate::files::RANGES).expect("shipped files are valid");
    Settings::resolve(&schema, &sources, &[], None).expect("shipped files are valid")
}

#[test]
fn the_shipped_defaults_and_profiles_are_valid() {
    shipped(None, None);
    for (name, _) in SHIPPED_PROFILES {
        let settings = shipped(Some(name), None);
        assert_eq!(settings.profile(), *name);
        let origin = Origin::Profile { name: (*name).to_owned(), path: None };
        assert!(settings.origins().iter().any(|setting| setting.origin == origin), "{name}");
    }
}

#[test]
fn a_profile_of_the_user_takes_the_place_of_the_shipped_one() {
    let config = ConfigDir::new("own-quickstart").write("profiles/quickstart.toml", "");
    let settings = shipped(Some("quickstart"), Some(&config));
    assert!(settings.origins().iter().all(|setting| setting.origin == Origin::Default));
}

#[test]
fn shipped_files_are_those_of_the_folder() {
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../config");
    let stems = |folder: &str| {
        let mut stems: Vec<String> = fs_err::read_dir(config.join(folder))
            .expect("the folder is in the tree")
            .map(|entry| entry.expect("readable").path())
            .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
            .collect();
        stems.sort();
        stems
    };
    let mut profiles: Vec<&str> = SHIPPED_PROFILES.iter().map(|(name, _)| *name).collect();
    profiles.sort_unstable();
    assert_eq!(stems("profiles"), profiles);
    let mut modes = PROMPT_MODES;
    modes.sort_unstable();
    assert_eq!(stems("prompts"), modes);
}

#[test]
fn a_prompt_of_the_user_takes_the_place_of_the_shipped_one() {
    let config = ConfigDir::new("prompts")
        .write("prompts/general.md", "Explain.")
        .write("prompts/short.md", "Be short.")
        .write("prompts/call_chain.md", " \n");
    let settings = load(&Layers { config: Some(&config), ..Layers::default() }).expect("valid");
    let prompt = settings.prompt("general").expect("there");
    assert_eq!(prompt.text, "Explain.");
    assert_eq!(prompt.origin, FileOrigin::Path(config.0.join("prompts/general.md")));
    assert_eq!(settings.prompt("short").expect("there").mode, "short");

    let empty = settings.prompt("call_chain").expect_err("blank");
    assert!(matches!(empty, Error::EmptyPrompt { .. }), "{empty}");
    for mode in ["generall", "../prompts/general", ""] {
        let unknown = settings.prompt(mode).expect_err("unknown");
        assert!(matches!(unknown, Error::UnknownPrompt { .. }), "{unknown}");
    }
}

#[test]
fn a_file_that_is_not_utf8_names_its_byte() {
    // Latin-1 in the second line, as an old editor writes it.
    let latin1 = b"# line\nname = \"caf\xe9\"\n";
    let read: [(&str, &dyn Fn(&Settings) -> Result<()>); 3] = [
        ("models.toml", &|settings| settings.models_text().map(|_| ())),
        ("prompts/general.md", &|settings| settings.prompt("general").map(|_| ())),
        ("prompts/own.md", &|settings| settings.prompt("own").map(|_| ())),
    ];
    for (file, read) in read {
        let config = ConfigDir::new("latin1-later");
        fs_err::write(config.0.join(file), latin1).expect("temporary file");
        let settings = load(&Layers { config: Some(&config), ..Layers::default() }).expect("not read yet");
        names_the_byte(&read(&settings).expect_err("not UTF-8"), &config.0.join(file));
    }
    for (file, profile) in [("local.toml", None), ("profiles/night.toml", Some("night"))] {
        let config = ConfigDir::new("latin1");
        fs_err::write(config.0.join(file), latin1).expect("temporary file");
        let loaded = load(&Layers { profile, config: Some(&config), ..Layers::default() });
        names_the_byte(&loaded.expect_err("not UTF-8"), &config.0.join(file));
    }
}

fn names_the_byte(error: &Error, path: &Path) {
    let expected = format!("configuration file {} is not UTF-8: byte 18, in line 2", path.display());
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.code().expect("a code").to_string(), "almanac::config");
}

#[test]
fn models_of_the_user_take_the_place_of_the_shipped_ones() {
    assert_eq!(defaults().models_text().expect("there").1, FileOrigin::Shipped);
    let config = ConfigDir::new("models").write("models.toml", "# mine\n");
    let settings = load(&Layers { config: Some(&config), ..Layers::default() }).expect("valid");
    let origin = FileOrigin::Path(config.0.join("models.toml"));
    assert_eq!(settings.models_text().expect("there"), ("# mine\n".to_owned(), origin));
}

#[test]
fn the_models_folder_is_a_setting_with_a_variable_of_its_own() {
    let variables = [("ALMANAC_MODELS", "/data/models")];
    let settings = load(&Layers { variables: &variables, ..Layers::default() }).expect("valid");
    assert_eq!(settings.models_dir().expect("set"), Path::new("/data/models"));
    let origin = Origin::Environment { variable: "ALMANAC_MODELS".to_owned() };
    assert_eq!(settings.origin("models.dir"), Some(&origin));

    if let Some(home) = environment::home_dir() {
        let settings = set("models.dir=~/models").expect("valid");
        assert_eq!(settings.models_dir().expect("set"), home.join("models"));
        assert!(defaults().models_dir().expect("home").ends_with("almanac/models"));
    }
}
