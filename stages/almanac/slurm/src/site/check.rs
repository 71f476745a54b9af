//! A site's file against the template, and its values against what sbatch can take.

use strsim::damerau_levenshtein;
use toml::Value;

use super::Site;
use crate::{Error, Result};

/// Options that the jobs' own scripts decide.
const OWNED: &[&str] = &[
    "--array",
    "--begin",
    "--chdir",
    "--clusters",
    "--comment",
    "--dependency",
    "--error",
    "--export",
    "--hold",
    "--input",
    "--job-name",
    "--kill-on-invalid-dep",
    "--no-requeue",
    "--open-mode",
    "--output",
    "--parsable",
    "--requeue",
    "--signal",
    "--test-only",
    "--wait",
    "--wrap",
];

/// Puts the values of a site's file over the template's. The template fixes which keys exist.
pub(super) fn merge(base: &mut toml::Table, given: toml::Table, prefix: &str, origin: &str) -> Result<()> {
    for (name, value) in given {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        // Variables have names of their own, and so has what an array of a stage adds.
        let is_free = prefix == "environment.variables" || is_sizing(prefix, &name);
        match (base.get_mut(&name), value) {
            (Some(Value::Table(base)), Value::Table(given)) => merge(base, given, &key, origin)?,
            (Some(present), value) if present.same_type(&value) || both_numbers(present, &value) => {
                *present = value;
            }
            (None, value) if is_free => {
                base.insert(name, value);
            }
            (Some(present), value) => {
                return Err(Error::SiteValue {
                    origin: origin.to_owned(),
                    key,
                    found: value.to_string(),
                    expected: format!("a {}", present.type_str()),
                });
            }
            (None, _) => {
                let hint = did_you_mean(&name, base.keys().map(String::as_str));
                let known: Vec<&str> = base.keys().map(String::as_str).collect();
                return Err(Error::SiteKey {
                    origin: origin.to_owned(),
                    key,
                    hint: hint.unwrap_or_default(),
                    known: known.join(", "),
                });
            }
        }
    }
    Ok(())
}

fn is_sizing(prefix: &str, name: &str) -> bool {
    prefix.starts_with("stages.") && ["target_minutes", "records_per_minute"].contains(&name)
}

fn both_numbers(present: &Value, given: &Value) -> bool {
    present.is_float() && given.is_integer()
}

/// `did you mean ...?`, if a known name is near.
pub(super) fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let nearest = known.map(|known| (damerau_levenshtein(name, known), known)).min()?;
    let is_near = nearest.0 <= (name.chars().count() / 4).max(2);
    is_near.then(|| format!("did you mean `{}`? ", nearest.1))
}

/// Refuses values that would fail on the cluster, or mean something else in a script.
pub(super) fn check(site: &Site, origin: &str) -> Result<()> {
    let wrong = |key: String, found: &str, expected: &str| Error::SiteValue {
        origin: origin.to_owned(),
        key,
        found: format!("`{found}`"),
        expected: expected.to_owned(),
    };
    let common = &site.slurm;
    let named = [
        ("slurm.clusters", &common.clusters),
        ("slurm.account", &common.account),
        ("slurm.qos", &common.qos),
        ("slurm.reservation", &common.reservation),
    ];
    for (key, value) in named {
        if value == "CHANGE-ME" {
            return Err(wrong(key.to_owned(), value, "the name at your site, in a copy of this example,"));
        }
        if !is_word(value) {
            return Err(wrong(key.to_owned(), value, "a name without spaces"));
        }
    }
    // sbatch takes no more.
    if common.signal_seconds > 65_535 {
        let found = common.signal_seconds.to_string();
        return Err(wrong("slurm.signal_seconds".to_owned(), &found, "at most 65535"));
    }
    check_options("slurm.extra", &common.extra, &wrong)?;
    for (kind, resources) in &site.resources {
        let key = |name: &str| format!("resources.{kind}.{name}");
        if !is_word(&resources.partition) {
            return Err(wrong(key("partition"), &resources.partition, "a name without spaces"));
        }
        if walltime_seconds(&resources.time).is_none() {
            return Err(wrong(key("time"), &resources.time, "a walltime such as 04:00:00 or 1-12:00:00"));
        }
        if resources.cpus == 0 {
            return Err(wrong(key("cpus"), "0", "at least 1"));
        }
        let memory = resources.memory.trim_end_matches(['K', 'M', 'G', 'T']);
        if !resources.memory.is_empty() && memory.parse::<u64>().is_err() {
            return Err(wrong(key("memory"), &resources.memory, "a size such as 32G"));
        }
        check_options(&key("request"), &resources.request, &wrong)?;
        check_options(&key("extra"), &resources.extra, &wrong)?;
    }
    for (stage, place) in &site.stages {
        let key = |name: &str| format!("stages.{stage}.{name}");
        if !site.resources.contains_key(&place.resources) {
            return Err(wrong(key("resources"), &place.resources, "one of cpu, gpu"));
        }
        if place.target_minutes == Some(0) {
            return Err(wrong(key("target_minutes"), "0", "at least 1"));
        }
        if let Some(rate) = place.records_per_minute.filter(|rate| !(1e-3..=1e9).contains(rate)) {
            return Err(wrong(key("records_per_minute"), &rate.to_string(), "from 0.001 to 1000000000"));
        }
    }
    check_environment(site, &wrong)
}

