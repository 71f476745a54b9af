//! What must be there before anything is submitted: a job that fails an hour later helps nobody.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use almanac_catalog::{Identity, StageSpec, writer_of};
use almanac_generation::ConfiguredModels;
use almanac_inference::models::ModelState;

use crate::error::Error;
use crate::project::Project;

/// Artifacts that the first stages read and none of the submitted ones writes.
pub(super) fn inputs(project: &Project, stages: &[&'static StageSpec]) -> miette::Result<()> {
    for stage in stages {
        for artifact in stage.artifacts_read() {
            if stages.iter().any(|other| other.artifact == artifact) {
                continue;
            }
            let writer = writer_of(artifact).map_or("", |writer| writer.name);
            project.existing_store()?.current(project.settings.profile(), artifact, writer)?;
        }
    }
    Ok(())
}

/// Names of the models that a stage loads.
fn models_of(project: &Project, stage: &StageSpec) -> miette::Result<Vec<String>> {
    let mut names = Vec::new();
    for identity in stage.identities {
        if let Identity::Model { setting, fallback } = identity {
            names.push(ConfiguredModels::name(&project.settings, setting, fallback)?);
        }
    }
    Ok(names)
}

/// The first model that these stages name and that is not there.
pub(in crate::commands) fn absent_model(
    project: &Project,
    stages: &[&'static StageSpec],
) -> miette::Result<Option<Error>> {
    let present = project.models.catalog().list(project.models.folder()?)?;
    for stage in stages {
        for name in models_of(project, stage)? {
            // Refuses a name that the catalogue does not have.
            project.models.catalog().get(&name)?;
            let state = present.iter().find(|status| status.name == name).map(|status| &status.state);
            if !matches!(state, Some(ModelState::Present | ModelState::Verified)) {
                return Ok(Some(Error::NoModel { name, stage: stage.name }));
            }
        }
    }
    Ok(None)
}

/// Every model is there: nothing is fetched on a compute node.
pub(super) fn models(project: &Project, stages: &[&'static StageSpec]) -> miette::Result<()> {
    absent_model(project, stages)?.map_or(Ok(()), |error| Err(error.into()))
}

/// Folders of each stage's models.
pub(super) fn model_folders(
    project: &Project,
    stages: &[&'static StageSpec],
) -> miette::Result<Vec<(String, Vec<PathBuf>)>> {
    let folder = project.models.folder()?;
    stages
        .iter()
        .map(|stage| {
            let names = models_of(project, stage)?;
            let of_model = |name: &String| folder.join(name);
            let folders = names.iter().map(of_model).filter(|folder| folder.is_dir()).collect();
            Ok((stage.name.to_owned(), folders))
        })
        .collect()
}

/// The stages' binaries are of this build: an old one would write what this one does not expect.
pub(super) fn binaries(bin: &Path, stages: &[&'static StageSpec]) -> miette::Result<()> {
    for stage in stages {
        let path = bin.join(stage.binary());
        // Binaries that only the nodes have cannot be asked here.
        if !bin.is_dir() {
            continue;
        }
        if !path.is_file() {
            return Err(Error::NoBinary { path }.into());
        }
        let output = Command::new(&path)
            .arg("describe")
            .stdin(Stdio::null())
            .output()
            .map_err(|source| Error::Child { path: path.clone(), source })?;
        let said: Option<serde_json::Value> = serde_json::from_slice(&output.stdout).ok();
        if said.is_none() || said != serde_json::to_value(stage).ok() {
            return Err(Error::OtherBinary { path }.into());
        }
    }
    Ok(())
}
