//! Settings that a user cannot have, by name or by the start of a name; each engine has a list.

/// Settings that are not the user's for one reason.
pub(super) struct Group {
    /// Names, or starts of names before a star.
    pub(super) names: &'static [&'static str],
    /// Why they are not the user's.
    pub(super) why: &'static str,
    /// What to do instead.
    pub(super) instead: &'static str,
}

/// The list of an engine.
pub(super) struct Reserved {
    /// What is reserved.
    pub(super) groups: &'static [Group],
    /// Names that begin like reserved ones and are not.
    pub(super) open: &'static [&'static str],
}

impl Reserved {
    /// Why a setting is not the user's, and what to do instead. `None`: it is the user's.
    pub(super) fn find(&self, name: &str) -> Option<(&'static str, &'static str)> {
        let found = self.groups.iter().find(|group| group.names.iter().any(|pattern| self.matches(pattern, name)));
        found.map(|group| (group.why, group.instead))
    }

    /// A name, or the start of one before a star.
    fn matches(&self, pattern: &str, name: &str) -> bool {
        match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start) && !self.open.contains(&name),
            None => pattern == name,
        }
    }

    /// Patterns and open names that are about none of these settings.
    #[cfg(test)]
    pub(super) fn about_nothing(&self, names: &[&str]) -> Vec<&'static str> {
        let patterns = self.groups.iter().flat_map(|group| group.names).chain(self.open).copied();
        let is_about = |pattern: &str| {
            let start = pattern.strip_suffix('*');
            names.iter().any(|name| *name == pattern || start.is_some_and(|start| name.starts_with(start)))
        };
        patterns.filter(|pattern| !is_about(pattern)).collect()
    }
}
