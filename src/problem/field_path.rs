//! A field of an object as a value, printed as Kubernetes prints it: `spec.storage.size`, `items[2].name`.

use std::fmt;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// A key of a mapping.
    Key(String),
    /// A position in a sequence.
    Index(usize),
}

/// Path from the root of an object to one of its fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldPath(Vec<Step>);

impl FieldPath {
    /// The object itself.
    #[must_use]
    pub const fn root() -> FieldPath {
        FieldPath(Vec::new())
    }

    /// From keys joined by dots: `spec.storage.size`. For paths written in code, where no key holds a dot.
    #[must_use]
    pub fn of(dotted: &str) -> FieldPath {
        FieldPath(dotted.split('.').filter(|k| !k.is_empty()).map(|k| Step::Key(k.to_owned())).collect())
    }

    /// Further down by keys joined by dots. For paths written in code, where no key holds a dot.
    #[must_use]
    pub fn join(&self, dotted: &str) -> FieldPath {
        let mut steps = self.0.clone();
        steps.extend(FieldPath::of(dotted).0);
        FieldPath(steps)
    }

    /// One key further down.
    #[must_use]
    pub fn key(&self, key: impl Into<String>) -> FieldPath {
        let mut steps = self.0.clone();
        steps.push(Step::Key(key.into()));
        FieldPath(steps)
    }

    /// One position further down.
    #[must_use]
    pub fn index(&self, index: usize) -> FieldPath {
        let mut steps = self.0.clone();
        steps.push(Step::Index(index));
        FieldPath(steps)
    }

    /// The steps from the root.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Whether it is the object itself.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if key.contains('.') || key.contains('/') => write!(f, "[{key}]")?,
                Step::Key(key) if position == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::FieldPath;

    #[test]
    fn prints_as_kubernetes_prints_it() {
        assert_eq!(FieldPath::of("spec.storage").key("size").to_string(), "spec.storage.size");
        assert_eq!(FieldPath::of("spec.tolerations").index(2).key("key").to_string(), "spec.tolerations[2].key");
        assert_eq!(FieldPath::of("metadata.annotations").key("a.b/c").to_string(), "metadata.annotations[a.b/c]");
        assert_eq!(FieldPath::root().to_string(), "");
    }
}
