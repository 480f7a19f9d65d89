"""Everything we do with git, on mirrors and clones."""