type Wrong<'a> = &'a dyn Fn(String, &str, &str) -> Error;

fn check_environment(site: &Site, wrong: Wrong<'_>) -> Result<()> {
    let environment = &site.environment;
    for module in &environment.modules {
        if !is_word(module) || module.is_empty() {
            return Err(wrong("environment.modules".to_owned(), module, "module names without spaces"));
        }
    }
    for line in environment.setup.iter().chain(&environment.launcher) {
        if line.contains(['\n', '\r', '\0']) {
            return Err(wrong("environment".to_owned(), line, "one line"));
        }
    }
    for (name, value) in &environment.variables {
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && !name.is_empty();
        if !is_name || value.contains(['\n', '\r', '\0']) {
            return Err(wrong(format!("environment.variables.{name}"), value, "a variable in one line"));
        }
    }
    // It stands in double quotes, so that the job's own variables can be used.
    let is_path = |c: char| c.is_ascii_alphanumeric() || "/_-.${}".contains(c);
    if !environment.scratch.chars().all(is_path) {
        let expected = "a path, or a variable such as $TMPDIR";
        return Err(wrong("environment.scratch".to_owned(), &environment.scratch, expected));
    }
    Ok(())
}

fn check_options(key: &str, options: &[String], wrong: Wrong<'_>) -> Result<()> {
    for option in options {
        let name = option.split('=').next().unwrap_or_default();
        if !option.starts_with("--") || option.contains(['\n', '\r', '\0']) {
            return Err(wrong(key.to_owned(), option, "options such as --constraint=gpu"));
        }
        if OWNED.contains(&name) {
            return Err(wrong(key.to_owned(), option, "an option that Almanac does not set itself"));
        }
    }
    Ok(())
}

fn is_word(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_graphic() && !"'\"\\#;&|<>`$".contains(c))
}

/// Seconds of a Slurm walltime: `MM`, `MM:SS`, `HH:MM:SS`, `D-HH`, `D-HH:MM`, `D-HH:MM:SS`.
pub(crate) fn walltime_seconds(text: &str) -> Option<u64> {
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (days.parse::<u64>().ok()?, rest),
        None => (0, text),
    };
    let parts: Vec<u64> = rest.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let (hours, minutes, seconds) = match (parts[..].len(), text.contains('-')) {
        (1, false) => (0, parts[0], 0),
        (2, false) => (0, parts[0], parts[1]),
        (1, true) => (parts[0], 0, 0),
        (2, true) => (parts[0], parts[1], 0),
        (3, _) => (parts[0], parts[1], parts[2]),
        _ => return None,
    };
    let total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
    (total > 0).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walltimes_are_read_as_slurm_reads_them() {
        let cases = [
            ("30", Some(1_800)),
            ("1:30", Some(90)),
            ("02:00:00", Some(7_200)),
            ("1-12", Some(129_600)),
            ("1-12:30", Some(131_400)),
            ("2-00:00:01", Some(172_801)),
            ("0", None),
            ("soon", None),
            ("1:2:3:4", None),
        ];
        for (text, seconds) in cases {
            assert_eq!(walltime_seconds(text), seconds, "{text}");
        }
    }
}
