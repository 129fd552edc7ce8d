"""The arguments of each command, without anything that takes long to import."""
