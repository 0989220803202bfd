//! A typed table of server settings, and how a value is read against it.
