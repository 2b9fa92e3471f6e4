"""File to Program, one package a format. What a file is, is told from its content, never from its name."""
