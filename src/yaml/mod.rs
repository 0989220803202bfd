//! YAML as Kubernetes reads it and as we write it.
