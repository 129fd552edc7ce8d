"""The command-line arguments of each command. These modules are quick to import."""
