"""What only a GPU can tell; see README.md."""
