//! The `Database` object and the values in it.
