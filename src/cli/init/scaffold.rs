//! The files of a repository, as texts: a function of what was chosen.

use crate::api;
use crate::io::PLATFORM_FILE;
use crate::yaml;

/// Folder of the Databases.
pub(super) const DATABASES: &str = "databases";
/// Folder of what is rendered.
pub(super) const MANIFESTS: &str = "manifests";
/// What the API server refuses by itself.
pub(super) const POLICIES: &str = "policies/databases.yaml";

/// What was chosen, and what is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choices<'a> {
    /// Objects of Argo CD.
    pub(super) argo_cd: bool,
    /// Objects of Flux.
    pub(super) flux: bool,
    /// Whether manifests are kept in the repository.
    pub(super) tree: bool,
    /// A workflow of GitHub.
    pub(super) workflow: bool,
    /// An example, where there is no Database yet.
    pub(super) example: bool,
    /// Address of the repository.
    pub(super) repository: &'a str,
    /// Branch.
    pub(super) revision: &'a str,
}

impl Choices<'_> {
    /// Whether something brings objects into the cluster.
    pub(super) fn cluster(&self) -> bool {
        self.argo_cd || self.flux
    }
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct File {
    /// Its path below the root of the repository.
    pub(super) name: String,
    pub(super) text: String,
}

/// `(path, template)` of the file of this name, whatever its folder.
macro_rules! template {
    ($name:literal, $file:literal) => {
        ($name, include_str!(concat!("files/", $file)))
    };
}

const ALWAYS: [(&str, &str); 1] = [template!("dbrender.yaml", "dbrender.yaml")];
const EXAMPLE: [(&str, &str); 2] = [
    template!("databases/production/order-db.yaml", "order-db.yaml"),
    template!("namespaces/production.yaml", "namespace.yaml"),
];
const TREE: [(&str, &str); 1] = [template!("manifests/.gitattributes", "gitattributes")];
const WORKFLOW: [(&str, &str); 1] = [template!(".github/workflows/databases.yml", "github/workflow.yml")];
const ARGO_CD: [(&str, &str); 8] = [
    template!("argo-cd/root.yaml", "argo-cd/root.yaml"),
    template!("argo-cd/argocd-cm.yaml", "argo-cd/argocd-cm.yaml"),
    template!("argo-cd/applications/project.yaml", "argo-cd/applications/project.yaml"),
    template!("argo-cd/applications/crds.yaml", "argo-cd/applications/crds.yaml"),
    template!("argo-cd/applications/policies.yaml", "argo-cd/applications/policies.yaml"),
    template!("argo-cd/applications/controller.yaml", "argo-cd/applications/controller.yaml"),
    template!("argo-cd/applications/namespaces.yaml", "argo-cd/applications/namespaces.yaml"),
    template!("argo-cd/applications/databases.yaml", "argo-cd/applications/databases.yaml"),
];
const ARGO_CD_TREE: [(&str, &str); 1] =
    [template!("argo-cd/applications/manifests.yaml", "argo-cd/applications/manifests.yaml")];
const FLUX: [(&str, &str); 6] = [
    template!("flux/source.yaml", "flux/source.yaml"),
    template!("flux/crds.yaml", "flux/crds.yaml"),
    template!("flux/policies.yaml", "flux/policies.yaml"),
    template!("flux/controller.yaml", "flux/controller.yaml"),
    template!("flux/namespaces.yaml", "flux/namespaces.yaml"),
    template!("flux/databases.yaml", "flux/databases.yaml"),
];
const FLUX_TREE: [(&str, &str); 1] = [template!("flux/manifests.yaml", "flux/manifests.yaml")];
/// Health of a Database, as Argo CD asks for it.
const HEALTH: &str = include_str!("files/health.lua");

/// Every file, in the order in which they are told.
pub(super) fn files(choices: &Choices<'_>) -> Vec<File> {
    let Choices { argo_cd, flux, tree, workflow, example, .. } = *choices;
    let groups: [(bool, &[(&str, &str)]); 8] = [
        (true, &ALWAYS),
        (example, &EXAMPLE),
        (tree, &TREE),
        (workflow, &WORKFLOW),
        (argo_cd, &ARGO_CD),
        (argo_cd && tree, &ARGO_CD_TREE),
        (flux, &FLUX),
        (flux && tree, &FLUX_TREE),
    ];
    let chosen = groups.iter().filter(|(chosen, _)| *chosen).flat_map(|(_, group)| *group);
    let mut files: Vec<File> =
        chosen.map(|(name, template)| File { name: (*name).to_owned(), text: fill(template, choices) }).collect();
    if choices.cluster() {
        let mut definition = String::new();
        yaml::write_document(&mut definition, &api::crd());
        files.push(File { name: "crds/databases.app.example.com.yaml".to_owned(), text: definition });
    }
    debug_assert_eq!(ALWAYS[0].0, PLATFORM_FILE);
    files
}

/// The template with every `@WORD@` replaced.
fn fill(template: &str, choices: &Choices<'_>) -> String {
    let (mode, sentence, order, first, input) = if choices.tree {
        (
            "observe",
            "It writes the status of each Database and nothing else: what runs is applied from manifests/.",
            " They come last, because one is healthy only when its manifests are applied.",
            "\n  - name: databases-manifests",
            "\n        manifests: manifests",
        )
    } else {
        ("apply", "It applies what each Database asks for.", "", "", "")
    };
    let health: Vec<String> =
        HEALTH.lines().map(|line| if line.is_empty() { String::new() } else { format!("    {line}") }).collect();
    let words = [
        ("@REPOSITORY@", choices.repository),
        ("@REVISION@", choices.revision),
        ("@VERSION@", env!("CARGO_PKG_VERSION")),
        ("@CONTROLLER@", mode),
        ("@CONTROLLER_SENTENCE@", sentence),
        ("@ORDER@", order),
        ("@MANIFESTS_FIRST@", first),
        ("@MANIFESTS_INPUT@", input),
        ("@POLICIES_INPUT@", if choices.cluster() { "\n        policies: policies/databases.yaml" } else { "" }),
        ("@HEALTH@", &health.join("\n")),
    ];
    words.iter().fold(template.to_owned(), |text, (word, value)| text.replace(word, value))
}

#[cfg(test)]
mod tests {
    use super::{Choices, files};
    use crate::yaml::{Limits, read_stream};

    #[test]
    fn every_file_is_yaml_in_which_every_word_is_filled() {
        for tree in [false, true] {
            let choices = Choices {
                argo_cd: true,
                flux: true,
                tree,
                workflow: true,
                example: true,
                repository: "git@git.example.com:team/databases.git",
                revision: "main",
            };
            let files = files(&choices);
            assert_eq!(files.len(), if tree { 22 } else { 19 });
            for file in files {
                let words: Vec<&str> = file.text.split('@').skip(1).step_by(2).collect();
                let strange =
                    |word: &&str| !word.is_empty() && word.chars().all(|c| c.is_ascii_uppercase() || c == '_');
                assert!(!words.iter().any(strange), "{}: {words:?}", file.name);
                if file.name.ends_with("yaml") || file.name.ends_with("yml") {
                    let (documents, problems) = read_stream(&file.text, &Limits::default());
                    assert!(problems.is_empty() && !documents.is_empty(), "{}: {problems:?}", file.name);
                }
            }
        }
    }
}
