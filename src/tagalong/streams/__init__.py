"""What every format builds on: a description with options, and compressed streams of bytes."""
