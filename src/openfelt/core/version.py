"""The version, where everything can ask for it."""

VERSION = "0.1.0"
